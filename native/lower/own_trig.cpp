// sin, cos, tan of any number: the angle is reduced by quarter turns, with pi/2 in parts whose
// multiples are exact up to some hundreds of turns (millions for double), and beyond that by the
// bits of 2/pi that matter to the number, in whole arithmetic (Payne and Hanek).
#include <array>

#include "lower/fits.h"
#include "lower/own.h"

namespace lcpy {
namespace {

// |x| = angle + turns * pi/2, |angle| <= pi/4 and a little; the turns modulo 4, bits above them
// being anything. Of infinity and NaN the angle is NaN.
struct Reduced {
  ValueId angle, turns;
};

std::vector<ValueId> by_parts(Own& w, ValueId a) {
  const double* half_pi = w.wide() ? fits::kHalfPi64 : fits::kHalfPi32;
  // The sum's last place is 1: it rounds to a whole number, whose low bits are its own.
  const ValueId large = w.c(0x1.8p23, 0x1.8p52);
  const ValueId sum = w.mad(a, w.c(0.63661977236758134308), large), n = w.sub(sum, large);
  ValueId r = a;
  for (int k = 0; k < 4; k++) r = w.less_product(r, n, w.c(half_pi[k]));
  return {r, w.wide() ? w.low(sum) : w.high(sum)};
}

// Unsigned whole numbers of many words, the lowest first.
using Words = std::vector<ValueId>;

// a * b modulo 2^(32 n), n the length of b.
Words multiply(Own& w, const Words& a, const Words& b) {
  Expander& e = w.expander();
  const ValueId one = w.u(1), none = w.u(0);
  Words sum(b.size(), none);
  for (size_t i = 0; i < a.size(); i++) {
    ValueId carry = none;
    for (size_t k = i; k < b.size(); k++) {
      const ValueId low = e.mul(a[i], b[k - i]);
      ValueId high;
      if (k + 1 < b.size()) high = e.binary(Op::MulHi, a[i], b[k - i]);
      const auto add = [&](ValueId x, ValueId y) {
        const ValueId s = e.add(x, y);
        if (high) high = e.add(high, w.select(w.less(s, x), one, none));
        return s;
      };
      sum[k] = add(add(sum[k], low), carry);
      carry = high;
    }
  }
  return sum;
}

// The word at a run-time shift of 0 to 31 bits between two neighbours.
ValueId funnel(Own& w, ValueId upper, ValueId lower, ValueId shift) {
  const ValueId rest = w.expander().sub(w.u(31), shift);
  return w.expander().bit_or(w.shift_left(upper, shift),
                             w.shift_right(w.shift_right(lower, 1), rest));
}

// The window of 2/pi whose product with the number's digits is the angle modulo four quarter turns.
Words window(Own& w, ValueId exponent, size_t count) {
  Expander& e = w.expander();
  const std::span<const uint32_t> table =
      std::span(fits::kTwoOverPi).first(w.wide() ? std::size(fits::kTwoOverPi) : 9);
  const SlotId slot = e.own_table(table);
  // Bits whose multiples are whole turns are left out; 64 zeros stand before the others.
  const ValueId first = e.sub(exponent, w.u(w.wide() ? 1013 : 88));
  const ValueId word = w.shift_right(first, 5), shift = e.bit_and(first, w.u(31));
  Words raw;
  for (size_t k = 0; k <= count; k++) {
    const Operand index = Operand::of(e.add(word, w.u(static_cast<uint32_t>(k))));
    raw.push_back(e.builder().load(slot, {&index, 1}, w.word()));
  }
  Words found(count);
  for (size_t k = 0; k < count; k++) found[count - 1 - k] = funnel(w, raw[k], raw[k + 1], shift);
  return found;
}

std::vector<ValueId> by_bits(Own& w, ValueId a) {
  Expander& e = w.expander();
  const ValueId high = w.high(a), none = w.u(0);
  const ValueId exponent = w.shift_right(high, w.exponent_shift());
  const uint32_t unit = 1u << w.exponent_shift();
  const ValueId top = e.bit_or(e.bit_and(high, w.u(unit - 1)), w.u(unit));
  const Words number = w.wide() ? Words{w.low(a), top} : Words{top};
  const Words p = multiply(w, number, window(w, exponent, w.wide() ? 6 : 3));
  const size_t n = p.size();
  // Two bits of turns, then the part of a turn; half a turn or more is one turn less the rest.
  const auto part = [&](size_t k) {
    return e.bit_or(w.shift_left(p[n - 1 - k], 2), w.shift_right(p[n - 2 - k], 30));
  };
  const ValueId up = w.shift_right(part(0), 31);
  const ValueId turns = e.add(w.shift_right(p[n - 1], 30), up);
  const ValueId flips = e.sub(none, up);
  const auto rest = [&](size_t k) { return e.bit_xor(part(k), flips); };
  ValueId first = rest(0), second = rest(1), zeros = none, third;
  if (w.wide()) {
    const ValueId skip = w.equal(first, none);
    third = w.select(skip, rest(3), rest(2));
    second = w.select(skip, rest(2), second);
    first = w.select(skip, rest(1), first);
    zeros = w.select(skip, w.u(32), none);
  }
  const ValueId lead = e.unary(Op::Clz, e.bit_or(first, w.u(1)));
  // The part of a turn in [1/2, 1) as a sum of two numbers, and its product with pi/2.
  const ValueId digits = funnel(w, first, second, lead);
  const ValueId upper = w.wide() ? digits : e.bit_and(digits, w.u(0xffffff00u));
  const ValueId lower = w.wide() ? funnel(w, second, third, lead) : e.bit_and(digits, w.u(255));
  const ValueId value = w.mul(w.to_float(upper), w.c(0x1p-32));
  const ValueId tail = w.mul(w.to_float(lower), w.c(0x1p-32, 0x1p-64));
  const ValueId shift = e.sub(w.i(0), e.bitcast(e.add(lead, zeros), Type::of(Scalar::Int32)));
  const double* pi2 = w.wide() ? fits::kPi264 : fits::kPi232;
  const Own::Pair product = w.product(value, w.c(pi2[0]));
  const ValueId small = w.mad(value, w.c(pi2[1]), w.mad(tail, w.c(pi2[0]), product.low));
  const ValueId angle = w.add(product.high, small);
  const ValueId scaled = w.mul(angle, w.two_to(shift));
  const ValueId reduced = w.flip(scaled, w.shift_left(up, 31));
  return {w.select(w.less(a, w.infinity()), reduced, w.nan()), turns};
}

Reduced reduce(Own& w, ValueId a) {
  const std::array types = {w.type(), w.word()};
  const auto both = w.call("own_reduce", {&a, 1}, types, [&](std::span<const ValueId> args) {
    const ValueId x = args[0];
    return w.branch(
        w.less(x, w.c(750, 1.5e6)), types, [&] { return by_parts(w, x); },
        [&] { return by_bits(w, x); });
  });
  return {both[0], both[1]};
}

ValueId sine(Own& w, ValueId r, ValueId z) {
  return w.mad(w.mul(r, z), w.poly(z, fits::kSin32, fits::kSin64), r);
}
ValueId cosine(Own& w, ValueId z) {
  const ValueId p = w.mad(z, w.poly(z, fits::kCos32, fits::kCos64), w.c(-0.5));
  return w.mad(z, p, w.c(1));
}
ValueId odd(Own& w, ValueId turns) {
  return w.expander().compare(Op::NotEqual, w.expander().bit_and(turns, w.u(1)), w.u(0));
}

// The sign after so many quarter turns.
ValueId turned(Own& w, ValueId value, ValueId turns) {
  return w.flip(value, w.shift_left(w.expander().bit_and(turns, w.u(2)), 30));
}

}  // namespace

OwnTurn own_turn(Own& w, ValueId x) {
  const Reduced r = reduce(w, w.abs(x));
  const ValueId z = w.mul(r.angle, r.angle), swap = odd(w, r.turns);
  const ValueId s = sine(w, r.angle, z), c = cosine(w, z);
  const ValueId sin = turned(w, w.select(swap, c, s), r.turns);
  const ValueId next = w.expander().add(r.turns, w.u(1));
  return {w.flip(sin, w.sign(x)), turned(w, w.select(swap, s, c), next)};
}

ValueId own_sin(Own& w, std::span<const ValueId> args) {
  return w.expander().sin_and_cos(w, args[0])[0];
}
ValueId own_cos(Own& w, std::span<const ValueId> args) {
  return w.expander().sin_and_cos(w, args[0])[1];
}

ValueId own_tan(Own& w, std::span<const ValueId> args) {
  const ValueId a = w.abs(args[0]);
  const Reduced r = reduce(w, a);
  const ValueId z = w.mul(r.angle, r.angle);
  const ValueId s = sine(w, r.angle, z), c = cosine(w, z), swap = odd(w, r.turns);
  const ValueId value = w.div(w.select(swap, w.neg(c), s), w.select(swap, s, c));
  return w.flip(value, w.sign(args[0]));
}

}  // namespace lcpy
