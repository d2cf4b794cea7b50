// Instructions of memory nodes. Indices that are equal in all lanes go into the pointer; one that
// is not stays an index; several become one 64-bit offset a lane.
#include "interp/encode.h"

#include <limits>

namespace lcpy::interp {
namespace {

int element_index(Scalar s) {
  return s == Scalar::Bool ? kBoolElement : size_index(scalar_size(s));
}
bool fits(int64_t v) {
  return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
}
Scalar index_scalar(Index i) {
  return i == Index::Int32 ? Scalar::Int32 : i == Index::UInt32 ? Scalar::UInt32 : Scalar::Int64;
}
uint32_t index_bytes(Index i) { return i == Index::Int64 ? 8 : 4; }

}  // namespace

// The sum of all indices times their strides that differ between lanes, in bytes.
uint32_t Encoder::offset_row(const Node& n) {
  uint32_t total = kNone;
  for (uint32_t i = 0; i < n.term_count; ++i) {
    const Term& t = code_.terms[n.terms + i];
    if (kind(t.index) == Kind::Uniform) continue;
    const uint32_t narrow = as_row(t.index, index_bytes(t.type)), wide = temporary_row(8);
    if (t.type == Index::Int64)
      put(loops_.copy[3], wide, narrow);
    else
      put(loops_
              .convert[static_cast<int>(index_scalar(t.type))][static_cast<int>(Scalar::Int64)][1],
          wide, narrow);
    const uint32_t stride = temporary_cell();
    put(flow::constant_cell(), stride).imm = t.stride * (n.lanes ? kLanes : 1);
    const auto& mul = loops_.ops[static_cast<int>(Op::Mul)][static_cast<int>(Scalar::Int64)];
    put(mul[static_cast<int>(Form::RowCell)], wide, wide, stride);
    const auto& add = loops_.ops[static_cast<int>(Op::Add)][static_cast<int>(Scalar::Int64)];
    if (total != kNone) put(add[static_cast<int>(Form::Rows)], wide, wide, total);
    total = wide;
  }
  return total;
}

Encoder::Address Encoder::address(const Node& n, bool offsets_only) {
  Address a;
  a.pointer = place(n.a);
  const int64_t scale = n.lanes ? kLanes : 1;
  const Term* differs = nullptr;
  uint32_t differing = 0;
  for (uint32_t i = 0; i < n.term_count; ++i) {
    const Term& t = code_.terms[n.terms + i];
    if (kind(t.index) != Kind::Uniform) {
      differs = &t;
      ++differing;
      continue;
    }
    const uint32_t sum = temporary_cell();
    put(flow::address(t.type), sum, a.pointer, place(t.index)).imm = t.stride * scale;
    a.pointer = sum;
  }
  if (differing == 0) return a;
  if (differing == 1 && fits(differs->stride * scale) && !offsets_only) {
    const bool linear = kind(differs->index) == Kind::Linear && !n.lanes;
    a.mode = linear ? Address::Mode::Linear : Address::Mode::Row;
    a.index = linear ? place(differs->index) : as_row(differs->index, index_bytes(differs->type));
    a.type = differs->type;
    a.stride = differs->stride * scale;
    return a;
  }
  a.mode = Address::Mode::Row;
  a.index = offset_row(n);
  a.type = Index::Int64;
  a.stride = 1;
  return a;
}

// Offsets beyond 2 GB go into the pointer.
int32_t Encoder::offset_of(Address& a, int64_t offset) {
  if (fits(offset)) return static_cast<int32_t>(offset);
  const uint32_t far = temporary_cell(), sum = temporary_cell();
  put(flow::constant_cell(), far).imm = offset;
  put(flow::address(Index::Int64), sum, a.pointer, far).imm = 1;
  a.pointer = sum;
  return 0;
}

// Where a load in a loop keeps its last address; 0 outside of loops. Cell 0 is never given here.
uint32_t Encoder::last_address(const Node& n) {
  uint32_t r = n.region;
  while (code_.regions[r].type == Region::Type::If) r = code_.regions[r].parent;
  if (code_.regions[r].type != Region::Type::Loop) return 0;
  cells_ += 8;
  return cells_ - 8;
}

// One scalar at an index that all lanes share.
bool Encoder::load_one_at(const Node& n, uint32_t index) {
  const Term& t = code_.terms[n.terms];
  const Leaf leaf = code_.leaves[n.leaf];
  const int64_t offset = n.offset + static_cast<int64_t>(leaf.offset);
  if (kind(t.index) != Kind::Uniform || !fits(t.stride) || !fits(offset)) return false;
  const uint32_t a = place(n.a), b = place(t.index);
  release(index);
  Instr& in = put(loops_.load_cell_at[element_index(leaf.type)][static_cast<int>(t.type)],
                  define(code_.lists[n.list]), a, b);
  in.offset = static_cast<int32_t>(offset);
  in.stride = static_cast<int32_t>(t.stride);
  return true;
}

void Encoder::load(const Node& n, uint32_t index) {
  const int64_t scale = n.lanes ? kLanes : 1;
  if (n.count == 1 && n.term_count == 1 && !n.lanes && load_one_at(n, index)) return;
  Address a = address(n, false);
  if (n.count == 1) release(index);  // with more, a result could take the index's row too early
  for (uint32_t i = 0; i < n.count; ++i) {
    const ScalarId d = code_.lists[n.list + i];
    if (d == kNone) continue;
    const Leaf leaf = code_.leaves[n.leaf + i];
    const int k = element_index(leaf.type), x = static_cast<int>(a.type);
    Address here = a;
    const int32_t offset = offset_of(here, (n.offset + static_cast<int64_t>(leaf.offset)) * scale);
    Fn fn = nullptr;
    switch (a.mode) {
      case Address::Mode::Cell:
        fn = n.lanes ? loops_.load_lanes[k] : loops_.load_cell[k];
        break;
      case Address::Mode::Linear:
        fn = loops_.load_linear[k][x];
        break;
      case Address::Mode::Row:
        fn = n.lanes ? loops_.load_lanes_row[k][x] : loops_.load_row[k][x];
        break;
    }
    Instr& in = put(fn, define(d), here.pointer, a.index,
                    a.mode == Address::Mode::Linear ? last_address(n) : 0);
    in.offset = offset;
    in.stride = static_cast<int32_t>(a.stride);
  }
}

void Encoder::store(const Node& n) {
  Address a = address(n, false);
  const int64_t scale = n.lanes ? kLanes : 1;
  for (uint32_t i = 0; i < n.count; ++i) {
    const ScalarId v = code_.lists[n.list + i];
    const Leaf leaf = code_.leaves[n.leaf + i];
    const int k = element_index(leaf.type), x = static_cast<int>(a.type);
    Address here = a;
    const int32_t offset = offset_of(here, (n.offset + static_cast<int64_t>(leaf.offset)) * scale);
    const bool one = a.mode == Address::Mode::Cell && !n.lanes;
    const bool as_cell = leaf.type == Scalar::Bool || (one && kind(v) == Kind::Uniform);
    const uint32_t c = as_cell ? place(v) : as_row(v, scalar_size(leaf.type));
    Fn fn = nullptr;
    switch (a.mode) {
      case Address::Mode::Cell:
        fn = n.lanes                    ? loops_.store_lanes[k]
             : kind(v) == Kind::Uniform ? loops_.store_cell[k]
                                        : loops_.store_last[k];
        break;
      case Address::Mode::Linear:
        fn = loops_.store_linear[k][x];
        break;
      case Address::Mode::Row:
        fn = n.lanes ? loops_.store_lanes_row[k][x] : loops_.store_row[k][x];
        break;
    }
    Instr& in = put(fn, 0, here.pointer, a.index, c);
    in.offset = offset;
    in.stride = static_cast<int32_t>(a.stride);
  }
}

void Encoder::atomic(const Node& n, uint32_t index) {
  const bool compares = n.op == Op::AtomicCompareExchange;
  Address a = address(n, compares);
  if (a.mode == Address::Mode::Linear) {  // atomics take rows
    a.mode = Address::Mode::Row;
    const uint32_t ramp = temporary_row(index_bytes(a.type));
    put(loops_.ramp[a.type == Index::Int64 ? 1 : 0], ramp, a.index);
    a.index = ramp;
  }
  const uint32_t bytes = scalar_size(n.type);
  const int32_t offset = offset_of(a, n.offset);
  const uint32_t c = n.c == kNone ? 0 : as_row(n.c, bytes);
  const uint32_t e = n.e == kNone ? kNone : as_row(n.e, bytes);
  release(index);
  const Fn fn = atomic_fn(n.op, n.type, n.shared,
                          a.mode == Address::Mode::Row ? static_cast<int>(a.type) : kIndices);
  if (fn == nullptr)
    throw BugError("the interpreter has no " + std::string(op_row(n.op).name) + " of " +
                   std::string(scalar_name(n.type)));
  const bool asked = code_.scalars[n.d].last > index;
  Instr& in = put(fn, asked ? define(n.d) : 0, a.pointer, a.index, c);
  in.offset = offset;
  in.stride = static_cast<int32_t>(a.stride);
  if (e != kNone) wished_.push_back({at() - 1, e});
}

}  // namespace lcpy::interp
