// pass_simplify: identities that keep every bit, and control flow that constants decide: branches
// with a known condition, results and carried values that are the same on all paths, loops that
// leave in their first round.
#include "lower/identities.h"
#include "lower/inline_vector.h"
#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy {
namespace lower {
namespace {

class Simplify : public Rewriter<Simplify> {
 public:
  explicit Simplify(KernelDescriptor& d) : Rewriter(d), loops_(d.ops.size(), kNone) {
    for (const Function& f : d.functions) find_loops(f.body, kNone);
  }

 private:
  friend Rewriter;
  static constexpr uint32_t kNone = 0xffffffffu;
  struct Loop {
    std::vector<OpId> continues, breaks;
  };

  void find_loops(BodyId id, uint32_t loop) {
    for (OpId op : d_.body(id).ops) {
      const Operation& o = d_.op(op);
      if (o.op == Op::Continue) found_[loop].continues.push_back(op);
      if (o.op == Op::Break) found_[loop].breaks.push_back(op);
      if (op_row(o.op).category != OpCategory::Control) continue;
      uint32_t inner = loop;
      if (o.op == Op::Loop) {
        inner = loops_[op.value] = static_cast<uint32_t>(found_.size());
        found_.emplace_back();
      }
      for (Operand x : d_.operands_of(o))
        if (x.kind == Operand::Kind::Body) find_loops(x.body(), inner);
    }
  }

  bool visit(OpId id) {
    const Operation& o = d_.op(id);
    switch (o.op) {
      case Op::If:
        return visit_if(id);
      case Op::Switch:
        return visit_switch(id);
      case Op::Loop:
        return visit_loop(id);
      case Op::Load:
      case Op::Store:
        known_indices(o);
        return true;
      default:
        break;
    }
    if (op_row(o.op).category == OpCategory::Atomic) known_indices(o);
    const bool warp = op_row(o.op).category == OpCategory::Warp;
    if (o.result_count != 1 || !(is_pure(o.op) || warp)) return true;
    const ValueId result = o.first_result;
    ValueId better = fold_operation(d_, b_, o);
    if (!better && !warp) better = simplify_operation(d_, b_, o);
    if (!better) return true;
    replace(result, settle(better));
    return false;
  }

  // What an identity appended may fold or simplify once more.
  ValueId settle(ValueId v) {
    for (int round = 0; round < 4; round++) {
      if (d_.values[v.value].def != Value::Def::Result) return v;
      const Operation& o = d_.op(OpId(d_.values[v.value].source));
      auto& ops = d_.bodies[b_.insertion().value].ops;
      if (ops.empty() || ops.back().value != d_.values[v.value].source || !is_pure(o.op)) return v;
      ValueId better = fold_operation(d_, b_, o);
      if (!better) better = simplify_operation(d_, b_, o);
      if (!better) return v;
      v = better;
    }
    return v;
  }

  // A known index of a chain is an immediate one, which every target prints best.
  void known_indices(const Operation& o) {
    const auto x = d_.operands_of(o);
    const Slot& s = d_.slot(x[0].slot());
    size_t from = 1;
    if (o.op == Op::Store) from = 2;
    if (op_row(o.op).category == OpCategory::Atomic)
      from = o.op == Op::AtomicLoad ? 1 : o.op == Op::AtomicCompareExchange ? 3 : 2;
    Type t = s.type;
    for (size_t i = from; i < x.size(); i++) {
      if (x[i].is_value() && d_.is_constant(x[i].value())) {
        const auto bytes = d_.constant_bytes(x[i].value());
        uint64_t n = 0;
        for (size_t k = 0; k < bytes.size(); k++) n |= uint64_t(bytes[k]) << (8 * k);
        const uint64_t end = t.is_buffer() ? 0x7fffffffu : t.count();
        if (n < end) x[i] = Operand::imm(static_cast<uint32_t>(n));
      }
      t = t.is_struct() ? t.component(x[i].index) : t.element();
    }
  }

  // ---- branches ---------------------------------------------------------------------------------
  void take(OpId id, BodyId chosen) {
    for (Operand x : d_.operands_of(d_.op(id)))
      if (x.kind == Operand::Kind::Body && x.body() != chosen) drop_body(d_, x.body());
    const OpId yield = splice(chosen);
    if (!yield) return;
    const auto values = d_.operands_of(d_.op(yield));
    for (uint32_t i = 0; i < values.size(); i++)
      replace(d_.result(d_.op(id), i), values[i].value());
  }

