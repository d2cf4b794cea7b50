// Layout: the one place that computes sizes, alignments, strides and offsets. Every other layout
// (SPIR-V offsets, OpenCL structs, NumPy dtypes, the argument block) reads what this wrote.
#pragma once
#include "types/type.h"

namespace lcpy {

inline constexpr uint32_t kMaxAlign = 4096;
inline constexpr uint64_t kMaxValueBytes = 0xffffffffull;

constexpr uint64_t round_up(uint64_t n, uint64_t align) { return (n + align - 1) / align * align; }

// Fills size, align, stride, packed_size and offsets of a record whose kind and parts are set. A
// struct's align holds what was asked for, or 0. False when a value would be over kMaxValueBytes.
bool compute_layout(TypeInfo& info);

}  // namespace lcpy
