// Atomic operations and the block's barrier. A float operation that the device lacks is a loop of
// compare-and-swap on the float's bits; such slots are declared as integers (Family::Bits).
#include "base/error.h"
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {
namespace {

// One row an integer update, by signedness, and the float operation of the emulation.
struct UpdateRow {
  Op op;
  Opcode on_signed, on_unsigned;
  Opcode float_instruction;  // Nop: extreme_bits
};
constexpr UpdateRow kUpdates[] = {
    {Op::AtomicExchange, Opcode::AtomicExchange, Opcode::AtomicExchange, Opcode::Nop},
    {Op::AtomicAdd, Opcode::AtomicIAdd, Opcode::AtomicIAdd, Opcode::FAdd},
    {Op::AtomicSub, Opcode::AtomicISub, Opcode::AtomicISub, Opcode::FSub},
    {Op::AtomicAnd, Opcode::AtomicAnd, Opcode::AtomicAnd, Opcode::Nop},
    {Op::AtomicOr, Opcode::AtomicOr, Opcode::AtomicOr, Opcode::Nop},
    {Op::AtomicXor, Opcode::AtomicXor, Opcode::AtomicXor, Opcode::Nop},
    {Op::AtomicMin, Opcode::AtomicSMin, Opcode::AtomicUMin, Opcode::Nop},
    {Op::AtomicMax, Opcode::AtomicSMax, Opcode::AtomicUMax, Opcode::Nop},
};

const UpdateRow& update_row(Op op) {
  for (const UpdateRow& row : kUpdates)
    if (row.op == op) return row;
  throw BugError("no atomic update row for " + std::string(op_row(op).name));
}

Scalar bits_scalar(Scalar s) { return scalar_size(s) == 8 ? Scalar::UInt64 : Scalar::UInt32; }

}  // namespace

Emitter::AtomicPlace Emitter::atomic_place(const Operation& o, uint32_t first) {
  AtomicPlace p;
  const SlotId s = d_.operands_of(o)[0].slot();
  if (needs_.words[s.value]) {
    p.place.storage = StorageClass::StorageBuffer;
    const ByteOffset at = place_offset(o, first, &p.place.type);
    p.place.pointer = word_pointer({false, slot(s).variable}, at);
    p.scalar = p.place.type.scalar();
    p.stored = Scalar::UInt32;
    p.scope = u32(to_word(Scope::Device));
    return p;
  }
  p.place = place(o, first);
  p.scalar = p.stored = p.place.type.scalar();
  if (is_bits(p.place.family) && p.place.type.is_float()) p.stored = bits_scalar(p.scalar);
  const bool shared = p.place.storage == StorageClass::Workgroup;
  p.scope = u32(to_word(shared ? Scope::Workgroup : Scope::Device));
  return p;
}

// Relaxed asks for nothing. A read only acquires and a write only releases. Vulkan knows no
// sequentially consistent order: pass_sequential has replaced it.
Word Emitter::semantics(const Operation& o, const AtomicPlace& p, bool reads, bool writes) {
  const auto order = static_cast<MemoryOrder>(o.flags & 7);
  if (order == MemoryOrder::Relaxed || !target_.sound_orders) return u32(0);
  bool acquire = order != MemoryOrder::Release, release = order != MemoryOrder::Acquire;
  acquire &= reads;
  release &= writes;
  if (!acquire && !release) return u32(0);
  auto mask = MemorySemantics::Release;
  if (acquire) mask = release ? MemorySemantics::AcquireRelease : MemorySemantics::Acquire;
  const bool shared = p.place.storage == StorageClass::Workgroup;
  const Word memory = to_word(MemorySemantics::UniformMemory) |
                      (shared || needs_.barrier ? to_word(MemorySemantics::WorkgroupMemory) : 0);
  return u32(to_word(mask) | memory);
}

Word Emitter::as_stored(const AtomicPlace& p, Word id) {
  return p.stored == p.scalar ? id : emit(Opcode::Bitcast, lanes(p.stored), id);
}

Word Emitter::as_value(const AtomicPlace& p, Word id) {
  return p.stored == p.scalar ? id : emit(Opcode::Bitcast, lanes(p.scalar), id);
}

void Emitter::atomic_load(const Operation& o) {
  const AtomicPlace p = atomic_place(o, 1);
  const Word order = semantics(o, p, true, false);
  alias(o, as_value(p, emit(Opcode::AtomicLoad, lanes(p.stored), p.place.pointer, p.scope, order)));
}

void Emitter::atomic_store(const Operation& o) {
  const AtomicPlace p = atomic_place(o, 2);
  const Word id = as_stored(p, value(d_.operands_of(o)[1]));
  out_->op(Opcode::AtomicStore, p.place.pointer, p.scope, semantics(o, p, false, true), id);
}

void Emitter::atomic_update(const Operation& o) {
  const UpdateRow& row = update_row(o.op);
  const AtomicPlace p = atomic_place(o, 2);
  const Word operand = value(d_.operands_of(o)[1]);
  const Word order = semantics(o, p, true, true), t = lanes(p.stored), pointer = p.place.pointer;
  if (!p.place.type.is_float() || o.op == Op::AtomicExchange) {
    const bool is_signed = scalar_class(p.scalar) == ScalarClass::Signed;
    const Opcode code = is_signed ? row.on_signed : row.on_unsigned;
    const Word given = as_stored(p, operand);
    alias(o, as_value(p, emit(code, t, pointer, p.scope, order, given)));
  } else if (p.stored != p.scalar) {
    alias(o, compare_loop(o, p, operand));
  } else {
    const Word given = o.op == Op::AtomicSub ? emit(Opcode::FNegate, t, operand) : operand;
    alias(o, emit(Opcode::AtomicFAddEXT, t, pointer, p.scope, order, given));
  }
}

void Emitter::atomic_compare(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const AtomicPlace p = atomic_place(o, 3);
  const Word expected = as_stored(p, value(operands[1])),
             desired = as_stored(p, value(operands[2]));
  const Word equal = semantics(o, p, true, true), unequal = semantics(o, p, true, false);
  alias(o, as_value(p, emit(Opcode::AtomicCompareExchange, lanes(p.stored), p.place.pointer,
                            p.scope, equal, unequal, desired, expected)));
}

// Of a float minimum or maximum: of two zeros the smaller has the or-ed bits, the larger the
// and-ed; a NaN loses; what is there stays to the bit.
Word Emitter::extreme_bits(const Operation& o, const AtomicPlace& p, Word seen, Word operand) {
  const Word bits = lanes(p.stored), flag = lanes(Scalar::Bool);
  const bool min = o.op == Op::AtomicMin;
  const Word old = emit(Opcode::Bitcast, lanes(p.scalar), seen);
  const Word given = emit(Opcode::Bitcast, bits, operand);
  const Word either = emit(Opcode::BitwiseOr, bits, seen, given);
  const Word both = min ? either : emit(Opcode::BitwiseAnd, bits, seen, given);
  const Word magnitudes = emit(Opcode::ShiftLeftLogical, bits, either, u32(1));
  const Word zeros = emit(Opcode::IEqual, flag, magnitudes, scalar_constant(p.stored, 0));
  const Word wins = emit(min ? Opcode::FOrdLessThan : Opcode::FOrdGreaterThan, flag, old, operand);
  const Word loses = emit(Opcode::IsNan, flag, operand);
  const Word stays = emit(Opcode::LogicalOr, flag, wins, loses);
  const Word chosen = emit(Opcode::Select, bits, stays, seen, given);
  return emit(Opcode::Select, bits, zeros, both, chosen);
}

//   header: seen = phi(first read, what the swap found); swap; done? merge : next
//   next:   back to header
Word Emitter::compare_loop(const Operation& o, const AtomicPlace& p, Word operand) {
  const UpdateRow& row = update_row(o.op);
  const Word bits = lanes(p.stored), t = lanes(p.scalar), pointer = p.place.pointer;
  const Word equal = semantics(o, p, true, true), unequal = semantics(o, p, true, false);
  const Word first = emit(Opcode::AtomicLoad, bits, pointer, p.scope, unequal);
  const Word before = label_, header = m_.new_id(), next = m_.new_id(), after = m_.new_id();
  const Word found = m_.new_id();
  out_->op(Opcode::Branch, header);
  start_block(header);
  const Word seen = emit(Opcode::Phi, bits, first, before, found, next);
  const Word old = emit(Opcode::Bitcast, t, seen);
  const Word wanted =
      row.float_instruction != Opcode::Nop
          ? emit(Opcode::Bitcast, bits, emit(row.float_instruction, t, old, operand))
          : extreme_bits(o, p, seen, operand);
  out_->op(Opcode::AtomicCompareExchange, bits, found, pointer, p.scope, equal, unequal, wanted,
           seen);
  const Word done = emit(Opcode::IEqual, lanes(Scalar::Bool), found, seen);
  out_->op(Opcode::LoopMerge, after, next, LoopControl::None);
  out_->op(Opcode::BranchConditional, done, after, next);
  start_block(next);
  out_->op(Opcode::Branch, header);
  start_block(after);
  return old;
}

void Emitter::sync_block(const Operation&) {
  const Word scope = u32(to_word(Scope::Workgroup));
  const Word order =
      u32(to_word(MemorySemantics::AcquireRelease) | to_word(MemorySemantics::WorkgroupMemory) |
          (needs_.buffers ? to_word(MemorySemantics::UniformMemory) : 0));
  out_->op(Opcode::ControlBarrier, scope, scope, order);
}

}  // namespace lcpy::spirv
