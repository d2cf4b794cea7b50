// Comparisons, which are by value whatever the operands' signs, and conditional expressions.
#include <cmath>

#include "ast/build.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

Type bool_lanes(uint32_t lanes) {
  return lanes == 1 ? Type::of(Scalar::Bool) : Type::vector(Scalar::Bool, lanes);
}

Op mirrored(Op op) {
  switch (op) {
    case Op::Less:
      return Op::Greater;
    case Op::Greater:
      return Op::Less;
    case Op::LessEqual:
      return Op::GreaterEqual;
    case Op::GreaterEqual:
      return Op::LessEqual;
    default:
      return op;
  }
}

// An integer against a bound that may lie outside its type.
struct Bound {
  WeakInt value;
  bool above = false, below = false;  // of every value of the type
};

Bound bound_in(WeakInt v, Scalar s) {
  uint32_t bits = scalar_size(s) * 8;
  uint64_t top = ~0ull >> (64 - bits + (is_signed(s) ? 1 : 0));
  uint64_t bottom = is_signed(s) ? top + 1 : 0;
  return {v, !v.negative && v.magnitude > top, v.negative && v.magnitude > bottom};
}

Bound bound_in(double whole, Scalar s) {
  if (std::fabs(whole) >= 18446744073709551616.0) return {{}, whole > 0, whole < 0};
  auto magnitude = static_cast<uint64_t>(std::fabs(whole));
  return bound_in(WeakInt{whole < 0 && magnitude != 0, magnitude}, s);
}

std::string print(const Build& b, const ExprNode& n) {
  if (n.weak == WeakKind::Int) {
    WeakInt v = b.weak_value(n);
    return (v.negative ? "-" : "") + std::to_string(v.magnitude);
  }
  char text[32];
  std::snprintf(text, sizeof text, "%g", n.value.f);
  return text;
}

}  // namespace

// An integer, compared with a literal by value. Where the answer is known the integer is still
// evaluated: the node compares it with the least value of its type.
ExprId Build::compare_literal(Op op, ExprId a, ExprId weak, Span span) {
  const ExprNode n = node(weak);
  Type t = type(a);
  Scalar s = scalar_of(t);
  auto against = [&](Op o, WeakInt v) {
    ExprId literal = fit(typed_int(s, v, n.span), s, t.lanes(), span);
    return binary_node(o, a, literal, bool_lanes(t.lanes()), span);
  };
  auto constant = [&](bool truth) {
    f.warnings_.push_back(
        make_diagnostic(Diag::comparison_constant, span,
                        {truth ? "True" : "False", type_spelling(t), print(*this, n)}));
    uint64_t bottom = is_signed(s) ? 1ull << (scalar_size(s) * 8 - 1) : 0;
    return against(truth ? Op::GreaterEqual : Op::Less, {bottom != 0, bottom});
  };
  Bound bound;
  if (n.weak == WeakKind::Int) {
    bound = bound_in(weak_value(n), s);
  } else {
    double v = n.value.f, floor = std::floor(v);
    bool equality = op == Op::Equal || op == Op::NotEqual;
    if (std::isnan(v) || (equality && floor != v)) return constant(op == Op::NotEqual);
    bool up = op == Op::Less || op == Op::GreaterEqual;
    bound = bound_in(up ? std::ceil(v) : floor, s);
  }
  if (bound.above) return constant(op == Op::Less || op == Op::LessEqual || op == Op::NotEqual);
  if (bound.below) {
    return constant(op == Op::Greater || op == Op::GreaterEqual || op == Op::NotEqual);
  }
  return against(op, bound.value);
}

ExprId Build::compare(Op op, ExprId a, ExprId b, Span span) {
  if (is_weak(a) && is_weak(b)) return fold(op, a, b, span);
  bool equality = op == Op::Equal || op == Op::NotEqual;
  for (ExprId e : {a, b}) {
    if (!type(e).is_lanes()) wrong_operand(op, type(e), "compare its parts", span);
  }
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    bool literal = is_weak(y) && node(y).weak != WeakKind::Bool;
    if (literal && type(x).is_integer()) {
      return compare_literal(x == a ? op : mirrored(op), x, y, span);
    }
  }
  ExprId pair[] = {a, b};
  Scalar sa = scalar_of(type(a)), sb = scalar_of(type(b));
  bool mixed = is_int(sa) && is_int(sb) && is_signed(sa) != is_signed(sb);
  uint32_t lanes = std::max(type(a).lanes(), type(b).lanes());
  if (mixed) {
    // One of three: the signed type holds all of the unsigned one; int32 holds all of both; or the
    // operands keep their signs at one width, and lowering compares them by value.
    Scalar s = is_signed(sa) ? sa : sb, u = is_signed(sa) ? sb : sa;
    bool small = scalar_size(u) <= 2 && scalar_size(s) <= 2;
    if (scalar_size(s) <= scalar_size(u) && !small) {
      Scalar wide = signed_of(scalar_size(u));
      pair[0] = fit(a, is_signed(sa) ? wide : u, lanes, span);
      pair[1] = fit(b, is_signed(sb) ? wide : u, lanes, span);
    } else {
      Scalar common = small ? Scalar::Int32 : s;
      for (ExprId& e : pair) e = fit(e, common, lanes, span);
    }
    if (type(pair[0]).lanes() != type(pair[1]).lanes()) {
      fail(Diag::lanes_differ, span,
           {op_spelling(op), type_spelling(type(a)), type_spelling(type(b))});
    }
  } else {
    Type t = unify_compared(op, pair, equality, span);
    lanes = t.lanes();
  }
  return binary_node(op, pair[0], pair[1], bool_lanes(lanes), span);
}

Type Build::unify_compared(Op op, std::span<ExprId> pair, bool equality, Span span) {
  bool bools =
      type(pair[0]).has_class(ScalarClass::Bool) && type(pair[1]).has_class(ScalarClass::Bool);
  return unify(op, pair, bools && equality ? Want::Bits : Want::Arithmetic, span);
}

ExprId FunctionBuilder::conditional(ExprId cond, ExprId x, ExprId y, Span span) {
  Build build(*this);
  build.check_open();
  ExprId both[] = {x, y};
  build.check(cond, span);
  build.check(both, span);
  cond = build.condition(cond, span);
  Type t = common_type(both, "the two sides of a conditional expression", span);
  if (!t.is_value()) {
    fail(Diag::declaration_type, span,
         {"a side of a conditional expression", type_spelling(t), ""});
  }
  if (t.is_basic()) {
    for (ExprId& e : both) e = build.fit(e, scalar_of(t), 1, span);
  }
  for (ExprId e : {cond, both[0], both[1]}) build.read(e);
  ExprNode n;
  n.kind = ExprKind::Conditional;
  n.op = Op::IfElse;
  n.type = t;
  n.span = span;
  n.a = cond.value;
  n.b = both[0].value;
  n.c = both[1].value;
  return build.add(n);
}

}  // namespace lcpy::ast
