// Loops. What the body assigns and what was assigned before becomes a parameter; each Break passes
// what the variables hold there. A Break's operands are filled in when the loop ends, since only
// then is it known which variables all of them have assigned.
#include "base/error.h"
#include "kernel/verify.h"
#include "lower/lowering.h"

namespace lcpy::lower {

// Makes the body with its parameters and enters it.
void FunctionLowering::open_loop(Loop& l, StmtId id, std::span<const ValueId> counters, bool runs,
                                 std::vector<Operand>& operands) {
  if (++depth_ > kDeepestProgram)
    all_.fail_at(Diag::nested_bodies, b_.span(), {std::to_string(kDeepestProgram)});
  l.set = &scan_.sets[scan_.loop_sets[id.value]];
  l.mark = log_.size();
  const size_t n = l.set->size();
  l.params.resize(n);
  l.hidden.assign(n, 0);
  l.lasting.assign(n, 1);
  std::vector<Type> types;
  operands.assign(1, Operand{});
  auto parameter = [&](Type t, ValueId initial) {
    types.push_back(t);
    operands.push_back(Operand::of(initial));
  };
  for (ValueId c : counters) parameter(d_.type_of(c), c);
  for (size_t i = 0; i < n; i++) {
    const uint32_t v = (*l.set)[i];
    const Type t = types_[v];
    l.hidden[i] = current_[v] == kUnassigned && runs;
    if (homes_[v].memory) continue;
    if (current_[v] != kUnassigned)
      parameter(t, ValueId(current_[v]));
    else if (runs)
      parameter(t, b_.zero(t));
  }
  l.first_value = static_cast<uint32_t>(d_.values.size());
  l.body = b_.add_body(types);
  operands[0] = Operand::of(l.body);
  b_.set_insertion(l.body);
  size_t next = counters.size();
  for (size_t i = 0; i < n; i++) {
    const uint32_t v = (*l.set)[i];
    if (homes_[v].memory || (current_[v] == kUnassigned && !runs)) continue;
    l.params[i] = d_.body(l.body).params[next++];
    if (!l.hidden[i]) assign(v, l.params[i].value);
  }
}

void FunctionLowering::continue_(Loop& l) {
  std::vector<ValueId> values = l.next;
  for (size_t i = 0; i < l.set->size(); i++) {
    const uint32_t now = current_[(*l.set)[i]];
    l.lasting[i] &= now != kUnassigned;
    if (l.params[i]) values.push_back(now == kUnassigned ? l.params[i] : ValueId(now));
  }
  b_.terminate(Op::Continue, values);
}

void FunctionLowering::break_(Loop& l, bool exhausted, Span span) {
  Exit e;
  e.span = span;
  e.exhausted = exhausted;
  for (size_t i = 0; i < l.set->size(); i++) {
    uint32_t now = current_[(*l.set)[i]];
    if (exhausted && l.hidden[i]) now = l.params[i] ? l.params[i].value : kInMemory;
    e.values.push_back(now);
  }
  e.op = b_.append(Op::Break, {});
  l.exits.push_back(std::move(e));
}

bool FunctionLowering::close_loop(Loop& l, std::vector<Operand>& operands, BodyId outer,
                                  Span span) {
  unwind(l.mark);
  depth_--;
  b_.set_insertion(outer);
  b_.set_span(span);
  std::vector<Type> types;
  std::vector<uint32_t> results;  // positions in the set
  std::vector<std::pair<uint32_t, uint32_t>> outside;
  for (uint32_t i = 0; i < l.set->size() && !l.exits.empty(); i++) {
    const uint32_t v = (*l.set)[i], first = l.exits[0].values[i];
    bool same = true, assigned = true;
    for (const Exit& e : l.exits) {
      same &= e.values[i] == first;
      assigned &= e.values[i] != kUnassigned && !(e.exhausted && l.hidden[i] && !l.lasting[i]);
      if (!assigned && current_[v] == kUnassigned) {
        left_unassigned(v, e.span, "may be unassigned when the loop ends here");
        break;
      }
    }
    if (!assigned) continue;
    const bool is_outside =
        first >= kInMemory || first < l.first_value || d_.is_constant(ValueId(first));
    if (same && is_outside) {
      outside.push_back({v, first});
    } else {
      results.push_back(i);
      types.push_back(types_[v]);
    }
  }
  for (const Exit& e : l.exits) {
    Operation& o = d_.op(e.op);
    o.operand_begin = static_cast<uint32_t>(d_.operands.size());
    o.operand_count = static_cast<uint32_t>(results.size());
    for (uint32_t i : results) d_.operands.push_back(Operand::of(ValueId(e.values[i])));
  }
  const OpId made = b_.append(Op::Loop, operands, types);
  if (l.exits.empty()) {
    b_.terminate(Op::Unreachable);
    return false;
  }
  for (auto [v, value] : outside) assign(v, value);
  for (uint32_t i = 0; i < results.size(); i++)
    assign((*l.set)[results[i]], d_.result(d_.op(made), i).value);
  return true;
}

bool FunctionLowering::loop_(StmtId id, const StmtNode& s) {
  Loop l;
  std::vector<Operand> operands;
  const BodyId outer = b_.insertion();
  open_loop(l, id, {}, false, operands);
  loops_.push_back(&l);
  if (scope(s.scope)) continue_(l);
  loops_.pop_back();
  return close_loop(l, operands, outer, s.span);
}

// ---- counting
// ---------------------------------------------------------------------------------------

namespace {

using Wide = __int128;

Wide number(Type t, uint64_t bits) {
  const bool is_signed = scalar_class(t.scalar()) == ScalarClass::Signed;
  return is_signed ? Wide(static_cast<int64_t>(bits)) : Wide(bits);
}

bool holds(Type t, Wide n) {
  const int width = static_cast<int>(t.size()) * 8;
  const bool is_signed = scalar_class(t.scalar()) == ScalarClass::Signed;
  const Wide low = is_signed ? -(Wide(1) << (width - 1)) : 0;
  const Wide high = is_signed ? (Wide(1) << (width - 1)) - 1 : (Wide(1) << width) - 1;
  return n >= low && n <= high;
}

Type unsigned_of(Type t) { return Type::of(t.size() == 8 ? Scalar::UInt64 : Scalar::UInt32); }

}  // namespace

// A counter that compares with the end is enough where adding the step cannot wrap: always for ±1,
// and where constants show it. Else the trips are counted, which also settles a step whose sign
// only the running program knows.
FunctionLowering::Count FunctionLowering::count_of(const StmtNode& s) {
  Count c;
  const Type given = f_.variable(s.variable).type;
  c.type = given.size() < 4 ? Type::of(Scalar::Int32) : given;
  c.begin = convert(value(s.a), c.type);
  c.end = convert(value(s.b), c.type);
  const Type step_type = s.c ? f_.expr(s.c).type : c.type;
  uint64_t begin_bits = 0, end_bits = 0, step_bits = 1;
  const bool step_known = !s.c || constant_integer(f_, s.c, step_bits);
  const bool begin_known = constant_integer(f_, s.a, begin_bits);
  const bool ends_known = constant_integer(f_, s.b, end_bits) && begin_known;
  const Wide step = s.c ? number(step_type, step_bits) : 1;
  const Wide begin = number(given, begin_bits), end = number(given, end_bits);
  const ValueId raw = s.c ? value(s.c) : b_.integer(c.type, 1);
  b_.set_span(s.span);
  c.step = convert(raw, c.type);
  if (step_known && step != 0) {
    c.test = step > 0 ? Op::Less : Op::Greater;
    c.runs = ends_known && (step > 0 ? begin < end : begin > end);
    const bool never_wraps = ends_known && holds(c.type, end + step);
    if (step == 1 || step == -1 || never_wraps) return c;
  }
  c.trips = step_known && step == 0 ? b_.zero(unsigned_of(c.type)) : trip_count(c, step_type);
  return c;
}

ValueId FunctionLowering::trip_count(const Count& c, Type step_type) {
  const Type u = unsigned_of(c.type), boolean = Type::of(Scalar::Bool);
  const ValueId zero = b_.zero(c.type), one = b_.integer(u, 1);
  auto as_unsigned = [&](ValueId v) { return convert(v, u); };
  // The step as it was given tells its sign: a signed step may serve an unsigned variable.
  const bool can_fall = scalar_class(step_type.scalar()) == ScalarClass::Signed;
  const ValueId bits = as_unsigned(c.step);
  ValueId low = c.begin, high = c.end, magnitude = bits;
  if (can_fall) {
    const Type s = Type::of(u.size() == 8 ? Scalar::Int64 : Scalar::Int32);
    const ValueId falls = b_.emit(Op::Less, boolean, {convert(c.step, s), b_.zero(s)});
    low = b_.emit(Op::Select, c.type, {falls, c.end, c.begin});
    high = b_.emit(Op::Select, c.type, {falls, c.begin, c.end});
    magnitude = b_.emit(Op::Select, u, {falls, b_.emit(Op::Neg, u, {bits}), bits});
  }
  const ValueId some = b_.emit(Op::Less, boolean, {low, high});
  const ValueId moves = b_.emit(Op::NotEqual, boolean, {c.step, zero});
  const ValueId runs = b_.emit(Op::BitAnd, boolean, {some, moves});
  const ValueId distance = b_.emit(Op::Sub, u, {as_unsigned(high), as_unsigned(low)});
  const ValueId rest = b_.emit(Op::Sub, u, {distance, one});
  const ValueId trips = b_.emit(Op::Add, u, {b_.emit(Op::TruncDiv, u, {rest, magnitude}), one});
  return b_.emit(Op::Select, u, {runs, trips, b_.zero(u)});
}

bool FunctionLowering::for_(StmtId id, const StmtNode& s) {
  const Count c = count_of(s);
  const Type boolean = Type::of(Scalar::Bool);
  std::vector<ValueId> counters{c.begin};
  if (c.trips) counters.push_back(b_.zero(d_.type_of(c.trips)));
  Loop l;
  std::vector<Operand> operands;
  const BodyId outer = b_.insertion();
  open_loop(l, id, counters, c.runs, operands);
  const ValueId counter = d_.body(l.body).params[0];
  const ValueId trip = c.trips ? d_.body(l.body).params[1] : ValueId();
  // The head: a comparison and an If whose else-body leaves.
  const ValueId goes_on = c.trips ? b_.emit(Op::Less, boolean, {trip, c.trips})
                                  : b_.emit(c.test, boolean, {counter, c.end});
  const BodyId stay = b_.add_body(), leave = b_.add_body();
  b_.set_insertion(stay);
  b_.terminate(Op::Yield);
  b_.set_insertion(leave);
  break_(l, true, s.span);
  b_.set_insertion(l.body);
  const Operand head[] = {Operand::of(goes_on), Operand::of(stay), Operand::of(leave)};
  b_.append(Op::If, head);
  l.next.push_back(b_.emit(Op::Add, c.type, {counter, c.step}));
  if (c.trips)
    l.next.push_back(b_.emit(Op::Add, d_.type_of(trip), {trip, b_.integer(d_.type_of(trip), 1)}));
  initialise(s.variable.value, convert(counter, f_.variable(s.variable).type));
  loops_.push_back(&l);
  if (scope(s.scope)) continue_(l);
  loops_.pop_back();
  return close_loop(l, operands, outer, s.span);
}

}  // namespace lcpy::lower
