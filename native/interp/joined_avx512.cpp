// Operations joined in one pass, for avx512.
#include "interp/code.h"
#if LCPY_X86
#define LCPY_ISA avx512
#include "interp/chapter_joined.h"
#endif
