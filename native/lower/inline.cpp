// pass_inline: small callables, and those called from one place, become part of their callers. A
// callable may return early, though not from within a loop: what follows a branch with a return
// moves into the arm that goes on, and the branch yields the callable's results. What cannot be
// turned so stays a function. Bodies are copied from callees that are done already, and only small
// ones more than once, so that a chain of doubling calls stays small.
#include <algorithm>

#include "kernel/verify.h"
#include "lower/copy.h"
#include "lower/lower.h"

namespace lcpy {
namespace lower {
namespace {

constexpr uint32_t kSmall = 40;  // operations of a callable that is copied to every call

bool has_bodies(Op op) { return op == Op::If || op == Op::Switch || op == Op::Loop; }

class Inline : public Copier<Inline> {
 public:
  explicit Inline(KernelDescriptor& d) : Copier(d), info_(d.functions.size()) {}

  void run() {
    for (const Function& f : d_.functions)
      walk_body(d_, f.body, [&](OpId, const Operation& o) {
        if (o.op == Op::Call) info_[d_.operands_of(o)[0].index].calls++;
      });
    function(0);
  }

 private:
  friend Copier;
  struct Info {
    bool done = false;
    bool convertible = true;  // to one exit
    uint32_t size = 0, depth = 0, calls = 0;
  };
  // What follows the branch whose arm is being copied.
  struct Rest {
    BodyId body;
    size_t next;
    const Operation* branch;
    const Rest* outer;
  };
  struct End {
    bool returns = false;
    std::vector<ValueId> values;
  };

  void function(uint32_t f) {
    Info& info = info_[f];
    if (info.done) return;
    info.done = true;
    // Callees first, whole: the walk below may look at any of them.
    std::vector<uint32_t> callees;
    walk_body(d_, d_.functions[f].body, [&](OpId, const Operation& o) {
      if (o.op == Op::Call) callees.push_back(d_.operands_of(o)[0].index);
    });
    for (uint32_t c : callees) function(c);
    caller_ = f;
    rebuild(d_.functions[f].body, 1);
    measure(f);
  }

  // ---- what a function is like ------------------------------------------------------------------
  void measure(uint32_t f) {
    Info& info = info_[f];
    info.size = 0;
    walk_body(d_, d_.functions[f].body, [&](OpId, const Operation&) { info.size++; });
    returns_.resize(d_.ops.size(), 0);
    find_returns(d_.functions[f].body, false, info);
    if (info.convertible) info.depth = tail_depth(d_.functions[f].body, 0, nullptr);
  }

  bool falls(BodyId id) const { return d_.op(d_.body(id).ops.back()).op == Op::Yield; }

  // Marks branches with a return inside; one with two arms that go on cannot be turned.
  bool find_returns(BodyId id, bool in_loop, Info& info) {
    bool any = false;
    for (OpId op : d_.body(id).ops) {
      const Operation& o = d_.op(op);
      any |= o.op == Op::Return;
      if (!has_bodies(o.op)) continue;
      bool inside = false;
      size_t falling = 0;
      for (Operand x : d_.operands_of(o)) {
        if (x.kind != Operand::Kind::Body) continue;
        inside |= find_returns(x.body(), in_loop || o.op == Op::Loop, info);
        falling += falls(x.body());
      }
      returns_[op.value] = inside;
      any |= inside;
      if (inside && (in_loop || o.op == Op::Loop || falling > 1)) info.convertible = false;
    }
    return any;
  }

  uint32_t plain_depth(BodyId id) const {
    uint32_t depth = 1;
    for (OpId op : d_.body(id).ops)
      if (has_bodies(d_.op(op).op))
        for (Operand x : d_.operands_of(d_.op(op)))
          if (x.kind == Operand::Kind::Body) depth = std::max(depth, 1 + plain_depth(x.body()));
    return depth;
  }

  // Bodies within bodies that copy_tail() will make.
  uint32_t tail_depth(BodyId id, size_t from, const Rest* rest) const {
    uint32_t depth = 1;
    const auto& ops = d_.body(id).ops;
    for (size_t i = from; i < ops.size(); i++) {
      const Operation& o = d_.op(ops[i]);
      if (o.op == Op::Yield && rest)
        return std::max(depth, tail_depth(rest->body, rest->next, rest->outer));
      if (!has_bodies(o.op)) continue;
      const Rest after{id, i + 1, &o, rest};
      for (Operand x : d_.operands_of(o)) {
        if (x.kind != Operand::Kind::Body) continue;
        const bool turned = returns_[ops[i].value];
        depth =
            std::max(depth, 1 + (turned ? tail_depth(x.body(), 0, &after) : plain_depth(x.body())));
      }
      if (returns_[ops[i].value]) return depth;
    }
    return depth;
  }

  bool wanted(uint32_t callee, uint32_t depth) const {
    const Info& info = info_[callee];
    return info.convertible && (info.size <= kSmall || info.calls == 1) &&
           depth + info.depth <= kDeepestProgram;
  }

