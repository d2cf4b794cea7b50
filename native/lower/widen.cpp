// pass_widen: for a target without half. Every half becomes its bits, a ushort in the same place of
// every layout; a matrix of halves becomes an array of its columns. Operations are done in float
// and rounded to half once, which gives the bits of half arithmetic:
//   + - *      of halves: sums and products of 11 bits are rounded to 24 bits first. Products have
//              22 and are exact; for sums 24 >= 2 * 11 + 1 makes the double rounding innocuous.
//   / sqrt     24 >= 2 * 11 + 1 and 24 >= 2 * 11 + 2 (Figueroa, "When is double rounding
//              innocuous?", 1995). Subnormal results have fewer bits: the bounds hold all the more.
//   floor ceil round trunc fract sign min max and comparisons are exact in float.
//   fma        the product is exact in float; the sum is rounded to odd.
// Denormals are kept whatever the device does: as floats they are normal numbers.
#include <array>
#include <unordered_map>

#include "base/error.h"
#include "lower/expand.h"

namespace lcpy {
namespace {

// What a type becomes. Layouts are the same, but matrices have no integer form.
class HalfBits {
 public:
  bool holds(Type t) {
    if (t.is_void()) return false;
    if (t.index() >= holds_.size()) holds_.resize(t.index() + 1, kUnknown);
    if (holds_[t.index()] == kUnknown) {
      const bool found = look(t);
      holds_[t.index()] = found ? kYes : kNo;
    }
    return holds_[t.index()] == kYes;
  }

  Type bits(Type t) {
    if (!holds(t)) return t;
    const auto known = made_.find(t);
    if (known != made_.end()) return known->second;
    const Type result = make(t);
    made_.emplace(t, result);
    return result;
  }

 private:
  enum : uint8_t { kUnknown, kNo, kYes };

  bool look(Type t) {
    if (t.is_basic()) return t.scalar() == Scalar::Float16;
    if (t.is_array() || t.is_buffer()) return holds(t.element());
    for (Type member : t.members())
      if (holds(member)) return true;
    return false;
  }

  Type make(Type t) {
    if (t.is_lanes()) return t.with_scalar(Scalar::UInt16);
    if (t.is_matrix() || t.is_array()) return Type::array(bits(t.element()), t.count());
    if (t.is_buffer()) return Type::buffer(bits(t.element()), t.rank(), t.packed());
    std::vector<Type> members;
    for (Type member : t.members()) members.push_back(bits(member));
    return Type::structure(members, t.align());
  }

