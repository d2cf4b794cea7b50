// Expansions of bit counts and the upper half of products. Narrow types go through 32 bits, 64-bit
// ones through two halves; the 32-bit forms are spelled out for targets that lack even those.
#include "lower/expand.h"

namespace lcpy {
namespace {

struct Halves {
  ValueId low, high;  // of 32 bits each
};
Halves split(Expander& e, ValueId v) {
  const Type half = e.type(v).with_scalar(Scalar::UInt32);
  const ValueId wide = e.bitcast(v, unsigned_like(e.type(v)));
  return {e.convert(wide, half), e.convert(e.shift(Op::ShrUnchecked, wide, 32), half)};
}
ValueId join(Expander& e, Halves h, Type wide) {
  const Type t = unsigned_like(wide);
  const ValueId high = e.shift(Op::ShlUnchecked, e.convert(h.high, t), 32);
  return e.bitcast(e.bit_or(high, e.convert(h.low, t)), wide);
}
// The bits at the top of 32, zeros below: NVIDIA's Vulkan compiler counts bits above a narrow
// product, where that is merely zero-extended.
ValueId at_top(Expander& e, ValueId v) {
  const Type t = unsigned_like(e.type(v));
  const ValueId wide = e.convert(e.bitcast(v, t), t.with_scalar(Scalar::UInt32));
  return e.shift(Op::ShlUnchecked, wide, 32 - width_of(t));
}
// Zero-extended to 32 bits.
ValueId widen(Expander& e, ValueId v) {
  const Type t = e.type(v);
  return e.convert(e.bitcast(v, unsigned_like(t)), t.with_scalar(Scalar::UInt32));
}

// One step of a parallel sum or swap: ((v >> amount) & mask) and (v & mask).
Halves interleaved(Expander& e, ValueId v, uint32_t amount, uint32_t mask) {
  const ValueId m = e.bits(e.type(v), mask);
  return {e.bit_and(v, m), e.bit_and(e.shift(Op::ShrUnchecked, v, amount), m)};
}

constexpr uint32_t kMasks[] = {0x55555555u, 0x33333333u, 0x0f0f0f0fu, 0x00ff00ffu, 0x0000ffffu};

ValueId popcount32(Expander& e, ValueId v) {
  for (uint32_t i = 0; i < 5; i++) {
    const Halves h = interleaved(e, v, 1u << i, kMasks[i]);
    v = e.add(h.low, h.high);
  }
  return v;
}

ValueId reverse32(Expander& e, ValueId v) {
  for (uint32_t i = 0; i < 5; i++) {
    const Halves h = interleaved(e, v, 1u << i, kMasks[i]);
    v = e.bit_or(e.shift(Op::ShlUnchecked, h.low, 1u << i), h.high);
  }
  return v;
}

// Ones below the highest one: then the leading zeros are what popcount does not see.
ValueId clz32(Expander& e, ValueId v) {
  for (uint32_t i = 0; i < 5; i++) v = e.bit_or(v, e.shift(Op::ShrUnchecked, v, 1u << i));
  return e.unary(Op::Popcount, e.unary(Op::BitNot, v));
}

// The upper half of a product of unsigned 64-bit lanes, from 32-bit halves.
ValueId mul_hi64(Expander& e, ValueId a, ValueId b) {
  const Type t = e.type(a);
  const ValueId mask = e.bits(t, 0xffffffffu);
  const ValueId a0 = e.bit_and(a, mask), a1 = e.shift(Op::ShrUnchecked, a, 32);
  const ValueId b0 = e.bit_and(b, mask), b1 = e.shift(Op::ShrUnchecked, b, 32);
  const ValueId low = e.shift(Op::ShrUnchecked, e.mul(a0, b0), 32);
  const ValueId middle = e.add(e.mul(a1, b0), low);
  const ValueId other = e.add(e.mul(a0, b1), e.bit_and(middle, mask));
  const ValueId carry = e.shift(Op::ShrUnchecked, other, 32);
  return e.add(e.add(e.mul(a1, b1), e.shift(Op::ShrUnchecked, middle, 32)), carry);
}

}  // namespace

ValueId expand_popcount(Expander& e, const ExpandCall& call) {
  const ValueId v = call.args[0];
  const Type t = call.type;
  if (width_of(t) == 64) {
    const Halves h = split(e, v);
    return e.convert(e.add(e.unary(Op::Popcount, h.low), e.unary(Op::Popcount, h.high)), t);
  }
  if (t.scalar() == Scalar::UInt32) return popcount32(e, v);
  return e.convert(e.unary(Op::Popcount, at_top(e, v)), t);
}

ValueId expand_clz(Expander& e, const ExpandCall& call) {
  const ValueId v = call.args[0];
  const Type t = call.type;
  if (width_of(t) == 64) {
    const Halves h = split(e, v);
    const Type half = e.type(h.low);
    const ValueId below = e.add(e.unary(Op::Clz, h.low), e.bits(half, 32));
    const ValueId empty = e.compare(Op::Equal, h.high, e.bits(half, 0));
    return e.convert(e.select(empty, below, e.unary(Op::Clz, h.high)), t);
  }
  if (t.scalar() == Scalar::UInt32) return clz32(e, v);
  if (width_of(t) == 32) return e.bitcast(e.unary(Op::Clz, widen(e, v)), t);
  const ValueId top = at_top(e, v);  // a one below ends the count
  const ValueId wide = e.bit_or(top, e.bits(e.type(top), uint64_t{1} << (31 - width_of(t))));
  return e.convert(e.unary(Op::Clz, wide), t);
}

// The zeros below the lowest one are the ones of ~v & (v - 1); all of them for 0. Narrow ones have
// a one put above them and are wide then: NVIDIA's Vulkan compiler counts 64 zeros in a byte of 0.
ValueId expand_ctz(Expander& e, const ExpandCall& call) {
  ValueId v = call.args[0];
  const uint32_t width = width_of(call.type);
  if (width < 32) {
    v = widen(e, v);
    v = e.bit_or(v, e.bits(e.type(v), uint64_t{1} << width));
  }
  const Type t = e.type(v);
  const ValueId below = e.bit_and(e.unary(Op::BitNot, v), e.sub(v, e.bits(t, 1)));
  return e.convert(e.unary(Op::Popcount, below), call.type);
}

ValueId expand_reverse_bits(Expander& e, const ExpandCall& call) {
  const ValueId v = call.args[0];
  const Type t = call.type;
  if (width_of(t) == 64) {
    const Halves h = split(e, v);
    return join(e, {e.unary(Op::ReverseBits, h.high), e.unary(Op::ReverseBits, h.low)}, t);
  }
  if (t.scalar() == Scalar::UInt32) return reverse32(e, v);
  if (width_of(t) == 32) return e.bitcast(e.unary(Op::ReverseBits, widen(e, v)), t);
  const ValueId narrow = e.unary(Op::ReverseBits, at_top(e, v));
  return e.bitcast(e.convert(narrow, unsigned_like(t)), t);
}

ValueId expand_mul_hi(Expander& e, const ExpandCall& call) {
  const Type t = call.type;
  const ValueId a = e.spread(call.args[0], t), b = e.spread(call.args[1], t);
  const uint32_t width = width_of(t);
  if (width < 64) {
    const bool in64 = width == 32;
    const Scalar wide = is_signed(t) ? (in64 ? Scalar::Int64 : Scalar::Int32)
                                     : (in64 ? Scalar::UInt64 : Scalar::UInt32);
    const Type w = t.with_scalar(wide);
    const ValueId product = e.mul(e.convert(a, w), e.convert(b, w));
    return e.convert(e.shift(Op::ShrUnchecked, product, width), t);
  }
  if (!is_signed(t)) return mul_hi64(e, a, b);
  const Type u = unsigned_like(t);
  const ValueId zero = e.bits(t, 0);
  const ValueId high = e.bitcast(mul_hi64(e, e.bitcast(a, u), e.bitcast(b, u)), t);
  // A negative a counted 2^64 too much, times b; likewise b.
  const ValueId of_a = e.select(e.compare(Op::Less, a, zero), b, zero);
  const ValueId of_b = e.select(e.compare(Op::Less, b, zero), a, zero);
  return e.sub(e.sub(high, of_a), of_b);
}

}  // namespace lcpy
