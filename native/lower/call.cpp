// Builtin calls. A row that a descriptor can hold passes through under its own name; the others,
// and those whose operands are places or buffers, name their function in the table below, which the
// compiler checks to be complete.
#include <array>
#include <cstring>

#include "base/error.h"
#include "kernel/scalar_bits.h"
#include "lower/lowering.h"
#include "types/spelling.h"

namespace lcpy::lower {

// By operation: how its call is lowered.
struct CallTable {
  using Lower = ValueId (FunctionLowering::*)(const ExprNode&);
  struct Row {
    Op op;
    Lower lower;
  };
  using F = FunctionLowering;
  static constexpr Row kRows[] = {
      {Op::Make, &F::call_make},
      {Op::MakeStruct, &F::call_make_struct},
      {Op::Zero, &F::call_zero},
      {Op::One, &F::call_one},
      {Op::BlockSize, &F::call_block_size},
      {Op::BufferRead, &F::call_buffer_read},
      {Op::BufferVolatileRead, &F::call_buffer_read},
      {Op::BufferWrite, &F::call_buffer_write},
      {Op::BufferVolatileWrite, &F::call_buffer_write},
      {Op::ByteBufferRead, &F::call_byte_read},
      {Op::ByteBufferWrite, &F::call_byte_write},
      {Op::ByteBufferVolatileRead, &F::call_byte_read},
      {Op::ByteBufferVolatileWrite, &F::call_byte_write},
      {Op::Pack, &F::call_pack},
      {Op::Unpack, &F::call_unpack},
      {Op::ByteBufferSize, &F::call_length},
      {Op::BufferLength, &F::call_length},
      {Op::BufferLength64, &F::call_length},
      {Op::BufferExtent, &F::call_extent},
      {Op::SyncBlock, &F::call_effect},
      {Op::Assume, &F::call_assume},
      {Op::HintFlatten, &F::call_hint},
      {Op::HintBranch, &F::call_hint},
      {Op::HintForceCase, &F::call_hint},
      {Op::Bitcast, &F::call_plain},
      {Op::Pow, &F::call_pow},
      {Op::WarpReadLane, &F::call_read_lane},
      {Op::Trap, &F::call_trap},
  };
  // Operators that are nodes of their own in the AST, and a statement.
  static constexpr Op kElsewhere[] = {Op::And, Op::Or, Op::IfElse, Op::Unreachable};

