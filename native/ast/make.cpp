// T(...): vectors from a splat, a truncation or a mix of lanes; matrices from columns; arrays and
// structs from their parts; zero. Also constants from bytes.
#include <algorithm>
#include <cstring>

#include "ast/shape.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

ExprId first_lanes(Build& b, ExprId v, uint32_t lanes, Span span) {
  return b.f.swizzle(v, std::string_view("xyzw").substr(0, lanes), span);
}

ExprId make_vector(Build& b, Type to, std::span<const ExprId> args, Span span) {
  if (args.size() == 1) {
    Type from = b.type(args[0]);
    if (from.is_vector() && from.lanes() > to.lanes()) {
      return b.f.cast(to, first_lanes(b, args[0], to.lanes(), span), span);
    }
    if (from.is_scalar() || (from.is_vector() && from.lanes() == to.lanes())) {
      return b.f.cast(to, args[0], span);
    }
  }
  uint32_t lanes = 0;
  for (ExprId e : args) {
    Type t = b.type(e);
    if (!t.is_lanes()) {
      fail(Diag::make_parts, span, {type_spelling(to), type_spelling(t), ""});
    }
    lanes += t.lanes();
  }
  if (lanes != to.lanes()) {
    fail(Diag::make_lanes, span,
         {type_spelling(to), std::to_string(to.lanes()), std::to_string(lanes)});
  }
  std::array<ExprId, 4> parts;
  for (size_t i = 0; i < args.size(); ++i) {
    Type t = b.type(args[i]);
    bool same = t.scalar() == to.scalar() && !b.is_weak(args[i]);
    parts[i] = same ? args[i] : b.f.cast(t.with_scalar(to.scalar()), args[i], span);
  }
  return b.call_node(Op::Make, {parts.data(), args.size()}, to, span);
}

ExprId make_matrix(Build& b, Type to, std::span<const ExprId> args, Span span) {
  if (args.size() == 1 && b.type(args[0]).is_matrix()) return b.f.cast(to, args[0], span);
  std::string n = std::to_string(to.lanes());
  std::string hint = "give " + n + " columns of " + n + " lanes, or use from_rows";
  for (ExprId e : args) {
    Type t = b.type(e);
    if (args.size() != to.lanes() || !t.is_vector() || t.lanes() != to.lanes()) {
      fail(Diag::make_parts, span, {type_spelling(to), type_spelling(t), hint});
    }
  }
  std::array<ExprId, 4> columns;
  for (size_t i = 0; i < args.size(); ++i) {
    bool same = b.type(args[i]) == to.element();
    columns[i] = same ? args[i] : b.f.cast(to.element(), args[i], span);
  }
  return b.call_node(Op::Make, {columns.data(), args.size()}, to, span);
}

ExprId make_aggregate(Build& b, Type to, std::span<const ExprId> args, Span span) {
  if (args.size() == 1 && b.type(args[0]) == to) return b.f.cast(to, args[0], span);
  if (args.size() != to.count()) {
    fail(Diag::operand_count, span,
         {type_spelling(to), std::to_string(to.count()), std::to_string(args.size())});
  }
  std::vector<ExprId> parts(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    std::string what = (to.is_array() ? "element " : "member ") + std::to_string(i);
    parts[i] = b.f.convert(args[i], to.component(i), what, span);
  }
  return b.call_node(Op::MakeStruct, parts, to, span);
}

// Padding becomes zero and bools 0 or 1, so that equal constants have equal bytes.
void canonical(Type t, const std::byte* from, std::byte* to) {
  if (t.is_scalar()) {
    if (t.is_bool()) {
      *to = *from != std::byte{} ? std::byte{1} : std::byte{};
    } else {
      std::memcpy(to, from, t.size());
    }
    return;
  }
  bool flat = t.is_array() && t.element().is_scalar() && !t.element().is_bool();
  if (flat) {
    std::memcpy(to, from, t.size());
    return;
  }
  for (uint64_t i = 0; i < t.count(); ++i) {
    uint64_t at = t.offset(i);
    canonical(t.component(i), from + at, to + at);
  }
}

}  // namespace

ExprId FunctionBuilder::make(Type to, std::span<const ExprId> args, Span span) {
  Build build(*this);
  build.check_open();
  build.check(args, span);
  if (!to.is_value()) fail(Diag::make_parts, span, {type_spelling(to), "values", ""});
  for (ExprId e : args) {
    if (build.type(e).is_void()) fail(Diag::no_value, span, {type_spelling(to) + "(…)"});
  }
  if (args.empty()) return build.call_node(Op::Zero, args, to, span);
  switch (to.tag()) {
    case TypeTag::Vector:
      return make_vector(build, to, args, span);
    case TypeTag::Matrix:
      return make_matrix(build, to, args, span);
    case TypeTag::Array:
    case TypeTag::Struct:
      return make_aggregate(build, to, args, span);
    default:
      if (args.size() != 1) {
        fail(Diag::operand_count, span, {type_spelling(to), "1", std::to_string(args.size())});
      }
      return cast(to, args[0], span);
  }
}

ExprId FunctionBuilder::from_rows(Type matrix, std::span<const ExprId> rows, Span span) {
  Build build(*this);
  if (!matrix.is_matrix() || rows.size() != matrix.lanes()) {
    fail(Diag::make_parts, span,
         {type_spelling(matrix), std::to_string(rows.size()) + " rows", ""});
  }
  ExprId columns = make(matrix, rows, span);
  return build.call_node(Op::Transpose, {&columns, 1}, matrix, span);
}

ExprId FunctionBuilder::constant(Type type, std::span<const std::byte> bytes, Span span) {
  Build build(*this);
  build.check_open();
  if (!type.is_value() || bytes.size() != type.size()) {
    throw ArgumentError("constant of " + type.description() + ": " + std::to_string(bytes.size()) +
                        " bytes given, " + std::to_string(type.size()) + " needed");
  }
  ExprNode n;
  n.kind = ExprKind::Constant;
  n.type = type;
  n.span = span;
  size_t at = (constant_data_.size() + type.align() - 1) / type.align() * type.align();
  constant_data_.resize(at + bytes.size());
  canonical(type, bytes.data(), constant_data_.data() + at);
  n.index = static_cast<uint32_t>(at);
  return build.add(n);
}

LCPY_SHAPE(MakeShape) {
  (void)op;
  return b.f.make(result, args, span);
}

LCPY_SHAPE(MakeStructShape) {
  (void)op;
  return b.f.make(result, args, span);
}

LCPY_SHAPE(ZeroShape) {
  b.need_count(op, args, 0, span);
  if (!result.is_value()) fail(Diag::make_parts, span, {type_spelling(result), "nothing", ""});
  return b.call_node(op, args, result, span);
}

}  // namespace lcpy::ast
