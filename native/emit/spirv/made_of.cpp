#include "emit/spirv/made_of.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernel/walk.h"

namespace lcpy::spirv {
namespace {

bool is_conversion(Op op) { return op == Op::Convert || op == Op::ConvertUnchecked; }
bool puts_together(Op op) {
  return op == Op::Construct || op == Op::Extract || op == Op::Insert || op == Op::Shuffle ||
         op == Op::Select;
}
bool is_float32(Type t) { return t.is_float() && t.scalar() == Scalar::Float32; }

class Analysis {
 public:
  explicit Analysis(const KernelDescriptor& d) : d_(d) {}

  MadeOf run() {
    if (!converts()) return {};
    m_.rounded.assign(d_.values.size(), false);
    m_.in_parts.assign(d_.values.size(), false);
    m_.extreme.assign(d_.values.size(), false);
    for (uint32_t v = 0; v < d_.values.size(); v++)
      m_.extreme[v] = d_.is_constant(ValueId(v)) && is_extreme(ValueId(v));
    slots_.resize(d_.slots.size());
    for (const Function& f : d_.functions) calls_.emplace_back(f.results.size());
    do {
      changed_ = false;
      for (const Function& f : d_.functions) body(f.body, nullptr, nullptr, f);
    } while (changed_);
    return std::move(m_);
  }

 private:
  bool converts() const {
    bool found = false;
    walk_functions(d_, [&](OpId, const Operation& o) {
      found |=
          is_conversion(o.op) && type(o, 0).is_float() && d_.type_of(d_.result(o)).is_integer();
    });
    return found;
  }

  Type type(const Operation& o, size_t i) const { return d_.type_of(d_.operands_of(o)[i].value()); }

  void mark(std::vector<bool>& set, ValueId v, bool with) {
    if (!with || set[v.value]) return;
    set[v.value] = true;
    changed_ = true;
  }
  // What one value says of the other: forward what it is made of, backward how it is used.
  void flows(ValueId from, ValueId to) {
    mark(m_.rounded, to, m_.rounded[from.value]);
    mark(m_.extreme, to, m_.extreme[from.value]);
    mark(m_.in_parts, from, m_.in_parts[to.value]);
  }

  void body(BodyId id, const Operation* branch, const Operation* loop, const Function& f) {
    for (const OpId op : d_.body(id).ops) operation(d_.op(op), branch, loop, f);
  }

  void operation(const Operation& o, const Operation* branch, const Operation* loop,
                 const Function& f) {
    const auto x = d_.operands_of(o);
    switch (o.op) {
      case Op::Yield:
        return pass(x, *branch);
      case Op::Break:
        return pass(x, *loop);
      case Op::Continue:
        return pass(x, d_.body(d_.operands_of(*loop)[0].body()).params);
      case Op::Return:
        return returns(x, f);
      case Op::If:
      case Op::Switch:
        for (const Operand& arm : x)
          if (arm.kind == Operand::Kind::Body) body(arm.body(), &o, loop, f);
        return;
      case Op::Loop:
        pass(x.subspan(1), d_.body(x[0].body()).params);
        return body(x[0].body(), nullptr, &o, f);
      case Op::Call:
        return call(o);
      default:
        return value(o);
    }
  }

  void pass(std::span<const Operand> from, const Operation& to) {
    for (uint32_t i = 0; i < from.size(); i++) flows(from[i].value(), d_.result(to, i));
  }
  void pass(std::span<const Operand> from, const std::vector<ValueId>& to) {
    for (size_t i = 0; i < from.size(); i++) flows(from[i].value(), to[i]);
  }

  // Calls of one function are told apart by nothing: what any of them is given, all are.
  void call(const Operation& o) {
    const auto x = d_.operands_of(o);
    const uint32_t f = x[0].function().value;
    if (d_.functions[f].external != Function::kNotExternal) {
      for (uint32_t i = 0; i < o.result_count; i++) mark(m_.rounded, d_.result(o, i), true);
      for (const Operand& given : x.subspan(1)) mark(m_.in_parts, given.value(), true);
      return;
    }
    pass(x.subspan(1), d_.functions[f].params);
    auto& results = calls_[f];
    for (uint32_t i = 0; i < o.result_count; i++) {
      mark(m_.rounded, d_.result(o, i), results[i].rounded);
      mark(m_.extreme, d_.result(o, i), results[i].extreme);
      results[i].in_parts |= m_.in_parts[d_.result(o, i).value];
    }
  }
  void returns(std::span<const Operand> x, const Function& f) {
    auto& results = calls_[static_cast<size_t>(&f - d_.functions.data())];
    for (size_t i = 0; i < x.size(); i++) {
      const bool rounded = m_.rounded[x[i].index], extreme = m_.extreme[x[i].index];
      changed_ |= (rounded && !results[i].rounded) || (extreme && !results[i].extreme);
      results[i].rounded |= rounded;
      results[i].extreme |= extreme;
      mark(m_.in_parts, x[i].value(), results[i].in_parts);
    }
  }