  std::array<Lower, kOpCount> lower{};
  std::array<bool, kOpCount> present{};
  constexpr void set(Op op, Lower l) {
    lower[static_cast<size_t>(op)] = l;
    present[static_cast<size_t>(op)] = true;
  }
  static constexpr CallTable make() {
    CallTable table;
#define OP(name, python, category, shape, usage, level, sync, doc)               \
  if (OpCategory::category == OpCategory::Atomic)                                \
    table.set(Op::name, &F::call_atomic);                                        \
  else if (OpLevel::level == OpLevel::Both && OpUsage::usage != OpUsage::Write0) \
    table.set(Op::name, &F::call_plain);
#define REFUSED(name, python, category, usage, reason, doc)
#include "ops/op.def"
#undef OP
#undef REFUSED
    for (const Row& r : kRows) table.set(r.op, r.lower);
    return table;
  }
  // Known here: it has a row, it is a node or statement of its own, or no program can name it.
  static constexpr bool knows(Op op, OpLevel level) {
    for (Op other : kElsewhere)
      if (op == other) return true;
    return make().present[static_cast<size_t>(op)] || level == OpLevel::Kernel;
  }
};
#define OP(name, python, category, shape, usage, level, sync, doc) \
  static_assert(CallTable::knows(Op::name, OpLevel::level), "no lowering for calls of " #name);
#define REFUSED(name, python, category, usage, reason, doc)
#include "ops/op.def"
#undef OP
#undef REFUSED

ValueId FunctionLowering::call(const ExprNode& n) {
  static constexpr auto kTable = CallTable::make();
  const CallTable::Lower lower = kTable.lower[static_cast<size_t>(n.op)];
  if (!kTable.present[static_cast<size_t>(n.op)])
    throw BugError("a call of " + std::string(op_row(n.op).name) + " in the AST");
  return (this->*lower)(n);
}

ValueId FunctionLowering::call_plain(const ExprNode& n) {
  InlineVector<ValueId, 4> operands;
  for (ExprId x : f_.args_of(n)) operands.push_back(value(x));
  b_.set_span(n.span);
  return b_.emit(n.op, n.type, operands);
}

// x ** 2 is x * x: exact to the last bit, where a target's pow need not be.
ValueId FunctionLowering::call_pow(const ExprNode& n) {
  const ValueId x = value(f_.args_of(n)[0]), y = value(f_.args_of(n)[1]);
  b_.set_span(n.span);
  if (d_.type_of(x) == n.type && is_number(y, 2)) return b_.emit(Op::Mul, n.type, {x, x});
  return b_.emit(n.op, n.type, {x, y});
}

// A lane that no uint can hold does not exist, whatever its type.
ValueId FunctionLowering::call_read_lane(const ExprNode& n) {
  const ValueId v = value(f_.args_of(n)[0]);
  ValueId lane = value(f_.args_of(n)[1]);
  b_.set_span(n.span);
  const Type uint = Type::of(Scalar::UInt32), ulong = Type::of(Scalar::UInt64);
  if (d_.type_of(lane).size() == 8) {
    const ValueId most = b_.integer(ulong, 0xffffffffu);
    lane = b_.emit(Op::Min, ulong, {convert(lane, ulong), most});
  }
  return b_.emit(n.op, n.type, {v, convert(lane, uint)});
}

// True for a constant, or a scalar constant spread over lanes, all of whose lanes are `number`.
bool FunctionLowering::is_number(ValueId v, double number) const {
  const Value& known = d_.values[v.value];
  if (known.def == Value::Def::Result) {
    const Operation& o = d_.op(OpId(known.source));
    if (o.op != Op::Construct) return false;
    for (const Operand& part : d_.operands_of(o))
      if (!is_number(part.value(), number)) return false;
    return true;
  }
  if (!d_.is_constant(v)) return false;
  const Type t = d_.type_of(v);
  const auto bytes = d_.constant_bytes(v);
  const uint64_t bits = scalar_bits(t.scalar(), number);
  const size_t size = scalar_size(t.scalar());
  for (uint32_t i = 0; i < t.lanes(); i++)
    if (std::memcmp(bytes.data() + i * size, &bits, size) != 0) return false;
  return true;
}

ValueId FunctionLowering::call_effect(const ExprNode& n) {
  b_.set_span(n.span);
  b_.append(n.op, {});
  return {};
}

// What the condition's own evaluation does still happens; the promise itself is not used.
ValueId FunctionLowering::call_assume(const ExprNode& n) {
  value(f_.args_of(n)[0]);
  return {};
}

ValueId FunctionLowering::call_trap(const ExprNode& n) {
  const ValueId code = index_value(f_.args_of(n)[0]);
  const uint32_t site = all_.add_site(Site::Kind::Trap, "", {d_.type_of(code)}, n.span);
  b_.set_span(n.span);
  const Operand operands[] = {Operand::imm(site), Operand::of(code)};
  b_.append(Op::Trap, operands);
  return {};
}

ValueId FunctionLowering::call_hint(const ExprNode& n) {
  hint_ = n.op == Op::HintFlatten ? 1 : n.op == Op::HintBranch ? 2 : 3;
  return {};
}

// ---- makers
// -----------------------------------------------------------------------------------------

ValueId FunctionLowering::call_make(const ExprNode& n) {
  const Type t = n.type;
  InlineVector<ValueId, 8> parts;
  for (ExprId x : f_.args_of(n)) parts.push_back(value(x));
  b_.set_span(n.span);
  if (parts.size() == 1) {
    const Type from = d_.type_of(parts[0]);
    if (from.lanes() == t.lanes() && from.tag() == t.tag()) return convert(parts[0], t);
    if (from.is_vector() && t.is_scalar()) return convert(b_.extract(parts[0], {0}), t);
    if (from.is_vector() && t.is_vector()) {
      LCPY_CHECK(from.lanes() > t.lanes());
      constexpr uint8_t kFirst[] = {0, 1, 2, 3};
      return convert(shuffle(parts[0], {kFirst, t.lanes()}), t);
    }
    LCPY_CHECK(from.is_scalar());
    const ValueId s = convert(parts[0], Type::of(t.scalar()));
    if (t.is_vector()) return splat(s, t);
    const ValueId column = splat(s, t.element());
    const ValueId columns[] = {column, column, column, column};
    return b_.construct(t, {columns, t.lanes()});
  }
  if (t.is_matrix() && parts.size() == t.lanes() && d_.type_of(parts[0]).is_vector())
    return b_.construct(t, parts);
  // A mix of lanes: scalars of the parts, one after the other.
  InlineVector<ValueId, 16> lanes;
  for (ValueId p : parts) {
    const Type from = d_.type_of(p);
    for (uint32_t i = 0; i < from.lanes(); i++)
      lanes.push_back(convert(from.is_scalar() ? p : b_.extract(p, {i}), Type::of(t.scalar())));
  }
  if (t.is_vector()) {
    LCPY_CHECK(lanes.size() == t.lanes());
    return b_.construct(t, lanes);
  }
  LCPY_CHECK(t.is_matrix() && lanes.size() == t.lanes() * t.lanes());
  ValueId columns[4];
  for (uint32_t c = 0; c < t.lanes(); c++)
    columns[c] = b_.construct(t.element(), std::span(lanes.data() + c * t.lanes(), t.lanes()));
  return b_.construct(t, {columns, t.lanes()});
}

ValueId FunctionLowering::call_make_struct(const ExprNode& n) {
  InlineVector<ValueId, 8> parts;
  for (ExprId x : f_.args_of(n)) parts.push_back(value(x));
  b_.set_span(n.span);
  return b_.construct(n.type, parts);
}

ValueId FunctionLowering::call_zero(const ExprNode& n) { return b_.zero(n.type); }

namespace {

void fill_ones(Type t, std::byte* to) {
  if (t.is_scalar()) {
    const uint64_t bits = scalar_bits(t.scalar(), 1);
    for (uint64_t k = 0; k < t.size(); k++) to[k] = std::byte(bits >> (8 * k));
    return;
  }
  for (uint64_t i = 0; i < t.count(); i++) fill_ones(t.component(i), to + t.offset(i));
}

}  // namespace

ValueId FunctionLowering::call_one(const ExprNode& n) {
  std::vector<std::byte> bytes(n.type.size());
  fill_ones(n.type, bytes.data());
  return b_.constant(n.type, bytes);
}

ValueId FunctionLowering::call_block_size(const ExprNode& n) {
  const Type t = Type::of(Scalar::UInt32);
  ValueId parts[3];
  for (int i = 0; i < 3; i++) parts[i] = b_.integer(t, d_.block_size[i]);
  b_.set_span(n.span);
  return b_.construct(n.type, parts);
}

// ---- buffers
// ----------------------------------------------------------------------------------------

SlotId FunctionLowering::resource(ExprId e) const {
  const ExprNode& n = f_.expr(e);
  LCPY_CHECK(n.kind == ExprKind::Ref && f_.variables()[n.index].kind == VariableKind::Resource);
  return homes_[n.index].slot;
}

namespace {
constexpr uint8_t kVolatile = 8;
}

ValueId FunctionLowering::call_buffer_read(const ExprNode& n) {
  const auto args = f_.args_of(n);
  resource(args[0]);
  const Place p = element_place(f_.expr(args[0]).index, args.subspan(1));
  return read(p, n.span, n.op == Op::BufferVolatileRead ? kVolatile : 0);
}

ValueId FunctionLowering::call_buffer_write(const ExprNode& n) {
  const auto args = f_.args_of(n);
  resource(args[0]);
  const Place p = element_place(f_.expr(args[0]).index, args.subspan(1, args.size() - 2));
  const ValueId v = value(args.back());
  b_.set_span(n.span);
  write(p, v, n.span, n.op == Op::BufferVolatileWrite ? kVolatile : 0);
  return {};
}

// All bytes of a t at `offset` lie within the buffer.
// That `count` bytes or words from `offset` on are inside.
void FunctionLowering::check_room(SlotId slot, ValueId offset, uint64_t count, const char* kind,
                                  Type t, Span span) {
  if (!checks()) return;
  const ValueId size = length_of(slot, d_.type_of(offset));
  const Type unit = d_.type_of(size), boolean = Type::of(Scalar::Bool);
  const ValueId before = b_.integer(unit, count - 1);
  const ValueId fits = b_.emit(Op::Less, boolean, {before, size});
  const ValueId room = b_.emit(Op::Sub, unit, {size, before});
  const ValueId limit = b_.emit(Op::Select, unit, {fits, room, b_.zero(unit)});
  check_buffer(offset, limit, size, kind + (" '" + d_.slot(slot).name + "'"), span, t);
}

void FunctionLowering::check_bytes(SlotId slot, ValueId offset, Type t, Span span) {
  check_room(slot, offset, t.size(), "byte buffer", t, span);
}

ValueId FunctionLowering::call_byte_read(const ExprNode& n) {
  const auto args = f_.args_of(n);
  const SlotId slot = resource(args[0]);
  const ValueId offset = index_value(args[1]);
  b_.set_span(n.span);
  check_bytes(slot, offset, n.type, n.span);
  const Operand operands[] = {Operand::of(slot), Operand::of(offset)};
  mark(slot, Access::Read);
  const uint8_t flags = n.op == Op::ByteBufferVolatileRead ? kVolatile : 0;
  return d_.result(d_.op(b_.append(Op::ByteLoad, operands, {&n.type, 1}, flags)));
}

ValueId FunctionLowering::call_byte_write(const ExprNode& n) {
  const auto args = f_.args_of(n);
  const SlotId slot = resource(args[0]);
  const ValueId offset = index_value(args[1]);
  const ValueId v = value(args[2]);
  b_.set_span(n.span);
  check_bytes(slot, offset, d_.type_of(v), n.span);
  const Operand operands[] = {Operand::of(slot), Operand::of(v), Operand::of(offset)};
  mark(slot, Access::Write);
  b_.append(Op::ByteStore, operands, {}, n.op == Op::ByteBufferVolatileWrite ? kVolatile : 0);
  return {};
}

// ---- values in words
// ------------------------------------------------------------------------------

namespace {

Type word_type() { return Type::of(Scalar::UInt32); }

}  // namespace

// A chain of one word after another, from the offset that the program gives.
// Words that `pack` writes of a value.
static uint64_t packed_words(Type t) {
  if (t.is_scalar()) return scalar_size(t.scalar()) == 8 ? 2 : 1;
  if (!t.is_struct()) return t.count() * packed_words(t.component(0));
  uint64_t words = 0;
  for (const Type member : t.members()) words += packed_words(member);
  return words;
}

FunctionLowering::WordPlace FunctionLowering::word_place(const ExprNode& n, Type t) {
  const auto args = f_.args_of(n);
  const WordPlace p{resource(args[0]), index_value(args[1]), 0};
  check_room(p.slot, p.offset, packed_words(t), "buffer", Type::of(Scalar::UInt32), n.span);
  return p;
}

Operand FunctionLowering::next_word(WordPlace& p) {
  const Type t = d_.type_of(p.offset);
  const ValueId step = b_.integer(t, p.count++);
  if (p.count == 1) return Operand::of(p.offset);
  return Operand::of(b_.emit(Op::Add, t, {p.offset, step}));
}

void FunctionLowering::pack(WordPlace& p, ValueId v) {
  const Type t = d_.type_of(v);
  if (!t.is_scalar()) {
    for (uint32_t i = 0; i < t.count(); i++) pack(p, b_.extract(v, {i}));
    return;
  }
  const auto put = [&](ValueId word) {
    const Operand chain[] = {next_word(p)};
    b_.store(p.slot, chain, word);
  };
  const uint32_t size = scalar_size(t.scalar());
  const Type bits = Type::of(size == 1 ? Scalar::UInt8 : Scalar::UInt16), uint = word_type();
  if (t.is_bool()) return put(convert(v, uint));
  if (size == 8) {
    const ValueId pair = b_.emit(Op::Bitcast, Type::vector(Scalar::UInt32, 2), {v});
    for (uint32_t i = 0; i < 2; i++) put(b_.extract(pair, {i}));
    return;
  }
  if (size == 4) return put(t == uint ? v : b_.emit(Op::Bitcast, uint, {v}));
  put(convert(t == bits ? v : b_.emit(Op::Bitcast, bits, {v}), uint));
}

ValueId FunctionLowering::unpack(WordPlace& p, Type t) {
  if (!t.is_scalar()) {
    std::vector<ValueId> parts;
    for (uint32_t i = 0; i < t.count(); i++) parts.push_back(unpack(p, t.component(i)));
    return b_.construct(t, parts);
  }
  const auto get = [&] {
    const Operand chain[] = {next_word(p)};
    return b_.load(p.slot, chain, word_type());
  };
  const uint32_t size = scalar_size(t.scalar());
  const Type bits = Type::of(size == 1 ? Scalar::UInt8 : Scalar::UInt16), uint = word_type();
  if (size == 8) {
    const ValueId low = get(), high = get();
    const ValueId words[] = {low, high};
    return b_.emit(Op::Bitcast, t, {b_.construct(Type::vector(Scalar::UInt32, 2), words)});
  }
  const ValueId word = get();
  if (t.is_bool()) return convert(word, t);
  if (size == 4) return t == uint ? word : b_.emit(Op::Bitcast, t, {word});
  const ValueId low = convert(word, bits);
  return t == bits ? low : b_.emit(Op::Bitcast, t, {low});
}

ValueId FunctionLowering::call_pack(const ExprNode& n) {
  WordPlace p = word_place(n, f_.expr(f_.args_of(n)[2]).type);
  const ValueId v = value(f_.args_of(n)[2]);
  mark(p.slot, Access::Write);
  b_.set_span(n.span);
  pack(p, v);
  return {};
}

ValueId FunctionLowering::call_unpack(const ExprNode& n) {
  WordPlace p = word_place(n, n.type);
  mark(p.slot, Access::Read);
  b_.set_span(n.span);
  return unpack(p, n.type);
}

ValueId FunctionLowering::call_length(const ExprNode& n) {
  const Operand operands[] = {Operand::of(resource(f_.args_of(n)[0]))};
  d_.slots[operands[0].index].length_used = true;
  b_.set_span(n.span);
  const Op op = n.op == Op::BufferLength64 ? n.op : Op::BufferLength;
  return d_.result(d_.op(b_.append(op, operands, {&n.type, 1})));
}

ValueId FunctionLowering::call_extent(const ExprNode& n) {
  const auto args = f_.args_of(n);
  uint64_t axis = 0;
  LCPY_CHECK(constant_integer(f_, args[1], axis) && axis < 3);
  const Operand operands[] = {Operand::of(resource(args[0])),
                              Operand::imm(static_cast<uint32_t>(axis))};
  d_.slots[operands[0].index].extents_used = true;
  b_.set_span(n.span);
  return d_.result(d_.op(b_.append(n.op, operands, {&n.type, 1})));
}

// ---- atomics
// ----------------------------------------------------------------------------------------

ValueId FunctionLowering::call_atomic(const ExprNode& n) {
  const auto args = f_.args_of(n);
  const size_t values = n.op == Op::AtomicLoad ? 0 : n.op == Op::AtomicCompareExchange ? 2 : 1;
  const Place target = place(args[0]);
  InlineVector<ValueId, 2> given;
  for (size_t i = 0; i < values; i++) given.push_back(value(args[1 + i]));
  uint64_t order = 0;
  if (args.size() > 1 + values)
    LCPY_CHECK(constant_integer(f_, args[1 + values], order) && order < 5);
  const bool memory = target.kind == Place::Kind::Slot || target.kind == Place::Kind::Packed;
  const MemoryClass where = memory ? d_.slot(target.slot).memory : MemoryClass::Scratch;
  if (where != MemoryClass::Global && where != MemoryClass::Shared)
    all_.fail_at(Diag::atomic_reference, n.span, {});
  if (target.kind == Place::Kind::Packed && d_.slot(target.slot).type.element() != target.type)
    all_.fail_at(Diag::packed_atomic, n.span, {type_spelling(target.type)});
  b_.set_span(n.span);
  Chain operands;
  operands.push_back(Operand::of(target.slot));
  for (ValueId v : given) operands.push_back(Operand::of(v));
  if (target.kind == Place::Kind::Packed)
    operands.push_back(packed_index(target, 0));
  else
    operands.append(target.chain);
  d_.slots[target.slot.value].atomics = true;
  const OpUsage usage = op_row(n.op).usage;
  mark(target.slot, usage == OpUsage::Read     ? Access::Read
                    : usage == OpUsage::Write0 ? Access::Write
                                               : Access::ReadWrite);
  const bool gives = !n.type.is_void();
  const OpId id =
      b_.append(n.op, operands, {&n.type, gives ? 1u : 0u}, static_cast<uint8_t>(order));
  return gives ? d_.result(d_.op(id)) : ValueId();
}

}  // namespace lcpy::lower
