// Slots become variables, the argument block an array of words, constants OpConstant.
#include <cstring>

#include "base/error.h"
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {
namespace {

struct BuiltinRow {
  BuiltIn builtin;
  const char* name;
  uint32_t lanes;
};
constexpr BuiltinRow kBuiltins[] = {
    {BuiltIn::LocalInvocationId, "thread_id", 3},        {BuiltIn::WorkgroupId, "block_id", 3},
    {BuiltIn::GlobalInvocationId, "dispatch_id", 3},     {BuiltIn::NumWorkgroups, "blocks", 3},
    {BuiltIn::LocalInvocationIndex, "thread_index", 1},  {BuiltIn::SubgroupSize, "warp_size", 1},
    {BuiltIn::SubgroupLocalInvocationId, "warp_lane", 1}};

bool has(Access a, Access bit) { return (static_cast<int>(a) & static_cast<int>(bit)) != 0; }

}  // namespace

// ---- constants ------------------------------------------------------------------------------

Word Emitter::late_constant(ValueId v) {
  LCPY_CHECK(d_.is_constant(v));
  const Type t = d_.type_of(v);
  const std::byte* bytes = d_.constant_bytes(v).data();
  if (!hides() || !hides_zeros(t, bytes)) return ids_[v.value] = constant(t, bytes);
  return hidden_constant(v);
}

Word Emitter::hidden_constant(ValueId v) {
  const Type t = d_.type_of(v);
  const std::byte* bytes = d_.constant_bytes(v).data();
  const auto known = hidden_constants_.find(v.value);
  if (known != hidden_constants_.end()) return known->second;
  Words* const current = out_;
  out_ = &early_;
  const bool whole = hides() && t.is_lanes() && t.is_float();
  const Word id = whole ? hidden_number(t, bytes) : with_hidden_zeros(t, bytes);
  out_ = current;
  return hidden_constants_[v.value] = id;
}

// A value that is chosen, or passed on to where ways meet.
Word Emitter::choice(ValueId v) {
  if (!hides_choices() || !d_.is_constant(v)) return value(v);
  const Type t = d_.type_of(v);
  return hides_zeros(t, d_.constant_bytes(v).data()) ? hidden_constant(v) : value(v);
}

// A value on its way to where nothing is known of it but by the driver: less itself, any number may
// become a zero there.
Word Emitter::unseen(ValueId v) {
  const Type t = d_.type_of(v);
  const bool number = d_.is_constant(v) && t.is_lanes() && t.is_float();
  return number && hides() ? hidden_constant(v) : choice(v);
}

// SPIR-V 1.6, 2.2.1: narrow literals fill a word, sign-extended for signed types.
Word Emitter::scalar_constant(Scalar s, uint64_t bits) {
  const uint32_t size = scalar_size(s);
  if (s == Scalar::Bool) return m_.constant_bool((bits & 0xff) != 0);
  if (size < 4) {
    const uint32_t shift = 32 - size * 8;
    const uint32_t high = static_cast<uint32_t>(bits) << shift;
    bits = scalar_class(s) == ScalarClass::Signed
               ? static_cast<uint32_t>(static_cast<int32_t>(high) >> shift)
               : high >> shift;
  }
  const Word words[] = {static_cast<Word>(bits), static_cast<Word>(bits >> 32)};
  return m_.constant(lanes(s), std::span(words, size == 8 ? 2 : 1));
}

Word Emitter::lane_constant(Scalar s, uint32_t count, uint64_t bits) {
  const Word one = scalar_constant(s, bits);
  if (count == 1) return one;
  const Word parts[] = {one, one, one, one};
  return m_.constant_composite(lanes(s, count), std::span(parts, count));
}

Word Emitter::constant(Type t, const std::byte* bytes) {
  if (t.is_scalar()) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, t.size());  // the layout is little-endian, as every host we build on
    return scalar_constant(t.scalar(), bits);
  }
  const uint64_t size = t.size();
  bool zero = true;
  for (uint64_t i = 0; i < size && zero; i++) zero = bytes[i] == std::byte{0};
  if (zero) return m_.constant_null(type(t));
  std::vector<Word> parts(t.count());
  for (uint64_t i = 0; i < parts.size(); i++)
    parts[i] = constant(t.component(i), bytes + t.offset(i));
  return m_.constant_composite(type(t), parts);
}

// ---- slots ----------------------------------------------------------------------------------

