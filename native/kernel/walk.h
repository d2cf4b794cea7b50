// Traversal of a descriptor's tree of bodies. A body or an operation that no function reaches (a
// pass may leave some behind until pass_dead compacts) is never visited.
#pragma once
#include <vector>

#include "kernel/descriptor.h"

namespace lcpy {

// Calls visit(op id, operation) for each operation of `body` and of the bodies within, in the order
// of the text form: an operation comes before the operations of its own bodies.
template <class Visit>
void walk_body(const KernelDescriptor& d, BodyId body, Visit&& visit) {
  for (OpId id : d.body(body).ops) {
    const Operation& o = d.op(id);
    visit(id, o);
    if (op_row(o.op).category != OpCategory::Control) continue;
    for (Operand x : d.operands_of(o))
      if (x.kind == Operand::Kind::Body) walk_body(d, x.body(), visit);
  }
}

template <class Visit>
void walk_functions(const KernelDescriptor& d, Visit&& visit) {
  for (const Function& f : d.functions) walk_body(d, f.body, visit);
}

// How often a function returns, by its body.
inline uint32_t count_returns(const KernelDescriptor& d, BodyId body) {
  uint32_t returns = 0;
  walk_body(d, body, [&](OpId, const Operation& o) { returns += o.op == Op::Return; });
  return returns;
}

// What pass_report turns into ordinary operations.
inline bool is_report(Op op) {
  return op == Op::Assert || op == Op::Trap || op == Op::Print || op == Op::Bounds;
}

inline bool is_terminator(Op op) {
  return op == Op::Yield || op == Op::Break || op == Op::Continue || op == Op::Return ||
         op == Op::Unreachable;
}

}  // namespace lcpy
