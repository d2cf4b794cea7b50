// pass_report, functions with barriers: every thread of a block must reach each barrier, also one
// that trapped, and no way to a barrier may be added. So the thread goes on without effects; loops
// that hold no barrier end. From the next barrier on its whole block is stopped, which a word of
// shared memory tells all of its threads: they go on without effects too, and leave every loop and
// pass by every branch that they can, all in the same way.
//
// In between, a thread that trapped may have values that the others have not. So where the way to a
// barrier depends on such a value a barrier is put before the branch: from there on the block goes
// one way. Two words take turns, for a fast thread may trap again before a slow one has looked; a
// thread counts its barriers in the second bit of its state.
#include <algorithm>

#include "base/error.h"
#include "kernel/walk.h"
#include "lower/report.h"
#include "lower/report_shared.h"

namespace lcpy::lower {
namespace {

// A thread's state, a uint of Scratch memory.
constexpr uint32_t kTrapped = 1;   // it has no effects any more
constexpr uint32_t kTurn = 2;      // which of the two words of the block is this stretch's
constexpr uint32_t kStopped = 4;   // its whole block has no effects any more
constexpr uint32_t kReturned = 8;  // it met a return that others meet too, and waits for them

// Ways out of a branch, as bits.
constexpr uint32_t kReturns = 1, kBreaks = 2, kContinues = 4;

Type word() { return Type::of(Scalar::UInt32); }
Type boolean() { return Type::of(Scalar::Bool); }

bool has_bodies(Op op) { return op == Op::If || op == Op::Switch || op == Op::Loop; }

}  // namespace

class BarrierRewrite {
 public:
  BarrierRewrite(Reporter& r, uint32_t function)
      : r_(r),
        d_(r.d_),
        b_(r.b_),
        function_(function),
        flags_(block_flags()),
        shared_(r.d_, [this](BodyId id) { return r_.body_has_barrier(id); }) {}

  void run() {
    shared_.find_loops(d_.functions[function_].body);
    results_ = d_.functions[function_].results;
    const ValueId given = declare();
    const BodyId id = d_.functions[function_].body;
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    b_.set_insertion(id);
    b_.set_span(d_.functions[function_].span);
    if (r_.judges_threads_) r_.inside_ = inside(d_, b_);
    begin(given);
    dirty_ = stops_ = function_ != 0;
    list(id, ops, {});
  }

 private:
  // Around a body that threads of a block walk together.
  struct Level {
    bool after = false;    // a barrier may follow the body within the function
    bool in_loop = false;  // in a loop with barriers
    bool rest = false;     // a barrier may follow within that loop's round
    OpId exit;             // the branch by which a stopped block leaves that loop
  };
  // Around a body without barriers.
  struct Free {
    const Operation* owner = nullptr;  // If, Switch or Loop whose body this is
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
    d_.values.push_back(
        {word(), Value::Def::FunctionParameter, function_, static_cast<uint32_t>(f.params.size())});
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
    const Operand told[] = {Operand::of(flags_), Operand::of(r_.number(1)), Operand::of(turn(now))};
    b_.append(Op::AtomicStore, told);
    dirty_ = stops_ = true;
  }

  // A barrier, after which the block is stopped if one of its threads trapped.
  void checkpoint() {
    b_.append(Op::SyncBlock, {});
    if (!dirty_) return;
    dirty_ = false;
    const ValueId now = state();
    const Operand asked[] = {Operand::of(flags_), Operand::of(turn(now))};
    const Type t = word();
    const ValueId told = d_.result(d_.op(b_.append(Op::AtomicLoad, asked, {&t, 1})));
    const ValueId other = b_.emit(Op::BitXor, word(), {now, r_.number(kTurn)});
    const ValueId stopped = b_.emit(
        Op::BitOr, word(),
        {b_.emit(Op::BitAnd, word(), {other, r_.number(kTurn)}), r_.number(kTrapped | kStopped)});
    set_state(b_.emit(Op::Select, word(),
                      {b_.emit(Op::NotEqual, boolean(), {told, r_.number(0)}), stopped, other}));
  }

  ValueId stopped() { return has(state(), kStopped); }

  // Makes a stopped block take the arm `then`, or the other one.
  void force(OpId op, bool then) {
    const ValueId condition = d_.operands_of(d_.op(op))[0].value();
    const ValueId forced = then
                               ? r_.either(condition, stopped())
                               : b_.emit(Op::BitAnd, boolean(), {condition, r_.negated(stopped())});
    d_.operands_of(d_.op(op))[0] = Operand::of(forced);
  }

