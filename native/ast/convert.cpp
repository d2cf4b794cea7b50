// Which types meet and what converts: promotion in operators, the exact conversions that
// assignments make by themselves, and the explicit ones.
#include <algorithm>

#include "ast/build.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

// Bits of an integer's magnitude, and of a float's significand.
uint32_t magnitude_bits(Scalar s) { return scalar_size(s) * 8 - (is_signed(s) ? 1 : 0); }
uint32_t significand_bits(Scalar s) {
  switch (s) {
    case Scalar::Float16:
      return 11;
    case Scalar::Float32:
      return 24;
    case Scalar::Float64:
      return 53;
    default:
      return 0;
  }
}

std::string cast_spelling(Type to) { return type_spelling(to); }

Scalar widest(Scalar a, Scalar b) { return scalar_size(a) >= scalar_size(b) ? a : b; }

}  // namespace

bool is_exact(Scalar from, Scalar to) {
  if (from == to) return true;
  ScalarClass f = scalar_class(from), t = scalar_class(to);
  if (is_int(from)) {
    if (t == ScalarClass::Float) return magnitude_bits(from) <= significand_bits(to);
    if (!is_int(to) || (is_signed(from) && !is_signed(to))) return false;
    return magnitude_bits(from) <= magnitude_bits(to) && scalar_size(from) < scalar_size(to);
  }
  if (f == ScalarClass::Float) {
    return t == ScalarClass::Float && scalar_size(from) < scalar_size(to);
  }
  if (f != ScalarClass::Storage || t != ScalarClass::Float) return false;
  // float8 values are all halves; bfloat16 has the exponents of float32.
  return from == Scalar::BFloat16 ? scalar_size(to) >= 4 : true;
}

bool join(Scalar a, Scalar b, Scalar& out) {
  bool fa = scalar_class(a) == ScalarClass::Float, fb = scalar_class(b) == ScalarClass::Float;
  if (fa != fb) {
    out = fa ? a : b;
    return true;
  }
  out = widest(a, b);
  return fa || is_signed(a) == is_signed(b) || scalar_size(a) != scalar_size(b);
}

Scalar float_beside(Scalar s) { return scalar_size(s) == 8 ? Scalar::Float64 : Scalar::Float32; }

Scalar signed_of(uint32_t bytes) {
  return bytes == 1   ? Scalar::Int8
         : bytes == 2 ? Scalar::Int16
         : bytes == 4 ? Scalar::Int32
                      : Scalar::Int64;
}
Scalar unsigned_of(uint32_t bytes) {
  return bytes == 1   ? Scalar::UInt8
         : bytes == 2 ? Scalar::UInt16
         : bytes == 4 ? Scalar::UInt32
                      : Scalar::UInt64;
}

Scalar Build::common_scalar(std::string_view what, std::span<const ExprId> args, bool bools,
                            Span span) {
  Scalar common = Scalar::Bool;
  bool have = false, float_literal = false, bool_seen = false, number_seen = false;
  auto meet = [&](Scalar s) {
    Scalar joined = s;
    if (have && !join(common, s, joined)) {
      fail(Diag::sign_mix, span, {what, scalar_name(common), scalar_name(s)});
    }
    common = joined;
    have = true;
  };
  for (ExprId e : args) {
    const ExprNode& n = node(e);
    Scalar s = scalar_of(n.type);
    if (s == Scalar::Bool) {
      bool_seen = true;
    } else {
      number_seen = true;
      if (scalar_class(s) == ScalarClass::Storage) {
        fail(Diag::operand_type, span,
             {what, scalar_name(s), "it is for storage only; convert it: lc.float(x)"});
      }
      if (n.weak == WeakKind::None) meet(s);
      if (n.weak == WeakKind::Float) float_literal = true;
    }
  }
  if (bool_seen && (number_seen || !bools)) fail(Diag::bool_arithmetic, span, {what});
  if (bool_seen) return Scalar::Bool;
  if (!have) {
    // Literals alone. Beside a float literal the integers are float32 too.
    if (float_literal) return Scalar::Float32;
    for (ExprId e : args) meet(scalar_of(type(e)));
    return common;
  }
  if (float_literal && is_int(common)) return float_beside(common);
  return common;
}

