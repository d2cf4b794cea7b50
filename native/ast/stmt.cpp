// Statements, appended to the innermost open scope.
#include <algorithm>

#include "ast/build.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

StmtNode statement(StmtKind kind, Span span) {
  StmtNode n;
  n.kind = kind;
  n.span = span;
  return n;
}

std::string target_name(const Build& b, ExprId place) {
  VariableId v = b.root(place);
  if (!v) return "the target";
  const std::string& name = b.f.variable(v).name;
  bool whole = b.node(place).kind == ExprKind::Ref;
  return (whole ? "variable '" : "a part of '") + name + "'";
}

}  // namespace

// A swizzle anywhere in a target names each lane once.
void Build::check_target(ExprId place, Span span) const {
  ExprId at = place;
  for (;;) {
    const ExprNode& n = node(at);
    if (n.kind == ExprKind::Swizzle) {
      uint32_t seen = 0;
      for (uint32_t i = 0; i < n.count; ++i) {
        uint32_t bit = 1u << (n.index >> (4 * i) & 15);
        if (seen & bit) {
          std::string text;
          for (uint32_t k = 0; k < n.count; ++k) text += "xyzw"[n.index >> (4 * k) & 3];
          fail(Diag::swizzle_duplicate, span, {text});
        }
        seen |= bit;
      }
    } else if (n.kind != ExprKind::Member && n.kind != ExprKind::Access) {
      return;
    }
    at = id(n.a);
  }
}

StmtId FunctionBuilder::assign(ExprId place, ExprId value, Span span) {
  Build build(*this);
  build.check_open();
  build.check(place, span);
  build.check(value, span);
  Type t = build.type(place);
  if (t.is_resource()) fail(Diag::whole_resource, span, {target_name(build, place)});
  if (!is_place(place)) {
    fail(Diag::not_place, span, {"an assignment", "a value that was computed cannot be assigned"});
  }
  build.check_target(place, span);
  // The common case needs no name for a message.
  bool same = build.type(value) == t && !build.is_weak(value);
  if (!same) value = convert(value, t, target_name(build, place), span);
  build.read(value);
  build.mark(place, Usage::Write);
  StmtNode n = statement(StmtKind::Assign, span);
  n.a = build.id(place.value);
  n.b = build.id(value.value);
  return build.add(n);
}

StmtId FunctionBuilder::expression(ExprId a, Span span) {
  Build build(*this);
  build.check_open();
  build.check(a, span);
  if (build.type(a).is_value()) build.read(a);
  StmtNode n = statement(StmtKind::Expr, span);
  n.a = build.id(a.value);
  return build.add(n);
}

bool Build::inside_loop() const {
  for (size_t i = f.stack_.size(); i-- > 0;) {
    const StmtNode* owner = owner_of_scope(i);
    if (owner && (owner->kind == StmtKind::Loop || owner->kind == StmtKind::For)) return true;
  }
  return false;
}

StmtId FunctionBuilder::break_(Span span) {
  Build build(*this);
  build.check_open();
  if (!build.inside_loop()) fail(Diag::outside_loop, span, {"break"});
  return build.add(statement(StmtKind::Break, span));
}

StmtId FunctionBuilder::continue_(Span span) {
  Build build(*this);
  build.check_open();
  if (!build.inside_loop()) fail(Diag::outside_loop, span, {"continue"});
  return build.add(statement(StmtKind::Continue, span));
}

StmtId FunctionBuilder::return_(std::optional<ExprId> value, Span span) {
  Build build(*this);
  build.check_open();
  StmtNode n = statement(StmtKind::Return, span);
  Type t;
  if (value) {
    build.check(*value, span);
    if (kind_ == Kind::Kernel) fail(Diag::kernel_returns, span);
    t = build.type(*value);
    if (!t.is_value()) {
      if (t.is_void()) fail(Diag::no_value, span, {"return"});
      fail(Diag::declaration_type, span, {"a result", type_spelling(t), "return an element"});
    }
  }
  if (!return_known_) {
    return_type_ = t;
    return_known_ = true;
  }
  if (return_type_.is_void() != t.is_void()) {
    fail(Diag::return_mismatch, span, {type_spelling(t), name_, type_spelling(return_type_)});
  }
  if (value) {
    ExprId v = convert(*value, return_type_, "the result of '" + name_ + "'", span);
    build.read(v);
    n.a = build.id(v.value);
  }
  return build.add(n);
}

