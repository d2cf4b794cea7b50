// Bits of scalars made from doubles.
#include "kernel/scalar_bits.h"

#include <bit>
#include <cmath>

#include "base/error.h"

namespace lcpy {

uint16_t half_bits(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 48) & 0x8000);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & 0xfffffffffffffull;
  if (exponent == 0x7ff)
    return sign | 0x7c00 | (fraction ? 0x200 | static_cast<uint16_t>(fraction >> 42) : 0);
  const int e = exponent - 1023;
  if (e > 15) return sign | 0x7c00;
  if (e < -25) return sign;
  // The significand with its leading one, shifted so that what stays is the half's.
  const uint64_t significand = fraction | (1ull << 52);
  const int drop = e >= -14 ? 42 : 42 + (-14 - e);
  uint64_t kept = significand >> drop;
  const uint64_t rest = significand & ((1ull << drop) - 1), middle = 1ull << (drop - 1);
  if (rest > middle || (rest == middle && (kept & 1))) kept++;
  // A carry out of the fraction moves into the exponent field, which is what rounding up means.
  const uint64_t base = e >= -14 ? (static_cast<uint64_t>(e + 14) << 10) : 0;
  return sign | static_cast<uint16_t>(base + kept);
}

uint64_t scalar_bits(Scalar s, double value) {
  switch (s) {
    case Scalar::Float16:
      return half_bits(value);
    case Scalar::Float32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case Scalar::Float64:
      return std::bit_cast<uint64_t>(value);
    default:
      break;
  }
  const ScalarClass c = scalar_class(s);
  if (c == ScalarClass::Bool) return value != 0;
  if (c == ScalarClass::Storage) throw BugError("scalar_bits of a storage kind");
  if (std::isnan(value)) return 0;
  const int width = static_cast<int>(scalar_size(s)) * 8;
  const double top = std::ldexp(1.0, c == ScalarClass::Signed ? width - 1 : width);
  const double t = std::trunc(value);
  const uint64_t all = width == 64 ? ~0ull : (1ull << width) - 1;
  if (c == ScalarClass::Unsigned) return t <= 0 ? 0 : t >= top ? all : static_cast<uint64_t>(t);
  if (t >= top) return all >> 1;
  if (t <= -top) return (all >> 1) + 1;
  return static_cast<uint64_t>(static_cast<int64_t>(t)) & all;
}

}  // namespace lcpy
