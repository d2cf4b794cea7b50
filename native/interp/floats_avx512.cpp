// Element-wise operations on floats, for avx512.
#include "interp/code.h"
#if LCPY_X86
#define LCPY_ISA avx512
#define LCPY_FILL fill_floats
#define LCPY_INTS(X, ...)
#define LCPY_FLOATS(X, ...) \
  X(Float16, sem::Half, __VA_ARGS__) X(Float32, float, __VA_ARGS__) X(Float64, double, __VA_ARGS__)
#include "interp/chapter_arithmetic.h"
#endif
