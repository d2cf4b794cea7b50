// Values: aggregates fall apart into scalars, and operations on vectors into one node a lane.
#include "interp/flatten.h"

#include <algorithm>
#include <cstring>

#include "kernel/scalar_bits.h"

namespace lcpy::interp {
namespace {

constexpr auto kRows = [] {
  std::array<FlattenRow, kOpCount> rows{};
#define INTERP(op, how) rows[static_cast<int>(Op::op)] = &Flattener::how;
#include "interp/interp.def"
#undef INTERP
#define ELEMENTWISE(op, operands, types, result) \
  rows[static_cast<int>(Op::op)] = &Flattener::element;
#include "kernel/elementwise.def"
#undef ELEMENTWISE
#define FUNCTION(op, operands) rows[static_cast<int>(Op::op)] = &Flattener::element;
#include "interp/functions.def"
#undef FUNCTION
  return rows;
}();

// Sanitisers keep the addresses themselves from being compared while compiling.
constexpr auto kKnown = [] {
  std::array<bool, kOpCount> known{};
#define INTERP(op, how) known[static_cast<int>(Op::op)] = true;
#define ELEMENTWISE(op, operands, types, result) known[static_cast<int>(Op::op)] = true;
#define FUNCTION(op, operands) known[static_cast<int>(Op::op)] = true;
#include "interp/functions.def"
#include "interp/interp.def"
#include "kernel/elementwise.def"
#undef INTERP
#undef ELEMENTWISE
#undef FUNCTION
  return known;
}();
#define OP(name, python, category, shape, usage, level, sync, doc)                    \
  static_assert(OpLevel::level == OpLevel::Ast || kKnown[static_cast<int>(Op::name)], \
                "the interpreter has no row for " #name);
#define REFUSED(name, python, category, usage, reason, doc)
#include "ops/op.def"
#undef OP
#undef REFUSED

enum class Gives : uint8_t { Same, Test, Shift };
constexpr auto kGives = [] {
  std::array<Gives, kOpCount> rows{};
#define ELEMENTWISE(op, operands, types, result) rows[static_cast<int>(Op::op)] = Gives::result;
#include "kernel/elementwise.def"
#undef ELEMENTWISE
  return rows;
}();

}  // namespace

FlattenRow flatten_row(Op op) { return kRows[static_cast<int>(op)]; }

Flattener::Flattener(const KernelDescriptor& d, Strips strips, uint32_t warp_size)
    : d_(d), block_(argument_block(d)) {
  code_.strips = strips;
  code_.warp_size = warp_size;
  parts_.resize(d.values.size());
  code_.slots.assign(d.slots.size(), kNone);
  code_.slot_at.assign(d.slots.size(), 0);
  code_.nodes.reserve(d.ops.size() * 2);
  code_.scalars.reserve(d.values.size() * 2);
  uint64_t shared = 0, scratch = 0;
  for (size_t i = 0; i < d.slots.size(); ++i) {
    const Slot& s = d.slots[i];
    uint64_t* total = s.memory == MemoryClass::Shared    ? &shared
                      : s.memory == MemoryClass::Scratch ? &scratch
                                                         : nullptr;
    if (total == nullptr) continue;
    const uint64_t align = s.type.align() < 8 ? 8 : s.type.align();
    *total = (*total + align - 1) / align * align;
    code_.slot_at[i] = *total;
    *total += s.type.size();
  }
  code_.shared_bytes = shared;
  code_.scratch_bytes = scratch;
  for (auto* ids : {code_.thread, code_.block, code_.dispatch, code_.size})
    for (int i = 0; i < 3; ++i) ids[i] = kNone;
}

// ---- scalars and nodes
// ---------------------------------------------------------------------------

ScalarId Flattener::fresh(Scalar type) {
  code_.scalars.push_back({type});
  return static_cast<ScalarId>(code_.scalars.size() - 1);
}
ScalarId Flattener::constant(Scalar type, uint64_t bits) {
  const auto [it, is_new] = constants_[static_cast<int>(type)].try_emplace(bits, 0);
  if (is_new) {
    it->second = pinned(type, Kind::Uniform, Pinned::Constant);
    code_.scalars[it->second].bits = bits;
  }
  return it->second;
}
ScalarId Flattener::number(Scalar type, double value) {
  return constant(type, scalar_bits(type, value));
}
ScalarId Flattener::pinned(Scalar type, Kind kind, Pinned how) {
  const ScalarId s = fresh(type);
  code_.scalars[s].kind = kind;
  code_.scalars[s].pinned = how;
  return s;
}
Node& Flattener::node(NodeKind kind) {
  Node& n = code_.nodes.emplace_back();
  if (code_.nodes.size() > (size_t{1} << 23))
    throw UnsupportedError(make_diagnostic(
        Diag::limit_exceeded, d_.functions[0].span,
        {"the number of operations with all calls written out", "over 8 million",
         "the cpu device", "8 million"}));
  n.kind = kind;
  n.region = region_;
  return n;
}
ScalarId Flattener::emit(Op op, Scalar type, Scalar result, ScalarId a, ScalarId b, ScalarId c) {
  const ScalarId d = fresh(result);
  Node& n = node(type == Scalar::Bool ? NodeKind::Mask : NodeKind::Element);
  n.op = op;
  n.type = type;
  n.d = d, n.a = a, n.b = b, n.c = c;
  return d;
}
ScalarId Flattener::emit_convert(Scalar from, Scalar to, ScalarId a) {
  const auto is_integer = [](Scalar s) {
    return scalar_class(s) == ScalarClass::Signed || scalar_class(s) == ScalarClass::Unsigned;
  };
  // Integers of one width differ in name only.
  if (from == to || (is_integer(from) && is_integer(to) && scalar_size(from) == scalar_size(to)))
    return a;
  const ScalarId d = fresh(to);
  Node& n = node(NodeKind::Convert);
  n.type = from, n.to = to;
  n.d = d, n.a = a;
  return d;
}

// ---- values
// --------------------------------------------------------------------------------------

void Flattener::append_leaves(Type t, uint64_t offset) {
  if (t.is_scalar()) {
    if (code_.leaves.size() >= (size_t{1} << 20))
      throw UnsupportedError(make_diagnostic(
          Diag::limit_exceeded, d_.functions[0].span,
          {"the count of numbers in arrays and structs that are handled as a whole",
           "over a million", "the cpu device", "1,048,576"}));
    code_.leaves.push_back({t.scalar(), offset});
    return;
  }
  for (uint64_t i = 0; i < t.count(); ++i) append_leaves(t.component(i), offset + t.offset(i));
}
Flattener::LeafRange Flattener::leaves(Type t) {
  const auto it = leaves_.find(t.index());
  if (it != leaves_.end()) return it->second;
  const uint32_t begin = static_cast<uint32_t>(code_.leaves.size());
  append_leaves(t, 0);
  return leaves_[t.index()] = {begin, static_cast<uint32_t>(code_.leaves.size()) - begin};
}
uint32_t Flattener::leaf_index(Type t, std::span<const Operand> path) {
  uint32_t at = 0;
  for (const Operand& x : path) {
    if (t.is_struct()) {
      for (uint32_t i = 0; i < x.index; ++i) at += leaves(t.component(i)).count;
    } else {
      at += x.index * leaves(t.component(0)).count;
    }
    t = t.component(x.index);
  }
  return at;
}

std::span<const ScalarId> Flattener::parts(ValueId v) {
  Parts& p = parts_[v.value];
  if (p.at == nullptr) {
    LCPY_CHECK(d_.is_constant(v));
    const auto bytes = d_.constant_bytes(v);
    const LeafRange r = leaves(d_.type_of(v));
    Scalars scalars(r.count);
    for (uint32_t i = 0; i < r.count; ++i) {
      const Leaf leaf = code_.leaves[r.begin + i];
      uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + leaf.offset, scalar_size(leaf.type));
      if (leaf.type == Scalar::Bool) bits = bits != 0 ? kAllLanes : 0;
      scalars[i] = constant(leaf.type, bits);
    }
    define(v, scalars);
  }
  return {p.at, p.count};
}
void Flattener::define(ValueId v, std::span<const ScalarId> scalars) {
  if (scalars.size() > chunk_left_) {
    chunk_left_ = scalars.size() > 4096 ? scalars.size() : 4096;
    chunks_.push_back(std::make_unique<ScalarId[]>(chunk_left_));
    chunk_at_ = chunks_.back().get();
  }
  std::copy(scalars.begin(), scalars.end(), chunk_at_);
  parts_[v.value] = {chunk_at_, static_cast<uint32_t>(scalars.size())};
  if (scalars.empty()) parts_[v.value].at = chunk_at_;
  chunk_at_ += scalars.size();
  chunk_left_ -= scalars.size();
}
void Flattener::define_results(const Operation& o, std::span<const ScalarId> scalars) {
  for (uint32_t i = 0; i < o.result_count; ++i) {
    const ValueId v = d_.result(o, i);
    const uint32_t n = leaves(d_.type_of(v)).count;
    define(v, scalars.first(n));
    scalars = scalars.subspan(n);
  }
}

void Flattener::element(const Operation& o) {
  const Type t = type_of(o, 0);
  if (!t.is_lanes()) return expanded(o);
  const Scalar type = t.scalar();
  const Gives gives = kGives[static_cast<int>(o.op)];
  Scalars out(t.lanes());
  for (uint32_t i = 0; i < t.lanes(); ++i) {
    const ScalarId a = args(o, 0)[i];
    ScalarId b = o.operand_count > 1 ? args(o, 1)[i] : kNone;
    const ScalarId c = o.operand_count > 2 ? args(o, 2)[i] : kNone;
    if (gives == Gives::Shift) b = emit_convert(type_of(o, 1).scalar(), type, b);
    if (surely_inside(o, a, b))
      out[i] = constant(Scalar::Bool, kAllLanes);
    else if (o.op == Op::BitAnd && type == Scalar::Bool && is_constant(a, kAllLanes))
      out[i] = b;
    else if (o.op == Op::BitAnd && type == Scalar::Bool && is_constant(b, kAllLanes))
      out[i] = a;
    else
      out[i] = emit(o.op, type, gives == Gives::Test ? Scalar::Bool : type, a, b, c);
  }
  define(o.first_result, out);
}

// Where lanes past the end do not run at all, the guard against them is known.
bool Flattener::surely_inside(const Operation& o, ScalarId a, ScalarId b) const {
  if (o.op != Op::Less || code_.strips == Strips::RaggedBlocks) return false;
  for (int i = 0; i < 3; ++i)
    if (b == code_.size[i] && b != kNone)
      return std::find(dispatch_ids_[i].begin(), dispatch_ids_[i].end(), a) !=
             dispatch_ids_[i].end();
  return false;
}

void Flattener::select(const Operation& o) {
  const LeafRange r = leaves(result_type(o));
  Scalars out(r.count);
  const bool by_lane = type_of(o, 0).is_vector();
  for (uint32_t i = 0; i < r.count; ++i) {
    const Scalar type = code_.leaves[r.begin + i].type;
    out[i] = fresh(type);
    const ScalarId a = args(o, 0)[by_lane ? i : 0], b = args(o, 1)[i], c = args(o, 2)[i];
    Node& n = node(NodeKind::Choose);
    n.type = type;
    n.d = out[i], n.a = a, n.b = b, n.c = c;
  }
  define(o.first_result, out);
}

void Flattener::clamp(const Operation& o) {
  const Scalar type = result_type(o).scalar();
  Scalars out(result_type(o).lanes());
  for (uint32_t i = 0; i < out.size(); ++i)
    out[i] = emit(Op::Min, type, type, emit(Op::Max, type, type, args(o, 0)[i], args(o, 1)[i]),
                  args(o, 2)[i]);
  define(o.first_result, out);
}
void Flattener::saturate(const Operation& o) {
  const Scalar type = result_type(o).scalar();
  const ScalarId zero = number(type, 0), one = number(type, 1);
  Scalars out(result_type(o).lanes());
  for (uint32_t i = 0; i < out.size(); ++i)
    out[i] = emit(Op::Min, type, type, emit(Op::Max, type, type, args(o, 0)[i], zero), one);
  define(o.first_result, out);
}
void Flattener::lerp(const Operation& o) {
  const Scalar type = result_type(o).scalar();
  Scalars out(result_type(o).lanes());
  for (uint32_t i = 0; i < out.size(); ++i) {
    const ScalarId a = args(o, 0)[i], b = args(o, 1)[i], t = args(o, 2)[i];
    out[i] =
        emit(Op::Add, type, type, a, emit(Op::Mul, type, type, t, emit(Op::Sub, type, type, b, a)));
  }
  define(o.first_result, out);
}
void Flattener::step(const Operation& o) {
  const Scalar type = result_type(o).scalar();
  const ScalarId zero = number(type, 0), one = number(type, 1);
  Scalars out(result_type(o).lanes());
  for (uint32_t i = 0; i < out.size(); ++i) {
    const ScalarId below = emit(Op::Less, type, Scalar::Bool, args(o, 1)[i], args(o, 0)[i]);
    out[i] = fresh(type);
    Node& n = node(NodeKind::Choose);
    n.type = type;
    n.d = out[i], n.a = below, n.b = zero, n.c = one;
  }
  define(o.first_result, out);
}

void Flattener::convert(const Operation& o) {
  const Scalar from = type_of(o, 0).scalar(), to = result_type(o).scalar();
  if (!result_type(o).is_basic()) return expanded(o);
  Scalars out(args(o, 0).size());
  for (uint32_t i = 0; i < out.size(); ++i) out[i] = emit_convert(from, to, args(o, 0)[i]);
  define(o.first_result, out);
}

void Flattener::bitcast(const Operation& o) {
  const Scalar from = type_of(o, 0).scalar(), to = result_type(o).scalar();
  const uint32_t from_size = scalar_size(from), to_size = scalar_size(to);
  const auto source = args(o, 0);
  if (from_size == to_size) return define(o.first_result, source);
  const auto bits = [](uint32_t size) {
    return size == 1   ? Scalar::UInt8
           : size == 2 ? Scalar::UInt16
           : size == 4 ? Scalar::UInt32
                       : Scalar::UInt64;
  };
  const Scalar narrow = bits(std::min(from_size, to_size)),
               wide = bits(std::max(from_size, to_size));
  const uint32_t ratio = scalar_size(wide) / scalar_size(narrow), width = 8 * scalar_size(narrow);
  Scalars out;
  if (from_size < to_size) {
    for (size_t i = 0; i < source.size(); i += ratio) {
      ScalarId whole = emit_convert(narrow, wide, source[i]);
      for (uint32_t k = 1; k < ratio; ++k) {
        const ScalarId piece = emit(Op::Shl, wide, wide, emit_convert(narrow, wide, source[i + k]),
                                    constant(wide, k * width));
        whole = emit(Op::BitOr, wide, wide, whole, piece);
      }
      out.push_back(whole);
    }
  } else {
    for (ScalarId s : source)
      for (uint32_t k = 0; k < ratio; ++k)
        out.push_back(emit_convert(
            wide, narrow, k == 0 ? s : emit(Op::Shr, wide, wide, s, constant(wide, k * width))));
  }
  define(o.first_result, out);
}

void Flattener::construct(const Operation& o) {
  Scalars out;
  for (uint32_t i = 0; i < o.operand_count; ++i) {
    const auto p = args(o, i);
    out.insert(out.end(), p.begin(), p.end());
  }
  define(o.first_result, out);
}
void Flattener::extract(const Operation& o) {
  const auto path = d_.operands_of(o).subspan(1);
  const auto whole = args(o, 0);
  define(o.first_result,
         whole.subspan(leaf_index(type_of(o, 0), path), leaves(result_type(o)).count));
}
void Flattener::insert(const Operation& o) {
  const auto whole = args(o, 0), piece = args(o, 1);
  Scalars out(whole.begin(), whole.end());
  std::copy(piece.begin(), piece.end(),
            out.begin() + leaf_index(result_type(o), d_.operands_of(o).subspan(2)));
  define(o.first_result, out);
}
void Flattener::shuffle(const Operation& o) {
  Scalars out;
  for (uint32_t i = 1; i < o.operand_count; ++i) out.push_back(args(o, 0)[operand(o, i).index]);
  define(o.first_result, out);
}

void Flattener::reduce(const Operation& o) {
  const Op op = o.op == Op::All         ? Op::BitAnd
                : o.op == Op::Any       ? Op::BitOr
                : o.op == Op::ReduceSum ? Op::Add
                : o.op == Op::ReduceMin ? Op::Min
                : o.op == Op::ReduceMax ? Op::Max
                                        : Op::Mul;
  const Scalar type = type_of(o, 0).scalar();
  const auto lanes = args(o, 0);
  ScalarId total = lanes[0];
  for (size_t i = 1; i < lanes.size(); ++i) {
    if (op == Op::BitAnd && is_constant(total, kAllLanes))
      total = lanes[i];
    else if (op != Op::BitAnd || !is_constant(lanes[i], kAllLanes))
      total = emit(op, type, type, total, lanes[i]);
  }
  define(o.first_result, {&total, 1});
}

// ---- warps
// -------------------------------------------------------------------------------------

ScalarId Flattener::warp_node(Op op, Scalar type, Scalar gives, ScalarId a, ScalarId lane) {
  const ScalarId d = fresh(gives);
  Node& n = node(NodeKind::Warp);
  n.op = op;
  n.type = type;
  n.d = d, n.a = a, n.b = lane;
  return d;
}

void Flattener::warp(const Operation& o) {
  const Type result = result_type(o);
  Scalars out(result.lanes());
  for (uint32_t i = 0; i < out.size(); ++i) {
    const bool takes = o.operand_count > 0;
    const ScalarId lane = o.operand_count > 1 ? part(operand(o, 1).value()) : kNone;
    out[i] = warp_node(o.op, takes ? type_of(o, 0).scalar() : result.scalar(), result.scalar(),
                       takes ? args(o, 0)[i] : kNone, lane);
  }
  define(o.first_result, out);
}

void Flattener::warp_size(const Operation& o) {
  const ScalarId d = constant(Scalar::UInt32, code_.warp_size);
  define(o.first_result, {&d, 1});
}

// A warp has 64 lanes at the most: two words.
void Flattener::warp_ballot(const Operation& o) {
  const ScalarId zero = constant(Scalar::UInt32, 0);
  Scalars out(4, zero);
  for (uint32_t i = 0; i < 2; ++i)
    out[i] = warp_node(Op::WarpBallot, Scalar::Bool, Scalar::UInt32, part(operand(o, 0).value()),
                       constant(Scalar::UInt32, i));
  define(o.first_result, out);
}

void Flattener::expanded(const Operation& o) {
  throw BugError("the interpreter met " + std::string(op_row(o.op).name) +
                 ", which pass_expand removes");
}

Code flatten(const KernelDescriptor& d, Strips strips, uint32_t warp_size) {
  return Flattener(d, strips, warp_size).run();
}

}  // namespace lcpy::interp
