// The memory chapter, for baseline.
#include "interp/code.h"
#define LCPY_ISA baseline
#include "interp/chapter_memory.h"
