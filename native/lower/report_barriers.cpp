// pass_report, functions with barriers: every thread of a block must reach each barrier, also one
// that trapped. It goes on without effects, loops that hold no barrier end, and at the next barrier
// the whole block leaves, which a word of shared memory tells all of its threads.
//
// In between, a thread that trapped may have values that the others have not. So where the way to a
// barrier depends on such a value a barrier is put before the branch: nobody who trapped gets past
// it. Two words take turns, for a fast thread may trap again before a slow one has looked; a thread
// counts its barriers in the second bit of its state.
#include <algorithm>

#include "base/error.h"
#include "kernel/walk.h"
#include "lower/report.h"

namespace lcpy::lower {
namespace {

// A thread's state, a uint of Scratch memory.
constexpr uint32_t kTrapped = 1;   // it has no effects any more
constexpr uint32_t kTurn = 2;      // which of the two words of the block is this stretch's
constexpr uint32_t kLeaving = 4;   // its block leaves: for the caller of a function that saw it
constexpr uint32_t kReturned = 8;  // it met a return that others meet too, and waits for them

// Ways out of a branch, as bits.
constexpr uint32_t kReturns = 1, kBreaks = 2, kContinues = 4;

constexpr size_t kLargest = 256;  // values that a condition may depend on and be looked through

Type word() { return Type::of(Scalar::UInt32); }
Type boolean() { return Type::of(Scalar::Bool); }

bool has_bodies(Op op) { return op == Op::If || op == Op::Switch || op == Op::Loop; }

}  // namespace

class BarrierRewrite {
 public:
  BarrierRewrite(Reporter& r, uint32_t function)
      : r_(r), d_(r.d_), b_(r.b_), function_(function), flags_(block_flags()) {}

  void run() {
    find_loops(d_.functions[function_].body, BodyId());
    results_ = d_.functions[function_].results;
    const ValueId given = declare();
    const BodyId id = d_.functions[function_].body;
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    b_.set_insertion(id);
    b_.set_span(d_.functions[function_].span);
    if (r_.judges_threads_) r_.inside_ = inside(d_, b_);
    begin(given);
    dirty_ = function_ != 0;
    list(id, ops, {});
  }

 private:
  // Around a body that threads of a block walk together.
  struct Level {
    bool after = false;    // a barrier may follow the body within the function
    bool in_loop = false;  // in a loop with barriers
    bool rest = false;     // a barrier may follow within that loop's round
  };
  // Around a body without barriers.
  struct Free {
    const Operation* owner = nullptr;  // If, Switch or Loop whose body this is
    const Operation* loop = nullptr;   // the innermost loop without barriers
    bool waits = false;                // a return is kept until the others are there too
  };

  // ---- state ------------------------------------------------------------------------------------
  // One array of two words for the kernel, made by the first function that needs it.
  SlotId block_flags() {
    for (uint32_t i = 0; i < d_.slots.size(); i++)
      if (d_.slots[i].memory == MemoryClass::Shared && d_.slots[i].name == kFlagsName)
        return SlotId(i);
    Slot s;
    s.name = kFlagsName;
    s.type = Type::array(word(), 2);
    s.memory = MemoryClass::Shared;
    s.access = Access::ReadWrite;
    s.atomics = true;
    s.number = next_number();
    return b_.add_slot(std::move(s));
  }
  uint32_t next_number() const {
    uint32_t n = kInternalSlotBase;
    for (const Slot& s : d_.slots) n = std::max(n, s.number + 1);
    return n;
  }

  // The state's slot; of a callable also the parameter and the result that pass it on.
  ValueId declare() {
    Slot s;
    s.name = "report_state";
    s.type = word();
    s.memory = MemoryClass::Scratch;
    s.access = Access::ReadWrite;
    s.number = next_number();
    s.owner = FunctionId(function_);
    state_ = b_.add_slot(std::move(s));
    if (function_ == 0) return {};
    Function& f = d_.functions[function_];
    const ValueId given(d_.values.size());
    d_.values.push_back({word(), Value::Def::FunctionParameter, function_,
                         static_cast<uint32_t>(f.params.size())});
    f.params.push_back(given);
    f.results.push_back(word());
    return given;
  }

