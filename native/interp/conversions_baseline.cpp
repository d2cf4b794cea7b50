// The conversions chapter, for baseline.
#include "interp/code.h"
#define LCPY_ISA baseline
#include "interp/chapter_conversions.h"
