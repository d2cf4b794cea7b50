// What a descriptor tells about itself, and the one layout of the argument block.
#include "kernel/descriptor.h"

#include "base/error.h"
#include "kernel/text.h"
#include "kernel/walk.h"

namespace lcpy {
namespace {

uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace

std::span<const std::byte> KernelDescriptor::constant_bytes(ValueId v) const {
  LCPY_CHECK(is_constant(v));
  const Constant& c = constants[values[v.value].source];
  return {constant_data.data() + c.data, static_cast<size_t>(c.type.size())};
}

bool KernelDescriptor::uses_barrier() const {
  bool found = false;
  walk_functions(*this,
                 [&](OpId, const Operation& o) { found |= op_row(o.op).sync == OpSync::Uniform; });
  return found;
}

bool KernelDescriptor::uses_warp() const {
  bool found = false;
  walk_functions(*this, [&](OpId, const Operation& o) {
    found |= op_row(o.op).category == OpCategory::Warp;
  });
  return found;
}

bool KernelDescriptor::uses_shared() const {
  for (const Slot& s : slots)
    if (s.memory == MemoryClass::Shared) return true;
  return false;
}

SlotId KernelDescriptor::report_tag() const {
  for (uint32_t i = 0; i < slots.size(); i++)
    if (slots[i].report && slots[i].memory == MemoryClass::Uniform) return SlotId(i);
  return {};
}

SlotId KernelDescriptor::report_memory() const {
  for (uint32_t i = 0; i < slots.size(); i++)
    if (slots[i].report && slots[i].memory == MemoryClass::Global) return SlotId(i);
  return {};
}

uint64_t KernelDescriptor::shared_bytes() const {
  uint64_t end = 0;
  for (const Slot& s : slots)
    if (s.memory == MemoryClass::Shared) end = round_up(end, s.type.align()) + s.type.size();
  return end;
}

// The text is canonical (values are numbered as they appear), so equal programs hash alike whatever
// passes left behind in the vectors.
uint64_t KernelDescriptor::hash() const {
  const std::string text = to_text(*this, TextOptions{.names = false, .spans = false});
  uint64_t h = 0xcbf29ce484222325ull;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    for (size_t k = 0; k < 8; k++)
      word |= uint64_t(static_cast<unsigned char>(text[i + k])) << (8 * k);
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  for (; i < text.size(); i++) h = (h ^ static_cast<unsigned char>(text[i])) * 0x100000001b3ull;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

ArgumentBlock argument_block(const KernelDescriptor& d) {
  ArgumentBlock block;
  block.entries.resize(d.slots.size());
  uint64_t end = ArgumentBlock::kHeader;
  auto place = [&](uint64_t size, uint64_t align) {
    end = round_up(end, align);
    const uint64_t at = end;
    end += size;
    LCPY_CHECK(end < ArgumentBlock::kNone);
    return static_cast<uint32_t>(at);
  };
  for (size_t i = 0; i < d.slots.size(); i++)
    if (d.slots[i].memory == MemoryClass::Uniform)
      block.entries[i].value = place(d.slots[i].type.size(), d.slots[i].type.align());
  for (size_t i = 0; i < d.slots.size(); i++) {
    const Slot& s = d.slots[i];
    if (s.memory != MemoryClass::Global) continue;
    if (s.length_used) block.entries[i].length = place(8, 8);
    if (s.extents_used) block.entries[i].extents = place(12, 4);
    if (d.view_offsets) block.entries[i].base = place(8, 8);
  }
  block.size = static_cast<uint32_t>(round_up(end, 16));
  return block;
}

}  // namespace lcpy
