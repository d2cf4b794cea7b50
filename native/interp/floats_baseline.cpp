// Element-wise operations on floats, for baseline.
#include "interp/code.h"
#define LCPY_ISA baseline
#define LCPY_FILL fill_floats
#define LCPY_INTS(X, ...)
#define LCPY_FLOATS(X, ...) \
  X(Float16, sem::Half, __VA_ARGS__) X(Float32, float, __VA_ARGS__) X(Float64, double, __VA_ARGS__)
#include "interp/chapter_arithmetic.h"
