// Places: members, elements and swizzles of variables, buffers, shared arrays and values, at any
// depth. Index expressions are evaluated once, left to right, when the place is made.
#include "base/error.h"
#include "lower/lowering.h"
#include "lower/rewrite.h"

namespace lcpy::lower {
namespace {

// Where component `index` of t starts in its packed form, in bytes.
uint64_t packed_offset(Type t, uint32_t index) {
  if (!t.is_struct()) return index * t.component(0).packed_size();
  uint64_t n = 0;
  for (uint32_t i = 0; i < index; i++) n += t.members()[i].packed_size();
  return n;
}

uint32_t units(uint64_t bytes, uint32_t unit) { return static_cast<uint32_t>(bytes / unit); }

Type unsigned_of(uint64_t size) {
  return Type::of(size == 1   ? Scalar::UInt8
                  : size == 2 ? Scalar::UInt16
                  : size == 4 ? Scalar::UInt32
                              : Scalar::UInt64);
}

}  // namespace

Place FunctionLowering::variable_place(uint32_t v, Span span) {
  need_assigned(v, span);
  Place p;
  p.type = types_[v];
  const Home& home = homes_[v];
  if (home.memory) {
    p.kind = Place::Kind::Slot;
    p.slot = home.slot;
    p.chain = home.prefix;
  } else {
    p.kind = Place::Kind::Variable;
    p.variable = v;
  }
  return p;
}

Place FunctionLowering::place(ExprId e) {
  const ExprNode& n = f_.expr(e);
  if (e.value == shared_place_expr_) return *shared_place_;
  switch (n.kind) {
    case ExprKind::Ref:
      return variable_place(n.index, n.span);
    case ExprKind::Member: {
      Place p = place(ExprId(n.a));
      step(p, n.index);
      return p;
    }
    case ExprKind::Swizzle: {
      Place p = place(ExprId(n.a));
      swizzle(p, n.index, n.count);
      return p;
    }
    case ExprKind::Access:
      return access_place(n);
    case ExprKind::Call:
      if (n.op == Op::BufferRead) {
        const auto args = f_.args_of(n);
        return element_place(f_.expr(args[0]).index, args.subspan(1));
      }
      [[fallthrough]];
    default: {
      Place p;
      p.value = value(e);
      p.type = d_.type_of(p.value);
      return p;
    }
  }
}

Place FunctionLowering::access_place(const ExprNode& n) {
  const ExprNode& base = f_.expr(ExprId(n.a));
  const auto indices = f_.args_of(n);
  if (base.type.is_buffer()) return element_place(base.index, indices);
  Place p = place(ExprId(n.a));
  struct Index {
    bool constant;
    uint64_t number;
    ValueId value;
  };
  InlineVector<Index, 4> found;
  for (ExprId x : indices) {
    Index i{};
    i.constant = constant_integer(f_, x, i.number);
    if (!i.constant) i.value = index_value(x);
    found.push_back(i);
  }
  // m[row, column]: memory holds columns.
  if (p.type.is_matrix() && !p.lanes && found.size() == 2) std::swap(found[0], found[1]);
  b_.set_span(n.span);
  for (const Index& i : found) {
    if (i.constant) {
      step(p, static_cast<uint32_t>(i.number));
      continue;
    }
    if (checks())
      check_index(i.value, p.lanes ? p.lanes : p.type.count(),
                  spoken_place(ExprId(n.a), p.type), n.span);
    step(p, i.value);
  }
  return p;
}

// ---- checks
// -----------------------------------------------------------------------------------------

void FunctionLowering::check_buffer(ValueId index, ValueId limit, ValueId size, std::string what,
                                    Span span, Type read) {
  append_check(index, limit, size, std::move(what), span, read, kBufferCheck);
}

void FunctionLowering::append_check(ValueId index, ValueId limit, ValueId size, std::string what,
                                    Span span, Type read, uint8_t flags) {
  std::vector<Type> types{d_.type_of(index)};
  if (!read.is_void()) types.push_back(read);
  const uint32_t site =
      all_.add_site(Site::Kind::Bounds, std::move(what), std::move(types), span);
  const Operand operands[] = {Operand::imm(site), Operand::of(index), Operand::of(limit),
                              Operand::of(size)};
  b_.set_span(span);
  b_.append(Op::Bounds, operands, {}, flags);
}

void FunctionLowering::check_index(ValueId index, uint64_t limit, std::string what, Span span) {
  const bool wide = d_.type_of(index).size() == 8;
  const ValueId end = b_.integer(Type::of(wide ? Scalar::UInt64 : Scalar::UInt32), limit);
  append_check(index, end, end, std::move(what), span, {}, 0);
}

// A buffer's length in the width that an index of this type is compared in.
ValueId FunctionLowering::length_of(SlotId slot, Type index) {
  const bool wide = index.size() == 8;
  const Type t = Type::of(wide ? Scalar::UInt64 : Scalar::UInt32);
  const Operand query[] = {Operand::of(slot)};
  d_.slots[slot.value].length_used = true;
  const Op op = wide ? Op::BufferLength64 : Op::BufferLength;
  return d_.result(d_.op(b_.append(op, query, {&t, 1}, wide ? 0 : kSaturatingFlag)));
}

std::string FunctionLowering::spoken_place(ExprId base, Type indexed) const {
  uint32_t e = base.value;
  for (;;) {
    const ExprKind k = f_.expr(ExprId(e)).kind;
    if (k != ExprKind::Member && k != ExprKind::Swizzle && k != ExprKind::Access) break;
    e = f_.expr(ExprId(e)).a;
  }
  const ExprNode& root = f_.expr(ExprId(e));
  const char* kind = indexed.is_vector() ? "vector" : indexed.is_matrix() ? "matrix" : "array";
  if (root.kind == ExprKind::Constant) return std::string("constant ") + kind;
  if (root.kind != ExprKind::Ref) return kind;
  const bool whole = e == base.value;
  return std::string(kind) + (whole ? " '" : " in '") + f_.variables()[root.index].name + "'";
}

Place FunctionLowering::element_place(uint32_t resource, std::span<const ExprId> indices) {
  const Type buffer = types_[resource];
  const Type element = buffer.element();
  Place p;
  p.slot = homes_[resource].slot;
  p.type = element;
  uint64_t number = 0;
  const bool constant =
      indices.size() == 1 && constant_integer(f_, indices[0], number) && number < 0x7fffffffu;
  const bool packed = buffer.packed() && !is_dense(element);
  if (packed) p.unit = static_cast<uint32_t>(packed_unit(element).size());
  const uint32_t stride = packed ? units(element.packed_size(), p.unit) : 1;
  if (constant && number * stride < 0x7fffffffu) {
    if (checks()) {
      const Type t = Type::of(Scalar::UInt32);
      const ValueId length = length_of(p.slot, t);
      check_buffer(b_.integer(t, number), length, length, "buffer '" + d_.slot(p.slot).name + "'",
                  f_.expr(indices[0]).span);
    }
    if (packed) {
      p.kind = Place::Kind::Packed;
      p.offset = static_cast<uint32_t>(number) * stride;
    } else {
      p.kind = Place::Kind::Slot;
      p.chain.push_back(Operand::imm(static_cast<uint32_t>(number)));
    }
    return p;
  }
  const ValueId index = linear_index(p.slot, buffer.rank(), indices);
  if (packed) {
    const Type uint_type = Type::of(Scalar::UInt32);
    p.kind = Place::Kind::Packed;
    p.value =
        b_.emit(Op::Mul, uint_type, {convert(index, uint_type), b_.integer(uint_type, stride)});
  } else {
    p.kind = Place::Kind::Slot;
    p.chain.push_back(Operand::of(index));
  }
  return p;
}

// The extents travel with the argument: b[y, x] is element y * extent 1 + x.
ValueId FunctionLowering::linear_index(SlotId slot, uint32_t rank,
                                       std::span<const ExprId> indices) {
  InlineVector<ValueId, 3> values;
  bool wide = false;
  for (ExprId x : indices) {
    values.push_back(index_value(x));
    wide |= d_.type_of(values[values.size() - 1]).size() == 8;
  }
  const Span span = f_.expr(indices[0]).span;
  const std::string what = "buffer '" + d_.slot(slot).name + "'";
  if (rank == 1) {
    if (checks()) {
      const ValueId length = length_of(slot, d_.type_of(values[0]));
      check_buffer(values[0], length, length, what, span);
    }
    return values[0];
  }
  const Type t = Type::of(wide ? Scalar::UInt64 : Scalar::UInt32),
             extent_type = Type::of(Scalar::UInt32);
  d_.slots[slot.value].extents_used = true;
  auto extent_of = [&](uint32_t axis) {
    const Operand query[] = {Operand::of(slot), Operand::imm(axis)};
    return d_.result(d_.op(b_.append(Op::BufferExtent, query, {&extent_type, 1})));
  };
  for (uint32_t axis = 0; axis < rank && checks(); axis++) {
    const bool long_index = d_.type_of(values[axis]).size() == 8;
    const ValueId end =
        convert(extent_of(axis), Type::of(long_index ? Scalar::UInt64 : Scalar::UInt32));
    check_buffer(values[axis], end, end, "axis " + std::to_string(axis) + " of " + what, span);
  }
  ValueId index = convert(values[0], t);
  for (uint32_t axis = 1; axis < rank; axis++) {
    const ValueId extent = extent_of(axis);
    index = b_.emit(Op::Mul, t, {index, convert(extent, t)});
    index = b_.emit(Op::Add, t, {index, convert(values[axis], t)});
  }
  return index;
}

// ---- steps
// ------------------------------------------------------------------------------------------

void FunctionLowering::step(Place& p, uint32_t index) {
  if (p.lanes) {
    LCPY_CHECK(index < p.lanes);
    index = p.lane[index];
    p.lanes = 0;
  }
  LCPY_CHECK(index < p.type.count());
  if (p.kind == Place::Kind::Packed)
    p.offset += units(packed_offset(p.type, index), p.unit);
  else
    p.chain.push_back(Operand::imm(index));
  p.type = p.type.component(index);
}

void FunctionLowering::step(Place& p, ValueId index) {
  if (p.lanes) {
    // The lane that the swizzle's lane `index` stands for; out of range it is the last one.
    const Type t = d_.type_of(index), boolean = Type::of(Scalar::Bool);
    ValueId lane = b_.integer(t, p.lane[p.lanes - 1]);
    for (uint32_t i = p.lanes - 1; i-- > 0;) {
      const ValueId here = b_.emit(Op::Equal, boolean, {index, b_.integer(t, i)});
      lane = b_.emit(Op::Select, t, {here, b_.integer(t, p.lane[i]), lane});
    }
    index = lane;
    p.lanes = 0;
  }
  switch (p.kind) {
    case Place::Kind::Variable:
      throw BugError("a run-time index into a variable without memory");
    case Place::Kind::Value:
      // A value that a run-time index looks into is stored once; a constant is a table.
      if (d_.is_constant(p.value)) {
        p.slot = all_.constant_slot(p.value);
        mark(p.slot, Access::Read);
      } else {
        p.slot = spill(extract(p.value, p.chain));
        p.chain.clear();
      }
      p.kind = Place::Kind::Slot;
      [[fallthrough]];
    case Place::Kind::Slot:
      p.chain.push_back(Operand::of(index));
      break;
    case Place::Kind::Packed: {
      const Type t = Type::of(Scalar::UInt32);
      const uint32_t stride = units(p.type.component(0).packed_size(), p.unit);
      ValueId scaled = convert(index, t);
      if (stride != 1) scaled = b_.emit(Op::Mul, t, {scaled, b_.integer(t, stride)});
      p.value = p.value ? b_.emit(Op::Add, t, {p.value, scaled}) : scaled;
      break;
    }
  }
  p.type = p.type.element();
}

void FunctionLowering::swizzle(Place& p, uint32_t code, uint32_t count) {
  uint8_t lane[4] = {};
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t at = (code >> (4 * i)) & 15;
    lane[i] = p.lanes ? p.lane[at] : static_cast<uint8_t>(at);
  }
  p.lanes = 0;
  if (count == 1) return step(p, lane[0]);
  std::copy(lane, lane + 4, p.lane);
  p.lanes = static_cast<uint8_t>(count);
}

