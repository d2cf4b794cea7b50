// A builder with short names, and checks of the diagnostic that an expression raises.
#pragma once
#include <initializer_list>
#include <vector>

#include "ast/builder.h"
#include "check.h"
#include "types/type.h"

namespace lcpy::test {

struct Kit {
  std::shared_ptr<ast::FunctionBuilder> handle;
  ast::FunctionBuilder& f;
  Span at{};

  using Kind = ast::FunctionBuilder::Kind;
  explicit Kit(Kind kind = Kind::Kernel, std::string name = "k")
      : handle(ast::FunctionBuilder::create(kind, std::move(name), {})), f(*handle) {}

  static Type type(std::string_view description) { return Type::parse(description); }

  ast::ExprId arg(std::string_view t, std::string name) {
    return f.ref(f.argument(type(t), std::move(name), at), at);
  }
  ast::ExprId reference(std::string_view t, std::string name) {
    return f.ref(f.reference(type(t), std::move(name), at), at);
  }
  ast::ExprId local(std::string_view t, std::string name) {
    return f.ref(f.local(type(t), std::move(name), at), at);
  }
  ast::ExprId shared(std::string_view t, std::string name) {
    return f.ref(f.shared(type(t), std::move(name), at), at);
  }
  ast::ExprId i(int64_t v) { return f.weak_int(v, at); }
  ast::ExprId u(uint64_t v) { return f.weak_uint(v, at); }
  ast::ExprId d(double v) { return f.weak_float(v, at); }
  ast::ExprId truth(bool v) { return f.weak_bool(v, at); }
  ast::ExprId bin(Op op, ast::ExprId a, ast::ExprId b) { return f.binary(op, a, b, at); }
  ast::ExprId add(ast::ExprId a, ast::ExprId b) { return bin(Op::Add, a, b); }
  ast::ExprId mul(ast::ExprId a, ast::ExprId b) { return bin(Op::Mul, a, b); }
  ast::ExprId call(Op op, std::vector<ast::ExprId> args, Type result = {}) {
    return f.call(op, args, at, result);
  }
  ast::ExprId make(std::string_view t, std::vector<ast::ExprId> args) {
    return f.make(type(t), args, at);
  }
  ast::ExprId cast(std::string_view t, ast::ExprId a) { return f.cast(type(t), a, at); }
  ast::ExprId at_index(ast::ExprId a, ast::ExprId index) { return f.access(a, {&index, 1}, at); }
  ast::ExprId at_index(ast::ExprId a, ast::ExprId i0, ast::ExprId i1) {
    ast::ExprId both[] = {i0, i1};
    return f.access(a, both, at);
  }
  std::string type_of(ast::ExprId e) const { return f.expr(e).type.description(); }
  const ast::ExprNode& node(ast::ExprId e) const { return f.expr(e); }

  ast::Usage usage(std::string_view name) const {
    for (const ast::Variable& v : f.variables()) {
      if (v.name == name) return v.usage;
    }
    throw std::runtime_error("no variable " + std::string(name));
  }
};

template <class Body>
Diagnostic diagnostic_of(Body&& body) {
  try {
    body();
  } catch (const CompileError& e) {
    return e.diagnostics().at(0);
  } catch (const UnsupportedError& e) {
    return e.diagnostics().at(0);
  }
  return {};
}

}  // namespace lcpy::test

// The expression raises the diagnostic `name` (a row of diag.def).
#define CHECK_DIAG(expression, row)                                                   \
  do {                                                                                \
    ::lcpy::Diagnostic d_ = ::lcpy::test::diagnostic_of([&] { (void)(expression); }); \
    if (d_.code != ::lcpy::Diag::row) {                                               \
      ::lcpy::test::fail(__FILE__, __LINE__, #expression " gave " + d_.message);      \
    }                                                                                 \
  } while (0)