  // What a thread reads where it wrote, the compiler takes from what it wrote.
  void store(SlotId slot, ValueId v) {
    Facts& s = slots_[slot.value];
    const bool rounded = m_.rounded[v.value], extreme = m_.extreme[v.value];
    changed_ |= (rounded && !s.rounded) || (extreme && !s.extreme);
    s.rounded |= rounded;
    s.extreme |= extreme;
    mark(m_.in_parts, v, s.in_parts);
  }
  void load(SlotId slot, ValueId result) {
    Facts& s = slots_[slot.value];
    mark(m_.rounded, result, s.rounded);
    mark(m_.extreme, result, s.extreme);
    changed_ |= m_.in_parts[result.value] && !s.in_parts;
    s.in_parts = s.in_parts || m_.in_parts[result.value];
  }

  void value(const Operation& o) {
    const auto x = d_.operands_of(o);
    if (o.op == Op::Store || o.op == Op::ByteStore) return store(x[0].slot(), x[1].value());
    if (op_row(o.op).category == OpCategory::Atomic)
      for (const Operand& v : x)
        if (v.is_value()) store(x[0].slot(), v.value());
    if (!o.result_count) return;
    const ValueId result = d_.result(o);
    if (is_conversion(o.op)) {
      const Type from = type(o, 0), to = d_.type_of(result);
      const bool another =
          from.is_integer() || (from.is_float() && from.scalar() == Scalar::Float64);
      mark(m_.rounded, result, is_float32(to) && another);
      if (from.is_integer())
        mark(m_.in_parts, x[0].value(),
             m_.in_parts[result.value] || to.is_float() ||
                 scalar_size(to.scalar()) < scalar_size(from.scalar()));
      return;
    }
    const OpCategory category = op_row(o.op).category;
    if (category == OpCategory::Memory || category == OpCategory::Atomic)
      return load(x[0].slot(), result);
    mark(m_.extreme, result, gives_extreme(o));
    const bool keeps = keeps_number(o), whole = keeps_whole(o);
    for (const Operand& v : x) {
      if (!v.is_value()) continue;
      if (keeps) mark(m_.rounded, result, m_.rounded[v.index]);
      mark(m_.in_parts, v.value(), !whole || m_.in_parts[result.value]);
    }
  }

  // Parts are known each for itself; what is computed, if all of its operands are.
  bool gives_extreme(const Operation& o) const {
    if (!d_.type_of(d_.result(o)).is_float() && !puts_together(o.op)) return false;
    bool any = false, all = true;
    for (const Operand& v : d_.operands_of(o)) {
      if (!v.is_value()) continue;
      any |= m_.extreme[v.index];
      all &= m_.extreme[v.index] || d_.is_constant(v.value());
    }
    return puts_together(o.op) ? any : all;
  }

  // A lane of less than 0, beyond the integers of 32 bits, or NaN.
  bool is_extreme(ValueId v) const {
    const Type t = d_.type_of(v);
    if (!t.is_lanes()) return true;
    if (!is_float32(t)) return false;
    for (uint32_t i = 0; i < t.lanes(); i++)
      if (!(lane(v, i) >= 0 && lane(v, i) < 0x1p31f)) return true;
    return false;
  }
  float lane(ValueId v, uint32_t i) const {
    const Type t = d_.type_of(v);
    float number = 0;
    std::memcpy(&number, d_.constant_bytes(v).data() + (t.is_scalar() ? 0 : t.offset(i)), 4);
    return number;
  }

  // Whether a float that comes out may be one that went in. Arithmetic gives numbers of its own,
  // unless one operand leaves the other as it is.
  bool keeps_number(const Operation& o) const {
    const auto x = d_.operands_of(o);
    switch (o.op) {
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Div:
        return is_neutral(x[0].value()) || is_neutral(x[1].value());
      case Op::Fma:
        return std::ranges::count_if(x, [&](Operand v) { return is_neutral(v.value()); }) > 1;
      case Op::Sqrt:
        return false;
      default:
        return true;
    }
  }

  // 0, 1 or -1 in some lane.
  bool is_neutral(ValueId v) const {
    const Type t = d_.type_of(v);
    if (!d_.is_constant(v) || !is_float32(t) || !t.is_lanes()) return false;
    for (uint32_t i = 0; i < t.lanes(); i++)
      if (lane(v, i) == 0 || std::abs(lane(v, i)) == 1) return true;
    return false;
  }

  // Whether an operation needs every bit of its integers for any bit of its result, or passes them
  // on as they are.
  bool keeps_whole(const Operation& o) const {
    switch (o.op) {
      case Op::Add:
      case Op::Sub:
      case Op::Mul:  // an index: wrong above, where it is used below alone, is right
      case Op::Neg:
      case Op::Select:
      case Op::Min:
      case Op::Max:
      case Op::Construct:
      case Op::Extract:
      case Op::Insert:
      case Op::Shuffle:
      case Op::Less:
      case Op::Greater:
      case Op::LessEqual:
      case Op::GreaterEqual:
      case Op::Equal:
      case Op::NotEqual:
        return true;
      default:
        return false;
    }
  }

  struct Facts {
    bool rounded = false, extreme = false, in_parts = false;
  };
  const KernelDescriptor& d_;
  MadeOf m_;
  std::vector<std::vector<Facts>> calls_;  // by function and result
  std::vector<Facts> slots_;               // of what is stored in each
  bool changed_ = false;
};

}  // namespace

MadeOf made_of(const KernelDescriptor& d) { return Analysis(d).run(); }

}  // namespace lcpy::spirv
