// Shapes of operations on buffers and of atomics.
#include "ast/shape.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

Type element_buffer(Build& b, Op op, std::span<const ExprId> args, size_t extra, Span span) {
  if (args.empty()) b.need_count(op, args, 2 + extra, span);
  b.buffer(op, args[0], span);
  Type t = b.type(args[0]);
  if (t.element().is_void()) b.wrong_operand(op, t, "it takes a buffer of elements", span);
  b.need_count(op, args, 1 + t.rank() + extra, span);
  return t;
}

void byte_buffer(Build& b, Op op, ExprId a, Span span) {
  b.buffer(op, a, span);
  if (!b.type(a).element().is_void()) {
    b.wrong_operand(op, b.type(a), "it takes a byte buffer", span);
  }
}

// Buffer and indices; the value, if there is one, is added by the caller.
std::vector<ExprId> with_indices(Build& b, std::span<const ExprId> args, uint32_t rank, Span span) {
  std::vector<ExprId> out{args[0]};
  for (uint32_t i = 0; i < rank; ++i) out.push_back(b.integer(args[1 + i], "an index", span));
  return out;
}

bool is_atomic_number(Type t) { return t.is_scalar() && t.is_arithmetic() && t.size() >= 4; }

constexpr std::string_view kOrders[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};

// A literal number of MemoryOrder, which front ends put behind the operands.
bool is_order(const ExprNode& n) {
  return n.kind == ExprKind::Literal && n.weak == WeakKind::Int && n.value.u < std::size(kOrders);
}

// A read cannot release, a write cannot acquire.
ExprId memory_order(Build& b, Op op, ExprId order, Span span) {
  const uint64_t which = b.node(order).value.u;
  const bool refused = (op == Op::AtomicLoad && (which == 2 || which == 3)) ||
                       (op == Op::AtomicStore && (which == 1 || which == 3));
  if (refused) {
    fail(Diag::atomic_order, span,
         {op_spelling(op), kOrders[which],
          op == Op::AtomicLoad ? "'relaxed', 'acquire' or 'seq_cst': it writes nothing"
                               : "'relaxed', 'release' or 'seq_cst': it reads nothing"});
  }
  return b.typed_int(Scalar::UInt32, {false, which}, span);
}

ExprId atomic(Build& b, Op op, std::span<const ExprId> args, size_t values, bool integers,
              bool gives, Span span) {
  const bool ordered = args.size() == 2 + values && is_order(b.node(args.back()));
  if (!ordered) b.need_count(op, args, 1 + values, span);
  b.check_atomic_place(op, args[0], span);
  Type t = b.type(args[0]);
  if (!is_atomic_number(t) || (integers && !t.is_integer())) {
    fail(Diag::atomic_type, span,
         {op_spelling(op), type_spelling(t),
          integers ? "32- and 64-bit integers" : "32- and 64-bit integers and floats"});
  }
  std::vector<ExprId> e(args.begin(), args.end());
  for (size_t i = 1; i <= values; ++i) {
    e[i] = b.f.convert(e[i], t, "the operand of " + op_spelling(op), span);
  }
  if (ordered) e.back() = memory_order(b, op, e.back(), span);
  return b.call_node(op, e, gives ? t : Type(), span);
}

}  // namespace

void Build::check_atomic_place(Op op, ExprId place, Span span) {
  VariableId v = root(place);
  std::string_view hint = "for example buffer[i] or shared[i].member";
  if (!v) fail(Diag::atomic_place, span, {op_spelling(op), hint});
  const Variable& var = f.variables_[v.value];
  bool rooted = var.kind == VariableKind::Shared || var.kind == VariableKind::Reference ||
                (var.kind == VariableKind::Resource && type(place).is_value());
  if (!rooted) fail(Diag::atomic_place, span, {op_spelling(op), hint});
}

LCPY_SHAPE(BufferReadShape) {
  Type t = element_buffer(b, op, args, 0, span);
  std::vector<ExprId> e = with_indices(b, args, t.rank(), span);
  return b.call_node(op, e, t.element(), span);
}

