// The plan of those who have no planner.
#include "emit/emit.h"

namespace lcpy {

// What every Vulkan device has room for (maxPushConstantsSize).
static constexpr uint32_t kPushBytes = 128;

BindingPlan default_plan(const KernelDescriptor& d) {
  BindingPlan plan;
  plan.slots.resize(d.slots.size());
  uint32_t binding = 0;
  for (size_t i = 0; i < d.slots.size(); i++)
    if (d.slots[i].memory == MemoryClass::Global) plan.slots[i] = {0, binding++};
  if (argument_block(d).size > kPushBytes) {
    plan.block = BindingPlan::Block::Storage;
    plan.block_place = {1, 0};
  }
  return plan;
}

}  // namespace lcpy
