// What floats are made of that become integers, and how those integers are used. NVIDIA's compiler
// leaves out the float between an integer or a double and an integer, and the integer between two
// floats, and makes fewer bits of an integer where only they are used. Of a float that it knows to
// be out of an integer's range it makes anything, where its machine saturates.
#pragma once
#include <vector>

#include "kernel/descriptor.h"

namespace lcpy::spirv {

struct MadeOf {
  // By value: it may be an integer or a double that was rounded to float, as it is or a part of it,
  // chosen, negated or rounded to a whole number.
  std::vector<bool> rounded;
  // By value: a float, or a lane of it, that the compiler may know to be out of some integer's
  // range.
  std::vector<bool> extreme;
  // By value: some of its bits may be used alone, or it becomes a float.
  std::vector<bool> in_parts;
};

// What the compiler must not see through where a float becomes an integer.
struct Hides {
  bool number = false, bits = false;
};

// Empty where no float becomes an integer.
MadeOf made_of(const KernelDescriptor& d);

}  // namespace lcpy::spirv