  void force_switch(OpId op) {
    const ValueId selector = d_.operands_of(d_.op(op))[0].value();
    const Type t = d_.type_of(selector);
    const ValueId forced = b_.emit(Op::Select, t, {stopped(), b_.zero(t), selector});
    d_.operands_of(d_.op(op))[0] = Operand::of(forced);
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
    if (o.op == Op::Loop) return loop(in, op);
    if (dirty_ && !shared_.holds(d_.operands_of(o)[0].value())) checkpoint();
    if (stops_ && o.op == Op::If) force(op, false);
    if (stops_ && o.op == Op::Switch) force_switch(op);
    d_.bodies[in.value].ops.push_back(op);
    const bool before = dirty_, stopping = stops_;
    bool after = false, stop_after = false;
    r_.each_body(o, [&](BodyId arm) {
      dirty_ = before;
      stops_ = stopping;
      level(arm, here);
      after = after || dirty_;
      stop_after = stop_after || stops_;
    });
    dirty_ = after;
    stops_ = stop_after;
  }

  void loop(BodyId in, OpId op) {
    const Operation o = d_.op(op);
    d_.bodies[in.value].ops.push_back(op);
    if (can_trap(o)) dirty_ = stops_ = true;  // a round may begin after one that trapped
    const bool before = dirty_;
    const BodyId body = d_.operands_of(o)[0].body();
    Level inner{true, true, false, {}};
    for (OpId x : d_.body(body).ops)
      if (!inner.exit && d_.op(x).op == Op::If && !is_barrier(d_.op(x)) &&
          (breaks(d_.op(x), 1) || breaks(d_.op(x), 2)))
        inner.exit = x;
    const std::vector<OpId> ops = std::move(d_.bodies[body.value].ops);
    d_.bodies[body.value].ops.clear();
    b_.set_insertion(body);
    if (stops_ && !inner.exit) r_.when(stopped(), [&] { pass_zeros(Op::Break, o); });
    list(body, ops, inner);
    dirty_ = before || dirty_;
  }

  // Whether an arm of an If ends in a Break, and has no other way out.
  bool breaks(const Operation& o, uint32_t arm) {
    const BodyId id = d_.operands_of(o)[arm].body();
    return d_.op(d_.body(id).ops.back()).op == Op::Break && !escapes_within(id);
  }
  bool escapes_within(BodyId arm) {
    for (OpId inner : d_.body(arm).ops)
      if (has_bodies(d_.op(inner).op) && escapes(d_.op(inner), false)) return true;
    return false;
  }

  // A branch or loop without barriers, out of which the way to one may lead.
  void branch(BodyId in, OpId op, const Level& here) {
    const Operation o = d_.op(op);
    const uint32_t ways = escapes(o, false);
    const bool returns = (ways & kReturns) && here.after;
    const bool jumps = ((ways & kBreaks) && here.in_loop) || ((ways & kContinues) && here.rest);
    if ((returns || jumps) && dirty_ &&
        (o.op == Op::Loop || !shared_.holds(d_.operands_of(o)[0].value())))
      checkpoint();
    const bool traps = can_trap(o);
    if (jumps && traps && has_deep_jump(o)) refuse(o.span);
    if ((returns || jumps) && stops_ && o.op != Op::Loop) choose_way(op, op == here.exit);
    Free inner;
    inner.waits = returns && traps;
    if (inner.waits && !results_.empty()) refuse(o.span);
    b_.set_insertion(in);
    free_structure(in, op, inner);
    if (!inner.waits) return;
    b_.set_insertion(in);
    b_.set_span(o.span);
    dirty_ = true;
    checkpoint();
    r_.when(has(state(), kReturned), [&] { b_.terminate(Op::Return, returned()); });
  }

  std::vector<ValueId> returned() {
    std::vector<ValueId> values;
    if (function_ != 0) values.push_back(state());
    return values;
  }

  [[noreturn]] void refuse(Span span) {
    throw UnsupportedError(make_diagnostic(Diag::report_escape, span, {}));
  }

  // The one way that a stopped block takes at a branch: out of the loop where that is how it ends,
  // else past what leads away.
  void choose_way(OpId op, bool out) {
    const Operation o = d_.op(op);
    if (o.op == Op::Switch) {
      bool any = false;
      r_.each_body(o, [&](BodyId arm) { any = any || escapes_within(arm); });
      if (any) refuse(o.span);
      return force_switch(op);
    }
    if (out) return force(op, breaks(o, 1));
    const BodyId then = d_.operands_of(o)[1].body(), other = d_.operands_of(o)[2].body();
    if (!escapes_arm(other)) return force(op, false);
    if (!escapes_arm(then)) return force(op, true);
    if (!escapes_within(other)) return force(op, false);
    if (!escapes_within(then)) return force(op, true);
    refuse(o.span);
  }
  bool escapes_arm(BodyId arm) {
    const Op last = d_.op(d_.body(arm).ops.back()).op;
    return last == Op::Return || last == Op::Break || last == Op::Continue || escapes_within(arm);
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
    if (stops_ && has_to_wait(o)) return guarded(in, op);
    d_.bodies[in.value].ops.push_back(op);
  }

