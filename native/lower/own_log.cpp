// Logarithms, and the inverse hyperbolic functions made of them.
#include <bit>

#include "lower/fits.h"
#include "lower/own.h"

namespace lcpy {
namespace {

// log(m) = f + rest for m near one, f = m - 1 exactly.
struct Near {
  ValueId f, rest;
};
Near log_near_one(Own& w, ValueId m) {
  const ValueId f = w.sub(m, w.c(1)), squared = w.mul(f, f);
  if (!w.wide()) {
    const ValueId p = w.poly(f, fits::kLog32, {});
    return {f, w.mul(squared, w.mad(f, p, w.c(-0.5)))};
  }
  // With s = f / (2 + f): log = 2s + s^3 P(s^2), and 2s = f - f^2 / 2 + s f^2 / 2.
  const ValueId s = w.div(f, w.add(w.c(2), f)), z = w.mul(s, s), half = w.mul(squared, w.c(0.5));
  const ValueId p = w.mul(z, w.poly(z, {}, fits::kAtanh264));
  return {f, w.sub(w.mul(s, w.add(half, p)), half)};
}

// A logarithm to any base of a positive number; the edges of the others.
template <class Inside>
ValueId logarithm(Own& w, ValueId x, Inside&& inside) {
  const ValueId infinity = w.infinity(), zero = w.c(0), one = w.c(1);
  const ValueId positive = w.greater(x, zero);
  const ValueId good = w.both(positive, w.less(x, infinity));
  // Denormals are brought up first.
  const ValueId small = w.less(x, w.c(0x1p-126, 0x1p-1022));
  const ValueId up = w.select(small, w.mul(x, w.c(0x1p25, 0x1p54)), x);
  const OwnSplit s = own_split(w, w.select(good, up, one));
  const ValueId n = w.select(w.both(good, small), w.sub(s.exponent, w.c(25, 54)), s.exponent);
  const ValueId result = inside(s.m, n);
  const ValueId edge = w.select(w.equal(x, zero), w.neg(infinity), w.nan());
  return w.select(good, result, w.select(positive, infinity, edge));
}

// (f + rest) / log(base), where the first factor of f and of the base's have exact products.
ValueId to_base(Own& w, const Near& near, double inverse_log) {
  const double of32 = static_cast<float>(inverse_log);
  // The leading bits of the constant.
  const uint64_t mask = w.wide() ? ~uint64_t{0} << 22 : ~uint64_t{0} << 41;
  const double high = std::bit_cast<double>(std::bit_cast<uint64_t>(inverse_log) & mask);
  const ValueId h = w.c(high), l = w.c(inverse_log - high);
  const ValueId whole = w.c(of32, inverse_log);
  const ValueId head = w.head(near.f), tail = w.sub(near.f, head);
  const ValueId small = w.mad(near.f, l, w.mad(tail, h, w.mul(near.rest, whole)));
  return w.mad(head, h, small);
}

ValueId from_half_log(Own& w, ValueId x, ValueId large_sum, ValueId large, ValueId a) {
  const ValueId argument = w.select(large, a, large_sum);
  const ValueId safe = w.select(w.less(argument, w.infinity()), argument, w.c(1));
  const ValueId log = own_log_inside(w, safe);
  const ValueId whole = w.select(large, w.add(log, w.c(0.69314718055994530942)), log);
  return w.select(w.less(a, w.infinity()), whole, x);
}

}  // namespace

OwnSplit own_split(Own& w, ValueId x) {
  Expander& e = w.expander();
  const ValueId high = w.high(x);
  const ValueId above = e.sub(high, w.u(w.wide() ? 0x3fe6a09eu : 0x3f3504f3u));
  const ValueId n =
      e.shift(Op::ShrUnchecked, e.bitcast(above, Type::of(Scalar::Int32)), w.exponent_shift());
  const ValueId raised = w.shift_left(e.bitcast(n, w.word()), w.exponent_shift());
  return {w.with_high(x, e.sub(high, raised)), w.to_float(n)};
}

ValueId own_log_inside(Own& w, ValueId x) {
  const OwnSplit s = own_split(w, x);
  const double* ln2 = w.wide() ? fits::kLn264 : fits::kLn232;
  const Near near = log_near_one(w, s.m);
  const ValueId low = w.mad(s.exponent, w.c(ln2[1]), near.rest);
  return w.mad(s.exponent, w.c(ln2[0]), w.add(near.f, low));
}

ValueId own_log(Own& w, std::span<const ValueId> args) {
  const double* ln2 = w.wide() ? fits::kLn264 : fits::kLn232;
  return logarithm(w, args[0], [&](ValueId m, ValueId n) {
    const Near near = log_near_one(w, m);
    const ValueId low = w.mad(n, w.c(ln2[1]), near.rest);
    return w.mad(n, w.c(ln2[0]), w.add(near.f, low));
  });
}

ValueId own_log2(Own& w, std::span<const ValueId> args) {
  return logarithm(w, args[0], [&](ValueId m, ValueId n) {
    return w.add(n, to_base(w, log_near_one(w, m), 1.44269504088896340736));
  });
}

ValueId own_log10(Own& w, std::span<const ValueId> args) {
  const double* log = w.wide() ? fits::kLog10Of264 : fits::kLog10Of232;
  return logarithm(w, args[0], [&](ValueId m, ValueId n) {
    const ValueId near = to_base(w, log_near_one(w, m), 0.43429448190325182765);
    return w.mad(n, w.c(log[0]), w.mad(n, w.c(log[1]), near));
  });
}

// log(a + sqrt(a^2 + 1)); near zero, where that cancels, a polynomial.
ValueId own_asinh(Own& w, std::span<const ValueId> args) {
  const ValueId x = args[0], a = w.abs(x), z = w.mul(a, a);
  const ValueId small = w.mad(w.mul(a, z), w.poly(z, fits::kAsinh32, fits::kAsinh64), a);
  const ValueId large = w.greater(a, w.c(0x1p14, 0x1p28));
  const ValueId root = w.sqrt(w.mad(a, a, w.c(1)));
  const ValueId far = from_half_log(w, a, w.add(root, a), large, a);
  const ValueId size = w.select(w.less(a, w.c(0.5)), small, far);
  return w.keep_nan(x, w.with_sign(size, w.sign(x)));
}

// log(x + sqrt(x^2 - 1)); near one the square root of 2 (x - 1) times a polynomial.
ValueId own_acosh(Own& w, std::span<const ValueId> args) {
  const ValueId x = args[0], one = w.c(1), t = w.sub(x, one);
  const ValueId good = w.at_least(x, one), safe = w.select(good, t, w.c(0));
  const ValueId factor = w.mad(safe, w.poly(safe, fits::kAcosh32, fits::kAcosh64), one);
  const ValueId small = w.mul(w.sqrt(w.add(safe, safe)), factor);
  const ValueId large = w.greater(x, w.c(0x1p14, 0x1p28));
  const ValueId root = w.sqrt(w.mul(safe, w.add(x, one)));
  const ValueId far = from_half_log(w, x, w.add(x, root), large, x);
  return w.select(good, w.select(w.less(t, w.c(0.5)), small, far), w.nan());
}

ValueId own_atanh(Own& w, std::span<const ValueId> args) {
  const ValueId x = args[0], a = w.abs(x), one = w.c(1), z = w.mul(a, a);
  const ValueId small = w.mad(w.mul(a, z), w.poly(z, fits::kAtanh32, fits::kAtanh64), a);
  const ValueId inside = w.less(a, one), safe = w.select(inside, a, w.c(0));
  const ValueId ratio = w.div(w.add(one, safe), w.sub(one, safe));
  const ValueId far = w.mul(own_log_inside(w, ratio), w.c(0.5));
  const ValueId edge = w.select(w.equal(a, one), w.infinity(), w.nan());
  const ValueId large = w.select(inside, far, edge);
  const ValueId size = w.select(w.less(a, w.c(0.5)), small, large);
  return w.keep_nan(x, w.with_sign(size, w.sign(x)));
}

}  // namespace lcpy
