// Expansions of floating-point functions: Python's floor division and remainder, minima with the
// rules for NaN and zeros, and functions that language.md defines by simpler ones.
#include <array>
#include <cmath>

#include "lower/expand.h"

namespace lcpy {
namespace {

bool is_half(Type t) { return t.scalar() == Scalar::Float16; }
bool is_double(Type t) { return t.scalar() == Scalar::Float64; }

ValueId to_bits(Expander& e, ValueId x) { return e.bitcast(x, unsigned_like(e.type(x))); }
ValueId sign_mask(Expander& e, Type t) {
  return e.bits(unsigned_like(t), uint64_t{1} << (width_of(t) - 1));
}
ValueId magnitude_bits(Expander& e, ValueId x) {
  const Type u = unsigned_like(e.type(x));
  return e.bit_and(to_bits(e, x), e.bits(u, (uint64_t{1} << (width_of(u) - 1)) - 1));
}
ValueId infinity_bits(Expander& e, Type t) {
  const uint64_t bits = is_half(t) ? 0x7c00 : is_double(t) ? 0x7ff0000000000000 : 0x7f800000;
  return e.bits(unsigned_like(t), bits);
}
ValueId number(Expander& e, const ExpandCall& call, double value) {
  return e.number(call.type, value);
}
// 32 bits of the same sign.
Type words_like(Type t) { return t.with_scalar(is_signed(t) ? Scalar::Int32 : Scalar::UInt32); }
ValueId is_zero(Expander& e, ValueId x) { return e.compare(Op::Equal, x, e.number(e.type(x), 0)); }
ValueId is_negative(Expander& e, ValueId x) {
  return e.compare(Op::Less, x, e.number(e.type(x), 0));
}
ValueId absolute(Expander& e, ValueId x) { return e.unary(Op::Abs, x); }
ValueId arg(Expander& e, const ExpandCall& call, size_t i) {
  return e.spread(call.args[i], call.type);
}
// C's fmod: exact, with the sign of x.
ValueId remainder(Expander& e, ValueId x, ValueId y) { return e.binary(Op::RemUnchecked, x, y); }

// True where a remainder's sign is not the divisor's, and it is not zero.
ValueId needs_floor(Expander& e, ValueId r, ValueId y) {
  const ValueId differ = e.bit_xor(is_negative(e, r), is_negative(e, y));
  return e.bit_and(e.compare(Op::NotEqual, r, e.number(e.type(r), 0)), differ);
}

// Evaluates in float what is asked for in half: no target's half functions are better.
ValueId in_float(Expander& e, const ExpandCall& call) {
  const Type t = call.type.with_scalar(Scalar::Float32);
  std::array<ValueId, 2> args;
  for (size_t i = 0; i < call.args.size(); i++) args[i] = e.convert(arg(e, call, i), t);
  return e.convert(e.emit(call.op, t, std::span<const ValueId>(args.data(), call.args.size())),
                   call.type);
}

}  // namespace

// As CPython's float_divmod; by zero as IEEE division.
ValueId expand_float_floor_div(Expander& e, const ExpandCall& call) {
  if (is_half(call.type)) return in_float(e, call);
  const ValueId x = arg(e, call, 0), y = arg(e, call, 1);
  const ValueId r = remainder(e, x, y);
  const ValueId exact = e.div(e.sub(x, r), y);
  const ValueId one = number(e, call, 1);
  const ValueId q = e.select(needs_floor(e, r, y), e.sub(exact, one), exact);
  const ValueId floor = e.unary(Op::Floor, q);
  const ValueId above = e.compare(Op::Greater, e.sub(q, floor), number(e, call, 0.5));
  const ValueId rounded = e.select(above, e.add(floor, one), floor);
  const ValueId quotient = e.div(x, y);
  const ValueId zero = e.binary(Op::Copysign, number(e, call, 0), quotient);
  return e.select(is_zero(e, y), quotient, e.select(is_zero(e, q), zero, rounded));
}

// As CPython's float_rem; by zero NaN.
ValueId expand_float_floor_mod(Expander& e, const ExpandCall& call) {
  if (is_half(call.type)) return in_float(e, call);
  const ValueId x = arg(e, call, 0), y = arg(e, call, 1);
  const ValueId r = remainder(e, x, y);
  const ValueId floored = e.select(needs_floor(e, r, y), e.add(r, y), r);
  const ValueId zero = e.binary(Op::Copysign, number(e, call, 0), y);
  return e.select(is_zero(e, r), zero, floored);
}

// Long division, 23 bits (52 of a double) of the quotient a step. Each step is exact: what is left
// is a multiple of the divisor's last place and no larger than the divisor times half the
// quotient's last place. A quotient rounded up leaves a negative rest, whose sign is kept aside.
// A device whose division is loose may put a quotient of 1 below it: taken as 1, or the loop would
// never end there.
ValueId expand_float_remainder(Expander& e, const ExpandCall& call) {
  if (is_half(call.type)) return in_float(e, call);
  KernelBuilder& b = e.builder();
  const Type t = call.type, flags = bool_like(t), flag = Type::of(Scalar::Bool);
  const ValueId x = arg(e, call, 0), y = arg(e, call, 1);
  const ValueId left = absolute(e, x), size = absolute(e, y);
  // Nothing to divide where the answer is x or NaN; there the loop must not spin.
  const ValueId infinity = e.bitcast(infinity_bits(e, t), t);
  const ValueId bad = e.bit_or(is_zero(e, y), e.bit_or(e.compare(Op::Equal, left, infinity),
                                                       e.bit_or(e.is_nan(x), e.is_nan(y))));
  const ValueId start = e.select(bad, e.number(t, 0), left);

  const BodyId outside = b.insertion();
  const BodyId body = b.add_body(std::array{t, flags});
  const std::vector<ValueId> p = e.descriptor().body(body).params;
  const BodyId go_on = b.add_body(), stop = b.add_body();
  b.set_insertion(stop);
  b.terminate(Op::Break, p);
  b.set_insertion(go_on);
  b.terminate(Op::Yield);
  b.set_insertion(body);
  const ValueId wanted = e.compare(Op::GreaterEqual, p[0], size);
  const ValueId live = e.bit_and(wanted, e.unary(Op::BitNot, bad));
  const ValueId any = t.is_vector() ? e.emit(Op::Any, flag, {live}) : live;
  b.append(Op::If, std::array{Operand::of(any), Operand::of(go_on), Operand::of(stop)});
  // A multiple of the divisor, where the quotient itself is beyond the type.
  const ValueId scale = e.number(t, std::ldexp(1.0, is_double(t) ? 1023 : 127));
  const ValueId beyond = e.compare(Op::Equal, e.div(p[0], size), infinity);
  const ValueId step = e.select(beyond, e.mul(size, scale), size);
  const ValueId q = e.binary(Op::Max, e.unary(Op::Trunc, e.div(p[0], step)), e.number(t, 1));
  const ValueId rest = e.emit(Op::Fma, t, {e.unary(Op::Neg, q), step, p[0]});
  const ValueId next = e.select(live, absolute(e, rest), p[0]);
  const ValueId turned = e.bit_xor(p[1], e.bit_and(live, is_negative(e, rest)));
  b.terminate(Op::Continue, std::array{next, turned});

  b.set_insertion(outside);
  const std::array operands = {Operand::of(body), Operand::of(start),
                               Operand::of(e.boolean(t, false))};
  const OpId loop = b.append(Op::Loop, operands, std::array{t, flags});
  const ValueId rest_end = e.descriptor().result(e.descriptor().op(loop), 0);
  const ValueId turned_end = e.descriptor().result(e.descriptor().op(loop), 1);
  const ValueId nonzero = e.compare(Op::NotEqual, rest_end, e.number(t, 0));
  const ValueId positive =
      e.select(e.bit_and(turned_end, nonzero), e.sub(size, rest_end), rest_end);
  const ValueId nan = e.sub(infinity, infinity);
  return e.select(bad, nan, e.binary(Op::Copysign, positive, x));
}

// Of integers of 8 or 16 bits: those of 32. Of floats a NaN loses, and -0 is below +0; the bits of
// both, or-ed or and-ed, give the smaller or the larger of equals.
ValueId expand_min_max(Expander& e, const ExpandCall& call) {
  if (call.type.is_integer()) {
    const Type words = words_like(call.type);
    const ValueId x = e.convert(arg(e, call, 0), words), y = e.convert(arg(e, call, 1), words);
    return e.convert(e.emit(call.op, words, {x, y}), call.type);
  }
  const ValueId a = arg(e, call, 0), b = arg(e, call, 1);
  const bool smaller = call.op == Op::Min;
  const Op before = smaller ? Op::Less : Op::Greater;
  const ValueId mixed = e.binary(smaller ? Op::BitOr : Op::BitAnd, to_bits(e, a), to_bits(e, b));
  const ValueId equal = e.compare(Op::Equal, a, b);
  const ValueId first = e.bit_or(e.compare(before, a, b), e.is_nan(b));
  return e.select(equal, e.bitcast(mixed, call.type), e.select(first, a, b));
}

ValueId expand_clamp(Expander& e, const ExpandCall& call) {
  return e.binary(Op::Min, e.binary(Op::Max, arg(e, call, 0), call.args[1]), call.args[2]);
}

ValueId expand_saturate(Expander& e, const ExpandCall& call) {
  return e.binary(Op::Min, e.binary(Op::Max, arg(e, call, 0), number(e, call, 0)),
                  number(e, call, 1));
}

ValueId expand_lerp(Expander& e, const ExpandCall& call) {
  const ValueId a = arg(e, call, 0);
  return e.add(a, e.mul(arg(e, call, 2), e.sub(arg(e, call, 1), a)));
}

ValueId expand_smoothstep(Expander& e, const ExpandCall& call) {
  const ValueId e0 = arg(e, call, 0);
  const ValueId ratio = e.div(e.sub(arg(e, call, 2), e0), e.sub(arg(e, call, 1), e0));
  const ValueId t = e.unary(Op::Saturate, ratio);
  return e.mul(e.mul(t, t), e.sub(number(e, call, 3), e.mul(number(e, call, 2), t)));
}

ValueId expand_step(Expander& e, const ExpandCall& call) {
  const ValueId below = e.compare(Op::Less, arg(e, call, 1), arg(e, call, 0));
  return e.select(below, number(e, call, 0), number(e, call, 1));
}

ValueId expand_abs(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  if (call.type.is_float()) return e.bitcast(magnitude_bits(e, x), call.type);
  if (!is_signed(call.type)) return x;
  // Narrow ones in 32 bits: NVIDIA's compilers take theirs to be positive, which that of the
  // smallest is not.
  const bool narrow = scalar_size(call.type.scalar()) < 4;
  const Type t = narrow ? call.type.with_scalar(Scalar::Int32) : call.type;
  const ValueId wide = narrow ? e.convert(x, t) : x;
  const ValueId negative = e.compare(Op::Less, wide, e.bits(t, 0));
  const ValueId size = e.select(negative, e.unary(Op::Neg, wide), wide);
  return narrow ? e.convert(size, call.type) : size;
}

ValueId expand_sign(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  if (call.type.is_integer() && scalar_size(call.type.scalar()) < 4) {
    // In 32 bits: NVIDIA's Vulkan compiler fails on choices between some narrow ones.
    const Type words = words_like(call.type);
    return e.convert(e.emit(Op::Sign, words, {e.convert(x, words)}), call.type);
  }
  const ValueId zero = number(e, call, 0), one = number(e, call, 1);
  if (call.type.is_integer()) {
    // NVIDIA's Vulkan compiler dies of comparisons of sums with 0 both ways, beside long divisions.
    const ValueId most = e.emit(Op::Min, call.type, {x, one});
    if (!is_signed(call.type)) return most;
    return e.emit(Op::Max, call.type, {most, number(e, call, -1)});
  }
  const ValueId positive = e.compare(Op::Greater, x, zero);
  const ValueId negative = e.compare(Op::Less, x, zero);
  return e.select(positive, one, e.select(negative, number(e, call, -1), zero));
}

ValueId expand_fract(Expander& e, const ExpandCall& call) {
  return e.sub(call.args[0], e.unary(Op::Floor, call.args[0]));
}

ValueId expand_rsqrt(Expander& e, const ExpandCall& call) {
  return e.div(number(e, call, 1), e.unary(Op::Sqrt, call.args[0]));
}

// 2 ** (x log2 10), the product held in two parts so that its rounding does not grow with x.
ValueId expand_exp10(Expander& e, const ExpandCall& call) {
  if (is_half(call.type)) return in_float(e, call);
  constexpr double kLog2Of10 = 3.321928094887362182, kRest = 1.661617516973592e-16;
  const double high = is_double(call.type) ? kLog2Of10 : static_cast<float>(kLog2Of10);
  const double low = is_double(call.type) ? kRest : kLog2Of10 - high;
  const ValueId x = call.args[0], factor = number(e, call, high);
  const ValueId main = e.mul(x, factor);
  const ValueId lost = e.emit(Op::Fma, call.type, {x, factor, e.unary(Op::Neg, main)});
  const ValueId rest = e.emit(Op::Fma, call.type, {x, number(e, call, low), lost});
  const ValueId power = e.unary(Op::Exp2, main);
  const ValueId correction = e.mul(rest, number(e, call, 0.693147180559945309));
  const ValueId better = e.emit(Op::Fma, call.type, {power, correction, power});
  const double limit = is_double(call.type) ? 1024 : 128;
  return e.select(e.compare(Op::Less, absolute(e, main), number(e, call, limit)), better, power);
}

ValueId expand_log10(Expander& e, const ExpandCall& call) {
  if (is_half(call.type)) return in_float(e, call);
  return e.mul(e.unary(Op::Log, call.args[0]), number(e, call, 0.434294481903251827651));
}

// |x| ** y by the core's own function (own_pow.cpp) or through logarithms; then C's rules for
// signs, for bases of ±1 and exponents of 0.
ValueId expand_pow(Expander& e, const ExpandCall& call) {
  if (is_half(call.type)) return in_float(e, call);
  const ValueId x = arg(e, call, 0), y = arg(e, call, 1);
  const ValueId one = number(e, call, 1), half = number(e, call, 0.5);
  const ValueId size = absolute(e, x);
  const ValueId power = e.wants_own(Op::Pow, call.type)
                            ? e.emit_own({Op::Pow, call.type, std::array{size, y}})
                            : e.unary(Op::Exp2, e.mul(y, e.unary(Op::Log2, size)));
  const ValueId flat = e.compare(Op::Equal, size, one);
  const ValueId of_size = e.select(flat, one, power);
  const ValueId whole = e.compare(Op::Equal, y, e.unary(Op::Trunc, y));
  const ValueId halved = e.mul(y, half);
  const ValueId odd = e.bit_and(whole, e.compare(Op::NotEqual, halved, e.unary(Op::Trunc, halved)));
  // The sign bit, so that -0 to an odd power keeps its sign too.
  const ValueId below = e.compare(Op::NotEqual, e.bit_and(to_bits(e, x), sign_mask(e, call.type)),
                                  e.bits(unsigned_like(call.type), 0));
  const ValueId with_sign = e.select(e.bit_and(below, odd), e.unary(Op::Neg, of_size), of_size);
  const ValueId undefined = e.bit_and(is_negative(e, x), e.unary(Op::BitNot, whole));
  // An infinite base has every power; a finite negative one only whole powers.
  const ValueId finite = e.compare(Op::Less, to_bits(e, size), infinity_bits(e, call.type));
  const ValueId infinity = e.bitcast(infinity_bits(e, call.type), call.type);
  const ValueId result =
      e.select(e.bit_and(undefined, finite), e.sub(infinity, infinity), with_sign);
  const ValueId nan = e.bit_or(e.is_nan(x), e.is_nan(y));
  const ValueId checked = e.select(nan, e.add(x, y), result);
  const ValueId always_one = e.bit_or(is_zero(e, y), e.compare(Op::Equal, x, one));
  return e.select(always_one, one, checked);
}

ValueId expand_copysign(Expander& e, const ExpandCall& call) {
  const ValueId sign = e.bit_and(to_bits(e, arg(e, call, 1)), sign_mask(e, call.type));
  return e.bitcast(e.bit_or(magnitude_bits(e, arg(e, call, 0)), sign), call.type);
}

ValueId expand_is_nan(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  return e.compare(Op::Greater, magnitude_bits(e, x), infinity_bits(e, e.type(x)));
}

ValueId expand_is_inf(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0];
  return e.compare(Op::Equal, magnitude_bits(e, x), infinity_bits(e, e.type(x)));
}

}  // namespace lcpy
