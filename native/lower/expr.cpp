// Expressions: literals, operators, conversions, and what is evaluated only when needed.
#include "base/error.h"
#include "kernel/scalar_bits.h"
#include "lower/lowering.h"

namespace lcpy::lower {

ValueId FunctionLowering::value(ExprId e) {
  const ExprNode& n = f_.expr(e);
  if (e.value == shared_place_expr_) return read(*shared_place_, n.span);
  switch (n.kind) {
    case ExprKind::Literal:
      return literal(n);
    case ExprKind::Constant:
      return constant(e, n);
    case ExprKind::Ref:
      if (homes_[n.index].memory) return read(variable_place(n.index, n.span), n.span);
      return value_of(n.index, n.span);
    case ExprKind::Unary:
      return unary(n);
    case ExprKind::Binary:
      return binary(n);
    case ExprKind::Conditional:
      return conditional(n);
    case ExprKind::Member:
    case ExprKind::Swizzle:
    case ExprKind::Access:
      return read(place(e), n.span);
    case ExprKind::Call:
      return call(n);
    case ExprKind::CustomCall:
    case ExprKind::ExternalCall:
      return custom_call(n);
    case ExprKind::Cast: {
      const ValueId v = value(ExprId(n.a));
      b_.set_span(n.span);
      return convert(v, n.type);
    }
    case ExprKind::Bitcast: {
      const ValueId v = value(ExprId(n.a));
      b_.set_span(n.span);
      return d_.type_of(v) == n.type ? v : b_.emit(Op::Bitcast, n.type, {v});
    }
    case ExprKind::TypeIdExpr:
    case ExprKind::StringIdExpr:
      return b_.integer(n.type, n.value.u);
    case ExprKind::FuncRef:
      all_.fail_at(Diag::expression_unsupported, n.span, {"a reference to a function"});
    case ExprKind::CpuCustom:
      all_.fail_at(Diag::expression_unsupported, n.span, {"a host callback"});
    case ExprKind::GpuCustom:
      all_.fail_at(Diag::expression_unsupported, n.span, {"injected target text"});
  }
  throw BugError("an expression kind without lowering");
}

ValueId FunctionLowering::literal(const ExprNode& n) {
  if (n.type.is_float()) return b_.integer(n.type, scalar_bits(n.type.scalar(), n.value.f));
  return b_.integer(n.type, n.value.u);
}

// A table may be named many times; its bytes are looked at once.
ValueId FunctionLowering::constant(ExprId e, const ExprNode& n) {
  ValueId& known = constants_[e.value];
  if (!known) known = b_.constant(n.type, f_.constant_bytes(n));
  return known;
}

ValueId FunctionLowering::unary(const ExprNode& n) {
  const ValueId a = value(ExprId(n.a));
  b_.set_span(n.span);
  if (n.type.is_matrix() && op_row(n.op).category == OpCategory::Operator)
    return columns(n.op, n.type, a, {});
  return b_.emit(n.op, n.type, {a});
}

ValueId FunctionLowering::binary(const ExprNode& n) {
  if (n.op == Op::And || n.op == Op::Or) return short_circuit(n);
  const ValueId a = value(ExprId(n.a));
  const ValueId b = value(ExprId(n.b));
  b_.set_span(n.span);
  const bool compares = n.op >= Op::Less && n.op <= Op::NotEqual;
  if (compares && d_.type_of(a) != d_.type_of(b)) return compare_mixed(n, a, b);
  if (n.type.is_matrix() && n.op != Op::MatMul) return columns(n.op, n.type, a, b);
  return b_.emit(n.op, n.type, {a, b});
}

// Element-wise operations on matrices are made of their columns'; `b` may be none, or a scalar.
ValueId FunctionLowering::columns(Op op, Type type, ValueId a, ValueId b) {
  const Type column = type.element();
  auto part = [&](ValueId v, uint32_t i) {
    return d_.type_of(v).is_matrix() ? b_.extract(v, {i}) : splat(v, column);
  };
  ValueId parts[4];
  for (uint32_t i = 0; i < type.lanes(); i++) {
    const ValueId x = part(a, i);
    parts[i] = b ? b_.emit(op, column, {x, part(b, i)}) : b_.emit(op, column, {x});
  }
  return b_.construct(type, {parts, type.lanes()});
}

ValueId FunctionLowering::splat(ValueId scalar, Type vector) {
  if (d_.type_of(scalar) == vector) return scalar;
  ValueId parts[4] = {scalar, scalar, scalar, scalar};
  return b_.construct(vector, {parts, vector.lanes()});
}

// Signed with unsigned of equal width compares by value: a negative number is below every unsigned.
ValueId FunctionLowering::compare_mixed(const ExprNode& n, ValueId a, ValueId b) {
  Op op = n.op;
  if (d_.type_of(a).has_class(ScalarClass::Unsigned)) {
    std::swap(a, b);
    constexpr std::pair<Op, Op> kMirrored[] = {{Op::Less, Op::Greater},
                                               {Op::Greater, Op::Less},
                                               {Op::LessEqual, Op::GreaterEqual},
                                               {Op::GreaterEqual, Op::LessEqual}};
    for (auto [from, to] : kMirrored)
      if (op == from) {
        op = to;
        break;
      }
  }
  const Type s = d_.type_of(a), u = d_.type_of(b), r = n.type;
  LCPY_CHECK(s.has_class(ScalarClass::Signed) && u.has_class(ScalarClass::Unsigned) &&
             scalar_size(s.scalar()) == scalar_size(u.scalar()));
  const ValueId negative = b_.emit(Op::Less, r, {a, b_.zero(s)});
  const ValueId by_bits = b_.emit(op, r, {b_.emit(Op::Convert, u, {a}), b});
  if (op == Op::Less || op == Op::LessEqual || op == Op::NotEqual)
    return b_.emit(Op::BitOr, r, {negative, by_bits});
  return b_.emit(Op::BitAnd, r, {b_.emit(Op::BitNot, r, {negative}), by_bits});
}

ValueId FunctionLowering::convert(ValueId v, Type to) {
  const Type from = d_.type_of(v);
  if (from == to) return v;
  if (from.is_lanes() && to.is_lanes() && from.lanes() == to.lanes())
    return b_.emit(Op::Convert, to, {v});
  if (from.is_scalar() && to.is_vector()) return splat(convert(v, to.element()), to);
  LCPY_CHECK(from.is_matrix() && to.is_matrix() && from.lanes() == to.lanes());
  ValueId parts[4];
  for (uint32_t i = 0; i < to.lanes(); i++) parts[i] = convert(b_.extract(v, {i}), to.element());
  return b_.construct(to, {parts, to.lanes()});
}

ValueId FunctionLowering::index_value(ExprId e) {
  const ValueId v = value(e);
  const Type t = d_.type_of(v);
  if (scalar_size(t.scalar()) >= 4) return v;
  return convert(v, Type::of(t.has_class(ScalarClass::Signed) ? Scalar::Int32 : Scalar::UInt32));
}

// ---- evaluated when needed
// ----------------------------------------------------------------------------

uint32_t FunctionLowering::temporary(Type type) {
  types_.push_back(type);
  homes_.emplace_back();
  current_.push_back(kUnassigned);
  unassigned_.emplace_back();
  seen_.push_back(0);
  slot_of_variable_.push_back(0);
  return static_cast<uint32_t>(types_.size() - 1);
}

template <class First, class Second>
ValueId FunctionLowering::choose(ValueId condition, Type type, Span span, First&& first,
                                 Second&& second) {
  const uint32_t t = temporary(type);
  Arm arms[2];
  arms[0] = arm([&] {
    assign(t, first().value);
    return true;
  });
  arms[1] = arm([&] {
    assign(t, second().value);
    return true;
  });
  const Operand operands[] = {Operand::of(condition), Operand::of(arms[0].body),
                              Operand::of(arms[1].body)};
  merge(Op::If, operands, arms, 0, span);
  const ValueId chosen(current_[t]);
  current_[t] = kUnassigned;  // it is nobody's variable: later merges must not carry it
  return chosen;
}

namespace {

constexpr int kCheap = 6;  // operations that cost less than a branch

// Builtins that cost about one operation.
constexpr Op kCheapCalls[] = {Op::Min,      Op::Max,     Op::Abs,         Op::Select,
                              Op::Floor,    Op::IsNan,   Op::IsInf,       Op::DispatchId,
                              Op::ThreadId, Op::BlockId, Op::DispatchSize};

}  // namespace

// Whether evaluating e needlessly does no harm: it reads no memory that could be out of range,
// has no effect, and costs little.
bool FunctionLowering::is_cheap(ExprId e, int& budget) const {
  const ExprNode& n = f_.expr(e);
  if (e.value == shared_place_expr_) return false;
  switch (n.kind) {
    case ExprKind::Literal:
      return true;
    case ExprKind::Constant:
      return n.type.is_basic();
    case ExprKind::Ref: {
      if (current_[n.index] == kUnassigned) return false;
      return !homes_[n.index].memory ||
             d_.slot(homes_[n.index].slot).memory == MemoryClass::Uniform;
    }
    case ExprKind::Member:
    case ExprKind::Swizzle:
      return is_cheap(ExprId(n.a), budget);
    case ExprKind::Access: {
      uint64_t ignored;
      if (f_.expr(ExprId(n.a)).type.is_buffer()) return false;
      for (ExprId x : f_.args_of(n))
        if (!constant_integer(f_, x, ignored)) return false;
      return is_cheap(ExprId(n.a), budget);
    }
    case ExprKind::Cast:
    case ExprKind::Bitcast:
    case ExprKind::Unary:
      return n.type.is_lanes() && --budget >= 0 && is_cheap(ExprId(n.a), budget);
    case ExprKind::Binary: {
      const bool divides = n.op >= Op::FloorDiv && n.op <= Op::TruncRem && n.type.is_integer();
      budget -= divides ? 4 : 1;
      return n.type.is_lanes() && n.op != Op::MatMul && n.op != Op::PowInt && budget >= 0 &&
             is_cheap(ExprId(n.a), budget) && is_cheap(ExprId(n.b), budget);
    }
    case ExprKind::Call: {
      bool listed = false;
      for (Op op : kCheapCalls) listed |= op == n.op;
      if (!listed || --budget < 0) return false;
      for (ExprId x : f_.args_of(n))
        if (!is_cheap(x, budget)) return false;
      return true;
    }
    default:
      return false;
  }
}

ValueId FunctionLowering::short_circuit(const ExprNode& n) {
  const bool is_and = n.op == Op::And;
  const ValueId a = value(ExprId(n.a));
  int budget = kCheap;
  if (is_cheap(ExprId(n.b), budget)) {
    const ValueId b = value(ExprId(n.b));
    b_.set_span(n.span);
    return b_.emit(is_and ? Op::BitAnd : Op::BitOr, n.type, {a, b});
  }
  auto right = [&] { return value(ExprId(n.b)); };
  auto decided = [&] { return b_.boolean(!is_and); };
  return is_and ? choose(a, n.type, n.span, right, decided)
                : choose(a, n.type, n.span, decided, right);
}

ValueId FunctionLowering::conditional(const ExprNode& n) {
  const ValueId condition = value(ExprId(n.a));
  int budget = kCheap;
  if (n.type.is_lanes() && is_cheap(ExprId(n.b), budget) && is_cheap(ExprId(n.c), budget)) {
    const ValueId b = value(ExprId(n.b));
    const ValueId c = value(ExprId(n.c));
    b_.set_span(n.span);
    return b_.emit(Op::Select, n.type, {condition, b, c});
  }
  return choose(
      condition, n.type, n.span, [&] { return value(ExprId(n.b)); },
      [&] { return value(ExprId(n.c)); });
}

}  // namespace lcpy::lower
