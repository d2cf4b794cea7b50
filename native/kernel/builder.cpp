// KernelBuilder: appends operations and interns constants. It checks nothing; verify() does.
#include <cstring>

#include "base/error.h"
#include "kernel/descriptor.h"
#include "kernel/scalar_bits.h"

namespace lcpy {
namespace {

// Copies a value leaving padding zero and bools 0 or 1, so that equal constants have equal bytes.
void canonical_copy(Type t, const std::byte* from, std::byte* to) {
  switch (t.tag()) {
    case TypeTag::Scalar:
      if (t.is_bool())
        *to = std::byte(*from != std::byte{0});
      else
        std::memcpy(to, from, t.size());
      return;
    case TypeTag::Vector:
    case TypeTag::Matrix:
    case TypeTag::Array:
    case TypeTag::Struct: {
      const uint64_t n = t.count();
      for (uint64_t i = 0; i < n; i++)
        canonical_copy(t.component(i), from + t.offset(i), to + t.offset(i));
      return;
    }
    default:
      throw BugError("constant of type " + t.description());
  }
}

uint64_t hash_bytes(Type t, std::span<const std::byte> bytes) {
  uint64_t h = std::hash<Type>()(t) * 0x9e3779b97f4a7c15ull;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t w;
    std::memcpy(&w, bytes.data() + i, 8);
    h = (h ^ w) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 32;
  }
  uint64_t w = 0;
  if (i < bytes.size()) std::memcpy(&w, bytes.data() + i, bytes.size() - i);
  h = (h ^ w) * 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 32);
}

}  // namespace

KernelBuilder::KernelBuilder(KernelDescriptor& d) : d_(d) {
  rehash(d_.constants.size() * 2 + 64);
  // Values of constants may be anywhere among the values; one scan finds them.
  for (size_t v = 0; v < d_.values.size(); v++)
    if (d_.values[v].def == Value::Def::Constant) remember(ValueId(v));
}

void KernelBuilder::rehash(size_t least) {
  size_t size = 64;
  while (size < least) size *= 2;
  std::vector<uint32_t> old = std::move(interned_);
  interned_.assign(size, ValueId::kNone);
  interned_count_ = 0;
  for (uint32_t v : old)
    if (v != ValueId::kNone) remember(ValueId(v));
}

void KernelBuilder::remember(ValueId v) {
  if ((interned_count_ + 1) * 2 > interned_.size()) rehash(interned_.size() * 2);
  const std::span<const std::byte> bytes = d_.constant_bytes(v);
  const size_t mask = interned_.size() - 1;
  size_t at = hash_bytes(d_.type_of(v), bytes) & mask;
  while (interned_[at] != ValueId::kNone) at = (at + 1) & mask;
  interned_[at] = v.value;
  interned_count_++;
}

ValueId KernelBuilder::find(Type type, std::span<const std::byte> bytes) const {
  const size_t mask = interned_.size() - 1;
  for (size_t at = hash_bytes(type, bytes) & mask; interned_[at] != ValueId::kNone;
       at = (at + 1) & mask) {
    const ValueId v(interned_[at]);
    if (d_.type_of(v) != type) continue;
    if (std::memcmp(d_.constant_bytes(v).data(), bytes.data(), bytes.size()) == 0) return v;
  }
  return ValueId();
}

SlotId KernelBuilder::add_slot(Slot slot) {
  d_.slots.push_back(std::move(slot));
  return SlotId(d_.slots.size() - 1);
}

FunctionId KernelBuilder::add_function(std::string name, std::span<const Type> params,
                                       std::span<const Type> results, Span span) {
  const FunctionId id(d_.functions.size());
  Function f;
  f.name = std::move(name);
  f.results.assign(results.begin(), results.end());
  f.span = span;
  for (size_t i = 0; i < params.size(); i++) {
    f.params.push_back(ValueId(d_.values.size()));
    d_.values.push_back(
        {params[i], Value::Def::FunctionParameter, id.value, static_cast<uint32_t>(i)});
  }
  f.body = add_body();
  d_.functions.push_back(std::move(f));
  return id;
}

BodyId KernelBuilder::add_body(std::span<const Type> params) {
  const BodyId id(d_.bodies.size());
  d_.bodies.emplace_back();
  for (size_t i = 0; i < params.size(); i++) {
    d_.bodies.back().params.push_back(ValueId(d_.values.size()));
    d_.values.push_back({params[i], Value::Def::BodyParameter, id.value, static_cast<uint32_t>(i)});
  }
  return id;
}

ValueId KernelBuilder::constant(Type type, std::span<const std::byte> bytes) {
  const size_t size = type.size();
  LCPY_CHECK(bytes.size() == size);
  std::byte small[64];
  std::vector<std::byte> large;
  std::byte* clean = small;
  if (size > sizeof small) {
    large.resize(size);
    clean = large.data();
  } else {
    std::memset(small, 0, size);
  }
  canonical_copy(type, bytes.data(), clean);
  const ValueId known = find(type, {clean, size});
  if (known) return known;
  Constant c{type, static_cast<uint32_t>(d_.constant_data.size())};
  d_.constant_data.insert(d_.constant_data.end(), clean, clean + size);
  const ValueId id(d_.values.size());
  d_.values.push_back({type, Value::Def::Constant, static_cast<uint32_t>(d_.constants.size()), 0});
  d_.constants.push_back(c);
  remember(id);
  return id;
}

