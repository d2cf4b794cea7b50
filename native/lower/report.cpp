// pass_report: Assert, Trap, Bounds and Print become loads, stores and atomics on the report memory
// (kernel/report.h), so that no target knows them. The first trap of all wins the header.
//
// A thread that trapped does nothing further. Where no barrier can follow, it returns, out of
// callables too, by a result that says so. A function with barriers is rewritten by
// report_barriers.cpp: there the thread goes on without effects, and its block leaves at the next
// barrier.
#include "lower/report.h"

#include "base/error.h"
#include "kernel/walk.h"

namespace lcpy {
namespace lower {

// ---- what functions are like ------------------------------------------------------------------

Reporter::Reporter(KernelDescriptor& d, bool ragged)
    : d_(d), b_(d), traps_(d.functions.size(), 2), barriers_(d.functions.size(), 2) {
  tag_ = d.report_tag();
  memory_ = d.report_memory();
  LCPY_CHECK(tag_ && memory_);
  judges_threads_ = ragged && d.needs_whole_blocks();
}

bool Reporter::traps(uint32_t f) {
  if (traps_[f] == 2) {
    traps_[f] = 0;
    traps_[f] = body_traps(d_.functions[f].body);
  }
  return traps_[f] == 1;
}

bool Reporter::has_barrier(uint32_t f) {
  if (barriers_[f] == 2) {
    barriers_[f] = 0;
    barriers_[f] = body_has_barrier(d_.functions[f].body);
  }
  return barriers_[f] == 1;
}

bool Reporter::op_traps(const Operation& o) {
  return (is_report(o.op) && o.op != Op::Print) ||
         (o.op == Op::Call && traps(d_.operands_of(o)[0].index));
}

bool Reporter::op_has_barrier(const Operation& o) {
  return op_row(o.op).sync == OpSync::Uniform ||
         ((o.op == Op::Call || o.op == Op::External) && has_barrier(d_.operands_of(o)[0].index));
}

bool Reporter::body_traps(BodyId id) {
  bool any = false;
  walk_body(d_, id, [&](OpId, const Operation& o) { any = any || op_traps(o); });
  return any;
}

bool Reporter::body_has_barrier(BodyId id) {
  bool any = false;
  walk_body(d_, id, [&](OpId, const Operation& o) { any = any || op_has_barrier(o); });
  return any;
}

void Reporter::run() {
  const auto count = static_cast<uint32_t>(d_.functions.size());
  const bool stops = traps(0);
  // Before any function changes: these look through calls.
  for (uint32_t f = 0; f < count; f++) {
    has_barrier(f);
    // A target's own text gives no word of a trap back.
    if (traps(f) && d_.functions[f].external != Function::kNotExternal)
      throw UnsupportedError(
          make_diagnostic(Diag::report_external, d_.functions[f].span, {d_.functions[f].name}));
  }
  for (uint32_t f = 0; f < count; f++) {
    function_ = f;
    inside_ = ValueId();
    returns_flag_ = f != 0 && traps(f) && !has_barrier(f);
    known_.clear();
    if (stops && has_barrier(f)) {
      rewrite_barriers(*this, f);
    } else {
      if (returns_flag_) d_.functions[f].results.push_back(Type::of(Scalar::Bool));
      enter_function(f);
      body(d_.functions[f].body);
    }
  }
  d_.slots[tag_.value].access = used_ ? Access::Read : Access::None;
  d_.slots[memory_.value].access = used_ ? Access::ReadWrite : Access::None;
  d_.slots[memory_.value].atomics = used_;
}

// Puts what the function needs at its start, before the operations that are there.
void Reporter::enter_function(uint32_t f) {
  if (!judges_threads_) return;
  bool any = false;
  walk_body(d_, d_.functions[f].body,
            [&](OpId, const Operation& o) { any = any || is_report(o.op); });
  if (!any) return;
  const BodyId id = d_.functions[f].body;
  std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
  d_.bodies[id.value].ops.clear();
  b_.set_insertion(id);
  b_.set_span(d_.functions[f].span);
  inside_ = inside(d_, b_);
  auto& now = d_.bodies[id.value].ops;
  now.insert(now.end(), ops.begin(), ops.end());
}

// ---- functions whose trapping thread returns --------------------------------------------------

void Reporter::body(BodyId id) {
  const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
  d_.bodies[id.value].ops.clear();
  const size_t mark = known_marks_.size();
  for (OpId op : ops) {
    redirect(op);
    b_.set_insertion(id);
    const Operation o = d_.op(op);
    b_.set_span(o.span);
    if (is_report(o.op)) {
      site(o);
      continue;
    }
    if (o.op == Op::Call && traps(d_.operands_of(o)[0].index)) {
      const ValueId trapped = flagged_call(o);
      if_not(b_.emit(Op::Not, Type::of(Scalar::Bool), {trapped}), [&] { leave_function(); });
      continue;
    }
    if (o.op == Op::Return && returns_flag_) {
      std::vector<ValueId> values;
      for (Operand x : d_.operands_of(o)) values.push_back(x.value());
      values.push_back(b_.boolean(false));
      b_.terminate(Op::Return, values);
      continue;
    }
    d_.bodies[id.value].ops.push_back(op);
    each_body(o, [&](BodyId inner) { body(inner); });
  }
  forget(mark);
}

void Reporter::site(const Operation& o) {
  const auto x = d_.operands_of(o);
  const uint32_t number = x[0].index;
  if (o.op == Op::Print) {
    std::vector<ValueId> values;
    for (size_t i = 1; i < x.size(); i++) values.push_back(x[i].value());
    print(number, values, inside_);
    return;
  }
  if (is_certain(o)) return;
  const bool judged = judged_everywhere(o);
  const TrapValues values = values_of(o);
  ValueId good = holds(o);
  if (!judged && inside_) good = either(good, negated(inside_));
  if_not(good, [&] {
    trap(number, values);
    leave_function();
  });
}

// Threads past the end read zeros from buffers, which no assert is about; but shared and local
// memory is real for them, and an index out of its range as wrong as any.
bool Reporter::judged_everywhere(const Operation& o) const {
  return o.op == Op::Bounds && !(o.flags & kBufferCheck);
}

void Reporter::leave_function() {
  std::vector<ValueId> values;
  const auto& results = d_.functions[function_].results;
  for (size_t i = 0; i < results.size(); i++)
    values.push_back(returns_flag_ && i + 1 == results.size() ? b_.boolean(true)
                                                              : b_.zero(results[i]));
  b_.terminate(Op::Return, values);
}

// The call, of a function that also tells whether the thread trapped in it; gives that.
ValueId Reporter::flagged_call(const Operation& o) {
  std::vector<Operand> operands(d_.operands_of(o).begin(), d_.operands_of(o).end());
  std::vector<Type> types;
  for (uint32_t i = 0; i < o.result_count; i++) types.push_back(d_.type_of(d_.result(o, i)));
  types.push_back(Type::of(Scalar::Bool));
  const OpId made = b_.append(Op::Call, operands, types, o.flags);
  for (uint32_t i = 0; i < o.result_count; i++) replace(d_.result(o, i), d_.result(d_.op(made), i));
  return d_.result(d_.op(made), o.result_count);
}

// ---- conditions -------------------------------------------------------------------------------

// Whether the thread may go on: a bool that is computed where the builder stands.
ValueId Reporter::holds(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Type boolean = Type::of(Scalar::Bool);
  if (o.op == Op::Assert) return x[1].value();
  if (o.op == Op::Trap) return b_.boolean(false);
  const ValueId index = x[1].value(), limit = x[2].value();
  const Type t = d_.type_of(index), unit = d_.type_of(limit);
  if (t == unit) return b_.emit(Op::Less, boolean, {index, limit});
  const ValueId at_least_0 = b_.emit(Op::GreaterEqual, boolean, {index, b_.zero(t)});
  const ValueId bits = b_.emit(Op::Convert, unit, {index});
  const ValueId below = b_.emit(Op::Less, boolean, {bits, limit});
  return b_.emit(Op::BitAnd, boolean, {at_least_0, below});
}

namespace {

uint64_t bits_of(std::span<const std::byte> bytes) {
  uint64_t n = 0;
  for (size_t k = 0; k < bytes.size(); k++) n |= uint64_t(bytes[k]) << (8 * k);
  return n;
}

}  // namespace

// Known to hold, or checked before on every way here.
bool Reporter::is_certain(const Operation& o) {
  const auto x = d_.operands_of(o);
  if (o.op == Op::Assert)
    return d_.is_constant(x[1].value()) && bits_of(d_.constant_bytes(x[1].value())) != 0;
  if (o.op != Op::Bounds) return false;
  const ValueId index = x[1].value(), limit = x[2].value();
  if (d_.is_constant(index) && d_.is_constant(limit)) {
    const Type t = d_.type_of(index);
    const uint64_t i = bits_of(d_.constant_bytes(index)), n = bits_of(d_.constant_bytes(limit));
    const bool negative = t.has_class(ScalarClass::Signed) && (i >> (8 * t.size() - 1)) != 0;
    return !negative && i < n;
  }
  const uint64_t key = uint64_t(index.value) << 32 | limit.value;
  if (!known_.insert(key).second) return true;
  known_marks_.push_back(key);
  return false;
}

void Reporter::forget(size_t mark) {
  while (known_marks_.size() > mark) {
    known_.erase(known_marks_.back());
    known_marks_.pop_back();
  }
}

Reporter::TrapValues Reporter::values_of(const Operation& o) {
  const auto x = d_.operands_of(o);
  TrapValues v;
  if (o.op == Op::Trap) v.first = x[1].value();
  if (o.op == Op::Bounds) v.first = x[1].value(), v.second = x[3].value();
  return v;
}

// ---- writing reports --------------------------------------------------------------------------

namespace {
Type word() { return Type::of(Scalar::UInt32); }
}  // namespace

ValueId Reporter::number(uint32_t n) { return b_.integer(word(), n); }

ValueId Reporter::tag(uint32_t lane) {
  const Operand chain[] = {Operand::imm(lane)};
  return b_.load(tag_, chain, word());
}

ValueId Reporter::atomic(Op op, uint32_t at, std::initializer_list<ValueId> values) {
  std::vector<Operand> operands{Operand::of(memory_)};
  for (ValueId v : values) operands.push_back(Operand::of(v));
  operands.push_back(Operand::imm(at));
  const Type t = word();
  return d_.result(d_.op(b_.append(op, operands, {&t, 1})));
}

void Reporter::put(uint32_t at, ValueId v) {
  const Operand chain[] = {Operand::imm(at)};
  b_.store(memory_, chain, v);
}

void Reporter::put(ValueId at, ValueId v) {
  const Operand chain[] = {Operand::of(at)};
  b_.store(memory_, chain, v);
}

// Low and high word of an integer; signed ones extended.
void Reporter::split(ValueId v, std::vector<ValueId>& words) {
  if (!v) {
    words.push_back(number(0));
    words.push_back(number(0));
    return;
  }
  const Type t = d_.type_of(v);
  if (t.size() == 8) {
    const Type pair = Type::vector(Scalar::UInt32, 2);
    const ValueId both = b_.emit(Op::Bitcast, pair, {v});
    words.push_back(b_.extract(both, {0}));
    words.push_back(b_.extract(both, {1}));
    return;
  }
  words.push_back(t == word() ? v : b_.emit(Op::Convert, word(), {v}));
  if (t.has_class(ScalarClass::Signed)) {
    const ValueId negative = b_.emit(Op::Less, Type::of(Scalar::Bool), {v, b_.zero(t)});
    words.push_back(b_.emit(Op::Select, word(), {negative, number(0xffffffffu), number(0)}));
  } else {
    words.push_back(number(0));
  }
}

void Reporter::trap(uint32_t site_number, const TrapValues& values) {
  used_ = true;
  std::vector<ValueId> words;
  split(values.first, words);
  split(values.second, words);
  const FunctionId f = trap_function();
  std::vector<Operand> operands{Operand::of(f), Operand::of(number(site_number + 1))};
  for (ValueId w : words) operands.push_back(Operand::of(w));
  b_.append(Op::Call, operands);
}

// Runs `make` with the builder in a function of ours, which is made on first use.
template <class Make>
FunctionId Reporter::helper(FunctionId& known, const char* name, uint32_t params,
                            std::span<const Type> results, Make&& make) {
  if (known) return known;
  const std::vector<Type> types(params, word());
  const BodyId outer = b_.insertion();
  const Span at = b_.span();
  b_.set_span({});
  known = b_.add_function(name, types, results, {});
  b_.set_insertion(d_.functions[known.value].body);
  make(std::vector<ValueId>(d_.functions[known.value].params));
  b_.set_insertion(outer);
  b_.set_span(at);
  return known;
}

// (site, first low, high, second low, high): takes the header if nobody has.
FunctionId Reporter::trap_function() {
  return helper(trap_function_, "report_trap", 5, {}, [&](const std::vector<ValueId>& p) {
    const Type boolean = Type::of(Scalar::Bool);
    const ValueId launch = tag(kTagLaunch);
    const ValueId mine = b_.emit(Op::Add, word(), {tag(kTagSites), p[0]});
    const ValueId before = atomic(Op::AtomicCompareExchange, kReportSite, {number(0), mine});
    when(b_.emit(Op::Equal, boolean, {before, number(0)}), [&] {
      put(kReportLaunch, launch);
      const ValueId id = b_.emit(Op::DispatchId, Type::vector(Scalar::UInt32, 3), {});
      for (uint32_t i = 0; i < 3; i++) put(kReportThread + i, b_.extract(id, {i}));
      for (uint32_t i = 0; i < 4; i++) put(kReportValues + i, p[1 + i]);
    });
    // Launches of one memory do not overlap: the last one that trapped is this one or an earlier.
    const ValueId last = atomic(Op::AtomicLoad, kReportLast, {});
    when(b_.emit(Op::NotEqual, boolean, {last, launch}), [&] {
      const ValueId old = atomic(Op::AtomicExchange, kReportLast, {launch});
      when(b_.emit(Op::NotEqual, boolean, {old, launch}),
           [&] { atomic(Op::AtomicAdd, kReportCount, {number(1)}); });
    });
    b_.terminate(Op::Return);
  });
}

// (site, words of values) → where the values go; 0 when there is no room, and the line counted.
FunctionId Reporter::line_function() {
  const Type result = word();
  return helper(line_function_, "report_line", 2, {&result, 1}, [&](const std::vector<ValueId>& p) {
    const Type boolean = Type::of(Scalar::Bool);
    const ValueId capacity = tag(kTagCapacity);
    const ValueId words = b_.emit(Op::Add, word(), {p[1], number(kLineHeader)});
    // A plain look first: else the count of what was asked for would wrap in the end.
    const ValueId used = atomic(Op::AtomicLoad, kReportUsed, {});
    const ValueId room = b_.emit(Op::Less, boolean, {used, capacity});
    const ValueId at = choose(room, [&] {
      const ValueId old = atomic(Op::AtomicAdd, kReportUsed, {words});
      const ValueId left = b_.emit(Op::Sub, word(), {capacity, old});
      const ValueId fits = b_.emit(Op::BitAnd, boolean,
                                   {b_.emit(Op::LessEqual, boolean, {old, capacity}),
                                    b_.emit(Op::LessEqual, boolean, {words, left})});
      const ValueId start = b_.emit(Op::Add, word(), {old, number(kReportHeader)});
      return choose(
          fits, [&] { return line_header(start, p[0]); },
          [&] {  // the lines end here
            when(b_.emit(Op::Less, boolean, {old, capacity}), [&] { put(start, number(0)); });
            return number(0);
          });
    });
    when(b_.emit(Op::Equal, boolean, {at, number(0)}),
         [&] { atomic(Op::AtomicAdd, kReportLost, {number(1)}); });
    b_.terminate(Op::Return, {&at, 1});
  });
}

ValueId Reporter::line_header(ValueId start, ValueId site_number) {
  const ValueId id = b_.emit(Op::DispatchId, Type::vector(Scalar::UInt32, 3), {});
  const ValueId header[kLineHeader] = {b_.emit(Op::Add, word(), {tag(kTagSites), site_number}),
                                       tag(kTagLaunch), b_.extract(id, {0}), b_.extract(id, {1}),
                                       b_.extract(id, {2})};
  for (uint32_t i = 0; i < kLineHeader; i++)
    put(b_.emit(Op::Add, word(), {start, number(i)}), header[i]);
  return b_.emit(Op::Add, word(), {start, number(kLineHeader)});
}

// The 32-bit words of a value's scalars, in order.
void Reporter::flatten(ValueId v, std::vector<ValueId>& words) {
  const Type t = d_.type_of(v);
  if (!t.is_scalar()) {
    for (uint32_t i = 0; i < t.count(); i++) flatten(b_.extract(v, {i}), words);
    return;
  }
  const Type single = Type::of(Scalar::Float32);
  if (t.is_bool()) {
    words.push_back(b_.emit(Op::Select, word(), {v, number(1), number(0)}));
  } else if (t.size() == 8) {
    split(v, words);
  } else if (t.is_integer()) {
    words.push_back(t == word() ? v : b_.emit(Op::Convert, word(), {v}));
  } else {
    const ValueId wide = t == single ? v : b_.emit(Op::Convert, single, {v});
    words.push_back(b_.emit(Op::Bitcast, word(), {wide}));
  }
}

void Reporter::print(uint32_t site_number, std::span<const ValueId> values, ValueId condition) {
  used_ = true;
  const bool always = !condition;
  auto write = [&] {
    std::vector<ValueId> words;
    for (ValueId v : values) flatten(v, words);
    const Type result = word();
    const Operand operands[] = {Operand::of(line_function()), Operand::of(number(site_number + 1)),
                                Operand::of(number(static_cast<uint32_t>(words.size())))};
    const ValueId at = d_.result(d_.op(b_.append(Op::Call, operands, {&result, 1})));
    if (words.empty()) return;
    when(b_.emit(Op::NotEqual, Type::of(Scalar::Bool), {at, number(0)}), [&] {
      for (uint32_t i = 0; i < words.size(); i++)
        put(i ? b_.emit(Op::Add, word(), {at, number(i)}) : at, words[i]);
    });
  };
  if (always)
    write();
  else
    when(condition, write);
}

// ---- building ---------------------------------------------------------------------------------

ValueId Reporter::either(ValueId a, ValueId b) {
  return b_.emit(Op::BitOr, Type::of(Scalar::Bool), {a, b});
}
ValueId Reporter::negated(ValueId a) { return b_.emit(Op::Not, Type::of(Scalar::Bool), {a}); }

void Reporter::redirect(OpId id) {
  for (Operand& x : d_.operands_of(d_.op(id)))
    if (x.is_value() && x.index < replaced_.size() && replaced_[x.index] != ValueId::kNone)
      x.index = replaced_[x.index];
}

void Reporter::replace(ValueId from, ValueId to) {
  if (from.value >= replaced_.size()) replaced_.resize(d_.values.size(), ValueId::kNone);
  replaced_[from.value] = to.value;
}

}  // namespace lower

void pass_report(KernelDescriptor& d, bool ragged) { lower::Reporter(d, ragged).run(); }

}  // namespace lcpy
