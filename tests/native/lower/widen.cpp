// pass_widen run on the interpreter, against halves as the interpreter has them: every operation
// that computes, on every half or on many pairs.
#include <array>
#include <cmath>
#include <cstring>

#include "check.h"
#include "kernel/verify.h"
#include "run_kit.h"

using namespace lcpy;
using namespace lcpy::test;

namespace {

using Half = uint16_t;

bool executes(Op op, Type, Type, MathMode) { return op != Op::UnpackHalf && op != Op::PackHalf; }

KernelDescriptor widened(KernelDescriptor d) {
  pass_widen(d);
  verify_or_throw(d, "widen");
  for (const Value& v : d.values)
    LCPY_CHECK(!v.type.is_basic() || v.type.scalar() != Scalar::Float16);
  pass_expand(d, executes);
  verify_or_throw(d, "expand");
  return d;
}

bool is_nan(Half h) { return (h & 0x7fff) > 0x7c00; }

std::vector<Half> every_half() {
  std::vector<Half> all(65536);
  for (uint32_t i = 0; i < all.size(); i++) all[i] = static_cast<Half>(i);
  return all;
}

// Numbers of all sizes, by a small generator.
std::vector<Half> many(uint32_t seed) {
  std::vector<Half> found(40000);
  for (size_t i = 0; i < found.size(); i++) {
    seed = seed * 1664525u + 1013904223u;
    const uint32_t bits = seed >> 16;
    found[i] = static_cast<Half>(i % 3 == 0   ? 0x3800 + (bits & 0xbff)
                                 : i % 3 == 1 ? bits
                                              : bits & 0x85ff);
  }
  return found;
}

template <class R, class... Args>
void compare(Op op, Type result, std::span<const Type> types, size_t n, std::vector<Args>... args) {
  const KernelDescriptor d = elementwise(op, result, types);
  const auto own = run<R>(d, n, 1, args...);
  const auto other = run<R>(widened(d), n, 1, args...);
  for (size_t i = 0; i < n; i++) {
    const bool half = result.scalar() == Scalar::Float16;
    if (half && is_nan(static_cast<Half>(own[i])) && is_nan(static_cast<Half>(other[i]))) continue;
    if (std::memcmp(&own[i], &other[i], sizeof(R)) == 0) continue;
    std::ostringstream text;
    text << op_row(op).name << " at " << i << ": " << +other[i] << ", not " << +own[i];
    return test::fail(__FILE__, __LINE__, text.str());
  }
}

const Type kHalf = Type::of(Scalar::Float16);

TEST(widened_unary) {
  const Type types[] = {kHalf};
  for (const Op op : {Op::Neg, Op::Abs, Op::Sign, Op::Floor, Op::Ceil, Op::Round, Op::Trunc,
                      Op::Fract, Op::Sqrt, Op::Rsqrt, Op::Saturate, Op::Sin, Op::Exp, Op::Log2})
    compare<Half>(op, kHalf, types, 65536, every_half());
  for (const Op op : {Op::IsNan, Op::IsInf})
    compare<uint8_t>(op, Type::of(Scalar::Bool), types, 65536, every_half());
}

TEST(widened_binary) {
  const Type types[] = {kHalf, kHalf};
  const auto a = many(1), b = many(2);
  for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::FloorDiv, Op::FloorMod, Op::Min,
                      Op::Max, Op::Copysign, Op::Step, Op::Pow, Op::Atan2})
    compare<Half>(op, kHalf, types, a.size(), a, b);
  for (const Op op :
       {Op::Less, Op::Greater, Op::LessEqual, Op::GreaterEqual, Op::Equal, Op::NotEqual})
    compare<uint8_t>(op, Type::of(Scalar::Bool), types, a.size(), a, b);
}

TEST(widened_ternary) {
  const Type types[] = {kHalf, kHalf, kHalf};
  const auto a = many(1), b = many(2), c = many(3);
  for (const Op op : {Op::Fma, Op::Clamp, Op::Lerp, Op::Smoothstep})
    compare<Half>(op, kHalf, types, a.size(), a, b, c);
}

template <class T>
void conversions(Scalar s, std::vector<T> values) {
  const Type type = Type::of(s), from[] = {kHalf}, to[] = {type};
  compare<T>(Op::Convert, type, from, 65536, every_half());
  compare<Half>(Op::Convert, kHalf, to, values.size(), values);
}

TEST(widened_conversions) {
  std::vector<double> doubles;
  for (uint32_t h = 0; h < 0x7c00; h++) {
    // A half, and the midpoint above it with both neighbours; a double rounding would show there.
    const int exponent = h >> 10 ? static_cast<int>(h >> 10) - 25 : -24;
    const double unit = std::ldexp(1.0, exponent);
    const double value = ((h & 0x3ff) + (h >> 10 ? 1024.0 : 0.0)) * unit, middle = value + unit / 2;
    for (double x : {value, middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9)}) {
      doubles.push_back(x);
      doubles.push_back(-x);
    }
  }
  conversions<double>(Scalar::Float64, doubles);
  std::vector<float> floats(doubles.begin(), doubles.end());
  conversions<float>(Scalar::Float32, floats);
  const int64_t big = int64_t{1} << 62;
  conversions<int64_t>(Scalar::Int64, {0, 1, -1, 2049, 2051, 65519, 65520, -65520, big + 1, -big});
  conversions<uint8_t>(Scalar::UInt8, {0, 1, 255});
  conversions<uint16_t>(Scalar::BFloat16, {0, 0x3f80, 0x4780, 0xffff, 0x0001});
  conversions<uint8_t>(Scalar::Float8E5M2, {0, 1, 0x3c, 0x7b, 0x7c, 0xfe});
}

}  // namespace
