// Expansions of integer operators: division, shifts, rotations, powers. Each gives
// language.md's result for every operand; constants take the cheap way where it is exact.
#include <algorithm>
#include <array>
#include <bit>

#include "lower/expand.h"

namespace lcpy {
namespace {

struct Divisor {
  bool constant = false;                    // every lane known
  bool good = false;                        // no lane is 0, or -1 where signed
  bool power_of_two = false;                // every lane the same positive power of two
  bool minus_power = false;                 // every lane the same negated power of two
  bool positive = false, negative = false;  // of every lane
  uint32_t log2 = 0;
};

Divisor inspect(const Expander& e, ValueId y) {
  Divisor d;
  const Type t = e.type(y);
  int64_t first = 0, value = 0;
  if (!e.constant_lane(y, 0, &first)) return d;
  d = {true, true, true, is_signed(t), true, true, 0};
  for (uint32_t i = 0; i < t.lanes(); i++) {
    e.constant_lane(y, i, &value);
    const bool is_positive = is_signed(t) ? value > 0 : value != 0;
    d.good = d.good && value != 0 && !(is_signed(t) && value == -1);
    d.power_of_two = d.power_of_two && value == first && is_positive &&
                     std::has_single_bit(static_cast<uint64_t>(value));
    d.minus_power = d.minus_power && value == first && value < 0 &&
                    std::has_single_bit(uint64_t{0} - static_cast<uint64_t>(value));
    d.positive = d.positive && is_positive;
    d.negative = d.negative && is_signed(t) && value < 0;
  }
  d.log2 = static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(first)));
  return d;
}

ValueId low_bits(Expander& e, ValueId x, uint32_t count) {
  return e.bit_and(x, e.bits(e.type(x), (uint64_t{1} << count) - 1));
}
ValueId is_zero(Expander& e, ValueId v) { return e.compare(Op::Equal, v, e.bits(e.type(v), 0)); }
ValueId is_negative(Expander& e, ValueId v) { return e.compare(Op::Less, v, e.bits(e.type(v), 0)); }

// `y` with 1 in the lanes where x / y has no answer of the machine's own. There x / 1 = x, which is
// right for MIN / -1, and the remainder 0 is right for both.
ValueId safe_divisor(Expander& e, ValueId x, ValueId y, const Divisor& d) {
  const Type t = e.type(y);
  if (d.good) return y;
  ValueId bad = is_zero(e, y);
  if (is_signed(t)) {
    const ValueId smallest = e.bits(t, uint64_t{1} << (width_of(t) - 1));
    const ValueId overflow = e.bit_and(e.compare(Op::Equal, x, smallest),
                                       e.compare(Op::Equal, y, e.bits(t, ~uint64_t{0})));
    bad = e.bit_or(bad, overflow);
  }
  return e.select(bad, e.bits(t, 1), y);
}

ValueId zero_where_divisor_is(Expander& e, ValueId quotient, ValueId y, const Divisor& d) {
  if (d.good) return quotient;
  return e.select(is_zero(e, y), e.bits(e.type(quotient), 0), quotient);
}

// A remainder toward zero `r` has the wrong sign for floor division: it is not 0, and its sign
// differs from the divisor's.
ValueId needs_floor(Expander& e, ValueId r, ValueId y, const Divisor& d) {
  const ValueId zero = e.bits(e.type(r), 0);
  if (d.positive) return e.compare(Op::Less, r, zero);
  if (d.negative) return e.compare(Op::Greater, r, zero);
  return e.bit_and(e.compare(Op::NotEqual, r, zero), is_negative(e, e.bit_xor(r, y)));
}

ValueId square_chain(Expander& e, ValueId base, uint64_t exponent) {
  ValueId result;
  while (true) {
    if (exponent & 1) result = result ? e.mul(result, base) : base;
    exponent >>= 1;
    if (!exponent) return result;
    base = e.mul(base, base);
  }
}

