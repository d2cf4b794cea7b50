// Bits of scalars made from doubles, by the conversions of kernel/semantics.h.
#include "kernel/scalar_bits.h"

#include <bit>
#include <cmath>

#include "base/error.h"
#include "kernel/semantics.h"

namespace lcpy {

uint16_t half_bits(double value) { return semantics::double_to_half(value).bits; }

uint64_t scalar_bits(Scalar s, double value) {
  if (s == Scalar::Float16) return half_bits(value);
  if (s == Scalar::Float32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (s == Scalar::Float64) return std::bit_cast<uint64_t>(value);
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
