// Copies a finished function: what is reachable, renumbered. Libraries and transformations start
// from a copy, so that nothing of a discarded attempt travels along.
#include <cstring>
#include <tuple>

#include "ast/build.h"
#include "ast/visit.h"

namespace lcpy::ast {

struct Copier {
  const FunctionBuilder& from;
  FunctionBuilder& to;
  std::vector<uint32_t> exprs, variables;  // new index by old one

  Copier(const FunctionBuilder& source, FunctionBuilder& target)
      : from(source),
        to(target),
        exprs(source.expr_count(), ExprId::kNone),
        variables(source.variables().size(), VariableId::kNone) {}

  VariableId variable(uint32_t old) {
    uint32_t& known = variables[old];
    if (known == VariableId::kNone) {
      known = static_cast<uint32_t>(to.variables_.size());
      to.variables_.push_back(from.variables_[old]);
    }
    return VariableId(known, to.owner_);
  }

  uint32_t constant(const ExprNode& n) {
    std::span<const std::byte> bytes = from.constant_bytes(n);
    size_t align = n.type.align();
    size_t at = (to.constant_data_.size() + align - 1) / align * align;
    to.constant_data_.resize(at + bytes.size());
    std::memcpy(to.constant_data_.data() + at, bytes.data(), bytes.size());
    return static_cast<uint32_t>(at);
  }

  std::pair<uint32_t, uint32_t> args(uint32_t begin, uint32_t count) {
    std::vector<ExprId> moved;
    for (ExprId e : from.args(begin, count)) moved.push_back(expr(e));
    auto at = static_cast<uint32_t>(to.args_.size());
    to.args_.insert(to.args_.end(), moved.begin(), moved.end());
    return {at, count};
  }

  ExprId expr(ExprId old) {
    if (!old) return {};
    if (exprs[old.value] == ExprId::kNone) {
      ExprNode n = from.expr(old);
      for (uint32_t* child : {&n.a, &n.b, &n.c}) {
        if (*child != ExprId::kNone) *child = expr(ExprId(*child)).value;
      }
      std::tie(n.args_begin, n.args_count) = args(n.args_begin, n.args_count);
      if (n.kind == ExprKind::Ref) n.index = variable(n.index).value;
      if (n.kind == ExprKind::Constant) n.index = constant(n);
      exprs[old.value] = static_cast<uint32_t>(to.exprs_.size());
      to.exprs_.push_back(n);
    }
    return ExprId(exprs[old.value], to.owner_);
  }

  ScopeId scope(ScopeId old, StmtId owner) {
    if (!old) return {};
    ScopeId made = Build(to).add_scope(owner);
    statements(old, made);
    return made;
  }

  void statements(ScopeId old, ScopeId made) {
    for (StmtId s : from.scope(old).statements) {
      StmtNode n = from.stmt(s);
      if (n.variable) n.variable = variable(n.variable.value);
      for (ExprId* e : {&n.a, &n.b, &n.c}) *e = expr(*e);
      std::tie(n.extra_begin, n.extra_count) = args(n.extra_begin, n.extra_count);
      if (n.text != 0) n.text = Build(to).add_text(from.text_of(n));
      StmtId id(to.stmts_.size());
      to.stmts_.push_back(n);
      to.scopes_[made.value].statements.push_back(id);
      ScopeId inner = scope(n.scope, id), other = scope(n.other, id);
      to.stmts_[id.value].scope = inner;
      to.stmts_[id.value].other = other;
    }
  }

  void run() {
    to.return_type_ = from.return_type_;
    to.return_known_ = from.return_known_;
    to.block_size_ = from.block_size_;
    to.callees_ = from.callees_;
    to.external_ = from.external_;
    for (VariableId v : from.arguments_) to.arguments_.push_back(variable(v.value));
    statements(from.body(), to.body());
    to.hash_ = from.hash_;
    to.reports_ = from.reports_;
    to.keeps_place_ = from.keeps_place_;
    to.finished_ = true;
  }
};

std::shared_ptr<FunctionBuilder> FunctionBuilder::copy() const {
  LCPY_CHECK(finished_);
  std::shared_ptr<FunctionBuilder> made = create(kind_, name_, span_);
  Copier(*this, *made).run();
  LCPY_CHECK(Build(*made).compute_hash() == hash_);
  return made;
}

}  // namespace lcpy::ast
