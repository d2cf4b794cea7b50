// The door: expand, preflight, emit.
#include "emit/emit.h"
#include "base/error.h"
#include "emit/spirv/emitter.h"
#include "lower/lower.h"

namespace lcpy {

SpirvModule emit_spirv(const KernelDescriptor& d, const BindingPlan& plan,
                       const VulkanTarget& target) {
  if (target.version < 10 || target.version > 14)
    throw ArgumentError("Vulkan version " + std::to_string(target.version) +
                        ": 10 to 14 are wanted");
  const auto prepared = [&] {
    KernelDescriptor own = d;
    pass_external(own, "", "Vulkan");
    pass_sequential(own);
    if (target.unroll_short_loops) {
      pass_split(own);
      pass_unroll(own);
    }
    return own;
  };
  KernelDescriptor expanded = prepared();
  OwnFunctions own;
  own.float32 = target.own_functions;
  own.float16 = true;
  own.float64 = true;  // GLSL.std.450 has none
  own.fused_fma = target.fused_fma;
  pass_expand(expanded, spirv::native_ops(target), own);
  if (!target.float16 && spirv::computes_half(expanded, plan, target)) {
    expanded = prepared();
    pass_widen(expanded);
    pass_expand(expanded, spirv::native_ops(target), own);
  }
  const spirv::Needs needs = spirv::preflight(expanded, plan, target);
  return spirv::Emitter(expanded, plan, target, needs).run();
}

}  // namespace lcpy
