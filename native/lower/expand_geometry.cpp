// Expansions of geometry and of reductions over lanes, in the one order of operations that
// language.md gives: sums and products run from lane 0 up.
#include <array>

#include "lower/expand.h"

namespace lcpy {
namespace {

ValueId dot(Expander& e, ValueId a, ValueId b) {
  return e.emit(Op::Dot, Type::of(e.type(a).scalar()), {a, b});
}

ValueId fold_lanes(Expander& e, Op op, ValueId v) {
  ValueId result = e.lane(v, 0);
  for (uint32_t i = 1; i < e.type(v).lanes(); i++) result = e.binary(op, result, e.lane(v, i));
  return result;
}

}  // namespace

ValueId expand_dot(Expander& e, const ExpandCall& call) {
  const ValueId a = call.args[0], b = call.args[1];
  ValueId sum = e.mul(e.lane(a, 0), e.lane(b, 0));
  for (uint32_t i = 1; i < e.type(a).lanes(); i++)
    sum = e.add(sum, e.mul(e.lane(a, i), e.lane(b, i)));
  return sum;
}

ValueId expand_cross(Expander& e, const ExpandCall& call) {
  const ValueId a = call.args[0], b = call.args[1];
  std::array<ValueId, 3> parts;
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
    parts[i] = e.sub(e.mul(e.lane(a, j), e.lane(b, k)), e.mul(e.lane(a, k), e.lane(b, j)));
  }
  return e.gather(call.type, parts);
}

ValueId expand_length_squared(Expander& e, const ExpandCall& call) {
  return dot(e, call.args[0], call.args[0]);
}

ValueId expand_length(Expander& e, const ExpandCall& call) {
  return e.unary(Op::Sqrt, dot(e, call.args[0], call.args[0]));
}

ValueId expand_distance(Expander& e, const ExpandCall& call) {
  return e.emit(Op::Length, call.type, {e.sub(call.args[0], call.args[1])});
}

ValueId expand_normalize(Expander& e, const ExpandCall& call) {
  const ValueId v = call.args[0];
  const Type scalar = Type::of(call.type.scalar());
  const ValueId zero = e.number(scalar, 0), one = e.number(scalar, 1);
  if (e.math() == MathMode::Fast) {
    const ValueId squared = dot(e, v, v);
    const ValueId empty = e.compare(Op::Equal, squared, zero);
    return e.mul(v, e.unary(Op::Rsqrt, e.select(empty, one, squared)));
  }
  const ValueId length = e.emit(Op::Length, scalar, {v});
  return e.div(v, e.select(e.compare(Op::Equal, length, zero), one, length));
}

ValueId expand_reflect(Expander& e, const ExpandCall& call) {
  const ValueId v = call.args[0], n = call.args[1];
  const ValueId along = dot(e, v, n);
  return e.sub(v, e.mul(e.spread(e.mul(e.number(e.type(along), 2), along), call.type), n));
}

ValueId expand_refract(Expander& e, const ExpandCall& call) {
  const ValueId v = call.args[0], n = call.args[1], eta = call.args[2];
  const Type scalar = e.type(eta);
  const ValueId one = e.number(scalar, 1), zero = e.number(scalar, 0);
  const ValueId along = dot(e, v, n);
  const ValueId sine = e.mul(e.mul(eta, eta), e.sub(one, e.mul(along, along)));
  const ValueId k = e.sub(one, sine);
  const ValueId total = e.compare(Op::Less, k, zero);
  const ValueId root = e.unary(Op::Sqrt, e.select(total, zero, k));
  const ValueId normal_part = e.add(e.mul(eta, along), root);
  const ValueId bent = e.sub(e.mul(v, eta), e.mul(n, normal_part));
  return e.select(e.spread(total, call.type), e.number(call.type, 0), bent);
}

ValueId expand_faceforward(Expander& e, const ExpandCall& call) {
  const ValueId n = call.args[0];
  const ValueId along = dot(e, call.args[2], call.args[1]);
  const ValueId facing = e.compare(Op::Less, along, e.number(e.type(along), 0));
  return e.select(e.spread(facing, call.type), n, e.unary(Op::Neg, n));
}

ValueId expand_reduce(Expander& e, const ExpandCall& call) {
  struct Step {
    Op reduction, step;
  };
  constexpr Step steps[] = {{Op::All, Op::BitAnd},    {Op::Any, Op::BitOr},
                            {Op::ReduceSum, Op::Add}, {Op::ReduceProduct, Op::Mul},
                            {Op::ReduceMin, Op::Min}, {Op::ReduceMax, Op::Max}};
  for (const Step& s : steps)
    if (s.reduction == call.op) return fold_lanes(e, s.step, call.args[0]);
  return {};
}

}  // namespace lcpy
