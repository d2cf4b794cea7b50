// Shapes of whole vectors and matrices: geometry, reductions, linear algebra.
#include <algorithm>

#include "ast/shape.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

// N float vectors of one type.
template <size_t N>
Type vectors(Build& b, Op op, std::span<const ExprId> args, std::array<ExprId, N>& out, Span span) {
  b.need_count(op, args, N, span);
  for (ExprId e : args) {
    if (!b.type(e).is_vector()) b.wrong_operand(op, b.type(e), "it takes float vectors", span);
  }
  std::copy(args.begin(), args.end(), out.begin());
  return b.unify(op, out, Want::Float, span);
}

template <size_t N>
ExprId vectors_to(Build& b, Op op, std::span<const ExprId> args, bool to_scalar, Span span) {
  std::array<ExprId, N> e;
  Type t = vectors<N>(b, op, args, e, span);
  return b.call_node(op, e, to_scalar ? t.with_lanes(1) : t, span);
}

Type matrix_operand(Build& b, Op op, std::span<const ExprId> args, Span span) {
  b.need_count(op, args, 1, span);
  Type t = b.type(args[0]);
  if (!t.is_matrix()) b.wrong_operand(op, t, "it takes a matrix", span);
  return t;
}

}  // namespace

LCPY_SHAPE(Cross3) {
  std::array<ExprId, 2> e;
  Type t = vectors<2>(b, op, args, e, span);
  if (t.lanes() != 3) b.wrong_operand(op, t, "it takes vectors of 3 lanes", span);
  return b.call_node(op, e, t, span);
}

LCPY_SHAPE(VectorToScalar) { return vectors_to<1>(b, op, args, true, span); }
LCPY_SHAPE(VectorPairToScalar) { return vectors_to<2>(b, op, args, true, span); }
LCPY_SHAPE(FloatVectorUnary) { return vectors_to<1>(b, op, args, false, span); }
LCPY_SHAPE(FloatVectorBinary) { return vectors_to<2>(b, op, args, false, span); }
LCPY_SHAPE(FloatVectorTernary) { return vectors_to<3>(b, op, args, false, span); }

LCPY_SHAPE(RefractShape) {
  b.need_count(op, args, 3, span);
  std::array<ExprId, 2> pair;
  Type t = vectors<2>(b, op, args.first(2), pair, span);
  Type eta = b.type(args[2]);
  if (!eta.is_scalar()) b.wrong_operand(op, eta, "the ratio of indices is one number", span);
  ExprId e[] = {pair[0], pair[1],
                b.f.convert(args[2], t.with_lanes(1), "the ratio of indices", span)};
  return b.call_node(op, e, t, span);
}

LCPY_SHAPE(BoolVectorToBool) {
  b.need_count(op, args, 1, span);
  Type t = b.type(args[0]);
  if (!t.has_class(ScalarClass::Bool)) {
    b.wrong_operand(op, t, "it takes a bool vector: compare first", span);
  }
  ExprId x = b.f.settle(args[0]);
  return b.call_node(op, {&x, 1}, Type::of(Scalar::Bool), span);
}

LCPY_SHAPE(LanesToScalar) {
  b.need_count(op, args, 1, span);
  Type t = b.type(args[0]);
  if (!t.is_vector() || !t.is_arithmetic()) {
    b.wrong_operand(op, t, "it takes a vector of numbers", span);
  }
  return b.call_node(op, args, t.with_lanes(1), span);
}

LCPY_SHAPE(OuterShape) {
  std::array<ExprId, 2> e;
  Type t = vectors<2>(b, op, args, e, span);
  return b.call_node(op, e, Type::matrix(t.scalar(), t.lanes()), span);
}

LCPY_SHAPE(MatrixUnary) {
  Type t = matrix_operand(b, op, args, span);
  return b.call_node(op, args, t, span);
}

LCPY_SHAPE(MatrixToScalar) {
  Type t = matrix_operand(b, op, args, span);
  return b.call_node(op, args, Type::of(t.scalar()), span);
}

LCPY_SHAPE(LinearAlgebra) {
  b.need_count(op, args, 2, span);
  Type tx = b.type(args[0]), ty = b.type(args[1]);
  auto takes = [](Type t) { return t.is_matrix() || t.is_vector(); };
  if (!takes(tx) || !takes(ty) || tx.lanes() != ty.lanes()) {
    fail(Diag::matmul_shape, span, {type_spelling(tx), type_spelling(ty)});
  }
  if (tx.is_vector() && ty.is_vector()) return b.apply(Op::Dot, args, {}, span);
  Scalar s = b.common_scalar(op_spelling(op), args, false, span);
  ExprId x = b.fit(args[0], s, 1, span), y = b.fit(args[1], s, 1, span);
  Type t = (tx.is_vector() ? tx : ty).with_scalar(s);
  return b.binary_node(op, x, y, t, span);
}

}  // namespace lcpy::ast
