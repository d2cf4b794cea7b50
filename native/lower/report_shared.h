// Values that a thread which trapped has like every other one of its block: computed from ids,
// arguments and counters of loops with barriers alone. Whatever the thread has not done since it
// trapped, it has the value that it would have had.
#pragma once
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "kernel/descriptor.h"
#include "lower/rewrite.h"

namespace lcpy::lower {

class SharedValues {
 public:
  SharedValues(const KernelDescriptor& d, std::function<bool(BodyId)> has_barrier)
      : d_(d), has_barrier_(std::move(has_barrier)) {}

  // Of the function whose body this is.
  void find_loops(BodyId id, BodyId loop = {}) {
    for (OpId op : d_.body(id).ops) {
      const Operation& o = d_.op(op);
      if (o.op == Op::Continue) continues_.push_back({loop, op});
      if (o.op == Op::Loop) loops_.push_back({d_.operands_of(o)[0].body(), op});
      if (op_row(o.op).category != OpCategory::Control) continue;
      for (Operand x : d_.operands_of(o))
        if (x.kind == Operand::Kind::Body) find_loops(x.body(), o.op == Op::Loop ? x.body() : loop);
    }
  }

  bool holds(ValueId v) const {
    std::vector<uint32_t> seen{v.value};
    for (size_t i = 0; i < seen.size(); i++) {
      if (seen.size() > kLargest) return false;
      auto look = [&](ValueId x) {
        if (std::find(seen.begin(), seen.end(), x.value) == seen.end()) seen.push_back(x.value);
      };
      const Value& value = d_.values[seen[i]];
      switch (value.def) {
        case Value::Def::Constant:
          break;
        case Value::Def::FunctionParameter:
          return false;
        case Value::Def::BodyParameter:
          if (!carried(BodyId(value.source), value.index, look)) return false;
          break;
        case Value::Def::Result: {
          const Operation& o = d_.op(OpId(value.source));
          if (o.result_count != 1 || !(is_pure(o.op) || is_constant_load(d_, o))) return false;
          for (Operand x : d_.operands_of(o))
            if (x.is_value()) look(x.value());
        }
      }
    }
    return true;
  }

 private:
  static constexpr size_t kLargest = 256;  // values that one may depend on and be looked through

  template <class Look>
  bool carried(BodyId body, uint32_t index, Look&& look) const {
    if (!has_barrier_(body)) return false;
    for (auto [inner, op] : loops_)
      if (inner == body) look(d_.operands_of(d_.op(op))[index + 1].value());
    for (auto [inner, op] : continues_)
      if (inner == body) look(d_.operands_of(d_.op(op))[index].value());
    return true;
  }

  const KernelDescriptor& d_;
  std::function<bool(BodyId)> has_barrier_;
  std::vector<std::pair<BodyId, OpId>> loops_, continues_;
};

}  // namespace lcpy::lower
