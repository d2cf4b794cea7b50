// Inverse trigonometric functions: one polynomial near zero, and the identities that lead there.
#include "lower/fits.h"
#include "lower/own.h"

namespace lcpy {
namespace {

const double* half_pi(Own& w) { return w.wide() ? fits::kPi264 : fits::kPi232; }

// pi/2 - x, and pi - x for twice: the constant in two parts.
ValueId from_half_pi(Own& w, ValueId x, double times = 1) {
  const double* parts = half_pi(w);
  return w.sub(w.c(times * parts[0]), w.sub(x, w.c(times * parts[1])));
}

// Of |x| <= 1: asin of it where it is at most 1/2, else of sqrt((1 - |x|) / 2), by which asin is
// pi/2 less twice that.
struct Arc {
  ValueId value, large;
};
Arc arc(Own& w, ValueId a) {
  const ValueId large = w.greater(a, w.c(0.5));
  const ValueId inside = w.at_most(a, w.c(1));
  const ValueId half = w.mul(w.sub(w.c(1), w.select(inside, a, w.c(1))), w.c(0.5));
  const ValueId z = w.select(large, half, w.mul(a, a));
  const ValueId s = w.select(large, w.sqrt(half), a);
  return {w.mad(w.mul(s, z), w.poly(z, fits::kAsin32, fits::kAsin64), s), large};
}
ValueId within_one(Own& w, ValueId a, ValueId value) {
  return w.select(w.at_most(a, w.c(1)), value, w.nan());
}

// The angle of (x, y), 0 <= y <= x.
ValueId low_angle(Own& w, ValueId y, ValueId x) {
  const ValueId far = w.greater(y, w.mul(x, w.c(0.41421356237309504880)));
  const ValueId u = w.div(w.select(far, w.sub(y, x), y), w.select(far, w.add(y, x), x));
  const ValueId z = w.mul(u, u);
  const ValueId rest = w.mul(w.mul(u, z), w.poly(z, fits::kAtan32, fits::kAtan64));
  const double* pi = half_pi(w);
  const ValueId eighth = w.add(w.c(pi[0] / 2), w.add(u, w.add(rest, w.c(pi[1] / 2))));
  return w.select(far, eighth, w.add(u, rest));
}

}  // namespace

ValueId own_asin(Own& w, std::span<const ValueId> args) {
  const ValueId a = w.abs(args[0]);
  const Arc r = arc(w, a);
  const ValueId value = w.select(r.large, from_half_pi(w, w.add(r.value, r.value)), r.value);
  return within_one(w, a, w.with_sign(value, w.sign(args[0])));
}

ValueId own_acos(Own& w, std::span<const ValueId> args) {
  const ValueId x = args[0], a = w.abs(x);
  const Arc r = arc(w, a);
  const ValueId twice = w.add(r.value, r.value), below = w.less(x, w.c(0));
  const ValueId far = w.select(below, from_half_pi(w, twice, 2), twice);
  const ValueId near = from_half_pi(w, w.with_sign(r.value, w.sign(x)));
  return within_one(w, a, w.select(r.large, far, near));
}

ValueId own_atan(Own& w, std::span<const ValueId> args) {
  const ValueId a = w.abs(args[0]), one = w.c(1);
  const ValueId steep = w.greater(a, one), infinite = w.equal(a, w.infinity());
  const ValueId over = w.select(infinite, w.c(0), one), under = w.select(infinite, one, a);
  const ValueId r = low_angle(w, w.select(steep, over, a), w.select(steep, under, one));
  const ValueId value = w.select(steep, from_half_pi(w, r), r);
  return w.keep_nan(args[0], w.with_sign(value, w.sign(args[0])));
}

ValueId own_atan2(Own& w, std::span<const ValueId> args) {
  const ValueId y = args[0], x = args[1], one = w.c(1), zero = w.c(0);
  ValueId ay = w.abs(y), ax = w.abs(x);
  const ValueId infinities = w.both(w.equal(ay, w.infinity()), w.equal(ax, w.infinity()));
  ay = w.select(infinities, one, ay);
  ax = w.select(infinities, one, ax);
  const ValueId steep = w.greater(ay, ax);
  ValueId low = w.select(steep, ax, ay), high = w.select(steep, ay, ax);
  const ValueId infinite = w.equal(high, w.infinity());
  low = w.select(infinite, zero, low);
  high = w.select(infinite, one, high);
  // Away from overflow of the sum and from denormals; (0, 0) is (1, 0).
  const ValueId large = w.greater(high, w.c(0x1p126, 0x1p1022));
  const ValueId small = w.less(high, w.c(0x1p-60, 0x1p-900));
  const ValueId scale = w.select(large, w.c(0.25), w.select(small, w.c(0x1p64, 0x1p128), one));
  const ValueId under = w.select(w.equal(high, zero), one, w.mul(high, scale));
  const ValueId r = low_angle(w, w.mul(low, scale), under);
  const ValueId turned = w.select(steep, from_half_pi(w, r), r);
  const ValueId behind = w.expander().compare(Op::NotEqual, w.sign(x), w.u(0));
  const ValueId value = w.select(behind, from_half_pi(w, turned, 2), turned);
  const ValueId nan = w.either(w.is_nan(x), w.is_nan(y));
  return w.select(nan, w.nan(), w.with_sign(value, w.sign(y)));
}

}  // namespace lcpy