ValueId KernelBuilder::zero(Type type) {
  std::byte small[64] = {};
  const size_t size = type.size();
  if (size <= sizeof small) return constant(type, {small, size});
  const std::vector<std::byte> bytes(size);
  return constant(type, bytes);
}

ValueId KernelBuilder::splat(Type lanes, double value) {
  return integer(lanes, scalar_bits(lanes.scalar(), value));
}

ValueId KernelBuilder::integer(Type lanes, uint64_t bits) {
  LCPY_CHECK(lanes.is_lanes());
  const uint32_t width = scalar_size(lanes.scalar());
  std::byte bytes[32] = {};
  for (uint32_t i = 0; i < lanes.lanes(); i++)
    for (uint32_t k = 0; k < width; k++) bytes[i * width + k] = std::byte(bits >> (8 * k));
  return constant(lanes, {bytes, static_cast<size_t>(lanes.size())});
}

ValueId KernelBuilder::boolean(bool value) { return integer(Type::of(Scalar::Bool), value); }

OpId KernelBuilder::append(Op op, std::span<const Operand> operands, std::span<const Type> results,
                           uint8_t flags) {
  LCPY_CHECK(body_.valid() && d_.values.size() + results.size() < ValueId::kNone);
  const OpId id(d_.ops.size());
  Operation o;
  o.op = op;
  o.flags = flags;
  o.result_count = static_cast<uint16_t>(results.size());
  LCPY_CHECK(o.result_count == results.size());
  o.operand_begin = static_cast<uint32_t>(d_.operands.size());
  o.operand_count = static_cast<uint32_t>(operands.size());
  o.first_result = ValueId(d_.values.size());
  o.span = span_;
  // A pass may hand over another operation's operands, which live in this very vector.
  const Operand* all = d_.operands.data();
  if (operands.data() >= all && operands.data() < all + d_.operands.size()) {
    const size_t from = operands.data() - all;
    for (size_t i = 0; i < o.operand_count; i++)
      d_.operands.push_back(Operand(d_.operands[from + i]));
  } else {
    d_.operands.insert(d_.operands.end(), operands.begin(), operands.end());
  }
  for (size_t i = 0; i < results.size(); i++)
    d_.values.push_back({results[i], Value::Def::Result, id.value, static_cast<uint32_t>(i)});
  d_.ops.push_back(o);
  d_.bodies[body_.value].ops.push_back(id);
  return id;
}

ValueId KernelBuilder::emit(Op op, Type type, std::initializer_list<ValueId> operands) {
  return emit(op, type, std::span<const ValueId>(operands.begin(), operands.size()));
}

ValueId KernelBuilder::emit(Op op, Type type, std::span<const ValueId> operands) {
  scratch_.clear();
  for (ValueId v : operands) scratch_.push_back(Operand::of(v));
  return d_.result(d_.op(append(op, scratch_, {&type, 1})));
}

namespace {

Type walk_type(Type t, std::span<const uint32_t> path) {
  for (uint32_t i : path) t = t.component(i);
  return t;
}

}  // namespace

ValueId KernelBuilder::extract(ValueId aggregate, std::initializer_list<uint32_t> path) {
  if (path.size() == 0) return aggregate;
  scratch_.assign(1, Operand::of(aggregate));
  for (uint32_t i : path) scratch_.push_back(Operand::imm(i));
  const Type t = walk_type(d_.type_of(aggregate), {path.begin(), path.size()});
  return d_.result(d_.op(append(Op::Extract, scratch_, {&t, 1})));
}

ValueId KernelBuilder::insert(ValueId aggregate, ValueId part,
                              std::initializer_list<uint32_t> path) {
  if (path.size() == 0) return part;
  scratch_.assign({Operand::of(aggregate), Operand::of(part)});
  for (uint32_t i : path) scratch_.push_back(Operand::imm(i));
  const Type t = d_.type_of(aggregate);
  return d_.result(d_.op(append(Op::Insert, scratch_, {&t, 1})));
}

ValueId KernelBuilder::construct(Type type, std::span<const ValueId> parts) {
  return emit(Op::Construct, type, parts);
}

ValueId KernelBuilder::load(SlotId slot, std::span<const Operand> chain, Type type, uint8_t flags) {
  scratch_.assign(1, Operand::of(slot));
  scratch_.insert(scratch_.end(), chain.begin(), chain.end());
  return d_.result(d_.op(append(Op::Load, scratch_, {&type, 1}, flags)));
}

void KernelBuilder::store(SlotId slot, std::span<const Operand> chain, ValueId value,
                          uint8_t flags) {
  scratch_.assign({Operand::of(slot), Operand::of(value)});
  scratch_.insert(scratch_.end(), chain.begin(), chain.end());
  append(Op::Store, scratch_, {}, flags);
}

void KernelBuilder::terminate(Op op, std::span<const ValueId> values) {
  scratch_.clear();
  for (ValueId v : values) scratch_.push_back(Operand::of(v));
  append(op, scratch_);
}

}  // namespace lcpy
