// What the chapters of FunctionBuilder share: node storage, usage marks, and the rules that more
// than one chapter needs. Private to this folder.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "ast/builder.h"

namespace lcpy::ast {

// A Python integer literal: what fits int64 or uint64.
struct WeakInt {
  bool negative = false;
  uint64_t magnitude = 0;
};

// What operands of an operation must be, once they have one type.
enum class Want : uint8_t { Arithmetic, Integer, Float, Bits };

struct Build {
  FunctionBuilder& f;
  explicit Build(FunctionBuilder& builder) : f(builder) {}

  // ---- nodes (builder.cpp) ----
  ExprId add(ExprNode node);
  StmtId add(StmtNode node);  // appended to the innermost scope
  void will_report() { f.reports_ = f.keeps_place_ = true; }
  void check_open() const;    // not finished
  void check(ExprId e, Span span) const;
  void check(std::span<const ExprId> all, Span span) const {
    for (ExprId e : all) check(e, span);
  }
  uint32_t add_args(std::span<const ExprId> args);
  uint32_t add_text(std::string text);
  ScopeId add_scope(StmtId owner);
  const ExprNode& node(ExprId e) const { return f.exprs_[e.value]; }
  Type type(ExprId e) const { return f.exprs_[e.value].type; }
  bool is_weak(ExprId e) const { return f.exprs_[e.value].weak != WeakKind::None; }
  ExprId id(uint32_t value) const { return ExprId(value, f.owner_); }

  // ---- usage (usage.cpp) ----
  void mark(ExprId e, Usage usage);
  void read(ExprId e) { mark(e, Usage::Read); }
  void mark_call(Op op, std::span<const ExprId> args);
  VariableId root(ExprId e) const;  // the variable a place lies in; none otherwise

  // ---- nodes by kind; operands are read, types are the caller's ----
  ExprId unary_node(Op op, ExprId a, Type type, Span span);
  ExprId binary_node(Op op, ExprId a, ExprId b, Type type, Span span);
  ExprId call_node(Op op, std::span<const ExprId> args, Type type, Span span);
  // Unary, Binary or Call, as the row's category and the number of operands say.
  ExprId op_node(Op op, std::span<const ExprId> args, Type type, Span span);
  ExprId cast_node(Type type, ExprId a, Span span);
  ExprId splat(ExprId scalar, uint32_t lanes, Span span);

  // ---- literals (literal.cpp) ----
  ExprId weak_int(WeakInt v, Span span);
  ExprId weak_float(double v, Span span);
  ExprId weak_bool(bool v, Span span);
  WeakInt weak_value(const ExprNode& n) const;
  double weak_number(const ExprNode& n) const;  // Int or Float, rounded to double
  ExprId typed_bool(bool v, Span span);
  ExprId typed_int(Scalar s, WeakInt v, Span span);   // modulo the width
  ExprId typed_float(Scalar s, double v, Span span);  // rounded once
  // A weak literal as scalar s by the rules of operators and assignments, or by those of T(x).
  ExprId adapt(ExprId weak, Scalar s, Span span);
  ExprId cast_literal(ExprId weak, Scalar s, Span span);
  [[noreturn]] void out_of(const ExprNode& literal, Scalar s, Span span) const;  // its range
  ExprId fold(Op op, ExprId a, ExprId b, Span span);                             // both weak
  ExprId fold(Op op, ExprId a, Span span);

  // ---- conversion (convert.cpp) ----
  // One type for operands of arithmetic: they are converted and spread in place.
  Type unify(Op op, std::span<ExprId> args, Want want, Span span);
  Scalar common_scalar(std::string_view what, std::span<const ExprId> args, bool bools, Span span);
  // To scalar s and `lanes` lanes by whatever conversion it takes.
  ExprId fit(ExprId a, Scalar s, uint32_t lanes, Span span);
  // A condition: bool scalar. The error on a bool vector names all() and any().
  ExprId condition(ExprId a, Span span);
  // A value that an index, a shift amount or a switch can be: integer.
  ExprId integer(ExprId a, std::string_view what, Span span);

  // ---- access (access.cpp) ----
  ExprId access_one(ExprId base, std::span<const ExprId> indices, Span span);
  void check_atomic_place(Op op, ExprId place, Span span);
  bool overlap(ExprId a, ExprId b) const;         // visibly the same memory
  VariableId buffer(Op op, ExprId a, Span span);  // a resource variable that is a buffer

  // ---- operations by shape (shape_*.cpp), one function a row of shape.def ----
  ExprId apply(Op op, std::span<const ExprId> args, Type result, Span span);
  void need_count(Op op, std::span<const ExprId> args, size_t count, Span span) const;
  [[noreturn]] void wrong_operand(Op op, Type type, std::string_view hint, Span span) const;

  ExprId compare(Op op, ExprId a, ExprId b, Span span);
  ExprId compare_literal(Op op, ExprId a, ExprId weak, Span span);
  Type unify_compared(Op op, std::span<ExprId> pair, bool equality, Span span);

  // ---- statements (stmt.cpp) ----
  const StmtNode* owner_of_scope(size_t depth) const;  // null for the body
  void check_target(ExprId place, Span span) const;    // no lane twice
  bool inside_loop() const;
  bool falls_through(ScopeId scope) const;  // flow.cpp
  uint64_t compute_hash() const;            // hash.cpp
  void finish_external();                   // call.cpp
};

using ShapeCheck = ExprId (*)(Build& b, Op op, std::span<const ExprId> args, Type result,
                              Span span);

// "'+'", "lc.min": how a message names an operation.
std::string op_spelling(Op op);
// Whether every value of `from` is a value of `to`.
bool is_exact(Scalar from, Scalar to);
// Scalar that arithmetic between the two gives; false when there is none (signs of equal width).
bool join(Scalar a, Scalar b, Scalar& out);
// The float type that integers of this width divide to: float32, or float64 for 64 bits.
Scalar float_beside(Scalar s);
inline Scalar scalar_of(Type t) { return t.info()->scalar; }
inline bool is_int(Scalar s) {
  return scalar_class(s) == ScalarClass::Signed || scalar_class(s) == ScalarClass::Unsigned;
}
inline bool is_signed(Scalar s) { return scalar_class(s) == ScalarClass::Signed; }
Scalar signed_of(uint32_t bytes);
Scalar unsigned_of(uint32_t bytes);
double round_to_half(double v);

}  // namespace lcpy::ast