  void begin(ValueId given) {
    if (given) {
      set_state(given);
      return;
    }
    set_state(r_.number(0));
    const ValueId id = b_.emit(Op::ThreadId, Type::vector(Scalar::UInt32, 3), {});
    ValueId sum = b_.extract(id, {0});
    for (uint32_t axis = 1; axis < 3; axis++)
      sum = b_.emit(Op::BitOr, word(), {sum, b_.extract(id, {axis})});
    r_.when(b_.emit(Op::Equal, boolean(), {sum, r_.number(0)}), [&] {
      for (uint32_t i = 0; i < 2; i++) {
        const Operand first[] = {Operand::of(flags_), Operand::of(r_.number(0)), Operand::imm(i)};
        b_.append(Op::AtomicStore, first);
      }
    });
    b_.append(Op::SyncBlock, {});
  }

  ValueId state() { return b_.load(state_, {}, word()); }
  void set_state(ValueId v) { b_.store(state_, {}, v); }
  ValueId has(ValueId state, uint32_t bits) {
    return b_.emit(Op::NotEqual, boolean(),
                   {b_.emit(Op::BitAnd, word(), {state, r_.number(bits)}), r_.number(0)});
  }
  ValueId trapped() { return has(state(), kTrapped); }
  ValueId alive() { return r_.negated(trapped()); }
  ValueId turn(ValueId state) {
    return b_.emit(Op::BitAnd, word(),
                   {b_.emit(Op::ShrUnchecked, word(), {state, r_.number(1)}), r_.number(1)});
  }

  void stop_thread() {
    const ValueId now = state();
    set_state(b_.emit(Op::BitOr, word(), {now, r_.number(kTrapped)}));
    const Operand told[] = {Operand::of(flags_), Operand::of(r_.number(1)),
                            Operand::of(turn(now))};
    b_.append(Op::AtomicStore, told);
    dirty_ = true;
  }

  // A barrier, after which the block leaves if one of its threads trapped.
  void checkpoint() {
    b_.append(Op::SyncBlock, {});
    if (!dirty_) return;
    dirty_ = false;
    const ValueId now = state(), at = turn(now);
    const Operand asked[] = {Operand::of(flags_), Operand::of(at)};
    const Type t = word();
    const ValueId told = d_.result(d_.op(b_.append(Op::AtomicLoad, asked, {&t, 1})));
    const ValueId other = b_.emit(Op::BitXor, word(), {now, r_.number(kTurn)});
    set_state(b_.emit(Op::BitAnd, word(), {other, r_.number(~kTrapped)}));
    r_.when(b_.emit(Op::NotEqual, boolean(), {told, r_.number(0)}), [&] { leave(); });
  }

  void leave() {
    std::vector<ValueId> values;
    for (Type t : results_) values.push_back(b_.zero(t));
    if (function_ != 0) values.push_back(r_.number(kLeaving));
    b_.terminate(Op::Return, values);
  }

  // ---- bodies that all threads of the block walk together ---------------------------------------
  void level(BodyId id, const Level& around) {
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    list(id, ops, around);
  }

  void list(BodyId id, const std::vector<OpId>& ops, const Level& around) {
    std::vector<bool> later(ops.size() + 1, false);  // a barrier in the operations from i on
    for (size_t i = ops.size(); i-- > 0;) later[i] = later[i + 1] || is_barrier(d_.op(ops[i]));
    const size_t mark = r_.known_marks_.size();
    for (size_t i = 0; i < ops.size(); i++) {
      r_.redirect(ops[i]);
      b_.set_insertion(id);
      const Operation o = d_.op(ops[i]);
      b_.set_span(o.span);
      Level here = around;
      here.after |= later[i + 1];
      here.rest |= later[i + 1];
      if (o.op == Op::SyncBlock)
        checkpoint();
      else if (has_bodies(o.op) && is_barrier(o))
        structure(id, ops[i], here);
      else if (has_bodies(o.op))
        branch(id, ops[i], here);
      else if (o.op == Op::Return)
        return_(id, ops[i]);
      else
        plain(id, ops[i]);
    }
    r_.forget(mark);
  }

