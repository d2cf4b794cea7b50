// Half as its bits: from and to float by integer arithmetic, and the way from wider numbers to a
// float that may be rounded once more. No subnormal float takes part, as devices flush them.
#include <cmath>

#include "lower/expand.h"

namespace lcpy {

ValueId expand_unpack_half(Expander& e, const ExpandCall& call) {
  const Type real = call.type, u = unsigned_like(real);
  const ValueId bits = e.convert(call.args[0], u);
  const ValueId size = e.bit_and(bits, e.bits(u, 0x7fff));
  const ValueId sign = e.shift(Op::ShlUnchecked, e.bit_and(bits, e.bits(u, 0x8000)), 16);
  const ValueId moved = e.shift(Op::ShlUnchecked, size, 13);
  const ValueId normal = e.add(moved, e.bits(u, (127 - 15) << 23));
  const ValueId tiny = e.bitcast(e.mul(e.convert(size, real), e.number(real, 0x1p-24)), u);
  const ValueId small = e.compare(Op::Less, size, e.bits(u, 0x400));
  const ValueId finite = e.select(small, tiny, normal);
  const ValueId infinite = e.bit_or(moved, e.bits(u, 0x7f800000));
  const ValueId quiet = e.bit_or(infinite, e.bits(u, 0x400000));
  const ValueId nan = e.compare(Op::Greater, size, e.bits(u, 0x7c00));
  const ValueId beyond = e.compare(Op::GreaterEqual, size, e.bits(u, 0x7c00));
  const ValueId value = e.select(nan, quiet, e.select(beyond, infinite, finite));
  return e.bitcast(e.bit_or(value, sign), real);
}

ValueId expand_pack_half(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  const Type real = e.type(x), u = unsigned_like(real);
  const ValueId bits = e.bitcast(x, u);
  const ValueId sign = e.bit_and(e.shift(Op::ShrUnchecked, bits, 16), e.bits(u, 0x8000));
  const ValueId size = e.bit_and(bits, e.bits(u, 0x7fffffff));
  const ValueId upper = e.shift(Op::ShrUnchecked, size, 13);
  const ValueId even = e.bit_and(upper, e.bits(u, 1));
  const ValueId nudged = e.add(e.sub(size, e.bits(u, 0x38000000 - 0xfff)), even);
  const ValueId normal = e.shift(Op::ShrUnchecked, nudged, 13);
  // The last place of a number in [0.5, 1) is the smallest half: the addition rounds.
  const ValueId sum = e.add(e.bitcast(size, real), e.number(real, 0.5));
  const ValueId tiny = e.sub(e.bitcast(sum, u), e.bits(u, 0x3f000000));
  const ValueId small = e.compare(Op::Less, size, e.bits(u, 0x38800000));
  const ValueId over = e.compare(Op::GreaterEqual, size, e.bits(u, 0x47800000));
  const ValueId finite = e.select(over, e.bits(u, 0x7c00), e.select(small, tiny, normal));
  const ValueId quiet = e.bit_or(e.bit_and(upper, e.bits(u, 0x3ff)), e.bits(u, 0x7e00));
  const ValueId nan = e.compare(Op::Greater, size, e.bits(u, 0x7f800000));
  return e.convert(e.bit_or(e.select(nan, quiet, finite), sign), call.type);
}

ValueId to_sticky_float(Expander& e, ValueId x) {
  const Type from = e.type(x), real = from.with_scalar(Scalar::Float32), u = unsigned_like(real);
  const bool exact = scalar_size(from.scalar()) < 4 || from.scalar() == Scalar::Float32;
  const ValueId nearest = e.convert(x, real);
  if (exact) return nearest;
  const ValueId back = e.convert(nearest, from), zero = e.number(from, 0);
  const ValueId word = e.bitcast(nearest, u);
  const ValueId even = e.compare(Op::Equal, e.bit_and(word, e.bits(u, 1)), e.bits(u, 0));
  const ValueId above = e.compare(Op::Greater, back, x), below = e.compare(Op::Less, back, x);
  const ValueId move = e.bit_and(even, e.bit_or(above, below));
  // Away from zero an even word gains its last bit; toward zero it counts down.
  const ValueId inward = e.select(e.compare(Op::Less, x, zero), below, above);
  const ValueId odd = e.select(inward, e.sub(word, e.bits(u, 1)), e.bit_or(word, e.bits(u, 1)));
  return e.bitcast(e.select(move, odd, word), real);
}

}  // namespace lcpy
