// Traversal of the AST. A visitor names every kind; a kind that it lacks does not compile.
#pragma once
#include <utility>

#include "ast/builder.h"

namespace lcpy::ast {

// Calls visitor.Literal(id, node), visitor.Ref(id, node)… by the node's kind.
template <class Visitor>
decltype(auto) visit_expr(const FunctionBuilder& f, ExprId id, Visitor&& visitor) {
  const ExprNode& n = f.expr(id);
  switch (n.kind) {
#define EXPR(name, doc) \
  case ExprKind::name:  \
    return visitor.name(id, n);
#define STMT(name, doc)
#include "ast/node.def"
#undef EXPR
#undef STMT
  }
  throw BugError("expression kind");
}

// Likewise visitor.Assign(id, node), visitor.If(id, node)…
template <class Visitor>
decltype(auto) visit_stmt(const FunctionBuilder& f, StmtId id, Visitor&& visitor) {
  const StmtNode& n = f.stmt(id);
  switch (n.kind) {
#define EXPR(name, doc)
#define STMT(name, doc) \
  case StmtKind::name:  \
    return visitor.name(id, n);
#include "ast/node.def"
#undef EXPR
#undef STMT
  }
  throw BugError("statement kind");
}

// Child expressions in order of evaluation.
template <class Each>
void each_child(const FunctionBuilder& f, const ExprNode& n, Each&& each) {
  for (uint32_t child : {n.a, n.b, n.c}) {
    if (child != ExprId::kNone) each(ExprId(child));
  }
  for (ExprId e : f.args_of(n)) each(e);
}

// The expressions of one statement itself, and the scopes inside it.
template <class EachExpr, class EachScope>
void each_part(const FunctionBuilder& f, const StmtNode& n, EachExpr&& expr, EachScope&& scope) {
  for (ExprId e : {n.a, n.b, n.c}) {
    if (e) expr(e);
  }
  for (ExprId e : f.args(n.extra_begin, n.extra_count)) expr(e);
  if (n.scope) scope(n.scope);
  if (n.other) scope(n.other);
}

}  // namespace lcpy::ast