  bool is_barrier(const Operation& o) {
    if (r_.op_has_barrier(o)) return true;
    bool any = false;
    r_.each_body(o, [&](BodyId inner) { any = any || r_.body_has_barrier(inner); });
    return any;
  }
  bool can_trap(const Operation& o) {
    if (r_.op_traps(o)) return true;
    bool any = false;
    r_.each_body(o, [&](BodyId inner) { any = any || r_.body_traps(inner); });
    return any;
  }

  // A branch or loop with barriers inside.
  void structure(BodyId in, OpId op, Level here) {
    const Operation o = d_.op(op);
    if (o.op != Op::Loop && dirty_ && !is_shared(d_.operands_of(o)[0].value())) checkpoint();
    d_.bodies[in.value].ops.push_back(op);
    if (o.op == Op::Loop) {
      dirty_ = dirty_ || can_trap(o);  // a round may begin after one that trapped
      const bool before = dirty_;
      level(d_.operands_of(o)[0].body(), {true, true, false});
      dirty_ = before || dirty_;
      return;
    }
    const bool before = dirty_;
    bool after = false;
    r_.each_body(o, [&](BodyId arm) {
      dirty_ = before;
      level(arm, here);
      after = after || dirty_;
    });
    dirty_ = after;
  }

  // A branch or loop without barriers, out of which the way to one may lead.
  void branch(BodyId in, OpId op, const Level& here) {
    const Operation o = d_.op(op);
    const uint32_t ways = escapes(o, false);
    const bool returns = (ways & kReturns) && here.after;
    const bool jumps = ((ways & kBreaks) && here.in_loop) || ((ways & kContinues) && here.rest);
    if ((returns || jumps) && dirty_ &&
        (o.op == Op::Loop || !is_shared(d_.operands_of(o)[0].value())))
      checkpoint();
    const bool traps = can_trap(o);
    if (jumps && traps && has_deep_jump(o)) fail(Diag::report_escape, o.span, {});
    Free inner;
    inner.waits = returns && traps;
    if (inner.waits && !results_.empty()) fail(Diag::report_escape, o.span, {});
    b_.set_insertion(in);
    free_structure(in, op, inner);
    if (!inner.waits) return;
    b_.set_insertion(in);
    b_.set_span(o.span);
    dirty_ = true;
    checkpoint();
    r_.when(has(state(), kReturned), [&] { leave(); });
  }

  // Breaks and continues of the loop around within a branch of the branch.
  bool has_deep_jump(const Operation& o) {
    bool found = false;
    r_.each_body(o, [&](BodyId arm) {
      for (OpId inner : d_.body(arm).ops)
        if (has_bodies(d_.op(inner).op))
          found |= (escapes(d_.op(inner), false) & (kBreaks | kContinues)) != 0;
    });
    return found;
  }

  uint32_t escapes(const Operation& o, bool in_loop) {
    uint32_t ways = 0;
    r_.each_body(o, [&](BodyId arm) {
      for (OpId inner : d_.body(arm).ops) {
        const Operation& i = d_.op(inner);
        const bool within = in_loop || o.op == Op::Loop;
        if (i.op == Op::Return) ways |= kReturns;
        if (i.op == Op::Break && !within) ways |= kBreaks;
        if (i.op == Op::Continue && !within) ways |= kContinues;
        if (has_bodies(i.op)) ways |= escapes(i, within);
      }
    });
    return ways;
  }

  // ---- single operations ------------------------------------------------------------------------
  void plain(BodyId in, OpId op) {
    const Operation o = d_.op(op);
    if (is_report(o.op)) return site(o);
    if (o.op == Op::Call) return call(in, op);
    if (dirty_ && has_to_wait(o)) return guarded(in, op);
    d_.bodies[in.value].ops.push_back(op);
  }

  void site(const Operation& o) {
    const auto x = d_.operands_of(o);
    const uint32_t number = x[0].index;
    if (o.op == Op::Print) {
      std::vector<ValueId> values;
      for (size_t i = 1; i < x.size(); i++) values.push_back(x[i].value());
      ValueId condition = r_.inside_;
      if (dirty_) {
        const ValueId goes_on = alive();
        condition =
            condition ? b_.emit(Op::BitAnd, boolean(), {goes_on, condition}) : goes_on;
      }
      r_.print(number, values, condition);
      return;
    }
    if (r_.is_certain(o)) return;
    const Reporter::TrapValues values = r_.values_of(o);
    ValueId good = r_.holds(o);
    if (r_.inside_ && !r_.judged_everywhere(o)) good = r_.either(good, r_.negated(r_.inside_));
    if (dirty_) good = r_.either(good, trapped());
    r_.if_not(good, [&] {
      r_.trap(number, values);
      stop_thread();
    });
  }

