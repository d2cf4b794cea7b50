// Single instructions of PTX, for the dialects that NVIDIA's compilers read.
#pragma once
#include <span>
#include <string_view>

#include "emit/clike/dialect.h"

namespace lcpy::clike {

// Defines `name`, the instruction as a function of values a, b. `returned` is in terms of those and
// of its result, r.
void define_ptx(Text& t, const Dialect& dialect, std::string_view name,
                std::string_view instruction, Scalar result, std::span<const Scalar> parameters,
                std::string_view returned = "r");

// A conversion of float or double to an integer of 32 or 64 bits that saturates.
void define_saturating(Text& t, const Dialect& dialect, std::string_view name, Scalar to,
                       Scalar from);

// min_strict or max_strict of floats: the machine has -0 below +0.
std::string_view strict_extreme(Op op);
void define_strict_extreme(Text& t, const Dialect& dialect, Op op);

// The float or double with the bits of an unsigned integer, or that integer again, which the
// compiler cannot tell.
void define_unseen(Text& t, const Dialect& dialect, std::string_view name, Scalar to);

}  // namespace lcpy::clike
