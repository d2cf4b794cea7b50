// Literals: weak ones as Python numbers, and what they become when they meet a type.
#include <cmath>
#include <cstring>
#include <limits>

#include "ast/build.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

constexpr uint64_t kInt64Limit = 1ull << 63;

std::string print(WeakInt v) { return (v.negative ? "-" : "") + std::to_string(v.magnitude); }

std::string print(const Build& b, const ExprNode& n) {
  if (n.weak == WeakKind::Bool) return n.value.u ? "True" : "False";
  if (n.weak == WeakKind::Int) return print(b.weak_value(n));
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", n.value.f);
  return text;
}

bool fits(WeakInt v, Scalar s) {
  uint32_t bits = scalar_size(s) * 8;
  if (!is_signed(s)) return !v.negative && (bits == 64 || v.magnitude >> bits == 0);
  uint64_t limit = 1ull << (bits - 1);
  return v.negative ? v.magnitude <= limit : v.magnitude < limit;
}

Type stand_alone(WeakInt v) {
  if (fits(v, Scalar::Int32)) return Type::of(Scalar::Int32);
  return Type::of(fits(v, Scalar::Int64) ? Scalar::Int64 : Scalar::UInt64);
}

// To the nearest value of the float type, ties to even.
double round_float(Scalar s, double v) {
  if (s == Scalar::Float64) return v;
  if (s == Scalar::Float16) return round_to_half(v);
  return static_cast<double>(static_cast<float>(v));
}
double round_float(Scalar s, WeakInt v) {
  // 64-bit integers round once, from the integer; for half a double holds all that matters.
  double sign = v.negative ? -1.0 : 1.0;
  if (s == Scalar::Float32) return sign * static_cast<double>(static_cast<float>(v.magnitude));
  return round_float(s, sign * static_cast<double>(v.magnitude));
}

ExprNode literal_node(WeakKind weak, Type type, Span span) {
  ExprNode n;
  n.kind = ExprKind::Literal;
  n.weak = weak;
  n.type = type;
  n.span = span;
  return n;
}

// Bits of an integer in two's complement, cut to the width and extended by the type's sign.
uint64_t wrap(WeakInt v, Scalar s) {
  uint64_t bits = v.negative ? 0 - v.magnitude : v.magnitude;
  uint32_t width = scalar_size(s) * 8;
  if (width == 64) return bits;
  bits &= (1ull << width) - 1;
  if (is_signed(s) && bits >> (width - 1)) bits |= ~0ull << width;
  return bits;
}

}  // namespace

// Subnormals of half have the quantum 2^-24; every product by a power of two here is exact.
double round_to_half(double v) {
  if (!std::isfinite(v) || v == 0) return v;
  int exponent;
  std::frexp(v, &exponent);
  double quantum = std::ldexp(1.0, std::max(exponent - 11, -24));
  double r = std::nearbyint(v / quantum) * quantum;
  if (std::fabs(r) > 65504) return std::copysign(std::numeric_limits<double>::infinity(), v);
  return std::copysign(r, v);
}

void Build::out_of(const ExprNode& n, Scalar s, Span span) const {
  std::string text = print(*this, n), type(scalar_name(s));
  // T(literal) wraps integers; a float beyond the range it refuses too.
  bool wraps = n.weak == WeakKind::Int && is_int(s);
  fail(Diag::literal_range, span,
       {text, type,
        wraps ? "convert it with lc." + type + "(" + text + "), or use a wider type"
              : "use a wider type"});
}

ExprId Build::weak_int(WeakInt v, Span span) {
  if (v.negative && v.magnitude > kInt64Limit) fail(Diag::literal_too_large, span);
  if (v.magnitude == 0) v.negative = false;
  ExprNode n = literal_node(WeakKind::Int, stand_alone(v), span);
  n.value.u = v.negative ? 0 - v.magnitude : v.magnitude;
  n.is_unsigned = !v.negative && v.magnitude >= kInt64Limit;
  return add(n);
}

ExprId Build::weak_float(double v, Span span) {
  ExprNode n = literal_node(WeakKind::Float, Type::of(Scalar::Float32), span);
  n.value.f = v;
  return add(n);
}

ExprId Build::weak_bool(bool v, Span span) {
  ExprNode n = literal_node(WeakKind::Bool, Type::of(Scalar::Bool), span);
  n.value.u = v;
  return add(n);
}

WeakInt Build::weak_value(const ExprNode& n) const {
  if (n.is_unsigned || n.value.i >= 0) return {false, n.value.u};
  return {true, 0 - n.value.u};
}

double Build::weak_number(const ExprNode& n) const {
  if (n.weak == WeakKind::Float) return n.value.f;
  WeakInt v = weak_value(n);
  double magnitude = static_cast<double>(v.magnitude);
  return v.negative ? -magnitude : magnitude;
}

ExprId Build::typed_bool(bool v, Span span) {
  ExprNode n = literal_node(WeakKind::None, Type::of(Scalar::Bool), span);
  n.value.u = v;
  return add(n);
}

ExprId Build::typed_int(Scalar s, WeakInt v, Span span) {
  ExprNode n = literal_node(WeakKind::None, Type::of(s), span);
  n.value.u = wrap(v, s);
  return add(n);
}

ExprId Build::typed_float(Scalar s, double v, Span span) {
  ExprNode n = literal_node(WeakKind::None, Type::of(s), span);
  n.value.f = round_float(s, v);
  return add(n);
}

