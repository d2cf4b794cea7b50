// What passes share: a walk along dominance that rebuilds each body's list of operations, with a
// table of values that others have replaced. What a pass drops stays behind unreferenced until
// pass_dead compacts.
#pragma once
#include <vector>

#include "kernel/descriptor.h"
#include "kernel/walk.h"

namespace lcpy::lower {

// Whether the operation only computes its results from its operands: no memory, no effect, the same
// result wherever it stands.
inline bool is_pure(Op op) {
  switch (op_row(op).category) {
    case OpCategory::Operator:
    case OpCategory::Select:
    case OpCategory::Math:
    case OpCategory::Bits:
    case OpCategory::Geometry:
    case OpCategory::Reduce:
    case OpCategory::Matrix:
    case OpCategory::Ids:
    case OpCategory::Buffer:
    case OpCategory::Convert:
    case OpCategory::Value:
      return true;
    default:
      return false;
  }
}

inline constexpr uint8_t kVolatileFlag = 8;
inline constexpr uint8_t kBufferCheck = 1;  // of Bounds: of a buffer's element

// A read of memory that nothing writes while the kernel runs.
inline bool is_constant_load(const KernelDescriptor& d, const Operation& o) {
  if (o.op != Op::Load || (o.flags & kVolatileFlag)) return false;
  const MemoryClass m = d.slot(d.operands_of(o)[0].slot()).memory;
  return m == MemoryClass::Uniform || m == MemoryClass::Constant;
}

// Leaves the bodies below `id` empty, so that nothing counts as used there.
inline void drop_body(KernelDescriptor& d, BodyId id) {
  std::vector<OpId> ops = std::move(d.bodies[id.value].ops);
  d.bodies[id.value].ops.clear();
  d.bodies[id.value].params.clear();
  for (OpId op : ops) {
    if (op_row(d.op(op).op).category != OpCategory::Control) continue;
    for (Operand x : d.operands_of(d.op(op)))
      if (x.kind == Operand::Kind::Body) drop_body(d, x.body());
  }
}

// Self has `bool visit(OpId)`: true keeps the operation (its operands are already replaced, its
// bodies not yet walked), false drops it; what visit() appends comes before. It may have
// leave(OpId), called after the bodies of an operation that was kept, and enter_body() and
// leave_body().
template <class Self>
class Rewriter {
 public:
  explicit Rewriter(KernelDescriptor& d)
      : d_(d), b_(d), replaced_(d.values.size(), ValueId::kNone) {}

  void run() {
    for (size_t i = 0; i < d_.functions.size(); i++) walk(d_.functions[i].body);
  }

 protected:
  ValueId resolve(ValueId v) const {
    if (v.value >= replaced_.size() || replaced_[v.value] == ValueId::kNone) return v;
    return ValueId(replaced_[v.value]);
  }

  // Every later use of `from` is of `to`, which must itself be final.
  void replace(ValueId from, ValueId to) {
    if (from.value >= replaced_.size()) replaced_.resize(d_.values.size(), ValueId::kNone);
    replaced_[from.value] = to.value;
  }

  void walk(BodyId id) {
    std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    d_.bodies[id.value].ops.reserve(ops.size());
    const BodyId outer = b_.insertion();
    const bool outer_ended = ended_;
    b_.set_insertion(id);
    ended_ = false;
    static_cast<Self&>(*this).enter_body();
    walk_list(ops);
    static_cast<Self&>(*this).leave_body();
    ended_ = outer_ended;
    b_.set_insertion(outer);
  }

  // Puts a body's operations where the walk stands. Returns its terminator if that is a Yield,
  // which is not put; any other one ends the list being walked.
  OpId splice(BodyId id) {
    std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    OpId yield;
    if (!ops.empty() && d_.op(ops.back()).op == Op::Yield) {
      yield = ops.back();
      ops.pop_back();
    }
    walk_list(ops);
    if (!yield) {
      ended_ = true;
    } else if (!ended_) {
      redirect(yield);
    }
    return yield;
  }

  void redirect(OpId id) {
    for (Operand& x : d_.operands_of(d_.op(id)))
      if (x.is_value()) x.index = resolve(x.value()).value;
  }

  void leave(OpId) {}
  void enter_body() {}
  void leave_body() {}

  KernelDescriptor& d_;
  KernelBuilder b_;

 private:
  void walk_list(const std::vector<OpId>& ops) {
    Self& self = static_cast<Self&>(*this);
    for (size_t i = 0; i < ops.size(); i++) {
      const OpId id = ops[i];
      if (ended_) {
        drop_rest(ops, i);
        return;
      }
      redirect(id);
      b_.set_span(d_.op(id).span);
      if (!self.visit(id)) continue;
      d_.bodies[b_.insertion().value].ops.push_back(id);
      if (op_row(d_.op(id).op).category != OpCategory::Control) continue;
      for (uint32_t k = 0; k < d_.op(id).operand_count; k++) {
        const Operand x = d_.operands_of(d_.op(id))[k];
        if (x.kind == Operand::Kind::Body) walk(x.body());
      }
      self.leave(id);
    }
  }

  void drop_rest(const std::vector<OpId>& ops, size_t from) {
    for (size_t i = from; i < ops.size(); i++)
      for (Operand x : d_.operands_of(d_.op(ops[i])))
        if (x.kind == Operand::Kind::Body) drop_body(d_, x.body());
  }

  std::vector<uint32_t> replaced_;
  bool ended_ = false;
};

// Whether this thread is inside the dispatch, appended where the builder stands (guard.cpp).
ValueId inside(const KernelDescriptor& d, KernelBuilder& b);

// The constant that the operation computes from constant operands; none if it does not.
ValueId fold_operation(KernelDescriptor& d, KernelBuilder& b, const Operation& o);

}  // namespace lcpy::lower