StmtId FunctionBuilder::if_(ExprId condition, Span span, uint8_t hint) {
  Build build(*this);
  build.check_open();
  build.check(condition, span);
  condition = build.condition(condition, span);
  build.read(condition);
  StmtNode n = statement(StmtKind::If, span);
  n.a = build.id(condition.value);
  n.hint = hint;
  StmtId id = build.add(n);
  StmtNode& kept = stmts_[id.value];
  kept.scope = build.add_scope(id);
  kept.other = build.add_scope(id);
  return id;
}

StmtId FunctionBuilder::loop(Span span) {
  Build build(*this);
  build.check_open();
  StmtId id = build.add(statement(StmtKind::Loop, span));
  stmts_[id.value].scope = build.add_scope(id);
  return id;
}

StmtId FunctionBuilder::for_(VariableId variable, ExprId begin, ExprId end, ExprId step,
                             Span span) {
  Build build(*this);
  build.check_open();
  ExprId bounds[] = {begin, end, step};
  build.check(bounds, span);
  ExprId place = ref(variable, span);
  Type t = build.type(place);
  if (!t.is_scalar() || !t.is_integer()) fail(Diag::range_variable, span, {type_spelling(t)});
  begin = convert(begin, t, "the start of the range", span);
  end = convert(end, t, "the end of the range", span);
  // The step has the variable's width and its own sign, so that an unsigned range can go down.
  const ExprNode& s = build.node(step);
  if (!s.type.is_scalar() || !s.type.is_integer()) {
    fail(Diag::not_integer, span, {"the step of a range", type_spelling(s.type)});
  }
  bool literal = s.kind == ExprKind::Literal;
  if (literal && s.value.u == 0) fail(Diag::range_step, span);
  uint32_t bytes = scalar_size(t.scalar());
  bool as_signed = literal ? s.value.i < 0 && !s.is_unsigned && is_signed(scalar_of(s.type))
                           : is_signed(scalar_of(s.type));
  if (literal && !as_signed) as_signed = is_signed(t.scalar());
  Scalar to = as_signed ? signed_of(bytes) : unsigned_of(bytes);
  step = convert(step, Type::of(to), "the step of the range", span);
  for (ExprId e : {begin, end, step}) build.read(e);
  build.mark(place, Usage::ReadWrite);
  StmtNode n = statement(StmtKind::For, span);
  n.a = begin;
  n.b = end;
  n.c = step;
  n.variable = VariableId(variable.value, owner_);
  StmtId id = build.add(n);
  stmts_[id.value].scope = build.add_scope(id);
  return id;
}

StmtId FunctionBuilder::switch_(ExprId value, Span span, uint8_t hint) {
  Build build(*this);
  build.check_open();
  build.check(value, span);
  Type t = build.type(value);
  if (!t.is_scalar() || !t.is_integer()) fail(Diag::switch_type, span, {type_spelling(t)});
  value = settle(value);
  build.read(value);
  StmtNode n = statement(StmtKind::Switch, span);
  n.a = build.id(value.value);
  n.hint = hint;
  StmtId id = build.add(n);
  stmts_[id.value].scope = build.add_scope(id);
  return id;
}

namespace {

// Every value that the open switch's cases name already.
template <class Visit>
void each_case(const FunctionBuilder& f, const StmtNode& owner, Visit&& visit) {
  for (StmtId s : f.scope(owner.scope).statements) {
    const StmtNode& n = f.stmt(s);
    if (n.kind == StmtKind::SwitchCase || n.kind == StmtKind::SwitchDefault) visit(n);
  }
}

}  // namespace

