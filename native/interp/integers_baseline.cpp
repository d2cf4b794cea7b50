// Element-wise operations on 32- and 64-bit integers, for baseline.
#include "interp/code.h"
#define LCPY_ISA baseline
#define LCPY_FILL fill_integers
#define LCPY_INTS(X, ...)        \
  X(Int32, int32_t, __VA_ARGS__) \
  X(UInt32, uint32_t, __VA_ARGS__) X(Int64, int64_t, __VA_ARGS__) X(UInt64, uint64_t, __VA_ARGS__)
#define LCPY_FLOATS(X, ...)
#include "interp/chapter_arithmetic.h"
