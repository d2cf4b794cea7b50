// What every target shares: where the plan put each slot, options, preflight.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/descriptor.h"

namespace lcpy {

// Where the host binds things. Made by Python's planner, or by default_plan for embedders.
struct BindingPlan {
  struct Place {
    uint32_t set = 0, binding = 0;
  };
  std::vector<Place> slots;  // by slot index; only Global slots' places are read
  enum class Block : uint8_t { Push, Uniform, Storage };
  Block block = Block::Push;  // how the argument block arrives on Vulkan
  Place block_place;          // of Uniform and Storage
};
// Whether the kernel indexes its by-value arguments at run time. The block may not be pushed then:
// Vulkan lets threads index push constants alike only.
bool indexes_arguments(const KernelDescriptor& d);
// By slot: whether the kernel asks for a buffer's length in 32 bits, so that no longer one fits.
std::vector<bool> counted_in_32_bits(const KernelDescriptor& d);
// Set 0, bindings in slot order; the block pushed up to 128 bytes, else a storage buffer in set 1.
BindingPlan default_plan(const KernelDescriptor& d);

struct VulkanTarget {
  uint32_t version = 12;    // 10, 11, 12, 13, 14 → SPIR-V 1.0, 1.3, 1.5, 1.6, 1.6
  uint32_t block_x = 1024;  // threads of a block along x, at the most
  // Functions of float that ieee and strict mode compute by the core's own versions, a bit for
  // each row of lower/own.def: Vulkan bounds most of them loosely or not at all, and has none of
  // double, which always are the core's own.
  uint32_t own_functions = ~0u;
#define FLAG(name, unless_told) bool name = unless_told;
#include "emit/vulkan.def"
#undef FLAG
};
// Sets a flag by its name in vulkan.def; false when there is none.
bool set_flag(VulkanTarget& target, std::string_view name, bool value);
std::vector<std::pair<std::string, bool>> flags_of(const VulkanTarget& target);

struct SpirvModule {
  std::vector<uint32_t> words;
  std::vector<std::string> capabilities;  // names, sorted
  std::vector<std::string> extensions;
  uint64_t shared_bytes = 0;  // more than the descriptor's where narrow values are held in 32 bits
};
// Runs pass_expand with SPIR-V's native set on a copy, then emits. UnsupportedError from preflight.
SpirvModule emit_spirv(const KernelDescriptor& d, const BindingPlan& plan,
                       const VulkanTarget& target);

struct OpenclTarget {
  uint32_t version = 12;  // 12, 20, 30
  bool fp64 = true, fp16 = false, int64_atomics = true;
  // cl_khr_subgroups, and of its relatives _non_uniform_vote, _ballot, _non_uniform_arithmetic and
  // _shuffle.
  bool subgroups = false, subgroup_vote = false, subgroup_ballot = false;
  bool subgroup_arithmetic = false, subgroup_shuffle = false;
  bool ptx = false;                 // NVIDIA's compiler: takes PTX within OpenCL C
  bool clock = false;               // cl_khr_kernel_clock, of devices
  bool restrict_ = false;           // as CudaTarget's
  bool correct_divide_sqrt = true;  // CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, for strict
  // As VulkanTarget's, for devices that miss what OpenCL asks of them; likewise of double.
  uint32_t own_functions = 0;
  bool own_double_functions = false;
};
// OpenCL C of one `__kernel void lcpy_main(<one __global pointer per Global slot, in slot order>,
// lcpy_block args)`, where lcpy_block is struct { uint w[size / 4]; } of the argument block.
std::string emit_opencl(const KernelDescriptor& d, const OpenclTarget& target);
// What to pass to the driver's compiler with it.
std::string opencl_build_options(const KernelDescriptor& d, const OpenclTarget& target);

struct CudaTarget {
  uint32_t arch = 75;  // compute capability, 75 for 7.5 (sm_75); at least 75
  bool fold = false;   // as VulkanTarget's, for grids beyond 2^31 - 1 by 65535 by 65535 blocks
  // No two buffers of a launch overlap, and each has fewer than 2^31 elements: pointers are
  // __restrict__, and elements near one another are reached from one address.
  bool restrict_ = false;
};
// CUDA C++17 of one `extern "C" __global__ void lcpy_main(<one pointer per Global slot, in slot
// order>, lcpy_block args)`, self-contained: NVRTC and nvcc compile it without any header.
// lcpy_block is struct { uint w[size / 4]; } of the argument block. Shared memory beyond 48 KiB is
// dynamic: the launch passes cuda_dynamic_shared(d) bytes, which is 0 below that.
std::string emit_cuda(const KernelDescriptor& d, const CudaTarget& target);
// What to pass to NVRTC or nvcc with it, besides the architecture.
std::string cuda_build_options(const KernelDescriptor& d, const CudaTarget& target);
uint64_t cuda_dynamic_shared(const KernelDescriptor& d);

}  // namespace lcpy
