// Bits of scalars made from Python's numbers: rounded to nearest even, once.
#pragma once
#include <cstdint>

#include "types/type.h"

namespace lcpy {

// binary16 of a double, rounded once (a step through float would round twice).
uint16_t half_bits(double value);

// The low bits hold the scalar: floats rounded to nearest, integers truncated and saturated
// (NaN gives 0), bool by value != 0. Storage kinds are refused by BugError.
uint64_t scalar_bits(Scalar s, double value);

}  // namespace lcpy
