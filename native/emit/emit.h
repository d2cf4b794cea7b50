// What every target shares: where the plan put each slot, options, preflight.
#pragma once
#include <cstdint>
#include <string>
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
// Set 0, bindings in slot order; the block pushed up to 128 bytes, else a storage buffer in set 1.
BindingPlan default_plan(const KernelDescriptor& d);

struct VulkanTarget {
  uint32_t version = 12;  // 11, 12, 13 → SPIR-V 1.3, 1.5, 1.6
  bool names = false;     // OpName, OpMemberName
  bool lines = false;     // OpLine with Python files and lines
  // What the device has. Without int8 or int16, values are held in 32 bits; without float16, halves
  // as their bits; without storage8 or storage16, buffers of such values are words, whose parts are
  // written by atomics. The preflight refuses what else is missing, by name.
  bool int8 = true, int16 = true, int64 = true, float16 = true, float64 = true;
  bool storage8 = true, storage16 = true;
  // VK_EXT_shader_atomic_float: float32 atomics and float32 add, both features enabled.
  bool buffer_float_add = true, shared_float_add = true;
  bool int64_atomics = true;
  // Kinds of subgroup operations in compute shaders.
  bool subgroup_basic = true, subgroup_vote = true, subgroup_ballot = true;
  bool subgroup_arithmetic = true, subgroup_shuffle = true;
  bool clock = true;  // VK_KHR_shader_clock, of subgroups
  // VK_KHR_shader_maximal_reconvergence: lanes that part come together as the program reads.
  bool maximal_reconvergence = false;
  uint32_t block_x = 1024;                   // threads of a block along x, at the most
  bool signed_zero_inf_nan_preserve = true;  // float controls, by width 32
  bool denorm_preserve = false;  // likewise: denormal floats are kept where the device can
  // The same by widths 16 and 64, and conversions to half that round to nearest even.
  bool signed_zero_inf_nan_preserve16 = false, signed_zero_inf_nan_preserve64 = false;
  bool denorm_preserve16 = false, denorm_preserve64 = false, round_even16 = false;
  // GLSL.std.450's Fma rounds once here. Vulkan does not promise it, and llvmpipe rounds twice;
  // without it fma is computed in double.
  bool fused_fma = true;
  // float and half division and square root are rounded as IEEE says. Vulkan promises less, and
  // hardware GPUs do less; without this ieee and strict mode correct them.
  bool exact_division = false;
  // 1 / x and GLSL.std.450's InverseSqrt are as close as NVIDIA's units make them: exact division
  // and roots take fewer steps from there.
  bool close_reciprocals = false;
  // Functions of float that ieee and strict mode compute by the core's own versions, a bit for
  // each row of lower/own.def: Vulkan bounds most of them loosely or not at all, and has none of
  // double, which always are the core's own.
  uint32_t own_functions = ~0u;
  // A literal 0 in arithmetic is a number like any other. llvmpipe takes x * 0 for 0, 0 - x for -x
  // and c ? -1 : 0 for -0; without this the zeros are hidden from it.
  bool exact_zeros = true;
  // A sign-extended int compares with constants as it should. llvmpipe gets that wrong; without
  // this the extension is written without OpSConvert.
  bool sound_extension = true;
  // A choice between constants keeps the sign of a zero among them. NVIDIA's compiler makes of some
  // a conversion of integers; without this such zeros are hidden from it.
  bool sound_choices = true;
  // A loop carries any value. NVIDIA's compiler dies of some that carry bools or values that change
  // places, and unrolls some of which it knows that they turn once at most to turn always. Without
  // this bools are carried as integers, changed places are hidden, and such loops are not unrolled.
  bool sound_loops = true;
  // A float that is made an integer was rounded before, and the integer has all its bits. NVIDIA's
  // compiler converts what the float was made of, or to fewer bits if only they are used; without
  // this it cannot tell what comes in and where it goes.
  bool sound_rounding = true;
  // NVIDIA's machine: minima of floats have -0 below +0, and conversions of floats to integers of
  // 32 and 64 bits saturate, of which SPIR-V promises neither; minima of 8 and 16 bits may be wrong
  // where they are compared, and so are made of 32.
  bool nvidia_arithmetic = false;
  // NVIDIA's driver: unrolls the shortest loops only when asked to, and moves structs with padding
  // byte by byte, so that those that flow are split into their members.
  bool unroll_short_loops = false;
  // A loop's header may hold its test. llvmpipe forgets which way lanes left such a loop where
  // others went on to the next turn early; without this the test of these stands in the body.
  bool sound_headers = true;
  // An atomic's order is one of memory. llvmpipe makes of it a barrier for all threads of a block,
  // whoever comes there; without this atomics are relaxed, its own being sequentially consistent.
  bool sound_orders = true;
  // The hardware grid is not the dispatch's but any that holds as many blocks: block_id comes from
  // the linear index of the hardware's group, and groups past the last block leave at once.
  bool fold = false;
};
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
