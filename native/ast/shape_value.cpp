// Shapes of element-wise operations: arithmetic, bits, logic, choice, mathematical functions.
#include <algorithm>

#include "ast/shape.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

template <size_t N>
std::array<ExprId, N> take(Build& b, Op op, std::span<const ExprId> args, Span span) {
  b.need_count(op, args, N, span);
  std::array<ExprId, N> out;
  std::copy(args.begin(), args.end(), out.begin());
  return out;
}

template <size_t N>
ExprId elementwise(Build& b, Op op, std::span<const ExprId> args, Want want, Span span) {
  auto e = take<N>(b, op, args, span);
  Type t = b.unify(op, e, want, span);
  return b.op_node(op, e, t, span);
}

Type bool_lanes(Type t) {
  return t.lanes() == 1 ? Type::of(Scalar::Bool) : Type::vector(Scalar::Bool, t.lanes());
}

// Matrix with matrix, or matrix with scalar.
ExprId matrix_binary(Build& b, Op op, ExprId x, ExprId y, Span span) {
  Type tx = b.type(x), ty = b.type(y);
  bool both = tx.is_matrix() && ty.is_matrix() && tx.lanes() == ty.lanes();
  bool with_scalar = tx.is_scalar() || ty.is_scalar();
  if (!both && !with_scalar) {
    fail(Diag::matrix_product, span, {op_spelling(op), type_spelling(tx), type_spelling(ty)});
  }
  bool scales = op == Op::Mul || (op == Op::Div && ty.is_scalar());
  if (with_scalar && !scales) {
    b.wrong_operand(op, tx.is_matrix() ? tx : ty, "a matrix takes '*' and '/' with a number", span);
  }
  if (both && op != Op::Add && op != Op::Sub && op != Op::Mul) b.wrong_operand(op, tx, "", span);
  ExprId pair[] = {x, y};
  Scalar s = b.common_scalar(op_spelling(op), pair, false, span);
  x = b.fit(x, s, 1, span);
  y = b.fit(y, s, 1, span);
  return b.binary_node(op, x, y, (tx.is_matrix() ? tx : ty).with_scalar(s), span);
}

bool all_weak(const Build& b, std::span<const ExprId> args) {
  return std::all_of(args.begin(), args.end(), [&](ExprId e) { return b.is_weak(e); });
}

bool has_matrix(const Build& b, std::span<const ExprId> args) {
  return std::any_of(args.begin(), args.end(), [&](ExprId e) { return b.type(e).is_matrix(); });
}

}  // namespace

LCPY_SHAPE(NumUnary) {
  auto [x] = take<1>(b, op, args, span);
  if (op == Op::Neg && b.is_weak(x)) return b.fold(op, x, span);
  Type t = b.type(x);
  if (op == Op::Neg && t.is_matrix()) return b.unary_node(op, x, t, span);
  return elementwise<1>(b, op, args, Want::Arithmetic, span);
}

LCPY_SHAPE(BoolUnary) {
  auto [x] = take<1>(b, op, args, span);
  if (b.is_weak(x)) return b.fold(op, x, span);
  Type t = b.type(x);
  if (t.is_bool()) return b.unary_node(op, x, t, span);
  bool lanes = t.has_class(ScalarClass::Bool);
  fail(Diag::bool_operator, span,
       {op_spelling(op), type_spelling(t),
        lanes ? "by lane it is ~x; for one answer lc.all(x) or lc.any(x)"
              : "compare it, for example x == 0"});
}

LCPY_SHAPE(BitsUnary) {
  auto [x] = take<1>(b, op, args, span);
  if (b.is_weak(x)) return b.fold(op, x, span);
  return elementwise<1>(b, op, args, Want::Bits, span);
}

LCPY_SHAPE(NumBinary) {
  auto [x, y] = take<2>(b, op, args, span);
  if (all_weak(b, args)) return b.fold(op, x, y, span);
  if (has_matrix(b, args)) return matrix_binary(b, op, x, y, span);
  return elementwise<2>(b, op, args, Want::Arithmetic, span);
}

LCPY_SHAPE(TrueDivide) {
  auto e = take<2>(b, op, args, span);
  if (all_weak(b, args)) return b.fold(op, e[0], e[1], span);
  if (has_matrix(b, args)) return matrix_binary(b, op, e[0], e[1], span);
  // The integers' common type first: it decides between float32 and float64, and refuses mixed
  // signs.
  for (ExprId x : e) {
    if (!b.type(x).is_lanes()) b.wrong_operand(op, b.type(x), "", span);
  }
  Scalar s = b.common_scalar(op_spelling(op), e, false, span);
  if (is_int(s)) {
    Scalar to = float_beside(s);
    for (ExprId& x : e) x = b.is_weak(x) ? b.adapt(x, to, span) : b.fit(x, to, 1, span);
  }
  Type t = b.unify(op, e, Want::Float, span);
  return b.binary_node(op, e[0], e[1], t, span);
}

LCPY_SHAPE(IntUnary) { return elementwise<1>(b, op, args, Want::Integer, span); }

LCPY_SHAPE(IntBinary) {
  auto [x, y] = take<2>(b, op, args, span);
  bool folds = op == Op::TruncDiv || op == Op::TruncRem;
  if (folds && all_weak(b, args)) return b.fold(op, x, y, span);
  return elementwise<2>(b, op, args, Want::Integer, span);
}

LCPY_SHAPE(BitsBinary) {
  auto [x, y] = take<2>(b, op, args, span);
  if (all_weak(b, args)) return b.fold(op, x, y, span);
  return elementwise<2>(b, op, args, Want::Bits, span);
}