ExprId Build::fit(ExprId a, Scalar s, uint32_t lanes, Span span) {
  const ExprNode& n = node(a);
  if (n.weak != WeakKind::None) {
    a = adapt(a, s, span);
  } else if (scalar_of(n.type) != s) {
    a = cast_node(n.type.with_scalar(s), a, span);
  }
  return lanes > 1 && type(a).lanes() == 1 ? splat(a, lanes, span) : a;
}

Type Build::unify(Op op, std::span<ExprId> args, Want want, Span span) {
  uint32_t lanes = 1;
  Type widest_type;
  for (ExprId e : args) {
    Type t = type(e);
    if (!t.is_lanes()) wrong_operand(op, t, "", span);
    if (t.lanes() == 1) continue;
    if (lanes != 1 && lanes != t.lanes()) {
      fail(Diag::lanes_differ, span,
           {op_spelling(op), type_spelling(widest_type), type_spelling(t)});
    }
    lanes = t.lanes();
    widest_type = t;
  }
  Scalar s = common_scalar(op_spelling(op), args, want == Want::Bits, span);
  if (want == Want::Float && is_int(s)) {
    bool literals = std::all_of(args.begin(), args.end(), [&](ExprId e) { return is_weak(e); });
    if (!literals && !is_exact(s, Scalar::Float32)) {
      wrong_operand(op, Type::of(s),
                    "convert it: lc." + std::string(scalar_name(float_beside(s))) + "(x)", span);
    }
    s = Scalar::Float32;
  }
  if ((want == Want::Integer || want == Want::Bits) && scalar_class(s) == ScalarClass::Float) {
    wrong_operand(op, Type::of(s), "convert it to an integer: lc.int(x)", span);
  }
  for (ExprId& e : args) e = fit(e, s, lanes, span);
  return lanes == 1 ? Type::of(s) : Type::vector(s, lanes);
}

ExprId Build::condition(ExprId a, Span span) {
  Type t = type(a);
  if (t.is_bool()) return is_weak(a) ? typed_bool(node(a).value.u != 0, span) : a;
  std::string_view hint = "compare it, for example x != 0";
  if (t.has_class(ScalarClass::Bool)) hint = "say which lanes: lc.all(x) or lc.any(x)";
  if (t.is_void()) hint = "";
  fail(Diag::condition_type, span, {type_spelling(t), hint});
}

ExprId Build::integer(ExprId a, std::string_view what, Span span) {
  Type t = type(a);
  if (!t.is_scalar() || !t.is_integer()) {
    fail(Diag::not_integer, span, {what, type_spelling(t)});
  }
  return f.settle(a);
}

ExprId FunctionBuilder::convert(ExprId a, Type to, std::string_view what, Span span) {
  Build build(*this);
  build.check_open();
  build.check(a, span);
  Type from = build.type(a);
  if (from.is_void()) fail(Diag::no_value, span, {what});
  bool lanes = from.is_lanes() && to.is_lanes() && from.lanes() == to.lanes();
  if (build.is_weak(a) && lanes) {
    const ExprNode& n = build.node(a);
    if (n.weak == WeakKind::Bool && !to.is_bool()) {
      fail(Diag::not_exact, span, {what, type_spelling(to), "bool"});
    }
    if (n.weak == WeakKind::Float && is_int(to.scalar())) {
      fail(Diag::not_exact, span, {what, type_spelling(to), "a float"});
    }
    if (n.weak == WeakKind::Bool || scalar_class(to.scalar()) != ScalarClass::Bool) {
      if (scalar_class(to.scalar()) == ScalarClass::Storage) {
        return build.cast_node(to, build.adapt(a, Scalar::Float32, span), span);
      }
      return build.adapt(a, to.scalar(), span);
    }
  }
  a = settle(a);
  if (from == to) return a;
  bool matrices = from.is_matrix() && to.is_matrix() && from.lanes() == to.lanes();
  if (!lanes && !matrices) {
    bool spreads = from.is_scalar() && to.is_vector();
    fail(Diag::wrong_type, span,
         {what, type_spelling(to), type_spelling(from),
          spreads ? "spread it: lc." + type_spelling(to) + "(x)" : ""});
  }
  if (!is_exact(from.scalar(), to.scalar())) {
    fail(Diag::not_exact, span, {what, cast_spelling(to), type_spelling(from)});
  }
  return build.cast_node(to, a, span);
}

