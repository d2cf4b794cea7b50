// Values in memory that is declared as 32-bit words: the argument block and byte buffers. A scalar
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
    const Word pointer = word_pointer(m, at);
    return emit(Opcode::Load, lanes(Scalar::UInt32), pointer);
  }
  return at.runtime ? block_word_at(word_index(at)) : block_word(at.constant & ~3u);
}

Word Emitter::read_scalar(const WordMemory& m, Scalar s, ByteOffset at) {
  const uint32_t size = scalar_size(s);
  const Word word = read_word(m, at);
  if (size == 8) {
    const Word high = read_word(m, {at.constant + 4, at.runtime});
    const Word pair[] = {word, high};
    const Word both = emit_list(Opcode::CompositeConstruct, lanes(Scalar::UInt32, 2), pair);
    return emit(Opcode::Bitcast, lanes(s), both);
  }
  if (size == 4) return s == Scalar::UInt32 ? word : emit(Opcode::Bitcast, lanes(s), word);
  const Word uint = lanes(Scalar::UInt32);
  const Word shift = bit_shift(at);
  const Word low = shift ? emit(Opcode::ShiftRightLogical, uint, word, shift) : word;
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
  if (size == 8) {
    const Word pair = emit(Opcode::Bitcast, lanes(Scalar::UInt32, 2), id);
    for (uint32_t i = 0; i < 2; i++) {
      const Word word = emit(Opcode::CompositeExtract, uint, pair, i);
      const Word pointer = word_pointer(m, {at.constant + 4 * i, at.runtime});
      out_->op(Opcode::Store, pointer, word);
    }
    return;
  }
  const Word pointer = word_pointer(m, at);
  if (size == 4) {
    const Word word = s == Scalar::UInt32 ? id : emit(Opcode::Bitcast, uint, id);
    out_->op(Opcode::Store, pointer, word);
    return;
  }
  if (s == Scalar::Bool) {
    const Word yes = u32(1), no = u32(0);
    id = emit(Opcode::Select, uint, id, yes, no);
  } else if (s == Scalar::Float16) {
    const Word pair[] = {id, scalar_constant(s, 0)};
    const Word both = emit_list(Opcode::CompositeConstruct, lanes(s, 2), pair);
    id = emit(Opcode::Bitcast, uint, both);
  } else {
    const Word wide = convert_integer(id, s, Scalar::UInt32, 1);
    id = emit(Opcode::BitwiseAnd, uint, wide, u32(size == 1 ? 0xffu : 0xffffu));
  }
  Word mask = u32(size == 1 ? 0xffu : 0xffffu);
  if (const Word shift = bit_shift(at)) {
    mask = emit(Opcode::ShiftLeftLogical, uint, mask, shift);
    id = emit(Opcode::ShiftLeftLogical, uint, id, shift);
  }
  const Word scope = u32(to_word(Scope::Device)), relaxed = u32(0);
  emit(Opcode::AtomicAnd, uint, pointer, scope, relaxed, emit(Opcode::Not, uint, mask));
  emit(Opcode::AtomicOr, uint, pointer, scope, relaxed, id);
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
  const WordMemory memory{false, slot(s).variable};
  alias(o, read_bytes(memory, d_.type_of(d_.result(o)), byte_offset(s, operands[1])));
}

void Emitter::byte_store(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const SlotId s = operands[0].slot();
  LCPY_CHECK(d_.slot(s).type.element().is_void());
  const WordMemory memory{false, slot(s).variable};
  const Word id = value(operands[1]);
  write_bytes(memory, type_of(operands[1]), byte_offset(s, operands[2]), id);
}

}  // namespace lcpy::spirv
