// pow: the logarithm to base 2 in two parts, times y, and the power of two of that.
#include "lower/fits.h"
#include "lower/own.h"

namespace lcpy {
namespace {

// log2(x) of a positive normal number, to about one and a half times the type's precision.
Own::Pair log2_in_two(Own& w, ValueId x, ValueId lowered) {
  const OwnSplit split = own_split(w, x);
  const ValueId m = split.m, n = w.sub(split.exponent, lowered), one = w.c(1);
  // s = (m - 1) / (m + 1), and its rest from what the division leaves. The sum's rest is exact too
  // where m is the larger: the sum less one is then a number of the type.
  const ValueId f = w.sub(m, one);
  const Own::Pair under = w.sum(one, m);
  const ValueId s = w.div(f, under.high);
  const Own::Pair back = w.product(s, under.high);
  const ValueId left = w.less_product(w.sub(w.sub(f, back.high), back.low), s, under.low);
  const ValueId s_low = w.div(left, under.high);
  // log(m) = s (2 + z (2/3 + z P(z))), z = s^2.
  Own::Pair z = w.product(s, s);
  z.low = w.mad(w.add(s, s), s_low, z.low);
  const double* third = w.wide() ? fits::kThird264 : fits::kThird232;
  const ValueId p = w.mul(z.high, w.poly(z.high, fits::kPowLog32, fits::kPowLog64));
  Own::Pair inner = w.sum(w.c(third[0]), p);
  inner.low = w.add(inner.low, w.c(third[1]));
  Own::Pair t = w.product(z.high, inner.high);
  t.low = w.add(t.low, w.mad(z.high, inner.low, w.mul(z.low, inner.high)));
  Own::Pair factor = w.sum(w.c(2), t.high);
  factor.low = w.add(factor.low, t.low);
  Own::Pair log = w.product(s, factor.high);
  log.low = w.add(log.low, w.mad(s, factor.low, w.mul(s_low, factor.high)));
  // To base 2, and the exponent.
  const double* e = w.wide() ? fits::kLog2E64 : fits::kLog2E32;
  Own::Pair base = w.product(log.high, w.c(e[0]));
  base.low = w.add(base.low, w.mad(log.high, w.c(e[1]), w.mul(log.low, w.c(e[0]))));
  Own::Pair whole = w.sum(n, base.high);
  whole.low = w.add(whole.low, base.low);
  return w.sum(whole.high, whole.low);
}

}  // namespace

// x is the base's magnitude here: expand_pow (expand_float.cpp) has C's rules for signs.
ValueId own_pow(Own& w, std::span<const ValueId> args) {
  const ValueId x = args[0], y = args[1], zero = w.c(0), infinity = w.infinity();
  const ValueId good = w.both(w.greater(x, zero), w.less(x, infinity));
  const ValueId small = w.less(x, w.c(0x1p-126, 0x1p-1022));
  const ValueId up = w.select(small, w.mul(x, w.c(0x1p25, 0x1p54)), x);
  const ValueId lowered = w.select(small, w.c(25, 54), zero);
  const Own::Pair log = log2_in_two(w, w.select(good, up, w.c(1)), w.select(good, lowered, zero));
  const ValueId edge = w.select(w.equal(x, zero), w.neg(infinity), infinity);
  const ValueId first = w.mul(y, w.select(good, log.high, edge));
  const ValueId inside = w.less(w.abs(first), w.c(200, 1200));
  const ValueId factor = w.select(inside, y, zero);
  Own::Pair product = w.product(factor, w.select(good, log.high, zero));
  product.low = w.mad(factor, log.low, product.low);
  const ValueId n = w.round(product.high);
  const ValueId r = w.add(w.sub(product.high, n), product.low);
  const ValueId power = w.scale(own_exp2_inside(w, r), w.to_int(n));
  return w.select(inside, power, w.select(w.greater(first, zero), infinity, zero));
}

}  // namespace lcpy