  // Reaches memory that others see, or may be out of range.
  bool has_to_wait(const Operation& o) {
    if (o.op == Op::ByteLoad || o.op == Op::ByteStore) return true;
    if (op_row(o.op).category == OpCategory::Atomic) return true;
    if (o.op != Op::Load && o.op != Op::Store) return false;
    const auto x = d_.operands_of(o);
    const MemoryClass m = d_.slot(x[0].slot()).memory;
    if (m == MemoryClass::Global || m == MemoryClass::Shared) return true;
    for (size_t i = o.op == Op::Store ? 2 : 1; i < x.size(); i++)
      if (x[i].is_value()) return true;
    return false;
  }

  // The operation where the thread goes on, zeros where it has trapped.
  void guarded(BodyId in, OpId op) {
    b_.set_insertion(in);
    const ValueId condition = alive();
    std::vector<Type> types;
    for (uint32_t i = 0; i < d_.op(op).result_count; i++)
      types.push_back(d_.type_of(d_.result(d_.op(op), i)));
    const BodyId then = b_.add_body(), other = b_.add_body();
    const Operand operands[] = {Operand::of(condition), Operand::of(then), Operand::of(other)};
    const OpId made = b_.append(Op::If, operands, types);
    std::vector<ValueId> given, zeros;
    for (uint32_t i = 0; i < types.size(); i++) {
      given.push_back(d_.result(d_.op(op), i));
      zeros.push_back(b_.zero(types[i]));
    }
    d_.bodies[then.value].ops.push_back(op);
    b_.set_insertion(then);
    b_.terminate(Op::Yield, given);
    b_.set_insertion(other);
    b_.terminate(Op::Yield, zeros);
    b_.set_insertion(in);
    for (uint32_t i = 0; i < types.size(); i++)
      r_.replace(given[i], d_.result(d_.op(made), i));
    // Its own uses inside the arm came first and keep the operation's results.
  }

  void call(BodyId in, OpId op) {
    const Operation o = d_.op(op);
    const uint32_t callee = d_.operands_of(o)[0].index;
    if (r_.has_barrier(callee)) return call_with_barriers(o);
    if (!r_.traps(callee)) {
      if (dirty_) return guarded(in, op);
      d_.bodies[in.value].ops.push_back(op);
      return;
    }
    const ValueId flag = r_.flagged_call(o);
    const OpId made(d_.values[flag.value].source);
    ValueId trapped_there = flag;
    if (dirty_) {
      d_.bodies[in.value].ops.pop_back();
      guarded(in, made);
      trapped_there = d_.result(d_.op(d_.bodies[in.value].ops.back()), o.result_count);
      for (uint32_t i = 0; i < o.result_count; i++)
        r_.replace(d_.result(o, i), d_.result(d_.op(d_.bodies[in.value].ops.back()), i));
    }
    r_.when(trapped_there, [&] { stop_thread(); });
    dirty_ = true;
  }

  void call_with_barriers(const Operation& o) {
    std::vector<Operand> operands(d_.operands_of(o).begin(), d_.operands_of(o).end());
    operands.push_back(Operand::of(state()));
    std::vector<Type> types;
    for (uint32_t i = 0; i < o.result_count; i++) types.push_back(d_.type_of(d_.result(o, i)));
    types.push_back(word());
    const OpId made = b_.append(Op::Call, operands, types, o.flags);
    for (uint32_t i = 0; i < o.result_count; i++)
      r_.replace(d_.result(o, i), d_.result(d_.op(made), i));
    const ValueId now = d_.result(d_.op(made), o.result_count);
    set_state(now);
    r_.when(has(now, kLeaving), [&] { leave(); });
    dirty_ = true;
  }

  void return_(BodyId in, OpId op) {
    if (function_ == 0) {
      d_.bodies[in.value].ops.push_back(op);
      return;
    }
    std::vector<ValueId> values;
    for (Operand x : d_.operands_of(d_.op(op))) values.push_back(x.value());
    values.push_back(state());
    b_.terminate(Op::Return, values);
  }

