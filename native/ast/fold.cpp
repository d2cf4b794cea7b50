// Arithmetic between weak literals, as Python does it: exact integers (to 64 bits), float64.
#include <cmath>
#include <optional>

#include "ast/build.h"

namespace lcpy::ast {
namespace {

// Sign and magnitude, so that nothing wider than 64 bits is needed. nullopt is overflow.
using Wide = std::optional<WeakInt>;

Wide normal(bool negative, uint64_t magnitude) {
  return WeakInt{negative && magnitude != 0, magnitude};
}

Wide sum(WeakInt a, WeakInt b) {
  if (a.negative == b.negative) {
    uint64_t sum = a.magnitude + b.magnitude;
    if (sum < a.magnitude) return std::nullopt;
    return normal(a.negative, sum);
  }
  if (a.magnitude >= b.magnitude) return normal(a.negative, a.magnitude - b.magnitude);
  return normal(b.negative, b.magnitude - a.magnitude);
}

WeakInt negate(WeakInt a) { return {!a.negative && a.magnitude != 0, a.magnitude}; }

Wide multiply(WeakInt a, WeakInt b) {
  if (a.magnitude != 0 && b.magnitude > ~0ull / a.magnitude) return std::nullopt;
  return normal(a.negative != b.negative, a.magnitude * b.magnitude);
}

Wide floor_divide(WeakInt a, WeakInt b) {
  uint64_t q = a.magnitude / b.magnitude;
  bool negative = a.negative != b.negative;
  if (negative && a.magnitude % b.magnitude != 0) ++q;
  return normal(negative, q);
}

Wide floor_modulo(WeakInt a, WeakInt b) {
  uint64_t r = a.magnitude % b.magnitude;
  if (r != 0 && a.negative != b.negative) r = b.magnitude - r;
  return normal(b.negative, r);
}

Wide power(WeakInt base, uint64_t exponent) {
  Wide result = WeakInt{false, 1};
  for (; exponent > 0 && result; exponent >>= 1) {
    if (exponent & 1) result = multiply(*result, base);
    if (exponent > 1) {
      Wide square = multiply(base, base);
      if (!square) return std::nullopt;
      base = *square;
    }
  }
  return result;
}

int compare(WeakInt a, WeakInt b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  if (a.magnitude == b.magnitude) return 0;
  return (a.magnitude < b.magnitude) != a.negative ? -1 : 1;
}

bool holds(Op op, int order) {
  switch (op) {
    case Op::Less:
      return order < 0;
    case Op::Greater:
      return order > 0;
    case Op::LessEqual:
      return order <= 0;
    case Op::GreaterEqual:
      return order >= 0;
    case Op::Equal:
      return order == 0;
    default:
      return order != 0;
  }
}

bool holds(Op op, double a, double b) {
  switch (op) {
    case Op::Less:
      return a < b;
    case Op::Greater:
      return a > b;
    case Op::LessEqual:
      return a <= b;
    case Op::GreaterEqual:
      return a >= b;
    case Op::Equal:
      return a == b;
    default:
      return a != b;
  }
}

double float_modulo(double a, double b) {
  double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (b < 0) != (r < 0) ? r + b : r;
}

double float_floor_divide(double a, double b) {
  double r = std::fmod(a, b);
  double q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return std::copysign(0.0, a / b);
  double whole = std::floor(q);
  return q - whole > 0.5 ? whole + 1 : whole;
}

bool is_comparison(Op op) { return op >= Op::Less && op <= Op::NotEqual; }

[[noreturn]] void refuse(Op op, std::string_view why, Span span) {
  fail(Diag::literal_operation, span, {op_spelling(op), why});
}

uint64_t to_bits(WeakInt v) { return v.negative ? 0 - v.magnitude : v.magnitude; }

// Two's complement of unlimited width, of which 64 bits and the sign are enough.
WeakInt bitwise(Op op, WeakInt a, WeakInt b, Span span) {
  bool wide = (!a.negative && a.magnitude >> 63) || (!b.negative && b.magnitude >> 63);
  if (wide && (a.negative || b.negative)) refuse(op, "it takes more than 64 bits", span);
  uint64_t x = to_bits(a), y = to_bits(b);
  uint64_t r = op == Op::BitAnd ? x & y : op == Op::BitOr ? x | y : x ^ y;
  bool negative = op == Op::BitAnd  ? a.negative && b.negative
                  : op == Op::BitOr ? a.negative || b.negative
                                    : a.negative != b.negative;
  return {negative && r != 0, negative ? 0 - r : r};
}

WeakInt shift(Op op, WeakInt a, WeakInt n, Span span) {
  if (n.negative) refuse(op, "the amount is negative", span);
  if (op == Op::Shr) {
    bool far = n.magnitude > 63;
    uint64_t m = a.magnitude;
    if (!a.negative) return {false, far ? 0 : m >> n.magnitude};
    uint64_t q = far ? 1 : ((m - 1) >> n.magnitude) + 1;  // rounds to minus infinity
    return {true, q};
  }
  bool lost = a.magnitude != 0 &&
              (n.magnitude > 63 || a.magnitude << n.magnitude >> n.magnitude != a.magnitude);
  if (lost) fail(Diag::literal_too_large, span);
  return {a.negative, n.magnitude > 63 ? 0 : a.magnitude << n.magnitude};
}

struct Folder {
  Build& b;
  Op op;
  Span span;

  ExprId whole(Wide v) const {
    if (!v) fail(Diag::literal_too_large, span);
    return b.weak_int(*v, span);
  }

