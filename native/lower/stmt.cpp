// Statements other than loops. A branch lowers its arms one after the other from the same state and
// merges what they assigned.
#include <algorithm>

#include "base/error.h"
#include "kernel/report.h"
#include "kernel/verify.h"
#include "lower/lowering.h"

namespace lcpy::lower {
namespace {

BranchHint hint_of(uint8_t ast_hint) {
  return ast_hint == 1   ? BranchHint::Flatten
         : ast_hint == 2 ? BranchHint::Branch
                         : BranchHint::None;
}

}  // namespace

bool FunctionLowering::scope(ScopeId id) {
  if (!id) return true;
  for (StmtId s : f_.scope(id).statements) {
    const StmtNode& n = f_.stmt(s);
    b_.set_span(n.span);
    const bool goes_on = n.kind == StmtKind::Loop  ? loop_(s, n)
                         : n.kind == StmtKind::For ? for_(s, n)
                                                   : statement(n);
    if (!goes_on) return false;  // what follows is never reached, and dropped
  }
  return true;
}

bool FunctionLowering::statement(const StmtNode& s) {
  switch (s.kind) {
    case StmtKind::Break:
      break_(*loops_.back(), false, s.span);
      return false;
    case StmtKind::Continue:
      continue_(*loops_.back());
      return false;
    case StmtKind::Return:
      return return_(s);
    case StmtKind::Scope:
      return scope(s.scope);
    case StmtKind::If:
      return if_(s);
    case StmtKind::Switch:
      return switch_(s);
    case StmtKind::Assign:
      return assign_(s);
    case StmtKind::Expr:
      return expression_statement(s);
    case StmtKind::Comment:
      return true;
    case StmtKind::Print:
      return print_(s);
    case StmtKind::Assert:
      return assert_(s);
    case StmtKind::RayQuery:
      all_.fail_at(Diag::statement_unsupported, s.span, {"a ray query"});
    case StmtKind::Suspend:
      all_.fail_at(Diag::statement_unsupported, s.span, {"a suspension point"});
    case StmtKind::AutoDiff:
      all_.fail_at(Diag::statement_unsupported, s.span, {"automatic differentiation"});
    case StmtKind::DebugBreak:
      all_.fail_at(Diag::statement_unsupported, s.span, {"a debug break"});
    case StmtKind::Loop:
    case StmtKind::For:
    case StmtKind::SwitchCase:
    case StmtKind::SwitchDefault:
      break;
  }
  throw BugError("a statement out of place");
}

bool FunctionLowering::return_(const StmtNode& s) {
  std::vector<ValueId> results;
  if (s.a) results.push_back(value(s.a));
  for (uint32_t v : returned_) results.push_back(whole(v, s.span));
  b_.set_span(s.span);
  b_.terminate(Op::Return, results);
  return false;
}

namespace {

// Whether `target` itself is read on the left spine of e: the form of an augmented assignment.
bool reads_target(const FunctionBuilder& f, uint32_t e, uint32_t target) {
  for (int guard = 0; guard < 8; guard++) {
    if (e == target) return true;
    const ExprNode& n = f.expr(ExprId(e));
    if (n.kind == ExprKind::Binary || n.kind == ExprKind::Unary || n.kind == ExprKind::Cast)
      e = n.a;
    else if (n.kind == ExprKind::Call && n.args_count)
      e = f.args_of(n)[0].value;
    else
      return false;
  }
  return false;
}

}  // namespace

bool FunctionLowering::assign_(const StmtNode& s) {
  const ExprNode& target = f_.expr(s.a);
  if (target.kind == ExprKind::Ref && !homes_[target.index].memory) {
    const ValueId v = value(s.b);
    assign(target.index, v.value);
    return true;
  }
  // An augmented assignment evaluates its target once, before the value; another after it.
  if (target.kind != ExprKind::Ref && reads_target(f_, s.b.value, s.a.value)) {
    const Place p = place(s.a);
    shared_place_expr_ = s.a.value;
    shared_place_ = &p;
    const ValueId v = value(s.b);
    shared_place_expr_ = ast::ExprId::kNone;
    b_.set_span(s.span);
    write(p, v, s.span);
    return true;
  }
  const ValueId v = value(s.b);
  const Place p =
      target.kind == ExprKind::Ref && homes_[target.index].memory ? Place() : place(s.a);
  b_.set_span(s.span);
  if (target.kind == ExprKind::Ref)
    initialise(target.index, v);
  else
    write(p, v, s.span);
  return true;
}

bool FunctionLowering::expression_statement(const StmtNode& s) {
  const ExprNode& n = f_.expr(s.a);
  if (n.kind == ExprKind::Call && n.op == Op::Unreachable) {
    b_.terminate(Op::Unreachable);
    return false;
  }
  if (n.kind == ExprKind::Call)
    call(n);
  else if (n.kind == ExprKind::CustomCall || n.kind == ExprKind::ExternalCall)
    custom_call(n);
  else if (n.type.is_value())  // a buffer's name alone says nothing
    value(s.a);
  return true;
}

static uint64_t leaf_count(Type t) {
  if (t.is_scalar()) return 1;
  if (!t.is_struct()) return t.count() * leaf_count(t.component(0));
  uint64_t leaves = 0;
  for (const Type member : t.members()) leaves += leaf_count(member);
  return leaves;
}

bool FunctionLowering::print_(const StmtNode& s) {
  std::vector<Type> types;
  std::vector<Operand> operands{Operand{}};
  uint64_t leaves = 0;
  for (ExprId x : f_.args(s.extra_begin, s.extra_count)) {
    const ValueId v = value(x);
    operands.push_back(Operand::of(v));
    types.push_back(d_.type_of(v));
    // An upper bound from the size, before anything walks a huge array's elements.
    const Type t = types.back();
    leaves += t.size() > 8 * kLongestLine ? t.size() : leaf_count(t);
  }
  if (leaves > kLongestLine / 2)
    all_.fail_at(Diag::print_too_long, s.span, {std::to_string(kLongestLine / 2)});
  operands[0] = Operand::imm(all_.add_site(Site::Kind::Print, f_.text_of(s), types, s.span));
  b_.set_span(s.span);
  b_.append(Op::Print, operands);
  return true;
}

bool FunctionLowering::assert_(const StmtNode& s) {
  const ValueId condition = value(s.a);
  const uint32_t site = all_.add_site(Site::Kind::Assert, f_.text_of(s), {}, s.span);
  b_.set_span(s.span);
  const Operand operands[] = {Operand::imm(site), Operand::of(condition)};
  b_.append(Op::Assert, operands);
  return true;
}

// ---- branches
// ---------------------------------------------------------------------------------------

std::vector<FunctionLowering::Change> FunctionLowering::unwind(size_t mark) {
  std::vector<Change> changes;
  stamp_++;
  for (size_t i = mark; i < log_.size(); i++) {
    const uint32_t v = log_[i].variable;
    if (seen_[v] == stamp_) continue;
    seen_[v] = stamp_;
    const uint32_t before = log_[i].value, after = current_[v];
    current_[v] = before;
    if (after != before) changes.push_back({v, after});
  }
  log_.resize(mark);
  return changes;
}

// An arm is lowered into a body of its own, which still lacks its Yield if control goes on.
FunctionLowering::ArmState FunctionLowering::open_arm() {
  if (++depth_ > kDeepestProgram)
    all_.fail_at(Diag::nested_bodies, b_.span(), {std::to_string(kDeepestProgram)});
  ArmState s{b_.insertion(), b_.add_body(), static_cast<uint32_t>(d_.values.size()), log_.size()};
  b_.set_insertion(s.body);
  return s;
}

FunctionLowering::Arm FunctionLowering::close_arm(const ArmState& before, bool falls) {
  Arm a{before.body, falls, before.first_value, unwind(before.mark)};
  b_.set_insertion(before.outer);
  depth_--;
  return a;
}

bool FunctionLowering::merge(Op op, std::span<const Operand> operands, std::span<Arm> arms,
                             uint8_t flags, Span span) {
  // Every variable that an arm which goes on has changed, with its value at the end of each arm.
  std::vector<uint32_t> variables;
  stamp_++;
  size_t falling = 0;
  uint32_t first_inside = kUnassigned;
  for (const Arm& a : arms) {
    first_inside = std::min(first_inside, a.first_value);
    if (!a.falls) continue;
    falling++;
    for (const Change& c : a.changes) {
      if (seen_[c.variable] == stamp_) continue;
      seen_[c.variable] = stamp_;
      variables.push_back(c.variable);
    }
  }
  const size_t n = variables.size();
  std::vector<uint32_t> table(falling * n);

  for (uint32_t i = 0; i < n; i++) {
    slot_of_variable_[variables[i]] = i;
    for (size_t k = 0; k < falling; k++) table[k * n + i] = current_[variables[i]];
  }
  size_t row = 0;
  for (const Arm& a : arms) {
    if (!a.falls) continue;
    for (const Change& c : a.changes) table[row * n + slot_of_variable_[c.variable]] = c.value;
    row++;
  }
  struct Result {
    uint32_t variable, column;
  };
  std::vector<Result> results;
  std::vector<Type> types;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t v = variables[i], first = table[i];
    bool same = true, assigned = true;
    for (size_t k = 0; k < falling; k++) {
      same &= table[k * n + i] == first;
      assigned &= table[k * n + i] != kUnassigned;
    }
    const bool outside =
        first >= kInMemory || first < first_inside || d_.is_constant(ValueId(first));
    if (!assigned) {
      if (current_[v] == kUnassigned)
        left_unassigned(v, span, "is assigned on some paths through this only");
      assign(v, kUnassigned);
    } else if (same && outside) {
      assign(v, first);
    } else {
      results.push_back({v, i});
      types.push_back(types_[v]);
    }
  }
  row = 0;
  const BodyId outer = b_.insertion();
  std::vector<ValueId> yields;
  for (const Arm& a : arms) {
    if (!a.falls) continue;
    yields.clear();
    for (const Result& r : results) yields.push_back(ValueId(table[row * n + r.column]));
    b_.set_insertion(a.body);
    b_.set_span(span);
    b_.terminate(Op::Yield, yields);
    row++;
  }
  b_.set_insertion(outer);
  b_.set_span(span);
  const OpId made = b_.append(op, operands, types, flags);
  for (uint32_t i = 0; i < results.size(); i++)
    assign(results[i].variable, d_.result(d_.op(made), i).value);
  if (falling == 0) b_.terminate(Op::Unreachable);
  return falling != 0;
}

