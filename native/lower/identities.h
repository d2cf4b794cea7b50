// Identities of single operations that keep every bit of the result: x * 1 is x, x * 0 is 0 on
// integers only, x + 0.0 is not x for x = -0.0. Used by pass_simplify.
#pragma once
#include "kernel/descriptor.h"

namespace lcpy::lower {

// A value equal to the operation's single result: an existing one, a constant, or one whose simpler
// operations are appended where the builder stands. None when the operation is as simple as it
// gets.
ValueId simplify_operation(KernelDescriptor& d, KernelBuilder& b, const Operation& o);
// The same for operations on components: Extract, Insert, Construct, Shuffle.
ValueId simplify_components(KernelDescriptor& d, KernelBuilder& b, const Operation& o);

}  // namespace lcpy::lower
