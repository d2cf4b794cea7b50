// Which values are certainly the same in every thread of a block that computes them.
#pragma once
#include <vector>

#include "kernel/descriptor.h"

namespace lcpy {

// By value id. Memory that anything may write, calls and parameters of callables count as
// different. Linear: a value turns different once, and only its users are looked at again.
std::vector<bool> uniform_values(const KernelDescriptor& d);

}  // namespace lcpy
