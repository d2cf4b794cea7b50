// Warp operations by fewer of them: vectors by lane, narrow types through 32 bits, wide ones by
// words, minima and maxima of floats through integers in their order, and where the order of a sum
// matters or the target has no such sum, from lane to lane.
#include "lower/expand.h"

namespace lcpy {
namespace {

Type boolean() { return Type::of(Scalar::Bool); }
Type uint() { return Type::of(Scalar::UInt32); }

ValueId by_lane(Expander& e, const ExpandCall& call) {
  const uint32_t count = e.type(call.args[0]).lanes();
  std::vector<ValueId> parts;
  for (uint32_t i = 0; i < count; i++) {
    ValueId args[2] = {e.lane(call.args[0], i)};
    if (call.args.size() > 1) args[1] = call.args[1];
    parts.push_back(e.emit(call.op, call.type.element(), std::span(args, call.args.size())));
  }
  return e.gather(call.type, parts);
}

// The same operation on the value as another type.
ValueId on(Expander& e, const ExpandCall& call, ValueId x) {
  if (call.args.size() > 1) return e.emit(call.op, e.type(x), {x, call.args[1]});
  return e.emit(call.op, e.type(x), {x});
}

ValueId step(Expander& e, Op op, ValueId a, ValueId b) {
  switch (op) {
    case Op::WarpSum:
    case Op::WarpPrefixSum:
      return e.add(a, b);
    case Op::WarpMin:
      return e.binary(Op::Min, a, b);
    case Op::WarpMax:
      return e.binary(Op::Max, a, b);
    default:
      return e.mul(a, b);
  }
}

// From the lowest active lane up; of a prefix, as far as this lane.
//   for lane in range(size): if lane is active (and below mine): total = total . its value
ValueId lane_after_lane(Expander& e, const ExpandCall& call) {
  KernelBuilder& b = e.builder();
  const ValueId x = call.args[0];
  const Type t = call.type;
  const bool prefix = call.op == Op::WarpPrefixSum || call.op == Op::WarpPrefixProduct;
  const ValueId size = b.emit(Op::WarpSize, uint(), {}), mine = b.emit(Op::WarpLaneId, uint(), {});
  const BodyId outside = b.insertion();
  const BodyId body = b.add_body(std::array{uint(), boolean(), t});
  const std::vector<ValueId> p = e.descriptor().body(body).params;
  const BodyId go_on = b.add_body(), stop = b.add_body();

  b.set_insertion(stop);
  b.terminate(Op::Break, std::array{p[2]});
  b.set_insertion(go_on);
  b.terminate(Op::Yield);
  b.set_insertion(body);
  const ValueId more = e.compare(Op::Less, p[0], size);
  b.append(Op::If, std::array{Operand::of(more), Operand::of(go_on), Operand::of(stop)});
  const ValueId one = e.bits(uint(), 1);
  const ValueId theirs = e.emit(Op::WarpReadLane, t, {x, p[0]});
  const ValueId mark = e.emit(Op::WarpReadLane, uint(), {one, p[0]});
  ValueId takes = e.compare(Op::NotEqual, mark, e.bits(uint(), 0));
  if (prefix) takes = e.bit_and(takes, e.compare(Op::Less, p[0], mine));
  const ValueId total = e.select(p[1], step(e, call.op, p[2], theirs), theirs);
  b.terminate(Op::Continue, std::array{e.add(p[0], one), e.bit_or(p[1], takes),
                                       e.select(takes, total, p[2])});

  b.set_insertion(outside);
  const ValueId empty = e.number(t, call.op == Op::WarpPrefixProduct ? 1 : 0);
  const std::array operands = {Operand::of(body), Operand::of(e.bits(uint(), 0)),
                               Operand::of(b.boolean(false)), Operand::of(empty)};
  const OpId loop = b.append(Op::Loop, operands, std::array{t});
  return e.descriptor().result(e.descriptor().op(loop));
}

// The float's bits as a signed integer that compares as the float does, -0 below +0. A NaN is the
// integer that loses, which comes back as a NaN.
ValueId ordered(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  const Type t = signed_like(e.type(x));
  const uint32_t width = width_of(t);
  const uint64_t most = ~uint64_t{0} >> (65 - width);
  const auto turn = [&](ValueId bits) {
    const ValueId sign = e.shift(Op::ShrUnchecked, bits, width - 1);
    return e.bit_xor(bits, e.bit_and(sign, e.bits(t, most)));
  };
  const ValueId loses = e.bits(t, call.op == Op::WarpMin ? most : most + 1);
  const ValueId key = e.select(e.is_nan(x), loses, turn(e.bitcast(x, t)));
  return e.bitcast(turn(e.emit(call.op, t, {key})), call.type);
}

ValueId by_words(Expander& e, const ExpandCall& call) {
  const ValueId pair = e.bitcast(call.args[0], Type::vector(Scalar::UInt32, 2));
  return e.bitcast(on(e, call, pair), call.type);
}

ValueId through_32_bits(Expander& e, const ExpandCall& call) {
  const Type wide = Type::of(is_signed(call.type) ? Scalar::Int32 : Scalar::UInt32);
  return e.convert(on(e, call, e.convert(call.args[0], wide)), call.type);
}

}  // namespace

ValueId expand_warp_all_equal(Expander& e, const ExpandCall& call) {
  const Type t = e.type(call.args[0]);
  if (t.is_vector()) return by_lane(e, call);
  const ValueId first = e.emit(Op::WarpReadFirst, t, {call.args[0]});
  return e.emit(Op::WarpAll, boolean(), {e.compare(Op::Equal, call.args[0], first)});
}

ValueId expand_warp_bits(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  if (call.type.is_vector()) return by_lane(e, call);
  if (call.type.is_bool()) {
    if (call.op == Op::WarpAnd) return e.emit(Op::WarpAll, boolean(), {x});
    if (call.op == Op::WarpOr) return e.emit(Op::WarpAny, boolean(), {x});
    const ValueId count = e.emit(Op::WarpCount, uint(), {x});
    return e.compare(Op::NotEqual, e.bit_and(count, e.bits(uint(), 1)), e.bits(uint(), 0));
  }
  return width_of(call.type) == 64 ? by_words(e, call) : through_32_bits(e, call);
}

ValueId expand_warp_extreme(Expander& e, const ExpandCall& call) {
  if (call.type.is_vector()) return by_lane(e, call);
  if (call.type.scalar() == Scalar::Float16) {
    const ValueId wide = e.convert(call.args[0], Type::of(Scalar::Float32));
    return e.convert(on(e, call, wide), call.type);
  }
  if (call.type.is_float()) return ordered(e, call);
  return width_of(call.type) < 32 ? through_32_bits(e, call) : lane_after_lane(e, call);
}

// Half is summed in float where the order is the device's own, and so the rounding.
ValueId expand_warp_sum(Expander& e, const ExpandCall& call) {
  if (call.type.is_vector()) return by_lane(e, call);
  if (call.type.is_float() && e.math() == MathMode::Strict) return lane_after_lane(e, call);
  if (call.type.scalar() == Scalar::Float16) {
    const ValueId wide = e.convert(call.args[0], Type::of(Scalar::Float32));
    return e.convert(on(e, call, wide), call.type);
  }
  return width_of(call.type) < 32 ? through_32_bits(e, call) : lane_after_lane(e, call);
}

ValueId expand_warp_read(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  const Type t = call.type;
  if (t.is_vector()) return by_lane(e, call);
  if (t.is_bool()) {
    const ValueId word = on(e, call, e.select(x, e.bits(uint(), 1), e.bits(uint(), 0)));
    return e.compare(Op::NotEqual, word, e.bits(uint(), 0));
  }
  if (width_of(t) == 64) return by_words(e, call);
  if (width_of(t) == 32) return e.bitcast(on(e, call, e.bitcast(x, uint())), t);
  const Type bits = unsigned_like(t);
  const ValueId wide = e.convert(e.bitcast(x, bits), uint());
  return e.bitcast(e.convert(on(e, call, wide), bits), t);
}

}  // namespace lcpy