Emitter::SlotState& Emitter::slot(SlotId id) {
  SlotState& s = slots_[id.value];
  if (s.variable) return s;
  const Slot& slot = d_.slot(id);
  switch (slot.memory) {
    case MemoryClass::Global:
      declare_global(id, s);
      break;
    case MemoryClass::Shared:
      s.storage = StorageClass::Workgroup;
      s.family = needs_.bits[id.value] ? Family::Bits : Family::Value;
      s.variable = m_.variable(types_.pointer(s.storage, slot.type, s.family), s.storage);
      break;
    case MemoryClass::Constant: {
      s.storage = StorageClass::Private;
      const Word table = constant(slot.type, slot.data.data());
      s.variable = m_.variable(types_.pointer(s.storage, slot.type, s.family), s.storage, table);
      break;
    }
    case MemoryClass::Scratch:
      s.storage = StorageClass::Function;
      s.variable = m_.new_id();
      head_.op(Opcode::Variable, types_.pointer(s.storage, slot.type, s.family), s.variable,
               s.storage);
      break;
    default:
      throw BugError("slot '" + slot.name + "' is not a place");
  }
  if (target_.names) m_.name(s.variable, slot.name);
  return s;
}

// struct { T elements[]; } at its set and binding. Slots of one type and access share it.
void Emitter::declare_global(SlotId id, SlotState& s) {
  const Slot& slot = d_.slot(id);
  s.storage = StorageClass::StorageBuffer;
  s.family = needs_.bits[id.value] ? Family::LaidBits : Family::Laid;
  // A GPU reads four lanes at once and three one by one; the fourth is padding.
  const Type element = slot.type.element();
  s.padded = s.family == Family::Laid && element.is_vector() && element.lanes() == 3 &&
             scalar_size(element.scalar()) == 4;
  // Not what is only read with what is written too: NVIDIA's compiler takes "only read" for a
  // property of the type, and reads of what was just written then come from a cache.
  const bool reads = has(slot.access, Access::Read), writes = has(slot.access, Access::Write);
  for (size_t i = 0; i < slots_.size() && !s.pointer_type; i++)
    if (slots_[i].pointer_type && d_.slots[i].type == slot.type && slots_[i].family == s.family &&
        needs_.words[i] == needs_.words[id.value] && d_.slots[i].access == slot.access)
      s.pointer_type = slots_[i].pointer_type;
  if (!s.pointer_type) {
    const bool bytes = element.is_void() || needs_.words[id.value];
    const Word held = bytes      ? lanes(Scalar::UInt32)
                      : s.padded ? lanes(element.scalar(), 4)
                                 : types_.id(element, s.family);
    const Word array = m_.new_runtime_array(held);
    m_.decorate(array, Decoration::ArrayStride, bytes ? 4u : static_cast<Word>(slot.type.stride()));
    const Word block = m_.new_struct(std::span(&array, 1));
    m_.decorate(block, Decoration::Block);
    m_.decorate_member(block, 0, Decoration::Offset, 0u);
    if (!bytes) decorate_matrix_member(m_, block, 0, element, s.family);
    s.pointer_type = m_.type_pointer(s.storage, block);
  }
  s.variable = m_.variable(s.pointer_type, s.storage);
  const BindingPlan::Place at = plan_.slots[id.value];
  m_.decorate(s.variable, Decoration::DescriptorSet, at.set);
  m_.decorate(s.variable, Decoration::Binding, at.binding);
  if (!writes) m_.decorate(s.variable, Decoration::NonWritable);
  // Parts of words are written by atomics, which read.
  const bool words = slot.type.element().is_void() || needs_.words[id.value];
  if (!reads && !words) m_.decorate(s.variable, Decoration::NonReadable);
  // The host may bind one buffer to several slots.
  if (needs_.buffers > 1 && needs_.writes_buffer) m_.decorate(s.variable, Decoration::Aliased);
  // What threads of a block hand to one another through memory must not stay in a private cache.
  const bool ordered = needs_.ordered && needs_.writes_buffer;
  if (ordered || (needs_.barrier && reads && writes)) m_.decorate(s.variable, Decoration::Coherent);
}

// ---- the argument block ---------------------------------------------------------------------
// An array of words whatever its members: no narrow storage features, no uniform layout rules, and
// the same code for each way it arrives. In a uniform buffer the words sit in uint4, since strides
// there are multiples of 16.

void Emitter::declare_block() {
  const bool uniform = plan_.block == BindingPlan::Block::Uniform;
  StorageClass storage = StorageClass::PushConstant;
  if (uniform) storage = StorageClass::Uniform;
  if (plan_.block == BindingPlan::Block::Storage) storage = StorageClass::StorageBuffer;
  const uint32_t stride = uniform ? 16 : 4;
  const Word words = lanes(Scalar::UInt32, stride / 4);
  const Word array = m_.new_array(words, u32(block_.size / stride));
  m_.decorate(array, Decoration::ArrayStride, stride);
  const Word block = m_.new_struct(std::span(&array, 1));
  m_.decorate(block, Decoration::Block);
  m_.decorate_member(block, 0, Decoration::Offset, 0u);
  block_variable_ = m_.variable(m_.type_pointer(storage, block), storage);
  block_word_pointer_ = m_.type_pointer(storage, lanes(Scalar::UInt32));
  if (target_.names) m_.name(block_variable_, "arguments");
  if (plan_.block == BindingPlan::Block::Push) return;
  m_.decorate(block_variable_, Decoration::DescriptorSet, plan_.block_place.set);
  m_.decorate(block_variable_, Decoration::Binding, plan_.block_place.binding);
  if (plan_.block == BindingPlan::Block::Storage)
    m_.decorate(block_variable_, Decoration::NonWritable);
}