  std::vector<uint8_t> holds_;
  std::unordered_map<Type, Type> made_;
};

bool is_half(Type t) { return t.is_lanes() && t.scalar() == Scalar::Float16; }

struct WidenCall {
  Op op;
  Type result;                    // as the program has it
  std::span<const Type> types;    // likewise, of the operands
  std::span<const ValueId> args;  // as they are now
};
using WidenRow = ValueId (*)(Expander& e, const WidenCall& call);

// ---- the rows -----------------------------------------------------------------------------------
Type real_like(Type t) { return t.with_scalar(Scalar::Float32); }
ValueId unpack(Expander& e, ValueId bits) {
  return e.emit(Op::UnpackHalf, real_like(e.type(bits)), {bits});
}
ValueId pack(Expander& e, ValueId real) {
  return e.emit(Op::PackHalf, e.type(real).with_scalar(Scalar::UInt16), {real});
}

ValueId compute(Expander& e, const WidenCall& call) {
  std::array<ValueId, 4> args;
  LCPY_CHECK(call.args.size() <= args.size());
  for (size_t i = 0; i < call.args.size(); i++)
    args[i] = is_half(call.types[i]) ? unpack(e, call.args[i]) : call.args[i];
  const Type type = is_half(call.result) ? real_like(call.result) : call.result;
  const ValueId value = e.emit(call.op, type, std::span(args.data(), call.args.size()));
  return is_half(call.result) ? pack(e, value) : value;
}

ValueId negate(Expander& e, const WidenCall& call) {
  return e.bit_xor(call.args[0], e.bits(e.type(call.args[0]), 0x8000));
}
ValueId magnitude(Expander& e, const WidenCall& call) {
  return e.bit_and(call.args[0], e.bits(e.type(call.args[0]), 0x7fff));
}
ValueId copy_sign(Expander& e, const WidenCall& call) {
  const Type u = e.type(call.args[0]);
  return e.bit_or(e.bit_and(call.args[0], e.bits(u, 0x7fff)),
                  e.bit_and(call.args[1], e.bits(u, 0x8000)));
}

// a * b is exact. What the sum loses (Knuth) tells on which side of it the exact sum lies; where it
// is inexact, that neighbour is taken whose last bit is set. Contracting a product and a sum
// changes nothing here, since the product is exact.
ValueId fused(Expander& e, const WidenCall& call) {
  const ValueId a = unpack(e, call.args[0]), b = unpack(e, call.args[1]);
  const ValueId c = unpack(e, call.args[2]);
  const ValueId product = e.mul(a, b), sum = e.add(product, c);
  const Type real = e.type(sum), u = unsigned_like(real);
  const ValueId part = e.sub(sum, product);
  const ValueId lost = e.add(e.sub(product, e.sub(sum, part)), e.sub(c, part));
  const ValueId zero = e.number(real, 0);
  // Of an infinite or undefined sum the loss is NaN: neither.
  const ValueId more = e.compare(Op::Greater, lost, zero), less = e.compare(Op::Less, lost, zero);
  const ValueId word = e.bitcast(sum, u);
  const ValueId even = e.compare(Op::Equal, e.bit_and(word, e.bits(u, 1)), e.bits(u, 0));
  const ValueId move = e.bit_and(even, e.bit_or(more, less));
  const ValueId inward = e.select(e.compare(Op::Less, sum, zero), more, less);
  const ValueId odd = e.select(inward, e.sub(word, e.bits(u, 1)), e.bit_or(word, e.bits(u, 1)));
  return pack(e, e.bitcast(e.select(move, odd, word), real));
}

// Integers reach float exactly, or are far beyond half's range; doubles must not be rounded twice.
ValueId convert(Expander& e, const WidenCall& call) {
  const ValueId x = call.args[0];
  const Type from = call.types[0], to = call.result;
  if (!is_half(from)) {
    const bool wide = from.scalar() == Scalar::Float64;
    return pack(e, wide ? to_sticky_float(e, x) : e.convert(x, real_like(to)));
  }
  if (is_half(to)) return x;
  const ValueId real = unpack(e, x);
  return e.type(real) == to ? real : e.emit(call.op, to, {real});
}

// The text of a function from outside takes and gives halves.
ValueId refuse(Expander& e, const WidenCall&) {
  throw UnsupportedError({make_diagnostic(Diag::feature_missing, e.builder().span(),
                                          {"an external function of half", "half (cl_khr_fp16)"})});
}

ValueId same_bits(Expander& e, const WidenCall& call) {
  const bool half = is_half(call.result);
  return e.bitcast(call.args[0], half ? call.result.with_scalar(Scalar::UInt16) : call.result);
}

// ---- the table ----------------------------------------------------------------------------------
// Rows without a function: named so that the table reads as one.
constexpr WidenRow keep = nullptr;
ValueId expand(Expander&, const WidenCall& call) {
  throw BugError("pass_expand left " + std::string(op_row(call.op).name) + " on half");
}

struct Row {
  WidenRow function = nullptr;
  bool known = false;
};
constexpr std::array<Row, kOpCount> kRows = [] {
  std::array<Row, kOpCount> rows{};
#define WIDEN(op, how) rows[static_cast<size_t>(Op::op)] = {how, true};
#include "lower/widen.def"
#undef WIDEN
  return rows;
}();
#define OP(name, python, category, shape, usage, level, sync, doc)                            \
  static_assert(OpLevel::level == OpLevel::Ast || kRows[static_cast<size_t>(Op::name)].known, \
                "lower/widen.def lacks a row for " #name);
#define REFUSED(name, python, category, usage, reason, doc)
#include "ops/op.def"
#undef OP
#undef REFUSED

// What pass_expand keeps before the halves go: all that is not of halves, and what rows say.
bool kept(Op op, Type result, Type first, MathMode) {
  const auto half = [](Type t) { return t.is_basic() && t.scalar() == Scalar::Float16; };
  return !(half(result) || half(first)) || kRows[static_cast<size_t>(op)].function != &expand;
}
bool all_native(Op, Type, Type, MathMode) { return true; }

// ---- the walk -----------------------------------------------------------------------------------
// Rebuilds every body in place, as pass_expand does.
class Widener {
 public:
  Widener(KernelDescriptor& d, std::vector<Type> was)
      : d_(d), was_(std::move(was)), replaced_(was_.size()), expander_(d, &all_native) {}

  void rebuild(BodyId id) {
    std::vector<OpId> old = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    d_.bodies[id.value].ops.reserve(old.size());
    for (OpId op : old)
      if (!replace(op, id)) d_.bodies[id.value].ops.push_back(op);
  }

 private:
  // Points the operands at the replacements; true when the operation itself was replaced.
  bool replace(OpId id, BodyId body) {
    const Operation op = d_.op(id);
    const Row& row = kRows[static_cast<size_t>(op.op)];
    bool half = false;
    for (uint32_t i = 0; i < op.result_count; i++)
      half = half || is_half(was_[d_.result(op, i).value]);
    types_.clear();
    args_.clear();
    for (uint32_t i = 0; i < op.operand_count; i++) {
      Operand& operand = d_.operands[op.operand_begin + i];
      if (operand.is_value()) {
        types_.push_back(was_[operand.index]);
        half = half || is_half(types_.back());
        if (replaced_[operand.index]) operand.index = replaced_[operand.index].value;
        args_.push_back(operand.value());
      } else if (operand.kind == Operand::Kind::Body) {
        const Operand inner = operand;  // bodies may move the vector
        rebuild(inner.body());
      }
    }
    if (!half || row.function == keep) return false;
    expander_.builder().set_insertion(body);
    expander_.builder().set_span(op.span);
    const Type result = op.result_count ? was_[op.first_result.value] : Type();
    replaced_[op.first_result.value] = row.function(expander_, {op.op, result, types_, args_});
    return true;
  }

  KernelDescriptor& d_;
  std::vector<Type> was_;          // by value: its type in the program
  std::vector<ValueId> replaced_;  // by value
  std::vector<Type> types_;        // of one operation's operands; no row has bodies within
  std::vector<ValueId> args_;
  Expander expander_;
};

bool holds_half(const KernelDescriptor& d, HalfBits& bits) {
  for (const Slot& slot : d.slots)
    if (bits.holds(slot.type)) return true;
  for (const Value& value : d.values)
    if (bits.holds(value.type)) return true;
  return false;
}

}  // namespace

void pass_widen(KernelDescriptor& d) {
  HalfBits bits;
  if (!holds_half(d, bits)) return;
  pass_expand(d, &kept);
  std::vector<Type> was(d.values.size());
  for (size_t v = 0; v < was.size(); v++) {
    was[v] = d.values[v].type;
    d.values[v].type = bits.bits(was[v]);
  }
  for (Constant& constant : d.constants) constant.type = bits.bits(constant.type);
  for (Slot& slot : d.slots) slot.type = bits.bits(slot.type);
  for (Function& function : d.functions)
    for (Type& result : function.results) result = bits.bits(result);
  Widener widener(d, std::move(was));
  for (size_t f = 0; f < d.functions.size(); f++) widener.rebuild(d.functions[f].body);
  pass_common(d);
  remove_dead(d);
}

}  // namespace lcpy