  void site(const Operation& o) {
    const auto x = d_.operands_of(o);
    const uint32_t number = x[0].index;
    if (o.op == Op::Print) {
      std::vector<ValueId> values;
      for (size_t i = 1; i < x.size(); i++) values.push_back(x[i].value());
      ValueId condition = r_.inside_;
      if (stops_) {
        const ValueId goes_on = alive();
        condition = condition ? b_.emit(Op::BitAnd, boolean(), {goes_on, condition}) : goes_on;
      }
      r_.print(number, values, condition);
      return;
    }
    if (r_.is_certain(o)) return;
    const Reporter::TrapValues values = r_.values_of(o);
    ValueId good = r_.holds(o);
    if (r_.inside_ && !r_.judged_everywhere(o)) good = r_.either(good, r_.negated(r_.inside_));
    if (stops_) good = r_.either(good, trapped());
    r_.if_not(good, [&] {
      r_.trap(number, values);
      stop_thread();
    });
  }

  // Reaches memory that others see, or may be out of range.
  bool has_to_wait(const Operation& o) {
    if (o.op == Op::ByteLoad || o.op == Op::ByteStore) return true;
    const OpCategory c = op_row(o.op).category;
    if (c == OpCategory::Atomic || c == OpCategory::Warp) return true;
    if (o.op == Op::External) return !r_.has_barrier(d_.operands_of(o)[0].index);
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
    for (uint32_t i = 0; i < types.size(); i++) r_.replace(given[i], d_.result(d_.op(made), i));
    // Its own uses inside the arm came first and keep the operation's results.
  }

  void call(BodyId in, OpId op) {
    const Operation o = d_.op(op);
    const uint32_t callee = d_.operands_of(o)[0].index;
    if (r_.has_barrier(callee)) return call_with_barriers(o);
    if (!r_.traps(callee)) {
      if (stops_) return guarded(in, op);
      d_.bodies[in.value].ops.push_back(op);
      return;
    }
    const ValueId flag = r_.flagged_call(o);
    const OpId made(d_.values[flag.value].source);
    ValueId trapped_there = flag;
    if (stops_) {
      d_.bodies[in.value].ops.pop_back();
      guarded(in, made);
      trapped_there = d_.result(d_.op(d_.bodies[in.value].ops.back()), o.result_count);
      for (uint32_t i = 0; i < o.result_count; i++)
        r_.replace(d_.result(o, i), d_.result(d_.op(d_.bodies[in.value].ops.back()), i));
    }
    r_.when(trapped_there, [&] { stop_thread(); });
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
    set_state(d_.result(d_.op(made), o.result_count));
    dirty_ = stops_ = true;
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
      if (can_trap(copy)) dirty_ = stops_ = true;
      around.owner = &copy;
      const bool before = dirty_;
      free_body(d_.operands_of(copy)[0].body(), around);
      dirty_ = before || dirty_;
      return;
    }
    around.owner = &copy;
    const bool before = dirty_, stopping = stops_;
    bool after = before, stop_after = stopping;
    r_.each_body(copy, [&](BodyId arm) {
      dirty_ = before;
      stops_ = stopping;
      free_body(arm, around);
      after = after || dirty_;
      stop_after = stop_after || stops_;
    });
    dirty_ = after;
    stops_ = stop_after;
  }

  void free_body(BodyId id, const Free& around) {
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    b_.set_insertion(id);
    b_.set_span(around.owner->span);
    const size_t mark = r_.known_marks_.size();
    // A loop whose end waits for what the thread no longer does must end all the same.
    if (around.owner->op == Op::Loop && stops_)
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
        dirty_ = stops_ = true;
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

  static constexpr const char* kFlagsName = "report_block";
  Reporter& r_;
  KernelDescriptor& d_;
  KernelBuilder& b_;
  uint32_t function_;
  SlotId flags_, state_;
  std::vector<Type> results_;  // without the state
  bool dirty_ = false;         // a thread may have trapped since the last barrier
  bool stops_ = false;         // threads, or the whole block, may be without effects
  SharedValues shared_;
};

void rewrite_barriers(Reporter& r, uint32_t function) { BarrierRewrite(r, function).run(); }

}  // namespace lcpy::lower