SlotId FunctionLowering::spill(ValueId v) {
  const SlotId slot =
      all_.add_internal(MemoryClass::Scratch, d_.type_of(v), "spilled", id_, b_.span());
  mark(slot, Access::ReadWrite);
  b_.store(slot, {}, v);
  return slot;
}

// ---- reading
// ----------------------------------------------------------------------------------------

ValueId FunctionLowering::extract(ValueId v, std::span<const Operand> path) {
  if (path.empty()) return v;
  Type t = d_.type_of(v);
  if (d_.is_constant(v)) {
    uint64_t at = 0;
    for (Operand x : path) {
      at += t.offset(x.index);
      t = t.component(x.index);
    }
    const auto part = d_.constant_bytes(v).subspan(at, t.size());
    const std::vector<std::byte> bytes(part.begin(), part.end());
    return b_.constant(t, bytes);
  }
  Chain operands;
  operands.push_back(Operand::of(v));
  for (Operand x : path) {
    operands.push_back(x);
    t = t.component(x.index);
  }
  return d_.result(d_.op(b_.append(Op::Extract, operands, {&t, 1})));
}

ValueId FunctionLowering::insert(ValueId v, ValueId part, std::span<const Operand> path) {
  if (path.empty()) return part;
  const Type t = d_.type_of(v);
  Chain operands;
  operands.push_back(Operand::of(v));
  operands.push_back(Operand::of(part));
  operands.append(path);
  return d_.result(d_.op(b_.append(Op::Insert, operands, {&t, 1})));
}