Word Emitter::block_word(uint32_t offset) {
  LCPY_CHECK(offset % 4 == 0 && offset < block_.size);
  Word& known = block_words_[offset / 4];
  if (known) return known;
  if (!block_variable_) declare_block();
  const Word id = m_.new_id(), pointer = m_.new_id(), zero = u32(0), word = offset / 4;
  if (plan_.block == BindingPlan::Block::Uniform) {
    const Word vector = u32(word / 4), lane = u32(word % 4);
    early_.op(Opcode::AccessChain, block_word_pointer_, pointer, block_variable_, zero, vector,
              lane);
  } else {
    const Word index = u32(word);
    early_.op(Opcode::AccessChain, block_word_pointer_, pointer, block_variable_, zero, index);
  }
  early_.op(Opcode::Load, lanes(Scalar::UInt32), id, pointer);
  return known = id;
}

Word Emitter::block_word_at(Word index) {
  if (!block_variable_) declare_block();
  const Word uint = lanes(Scalar::UInt32), zero = u32(0);
  Word pointer = 0;
  if (plan_.block == BindingPlan::Block::Uniform) {
    const Word vector = emit(Opcode::ShiftRightLogical, uint, index, u32(2));
    const Word lane = emit(Opcode::BitwiseAnd, uint, index, u32(3));
    pointer = emit(Opcode::AccessChain, block_word_pointer_, block_variable_, zero, vector, lane);
  } else {
    pointer = emit(Opcode::AccessChain, block_word_pointer_, block_variable_, zero, index);
  }
  return emit(Opcode::Load, uint, pointer);
}

// ---- ids and lengths ------------------------------------------------------------------------

// Read once in a function's first block, so that every block may use it.
Word Emitter::builtin(uint32_t index) {
  Word& known = builtin_values_[index];
  if (known) return known;
  const Word vector = lanes(Scalar::UInt32, kBuiltins[index].lanes);
  Word& variable = builtins_[index];
  if (!variable) {
    variable = m_.variable(m_.type_pointer(StorageClass::Input, vector), StorageClass::Input);
    m_.decorate(variable, Decoration::BuiltIn, kBuiltins[index].builtin);
    if (target_.names) m_.name(variable, kBuiltins[index].name);
  }
  known = m_.new_id();
  early_.op(Opcode::Load, vector, known, variable);
  return known;
}

void Emitter::thread_id(const Operation& o) { alias(o, thread_of_block()); }
void Emitter::block_id(const Operation& o) {
  alias(o, target_.fold ? folded().block : builtin(kBlockId));
}
void Emitter::dispatch_id(const Operation& o) {
  if (target_.fold) return alias(o, folded().dispatch);
  alias(o, linear_block_ ? linear_dispatch_id() : builtin(kDispatchId));
}

void Emitter::dispatch_size(const Operation& o) {
  const Word parts[] = {block_word(ArgumentBlock::kDispatchSize),
                        block_word(ArgumentBlock::kDispatchSize + 4),
                        block_word(ArgumentBlock::kDispatchSize + 8)};
  alias(o, emit_list(Opcode::CompositeConstruct, lanes(Scalar::UInt32, 3), parts));
}

void Emitter::kernel_id(const Operation& o) { alias(o, block_word(ArgumentBlock::kKernelId)); }

void Emitter::buffer_length(const Operation& o) {
  const uint32_t at = block_.entries[d_.operands_of(o)[0].index].length;
  LCPY_CHECK(at != ArgumentBlock::kNone);
  const Type t = d_.type_of(d_.result(o));
  alias(o, read_bytes({true, 0}, t, {at, 0}));
}

void Emitter::buffer_extent(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const uint32_t at = block_.entries[operands[0].index].extents;
  LCPY_CHECK(at != ArgumentBlock::kNone && operands[1].is_imm());
  alias(o, block_word(at + 4 * operands[1].index));
}

// Buffers that are views at any start carry the start in the block. A 32-bit index stays one: what
// a storage buffer may hold (maxStorageBufferRange is below 2^32) is reached by it.
Word Emitter::element_index(SlotId s, Operand first) {
  if (!d_.view_offsets) return index_word(first);
  const uint32_t at = block_.entries[s.value].base;
  LCPY_CHECK(at != ArgumentBlock::kNone);
  const bool wide = !first.is_imm() && type_of(first).size() == 8;
  const Word base =
      wide ? read_bytes({true, 0}, Type::of(Scalar::UInt64), {at, 0}) : block_word(at);
  if (first.is_imm() && first.index == 0) return base;
  const Word index = index_word(first);
  return emit(Opcode::IAdd, lanes(wide ? Scalar::UInt64 : Scalar::UInt32), index, base);
}

}  // namespace lcpy::spirv
