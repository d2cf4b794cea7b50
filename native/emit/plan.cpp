// The plan of those who have no planner.
#include "emit/emit.h"
#include "kernel/walk.h"

namespace lcpy {

// What every Vulkan device has room for (maxPushConstantsSize).
static constexpr uint32_t kPushBytes = 128;

bool indexes_arguments(const KernelDescriptor& d) {
  bool found = false;
  walk_functions(d, [&](OpId, const Operation& o) {
    const auto operands = d.operands_of(o);
    if (o.op != Op::Load || d.slot(operands[0].slot()).memory != MemoryClass::Uniform) return;
    for (const Operand& x : operands.subspan(1))
      found = found || (x.is_value() && !d.is_constant(x.value()));
  });
  return found;
}

std::vector<bool> counted_in_32_bits(const KernelDescriptor& d) {
  std::vector<bool> found(d.slots.size());
  walk_functions(d, [&](OpId, const Operation& o) {
    if (o.op == Op::BufferLength && !(o.flags & kSaturatingFlag))
      found[d.operands_of(o)[0].index] = true;
  });
  return found;
}

BindingPlan default_plan(const KernelDescriptor& d) {
  BindingPlan plan;
  plan.slots.resize(d.slots.size());
  uint32_t binding = 0;
  for (size_t i = 0; i < d.slots.size(); i++)
    if (d.slots[i].memory == MemoryClass::Global) plan.slots[i] = {0, binding++};
  if (argument_block(d).size > kPushBytes || indexes_arguments(d)) {
    plan.block = BindingPlan::Block::Storage;
    plan.block_place = {1, 0};
  }
  return plan;
}

}  // namespace lcpy