ValueId FunctionLowering::shuffle(ValueId v, std::span<const uint8_t> lanes) {
  const Type from = d_.type_of(v), t = from.with_lanes(static_cast<uint32_t>(lanes.size()));
  bool same = t == from;
  Chain operands;
  operands.push_back(Operand::of(v));
  for (size_t i = 0; i < lanes.size(); i++) {
    operands.push_back(Operand::imm(lanes[i]));
    same &= lanes[i] == i;
  }
  return same ? v : d_.result(d_.op(b_.append(Op::Shuffle, operands, {&t, 1})));
}

ValueId FunctionLowering::read(const Place& p, Span span, uint8_t flags) {
  b_.set_span(span);
  ValueId v;
  switch (p.kind) {
    case Place::Kind::Value:
      v = extract(p.value, p.chain);
      break;
    case Place::Kind::Variable:
      v = extract(value_of(p.variable, span), p.chain);
      break;
    case Place::Kind::Slot:
      mark(p.slot, Access::Read);
      v = b_.load(p.slot, p.chain, p.type, flags);
      break;
    case Place::Kind::Packed: {
      mark(p.slot, Access::Read);
      uint32_t offset = 0;
      v = gather(p, p.type, offset, flags);
      break;
    }
  }
  return p.lanes ? shuffle(v, {p.lane, p.lanes}) : v;
}