  // ---- the caller
  // ---------------------------------------------------------------------------------
  void rebuild(BodyId id, uint32_t depth) {
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    for (size_t i = 0; i < ops.size(); i++) {
      const OpId op = ops[i];
      redirect(op);
      const Operation o = d_.op(op);
      if (o.op == Op::Call && wanted(d_.operands_of(o)[0].index, depth)) {
        b_.set_insertion(id);
        if (copy_call(o)) continue;
        drop_rest(ops, i + 1);  // it never comes back
        return;
      }
      d_.bodies[id.value].ops.push_back(op);
      if (!has_bodies(o.op)) continue;
      for (uint32_t k = 0; k < o.operand_count; k++) {
        const Operand x = d_.operands_of(d_.op(op))[k];
        if (x.kind == Operand::Kind::Body) rebuild(x.body(), depth + 1);
      }
    }
  }

  void drop_rest(const std::vector<OpId>& ops, size_t from) {
    for (size_t i = from; i < ops.size(); i++)
      for (Operand x : d_.operands_of(d_.op(ops[i])))
        if (x.kind == Operand::Kind::Body) drop_body(d_, x.body());
  }

  // ---- the copy
  // -----------------------------------------------------------------------------------
  Operand slot(Operand x) {
    return d_.slot(x.slot()).memory == MemoryClass::Scratch ? Operand::of(scratch(x.slot())) : x;
  }

  // Scratch memory is one function's: the caller gets its own. Copies of one callee share it, since
  // nothing in it outlives the call.
  SlotId scratch(SlotId s) {
    if (d_.slot(s).owner.value == caller_) return s;
    for (auto [from, owner, to] : scratch_)
      if (from == s.value && owner == caller_) return SlotId(to);
    Slot copy = d_.slot(s);
    copy.owner = FunctionId(caller_);
    copy.number = next_number();
    const SlotId id = b_.add_slot(std::move(copy));
    scratch_.push_back({s.value, caller_, id.value});
    return id;
  }
  uint32_t next_number() {
    if (next_number_ == 0) {
      next_number_ = kInternalSlotBase;
      for (const Slot& s : d_.slots)
        if (s.number >= next_number_) next_number_ = s.number + 1;
    }
    return next_number_++;
  }

  bool copy_call(const Operation& call) {
    const Span at = b_.span();
    const auto operands = d_.operands_of(call);
    const Function& f = d_.functions[operands[0].index];
    const BodyId body = f.body;
    results_ = f.results;
    const std::vector<ValueId> params = f.params;
    for (size_t i = 0; i < params.size(); i++)
      define(params[i], d_.operands_of(call)[i + 1].value());
    const End end = copy_tail(body, 0, nullptr);
    b_.set_span(at);
    for (uint32_t i = 0; i < end.values.size(); i++) define(d_.result(call, i), end.values[i]);
    return end.returns;
  }

  // Copies from operation `from` of a body to the function's end.
  End copy_tail(BodyId id, size_t from, const Rest* rest) {
    for (size_t i = from; i < d_.body(id).ops.size(); i++) {
      const OpId op = d_.body(id).ops[i];
      const Operation o = d_.op(op);
      b_.set_span(o.span);
      if (o.op == Op::Return) {
        End end{true, {}};
        for (uint32_t k = 0; k < o.operand_count; k++)
          end.values.push_back(map(d_.operands_of(o)[k]).value());
        return end;
      }
      if (o.op == Op::Yield && rest) {
        for (uint32_t k = 0; k < o.operand_count; k++)
          define(d_.result(*rest->branch, k), map(d_.operands_of(o)[k]).value());
        return copy_tail(rest->body, rest->next, rest->outer);
      }
      if (has_bodies(o.op) && returns_[op.value]) return copy_branch(o, {id, i + 1, &o, rest});
      copy_operation(o);
      if (o.op == Op::Unreachable) return {};
    }
    return {};
  }

  End copy_branch(const Operation& o, const Rest& rest) {
    const BodyId outer = b_.insertion();
    InlineVector<Operand, 8> operands;
    bool any = false;
    for (uint32_t k = 0; k < o.operand_count; k++) {
      const Operand x = d_.operands_of(o)[k];
      if (x.kind != Operand::Kind::Body) {
        operands.push_back(map(x));
        continue;
      }
      const BodyId arm = b_.add_body();
      b_.set_insertion(arm);
      const End end = copy_tail(x.body(), 0, &rest);
      if (end.returns) b_.terminate(Op::Yield, end.values);
      any |= end.returns;
      operands.push_back(Operand::of(arm));
    }
    b_.set_insertion(outer);
    b_.set_span(o.span);
    const OpId made = b_.append(o.op, operands, results_, o.flags);
    if (!any) {
      b_.terminate(Op::Unreachable);
      return {};
    }
    End end{true, {}};
    for (uint32_t k = 0; k < results_.size(); k++) end.values.push_back(d_.result(d_.op(made), k));
    return end;
  }

  struct Scratch {
    uint32_t from, owner, to;
  };
  std::vector<Info> info_;
  std::vector<uint8_t> returns_;  // by operation: a branch with a return inside
  std::vector<Scratch> scratch_;
  std::vector<Type> results_;  // of the callee being copied
  uint32_t caller_ = 0, next_number_ = 0;
};

}  // namespace
}  // namespace lower

void pass_inline(KernelDescriptor& d) {
  if (d.functions.size() > 1) lower::Inline(d).run();
}

}  // namespace lcpy
