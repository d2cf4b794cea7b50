// Loads and stores of places. A place is one OpAccessChain; what its memory type holds otherwise
// than the value's type is converted component by component, or by OpCopyLogical.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {
namespace {

// A longer array is zeroed by a loop: drivers write a store of the whole out element by element,
// and some give up on thousands.
constexpr uint64_t kUnrolledElements = 64;

}  // namespace

Word Emitter::access_mask(const Operation& o) {
  constexpr uint8_t kVolatile = 1 << 3;
  return o.flags & kVolatile ? to_word(MemoryAccess::Volatile) : to_word(MemoryAccess::None);
}

Emitter::Place Emitter::place(const Operation& o, uint32_t first) {
  const auto operands = d_.operands_of(o);
  const SlotId id = operands[0].slot();
  const Slot& declared = d_.slot(id);
  const SlotState s = slot(id);
  Place p{s.variable, declared.type, s.storage, s.family};
  const bool global = declared.memory == MemoryClass::Global;
  if (first == operands.size() && !global) return p;
  scratch_.assign(1, s.variable);
  for (size_t i = first; i < operands.size(); i++) {
    const Operand x = operands[i];
    if (global && i == first) {
      scratch_.push_back(u32(0));
      scratch_.push_back(element_index(id, x));
      p.type = declared.type.element();
      continue;
    }
    scratch_.push_back(index_word(x));
    p.type = p.type.is_struct() ? p.type.component(x.index) : p.type.element();
  }
  p.padded = s.padded && first + 1 == operands.size();
  const Type held = p.padded ? Type::vector(p.type.scalar(), 4) : p.type;
  p.pointer = emit_list(Opcode::AccessChain, types_.pointer(p.storage, held, p.family), scratch_);
  return p;
}

// An index out of range is the program's business at run time, but a constant below zero would make
// the module invalid: such a one is written as the unsigned number of the same bits.
Word Emitter::index_word(Operand x) {
  if (x.is_imm()) return u32(x.index);
  const Type t = type_of(x);
  if (!d_.is_constant(x.value()) || !t.has_class(ScalarClass::Signed)) return value(x);
  uint64_t bits = 0;
  std::memcpy(&bits, d_.constant_bytes(x.value()).data(), t.size());
  return scalar_constant(t.size() == 8 ? Scalar::UInt64 : Scalar::UInt32, bits);
}

Emitter::Place Emitter::component(const Place& p, uint32_t index) {
  const Type t = p.type.component(index);
  const Word pointer = types_.pointer(p.storage, t, p.family), at = u32(index);
  return {emit(Opcode::AccessChain, pointer, p.pointer, at), t, p.storage, p.family};
}

// A bool in a buffer is a byte, and any byte but 0 reads True. The byte is widened before it is
// compared: with storage support alone nothing else may be done to it.
Word Emitter::from_memory(Word id, Type t, Family f) {
  const Scalar s = t.scalar();
  const uint32_t n = t.lanes();
  if (s == Scalar::Bool && is_laid(f)) {
    const Word wide = emit(Opcode::UConvert, lanes(Scalar::UInt32, n), id);
    const Word zero = lane_constant(Scalar::UInt32, n, 0);
    return emit(Opcode::INotEqual, lanes(s, n), wide, zero);
  }
  if (types_.held(s)) {
    const bool with_sign = scalar_class(s) == ScalarClass::Signed;
    const Word wide = emit(with_sign ? Opcode::SConvert : Opcode::UConvert, lanes(s, n), id);
    return target_.sound_masks ? wide : hidden_bits(wide, types_.held_as(s), n);
  }
  return emit(Opcode::Bitcast, lanes(s, n), id);
}

Word Emitter::to_memory(Word id, Type t, Family f) {
  const Scalar s = t.scalar();
  const uint32_t n = t.lanes();
  if (s == Scalar::Bool && is_laid(f)) {
    const Word yes = lane_constant(Scalar::UInt32, n, 1), no = lane_constant(Scalar::UInt32, n, 0);
    const Word wide = emit(Opcode::Select, lanes(Scalar::UInt32, n), id, yes, no);
    return emit(Opcode::UConvert, types_.stored_lanes(Scalar::UInt8, n), wide);
  }
  if (types_.held(s)) {
    const bool with_sign = scalar_class(s) == ScalarClass::Signed;
    return emit(with_sign ? Opcode::SConvert : Opcode::UConvert, types_.stored_lanes(s, n), id);
  }
  return emit(Opcode::Bitcast, types_.id(t, f), id);
}

Word Emitter::load_place(const Place& p, Word access) {
  if (p.padded) {
    const Word four = lanes(p.type.scalar(), 4), three = lanes(p.type.scalar(), 3);
    const Word id =
        access ? emit(Opcode::Load, four, p.pointer, access) : emit(Opcode::Load, four, p.pointer);
    return emit(Opcode::VectorShuffle, three, id, id, 0u, 1u, 2u);
  }
  const bool same = types_.same(p.type, p.family);
  const bool copied = !same && !p.type.is_lanes() && types_.copyable(p.type, p.family);
  if (!same && !copied && !p.type.is_lanes()) {
    std::vector<Word> parts(p.type.count());
    for (uint32_t i = 0; i < parts.size(); i++) parts[i] = load_place(component(p, i), access);
    return emit_list(Opcode::CompositeConstruct, type(p.type), parts);
  }
  const Word stored = types_.id(p.type, p.family);
  const Word id = access ? emit(Opcode::Load, stored, p.pointer, access)
                         : emit(Opcode::Load, stored, p.pointer);
  if (same) return id;
  if (copied) return emit(Opcode::CopyLogical, type(p.type), id);
  return from_memory(id, p.type, p.family);
}

