// Structured control flow (SPIR-V 1.6, 2.11). Bodies become blocks; what bodies pass on becomes
// OpPhi, or nothing where only one value can arrive. After a terminator label_ is 0, and the rest
// of a body, which nothing reaches, is not written.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "emit/spirv/emitter.h"
#include "kernel/turns.h"
#include "kernel/walk.h"

namespace lcpy::spirv {
namespace {

// Up to so many cheap operations on both sides together are evaluated both rather than branched
// around: a branch costs a device as much, and a module five instructions.
constexpr size_t kFlatOps = 12;
// With the author's word that both sides may be.
constexpr size_t kFlatOpsHinted = 256;
constexpr size_t kNever = ~size_t{0};

// Operations that cannot fault whatever their operands are, and cost about one instruction.
bool cheap(Op op) {
  switch (op_row(op).category) {
    case OpCategory::Operator:
      return op != Op::DivUnchecked && op != Op::RemUnchecked;
    case OpCategory::Convert:
      return op != Op::ConvertUnchecked;
    case OpCategory::Select:
    case OpCategory::Value:
    case OpCategory::Buffer:  // lengths and extents are arguments
      return true;
    default:
      return op == Op::Min || op == Op::Max || op == Op::Abs;
  }
}

SelectionControl control(const Operation& o) {
  switch (static_cast<BranchHint>(o.flags & 3)) {
    case BranchHint::Flatten:
      return SelectionControl::Flatten;
    case BranchHint::Branch:
      return SelectionControl::DontFlatten;
    case BranchHint::None:
      break;
  }
  return SelectionControl::None;
}

bool is_comparison(Op op) {
  return op == Op::Less || op == Op::LessEqual || op == Op::Greater || op == Op::GreaterEqual ||
         op == Op::Equal || op == Op::NotEqual;
}

bool is_false(const KernelDescriptor& d, ValueId v) {
  return d.is_constant(v) && d.type_of(v).is_bool() && d.constant_bytes(v)[0] == std::byte{0};
}

}  // namespace

void Emitter::emit_body(BodyId body, size_t from) {
  const auto& ops = d_.body(body).ops;
  for (size_t i = from; i < ops.size() && label_; i++) emit_op(d_.op(ops[i]));
}

// ---- ends of bodies -------------------------------------------------------------------------

// Notes that the current block is about to branch to the target.
void Emitter::arrive(Target& target, std::span<const Operand> values) {
  target.from.push_back({label_, flow_values_.size()});
  for (const Operand& x : values) flow_values_.push_back(choice(x.value()));
}

void Emitter::branch(Target& target, const Operation& o) {
  arrive(target, d_.operands_of(o));
  out_->op(Opcode::Branch, target.label);
  label_ = 0;
}

void Emitter::yield(const Operation& o) { branch(selection_->merge, o); }
void Emitter::break_(const Operation& o) { branch(loop_->merge, o); }
void Emitter::continue_(const Operation& o) { branch(loop_->next, o); }

void Emitter::unreachable(const Operation&) {
  out_->op(Opcode::Unreachable);
  label_ = 0;
}

// ---- merges ---------------------------------------------------------------------------------

// What `index` is on arrival: the one value that comes from everywhere, or a phi. A value that
// comes from everywhere dominates every predecessor, and so the block.
Word Emitter::merged(const Target& target, uint32_t index, Type t) {
  const Word first = flow_values_[target.from[0].values + index];
  bool same = true;
  for (const Incoming& in : target.from) same &= flow_values_[in.values + index] == first;
  if (same) return first;
  scratch_.clear();
  for (const Incoming& in : target.from) {
    scratch_.push_back(flow_values_[in.values + index]);
    scratch_.push_back(in.label);
  }
  return emit_list(Opcode::Phi, type(t), scratch_);
}

void Emitter::merge(const Operation& o, Target& target) {
  start_block(target.label);
  if (target.from.empty()) {
    out_->op(Opcode::Unreachable);
    label_ = 0;
    return;
  }
  for (uint32_t i = 0; i < o.result_count; i++) {
    const ValueId result = d_.result(o, i);
    ids_[result.value] = merged(target, i, d_.type_of(result));
  }
}

// ---- selections -----------------------------------------------------------------------------

const Operation* Emitter::lone(BodyId body, Op op) const {
  const auto& ops = d_.body(body).ops;
  if (ops.size() != 1 || d_.op(ops[0]).op != op) return nullptr;
  return &d_.op(ops[0]);
}

Word Emitter::entry(BodyId body, Target& target) {
  const Operation* only = lone(body, Op::Yield);
  if (!only) return m_.new_id();
  arrive(target, d_.operands_of(*only));
  return target.label;
}

void Emitter::enter(BodyId body, Word label, const Target& target) {
  if (label == target.label) return;
  start_block(label);
  emit_body(body);
}

// Whether both sides come to a Yield by cheap operations alone, and few; an empty side always does.
bool Emitter::flat(const Operation& o) const { return flat_length(o) != kNever; }

// Operations of both sides, with those of branches within that are flat too.
size_t Emitter::flat_length(const Operation& o) const {
  const auto hint = static_cast<BranchHint>(o.flags & 3);
  size_t count = 0;
  for (const Operand& x : d_.operands_of(o).subspan(1)) {
    const auto& ops = d_.body(x.body()).ops;
    if (d_.op(ops.back()).op != Op::Yield) return kNever;
    for (const OpId id : std::span(ops).first(ops.size() - 1)) {
      const Operation& inner = d_.op(id);
      const size_t length = inner.op == Op::If ? flat_length(inner) : cheap(inner.op) ? 0 : kNever;
      if (length == kNever) return kNever;
      count += 1 + length;
    }
  }
  if (count == 0) return 0;
  if (hint == BranchHint::Branch) return kNever;
  for (uint32_t i = 0; i < o.result_count; i++)
    if (!d_.type_of(d_.result(o, i)).is_lanes()) return kNever;
  return count <= (hint == BranchHint::Flatten ? kFlatOpsHinted : kFlatOps) ? count : kNever;
}

void Emitter::flatten(const Operation& o, Word condition) {
  std::span<const Operand> yields[2];
  for (int side = 0; side < 2; side++) {
    const auto& ops = d_.body(d_.operands_of(o)[1 + side].body()).ops;
    for (const OpId id : std::span(ops).first(ops.size() - 1)) emit_op(d_.op(id));
    yields[side] = d_.operands_of(d_.op(ops.back()));
  }
  for (uint32_t i = 0; i < o.result_count; i++) {
    const ValueId result = d_.result(o, i);
    const ValueId yes = yields[0][i].value(), no = yields[1][i].value();
    const Type t = d_.type_of(result);
    const Word left = choice(yes);
    if (is_false(d_, no) && yes != no) {
      ids_[result.value] = emit(Opcode::LogicalAnd, type(t), condition, left);
      continue;
    }
    const Word right = choice(no);
    ids_[result.value] = left == right ? left : select_components(condition, left, right, t);
  }
}

void Emitter::if_(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const Word condition = value(operands[0]);
  const BodyId then_body = operands[1].body(), else_body = operands[2].body();
  if (flat(o)) return flatten(o, condition);
  Frame frame;
  frame.merge.label = m_.new_id();
  const Word then_label = entry(then_body, frame.merge), else_label = entry(else_body, frame.merge);
  out_->op(Opcode::SelectionMerge, frame.merge.label, control(o));
  out_->op(Opcode::BranchConditional, condition, then_label, else_label);
  Frame* const outer = selection_;
  selection_ = &frame;
  enter(then_body, then_label, frame.merge);
  enter(else_body, else_label, frame.merge);
  selection_ = outer;
  merge(o, frame.merge);
}

// [Value, Body default, (Value constant+, Body)...]. Each body gets a block of its own: several
// cases that went straight to the merge could not be told apart there.
void Emitter::switch_(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const uint32_t size = scalar_size(type_of(operands[0]).scalar());  // 4 or 8
  const size_t stride = size == 8 ? 3 : 2;                           // of a case: literal, label
  const Word selector =
      compared(operands.first(1), value(operands[0]), type_of(operands[0]).scalar(), 1);
  Frame frame;
  frame.merge.label = m_.new_id();
  std::vector<std::pair<BodyId, Word>> bodies{{operands[1].body(), m_.new_id()}};
  std::vector<Word> cases;
  size_t pending = 0;  // where the labels of constants that wait for their body begin
  for (const Operand& x : operands.subspan(2)) {
    if (x.is_value()) {
      uint64_t bits = 0;
      std::memcpy(&bits, d_.constant_bytes(x.value()).data(), size);
      cases.push_back(static_cast<Word>(bits));
      if (size == 8) cases.push_back(static_cast<Word>(bits >> 32));
      cases.push_back(0);
      continue;
    }
    const Word label = m_.new_id();
    for (; pending < cases.size(); pending += stride) cases[pending + stride - 1] = label;
    bodies.emplace_back(x.body(), label);
  }
  out_->op(Opcode::SelectionMerge, frame.merge.label, control(o));
  out_->begin(Opcode::Switch);
  out_->push(selector);
  out_->push(bodies[0].second);
  out_->push_all(cases);
  if (!out_->end())
    fail(Diag::limit_exceeded, o.span, {"a match", "too long", "SPIR-V", "65,535 words"});
  Frame* const outer = selection_;
  selection_ = &frame;
  for (const auto& [body, label] : bodies) enter(body, label, frame.merge);
  selection_ = outer;
  merge(o, frame.merge);
}

// ---- loops ----------------------------------------------------------------------------------

// NVIDIA's compiler dies of some loops that carry bools.
bool Emitter::carries_integer(ValueId param) const {
  const Type t = d_.type_of(param);
  return !target_.sound_loops && t.is_lanes() && t.has_class(ScalarClass::Bool);
}
Word Emitter::integer_of_bool(Word id, uint32_t n) {
  const Word one = lane_constant(Scalar::UInt32, n, 1), none = lane_constant(Scalar::UInt32, n, 0);
  return emit(Opcode::Select, lanes(Scalar::UInt32, n), id, one, none);
}

// Whether a loop of unknown turns begins by comparing what it carries there with a constant.
// NVIDIA's compiler makes of some that turn never or once, as it can tell from what they start
// with, loops that turn always.
bool Emitter::hides_start(const Operation& loop, uint32_t param) const {
  if (target_.sound_loops || known_turns(d_, loop)) return false;
  const BodyId body = d_.operands_of(loop)[0].body();
  const ValueId p = d_.body(body).params[param];
  if (!d_.type_of(p).is_integer()) return false;
  for (const OpId id : d_.body(body).ops) {
    const Operation& o = d_.op(id);
    if (o.op == Op::If || o.op == Op::Loop) break;
    if (!is_comparison(o.op)) continue;
    const auto x = d_.operands_of(o);
    const bool first = x[0].value() == p;
    if ((first || x[1].value() == p) && d_.is_constant(x[first ? 1 : 0].value())) return true;
  }
  return false;
}

// What the carried values are at first, in the block before the loop.
std::vector<Word> Emitter::initial_values(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const auto& params = d_.body(operands[0].body()).params;
  std::vector<Word> initial;
  for (uint32_t i = 0; i < params.size(); i++) {
    Word id = value(operands[1 + i]);
    const Type t = d_.type_of(params[i]);
    if (hides_start(o, i)) id = hidden_bits(id, t.scalar(), t.lanes());
    initial.push_back(
        carries_integer(params[i]) ? integer_of_bool(id, d_.type_of(params[i]).lanes()) : id);
  }
  return initial;
}

// The carried values' phis, and where in the code each one's value from the continue block goes.
std::vector<size_t> Emitter::loop_phis(const std::vector<ValueId>& params,
                                       std::span<const Word> initial, Word before, Word next) {
  std::vector<size_t> holes;
  std::vector<std::pair<ValueId, Word>> integers;
  for (size_t i = 0; i < params.size(); i++) {
    const Type t = d_.type_of(params[i]);
    const bool as_integer = carries_integer(params[i]);
    const Word id = m_.new_id();
    const Word of = as_integer ? lanes(Scalar::UInt32, t.lanes()) : type(t);
    code_.op(Opcode::Phi, of, id, initial[i], before, initial[i], next);
    holes.push_back(code_.size() - 2);
    ids_[params[i].value] = id;
    if (as_integer) integers.emplace_back(params[i], id);
  }
  for (const auto& [param, id] : integers) {
    const Type t = d_.type_of(param);
    const Word none = lane_constant(Scalar::UInt32, t.lanes(), 0);
    ids_[param.value] = emit(Opcode::INotEqual, type(t), id, none);
  }
  return holes;
}

// What the i-th carried value goes on as. NVIDIA's compiler dies of loops that are never entered
// where it is another carried value as it is: there, a choice of that one which it cannot make.
Word Emitter::carried(std::span<const ValueId> params, uint32_t i, Word next) {
  const auto is_next = [&](ValueId v) { return ids_[v.value] == next; };
  if (target_.sound_loops || is_next(params[i]) || std::ranges::none_of(params, is_next))
    return next;
  const Word zero = zero_at_run_time(Scalar::UInt32);
  const Word always = emit(Opcode::IEqual, lanes(Scalar::Bool), zero, u32(0));
  return select_components(always, next, ids_[params[i].value], d_.type_of(params[i]));
}

// The values from the continue block, as the phis have them. All that are phis there come first.
void Emitter::fill_phis(std::span<const ValueId> params, std::span<const size_t> holes,
                        const Target& from) {
  std::vector<Word> next;
  for (uint32_t i = 0; i < params.size(); i++)
    next.push_back(merged(from, i, d_.type_of(params[i])));
  for (uint32_t i = 0; i < params.size(); i++)
    code_[holes[i]] = carries_integer(params[i])
                          ? integer_of_bool(next[i], d_.type_of(params[i]).lanes())
                          : carried(params, i, next[i]);
}

// A body that begins "operations; if c: go on, else: break" gives the loop a plain conditional
// header. Returns how many operations of the body that covers; 0 when it begins otherwise.
size_t Emitter::loop_header(const Operation& loop, Frame& frame) {
  const BodyId body = d_.operands_of(loop)[0].body();
  const auto& ops = d_.body(body).ops;
  size_t at = 0;
  const auto straight = [](Op op) {
    const OpCategory c = op_row(op).category;
    return c != OpCategory::Control && c != OpCategory::Atomic && c != OpCategory::Block &&
           op != Op::Unreachable;
  };
  while (at < ops.size() && straight(d_.op(ops[at]).op)) at++;
  if (at == ops.size() || d_.op(ops[at]).op != Op::If) return 0;
  const Operation& test = d_.op(ops[at]);
  const auto operands = d_.operands_of(test);
  const bool leaves_else = lone(operands[2].body(), Op::Break) != nullptr;
  const BodyId stays = operands[leaves_else ? 1 : 2].body(),
               leaves = operands[leaves_else ? 2 : 1].body();
  const Operation* go = lone(stays, Op::Yield);
  const Operation* stop = lone(leaves, Op::Break);
  if (!go || !stop) return 0;

  for (size_t i = 0; i < at; i++) emit_op(d_.op(ops[i]));
  const Word condition = value(operands[0]);
  for (uint32_t i = 0; i < test.result_count; i++)
    ids_[d_.result(test, i).value] = value(d_.operands_of(*go)[i]);
  arrive(frame.merge, d_.operands_of(*stop));
  const Word inside = m_.new_id(), outside = frame.merge.label;
  out_->op(Opcode::LoopMerge, outside, frame.next.label, loop_control(loop));
  out_->op(Opcode::BranchConditional, condition, leaves_else ? inside : outside,
           leaves_else ? outside : inside);
  start_block(inside);
  return at + 1;
}

// Whether a path through the body of a loop goes on to its next turn.
bool Emitter::continues(BodyId body) const {
  for (const OpId id : d_.body(body).ops) {
    const Operation& o = d_.op(id);
    if (o.op == Op::Continue) return true;
    if (o.op != Op::If && o.op != Op::Switch) continue;
    for (const Operand& x : d_.operands_of(o))
      if (x.kind == Operand::Kind::Body && continues(x.body())) return true;
  }
  return false;
}

// Whether a path goes on to the next turn before the body's end.
bool Emitter::continues_early(BodyId body) const {
  return std::ranges::any_of(d_.body(body).ops, [&](OpId id) {
    const Operation& o = d_.op(id);
    if (o.op != Op::If && o.op != Op::Switch) return false;
    return std::ranges::any_of(d_.operands_of(o), [&](const Operand& x) {
      return x.kind == Operand::Kind::Body && continues(x.body());
    });
  });
}

// Whether a loop ends by comparisons with constants, arguments or what is read alone, of which
// NVIDIA's compiler knows nothing: told to unroll a loop that turns once at most, it may take it to
// turn always.
bool Emitter::turns_freely(const Operation& loop) const {
  const BodyId body = d_.operands_of(loop)[0].body();
  const auto is_read = [&](ValueId v) {
    const Value& value = d_.values[v.value];
    return value.def == Value::Def::Result && scalar_size(d_.type_of(v).scalar()) >= 4 &&
           op_row(d_.op(OpId(value.source)).op).category == OpCategory::Memory;
  };
  // A counter between constants turns as often as is known; one that starts from something else is
  // hidden, or compared with something else.
  const auto starts = [&](uint32_t param) {
    const ValueId first = d_.operands_of(loop)[1 + param].value();
    return hides_start(loop, param) || d_.is_constant(first) || is_read(first);
  };
  for (const OpId id : d_.body(body).ops) {
    const Operation& o = d_.op(id);
    if (o.op != Op::If) continue;
    const auto leaves = [&](Operand arm) {
      return d_.op(d_.body(arm.body()).ops.back()).op == Op::Break;
    };
    if (std::ranges::none_of(d_.operands_of(o).subspan(1), leaves)) continue;
    const Value& condition = d_.values[d_.operands_of(o)[0].index];
    if (condition.def != Value::Def::Result) return false;
    const Operation& test = d_.op(OpId(condition.source));
    if (!is_comparison(test.op)) return false;
    if (d_.type_of(d_.operands_of(test)[0].value()).is_float()) continue;
    const auto x = d_.operands_of(test);
    for (size_t i = 0; i < 2; i++) {
      const ValueId v = x[i].value();
      const Value& value = d_.values[v.value];
      const bool counts = value.def == Value::Def::BodyParameter && value.source == body.value;
      if (counts ? !starts(value.index) : !d_.is_constant(v) && !is_read(v)) return false;
    }
  }
  return true;
}

// NVIDIA's compiler unrolls a loop of a handful of instructions only when asked. Asked for a longer
// one, it makes programs that run many times slower.
LoopControl Emitter::loop_control(const Operation& loop) const {
  if (!target_.unroll_short_loops || (!target_.sound_loops && !turns_freely(loop)))
    return LoopControl::None;
  const BodyId body = d_.operands_of(loop)[0].body();
  constexpr uint32_t kShort = 24;  // operations
  uint32_t count = 0;
  bool plain = true;
  walk_body(d_, body, [&](OpId, const Operation& o) {
    const OpCategory category = op_row(o.op).category;
    plain &= ++count <= kShort && o.op != Op::Loop && o.op != Op::Call && o.op != Op::Div &&
             category != OpCategory::Memory && category != OpCategory::Atomic &&
             category != OpCategory::Math && category != OpCategory::Block &&
             category != OpCategory::Warp;
  });
  return plain ? LoopControl::Unroll : LoopControl::None;
}

void Emitter::loop(const Operation& o) {
  const BodyId body = d_.operands_of(o)[0].body();
  const auto& params = d_.body(body).params;
  Frame frame;
  const Word before = label_, header = m_.new_id();
  frame.merge.label = m_.new_id();
  frame.next.label = m_.new_id();
  const size_t base = flow_values_.size();
  // Once through: nothing is carried. (NVIDIA's compiler dies of phis over an edge never taken.)
  const bool repeats = continues(body);
  std::vector<Word> initial;
  if (repeats) initial = initial_values(o);
  out_->op(Opcode::Branch, header);
  start_block(header);
  std::vector<size_t> holes;
  if (repeats) holes = loop_phis(params, initial, before, frame.next.label);
  for (size_t i = 0; i < params.size() && !repeats; i++)
    ids_[params[i].value] = value(d_.operands_of(o)[1 + i]);

  Frame* const outer = loop_;
  loop_ = &frame;
  const bool plain = target_.sound_headers || !continues_early(body);
  const size_t from = plain ? loop_header(o, frame) : 0;
  if (!from) {
    const Word inside = m_.new_id();
    out_->op(Opcode::LoopMerge, frame.merge.label, frame.next.label, loop_control(o));
    out_->op(Opcode::Branch, inside);
    start_block(inside);
  }
  emit_body(body, from);
  loop_ = outer;

  // A continue block that nothing reaches must still be there; the phis then keep the initial
  // value.
  start_block(frame.next.label);
  if (!frame.next.from.empty() && repeats) fill_phis(params, holes, frame.next);
  out_->op(Opcode::Branch, header);
  merge(o, frame.merge);
  flow_values_.resize(base);  // no branch from inside a loop brings values to anything around it
}

}  // namespace lcpy::spirv
