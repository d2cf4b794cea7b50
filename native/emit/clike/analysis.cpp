// The first walk: how often and where each value is used, which slots a function reaches, which
// bodies lanes leave, where they must know of each other, and where constants are chosen between.
#include "base/error.h"
#include "emit/clike/ops.h"
#include "emit/clike/warp.h"

namespace lcpy::clike {

void Emitter::analyse() {
  uses_.assign(d_.values.size(), 0);
  user_body_.assign(d_.values.size(), BodyId());
  inlined_.assign(d_.values.size(), 0);
  texts_.reserve(d_.ops.size());
  aliases_.assign(d_.values.size(), false);
  chosen_.assign(d_.values.size(), false);
  table_defined_.assign(d_.values.size(), false);
  breaks_.assign(d_.bodies.size(), false);
  returns_.assign(d_.bodies.size(), false);
  leaves_.assign(d_.bodies.size(), false);
  warps_.assign(d_.bodies.size(), false);
  last_warp_.assign(d_.bodies.size(), 0);
  facts_.resize(d_.functions.size());
  for (size_t f = 0; f < d_.functions.size(); f++) analyse_function(FunctionId(f));
}

void Emitter::analyse_function(FunctionId f) {
  if (facts_[f.value].known) return;
  facts_[f.value].known = true;
  FunctionFacts facts;
  facts.known = true;
  facts.slots.assign(d_.slots.size(), false);
  analyse_body(d_.functions[f.value].body, facts);
  if (is_external(f))
    for (const ExternalFunction::Parameter& p : external(f).parameters)
      if (p.kind == ExternalFunction::Kind::Buffer) facts.slots[p.index] = true;
  facts_[f.value] = std::move(facts);
}

void Emitter::count_use(ValueId v, BodyId body, bool movable) {
  uses_[v.value]++;
  user_body_[v.value] = movable ? body : BodyId();
}

bool Emitter::analyse_body(BodyId body, FunctionFacts& facts) {
  bool breaks = false, returns = false, leaves = false;
  uint32_t at = 0, last_warp = 0;
  for (OpId id : d_.body(body).ops) {
    const Operation& op = d_.op(id);
    at++;
    // Moves at a loop edge happen at once: what they read must not be written in between.
    // And what is named once for each lane is named by a variable.
    const bool movable =
        op.op == Op::Shuffle ? traits_.swizzles : op.op != Op::Continue || op.operand_count == 1;
    const bool loops = op.op == Op::Loop, selects = op.op == Op::If || op.op == Op::Switch;
    if (loops) loops_.push_back({op.first_result, op.result_count, {}});
    if (selects) yields_.push_back({op.first_result, op.result_count, {}});
    analyse_choices(op);
    breaks |= op.op == Op::Break;
    returns |= op.op == Op::Return;
    leaves |= op.op == Op::Break || op.op == Op::Continue || op.op == Op::Return;
    bool warps = needs_lanes(op.op);
    for (Operand o : d_.operands_of(op)) {
      switch (o.kind) {
        case Operand::Kind::Value:
          count_use(o.value(), body, movable);
          break;
        case Operand::Kind::Slot:
          facts.slots[o.index] = true;
          break;
        case Operand::Kind::Body:
          if (analyse_body(o.body(), facts) && op.op != Op::Loop) breaks = true;
          returns = returns || returns_[o.index];
          leaves = leaves || (op.op == Op::Loop ? returns_ : leaves_)[o.index];
          warps = warps || warps_[o.index];
          break;
        case Operand::Kind::Function: {
          analyse_function(o.function());
          const FunctionFacts& called = facts_[o.index];
          warps = warps || called.warps;
          for (size_t s = 0; s < called.slots.size(); s++)
            if (called.slots[s] && d_.slots[s].memory != MemoryClass::Scratch)
              facts.slots[s] = true;
          break;
        }
        case Operand::Kind::Imm:
          break;
      }
    }
    if (warps) last_warp = at;
    if (loops) loops_.pop_back();
    if (selects) yields_.pop_back();
  }
  breaks_[body.value] = breaks;
  returns_[body.value] = returns;
  leaves_[body.value] = leaves;
  warps_[body.value] = last_warp != 0;
  last_warp_[body.value] = last_warp;
  facts.warps |= last_warp != 0;
  return breaks;
}

}  // namespace lcpy::clike