// base ** exponent for exponents taken as unsigned, by lane, in a loop of one step a bit.
ValueId square_loop(Expander& e, ValueId base, ValueId exponent) {
  KernelBuilder& b = e.builder();
  const Type t = e.type(base), count = e.type(exponent);
  const BodyId outside = b.insertion();
  const std::array<Type, 3> carried = {t, count, t};
  const BodyId body = b.add_body(carried);
  const std::vector<ValueId> p = e.descriptor().body(body).params;
  const BodyId go_on = b.add_body(), stop = b.add_body();

  b.set_insertion(stop);
  b.terminate(Op::Break, std::array{p[2]});
  b.set_insertion(go_on);
  b.terminate(Op::Yield);
  b.set_insertion(body);
  ValueId more = e.compare(Op::NotEqual, p[1], e.bits(count, 0));
  if (t.is_vector()) more = e.emit(Op::Any, Type::of(Scalar::Bool), {more});
  b.append(Op::If, std::array{Operand::of(more), Operand::of(go_on), Operand::of(stop)});
  const ValueId odd = e.compare(Op::NotEqual, e.bit_and(p[1], e.bits(count, 1)), e.bits(count, 0));
  const ValueId product = e.select(odd, e.mul(p[2], p[0]), p[2]);
  const ValueId half = e.shift(Op::ShrUnchecked, p[1], 1);
  b.terminate(Op::Continue, std::array{e.mul(p[0], p[0]), half, product});

  b.set_insertion(outside);
  const std::array operands = {Operand::of(body), Operand::of(base), Operand::of(exponent),
                               Operand::of(e.bits(t, 1))};
  const OpId loop = b.append(Op::Loop, operands, std::array{t});
  return e.descriptor().result(e.descriptor().op(loop));
}

}  // namespace

ValueId expand_trunc_div(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0], y = e.spread(call.args[1], call.type);
  const Divisor d = inspect(e, y);
  const ValueId q = e.binary(Op::DivUnchecked, x, safe_divisor(e, x, y, d));
  return zero_where_divisor_is(e, q, y, d);
}

ValueId expand_trunc_rem(Expander& e, const ExpandCall& call) {
  const ValueId x = call.args[0], y = e.spread(call.args[1], call.type);
  return e.binary(Op::RemUnchecked, x, safe_divisor(e, x, y, inspect(e, y)));
}

ValueId expand_float_floor_div(Expander& e, const ExpandCall& call);
ValueId expand_float_floor_mod(Expander& e, const ExpandCall& call);
ValueId expand_float_remainder(Expander& e, const ExpandCall& call);

ValueId expand_by_lane(Expander& e, const ExpandCall& call) {
  const Type lane = Type::of(call.type.scalar());
  std::array<ValueId, 4> parts;
  for (uint32_t i = 0; i < call.type.lanes(); i++)
    parts[i] = e.emit(call.op, lane, {e.lane(call.args[0], i), e.lane(call.args[1], i)});
  return e.gather(call.type, {parts.data(), call.type.lanes()});
}

// For targets whose own remainder is undefined where an operand is negative, as Vulkan's is, or
// that have remainders of scalars alone.
ValueId expand_remainder(Expander& e, const ExpandCall& call) {
  if (call.type.is_float()) return expand_float_remainder(e, call);
  const Type lane = Type::of(call.type.scalar());
  if (call.type.is_vector() && e.is_native(call.op, lane, lane)) return expand_by_lane(e, call);
  const ValueId x = call.args[0], y = e.spread(call.args[1], call.type);
  return e.sub(x, e.mul(e.binary(Op::DivUnchecked, x, y), y));
}

ValueId expand_floor_div(Expander& e, const ExpandCall& call) {
  if (call.type.is_float()) return expand_float_floor_div(e, call);
  const ValueId x = e.spread(call.args[0], call.type), y = e.spread(call.args[1], call.type);
  const Divisor d = inspect(e, y);
  if (d.power_of_two) return d.log2 ? e.shift(Op::ShrUnchecked, x, d.log2) : x;
  if (d.minus_power) {  // -ceil(x / 2^n)
    const ValueId none = e.bits(call.type, 0), low = low_bits(e, x, d.log2);
    const ValueId inexact =
        e.select(e.compare(Op::NotEqual, low, none), e.bits(call.type, 1), none);
    const ValueId whole = d.log2 ? e.shift(Op::ShrUnchecked, x, d.log2) : x;
    return e.sub(e.sub(none, whole), inexact);
  }
  if (!is_signed(call.type))
    return expand_trunc_div(e, {Op::TruncDiv, call.type, std::array{x, y}});
  const ValueId safe = safe_divisor(e, x, y, d);
  const ValueId q = e.binary(Op::DivUnchecked, x, safe);
  const ValueId r = e.sub(x, e.mul(q, safe));
  const ValueId floored = e.select(needs_floor(e, r, safe, d), e.sub(q, e.bits(call.type, 1)), q);
  return zero_where_divisor_is(e, floored, y, d);
}

