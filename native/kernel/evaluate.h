// Evaluates one pure value operation on constants, by the same scalar arithmetic that the
// interpreter's loops are made of (kernel/semantics.h), so that folded and run-time bits agree.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/op.h"
#include "types/type.h"

namespace lcpy {

// Operands and the result are bytes in memory layout. False when this op and type cannot be folded
// exactly on every target (transcendental functions, memory, control).
bool evaluate(Op op, Type result, std::span<const Type> types,
              std::span<const std::span<const std::byte>> operands,
              std::span<const uint32_t> immediates, std::span<std::byte> out);

}  // namespace lcpy
