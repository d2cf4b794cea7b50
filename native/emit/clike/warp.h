// Warp operations that C-like languages do on scalars of 32 and 64 bits; the others are expanded.
#pragma once
#include "kernel/descriptor.h"

namespace lcpy::clike {

// Minima of floats are not among them: their NaNs and zeros come right through integers.
bool keeps_warp(Op op, Type first);
// Whether the result depends on which lanes are here.
bool needs_lanes(Op op);
// Whether the order of the lanes shows in the result.
bool sums_floats(Op op, Type first);

}  // namespace lcpy::clike
