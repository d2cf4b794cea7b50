// pass_unroll: a short loop of known turns becomes its turns. Inner loops go first. A loop that may
// be left from within, or whose turn may end early, stays.
#include <array>

#include "kernel/turns.h"
#include "kernel/walk.h"
#include "lower/copy.h"
#include "lower/lower.h"

namespace lcpy {
namespace lower {
namespace {

class Unroll : public Copier<Unroll> {
 public:
  using Copier::Copier;

  bool run() {
    for (size_t f = 0; f < d_.functions.size(); f++) walk(d_.functions[f].body);
    return any_;
  }

 private:
  friend Copier;

  void walk(BodyId id) {
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    for (OpId op : ops) {
      redirect(op);
      const Operation o = d_.op(op);
      if (op_row(o.op).category == OpCategory::Control)
        for (uint32_t k = 0; k < o.operand_count; k++)
          if (const Operand x = d_.operands_of(o)[k]; x.kind == Operand::Kind::Body) walk(x.body());
      const uint64_t turns = o.op == Op::Loop ? turns_of(o) : 0;
      if (!turns) {
        d_.bodies[id.value].ops.push_back(op);
        continue;
      }
      b_.set_insertion(id);
      write_out(o, turns);
    }
  }

  // How often a loop that is to be written out runs, else 0.
  uint64_t turns_of(const Operation& loop) const {
    const uint64_t turns = known_turns(d_, loop);
    const BodyId body = d_.operands_of(loop)[0].body();
    if (!turns || !is_short_loop(turns, weight(d_, body, kMostUnrolled))) return 0;
    // A test that goes on or leaves; after it nothing that leaves, and one end.
    const auto& ops = d_.body(body).ops;
    const Operation& test = d_.op(ops[1]);
    if (test.op != Op::If) return 0;
    const auto arms = d_.operands_of(test);
    if (arms[0].value() != d_.result(d_.op(ops[0]))) return 0;
    const bool goes_on = is_only(arms[1].body(), Op::Yield) && is_only(arms[2].body(), Op::Break);
    if (!goes_on || test.result_count) return 0;
    for (size_t i = 2; i + 1 < ops.size(); i++)
      if (leaves(d_.op(ops[i]), false)) return 0;
    return turns;
  }

  bool is_only(BodyId body, Op terminator) const {
    return d_.body(body).ops.size() == 1 && d_.op(d_.body(body).ops[0]).op == terminator;
  }

  // Whether an operation may end the turn, the loop or the function.
  bool leaves(const Operation& o, bool in_inner_loop) const {
    if (o.op == Op::Return) return true;
    if (o.op == Op::Break || o.op == Op::Continue) return !in_inner_loop;
    if (op_row(o.op).category != OpCategory::Control) return false;
    const bool inner = in_inner_loop || o.op == Op::Loop;
    for (Operand x : d_.operands_of(o))
      if (x.kind == Operand::Kind::Body)
        for (OpId id : d_.body(x.body()).ops)
          if (leaves(d_.op(id), inner)) return true;
    return false;
  }

  void write_out(const Operation& loop, uint64_t turns) {
    any_ = true;
    const BodyId body = d_.operands_of(loop)[0].body();
    const auto params = d_.body(body).params;
    const auto ops = d_.body(body).ops;
    std::vector<ValueId> carried;
    for (Operand x : d_.operands_of(loop).subspan(1)) carried.push_back(x.value());
    const auto enter = [&] {
      for (size_t i = 0; i < params.size(); i++) define(params[i], carried[i]);
      copy_operation(Operation(d_.op(ops[0])));  // the test may serve elsewhere too
    };
    for (uint64_t turn = 0; turn < turns; turn++) {
      enter();
      for (size_t i = 2; i + 1 < ops.size(); i++) copy_operation(Operation(d_.op(ops[i])));
      const auto next = d_.operands_of(d_.op(ops.back()));
      for (size_t i = 0; i < params.size(); i++) carried[i] = map(next[i].value());
    }
    enter();
    const BodyId left = d_.operands_of(d_.op(ops[1]))[2].body();
    const auto results = d_.operands_of(d_.op(d_.body(left).ops[0]));
    for (uint32_t i = 0; i < loop.result_count; i++)
      define(d_.result(loop, i), map(results[i].value()));
  }

  bool any_ = false;
};

}  // namespace
}  // namespace lower

void pass_unroll(KernelDescriptor& d) {
  if (!lower::Unroll(d).run()) return;
  pass_fold(d);
  pass_simplify(d);
  pass_common(d);
  remove_dead(d);
}

}  // namespace lcpy
