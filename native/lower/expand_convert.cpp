// Expansion of value conversions that are more than one machine conversion: from floats to integers
// (truncated, saturated, NaN gives 0), from and to bool, and of storage formats.
#include <cmath>

#include "lower/expand.h"

namespace lcpy {
namespace {

// Bounds of the integer type are powers of two, so every float type has them exactly; half does
// not reach those of 32 bits and is widened first.
ValueId float_to_integer(Expander& e, ValueId x, Type to) {
  if (e.type(x).scalar() == Scalar::Float16)
    return e.convert(e.convert(x, e.type(x).with_scalar(Scalar::Float32)), to);
  const Type from = e.type(x);
  const uint32_t width = width_of(to);
  const bool with_sign = is_signed(to);
  const double limit = std::ldexp(1.0, static_cast<int>(with_sign ? width - 1 : width));
  const ValueId below = e.number(from, with_sign ? -limit : 0.0);
  const ValueId above = e.number(from, limit);
  const ValueId reaches = e.compare(Op::GreaterEqual, x, below);
  const ValueId exceeds = e.compare(Op::GreaterEqual, x, above);
  const ValueId within = e.bit_and(reaches, e.compare(Op::Less, x, above));
  const ValueId safe = e.select(within, x, e.number(from, 0));
  // Narrow integers through 32 bits, which every target converts to.
  const Scalar wide = with_sign ? Scalar::Int32 : Scalar::UInt32;
  const Type direct = width < 32 ? to.with_scalar(wide) : to;
  const ValueId whole = e.convert(e.emit(Op::ConvertUnchecked, direct, {safe}), to);
  const uint64_t ones = ~uint64_t{0} >> (64 - width);
  const ValueId largest = e.bits(to, with_sign ? ones >> 1 : ones);
  const ValueId upper = e.select(exceeds, largest, whole);
  if (!with_sign) return upper;
  const ValueId smallest = e.bits(to, uint64_t{1} << (width - 1));
  return e.select(e.compare(Op::Less, x, below), smallest, upper);
}

// bfloat16 is the upper half of a float, rounded to nearest even; a NaN keeps a bit to stay one.
ValueId from_bfloat16(Expander& e, ValueId x, Type to) {
  const Type wide = to.with_scalar(Scalar::UInt32);
  const ValueId bits = e.convert(e.bitcast(x, to.with_scalar(Scalar::UInt16)), wide);
  const ValueId value =
      e.bitcast(e.shift(Op::ShlUnchecked, bits, 16), to.with_scalar(Scalar::Float32));
  return e.convert(value, to);
}

// What is wider than float must not be rounded to it first.
ValueId to_float_once(Expander& e, ValueId x) {
  const Type from = e.type(x);
  const bool number = from.is_integer() || from.scalar() == Scalar::Float64;
  return number ? to_sticky_float(e, x) : e.convert(x, from.with_scalar(Scalar::Float32));
}

ValueId to_bfloat16(Expander& e, ValueId x, Type to) {
  const Type wide = to.with_scalar(Scalar::UInt32);
  const ValueId value = to_float_once(e, x);
  const ValueId bits = e.bitcast(value, wide);
  const ValueId upper = e.shift(Op::ShrUnchecked, bits, 16);
  const ValueId even = e.bit_and(upper, e.bits(wide, 1));
  const ValueId half = e.add(e.bits(wide, 0x7fff), even);
  const ValueId rounded = e.shift(Op::ShrUnchecked, e.add(bits, half), 16);
  const ValueId quiet = e.bit_or(upper, e.bits(wide, 0x40));
  const ValueId chosen = e.select(e.is_nan(value), quiet, rounded);
  return e.bitcast(e.convert(chosen, to.with_scalar(Scalar::UInt16)), to);
}

// The 8-bit floats: E4M3 has no infinities and one NaN, E5M2 is IEEE's pattern.
struct Float8 {
  uint32_t mantissa, bias, largest, overflow, nan;  // patterns without sign
};
constexpr Float8 kE4M3{3, 7, 0x7e, 0x7f, 0x7f}, kE5M2{2, 15, 0x7b, 0x7c, 0x7e};
const Float8& format_of(Scalar s) { return s == Scalar::Float8E4M3 ? kE4M3 : kE5M2; }
bool is_float8(Type t) {
  return t.scalar() == Scalar::Float8E4M3 || t.scalar() == Scalar::Float8E5M2;
}

ValueId from_float8(Expander& e, ValueId x, Type to) {
  const Float8& f = format_of(e.type(x).scalar());
  const Type u = to.with_scalar(Scalar::UInt32), real = to.with_scalar(Scalar::Float32);
  const ValueId bits = e.convert(e.bitcast(x, to.with_scalar(Scalar::UInt8)), u);
  const ValueId size = e.bit_and(bits, e.bits(u, 0x7f));
  const ValueId sign = e.shift(Op::ShlUnchecked, e.bit_and(bits, e.bits(u, 0x80)), 24);
  const ValueId moved = e.shift(Op::ShlUnchecked, size, 23 - f.mantissa);
  const ValueId normal = e.add(moved, e.bits(u, (127 - f.bias) << 23));
  // Subnormals as an integer times their unit: no subnormal float takes part, as devices flush
  // them.
  const double unit = std::ldexp(1.0, 1 - static_cast<int>(f.bias + f.mantissa));
  const ValueId tiny = e.bitcast(e.mul(e.convert(size, real), e.number(real, unit)), u);
  const ValueId small = e.compare(Op::Less, size, e.bits(u, 1u << f.mantissa));
  ValueId value = e.select(small, tiny, normal);
  if (f.overflow != f.nan) {
    const ValueId infinite = e.compare(Op::Equal, size, e.bits(u, f.overflow));
    value = e.select(infinite, e.bits(u, 0x7f800000), value);
  }
  const uint32_t first_nan = f.overflow == f.nan ? f.nan : f.overflow + 1;
  const ValueId nan = e.compare(Op::GreaterEqual, size, e.bits(u, first_nan));
  value = e.select(nan, e.bits(u, 0x7fc00000), value);
  return e.convert(e.bitcast(e.bit_or(value, sign), real), to);
}

ValueId to_float8(Expander& e, ValueId x, Type to) {
  const Float8& f = format_of(to.scalar());
  const Type u = to.with_scalar(Scalar::UInt32), real = to.with_scalar(Scalar::Float32);
  const uint32_t shift = 23 - f.mantissa;
  const ValueId bits = e.bitcast(to_float_once(e, x), u);
  const ValueId size = e.bit_and(bits, e.bits(u, 0x7fffffff));
  const ValueId even = e.bit_and(e.shift(Op::ShrUnchecked, size, shift), e.bits(u, 1));
  const uint32_t rebias = (127 - f.bias) << 23;
  const ValueId nudged =
      e.add(e.add(e.sub(size, e.bits(u, rebias)), e.bits(u, (1u << (shift - 1)) - 1)), even);
  const ValueId normal = e.shift(Op::ShrUnchecked, nudged, shift);
  // A number whose last place is the smallest subnormal: adding it rounds.
  const uint32_t magic = (127 - f.bias + 1 + shift) << 23;
  const ValueId sum = e.add(e.bitcast(size, real), e.bitcast(e.bits(u, magic), real));
  const ValueId tiny = e.sub(e.bitcast(sum, u), e.bits(u, magic));
  const ValueId small = e.compare(Op::Less, size, e.bits(u, (127 - f.bias + 1) << 23));
  const ValueId rounded = e.select(small, tiny, normal);
  const ValueId over = e.bit_or(e.compare(Op::Greater, rounded, e.bits(u, f.largest)),
                                e.compare(Op::GreaterEqual, size, e.bits(u, 0x7f800000)));
  const ValueId finite = e.select(over, e.bits(u, f.overflow), rounded);
  const ValueId nan = e.compare(Op::Greater, size, e.bits(u, 0x7f800000));
  const ValueId pattern = e.select(nan, e.bits(u, f.nan), finite);
  const ValueId sign = e.bit_and(e.shift(Op::ShrUnchecked, bits, 24), e.bits(u, 0x80));
  return e.bitcast(e.convert(e.bit_or(pattern, sign), to.with_scalar(Scalar::UInt8)), to);
}

}  // namespace

ValueId expand_convert(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  const Type to = call.type, from = e.type(x);
  if (from == to) return x;
  if (from.scalar() == Scalar::BFloat16) return from_bfloat16(e, x, to);
  if (to.scalar() == Scalar::BFloat16) return to_bfloat16(e, x, to);
  if (is_float8(from)) return from_float8(e, x, to);
  if (is_float8(to)) return to_float8(e, x, to);
  if (from.has_class(ScalarClass::Bool)) return e.select(x, e.number(to, 1), e.number(to, 0));
  if (to.has_class(ScalarClass::Bool)) return e.compare(Op::NotEqual, x, e.number(from, 0));
  if (from.is_float() && to.is_integer()) return float_to_integer(e, x, to);
  return e.emit_as_is(Op::Convert, to, {x});
}

}  // namespace lcpy
