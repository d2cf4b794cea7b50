// Usage marks. A value that is made reads its operands then and there, so a mark only ever climbs
// the members and elements of one place; bits that a node has forwarded are not forwarded again.
#include "ast/build.h"

namespace lcpy::ast {
namespace {

Usage join(Usage a, Usage b) {
  return static_cast<Usage>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}

bool climbs(ExprKind kind) {
  return kind == ExprKind::Member || kind == ExprKind::Swizzle || kind == ExprKind::Access;
}

}  // namespace

void Build::mark(ExprId e, Usage usage) {
  auto bits = static_cast<uint8_t>(usage);
  uint32_t at = e.value;
  for (;;) {
    ExprNode& n = f.exprs_[at];
    if ((bits & ~n.usage) == 0) return;
    n.usage |= bits;
    if (n.kind == ExprKind::Ref) {
      Variable& v = f.variables_[n.index];
      v.usage = join(v.usage, usage);
      return;
    }
    if (!climbs(n.kind)) return;
    at = n.a;
  }
}

void Build::mark_call(Op op, std::span<const ExprId> args) {
  OpUsage usage = op_row(op).usage;
  if (usage == OpUsage::Nothing) return;
  for (size_t i = 0; i < args.size(); ++i) {
    bool first = i == 0;
    if (first && usage == OpUsage::Write0) {
      mark(args[i], Usage::Write);
    } else if (first && usage == OpUsage::ReadWrite0) {
      mark(args[i], Usage::ReadWrite);
    } else {
      read(args[i]);
    }
  }
}

VariableId Build::root(ExprId e) const {
  uint32_t at = e.value;
  while (climbs(f.exprs_[at].kind)) at = f.exprs_[at].a;
  const ExprNode& n = f.exprs_[at];
  return n.kind == ExprKind::Ref ? VariableId(n.index, f.owner_) : VariableId();
}

bool FunctionBuilder::is_place(ExprId a) const {
  Build build(const_cast<FunctionBuilder&>(*this));
  build.check(a, {});
  VariableId v = build.root(a);
  if (!v) return false;
  return variables_[v.value].kind != VariableKind::Resource || exprs_[a.value].type.is_value();
}

}  // namespace lcpy::ast