LCPY_SHAPE(Shift) {
  auto [x, n] = take<2>(b, op, args, span);
  bool operates = op == Op::Shl || op == Op::Shr;
  if (operates && all_weak(b, args)) return b.fold(op, x, n, span);
  for (ExprId e : {x, n}) {
    if (!b.type(e).is_integer()) b.wrong_operand(op, b.type(e), "it takes integers", span);
  }
  x = b.f.settle(x);
  Scalar s = scalar_of(b.type(x));
  if (b.is_weak(n)) {
    // Modulo the width here, so that lowering sees an amount that is in range.
    WeakInt amount = b.weak_value(b.node(n));
    uint64_t width = scalar_size(s) * 8;
    uint64_t low = amount.magnitude % width;
    n = b.typed_int(s, {false, amount.negative && low != 0 ? width - low : low}, span);
  }
  uint32_t lanes = std::max(b.type(x).lanes(), b.type(n).lanes());
  x = b.fit(x, s, lanes, span);
  n = b.fit(n, scalar_of(b.type(n)), lanes, span);
  Type t = b.type(x);
  if (t.lanes() != b.type(n).lanes()) {
    fail(Diag::lanes_differ, span, {op_spelling(op), type_spelling(t), type_spelling(b.type(n))});
  }
  ExprId e[] = {x, n};
  return b.op_node(op, e, t, span);
}

LCPY_SHAPE(BoolBinary) {
  auto e = take<2>(b, op, args, span);
  for (ExprId x : e) {
    Type t = b.type(x);
    if (t.is_bool()) continue;
    bool lanes = t.has_class(ScalarClass::Bool);
    fail(Diag::bool_operator, span,
         {op_spelling(op), type_spelling(t),
          lanes ? "by lane it is '&' and '|'; for one answer lc.all(x) or lc.any(x)"
                : "compare it, for example x != 0"});
  }
  if (all_weak(b, e)) return b.fold(op, e[0], e[1], span);
  for (ExprId& x : e) x = b.f.settle(x);
  return b.binary_node(op, e[0], e[1], Type::of(Scalar::Bool), span);
}

LCPY_SHAPE(Compare) {
  auto [x, y] = take<2>(b, op, args, span);
  return b.compare(op, x, y, span);
}

LCPY_SHAPE(CompareEqual) {
  auto [x, y] = take<2>(b, op, args, span);
  return b.compare(op, x, y, span);
}

LCPY_SHAPE(Conditional) {
  auto [c, x, y] = take<3>(b, op, args, span);
  return b.f.conditional(c, x, y, span);
}

LCPY_SHAPE(SelectShape) {
  auto [c, x, y] = take<3>(b, op, args, span);
  Type tc = b.type(c);
  if (!tc.has_class(ScalarClass::Bool)) {
    b.wrong_operand(op, tc, "the condition comes first: lc.select(cond, if_true, if_false)", span);
  }
  c = b.f.settle(c);
  Type tx = b.type(x), ty = b.type(y);
  if (tx.is_lanes() && ty.is_lanes()) {
    ExprId pair[] = {x, y};
    Scalar s = b.common_scalar(op_spelling(op), pair, true, span);
    uint32_t lanes = std::max({tx.lanes(), ty.lanes(), tc.lanes()});
    x = b.fit(x, s, lanes, span);
    y = b.fit(y, s, lanes, span);
    for (Type t : {b.type(x), b.type(y), tc}) {
      if (t.lanes() != lanes && !(t == tc && tc.is_scalar())) {
        fail(Diag::lanes_differ, span,
             {op_spelling(op), type_spelling(t), type_spelling(b.type(x))});
      }
    }
  } else if (tx != ty || !tx.is_value()) {
    fail(Diag::no_common_type, span,
         {"the two values of lc.select", type_spelling(tx), type_spelling(ty)});
  } else if (!tc.is_scalar()) {
    b.wrong_operand(op, tc, "between whole values the condition is one bool", span);
  }
  ExprId e[] = {c, x, y};
  return b.call_node(op, e, b.type(x), span);
}

LCPY_SHAPE(NumTernary) { return elementwise<3>(b, op, args, Want::Arithmetic, span); }
LCPY_SHAPE(FloatUnary) { return elementwise<1>(b, op, args, Want::Float, span); }
LCPY_SHAPE(FloatBinary) { return elementwise<2>(b, op, args, Want::Float, span); }
LCPY_SHAPE(FloatTernary) { return elementwise<3>(b, op, args, Want::Float, span); }

LCPY_SHAPE(FloatTest) {
  auto e = take<1>(b, op, args, span);
  Type t = b.unify(op, e, Want::Float, span);
  return b.call_node(op, e, bool_lanes(t), span);
}

LCPY_SHAPE(PowShape) {
  auto e = take<2>(b, op, args, span);
  if (all_weak(b, e)) return b.fold(op, e[0], e[1], span);
  for (ExprId x : e) {
    if (!b.type(x).is_lanes()) b.wrong_operand(op, b.type(x), "", span);
  }
  if (!b.is_weak(e[0]) && b.type(e[0]).is_integer() && b.is_weak(e[1])) {
    const ExprNode& n = b.node(e[1]);
    if (n.weak == WeakKind::Int && b.weak_value(n).negative) {
      fail(Diag::negative_power, span, {std::to_string(n.value.i)});
    }
  }
  Type t = b.unify(op, e, Want::Arithmetic, span);
  return b.call_node(t.is_integer() ? Op::PowInt : Op::Pow, e, t, span);
}

}  // namespace lcpy::ast
