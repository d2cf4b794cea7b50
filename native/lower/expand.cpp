// pass_expand: rebuilds every body in place, in one walk along dominance, replacing operations that
// the target lacks by the expansions of expand.def. Linear in the size of the descriptor.
#include "lower/expand.h"

#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "kernel/evaluate.h"

namespace lcpy {
namespace {

bool when_any(Type, Type) { return true; }
bool when_vector(Type result, Type) { return result.is_vector(); }
bool when_float_or_narrow(Type result, Type) {
  return result.is_float() || scalar_size(result.scalar()) < 4;
}
// Plain: between integers, from integers to floats, and between floats.
bool when_not_plain(Type result, Type first) {
  if (result.is_integer()) return !first.is_integer();
  return !(result.is_float() && first.is_arithmetic());
}

struct ExpansionRow {
  Expansion function = nullptr;
  bool (*when)(Type result, Type first) = nullptr;
};
constexpr std::array<ExpansionRow, kOpCount> kExpansions = [] {
  std::array<ExpansionRow, kOpCount> rows{};
#define EXPANSION(op, function, when) rows[static_cast<size_t>(Op::op)] = {function, when};
#include "lower/expand.def"
#undef EXPANSION
  return rows;
}();

ValueId expand_own(Expander& e, const ExpandCall& call) { return e.emit_own(call); }

// What replaces the operation; null where the target has it.
Expansion expansion_of(const ExpansionRow& row, const Expander& e, const ExpandCall& call) {
  if (e.wants_own(call.op, call.type)) return call.op == Op::Pow ? expand_pow : expand_own;
  if (!row.function) return nullptr;
  const Type first = e.type(call.args.front());
  const bool wanted = row.when(call.type, first) && !e.is_native(call.op, call.type, first);
  return wanted ? row.function : nullptr;
}

class Rebuilder {
 public:
  Rebuilder(KernelDescriptor& d, NativeOp native, const OwnFunctions& own)
      : d_(d), expander_(d, native, own), replaced_(d.values.size()) {}

  void rebuild(BodyId id) {
    std::vector<OpId> old = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    d_.bodies[id.value].ops.reserve(old.size());
    for (OpId op : old) {
      redirect(op);
      if (!expand(op, id)) d_.bodies[id.value].ops.push_back(op);
    }
  }

 private:
  // Points the operands at the replacements, and rebuilds the bodies among them.
  void redirect(OpId id) {
    const Operation op = d_.op(id);
    for (uint32_t i = 0; i < op.operand_count; i++) {
      Operand& operand = d_.operands[op.operand_begin + i];
      if (operand.is_value()) {
        if (operand.index < replaced_.size() && replaced_[operand.index])
          operand.index = replaced_[operand.index].value;
      } else if (operand.kind == Operand::Kind::Body) {
        rebuild(operand.body());
      }
    }
  }

  bool expand(OpId id, BodyId body) {
    const Operation op = d_.op(id);
    const ExpansionRow& row = kExpansions[static_cast<size_t>(op.op)];
    const bool own = own_function_bit(op.op) != 0;
    if ((!row.function && !own) || op.result_count != 1) return false;
    ValueId args[8];
    LCPY_CHECK(op.operand_count <= std::size(args));
    for (uint32_t i = 0; i < op.operand_count; i++)
      args[i] = d_.operands[op.operand_begin + i].value();
    const ExpandCall call{op.op, d_.type_of(op.first_result), {args, op.operand_count}};
    const Expansion function = expansion_of(row, expander_, call);
    if (!function) return false;
    expander_.builder().set_insertion(body);
    expander_.builder().set_span(op.span);
    const ValueId value = function(expander_, call);
    replaced_[op.first_result.value] = value;
    return true;
  }