ExprId FunctionBuilder::cast(Type to, ExprId a, Span span) {
  Build build(*this);
  build.check_open();
  build.check(a, span);
  Type from = build.type(a);
  if (from.is_void()) fail(Diag::no_value, span, {type_spelling(to) + "(…)"});
  if (build.is_weak(a) && to.is_lanes()) {
    Scalar s = to.scalar();
    ExprId scalar =
        scalar_class(s) == ScalarClass::Storage
            ? build.cast_node(Type::of(s), build.cast_literal(a, Scalar::Float32, span), span)
            : build.cast_literal(a, s, span);
    return to.is_vector() ? build.splat(scalar, to.lanes(), span) : scalar;
  }
  bool scalar_spreads = from.is_scalar() && to.is_vector();
  bool same_lanes = from.is_lanes() && to.is_lanes() && from.lanes() == to.lanes();
  bool matrices = from.is_matrix() && to.is_matrix() && from.lanes() == to.lanes();
  if (from == to && !to.is_resource()) {
    // Even then the value is a new one: T(x) is not a place.
    return is_place(a) ? build.cast_node(to, a, span) : a;
  }
  if (scalar_spreads) {
    ExprId scalar =
        from.scalar() == to.scalar() ? a : build.cast_node(Type::of(to.scalar()), a, span);
    return build.splat(scalar, to.lanes(), span);
  }
  if (!same_lanes && !matrices) {
    fail(Diag::cast_type, span, {type_spelling(from), type_spelling(to), ""});
  }
  return build.cast_node(to, a, span);
}

ExprId FunctionBuilder::bitcast(Type to, ExprId a, Span span) {
  Build build(*this);
  build.check_open();
  build.check(a, span);
  a = settle(a);
  Type from = build.type(a);
  auto numbers = [](Type t) {
    return t.is_lanes() && scalar_class(t.scalar()) != ScalarClass::Bool;
  };
  if (!numbers(from) || !numbers(to) || from.packed_size() != to.packed_size()) {
    fail(Diag::bitcast_size, span, {type_spelling(from), type_spelling(to)});
  }
  build.read(a);
  ExprNode n;
  n.kind = ExprKind::Bitcast;
  n.op = Op::Bitcast;
  n.type = to;
  n.span = span;
  n.a = a.value;
  return build.add(n);
}

Type FunctionBuilder::common_type(std::span<const ExprId> values, std::string_view what,
                                  Span span) {
  Build build(*this);
  build.check(values, span);
  if (values.empty()) throw ArgumentError("common_type of no values");
  Type first = build.type(values[0]);
  bool same = true, weak = false, lanes = true;
  for (ExprId e : values) {
    Type t = build.type(e);
    if (t.is_void()) fail(Diag::no_value, span, {what});
    same &= t == first;
    weak |= build.is_weak(e);
    lanes &= t.is_lanes() && t.lanes() == first.lanes();
  }
  if (same && !weak) return first;
  for (ExprId e : values) {
    Type t = build.type(e);
    bool bool_mix = t.is_lanes() && first.is_lanes() &&
                    (t.scalar() == Scalar::Bool) != (first.scalar() == Scalar::Bool);
    if (!lanes || bool_mix) {
      if (t == first) continue;
      fail(Diag::no_common_type, span, {what, type_spelling(first), type_spelling(t)});
    }
  }
  return first.with_scalar(build.common_scalar(what, values, true, span));
}

}  // namespace lcpy::ast
