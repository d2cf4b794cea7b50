// Shapes of warp operations: one value of each active lane goes in, scalar or vector.
#include "ast/shape.h"

namespace lcpy::ast {
namespace {

ExprId over_lanes(Build& b, Op op, std::span<const ExprId> args, Want want, Span span) {
  b.need_count(op, args, 1, span);
  ExprId x[] = {args[0]};
  const Type t = b.unify(op, x, want, span);
  return b.call_node(op, x, t, span);
}

ExprId vote(Build& b, Op op, std::span<const ExprId> args, Type gives, Span span) {
  b.need_count(op, args, 1, span);
  ExprId x = b.condition(args[0], span);
  return b.call_node(op, {&x, 1}, gives, span);
}

// Any scalar or vector that threads can hand on.
ExprId handed(Build& b, Op op, ExprId x, Span span) {
  const Type t = b.type(x);
  if (!t.is_arithmetic() && !t.has_class(ScalarClass::Bool)) {
    b.wrong_operand(op, t, "it takes scalars and vectors: hand on the members one by one", span);
  }
  return b.f.settle(x);
}

}  // namespace

LCPY_SHAPE(WarpNumber) { return over_lanes(b, op, args, Want::Arithmetic, span); }
LCPY_SHAPE(WarpBits) { return over_lanes(b, op, args, Want::Bits, span); }

LCPY_SHAPE(WarpTest) {
  b.need_count(op, args, 1, span);
  ExprId x = handed(b, op, args[0], span);
  return b.call_node(op, {&x, 1}, b.type(x).with_scalar(Scalar::Bool), span);
}

LCPY_SHAPE(WarpVote) { return vote(b, op, args, Type::of(Scalar::Bool), span); }
LCPY_SHAPE(WarpCountShape) { return vote(b, op, args, Type::of(Scalar::UInt32), span); }
LCPY_SHAPE(WarpBallotShape) { return vote(b, op, args, Type::vector(Scalar::UInt32, 4), span); }

LCPY_SHAPE(WarpReadShape) {
  b.need_count(op, args, 1, span);
  ExprId x = handed(b, op, args[0], span);
  return b.call_node(op, {&x, 1}, b.type(x), span);
}

LCPY_SHAPE(WarpReadLaneShape) {
  b.need_count(op, args, 2, span);
  ExprId e[] = {handed(b, op, args[0], span), b.integer(args[1], "a lane", span)};
  return b.call_node(op, e, b.type(e[0]), span);
}

}  // namespace lcpy::ast
