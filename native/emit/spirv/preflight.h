// What a descriptor needs of SPIR-V and of the device, found before anything is emitted. A need
// that the target does not meet is an UnsupportedError naming it; all of them are reported
// together.
#pragma once
#include <vector>

#include "emit/emit.h"

namespace lcpy::spirv {

struct Needs {
  // Arithmetic on narrow types, beyond loading, storing and converting them.
  bool int8 = false, int16 = false, float16 = false;
  bool storage8 = false, storage16 = false;                      // narrow types in buffers
  bool float32 = false, holds_float16 = false, float64 = false;  // of any use
  bool barrier = false;
  bool warp = false;
  bool ordered = false;  // an atomic that hands memory on
  bool int64_atomics = false, buffer_float_add = false, shared_float_add = false;
  // Slots whose floats are held as bits, because an atomic on them is a compare-and-swap loop.
  std::vector<bool> bits;
  // Buffers that hold narrower values than the device's may: declared as words.
  std::vector<bool> words;
  // Slots that an operation reaches, and how many of them are buffers.
  std::vector<bool> reached;
  uint32_t buffers = 0;
  bool writes_buffer = false;
  uint64_t shared_bytes = 0;  // at least, as declared
};
// Whether a kernel needs more of half than to load, convert and store it.
bool computes_half(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target);
Needs preflight(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target);

// Where a driver nests what follows a return, functions with more returns are emitted in a loop.
inline constexpr uint32_t kFewReturns = 4;

// True when Vulkan's instructions do this atomic on a float place themselves.
bool native_float_atomic(Op op, Type type, MemoryClass memory, const VulkanTarget& target);

// Whether halves are taken as bits where they are made longer. NVIDIA's compiler leaves out the
// rounding of what only such a conversion reads.
bool hides_half(const KernelDescriptor& d, ValueId v, bool sound_rounding);

// The type of the place that a chain of operands reaches: [Slot, …], the chain from `first` on.
Type place_type(const KernelDescriptor& d, std::span<const Operand> operands, size_t first);

}  // namespace lcpy::spirv