ExprId Build::adapt(ExprId weak, Scalar s, Span span) {
  const ExprNode n = node(weak);
  auto out_of_range = [&] { out_of(n, s, n.span.known() ? n.span : span); };
  if (n.weak == WeakKind::Bool) {
    if (s != Scalar::Bool) fail(Diag::wrong_type, span, {"the literal", "bool", scalar_name(s)});
    return typed_bool(n.value.u != 0, n.span);
  }
  if (is_int(s)) {
    if (n.weak == WeakKind::Float) {
      fail(Diag::not_exact, span, {"the operand", scalar_name(s), "a float literal"});
    }
    WeakInt v = weak_value(n);
    if (!fits(v, s)) out_of_range();
    return typed_int(s, v, n.span);
  }
  if (scalar_class(s) != ScalarClass::Float) {
    fail(Diag::wrong_type, span, {"the literal", "a number", scalar_name(s)});
  }
  bool whole = n.weak == WeakKind::Int;
  double r = whole ? round_float(s, weak_value(n)) : round_float(s, n.value.f);
  if (std::isinf(r) && (whole || std::isfinite(n.value.f))) out_of_range();
  return typed_float(s, r, n.span);
}

// T(literal): integers wrap, floats truncate, and a finite number beyond a float's range is
// refused.
ExprId Build::cast_literal(ExprId weak, Scalar s, Span span) {
  const ExprNode n = node(weak);
  if (s == Scalar::Bool) {
    bool v = n.weak == WeakKind::Float ? n.value.f != 0 : n.value.u != 0;
    return typed_bool(v, span);
  }
  if (n.weak == WeakKind::Bool) {
    if (is_int(s)) return typed_int(s, {false, n.value.u}, span);
    return typed_float(s, static_cast<double>(n.value.u), span);
  }
  if (!is_int(s)) return adapt(weak, s, span);
  if (n.weak == WeakKind::Int) return typed_int(s, weak_value(n), span);
  double whole = std::trunc(n.value.f);
  // Not finite: as the conversion of any float does, to the ends of the range and NaN to 0.
  if (std::isnan(whole)) return typed_int(s, {}, span);
  if (std::isinf(whole)) {
    uint64_t top = ~0ull >> (64 - scalar_size(s) * 8 + (is_signed(s) ? 1 : 0));
    if (whole > 0) return typed_int(s, {false, top}, span);
    return typed_int(s, is_signed(s) ? WeakInt{true, top + 1} : WeakInt{}, span);
  }
  bool representable = std::fabs(whole) < 18446744073709551616.0;
  WeakInt v{whole < 0, representable ? static_cast<uint64_t>(std::fabs(whole)) : 0};
  if (v.magnitude == 0) v.negative = false;
  if (!representable || !fits(v, s)) {
    out_of(n, s, span);
  }
  return typed_int(s, v, span);
}

// ---- public ----

ExprId FunctionBuilder::weak_bool(bool v, Span span) {
  Build build(*this);
  build.check_open();
  return build.weak_bool(v, span);
}

ExprId FunctionBuilder::weak_int(int64_t v, Span span) {
  Build build(*this);
  build.check_open();
  WeakInt w{v < 0, v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v)};
  return build.weak_int(w, span);
}

ExprId FunctionBuilder::weak_uint(uint64_t v, Span span) {
  Build build(*this);
  build.check_open();
  return build.weak_int({false, v}, span);
}

ExprId FunctionBuilder::weak_float(double v, Span span) {
  Build build(*this);
  build.check_open();
  return build.weak_float(v, span);
}

ExprId FunctionBuilder::settle(ExprId a) {
  Build build(*this);
  build.check(a, {});
  if (!build.is_weak(a)) return a;
  const ExprNode& n = build.node(a);
  return build.adapt(a, scalar_of(n.type), n.span);
}

ExprId FunctionBuilder::literal(Type type, const void* bytes, Span span) {
  Build build(*this);
  build.check_open();
  if (!type.is_scalar()) throw ArgumentError("literal: " + type.description() + " is not a scalar");
  Scalar s = type.scalar();
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, scalar_size(s));
  if (s == Scalar::Bool) return build.typed_bool(bits != 0, span);
  if (is_int(s)) return build.typed_int(s, {false, bits}, span);
  double value = 0;
  if (s == Scalar::Float32) {
    float narrow;
    std::memcpy(&narrow, bytes, sizeof narrow);
    value = narrow;
  } else if (s == Scalar::Float64) {
    std::memcpy(&value, bytes, sizeof value);
  } else if (s == Scalar::Float16) {
    int exponent = static_cast<int>(bits >> 10 & 31);
    double mantissa = static_cast<double>(bits & 1023);
    value = exponent == 0    ? std::ldexp(mantissa, -24)
            : exponent == 31 ? std::numeric_limits<double>::infinity()
                             : std::ldexp(mantissa + 1024, exponent - 25);
    if (exponent == 31 && mantissa != 0) value = std::numeric_limits<double>::quiet_NaN();
    if (bits >> 15) value = -value;
  }
  // A NaN's payload and a storage scalar's bits do not survive a double: those are constants.
  if (std::isnan(value) || scalar_class(s) == ScalarClass::Storage) {
    return constant(type, {static_cast<const std::byte*>(bytes), scalar_size(s)}, span);
  }
  return build.typed_float(s, value, span);
}

}  // namespace lcpy::ast
