// Calls of callables and external functions: arguments by value convert, references take places,
// resources take resources.
#include <algorithm>

#include "ast/build.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

struct Caller {
  Build& b;
  const FunctionBuilder& callee;
  Span span;

  const std::string& name_of(size_t i) const { return callee.variable(callee.arguments()[i]).name; }

  ExprId reference(ExprId arg, size_t i, const Variable& parameter) const {
    Type t = b.type(arg);
    if (!b.f.is_place(arg)) {
      fail(Diag::not_place, span,
           {"argument '" + name_of(i) + "' of '" + callee.name() + "', a reference,",
            "assign the value to a variable first"});
    }
    if (t != parameter.type) {
      fail(Diag::reference_type, span,
           {name_of(i), callee.name(), type_spelling(parameter.type), type_spelling(t)});
    }
    b.check_target(arg, span);
    return arg;
  }

  ExprId resource(ExprId arg, size_t i, const Variable& parameter) const {
    const ExprNode& n = b.node(arg);
    if (n.kind != ExprKind::Ref || n.type != parameter.type) {
      fail(Diag::resource_argument, span,
           {name_of(i), callee.name(), type_spelling(parameter.type), type_spelling(n.type)});
    }
    return arg;
  }

  ExprId argument(ExprId arg, size_t i) const {
    const Variable& parameter = callee.variable(callee.arguments()[i]);
    if (parameter.kind == VariableKind::Reference) return reference(arg, i, parameter);
    if (parameter.kind == VariableKind::Resource) return resource(arg, i, parameter);
    return b.f.convert(arg, parameter.type,
                       "argument '" + name_of(i) + "' of '" + callee.name() + "'", span);
  }

  // Two references to one memory are harmless only while neither is written.
  void check_overlaps(std::span<const ExprId> args) const {
    auto written = [&](const Variable& v) {
      return (static_cast<uint8_t>(v.usage) & static_cast<uint8_t>(Usage::Write)) != 0;
    };
    for (size_t i = 0; i < args.size(); ++i) {
      const Variable& x = callee.variable(callee.arguments()[i]);
      if (x.kind != VariableKind::Reference) continue;
      for (size_t j = 0; j < i; ++j) {
        const Variable& y = callee.variable(callee.arguments()[j]);
        if (y.kind != VariableKind::Reference || !(written(x) || written(y))) continue;
        if (b.overlap(args[i], args[j])) {
          fail(Diag::reference_overlap, span, {y.name, x.name, callee.name()});
        }
      }
    }
  }
};

}  // namespace

ExprId FunctionBuilder::call(const std::shared_ptr<FunctionBuilder>& callee,
                             std::span<const ExprId> args, Span span) {
  Build build(*this);
  build.check_open();
  build.check(args, span);
  if (callee->kind() == Kind::Kernel) fail(Diag::call_kernel, span, {callee->name()});
  if (!callee->finished()) fail(Diag::call_recursive, span, {callee->name()});
  if (args.size() != callee->arguments().size()) {
    fail(Diag::call_count, span,
         {callee->name(), std::to_string(callee->arguments().size()), std::to_string(args.size())});
  }
  Caller caller{build, *callee, span};
  std::vector<ExprId> passed(args.begin(), args.end());
  for (size_t i = 0; i < passed.size(); ++i) passed[i] = caller.argument(passed[i], i);
  caller.check_overlaps(passed);
  for (size_t i = 0; i < passed.size(); ++i) {
    const Variable& parameter = callee->variable(callee->arguments()[i]);
    bool by_value = parameter.kind == VariableKind::Argument;
    build.mark(passed[i], by_value ? Usage::Read : parameter.usage);
    // The elements of a place that is passed by reference are found by reading its indices, which
    // access() has marked; a buffer's element reads or writes the buffer as the callee does.
  }
  // Equal callables are one callee.
  auto same = [&](const std::shared_ptr<FunctionBuilder>& c) {
    return equal(*c, *callee);
  };
  auto at = std::find_if(callees_.begin(), callees_.end(), same);
  if (at == callees_.end()) at = callees_.insert(callees_.end(), callee);
  reports_ |= callee->reports();
  ExprNode n;
  n.kind = callee->external() ? ExprKind::ExternalCall : ExprKind::CustomCall;
  n.type = callee->return_type();
  n.span = span;
  n.index = static_cast<uint32_t>(at - callees_.begin());
  n.args_begin = build.add_args(passed);
  n.args_count = static_cast<uint32_t>(passed.size());
  return build.add(n);
}

namespace {

// What a C text can be given without knowing our types: numbers, vectors of them, buffers of these.
bool is_plain(Type t) {
  if (t.is_buffer()) return !t.packed() && (t.element().is_void() || is_plain(t.element()));
  if (!t.is_lanes()) return false;
  const ScalarClass c = scalar_class(t.scalar());
  if (c == ScalarClass::Float) return t.is_float();
  return c != ScalarClass::Bool || t.is_scalar();
}

}  // namespace

void FunctionBuilder::set_external(External external) {
  Build(*this).check_open();
  LCPY_CHECK(kind_ == Kind::Callable && external.usages.size() == arguments_.size());
  external_ = std::move(external);
}

// Its types, and what its body does beyond its usages, which then are its parameters'.
void Build::finish_external() {
  const auto check = [&](const std::string& what, Type t, Span span) {
    if (!is_plain(t)) fail(Diag::external_type, span, {what, f.name_, type_spelling(t)});
  };
  for (size_t i = 0; i < f.arguments_.size(); ++i) {
    Variable& v = f.variables_[f.arguments_[i].value];
    check("argument '" + v.name + "'", v.type, v.span);
    if (v.kind == VariableKind::Argument) continue;
    const Usage says = f.external_->usages[i];
    if (static_cast<uint8_t>(v.usage) & ~static_cast<uint8_t>(says))
      fail(Diag::external_usage, v.span, {v.name, f.name_});
    v.usage = says;
  }
  if (!f.return_type_.is_void()) check("the result", f.return_type_, f.span_);
}

}  // namespace lcpy::ast
