// Copies operations to where the builder stands, with the values that they then read.
#pragma once
#include <vector>

#include "lower/inline_vector.h"
#include "lower/rewrite.h"

namespace lcpy::lower {

// Self may have `Operand slot(Operand)`: what stands for a slot in the copy.
template <class Self>
class Copier {
 public:
  explicit Copier(KernelDescriptor& d) : d_(d), b_(d), map_(d.values.size(), kNone) {}

 protected:
  static constexpr uint32_t kNone = 0xffffffffu;

  // What is copied from now on, or redirected, reads `to` where it read `from`.
  void define(ValueId from, ValueId to) {
    if (from.value >= map_.size()) map_.resize(d_.values.size(), kNone);
    map_[from.value] = to.value;
  }
  ValueId map(ValueId v) const {
    return v.value < map_.size() && map_[v.value] != kNone ? ValueId(map_[v.value]) : v;
  }
  Operand map(Operand x) {
    if (x.is_value()) return Operand::of(map(x.value()));
    return x.kind == Operand::Kind::Slot ? static_cast<Self&>(*this).slot(x) : x;
  }
  Operand slot(Operand x) { return x; }

  void redirect(OpId id) {
    for (Operand& x : d_.operands_of(d_.op(id)))
      if (x.is_value()) x.index = map(x.value()).value;
  }

  void copy_operation(const Operation& o) {
    InlineVector<Operand, 8> operands;
    for (uint32_t k = 0; k < o.operand_count; k++) {
      const Operand x = d_.operands_of(o)[k];
      operands.push_back(x.kind == Operand::Kind::Body ? Operand::of(copy_body(x.body())) : map(x));
    }
    InlineVector<Type, 2> types;
    for (uint32_t i = 0; i < o.result_count; i++) types.push_back(d_.type_of(d_.result(o, i)));
    b_.set_span(o.span);
    const OpId made = b_.append(o.op, operands, types, o.flags);
    for (uint32_t i = 0; i < o.result_count; i++)
      define(d_.result(o, i), d_.result(d_.op(made), i));
  }

  BodyId copy_body(BodyId from) {
    const BodyId outer = b_.insertion();
    InlineVector<Type, 8> types;
    for (ValueId p : d_.body(from).params) types.push_back(d_.type_of(p));
    const BodyId to = b_.add_body(types);
    for (size_t i = 0; i < types.size(); i++)
      define(d_.body(from).params[i], d_.body(to).params[i]);
    b_.set_insertion(to);
    for (size_t i = 0; i < d_.body(from).ops.size(); i++)
      copy_operation(Operation(d_.op(d_.body(from).ops[i])));
    b_.set_insertion(outer);
    return to;
  }

  KernelDescriptor& d_;
  KernelBuilder b_;

 private:
  std::vector<uint32_t> map_;
};

}  // namespace lcpy::lower