StmtId FunctionBuilder::case_(std::span<const ExprId> literals, Span span) {
  Build build(*this);
  build.check_open();
  build.check(literals, span);
  const StmtNode* owner = build.owner_of_scope(stack_.size() - 1);
  if (!owner || owner->kind != StmtKind::Switch) {
    fail(Diag::case_place, span, {"a case stands outside a match"});
  }
  if (literals.empty()) throw ArgumentError("case_ without values");
  Type t = build.type(owner->a);
  std::vector<ExprId> typed;
  for (ExprId e : literals) {
    const ExprNode& n = build.node(e);
    bool integer = n.kind == ExprKind::Literal && n.type.is_integer();
    if (!integer) fail(Diag::case_value, span, {type_spelling(t)});
    ExprId v = convert(e, t, "the case", span);
    uint64_t bits = build.node(v).value.u;
    auto taken = [&](ExprId other) { return build.node(other).value.u == bits; };
    bool twice = std::any_of(typed.begin(), typed.end(), taken);
    each_case(*this, *owner, [&](const StmtNode& c) {
      auto values = args(c.extra_begin, c.extra_count);
      twice |= std::any_of(values.begin(), values.end(), taken);
    });
    if (twice)
      fail(Diag::case_place, span,
           {"case " + std::to_string(static_cast<int64_t>(bits)) + " stands twice in its match"});
    typed.push_back(v);
  }
  StmtNode n = statement(StmtKind::SwitchCase, span);
  n.extra_begin = build.add_args(typed);
  n.extra_count = static_cast<uint32_t>(typed.size());
  StmtId id = build.add(n);
  stmts_[id.value].scope = build.add_scope(id);
  return id;
}

StmtId FunctionBuilder::default_(Span span) {
  Build build(*this);
  build.check_open();
  const StmtNode* owner = build.owner_of_scope(stack_.size() - 1);
  if (owner && owner->kind == StmtKind::Switch) {
    each_case(*this, *owner, [&](const StmtNode& c) {
      if (c.kind == StmtKind::SwitchDefault) {
        fail(Diag::case_place, span, {"a match has two defaults"});
      }
    });
  }
  StmtId id = build.add(statement(StmtKind::SwitchDefault, span));
  stmts_[id.value].scope = build.add_scope(id);
  return id;
}

StmtId FunctionBuilder::comment(std::string text, Span span) {
  Build build(*this);
  build.check_open();
  StmtNode n = statement(StmtKind::Comment, span);
  n.text = build.add_text(std::move(text));
  return build.add(n);
}

StmtId FunctionBuilder::print(std::string format, std::span<const ExprId> values, Span span) {
  Build build(*this);
  build.check_open();
  build.check(values, span);
  std::vector<ExprId> settled;
  for (ExprId e : values) {
    if (!build.type(e).is_value()) fail(Diag::no_value, span, {"print"});
    settled.push_back(settle(e));
    build.read(settled.back());
  }
  StmtNode n = statement(StmtKind::Print, span);
  build.will_report();
  n.text = build.add_text(std::move(format));
  n.extra_begin = build.add_args(settled);
  n.extra_count = static_cast<uint32_t>(settled.size());
  return build.add(n);
}

StmtId FunctionBuilder::assert_(ExprId condition, std::string message, Span span) {
  Build build(*this);
  build.check_open();
  build.check(condition, span);
  condition = build.condition(condition, span);
  build.read(condition);
  build.will_report();
  StmtNode n = statement(StmtKind::Assert, span);
  n.a = build.id(condition.value);
  n.text = build.add_text(std::move(message));
  return build.add(n);
}

// A scope that was left may be entered again; what follows is appended to it.
void FunctionBuilder::push_scope(ScopeId scope) {
  Build build(*this);
  build.check_open();
  if (scope.value >= scopes_.size()) throw ArgumentError("push_scope of an unknown scope");
  StmtId owner = scope_owner_[scope.value];
  if (stack_.size() >= kMaxScopeDepth) {
    fail(Diag::nested_too_deep, owner ? stmts_[owner.value].span : span_,
         {std::to_string(kMaxScopeDepth)});
  }
  stack_.push_back({scope, owner});
}

void FunctionBuilder::pop_scope() {
  if (stack_.size() <= 1) throw ArgumentError("pop_scope without push_scope");
  stack_.pop_back();
}

}  // namespace lcpy::ast
