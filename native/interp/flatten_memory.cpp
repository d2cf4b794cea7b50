// Memory and ids: places become a pointer, run-time indices with their strides, and an offset.
#include "interp/flatten.h"

namespace lcpy::interp {

ScalarId Flattener::slot_pointer(SlotId slot) {
  ScalarId& s = code_.slots[slot.value];
  if (s == kNone) s = pinned(Scalar::UInt64, Kind::Uniform, Pinned::Cell);
  return s;
}

void Flattener::add_index(Place& p, ValueId index, uint64_t stride) {
  const Scalar type = d_.type_of(index).scalar();
  if (d_.is_constant(index)) {
    const uint64_t bits = code_.scalars[part(index)].bits;
    const int64_t value =
        type == Scalar::Int32 ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits);
    const int64_t bytes = static_cast<int64_t>(static_cast<uint64_t>(value) * stride);
    if (bytes > -(int64_t{1} << 30) && bytes < (int64_t{1} << 30)) {
      p.offset += bytes;
      return;
    }
  }
  const Index as = type == Scalar::Int32    ? Index::Int32
                   : type == Scalar::UInt32 ? Index::UInt32
                                            : Index::Int64;
  code_.terms.push_back({part(index), as, static_cast<int64_t>(stride)});
  p.term_count++;
}

Flattener::Place Flattener::place(const Operation& o, uint32_t first) {
  const SlotId id = operand(o, 0).slot();
  const Slot& slot = d_.slot(id);
  Place p;
  p.pointer = slot_pointer(id);
  p.terms = static_cast<uint32_t>(code_.terms.size());
  p.type = slot.type;
  p.lanes = slot.memory == MemoryClass::Scratch;
  for (uint32_t i = first; i < o.operand_count; ++i) {
    const Operand& x = operand(o, i);
    const Type t = p.type;
    if (x.is_imm()) {
      p.offset += t.is_buffer() ? static_cast<int64_t>(x.index * t.stride())
                                : static_cast<int64_t>(t.offset(x.index));
      p.type = t.is_buffer() ? t.element() : t.component(x.index);
    } else {
      p.type = t.is_vector() ? t.component(0) : t.element();
      add_index(p, x.value(), t.stride());
    }
  }
  return p;
}

void Flattener::memory_node(NodeKind kind, const Place& p, std::span<const ScalarId> scalars) {
  const LeafRange r = leaves(p.type);
  LCPY_CHECK(r.count == scalars.size());
  const uint32_t list = static_cast<uint32_t>(code_.lists.size());
  code_.lists.insert(code_.lists.end(), scalars.begin(), scalars.end());
  Node& n = node(kind);
  n.a = p.pointer;
  n.lanes = p.lanes;
  n.terms = p.terms, n.term_count = p.term_count;
  n.list = list, n.leaf = r.begin, n.count = r.count;
  n.offset = p.offset;
}

void Flattener::load_from(const Operation& o, const Place& p) {
  const LeafRange r = leaves(p.type);
  Scalars out(r.count);
  for (uint32_t i = 0; i < r.count; ++i) out[i] = fresh(code_.leaves[r.begin + i].type);
  memory_node(NodeKind::Load, p, out);
  define(o.first_result, out);
}

void Flattener::load(const Operation& o) { load_from(o, place(o, 1)); }
void Flattener::store(const Operation& o) {
  const auto value = args(o, 1);
  memory_node(NodeKind::Store, place(o, 2), value);
}
void Flattener::byte_load(const Operation& o) {
  Place p{slot_pointer(operand(o, 0).slot()),
          static_cast<uint32_t>(code_.terms.size()),
          0,
          0,
          result_type(o),
          false};
  add_index(p, operand(o, 1).value(), 1);
  load_from(o, p);
}
void Flattener::byte_store(const Operation& o) {
  Place p{slot_pointer(operand(o, 0).slot()),
          static_cast<uint32_t>(code_.terms.size()),
          0,
          0,
          type_of(o, 1),
          false};
  add_index(p, operand(o, 2).value(), 1);
  memory_node(NodeKind::Store, p, args(o, 1));
}

void Flattener::atomic(const Operation& o) {
  const uint32_t values = o.op == Op::AtomicLoad ? 0 : o.op == Op::AtomicCompareExchange ? 2 : 1;
  const Place p = place(o, 1 + values);
  if (!p.type.is_scalar() || p.lanes) return expanded(o);
  const ScalarId d = fresh(p.type.scalar());
  const ScalarId c = values > 0 ? part(operand(o, 1).value()) : kNone;
  const ScalarId e = values > 1 ? part(operand(o, 2).value()) : kNone;
  Node& n = node(NodeKind::Atomic);
  n.op = o.op;
  n.type = p.type.scalar();
  n.shared = d_.slot(operand(o, 0).slot()).memory == MemoryClass::Shared;
  n.a = p.pointer, n.d = d, n.c = c, n.e = e;
  n.terms = p.terms, n.term_count = p.term_count;
  n.offset = p.offset;
  if (o.result_count > 0) define(o.first_result, {&d, 1});
}