bool FunctionLowering::if_(const StmtNode& s) {
  const uint8_t hint = s.hint ? s.hint : hint_;
  hint_ = 0;
  const ValueId condition = value(s.a);
  b_.set_span(s.span);
  Arm arms[2] = {arm([&] { return scope(s.scope); }), arm([&] { return scope(s.other); })};
  const Operand operands[] = {Operand::of(condition), Operand::of(arms[0].body),
                              Operand::of(arms[1].body)};
  return merge(Op::If, operands, arms, static_cast<uint8_t>(hint_of(hint)), s.span);
}

bool FunctionLowering::switch_(const StmtNode& s) {
  const uint8_t hint = s.hint ? s.hint : hint_;
  hint_ = 0;
  ValueId selector = value(s.a);
  const Type given = d_.type_of(selector);
  Type type = given;
  if (scalar_size(type.scalar()) < 4) {
    const bool is_signed = scalar_class(type.scalar()) == ScalarClass::Signed;
    type = Type::of(is_signed ? Scalar::Int32 : Scalar::UInt32);
    selector = convert(selector, type);
  }
  b_.set_span(s.span);
  std::vector<Operand> operands{Operand::of(selector), Operand{}};
  std::vector<Arm> arms(1);
  const bool has_default = switch_arms(s, type, operands, arms);
  if (!has_default) arms[0] = arm([] { return true; });
  operands[1] = Operand::of(arms[0].body);
  return merge(Op::Switch, operands, arms, static_cast<uint8_t>(hint_of(hint)), s.span);
}

// The default's arm comes first; returns whether there is one.
bool FunctionLowering::switch_arms(const StmtNode& s, Type selector, std::vector<Operand>& operands,
                                   std::vector<Arm>& arms) {
  bool has_default = false;
  for (StmtId id : f_.scope(s.scope).statements) {
    const StmtNode& c = f_.stmt(id);
    if (c.kind == StmtKind::Comment) continue;
    b_.set_span(c.span);
    Arm a = arm([&] { return scope(c.scope); });
    if (c.kind == StmtKind::SwitchDefault) {
      arms[0] = std::move(a);
      has_default = true;
      continue;
    }
    for (ExprId x : f_.args(c.extra_begin, c.extra_count)) {
      uint64_t bits = 0;
      LCPY_CHECK(constant_integer(f_, x, bits));
      operands.push_back(Operand::of(b_.integer(selector, bits)));
    }
    operands.push_back(Operand::of(a.body));
    arms.push_back(std::move(a));
  }
  return has_default;
}

}  // namespace lcpy::lower