LCPY_SHAPE(BufferWriteShape) {
  Type t = element_buffer(b, op, args, 1, span);
  std::vector<ExprId> e = with_indices(b, args, t.rank(), span);
  e.push_back(b.f.convert(args.back(), t.element(), "an element", span));
  return b.call_node(op, e, Type(), span);
}

LCPY_SHAPE(BufferToUint) {
  b.need_count(op, args, 1, span);
  if (op == Op::ByteBufferSize) {
    byte_buffer(b, op, args[0], span);
  } else {
    b.buffer(op, args[0], span);
  }
  return b.call_node(op, args, Type::of(Scalar::UInt32), span);
}

LCPY_SHAPE(BufferToUlong) {
  b.need_count(op, args, 1, span);
  b.buffer(op, args[0], span);
  return b.call_node(op, args, Type::of(Scalar::UInt64), span);
}

LCPY_SHAPE(BufferExtentShape) {
  b.need_count(op, args, 2, span);
  b.buffer(op, args[0], span);
  ExprId axis = b.integer(args[1], "an axis", span);
  const ExprNode& n = b.node(axis);
  uint32_t rank = b.type(args[0]).rank();
  if (n.kind != ExprKind::Literal || n.value.u >= rank) {
    std::string shown = n.kind == ExprKind::Literal ? std::to_string(n.value.i) : "of a variable";
    fail(Diag::index_range, span,
         {shown, "the axes of " + type_spelling(b.type(args[0])), std::to_string(rank - 1)});
  }
  ExprId e[] = {args[0], axis};
  return b.call_node(op, e, Type::of(Scalar::UInt32), span);
}

LCPY_SHAPE(ByteReadShape) {
  b.need_count(op, args, 2, span);
  byte_buffer(b, op, args[0], span);
  if (!result.is_value()) b.wrong_operand(op, result, "name the type to read", span);
  ExprId e[] = {args[0], b.integer(args[1], "a byte offset", span)};
  return b.call_node(op, e, result, span);
}

LCPY_SHAPE(ByteWriteShape) {
  b.need_count(op, args, 3, span);
  byte_buffer(b, op, args[0], span);
  if (!b.type(args[2]).is_value()) b.wrong_operand(op, b.type(args[2]), "", span);
  ExprId e[] = {args[0], b.integer(args[1], "a byte offset", span), b.f.settle(args[2])};
  return b.call_node(op, e, Type(), span);
}

namespace {

void word_buffer(Build& b, Op op, ExprId a, Span span) {
  b.buffer(op, a, span);
  const Type t = b.type(a);
  if (t.element() != Type::of(Scalar::UInt32) || t.rank() != 1)
    b.wrong_operand(op, t, "it takes a buffer of uint", span);
}

}  // namespace

LCPY_SHAPE(PackShape) {
  b.need_count(op, args, 3, span);
  word_buffer(b, op, args[0], span);
  if (!b.type(args[2]).is_value()) b.wrong_operand(op, b.type(args[2]), "", span);
  ExprId e[] = {args[0], b.integer(args[1], "a word offset", span), b.f.settle(args[2])};
  return b.call_node(op, e, Type(), span);
}

LCPY_SHAPE(UnpackShape) {
  b.need_count(op, args, 2, span);
  word_buffer(b, op, args[0], span);
  if (!result.is_value()) b.wrong_operand(op, result, "name the type to read", span);
  ExprId e[] = {args[0], b.integer(args[1], "a word offset", span)};
  return b.call_node(op, e, result, span);
}

LCPY_SHAPE(AtomicLoadShape) { return atomic(b, op, args, 0, false, true, span); }
LCPY_SHAPE(AtomicStoreShape) { return atomic(b, op, args, 1, false, false, span); }
LCPY_SHAPE(AtomicNumber) { return atomic(b, op, args, 1, false, true, span); }
LCPY_SHAPE(AtomicInteger) { return atomic(b, op, args, 1, true, true, span); }
LCPY_SHAPE(AtomicCompare) { return atomic(b, op, args, 2, false, true, span); }

}  // namespace lcpy::ast
