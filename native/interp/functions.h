// Transcendental functions on scalars, one struct each. float32 is computed in double: polynomials
// then need no tricks to stay within one unit in the last place of float32, and a loop over `of`
// becomes vector code. float16 goes through float32, float64 through the C library.
//
// Polynomials interpolate at Chebyshev nodes of their interval (relative error beside each).
#pragma once
#include <cmath>

#include "interp/loops.h"

namespace lcpy::interp::LCPY_ISA {
namespace {
namespace functions {

using sem::bit_copy;

inline constexpr double kLog2E = 0x1.71547652b82fep+0, kLog2Ten = 0x1.a934f0979a371p+1;
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLogTen2 = 0x1.34413509f79ffp-2;
inline constexpr double kPi = 0x1.921fb54442d18p+1;
inline constexpr double kRoundMagic = 0x1.8p52;  // adding it rounds to an integer in the low bits
inline constexpr double kInfinity = __builtin_inf(), kNan = __builtin_nan("");

template <int N>
LCPY_INLINE double polynomial(double x, const double (&c)[N]) {
  double r = c[N - 1];
  for (int i = N - 2; i >= 0; --i) r = r * x + c[i];
  return r;
}

// 2^t for any t; beyond float32's range the result is beyond it too.
LCPY_INLINE double power_of_two(double t) {
  constexpr double c[] = {0x1.ffffffffa7135p-1,  0x1.62e42fef9cc69p-1, 0x1.ebfbe0aa03df0p-3,
                          0x1.c6b08da70cce3p-5,  0x1.3b29d8bb0b97ep-7, 0x1.5d877598350dep-10,
                          0x1.446c79efd4834p-13, 0x1.00c0e4e15189cp-16};  // 5e-11
  t = t < -400.0 ? -400.0 : t;
  t = t > 400.0 ? 400.0 : t;
  const double shifted = t + kRoundMagic, r = t - (shifted - kRoundMagic);
  const double scale = bit_copy<double>((bit_copy<uint64_t>(shifted) + 1023) << 52);
  return polynomial(r, c) * scale;
}

// x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)), for positive normal x.
struct Split {
  double exponent, m;
};
LCPY_INLINE Split split(double x) {
  const uint64_t bits = bit_copy<uint64_t>(x);
  const uint64_t biased = bits - 0x3fe6a09e667f3bcdu + (uint64_t{1023} << 52);
  const double exponent =
      bit_copy<double>(0x4330000000000000u | (biased >> 52)) - (0x1p52 + 1023.0);
  const uint64_t whole = (biased & 0xfff0000000000000u) - (uint64_t{1023} << 52);
  return {exponent, bit_copy<double>(bits - whole)};
}
// log(m) for m in [sqrt(1/2), sqrt(2)).
LCPY_INLINE double log_near_one(double m) {
  constexpr double c[] = {0x1.fffffffffff12p+0, 0x1.555555567148cp-1,
                          0x1.9999962c06032p-2, 0x1.2494381ee587ep-2,
                          0x1.c620ee6e2aeecp-3, 0x1.9192e478c89aap-3};  // 3e-14
  const double s = (m - 1.0) / (m + 1.0);
  return s * polynomial(s * s, c);
}
LCPY_INLINE double log_edges(double x, double r) {
  r = x > 0.0 ? r : (x == 0.0 ? -kInfinity : kNan);
  return x == kInfinity ? kInfinity : r;
}
LCPY_INLINE double natural_log(double x) {
  const Split s = split(x);
  return log_edges(x, s.exponent * kLn2 + log_near_one(s.m));
}

// sin and cos of |r| <= pi/4.
LCPY_INLINE double sine_core(double r) {
  constexpr double c[] = {0x1.fffffffff67c3p-1, -0x1.55555549480f4p-3, 0x1.1111074b326d2p-7,
                          -0x1.a00ee7e5cea32p-13, 0x1.6cb7496931e59p-19};  // 5e-12
  return r * polynomial(r * r, c);
}
LCPY_INLINE double cosine_core(double r) {
  constexpr double c[] = {0x1.ffffffffffe0bp-1,  -0x1.ffffffffe3763p-2,
                          0x1.5555554476425p-5,  -0x1.6c16b2d3e61f5p-10,
                          0x1.a00e9685da9c1p-16, -0x1.23c5c1544198bp-22};  // 8e-14
  return polynomial(r * r, c);
}
// Beyond this the quotient by pi/2 no longer multiplies exactly.
inline constexpr float kTurnLimit = 0x1p22f;
struct Turn {
  double r;
  uint64_t quarter;  // low two bits
};
LCPY_INLINE Turn turn(double x) {
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRoundMagic, q = shifted - kRoundMagic;
  // pi/2 in 30 bits and the rest: q times the first part is exact.
  return {(x - q * 0x1.921fb54p+0) - q * 0x1.10b4611a62633p-30, bit_copy<uint64_t>(shifted)};
}
LCPY_INLINE double turned(double r, uint64_t quarter) {
  const double v = (quarter & 1) != 0 ? cosine_core(r) : sine_core(r);
  return (quarter & 2) != 0 ? -v : v;
}

// The angle of (x, y), by one division and one polynomial.
LCPY_INLINE double angle(double y, double x) {
  constexpr double c[] = {
      0x1.fffffffffff0fp-1,  -0x1.55555554e6115p-2, 0x1.99999911d787ep-3,
      -0x1.2492291db1905p-3, 0x1.c714d4c311539p-4,  -0x1.73d9d72891a5fp-4,
      0x1.35cf2e1ebc908p-4,  -0x1.e13d4fe79142fp-5, 0x1.f65f98a6c8f5ep-6};  // 3e-14
  double ax = __builtin_fabs(x), ay = __builtin_fabs(y);
  const bool both = (ax == kInfinity) & (ay == kInfinity);
  ax = both ? 1.0 : ax;
  ay = both ? 1.0 : ay;
  const bool steep = ay > ax;
  const double low = steep ? ax : ay, high = steep ? ay : ax;
  const bool far = low > high * 0x1.a827999fcef32p-2;  // tan(pi/8)
  const double over = far ? low - high : low;
  double under = far ? low + high : high;
  under = high == 0.0 ? 1.0 : under;
  const double u = over / under;
  double r = (far ? kPi / 4 : 0.0) + u * polynomial(u * u, c);
  r = steep ? kPi / 2 - r : r;
  r = bit_copy<int64_t>(x) < 0 ? kPi - r : r;
  r = x != x || y != y ? kNan : r;
  return __builtin_copysign(r, y);
}

// ---- one struct a function
// -----------------------------------------------------------------------

#define LCPY_FUNCTION(name, f64, ...)                                                    \
  struct name {                                                                          \
    LCPY_INLINE float of(float v) {                                                      \
      const double x = v;                                                                \
      __VA_ARGS__                                                                        \
    }                                                                                    \
    LCPY_INLINE double of(double x) { return f64(x); }                                   \
    LCPY_INLINE sem::Half of(sem::Half h) { return sem::float_to_half(of(sem::up(h))); } \
  };
#define LCPY_GIVE(expression) return static_cast<float>(expression);

LCPY_INLINE double ten_to(double x) { return ::pow(10.0, x); }
struct Rsqrt : sem::Rsqrt {};
LCPY_FUNCTION(Exp, ::exp, LCPY_GIVE(power_of_two(x* kLog2E)))
LCPY_FUNCTION(Exp2, ::exp2, LCPY_GIVE(power_of_two(x)))
LCPY_FUNCTION(Exp10, ten_to, LCPY_GIVE(power_of_two(x* kLog2Ten)))
LCPY_FUNCTION(Log, ::log, LCPY_GIVE(natural_log(x)))
LCPY_FUNCTION(Log2, ::log2, {
  const Split s = split(x);
  LCPY_GIVE(log_edges(x, s.exponent + log_near_one(s.m) * kLog2E))
})
LCPY_FUNCTION(Log10, ::log10, {
  const Split s = split(x);
  LCPY_GIVE(log_edges(x, s.exponent * kLogTen2 + log_near_one(s.m) * (kLog2E * kLogTen2)))
})

struct Pow {
  LCPY_INLINE float of(float vx, float vy) {
    const double x = vx, y = vy, a = __builtin_fabs(x);
    const Split s = split(a);
    double t = s.exponent + log_near_one(s.m) * kLog2E;
    t = a == 0.0 ? -kInfinity : t;
    t = a == kInfinity ? kInfinity : t;
    t = t * y;
    t = a == 1.0 ? 0.0 : t;  // also for infinite y
    double r = power_of_two(t);
    r = t == kInfinity ? kInfinity : r;
    r = t == -kInfinity ? 0.0 : r;
    // Integers from 2^24 up are even; floats are exact in double, so rounding tells.
    const double half = y * 0.5, ay = __builtin_fabs(y);
    const bool whole = (ay >= 0x1p24) | (rounded(y) == y);
    const bool odd = whole & (ay < 0x1p24) & (rounded(half) != half);
    const bool negative = bit_copy<int64_t>(x) < 0;
    r = (negative & odd) ? -r : r;
    r = ((x < 0.0) & !whole & (a != kInfinity)) ? kNan : r;
    r = x != x || y != y ? kNan : r;
    r = x == 1.0 ? 1.0 : r;
    r = y == 0.0 ? 1.0 : r;
    return static_cast<float>(r);
  }
  LCPY_INLINE double rounded(double v) { return (v + kRoundMagic) - kRoundMagic; }
  LCPY_INLINE double of(double x, double y) { return ::pow(x, y); }
  LCPY_INLINE sem::Half of(sem::Half x, sem::Half y) {
    return sem::float_to_half(of(sem::up(x), sem::up(y)));
  }
};

// Large arguments go through the C library, lane by lane: see turning_row in chapter_functions.h.
#define LCPY_TURNING(name, f32, f64, expression)                                         \
  struct name {                                                                          \
    LCPY_INLINE float near_zero(float v) {                                               \
      const Turn t = turn(v);                                                            \
      return static_cast<float>(expression);                                             \
    }                                                                                    \
    LCPY_INLINE float of(float x) {                                                      \
      return __builtin_fabsf(x) <= kTurnLimit ? near_zero(x) : f32(x);                   \
    }                                                                                    \
    LCPY_INLINE double of(double x) { return f64(x); }                                   \
    LCPY_INLINE sem::Half of(sem::Half h) { return sem::float_to_half(of(sem::up(h))); } \
  };
LCPY_TURNING(Sin, ::sinf, ::sin, turned(t.r, t.quarter))
LCPY_TURNING(Cos, ::cosf, ::cos, turned(t.r, t.quarter + 1))
LCPY_TURNING(Tan, ::tanf, ::tan,
             (t.quarter & 1) != 0 ? -cosine_core(t.r) / sine_core(t.r)
                                  : sine_core(t.r) / cosine_core(t.r))

LCPY_FUNCTION(Asin, ::asin, LCPY_GIVE(angle(x, __builtin_sqrt((1.0 - x) * (1.0 + x)))))
LCPY_FUNCTION(Acos, ::acos, LCPY_GIVE(angle(__builtin_sqrt((1.0 - x) * (1.0 + x)), x)))
LCPY_FUNCTION(Atan, ::atan, LCPY_GIVE(angle(x, 1.0)))
struct Atan2 {
  LCPY_INLINE float of(float y, float x) { return static_cast<float>(angle(y, x)); }
  LCPY_INLINE double of(double y, double x) { return ::atan2(y, x); }
  LCPY_INLINE sem::Half of(sem::Half y, sem::Half x) {
    return sem::float_to_half(of(sem::up(y), sem::up(x)));
  }
};

// Below 1 in magnitude, where exponentials would cancel, the series of sinh.
LCPY_INLINE double small_sinh(double x) {
  constexpr double c[] = {1.0,          1.0 / 6,        1.0 / 120,         1.0 / 5040,
                          1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800.0};
  return x * polynomial(x * x, c);
}
LCPY_FUNCTION(Sinh, ::sinh, {
  const double e = power_of_two(__builtin_fabs(x) * kLog2E);
  const double large = __builtin_copysign(0.5 * e - 0.5 / e, x);
  LCPY_GIVE(__builtin_fabs(x) < 1.0 ? small_sinh(x) : large)
})
LCPY_FUNCTION(Cosh, ::cosh, {
  const double e = power_of_two(__builtin_fabs(x) * kLog2E);
  LCPY_GIVE(0.5 * e + 0.5 / e)
})
LCPY_FUNCTION(Tanh, ::tanh, {
  const double e = power_of_two(2.0 * kLog2E * __builtin_fabs(x)), s = small_sinh(x);
  const double large = __builtin_copysign(1.0 - 2.0 / (e + 1.0), x);
  LCPY_GIVE(__builtin_fabs(x) < 1.0 ? s / __builtin_sqrt(1.0 + s * s) : large)
})
// Near zero the logarithms' arguments would round to one: two terms of the series instead.
LCPY_FUNCTION(Asinh, ::asinh, {
  const double a = __builtin_fabs(x);
  const double large = __builtin_copysign(natural_log(a + __builtin_sqrt(a * a + 1.0)), x);
  LCPY_GIVE(a < 1e-3 ? x * (1.0 - x * x * (1.0 / 6)) : large)
})
LCPY_FUNCTION(Acosh, ::acosh, {
  const double r = natural_log(x + __builtin_sqrt((x - 1.0) * (x + 1.0)));
  LCPY_GIVE(x < 1.0 ? kNan : r)
})
LCPY_FUNCTION(Atanh, ::atanh, {
  const double a = __builtin_fabs(x);
  const double large = __builtin_copysign(0.5 * natural_log((1.0 + a) / (1.0 - a)), x);
  LCPY_GIVE(a < 1e-3 ? x * (1.0 + x * x * (1.0 / 3)) : a > 1.0 ? kNan : large)
})

#undef LCPY_FUNCTION
#undef LCPY_GIVE
#undef LCPY_TURNING

}  // namespace functions
}  // namespace
}  // namespace lcpy::interp::LCPY_ISA