  bool visit_if(OpId id) {
    const auto x = d_.operands_of(d_.op(id));
    if (d_.is_constant(x[0].value())) {
      take(id, d_.constant_bytes(x[0].value())[0] != std::byte{0} ? x[1].body() : x[2].body());
      return false;
    }
    return !choose(id);
  }

  const Operation* only_yield(BodyId id) const {
    const Body& b = d_.body(id);
    return b.ops.size() == 1 && d_.op(b.ops[0]).op == Op::Yield ? &d_.op(b.ops[0]) : nullptr;
  }

  // Both arms only yield: the results are choices, without a branch.
  bool choose(OpId id) {
    const auto x = d_.operands_of(d_.op(id));
    const Operation *then = only_yield(x[1].body()), *other = only_yield(x[2].body());
    if (!then || !other) return false;
    const uint32_t count = d_.op(id).result_count;
    InlineVector<ValueId, 8> first, second;
    for (uint32_t i = 0; i < count; i++) {
      first.push_back(resolve(d_.operands_of(*then)[i].value()));
      second.push_back(resolve(d_.operands_of(*other)[i].value()));
      if (first[i] != second[i] && !d_.type_of(first[i]).is_lanes()) return false;
    }
    const ValueId condition = x[0].value();
    drop_body(d_, x[1].body());
    drop_body(d_, x[2].body());
    for (uint32_t i = 0; i < count; i++) {
      const ValueId result = d_.result(d_.op(id), i);
      if (first[i] == second[i]) {
        replace(result, first[i]);
        continue;
      }
      const ValueId chosen =
          b_.emit(Op::Select, d_.type_of(result), {condition, first[i], second[i]});
      replace(result, settle(chosen));
    }
    return true;
  }

  bool visit_switch(OpId id) {
    const auto x = d_.operands_of(d_.op(id));
    if (!d_.is_constant(x[0].value())) return true;
    BodyId chosen = x[1].body();
    bool found = false;
    for (size_t i = 2; i < x.size(); i++) {
      if (x[i].is_value()) {
        found |= x[i].value() == x[0].value();
      } else if (found) {
        chosen = x[i].body();
        break;
      }
    }
    take(id, chosen);
    return false;
  }

  // A result for which every arm that goes on yields the same outer value is that value.
  void leave(OpId id) {
    const Operation& o = d_.op(id);
    if (o.op != Op::If || o.result_count == 0) return;
    const auto x = d_.operands_of(o);
    const Operation *a = yield_of(x[1].body()), *b = yield_of(x[2].body());
    for (uint32_t i = 0; a && b && i < o.result_count; i++) {
      const ValueId v = d_.operands_of(*a)[i].value();
      if (v == d_.operands_of(*b)[i].value()) replace(d_.result(o, i), v);
    }
  }
  const Operation* yield_of(BodyId id) const {
    const Body& b = d_.body(id);
    return !b.ops.empty() && d_.op(b.ops.back()).op == Op::Yield ? &d_.op(b.ops.back()) : nullptr;
  }

  // ---- loops ------------------------------------------------------------------------------------
  bool visit_loop(OpId id) {
    const Loop& loop = found_[loops_[id.value]];
    const auto x = d_.operands_of(d_.op(id));
    const BodyId body = x[0].body();
    const auto& params = d_.body(body).params;
    if (loop.continues.empty() && loop.breaks.size() == 1 && !d_.body(body).ops.empty() &&
        d_.body(body).ops.back() == loop.breaks[0]) {
      once(id, body);
      return false;
    }
    // A parameter that every round passes on as it is, or that always starts anew the same, is its
    // initial value.
    for (uint32_t i = 0; i < params.size(); i++) {
      const ValueId initial = x[i + 1].value();
      bool constant = true;
      for (OpId c : loop.continues) {
        const ValueId next = resolve(d_.operands_of(d_.op(c))[i].value());
        constant &= next == params[i] || next == initial;
      }
      if (constant) replace(params[i], initial);
    }
    return true;
  }

  // The body runs once and ends in the loop's only Break.
  void once(OpId id, BodyId body) {
    const auto x = d_.operands_of(d_.op(id));
    const auto params = d_.body(body).params;
    for (uint32_t i = 0; i < params.size(); i++) replace(params[i], x[i + 1].value());
    d_.bodies[body.value].params.clear();
    Operation& last = d_.op(d_.body(body).ops.back());
    last.op = Op::Yield;
    take(id, body);
  }

  std::vector<uint32_t> loops_;  // by operation: into found_
  std::vector<Loop> found_;
};

}  // namespace
}  // namespace lower

void pass_simplify(KernelDescriptor& d) { lower::Simplify(d).run(); }

}  // namespace lcpy