Operand FunctionLowering::packed_index(const Place& p, uint32_t offset) {
  const uint32_t total = p.offset + offset;
  if (!p.value) return Operand::imm(total);
  if (total == 0) return Operand::of(p.value);
  const Type t = Type::of(Scalar::UInt32);
  return Operand::of(b_.emit(Op::Add, t, {p.value, b_.integer(t, total)}));
}

// Where units are smaller than the scalar, or of another type, its bits are put together.
ValueId FunctionLowering::gather_scalar(const Place& p, Type t, uint32_t& offset, uint8_t flags) {
  const Type unit = d_.slot(p.slot).type.element();
  const auto next = [&] {
    const Operand chain[] = {packed_index(p, offset++)};
    return b_.load(p.slot, chain, unit, flags);
  };
  if (t == unit) return next();
  const Type whole = unsigned_of(t.size()), amount = Type::of(Scalar::UInt32);
  ValueId bits = convert(next(), whole);
  for (uint64_t at = p.unit; at < t.size(); at += p.unit) {
    const ValueId part = convert(next(), whole);
    bits = b_.emit(Op::BitOr, whole,
                   {bits, b_.emit(Op::Shl, whole, {part, b_.integer(amount, at * 8)})});
  }
  return t.is_integer() || t.is_bool() ? convert(bits, t) : b_.emit(Op::Bitcast, t, {bits});
}