void Emitter::store_place(const Place& p, Word id, Word access) {
  if (p.padded) {
    const Word four = lanes(p.type.scalar(), 4);
    id = emit(Opcode::VectorShuffle, four, id, id, 0u, 1u, 2u, ~0u);  // the last is undefined
  } else if (!types_.same(p.type, p.family)) {
    if (p.type.is_lanes()) {
      id = to_memory(id, p.type, p.family);
    } else if (types_.copyable(p.type, p.family)) {
      id = emit(Opcode::CopyLogical, types_.id(p.type, p.family), id);
    } else {
      const uint64_t count = p.type.count();
      for (uint32_t i = 0; i < count; i++) {
        const Word part = emit(Opcode::CompositeExtract, type(p.type.component(i)), id, i);
        store_place(component(p, i), part, access);
      }
      return;
    }
  }
  if (access) {
    out_->op(Opcode::Store, p.pointer, id, access);
  } else {
    out_->op(Opcode::Store, p.pointer, id);
  }
}

void Emitter::load(const Operation& o) {
  const SlotId s = d_.operands_of(o)[0].slot();
  if (d_.slot(s).memory == MemoryClass::Uniform) return load_uniform(o);
  if (needs_.words[s.value]) {
    const WordMemory memory{false, slot(s).variable, access_mask(o)};
    Type t;
    const ByteOffset at = place_offset(o, 1, &t);
    return alias(o, read_bytes(memory, t, at));
  }
  alias(o, load_place(place(o, 1), access_mask(o)));
}

void Emitter::store(const Operation& o) {
  const ValueId v = d_.operands_of(o)[1].value();
  Type t = d_.type_of(v);
  const SlotId s = d_.operands_of(o)[0].slot();
  if (needs_.words[s.value]) {
    const Word id = value(v);
    const WordMemory memory{false, slot(s).variable, access_mask(o)};
    const ByteOffset at = place_offset(o, 2, &t);
    return write_bytes(memory, t, at, id);
  }
  if (t.is_array() && t.count() > kUnrolledElements && d_.is_constant(v) &&
      std::ranges::all_of(d_.constant_bytes(v), [](std::byte b) { return b == std::byte{0}; }))
    return store_zeros(place(o, 2), access_mask(o));
  // What the kernel reads again the driver takes from what it stored.
  const bool comes_back =
      d_.slot(s).memory != MemoryClass::Global || d_.slot(s).access != Access::Write;
  const Word id = comes_back ? unseen(v) : value(v);
  store_place(place(o, 2), id, access_mask(o));
}

//   header: i = phi(0, next's); body: element i = 0; i + 1 < count? next : merge
void Emitter::store_zeros(const Place& p, Word access) {
  const Word uint = lanes(Scalar::UInt32), counted = m_.new_id();
  const Word header = m_.new_id(), body = m_.new_id(), next = m_.new_id(), after = m_.new_id();
  const Word before = label_;
  out_->op(Opcode::Branch, header);
  start_block(header);
  const Word i = emit(Opcode::Phi, uint, u32(0), before, counted, next);
  out_->op(Opcode::LoopMerge, after, next, LoopControl::None);
  out_->op(Opcode::Branch, body);
  start_block(body);
  const Type element = p.type.element();
  const Word pointer = types_.pointer(p.storage, element, p.family);
  const Place at{emit(Opcode::AccessChain, pointer, p.pointer, i), element, p.storage, p.family};
  if (element.is_array() && element.count() > kUnrolledElements) {
    store_zeros(at, access);
  } else {
    const std::vector<std::byte> zeros(element.size());
    store_place(at, constant(element, zeros.data()), access);
  }
  const Word last = u32(static_cast<uint32_t>(p.type.count() - 1));
  const Word more = emit(Opcode::ULessThan, lanes(Scalar::Bool), i, last);
  out_->op(Opcode::BranchConditional, more, next, after);
  start_block(next);
  out_->op(Opcode::IAdd, uint, counted, i, u32(1));
  out_->op(Opcode::Branch, header);
  start_block(after);
}

// By-value arguments lie in the argument block, which is words. What no run-time index reaches is
// read once, in the function's first block.
void Emitter::load_uniform(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const uint32_t index = operands[0].index;
  LCPY_CHECK(block_.entries[index].value != ArgumentBlock::kNone);
  Type t;
  ByteOffset at = place_offset(o, 1, &t);
  at.constant += block_.entries[index].value;
  if (at.runtime) return alias(o, read_bytes({true}, t, at));
  const bool whole = operands.size() == 1;
  if (whole && uniform_values_[index]) return alias(o, uniform_values_[index]);
  Words* const current = out_;
  out_ = &early_;
  const Word id = read_bytes({true}, t, at);
  out_ = current;
  if (whole) uniform_values_[index] = id;
  alias(o, id);
}

}  // namespace lcpy::spirv
