// exp, exp2, exp10 and the hyperbolic functions made of them: a power of two and a polynomial.
#include "lower/fits.h"
#include "lower/own.h"

namespace lcpy {
namespace {

// The function in the range where it is neither 0 nor infinite; outside the limits these.
template <class Inside>
ValueId within(Own& w, ValueId x, ValueId low, ValueId high, Inside&& inside) {
  const ValueId good = w.both(w.at_most(x, high), w.at_least(x, low));
  const ValueId result = inside(w.select(good, x, w.c(0)));
  const ValueId outside =
      w.select(w.greater(x, high), w.infinity(), w.select(w.less(x, low), w.c(0), x));
  return w.select(good, result, outside);
}

struct HalfExponentials {
  ValueId up, down;  // e^x / 2 and e^-x / 2
};
HalfExponentials half_exponentials(Own& w, ValueId x) {
  const OwnPower p = own_exp_parts(w, x);
  Expander& e = w.expander();
  const ValueId one = w.i(1);
  const ValueId down = e.sub(e.sub(w.i(0), p.exponent), one);
  return {w.scale(p.part, e.sub(p.exponent, one)), w.scale(w.div(w.c(1), p.part), down)};
}

// Where |x| is below the limit of overflow; else infinity, or NaN.
ValueId below_overflow(Own& w, ValueId a, ValueId* good) {
  *good = w.at_most(a, w.c(89.5, 710.5));
  return w.select(*good, a, w.c(0));
}

}  // namespace

OwnPower own_exp_parts(Own& w, ValueId x) {
  const double* ln2 = w.wide() ? fits::kLn264 : fits::kLn232;
  const ValueId n = w.round(w.mul(x, w.c(fits::kLog2E32[0], fits::kLog2E64[0])));
  const ValueId first = w.less_product(x, n, w.c(ln2[0]));
  const ValueId r = w.less_product(first, n, w.c(ln2[1]));
  const ValueId p = w.poly(r, fits::kExp32, fits::kExp64);
  return {w.add(w.c(1), w.mad(w.mul(r, r), p, r)), w.to_int(n)};
}

ValueId own_exp2_inside(Own& w, ValueId r) {
  return w.mad(r, w.poly(r, fits::kExp232, fits::kExp264), w.c(1));
}

// By a device's own exp2 where it is good: e^x = 2^t * 2^rest, t being x log2(e) rounded.
static ValueId exp_by_exp2(Own& w, ValueId x) {
  const ValueId t = w.mul(x, w.c(fits::kLog2E32[0]));
  const ValueId lost = w.mad(x, w.c(fits::kLog2E32[0]), w.neg(t));
  const ValueId rest = w.mad(x, w.c(fits::kLog2E32[1]), lost);
  const ValueId inside = w.select(w.less(w.abs(t), w.c(200)), rest, w.c(0));  // not of infinity
  const ValueId power = w.expander().emit_as_is(Op::Exp2, w.type(), {t});
  return w.mul(power, w.mad(inside, w.c(0x1.62e42fefa39efp-1), w.c(1)));
}

ValueId own_exp(Own& w, std::span<const ValueId> args) {
  if (w.has_exp2()) return exp_by_exp2(w, args[0]);
  const ValueId low = w.c(-103.98, -745.14), high = w.c(0x1.62e42ep+6, 0x1.62e42fefa39efp+9);
  return within(w, args[0], low, high, [&](ValueId x) {
    const OwnPower p = own_exp_parts(w, x);
    return w.scale(p.part, p.exponent);
  });
}

ValueId own_exp2(Own& w, std::span<const ValueId> args) {
  const ValueId low = w.c(-150, -1075), high = w.c(0x1.fffffep+6, 0x1.fffffffffffffp+9);
  return within(w, args[0], low, high, [&](ValueId x) {
    const ValueId n = w.round(x);
    return w.scale(own_exp2_inside(w, w.sub(x, n)), w.to_int(n));
  });
}

ValueId own_exp10(Own& w, std::span<const ValueId> args) {
  const ValueId low = w.c(-45.1545, -323.60725), high = w.c(0x1.344134p+5, 0x1.34413509f79fep+8);
  return within(w, args[0], low, high, [&](ValueId x) {
    const double* log = w.wide() ? fits::kLog10Of264 : fits::kLog10Of232;
    const ValueId n = w.round(w.mul(x, w.c(3.321928094887362348)));
    const ValueId first = w.less_product(x, n, w.c(log[0]));
    const ValueId r = w.less_product(first, n, w.c(log[1]));
    const ValueId p = w.mad(r, w.poly(r, fits::kExp1032, fits::kExp1064), w.c(1));
    return w.scale(p, w.to_int(n));
  });
}

ValueId own_sinh(Own& w, std::span<const ValueId> args) {
  const ValueId x = args[0], a = w.abs(x);
  const ValueId z = w.mul(a, a);
  const ValueId small = w.mad(w.mul(a, z), w.poly(z, fits::kSinh32, fits::kSinh64), a);
  ValueId good;
  const HalfExponentials h = half_exponentials(w, below_overflow(w, a, &good));
  const ValueId large = w.select(good, w.sub(h.up, h.down), w.infinity());
  const ValueId size = w.select(w.less(a, w.c(1)), small, large);
  return w.keep_nan(x, w.with_sign(size, w.sign(x)));
}

ValueId own_cosh(Own& w, std::span<const ValueId> args) {
  ValueId good;
  const HalfExponentials h = half_exponentials(w, below_overflow(w, w.abs(args[0]), &good));
  return w.keep_nan(args[0], w.select(good, w.add(h.up, h.down), w.infinity()));
}

ValueId own_tanh(Own& w, std::span<const ValueId> args) {
  const ValueId x = args[0], a = w.abs(x);
  const ValueId z = w.mul(a, a);
  const ValueId small = w.mad(w.mul(a, z), w.poly(z, fits::kTanh32, fits::kTanh64), a);
  // Beyond the limit it is 1.
  const ValueId limit = w.c(10, 20), near = w.select(w.less(a, limit), a, limit);
  const OwnPower p = own_exp_parts(w, w.add(near, near));
  const ValueId power = w.mul(p.part, w.two_to(p.exponent));
  const ValueId large = w.sub(w.c(1), w.div(w.c(2), w.add(power, w.c(1))));
  const ValueId size = w.select(w.less(a, w.c(0.625)), small, large);
  return w.keep_nan(x, w.with_sign(size, w.sign(x)));
}

}  // namespace lcpy
