// Operations joined in one pass, for baseline.
#include "interp/code.h"
#define LCPY_ISA baseline
#include "interp/chapter_joined.h"
