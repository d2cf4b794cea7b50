// What is known of loops without running them.
#pragma once
#include "kernel/descriptor.h"

namespace lcpy {

// Whether a value is a constant integer that int64_t holds, and which.
bool known_integer(const KernelDescriptor& d, ValueId v, int64_t* out);

// How often a loop runs at most, that begins with the test of a counter, which counts up in
// constant steps from one constant to another without wrapping around; 0 of any other.
uint64_t known_turns(const KernelDescriptor& d, const Operation& loop);

// Operations of a body, of those within and of the functions called there, times the turns of loops
// that are known. Stops counting soon after `enough`.
uint64_t weight(const KernelDescriptor& d, BodyId body, uint64_t enough);

// A loop that is worth its length when it is written out: constant tables become literals, local
// arrays registers.
inline constexpr uint64_t kMostTurns = 16, kMostUnrolled = 800;  // operations in all
inline bool is_short_loop(uint64_t turns, uint64_t weight) {
  return turns <= kMostTurns && turns * weight <= kMostUnrolled;
}

}  // namespace lcpy
