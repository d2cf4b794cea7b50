// From an operation to the check of its shape.
#include "ast/shape.h"

#include "types/spelling.h"

namespace lcpy::ast {
namespace {

constexpr ShapeCheck kShapes[] = {
#define SHAPE(name, doc) &shape_##name,
#include "ops/shape.def"
#undef SHAPE
};

}  // namespace

ExprId Build::apply(Op op, std::span<const ExprId> args, Type result, Span span) {
  return kShapes[static_cast<size_t>(op_row(op).shape)](*this, op, args, result, span);
}

LCPY_SHAPE(KernelOnly) {
  if (op == Op::Bitcast) {
    b.need_count(op, args, 1, span);
    return b.f.bitcast(result, args[0], span);
  }
  throw ArgumentError(std::string(op_row(op).name) + " is made by lowering alone");
}

LCPY_SHAPE(Refused) {
  (void)b;
  (void)args;
  throw UnsupportedError(
      make_diagnostic(Diag::op_refused, span, {op_spelling(op), op_row(op).reason}));
}

LCPY_SHAPE(NoneToUint3) {
  b.need_count(op, args, 0, span);
  return b.call_node(op, args, Type::vector(Scalar::UInt32, 3), span);
}

LCPY_SHAPE(NoneToUint) {
  b.need_count(op, args, 0, span);
  return b.call_node(op, args, Type::of(Scalar::UInt32), span);
}

LCPY_SHAPE(NoneToUlong) {
  b.need_count(op, args, 0, span);
  return b.call_node(op, args, Type::of(Scalar::UInt64), span);
}

LCPY_SHAPE(NoneToBool) {
  b.need_count(op, args, 0, span);
  return b.call_node(op, args, Type::of(Scalar::Bool), span);
}

LCPY_SHAPE(NoneToVoid) {
  b.need_count(op, args, 0, span);
  return b.call_node(op, args, Type(), span);
}

LCPY_SHAPE(BoolToVoid) {
  b.need_count(op, args, 1, span);
  ExprId cond = b.condition(args[0], span);
  return b.call_node(op, {&cond, 1}, Type(), span);
}

LCPY_SHAPE(TrapShape) {
  b.need_count(op, args, 1, span);
  const ExprId code = b.integer(b.f.settle(args[0]), "a trap's code", span);
  b.will_report();
  return b.call_node(op, {&code, 1}, Type(), span);
}

}  // namespace lcpy::ast
