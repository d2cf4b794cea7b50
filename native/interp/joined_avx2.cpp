// Operations joined in one pass, for avx2.
#include "interp/code.h"
#if LCPY_X86
#define LCPY_ISA avx2
#include "interp/chapter_joined.h"
#endif