// ---- the argument block and ids
// ------------------------------------------------------------------

ScalarId Flattener::header(Scalar type, uint32_t offset) {
  if (code_.arguments == kNone)
    code_.arguments = pinned(Scalar::UInt64, Kind::Uniform, Pinned::Cell);
  Place p{
      code_.arguments, static_cast<uint32_t>(code_.terms.size()), 0, offset, Type::of(type), false};
  const ScalarId d = fresh(type);
  memory_node(NodeKind::Load, p, {&d, 1});
  return d;
}
void Flattener::length(const Operation& o) {
  const uint32_t at = block_.entries[operand(o, 0).index].length;
  LCPY_CHECK(at != ArgumentBlock::kNone);
  if (o.op == Op::BufferLength && (o.flags & kSaturatingFlag)) {
    const ScalarId most = constant(Scalar::UInt64, 0xffffffff);
    const ScalarId all = header(Scalar::UInt64, at);
    const ScalarId least = emit(Op::Min, Scalar::UInt64, Scalar::UInt64, all, most, kNone);
    const ScalarId d = emit_convert(Scalar::UInt64, Scalar::UInt32, least);
    return define(o.first_result, {&d, 1});
  }
  // The low half of 64 bits for BufferLength.
  const ScalarId d = header(result_type(o).scalar(), at);
  define(o.first_result, {&d, 1});
}
void Flattener::extent(const Operation& o) {
  const uint32_t at = block_.entries[operand(o, 0).index].extents;
  LCPY_CHECK(at != ArgumentBlock::kNone);
  const ScalarId d = header(Scalar::UInt32, at + 4 * operand(o, 1).index);
  define(o.first_result, {&d, 1});
}
void Flattener::kernel_id(const Operation& o) {
  const ScalarId d = header(Scalar::UInt32, ArgumentBlock::kKernelId);
  define(o.first_result, {&d, 1});
}

// Strips of a kernel without barriers follow the rows of the dispatch and start at multiples of 64,
// so dispatch_id is linear in x and equal in y and z, whatever the block. Where they are of blocks,
// the thread's place within its block is fixed for each strip. Packed strips have rows of ids.
void Flattener::ids(const Operation& o) {
  const auto cell = [&](ScalarId& s, Kind kind, Pinned how) {
    if (s == kNone) s = pinned(Scalar::UInt32, kind, how);
    return s;
  };
  const auto& size = d_.block_size;
  std::array<ScalarId, 3> out{};
  for (uint32_t i = 0; i < 3; ++i) {
    const ScalarId width = constant(Scalar::UInt32, size[i]);
    const bool packed = code_.strips == Strips::Packed;
    const bool aligned = i == 0 && size[0] % kLanes == 0 && !packed;
    const auto whole = [&] {  // dispatch_id where strips are not of blocks
      if (packed) return cell(code_.dispatch[i], Kind::Varying, Pinned::Row);
      return cell(code_.dispatch[i], i == 0 ? Kind::Linear : Kind::Uniform, Pinned::Cell);
    };
    const auto thread = [&]() -> ScalarId {
      if (size[i] == 1) return constant(Scalar::UInt32, 0);
      if (code_.blocks()) {
        const bool rows = size[0] % kLanes == 0;
        const bool planes = uint64_t{size[0]} * size[1] % kLanes == 0;
        if (i == 0 && rows) return cell(code_.thread[0], Kind::Linear, Pinned::Cell);
        if ((i == 1 && rows) || (i == 2 && planes))
          return cell(code_.thread[i], Kind::Uniform, Pinned::Cell);
        return cell(code_.thread[i], Kind::Varying, Pinned::Row);
      }
      if (aligned) return cell(code_.thread[0], Kind::Linear, Pinned::Cell);
      return emit(Op::RemUnchecked, Scalar::UInt32, Scalar::UInt32, whole(), width);
    };
    const auto block = [&]() -> ScalarId {
      if (code_.blocks() || aligned) return cell(code_.block[i], Kind::Uniform, Pinned::Cell);
      if (size[i] == 1) return whole();
      return emit(Op::DivUnchecked, Scalar::UInt32, Scalar::UInt32, whole(), width);
    };
    if (o.op == Op::DispatchSize)
      out[i] = cell(code_.size[i], Kind::Uniform, Pinned::Cell);
    else if (o.op == Op::ThreadId)
      out[i] = thread();
    else if (o.op == Op::BlockId)
      out[i] = block();
    else if (!code_.blocks())
      out[i] = whole();
    else {
      const ScalarId start =
          size[i] == 1 ? block() : emit(Op::Mul, Scalar::UInt32, Scalar::UInt32, block(), width);
      out[i] =
          size[i] == 1 ? start : emit(Op::Add, Scalar::UInt32, Scalar::UInt32, start, thread());
    }
  }
  if (o.op == Op::DispatchId)
    for (int i = 0; i < 3; ++i) dispatch_ids_[i].push_back(out[i]);
  define(o.first_result, out);
}

}  // namespace lcpy::interp