  // ---- bodies without barriers ------------------------------------------------------------------
  void free_structure(BodyId in, OpId op, Free around) {
    const Operation& o = d_.op(op);
    d_.bodies[in.value].ops.push_back(op);
    const Operation copy = o;
    if (copy.op == Op::Loop) {
      dirty_ = dirty_ || can_trap(copy);
      around.owner = around.loop = &copy;
      const bool before = dirty_;
      free_body(d_.operands_of(copy)[0].body(), around);
      dirty_ = before || dirty_;
      return;
    }
    around.owner = &copy;
    const bool before = dirty_;
    bool after = before;
    r_.each_body(copy, [&](BodyId arm) {
      dirty_ = before;
      free_body(arm, around);
      after = after || dirty_;
    });
    dirty_ = after;
  }

  void free_body(BodyId id, const Free& around) {
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    b_.set_insertion(id);
    b_.set_span(around.owner->span);
    const size_t mark = r_.known_marks_.size();
    // A loop whose end waits for what the thread no longer does must end all the same.
    if (around.owner->op == Op::Loop && dirty_)
      r_.when(trapped(), [&] { pass_zeros(Op::Break, *around.owner); });
    for (OpId op : ops) {
      r_.redirect(op);
      b_.set_insertion(id);
      const Operation o = d_.op(op);
      b_.set_span(o.span);
      if (has_bodies(o.op)) {
        free_structure(id, op, around);
      } else if (o.op == Op::Return && around.waits) {
        set_state(b_.emit(Op::BitOr, word(), {state(), r_.number(kTrapped | kReturned)}));
        dirty_ = true;
        pass_zeros(around.owner->op == Op::Loop ? Op::Break : Op::Yield, *around.owner);
      } else if (o.op == Op::Return) {
        return_(id, op);
      } else {
        plain(id, op);
      }
    }
    r_.forget(mark);
  }

  void pass_zeros(Op op, const Operation& receiver) {
    std::vector<ValueId> zeros;
    for (uint32_t i = 0; i < receiver.result_count; i++)
      zeros.push_back(b_.zero(d_.type_of(d_.result(receiver, i))));
    b_.terminate(op, zeros);
  }

  // ---- conditions that a thread which trapped shares with the others ----------------------------
  void find_loops(BodyId id, BodyId loop) {
    for (OpId op : d_.body(id).ops) {
      const Operation& o = d_.op(op);
      if (o.op == Op::Continue) continues_.push_back({loop, op});
      if (o.op == Op::Loop) loops_.push_back({d_.operands_of(o)[0].body(), op});
      r_.each_body(o, [&](BodyId inner) {
        find_loops(inner, o.op == Op::Loop ? inner : loop);
      });
    }
  }

  // Computed from ids, arguments and counters of loops with barriers alone: whatever the thread has
  // not done since it trapped, it has the value that it would have had.
  bool is_shared(ValueId v) {
    std::vector<uint32_t> seen{v.value};
    for (size_t i = 0; i < seen.size(); i++) {
      if (seen.size() > kLargest) return false;
      auto look = [&](ValueId x) {
        if (std::find(seen.begin(), seen.end(), x.value) == seen.end()) seen.push_back(x.value);
      };
      const Value value = d_.values[seen[i]];
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

  template <class Look>
  bool carried(BodyId body, uint32_t index, Look&& look) {
    if (!r_.body_has_barrier(body)) return false;
    for (auto [inner, op] : loops_)
      if (inner == body) look(d_.operands_of(d_.op(op))[index + 1].value());
    for (auto [inner, op] : continues_)
      if (inner == body) look(d_.operands_of(d_.op(op))[index].value());
    return true;
  }

  static constexpr const char* kFlagsName = "report_block";
  Reporter& r_;
  KernelDescriptor& d_;
  KernelBuilder& b_;
  uint32_t function_;
  SlotId flags_, state_;
  std::vector<Type> results_;  // without the state
  bool dirty_ = false;         // a thread may have trapped since the last barrier
  std::vector<std::pair<BodyId, OpId>> loops_, continues_;
};

void rewrite_barriers(Reporter& r, uint32_t function) { BarrierRewrite(r, function).run(); }

}  // namespace lcpy::lower
