// Transcendental functions on scalars, one struct each.
#pragma once
#include <cmath>

#include "interp/loops.h"

namespace lcpy::interp::LCPY_ISA {
namespace {
namespace functions {

#define LCPY_FUNCTION(name, f32, f64)                                                       \
  struct name {                                                                             \
    LCPY_INLINE float of(float x) { return f32(x); }                                        \
    LCPY_INLINE double of(double x) { return f64(x); }                                      \
    LCPY_INLINE sem::Half of(sem::Half h) { return sem::float_to_half(of(sem::up(h))); }    \
  };
#define LCPY_FUNCTION2(name, f32, f64)                                                      \
  struct name {                                                                             \
    LCPY_INLINE float of(float x, float y) { return f32(x, y); }                            \
    LCPY_INLINE double of(double x, double y) { return f64(x, y); }                         \
    LCPY_INLINE sem::Half of(sem::Half x, sem::Half y) {                                    \
      return sem::float_to_half(of(sem::up(x), sem::up(y)));                                \
    }                                                                                       \
  };
LCPY_FUNCTION(Rsqrt, sem::Rsqrt::of, sem::Rsqrt::of)
LCPY_FUNCTION(Exp, expf, exp)
LCPY_FUNCTION(Exp2, exp2f, exp2)
LCPY_FUNCTION(Exp10, exp10f, exp10)
LCPY_FUNCTION(Log, logf, log)
LCPY_FUNCTION(Log2, log2f, log2)
LCPY_FUNCTION(Log10, log10f, log10)
LCPY_FUNCTION2(Pow, powf, pow)
LCPY_FUNCTION(Sin, sinf, sin)
LCPY_FUNCTION(Cos, cosf, cos)
LCPY_FUNCTION(Tan, tanf, tan)
LCPY_FUNCTION(Asin, asinf, asin)
LCPY_FUNCTION(Acos, acosf, acos)
LCPY_FUNCTION(Atan, atanf, atan)
LCPY_FUNCTION2(Atan2, atan2f, atan2)
LCPY_FUNCTION(Sinh, sinhf, sinh)
LCPY_FUNCTION(Cosh, coshf, cosh)
LCPY_FUNCTION(Tanh, tanhf, tanh)
LCPY_FUNCTION(Asinh, asinhf, asinh)
LCPY_FUNCTION(Acosh, acoshf, acosh)
LCPY_FUNCTION(Atanh, atanhf, atanh)
#undef LCPY_FUNCTION
#undef LCPY_FUNCTION2

}  // namespace functions
}  // namespace
}  // namespace lcpy::interp::LCPY_ISA
