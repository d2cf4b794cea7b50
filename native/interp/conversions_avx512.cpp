// The conversions chapter, for avx512.
#include "interp/code.h"
#if LCPY_X86
#define LCPY_ISA avx512
#include "interp/chapter_conversions.h"
#endif
