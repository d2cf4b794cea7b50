// Element-wise operations on 8- and 16-bit integers, for avx512.
#include "interp/code.h"
#if LCPY_X86
#define LCPY_ISA avx512
#define LCPY_FILL fill_narrow
#define LCPY_INTS(X, ...)      \
  X(Int8, int8_t, __VA_ARGS__) \
  X(UInt8, uint8_t, __VA_ARGS__) X(Int16, int16_t, __VA_ARGS__) X(UInt16, uint16_t, __VA_ARGS__)
#define LCPY_FLOATS(X, ...)
#include "interp/chapter_arithmetic.h"
#endif