ValueId FunctionLowering::gather(const Place& p, Type t, uint32_t& offset, uint8_t flags) {
  if (t.is_scalar()) return gather_scalar(p, t, offset, flags);
  std::vector<ValueId> parts;
  for (uint64_t i = 0; i < t.count(); i++)
    parts.push_back(gather(p, t.component(i), offset, flags));
  return b_.construct(t, parts);
}

// ---- writing
// ----------------------------------------------------------------------------------------

void FunctionLowering::write(const Place& p, ValueId v, Span span, uint8_t flags) {
  if (p.lanes) {
    // Lane by lane: the lanes that the swizzle does not name are not touched, nor written back.
    for (uint32_t i = 0; i < p.lanes; i++) {
      Place lane = p;
      lane.lanes = 0;
      step(lane, p.lane[i]);
      write(lane, b_.extract(v, {i}), span, flags);
    }
    return;
  }
  switch (p.kind) {
    case Place::Kind::Value:
      throw BugError("an assignment to a value that is no place");
    case Place::Kind::Variable: {
      const ValueId before = p.chain.empty() ? ValueId() : value_of(p.variable, span);
      assign(p.variable, insert(before, v, p.chain).value);
      return;
    }
    case Place::Kind::Slot:
      mark(p.slot, Access::Write);
      b_.store(p.slot, p.chain, v, flags);
      return;
    case Place::Kind::Packed: {
      mark(p.slot, Access::Write);
      uint32_t offset = 0;
      scatter(p, p.type, v, offset, flags);
      return;
    }
  }
}

void FunctionLowering::scatter_scalar(const Place& p, Type t, ValueId v, uint32_t& offset,
                                      uint8_t flags) {
  const Type unit = d_.slot(p.slot).type.element();
  const auto next = [&](ValueId part) {
    const Operand chain[] = {packed_index(p, offset++)};
    b_.store(p.slot, chain, part, flags);
  };
  if (t == unit) return next(v);
  const Type whole = unsigned_of(t.size()), amount = Type::of(Scalar::UInt32);
  const ValueId bits = t.is_integer() || t.is_bool() ? convert(v, whole)
                                                     : b_.emit(Op::Bitcast, whole, {v});
  next(convert(bits, unit));
  for (uint64_t at = p.unit; at < t.size(); at += p.unit)
    next(convert(b_.emit(Op::Shr, whole, {bits, b_.integer(amount, at * 8)}), unit));
}

void FunctionLowering::scatter(const Place& p, Type t, ValueId v, uint32_t& offset, uint8_t flags) {
  if (t.is_scalar()) {
    scatter_scalar(p, t, v, offset, flags);
    return;
  }
  for (uint32_t i = 0; i < t.count(); i++)
    scatter(p, t.component(i), b_.extract(v, {i}), offset, flags);
}

}  // namespace lcpy::lower