  KernelDescriptor& d_;
  Expander expander_;
  std::vector<ValueId> replaced_;  // by the value ids there were when the pass began
};

}  // namespace

ValueId expand_one(Expander& e, const ExpandCall& call) {
  const ExpansionRow& row = kExpansions[static_cast<size_t>(call.op)];
  LCPY_CHECK(row.function != nullptr);
  return row.function(e, call);
}

ValueId Expander::emit(Op op, Type type, std::span<const ValueId> args) {
  if (ValueId value = fold(op, type, args)) return value;
  const ExpansionRow& row = kExpansions[static_cast<size_t>(op)];
  const ExpandCall call{op, type, args};
  if (const Expansion function = args.empty() ? nullptr : expansion_of(row, *this, call))
    return function(*this, call);
  return builder_.emit(op, type, args);
}

ValueId Expander::emit_as_is(Op op, Type type, std::initializer_list<ValueId> args) {
  if (ValueId value = fold(op, type, {args.begin(), args.size()})) return value;
  return builder_.emit(op, type, args);
}

ValueId Expander::fold(Op op, Type type, std::span<const ValueId> args) {
  if (args.empty() || args.size() > 4 || !type.is_lanes()) return {};
  const KernelDescriptor& d = builder_const();
  std::array<Type, 4> types;
  std::array<std::span<const std::byte>, 4> bytes;
  for (size_t i = 0; i < args.size(); i++) {
    if (!d.is_constant(args[i])) return {};
    types[i] = d.type_of(args[i]);
    bytes[i] = d.constant_bytes(args[i]);
  }
  std::array<std::byte, 32> out{};
  const std::span<std::byte> result(out.data(), type.size());
  if (!evaluate(op, type, {types.data(), args.size()}, {bytes.data(), args.size()}, {}, result))
    return {};
  return builder_.constant(type, result);
}

ValueId Expander::compare(Op op, ValueId a, ValueId b) {
  return emit(op, bool_like(type(a)), {a, spread(b, type(a))});
}

ValueId Expander::select(ValueId condition, ValueId if_true, ValueId if_false) {
  const Type t = type(if_true);
  return emit(Op::Select, t, {condition, if_true, spread(if_false, t)});
}

ValueId Expander::shift(Op unchecked, ValueId a, uint32_t amount) {
  return emit(unchecked, type(a), {a, bits(type(a), amount)});
}

ValueId Expander::convert(ValueId a, Type to) {
  return type(a) == to ? a : emit(Op::Convert, to, {a});
}

ValueId Expander::bitcast(ValueId a, Type to) {
  return type(a) == to ? a : emit(Op::Bitcast, to, {a});
}

ValueId Expander::boolean(Type like, bool value) {
  return builder_.integer(bool_like(like), value ? 1 : 0);
}

ValueId Expander::spread(ValueId scalar, Type lanes) {
  if (!lanes.is_vector() || !type(scalar).is_scalar()) return scalar;
  const std::array<ValueId, 4> parts = {scalar, scalar, scalar, scalar};
  return gather(lanes.with_scalar(type(scalar).scalar()), {parts.data(), lanes.lanes()});
}

ValueId Expander::lane(ValueId v, uint32_t i) {
  if (type(v).is_scalar()) return v;
  const KernelDescriptor& d = builder_const();
  if (!d.is_constant(v)) return builder_.extract(v, {i});
  const Type scalar = type(v).element();
  // A copy: interning may move the bytes.
  std::array<std::byte, 8> bytes{};
  std::memcpy(bytes.data(), d.constant_bytes(v).data() + type(v).offset(i), scalar.size());
  return builder_.constant(scalar, {bytes.data(), scalar.size()});
}

ValueId Expander::gather(Type type, std::span<const ValueId> parts) {
  if (type.is_scalar()) return parts[0];
  const KernelDescriptor& d = builder_const();
  bool constant = type.is_vector();
  for (ValueId p : parts) constant = constant && d.is_constant(p);
  if (!constant) return builder_.construct(type, parts);
  std::array<std::byte, 32> bytes{};
  for (size_t i = 0; i < parts.size(); i++) {
    const auto part = d.constant_bytes(parts[i]);
    std::memcpy(bytes.data() + type.offset(i), part.data(), part.size());
  }
  return builder_.constant(type, {bytes.data(), type.size()});
}

bool Expander::constant_lane(ValueId v, uint32_t i, int64_t* out) const {
  const KernelDescriptor& d = builder_const();
  if (!d.is_constant(v)) return false;
  const Type t = type(v);
  const uint32_t size = scalar_size(t.scalar());
  uint64_t bits = 0;
  std::memcpy(&bits, d.constant_bytes(v).data() + (t.is_vector() ? t.offset(i) : 0), size);
  const uint32_t unused = 64 - size * 8;
  *out = is_signed(t) ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
  return true;
}

Type unsigned_like(Type lanes) {
  constexpr Scalar by_size[] = {Scalar::UInt8, Scalar::UInt16, Scalar::UInt32, Scalar::UInt64};
  return lanes.with_scalar(by_size[std::countr_zero(scalar_size(lanes.scalar()))]);
}

Type signed_like(Type lanes) {
  constexpr Scalar by_size[] = {Scalar::Int8, Scalar::Int16, Scalar::Int32, Scalar::Int64};
  return lanes.with_scalar(by_size[std::countr_zero(scalar_size(lanes.scalar()))]);
}

void pass_expand(KernelDescriptor& d, NativeOp native, const OwnFunctions& own) {
  Rebuilder rebuilder(d, native, own);
  const size_t count = d.functions.size();  // own functions come after, and are expanded as made
  for (size_t f = 0; f < count; f++) rebuilder.rebuild(d.functions[f].body);
}

}  // namespace lcpy
