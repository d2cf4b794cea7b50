// The core's own functions: which are wanted, how they are called, and what they are written with.
#include "lower/own.h"

#include <array>
#include <string>

#include "base/error.h"

namespace lcpy {
namespace {

struct OwnRow {
  Op op;
  OwnBody body;
};
constexpr OwnRow kOwn[] = {
#define OWN(op, function) {Op::op, function},
#include "lower/own.def"
#undef OWN
};
static_assert(std::size(kOwn) <= 32, "OwnFunctions::float32 has a bit for each row");

constexpr auto kOwnIndex = [] {
  std::array<int8_t, kOpCount> index{};
  index.fill(-1);
  for (size_t i = 0; i < std::size(kOwn); i++)
    index[static_cast<size_t>(kOwn[i].op)] = static_cast<int8_t>(i);
  return index;
}();

}  // namespace

uint32_t own_function_bit(Op op) {
  const int8_t index = kOwnIndex[static_cast<size_t>(op)];
  return index < 0 ? 0 : uint32_t{1} << index;
}

std::vector<std::string_view> own_function_names() {
  std::vector<std::string_view> names;
  for (const OwnRow& row : kOwn) names.push_back(op_row(row.op).python_name);
  return names;
}

bool Expander::wants_own(Op op, Type type) const {
  const uint32_t bit = own_function_bit(op);
  const bool half_only = op == Op::Rsqrt && type.is_float() && type.scalar() == Scalar::Float16;
  if (half_only) return math() != MathMode::Fast && own_.float16;
  if (!bit || !type.is_float()) return false;
  switch (type.scalar()) {
    case Scalar::Float64:
      return own_.float64;
    case Scalar::Float32:
      return math() != MathMode::Fast && (own_.float32 & bit);
    default:  // half: by way of float, rounded once
      return math() != MathMode::Fast && own_.float16;
  }
}

ValueId Expander::emit_own(const ExpandCall& call) {
  const Type t = call.type;
  std::array<ValueId, 2> args;
  LCPY_CHECK(call.args.size() <= args.size());
  const size_t count = call.args.size();
  for (size_t i = 0; i < count; i++) args[i] = spread(call.args[i], t);
  if (t.scalar() == Scalar::Float16) {
    const Type wide = t.with_scalar(Scalar::Float32);
    for (size_t i = 0; i < count; i++) args[i] = convert(args[i], wide);
    return convert(emit(call.op, wide, {args.data(), count}), t);
  }
  const OwnRow& row = kOwn[kOwnIndex[static_cast<size_t>(call.op)]];
  const Type scalar = Type::of(t.scalar());
  std::array<ValueId, 4> lanes;
  for (uint32_t k = 0; k < t.lanes(); k++) {
    std::array<ValueId, 2> one;
    for (size_t i = 0; i < count; i++) one[i] = lane(args[i], k);
    Own w(*this, scalar);
    if (call.op == Op::Sin || call.op == Op::Cos) {  // these call what they have in common
      lanes[k] = row.body(w, {one.data(), count});
      continue;
    }
    const auto body = [&](std::span<const ValueId> params) {
      return std::vector{row.body(w, params)};
    };
    lanes[k] = w.call(op_row(call.op).name.data(), {one.data(), count}, {&scalar, 1}, body)[0];
  }
  return gather(t, {lanes.data(), t.lanes()});
}

// Of one number the two are one call, as far as a body goes; what is not used of it goes where the
// function is inlined.
std::array<ValueId, 2> Expander::sin_and_cos(Own& w, ValueId x) {
  for (const auto& [body, number, both] : turns_)
    if (body == builder_.insertion().value && number == x.value) return both;
  const std::array types = {w.type(), w.type()};
  const auto results = w.call("sin_and_cos", {&x, 1}, types, [&](std::span<const ValueId> args) {
    const OwnTurn turn = own_turn(w, args[0]);
    return std::vector{turn.sin, turn.cos};
  });
  constexpr size_t kKept = 16;
  if (turns_.size() == kKept) turns_.erase(turns_.begin());
  turns_.push_back({builder_.insertion().value, x.value, {results[0], results[1]}});
  return turns_.back().both;
}

ValueId Expander::emit_flagged(Op op, Type type, ValueId a, ValueId b, uint8_t flags) {
  const std::array args = {a, b};
  if (ValueId value = fold(op, type, args)) return value;
  const std::array operands = {Operand::of(a), Operand::of(b)};
  const OpId id = builder_.append(op, operands, {&type, 1}, flags);
  return descriptor().result(descriptor().op(id));
}

FunctionId Expander::own_function(const std::string& name) const {
  for (const auto& [known, id] : own_functions_)
    if (known == name) return id;
  return {};
}

std::vector<ValueId> Expander::append_call(FunctionId f, std::span<const ValueId> args,
                                           std::span<const Type> types) {
  std::vector<Operand> operands{Operand::of(f)};
  for (ValueId v : args) operands.push_back(Operand::of(v));
  const OpId id = builder_.append(Op::Call, operands, types);
  std::vector<ValueId> results;
  for (uint32_t i = 0; i < types.size(); i++)
    results.push_back(descriptor().result(descriptor().op(id), i));
  return results;
}

SlotId Expander::own_table(std::span<const uint32_t> words) {
  for (const auto& [known, id] : own_tables_)
    if (known == words.data()) return id;
  Slot slot;
  slot.name = "own";
  slot.type = Type::array(Type::of(Scalar::UInt32), words.size());
  slot.memory = MemoryClass::Constant;
  slot.access = Access::Read;
  slot.number = kInternalSlotBase;
  for (const Slot& s : descriptor().slots)
    if (s.number >= slot.number) slot.number = s.number + 1;
  const auto bytes = std::as_bytes(words);
  slot.data.assign(bytes.begin(), bytes.end());
  own_tables_.push_back({words.data(), builder_.add_slot(std::move(slot))});
  return own_tables_.back().second;
}

std::vector<ValueId> Own::results(OpId id) {
  const KernelDescriptor& d = e_.descriptor();
  std::vector<ValueId> all;
  for (uint32_t k = 0; k < d.op(id).result_count; k++) all.push_back(d.result(d.op(id), k));
  return all;
}

// Where the device fuses, its own reciprocal and one step are shorter than an exact quotient.
ValueId Own::div(ValueId a, ValueId b) {
  if (wide_ || !fused_) return e_.emit(Op::Div, t_, {a, b});
  const ValueId reciprocal = e_.emit_flagged(Op::Div, t_, c(1), b, kLooseFlag);
  const ValueId q = mul(a, reciprocal);
  return mad(less_product(a, q, b), reciprocal, q);
}

ValueId Own::poly(ValueId x, std::span<const double> of32, std::span<const double> of64) {
  const std::span<const double> coefficients = wide_ ? of64 : of32;
  ValueId r = c(coefficients.back());
  for (size_t k = coefficients.size() - 1; k-- > 0;) r = mad(r, x, c(coefficients[k]));
  return r;
}

Own::Pair Own::sum(ValueId larger, ValueId smaller) {
  const ValueId s = add(larger, smaller);
  return {s, sub(smaller, sub(s, larger))};
}

// With heads of half the length the partial products are exact, but for the last one of doubles,
// which is far below what counts.
Own::Pair Own::product(ValueId a, ValueId b) {
  const ValueId p = mul(a, b);
  if (fused_) return {p, e_.emit_as_is(Op::Fma, t_, {a, b, neg(p)})};
  const ValueId ah = head(a), bh = head(b);
  const ValueId al = sub(a, ah), bl = sub(b, bh);
  const ValueId first = add(sub(mul(ah, bh), p), mul(ah, bl));
  return {p, add(add(first, mul(al, bh)), mul(al, bl))};
}

ValueId Own::head(ValueId x) {
  if (!wide_) return with_high(x, e_.bit_and(high(x), u(0xfffff000u)));
  const std::array words = {u(0), high(x)};
  return e_.bitcast(e_.gather(Type::vector(Scalar::UInt32, 2), words), t_);
}

ValueId Own::high(ValueId x) {
  if (!wide_) return e_.bitcast(x, word());
  return e_.lane(e_.bitcast(x, Type::vector(Scalar::UInt32, 2)), 1);
}

ValueId Own::low(ValueId x) { return e_.lane(e_.bitcast(x, Type::vector(Scalar::UInt32, 2)), 0); }

ValueId Own::with_high(ValueId x, ValueId high) {
  if (!wide_) return e_.bitcast(high, t_);
  const std::array words = {low(x), high};
  return e_.bitcast(e_.gather(Type::vector(Scalar::UInt32, 2), words), t_);
}

ValueId Own::two_to(ValueId n) {
  const ValueId biased = e_.add(n, i(static_cast<int32_t>(bias())));
  const ValueId bits = shift_left(e_.bitcast(biased, word()), exponent_shift());
  if (!wide_) return e_.bitcast(bits, t_);
  const std::array words = {u(0), bits};
  return e_.bitcast(e_.gather(Type::vector(Scalar::UInt32, 2), words), t_);
}

ValueId Own::scale(ValueId x, ValueId n) {
  const ValueId half = e_.shift(Op::ShrUnchecked, n, 1);
  return mul(mul(x, two_to(half)), two_to(e_.sub(n, half)));
}

}  // namespace lcpy