ValueId expand_floor_mod(Expander& e, const ExpandCall& call) {
  if (call.type.is_float()) return expand_float_floor_mod(e, call);
  const ValueId x = e.spread(call.args[0], call.type), y = e.spread(call.args[1], call.type);
  const Divisor d = inspect(e, y);
  if (d.power_of_two) return low_bits(e, x, d.log2);
  if (d.minus_power) {  // -(-x mod 2^n)
    const ValueId none = e.bits(call.type, 0);
    return e.sub(none, low_bits(e, e.sub(none, x), d.log2));
  }
  const ValueId safe = safe_divisor(e, x, y, d);
  const ValueId r = e.binary(Op::RemUnchecked, x, safe);
  if (!is_signed(call.type)) return r;
  return e.select(needs_floor(e, r, safe, d), e.add(r, safe), r);
}

namespace {

// A shift amount of any integer type, modulo the width of `lanes`, as `lanes`.
ValueId amount_of(Expander& e, ValueId n, Type lanes) {
  n = e.spread(n, lanes);
  // Only the low bits count, so narrowing keeps the answer, and so does widening.
  return e.bit_and(e.convert(n, lanes), e.bits(lanes, width_of(lanes) - 1));
}

}  // namespace

ValueId expand_shift(Expander& e, const ExpandCall& call) {
  const ValueId x = e.spread(call.args[0], call.type);
  const ValueId n = amount_of(e, call.args[1], call.type);
  return e.emit(call.op == Op::Shl ? Op::ShlUnchecked : Op::ShrUnchecked, call.type, {x, n});
}

// Twice in a word, shifted: NVIDIA's Vulkan compiler rotates 16 bits by 8 wrongly.
static ValueId rotate_narrow(Expander& e, const ExpandCall& call, ValueId x, ValueId n) {
  const Type t = unsigned_like(call.type), word = t.with_scalar(Scalar::UInt32);
  const uint32_t width = width_of(t);
  const ValueId once = e.convert(x, word), amount = e.convert(n, word);
  const ValueId twice = e.bit_or(e.shift(Op::ShlUnchecked, once, width), once);
  const bool left = call.op == Op::RotateLeft;
  ValueId moved = e.binary(left ? Op::ShlUnchecked : Op::ShrUnchecked, twice, amount);
  if (left) moved = e.shift(Op::ShrUnchecked, moved, width);
  return e.bitcast(e.convert(moved, t), call.type);
}

ValueId expand_rotate(Expander& e, const ExpandCall& call) {
  const Type t = unsigned_like(call.type);
  const ValueId x = e.bitcast(e.spread(call.args[0], call.type), t);
  const ValueId n = amount_of(e, call.args[1], t);
  if (width_of(t) < 32) return rotate_narrow(e, call, x, n);
  // The amount the other way, modulo the width, so that both shifts are by 0 for an amount of 0.
  const ValueId back = e.bit_and(e.unary(Op::Neg, n), e.bits(t, width_of(t) - 1));
  const bool left = call.op == Op::RotateLeft;
  const ValueId high = e.emit(Op::ShlUnchecked, t, {x, left ? n : back});
  const ValueId low = e.emit(Op::ShrUnchecked, t, {x, left ? back : n});
  return e.bitcast(e.bit_or(high, low), call.type);
}

ValueId expand_pow_int(Expander& e, const ExpandCall& call) {
  const Type t = call.type;
  const ValueId x = e.spread(call.args[0], t), y = e.spread(call.args[1], t);
  const ValueId one = e.bits(t, 1);
  int64_t first = 0, value = 0;
  bool same = e.constant_lane(y, 0, &first);
  for (uint32_t i = 1; same && i < t.lanes(); i++)
    same = e.constant_lane(y, i, &value) && value == first;
  if (same && first == 0) return one;
  if (same && !(is_signed(t) && first < 0)) return square_chain(e, x, static_cast<uint64_t>(first));

  const Type count = unsigned_like(t);
  if (!is_signed(t)) return square_loop(e, x, y);
  const ValueId negative = is_negative(e, y);
  const ValueId steps = e.select(negative, e.bits(count, 0), e.bitcast(y, count));
  const ValueId power = square_loop(e, x, steps);
  const ValueId odd = e.compare(Op::NotEqual, e.bit_and(y, one), e.bits(t, 0));
  const ValueId minus_one = e.bits(t, ~uint64_t{0});
  const ValueId sign = e.select(odd, minus_one, one);
  const ValueId of_minus_one = e.select(e.compare(Op::Equal, x, minus_one), sign, e.bits(t, 0));
  const ValueId inverse = e.select(e.compare(Op::Equal, x, one), one, of_minus_one);
  return e.select(negative, inverse, power);
}

}  // namespace lcpy
