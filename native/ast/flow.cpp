// What only the whole function can tell: whether every path ends in a return. Ends construction.
#include "ast/build.h"
#include "ast/visit.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

// Whether control can get past a statement or a scope, and whether it can leave the loop around.
struct Flow {
  const FunctionBuilder& f;
  bool breaks = false;  // a break that belongs to the loop being looked at was met

  bool scope(ScopeId id) {
    for (StmtId s : f.scope(id).statements) {
      if (!visit_stmt(f, s, *this)) return false;
    }
    return true;
  }

  bool Break(StmtId, const StmtNode&) {
    breaks = true;
    return false;
  }
  bool Continue(StmtId, const StmtNode&) { return false; }
  bool Return(StmtId, const StmtNode&) { return false; }
  bool Scope(StmtId, const StmtNode& n) { return scope(n.scope); }
  bool If(StmtId, const StmtNode& n) {
    bool then = scope(n.scope), other = scope(n.other);
    return then || other;
  }
  bool Loop(StmtId, const StmtNode& n) {
    bool outer = std::exchange(breaks, false);
    scope(n.scope);
    return std::exchange(breaks, outer);
  }
  bool For(StmtId, const StmtNode& n) {
    bool outer = std::exchange(breaks, false);
    scope(n.scope);
    breaks = outer;
    return true;
  }
  bool Switch(StmtId, const StmtNode& n) {
    bool passes = false, has_default = false;
    for (StmtId s : f.scope(n.scope).statements) {
      has_default |= f.stmt(s).kind == StmtKind::SwitchDefault;
      if (f.stmt(s).kind != StmtKind::Comment) passes |= scope(f.stmt(s).scope);
    }
    return passes || !has_default;
  }
  bool SwitchCase(StmtId, const StmtNode& n) { return scope(n.scope); }
  bool SwitchDefault(StmtId, const StmtNode& n) { return scope(n.scope); }
  bool Assign(StmtId, const StmtNode&) { return true; }
  bool Expr(StmtId, const StmtNode& n) {
    const ExprNode& e = f.expr(n.a);
    return !(e.kind == ExprKind::Call && e.op == Op::Unreachable);
  }
  bool Comment(StmtId, const StmtNode&) { return true; }
  bool Print(StmtId, const StmtNode&) { return true; }
  bool Assert(StmtId, const StmtNode&) { return true; }
  bool RayQuery(StmtId, const StmtNode& n) {
    scope(n.scope);
    scope(n.other);
    return true;
  }
  bool Suspend(StmtId, const StmtNode&) { return true; }
  bool AutoDiff(StmtId, const StmtNode& n) { return scope(n.scope); }
  bool DebugBreak(StmtId, const StmtNode&) { return true; }
};

}  // namespace

bool Build::falls_through(ScopeId scope) const { return Flow{f}.scope(scope); }

void FunctionBuilder::finish() {
  Build build(*this);
  build.check_open();
  if (stack_.size() != 1) throw ArgumentError("finish() inside a scope of '" + name_ + "'");
  const bool has_body = !external_ || external_->has_body;
  if (has_body && !return_type_.is_void() && build.falls_through(body())) {
    fail(Diag::return_missing, span_, {name_, type_spelling(return_type_)});
  }
  if (external_) build.finish_external();
  hash_ = build.compute_hash();
  finished_ = true;
}

}  // namespace lcpy::ast
