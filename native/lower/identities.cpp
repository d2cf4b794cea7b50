// Identities of arithmetic, bits, comparison, choice and conversion. Each row of the table names
// the function that knows an operation's identities.
#include "lower/identities.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernel/scalar_bits.h"
#include "kernel/semantics.h"

namespace lcpy::lower {
namespace {

// What an identity looks at.
struct Subject {
  KernelDescriptor& d;
  KernelBuilder& b;
  const Operation& o;
  Type type() const { return d.type_of(o.first_result); }
  ValueId operand(uint32_t i) const { return d.operands_of(o)[i].value(); }
  const Operation* source(ValueId v) const {
    return d.values[v.value].def == Value::Def::Result ? &d.op(OpId(d.values[v.value].source))
                                                       : nullptr;
  }
  // The operand of v's operation if that is the single-operand `op`.
  ValueId under(Op op, ValueId v) const {
    const Operation* s = source(v);
    return s && s->op == op ? d.operands_of(*s)[0].value() : ValueId();
  }
};

// The scalar that all lanes of a constant hold.
bool splat_bits(const KernelDescriptor& d, ValueId v, uint64_t& bits) {
  if (!d.is_constant(v)) return false;
  const Type t = d.type_of(v);
  if (!t.is_lanes()) return false;
  const auto bytes = d.constant_bytes(v);
  const uint32_t size = scalar_size(t.scalar());
  bits = 0;
  std::memcpy(&bits, bytes.data(), size);
  for (uint32_t i = 1; i < t.lanes(); i++)
    if (std::memcmp(bytes.data(), bytes.data() + i * size, size) != 0) return false;
  return true;
}
bool is_splat(const KernelDescriptor& d, ValueId v, uint64_t wanted) {
  uint64_t bits;
  return splat_bits(d, v, bits) && bits == wanted;
}
uint64_t ones(Type t) {
  if (t.has_class(ScalarClass::Bool)) return 1;
  const uint32_t size = scalar_size(t.scalar());
  return size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
}
bool is_number(const Subject& s, ValueId v, double x) {
  const Type t = s.d.type_of(v);
  return t.is_lanes() && is_splat(s.d, v, scalar_bits(t.scalar(), x));
}
bool is_power_of_two(uint64_t n) { return n && !(n & (n - 1)); }
// A power of two among positive constants of an integer type.
bool positive_power(const Subject& s, ValueId v, uint32_t& shift) {
  uint64_t bits;
  const Type t = s.d.type_of(v);
  if (!splat_bits(s.d, v, bits) || !is_power_of_two(bits)) return false;
  shift = static_cast<uint32_t>(std::countr_zero(bits));
  return !(t.has_class(ScalarClass::Signed) && shift + 1 == 8 * scalar_size(t.scalar()));
}

ValueId add(const Subject& s) {
  for (int k = 0; k < 2; k++) {
    const ValueId x = s.operand(k), y = s.operand(1 - k);
    // Floats: only -0.0 is neutral for every x, -0.0 among them.
    if (is_number(s, y, s.type().is_float() ? -0.0 : 0.0)) return x;
  }
  return {};
}
ValueId sub(const Subject& s) {
  const ValueId x = s.operand(0), y = s.operand(1);
  if (is_number(s, y, 0.0)) return x;
  if (s.type().is_integer() && x == y) return s.b.zero(s.type());
  if (s.type().is_integer() && is_number(s, x, 0)) return s.b.emit(Op::Neg, s.type(), {y});
  return {};
}
ValueId mul(const Subject& s) {
  for (int k = 0; k < 2; k++) {
    const ValueId x = s.operand(k), y = s.operand(1 - k);
    if (is_number(s, y, 1)) return x;
    if (s.type().is_integer() && is_number(s, y, 0)) return y;
  }
  return {};
}
// By a power of two whose inverse is normal: multiplying gives the same bits and costs less.
ValueId divide(const Subject& s) {
  const ValueId x = s.operand(0), y = s.operand(1);
  if (is_number(s, y, 1)) return x;
  uint64_t bits;
  const Scalar k = s.type().scalar();
  if (!splat_bits(s.d, y, bits) || (k != Scalar::Float32 && k != Scalar::Float64)) return {};
  const double v = k == Scalar::Float32 ? double(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                                        : std::bit_cast<double>(bits);
  int exponent = 0;
  const int most = k == Scalar::Float32 ? 120 : 1000;
  if (!std::isfinite(v) || std::fabs(std::frexp(v, &exponent)) != 0.5 || std::abs(exponent) > most)
    return {};
  return s.b.emit(Op::Mul, s.type(), {x, s.b.splat(s.type(), 1 / v)});
}
// Floor division and modulo by 2^n are a shift and a mask, of negative numbers too.
ValueId floor_divide(const Subject& s) {
  uint32_t shift;
  if (!s.type().is_integer()) return {};
  const ValueId x = s.operand(0), y = s.operand(1);
  if (positive_power(s, y, shift))
    return shift ? s.b.emit(Op::ShrUnchecked, s.type(), {x, s.b.integer(s.type(), shift)}) : x;
  uint64_t bits;
  const bool is_unsigned = s.type().has_class(ScalarClass::Unsigned);
  if (is_unsigned && splat_bits(s.d, y, bits) && bits)
    return s.b.emit(Op::DivUnchecked, s.type(), {x, y});
  return {};
}
ValueId floor_modulo(const Subject& s) {
  uint32_t shift;
  if (!s.type().is_integer()) return {};
  const ValueId x = s.operand(0), y = s.operand(1);
  if (positive_power(s, y, shift))
    return s.b.emit(Op::BitAnd, s.type(), {x, s.b.integer(s.type(), (1ull << shift) - 1)});
  uint64_t bits;
  const bool is_unsigned = s.type().has_class(ScalarClass::Unsigned);
  if (is_unsigned && splat_bits(s.d, y, bits) && bits)
    return s.b.emit(Op::RemUnchecked, s.type(), {x, y});
  return {};
}
// By a constant that is neither 0 nor -1 the quotient needs no care.
ValueId truncating(const Subject& s) {
  const ValueId x = s.operand(0), y = s.operand(1);
  const bool is_unsigned = s.type().has_class(ScalarClass::Unsigned),
             divides = s.o.op == Op::TruncDiv;
  if (is_unsigned) return divides ? floor_divide(s) : floor_modulo(s);
  uint64_t bits;
  if (divides && is_number(s, y, 1)) return x;
  if (!splat_bits(s.d, y, bits) || bits == 0 || bits == ones(s.type())) return {};
  return s.b.emit(divides ? Op::DivUnchecked : Op::RemUnchecked, s.type(), {x, y});
}
ValueId bit_and(const Subject& s) {
  for (int k = 0; k < 2; k++) {
    const ValueId x = s.operand(k), y = s.operand(1 - k);
    if (x == y || is_splat(s.d, y, ones(s.type()))) return x;
    if (is_splat(s.d, y, 0)) return y;
  }
  return {};
}
ValueId bit_or(const Subject& s) {
  for (int k = 0; k < 2; k++) {
    const ValueId x = s.operand(k), y = s.operand(1 - k);
    if (x == y || is_splat(s.d, y, 0)) return x;
    if (is_splat(s.d, y, ones(s.type()))) return y;
  }
  return {};
}
ValueId bit_xor(const Subject& s) {
  for (int k = 0; k < 2; k++) {
    const ValueId x = s.operand(k), y = s.operand(1 - k);
    if (is_splat(s.d, y, 0)) return x;
    if (x == y) return s.b.zero(s.type());
    if (is_splat(s.d, y, ones(s.type()))) return s.b.emit(Op::BitNot, s.type(), {x});
  }
  return {};
}
// The amount is taken modulo the width; a known one needs no mask.
ValueId shift(const Subject& s) {
  uint64_t bits;
  if (!splat_bits(s.d, s.operand(1), bits)) return {};
  const uint64_t n = bits & (8 * scalar_size(s.type().scalar()) - 1);
  if (n == 0) return s.operand(0);
  if (s.o.op == Op::RotateLeft || s.o.op == Op::RotateRight) return {};
  const Op op = s.o.op == Op::Shl ? Op::ShlUnchecked : Op::ShrUnchecked;
  return s.b.emit(op, s.type(), {s.operand(0), s.b.integer(s.type(), n)});
}
ValueId twice(const Subject& s) { return s.under(s.o.op, s.operand(0)); }
// Of a bool, a comparison may be turned round: = and != on anything, the others on integers, since
// with a NaN neither x < y nor x >= y.
ValueId bit_not(const Subject& s) {
  if (const ValueId x = s.under(s.o.op, s.operand(0))) return x;
  const Operation* c = s.source(s.operand(0));
  if (!c || !s.type().has_class(ScalarClass::Bool)) return {};
  constexpr std::pair<Op, Op> kOpposites[] = {
      {Op::Equal, Op::NotEqual},    {Op::NotEqual, Op::Equal},    {Op::Less, Op::GreaterEqual},
      {Op::GreaterEqual, Op::Less}, {Op::Greater, Op::LessEqual}, {Op::LessEqual, Op::Greater}};
  for (auto [from, to] : kOpposites) {
    if (c->op != from) continue;
    const ValueId x = s.d.operands_of(*c)[0].value(), y = s.d.operands_of(*c)[1].value();
    const bool either = from == Op::Equal || from == Op::NotEqual || s.d.type_of(x).is_integer();
    return either ? s.b.emit(to, s.type(), {x, y}) : ValueId();
  }
  return {};
}
ValueId compare(const Subject& s) {
  const ValueId x = s.operand(0), y = s.operand(1);
  if (x != y || s.d.type_of(x).is_float()) return {};
  const bool holds = s.o.op == Op::Equal || s.o.op == Op::LessEqual || s.o.op == Op::GreaterEqual;
  return s.b.integer(s.type(), holds);
}
ValueId select(const Subject& s) {
  const ValueId c = s.operand(0), x = s.operand(1), y = s.operand(2);
  if (x == y) return x;
  uint64_t bits;
  if (splat_bits(s.d, c, bits)) return bits ? x : y;
  if (s.type().is_bool() && is_splat(s.d, x, 1) && is_splat(s.d, y, 0)) return c;
  return {};
}
ValueId same_operands(const Subject& s) {
  return s.operand(0) == s.operand(1) ? s.operand(0) : ValueId();
}
ValueId convert(const Subject& s) {
  return s.d.type_of(s.operand(0)) == s.type() ? s.operand(0) : ValueId();
}
ValueId bitcast(const Subject& s) {
  if (const ValueId same = convert(s)) return same;
  const ValueId inner = s.under(Op::Bitcast, s.operand(0));
  if (!inner) return {};
  return s.d.type_of(inner) == s.type() ? inner : s.b.emit(Op::Bitcast, s.type(), {inner});
}
ValueId lanes_of_scalar(const Subject& s) {
  return s.d.type_of(s.operand(0)).is_scalar() ? s.operand(0) : ValueId();
}
ValueId components(const Subject& s) { return simplify_components(s.d, s.b, s.o); }

using Identity = ValueId (*)(const Subject&);
constexpr std::pair<Op, Identity> kIdentities[] = {
    {Op::Add, add},
    {Op::Sub, sub},
    {Op::Mul, mul},
    {Op::Div, divide},
    {Op::FloorDiv, floor_divide},
    {Op::FloorMod, floor_modulo},
    {Op::TruncDiv, truncating},
    {Op::TruncRem, truncating},
    {Op::BitAnd, bit_and},
    {Op::BitOr, bit_or},
    {Op::BitXor, bit_xor},
    {Op::Shl, shift},
    {Op::Shr, shift},
    {Op::RotateLeft, shift},
    {Op::RotateRight, shift},
    {Op::Neg, twice},
    {Op::Not, bit_not},
    {Op::BitNot, bit_not},
    {Op::Less, compare},
    {Op::LessEqual, compare},
    {Op::Greater, compare},
    {Op::GreaterEqual, compare},
    {Op::Equal, compare},
    {Op::NotEqual, compare},
    {Op::Select, select},
    {Op::Min, same_operands},
    {Op::Max, same_operands},
    {Op::Convert, convert},
    {Op::Bitcast, bitcast},
    {Op::All, lanes_of_scalar},
    {Op::Any, lanes_of_scalar},
    {Op::Transpose, twice},
    {Op::ReverseBits, twice},
    {Op::Extract, components},
    {Op::Insert, components},
    {Op::Construct, components},
    {Op::Shuffle, components},
};
constexpr auto kTable = [] {
  std::array<Identity, kOpCount> table{};
  for (auto [op, identity] : kIdentities) table[static_cast<size_t>(op)] = identity;
  return table;
}();

}  // namespace

ValueId simplify_operation(KernelDescriptor& d, KernelBuilder& b, const Operation& o) {
  const Identity identity = kTable[static_cast<size_t>(o.op)];
  if (!identity) return {};
  // The operation is copied: what an identity appends may move the vector that it stands in.
  const Operation copy = o;
  return identity({d, b, copy});
}

}  // namespace lcpy::lower
