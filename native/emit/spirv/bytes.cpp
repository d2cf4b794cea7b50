// Values in memory that is declared as 32-bit words: the argument block, byte buffers, and buffers
// that hold narrower values than the device's buffers may. A scalar
// lies at a multiple of its size, or of 4 if it is wider; so it is a part of one word, or is whole
// words.
#include "base/error.h"
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {

Word Emitter::word_index(ByteOffset at) {
  const Word uint = lanes(Scalar::UInt32);
  if (!at.runtime) return u32(at.constant / 4);
  Word bytes = at.runtime;
  if (at.constant) bytes = emit(Opcode::IAdd, uint, bytes, u32(at.constant));
  return emit(Opcode::ShiftRightLogical, uint, bytes, u32(2));
}

// Where in its word a narrow scalar begins, in bits; 0 is no shift.
Word Emitter::bit_shift(ByteOffset at) {
  if (!at.runtime) return at.constant % 4 ? u32(at.constant % 4 * 8) : 0;
  const Word uint = lanes(Scalar::UInt32);
  Word bytes = at.runtime;
  if (at.constant) bytes = emit(Opcode::IAdd, uint, bytes, u32(at.constant));
  const Word low = emit(Opcode::BitwiseAnd, uint, bytes, u32(3));
  return emit(Opcode::ShiftLeftLogical, uint, low, u32(3));
}

Word Emitter::word_pointer(const WordMemory& m, ByteOffset at) {
  const Word index = word_index(at);
  const Word pointer =
      types_.pointer(StorageClass::StorageBuffer, Type::of(Scalar::UInt32), Family::Value);
  return emit(Opcode::AccessChain, pointer, m.variable, u32(0), index);
}

Word Emitter::read_word(const WordMemory& m, ByteOffset at) {
  if (!m.is_block) {
    const Word pointer = word_pointer(m, at), uint = lanes(Scalar::UInt32);
    return m.access ? emit(Opcode::Load, uint, pointer, m.access)
                    : emit(Opcode::Load, uint, pointer);
  }
  return at.runtime ? block_word_at(word_index(at)) : block_word(at.constant & ~3u);
}

Word Emitter::scalar_of_words(Scalar s, Word low, Word high) {
  const uint32_t size = scalar_size(s);
  const Word uint = lanes(Scalar::UInt32);
  if (size == 8) {
    const Word pair[] = {low, high};
    const Word both = emit_list(Opcode::CompositeConstruct, lanes(Scalar::UInt32, 2), pair);
    return emit(Opcode::Bitcast, lanes(s), both);
  }
  if (size == 4) return s == Scalar::UInt32 ? low : emit(Opcode::Bitcast, lanes(s), low);
  if (s == Scalar::Bool) {
    const Word byte = emit(Opcode::BitwiseAnd, uint, low, u32(0xff));
    const Word flag = lanes(s);
    return emit(Opcode::INotEqual, flag, byte, u32(0));
  }
  if (s == Scalar::Float16) {
    const Word pair = emit(Opcode::Bitcast, lanes(s, 2), low);
    return emit(Opcode::CompositeExtract, lanes(s), pair, 0u);
  }
  return convert_integer(low, Scalar::UInt32, s, 1);
}

void Emitter::word_bits(Word id, Scalar s, Word bits[2]) {
  const uint32_t size = scalar_size(s);
  const Word uint = lanes(Scalar::UInt32);
  if (size == 8) {
    const Word pair = emit(Opcode::Bitcast, lanes(Scalar::UInt32, 2), id);
    for (uint32_t i = 0; i < 2; i++) bits[i] = emit(Opcode::CompositeExtract, uint, pair, i);
  } else if (size == 4) {
    bits[0] = s == Scalar::UInt32 ? id : emit(Opcode::Bitcast, uint, id);
  } else if (s == Scalar::Bool) {
    const Word yes = u32(1), no = u32(0);
    bits[0] = emit(Opcode::Select, uint, id, yes, no);
  } else if (s == Scalar::Float16) {
    const Word pair[] = {id, scalar_constant(s, 0)};
    const Word both = emit_list(Opcode::CompositeConstruct, lanes(s, 2), pair);
    bits[0] = emit(Opcode::Bitcast, uint, both);
  } else {
    const Word wide = convert_integer(id, s, Scalar::UInt32, 1);
    bits[0] = emit(Opcode::BitwiseAnd, uint, wide, u32(size == 1 ? 0xffu : 0xffffu));
  }
}

Word Emitter::read_scalar(const WordMemory& m, Scalar s, ByteOffset at) {
  const uint32_t size = scalar_size(s);
  Word low = read_word(m, at), high = 0;
  if (size == 8) high = read_word(m, {at.constant + 4, at.runtime});
  const Word shift = size < 4 ? bit_shift(at) : 0;
  if (shift) low = emit(Opcode::ShiftRightLogical, lanes(Scalar::UInt32), low, shift);
  return scalar_of_words(s, low, high);
}

Word Emitter::read_bytes(const WordMemory& m, Type t, ByteOffset at) {
  if (t.is_scalar()) return read_scalar(m, t.scalar(), at);
  std::vector<Word> parts(t.count());
  for (uint32_t i = 0; i < parts.size(); i++) {
    const uint32_t offset = at.constant + static_cast<uint32_t>(t.offset(i));
    parts[i] = read_bytes(m, t.component(i), {offset, at.runtime});
  }
  return emit_list(Opcode::CompositeConstruct, type(t), parts);
}

// A part of a word is replaced by two atomic steps, so that threads that write the other parts do
// not lose what they wrote.
void Emitter::write_scalar(const WordMemory& m, Scalar s, ByteOffset at, Word id) {
  const uint32_t size = scalar_size(s);
  const Word uint = lanes(Scalar::UInt32);
  Word bits[2] = {};
  word_bits(id, s, bits);
  const Word pointer = word_pointer(m, at);
  if (size >= 4) {
    store_word(m, pointer, bits[0]);
    if (size == 8) store_word(m, word_pointer(m, {at.constant + 4, at.runtime}), bits[1]);
    return;
  }
  Word mask = u32(size == 1 ? 0xffu : 0xffffu), part = bits[0];
  if (const Word shift = bit_shift(at)) {
    mask = emit(Opcode::ShiftLeftLogical, uint, mask, shift);
    part = emit(Opcode::ShiftLeftLogical, uint, part, shift);
  }
  const Word scope = u32(to_word(Scope::Device)), relaxed = u32(0);
  const Word others = emit(Opcode::Not, uint, mask);
  emit(Opcode::AtomicAnd, uint, pointer, scope, relaxed, others);
  emit(Opcode::AtomicOr, uint, pointer, scope, relaxed, part);
}

void Emitter::store_word(const WordMemory& m, Word pointer, Word word) {
  if (m.access)
    out_->op(Opcode::Store, pointer, word, m.access);
  else
    out_->op(Opcode::Store, pointer, word);
}

void Emitter::write_bytes(const WordMemory& m, Type t, ByteOffset at, Word id) {
  if (t.is_scalar()) return write_scalar(m, t.scalar(), at, id);
  const uint64_t count = t.count();
  for (uint32_t i = 0; i < count; i++) {
    const Word part = emit(Opcode::CompositeExtract, type(t.component(i)), id, i);
    const uint32_t offset = at.constant + static_cast<uint32_t>(t.offset(i));
    write_bytes(m, t.component(i), {offset, at.runtime}, part);
  }
}

// Where in its slot's words, or in the argument, a place lies; `type` is what is there.
Emitter::ByteOffset Emitter::place_offset(const Operation& o, uint32_t first, Type* type) {
  const auto operands = d_.operands_of(o);
  const uint32_t slot = operands[0].index;
  const Word uint = lanes(Scalar::UInt32);
  const bool global = d_.slots[slot].memory == MemoryClass::Global;
  ByteOffset at;
  const auto add = [&](Word elements, uint64_t stride) {
    const Word bytes = emit(Opcode::IMul, uint, elements, u32(static_cast<uint32_t>(stride)));
    at.runtime = at.runtime ? emit(Opcode::IAdd, uint, at.runtime, bytes) : bytes;
  };
  Type t = d_.slots[slot].type;
  for (size_t i = first; i < operands.size(); i++) {
    const Operand x = operands[i];
    if (x.is_imm())
      at.constant +=
          static_cast<uint32_t>(t.is_buffer() ? x.index * t.stride() : t.offset(x.index));
    else
      add(to_u32(value(x), type_of(x).scalar()), t.stride());
    if (global && i == first && d_.view_offsets)
      add(block_word(block_.entries[slot].base), t.stride());
    t = t.is_struct() ? t.component(x.index) : t.element();
  }
  *type = t;
  return at;
}

// The offset as a run-time part, the view's start included.
Emitter::ByteOffset Emitter::byte_offset(SlotId s, Operand x) {
  Word bytes = to_u32(value(x), type_of(x).scalar());
  if (d_.view_offsets) {
    const Word base = block_word(block_.entries[s.value].base);
    bytes = emit(Opcode::IAdd, lanes(Scalar::UInt32), bytes, base);
  }
  return {0, bytes};
}

void Emitter::byte_load(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const SlotId s = operands[0].slot();
  LCPY_CHECK(d_.slot(s).type.element().is_void());
  const WordMemory memory{false, slot(s).variable, access_mask(o)};
  alias(o, read_bytes(memory, d_.type_of(d_.result(o)), byte_offset(s, operands[1])));
}

void Emitter::byte_store(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const SlotId s = operands[0].slot();
  LCPY_CHECK(d_.slot(s).type.element().is_void());
  const WordMemory memory{false, slot(s).variable, access_mask(o)};
  const Word id = value(operands[1]);
  write_bytes(memory, type_of(operands[1]), byte_offset(s, operands[2]), id);
}

}  // namespace lcpy::spirv