  ExprId ints(WeakInt x, WeakInt y) const {
    if (is_comparison(op)) return b.weak_bool(holds(op, compare(x, y)), span);
    bool divides = op == Op::Div || op == Op::FloorDiv || op == Op::FloorMod ||
                   op == Op::TruncDiv || op == Op::TruncRem;
    if (divides && y.magnitude == 0) {
      fail(Diag::literal_zero_division, span, {op_spelling(op)});
    }
    switch (op) {
      case Op::Add:
        return whole(sum(x, y));
      case Op::Sub:
        return whole(sum(x, negate(y)));
      case Op::Mul:
        return whole(multiply(x, y));
      case Op::FloorDiv:
        return whole(floor_divide(x, y));
      case Op::FloorMod:
        return whole(floor_modulo(x, y));
      case Op::TruncDiv:
        return whole(normal(x.negative != y.negative, x.magnitude / y.magnitude));
      case Op::TruncRem:
        return whole(normal(x.negative, x.magnitude % y.magnitude));
      case Op::BitAnd:
      case Op::BitOr:
      case Op::BitXor:
        return b.weak_int(bitwise(op, x, y, span), span);
      case Op::Shl:
      case Op::Shr:
        return b.weak_int(shift(op, x, y, span), span);
      case Op::Pow:
        if (!y.negative) return whole(power(x, y.magnitude));
        break;
      case Op::Min:
        return b.weak_int(compare(x, y) <= 0 ? x : y, span);
      case Op::Max:
        return b.weak_int(compare(x, y) >= 0 ? x : y, span);
      default:
        break;
    }
    auto number = [](WeakInt v) {
      return (v.negative ? -1.0 : 1.0) * static_cast<double>(v.magnitude);
    };
    return floats(number(x), number(y));
  }

  ExprId floats(double x, double y) const {
    if (is_comparison(op)) return b.weak_bool(holds(op, x, y), span);
    bool divides = op == Op::Div || op == Op::FloorDiv || op == Op::FloorMod;
    if (divides && y == 0) fail(Diag::literal_zero_division, span, {op_spelling(op)});
    switch (op) {
      case Op::Add:
        return b.weak_float(x + y, span);
      case Op::Sub:
        return b.weak_float(x - y, span);
      case Op::Mul:
        return b.weak_float(x * y, span);
      case Op::Div:
        return b.weak_float(x / y, span);
      case Op::FloorDiv:
        return b.weak_float(float_floor_divide(x, y), span);
      case Op::FloorMod:
        return b.weak_float(float_modulo(x, y), span);
      case Op::Min:
        return b.weak_float(y < x || std::isnan(x) ? y : x, span);
      case Op::Max:
        return b.weak_float(y > x || std::isnan(x) ? y : x, span);
      case Op::Pow:
        if (x == 0 && y < 0) fail(Diag::literal_zero_division, span, {op_spelling(op)});
        if (x < 0 && std::isfinite(y) && y != std::floor(y)) {
          refuse(op, "a negative number to a fraction is not real", span);
        }
        return b.weak_float(std::pow(x, y), span);
      default:
        refuse(op, "it takes integers", span);
    }
  }

  ExprId bools(bool x, bool y) const {
    switch (op) {
      case Op::BitAnd:
      case Op::And:
        return b.weak_bool(x && y, span);
      case Op::BitOr:
      case Op::Or:
        return b.weak_bool(x || y, span);
      case Op::BitXor:
      case Op::NotEqual:
        return b.weak_bool(x != y, span);
      case Op::Equal:
        return b.weak_bool(x == y, span);
      default:
        fail(Diag::bool_arithmetic, span, {op_spelling(op)});
    }
  }
};

}  // namespace

ExprId Build::fold(Op op, ExprId a, ExprId b, Span span) {
  const ExprNode x = node(a), y = node(b);
  Folder folder{*this, op, span};
  if (x.weak == WeakKind::Bool && y.weak == WeakKind::Bool) {
    return folder.bools(x.value.u != 0, y.value.u != 0);
  }
  if (x.weak == WeakKind::Bool || y.weak == WeakKind::Bool || op == Op::And || op == Op::Or) {
    Diag code = op == Op::And || op == Op::Or ? Diag::bool_operator : Diag::bool_arithmetic;
    fail(code, span, {op_spelling(op), "a number", "compare it, for example x != 0"});
  }
  if (x.weak == WeakKind::Int && y.weak == WeakKind::Int) {
    return folder.ints(weak_value(x), weak_value(y));
  }
  return folder.floats(weak_number(x), weak_number(y));
}

ExprId Build::fold(Op op, ExprId a, Span span) {
  const ExprNode x = node(a);
  if (op == Op::Not) {
    if (x.weak == WeakKind::Bool) return weak_bool(x.value.u == 0, span);
    fail(Diag::bool_operator, span,
         {op_spelling(op), "a number", "compare it, for example x != 0"});
  }
  if (x.weak == WeakKind::Bool) {
    if (op == Op::BitNot) return weak_bool(x.value.u == 0, span);
    fail(Diag::bool_arithmetic, span, {op_spelling(op)});
  }
  if (op == Op::Neg) {
    if (x.weak == WeakKind::Float) return weak_float(-x.value.f, span);
    return weak_int(negate(weak_value(x)), span);
  }
  if (op == Op::BitNot && x.weak == WeakKind::Int) {
    Wide v = sum(negate(weak_value(x)), {true, 1});
    if (!v) fail(Diag::literal_too_large, span);
    return weak_int(*v, span);
  }
  refuse(op, "it takes an integer", span);
}

}  // namespace lcpy::ast
