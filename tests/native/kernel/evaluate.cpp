// Constant evaluation against values worked out by hand from language.md; the interpreter's tests
// then compare every operation on every type with constant evaluation.
#include "kernel/evaluate.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "kernel/scalar_bits.h"

using namespace lcpy;

namespace {

template <class T>
struct Of;
#define OF(T, s)                                \
  template <>                                   \
  struct Of<T> {                                \
    static constexpr Scalar scalar = Scalar::s; \
  };
OF(bool, Bool)
OF(int8_t, Int8) OF(uint8_t, UInt8) OF(int16_t, Int16) OF(uint16_t, UInt16) OF(int32_t, Int32)
    OF(uint32_t, UInt32) OF(int64_t, Int64) OF(uint64_t, UInt64) OF(float, Float32)
        OF(double, Float64)
#undef OF

            template <class R, class... A>
            R eval(Op op, A... a) {
  const Type types[] = {Type::of(Of<A>::scalar)...};
  const std::span<const std::byte> operands[] = {std::as_bytes(std::span<const A>(&a, 1))...};
  R r{};
  CHECK(evaluate(op, Type::of(Of<R>::scalar), types, operands, {},
                 std::as_writable_bytes(std::span<R>(&r, 1))));
  return r;
}
uint16_t to_half(double x) {
  const Type types[] = {Type::of(Scalar::Float64)};
  const std::span<const std::byte> operands[] = {std::as_bytes(std::span<const double>(&x, 1))};
  uint16_t r = 0;
  CHECK(evaluate(Op::Convert, Type::of(Scalar::Float16), types, operands, {},
                 std::as_writable_bytes(std::span<uint16_t>(&r, 1))));
  return r;
}
template <class T>
constexpr T kMin = std::numeric_limits<T>::min();
template <class T>
constexpr T kMax = std::numeric_limits<T>::max();
const float kNan = std::nanf("");
const float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST(integer_division) {
  CHECK_EQ(eval<int32_t>(Op::FloorDiv, -5, 3), -2);
  CHECK_EQ(eval<int32_t>(Op::FloorMod, -5, 3), 1);
  CHECK_EQ(eval<int32_t>(Op::FloorMod, 5, -3), -1);
  CHECK_EQ(eval<int32_t>(Op::FloorDiv, 7, -2), -4);
  CHECK_EQ(eval<int32_t>(Op::FloorMod, -1, 8), 7);
  CHECK_EQ(eval<int32_t>(Op::FloorDiv, 6, -3), -2);
  CHECK_EQ(eval<int32_t>(Op::TruncDiv, -7, 2), -3);
  CHECK_EQ(eval<int32_t>(Op::TruncRem, -7, 2), -1);
  CHECK_EQ(eval<uint32_t>(Op::FloorMod, 4294655115u, 524288u), 4294655115u % 524288u);
  CHECK_EQ(eval<int32_t>(Op::FloorDiv, 9, 0), 0);
  CHECK_EQ(eval<int32_t>(Op::FloorMod, 9, 0), 0);
  CHECK_EQ(eval<int64_t>(Op::TruncDiv, kMin<int64_t>, int64_t{-1}), kMin<int64_t>);
  CHECK_EQ(eval<int64_t>(Op::TruncRem, kMin<int64_t>, int64_t{-1}), 0);
  CHECK_EQ(eval<int32_t>(Op::FloorDiv, kMin<int32_t>, -1), kMin<int32_t>);
  CHECK_EQ(eval<int32_t>(Op::FloorMod, kMin<int32_t>, -1), 0);
  CHECK_EQ(int(eval<int8_t>(Op::FloorDiv, int8_t{-128}, int8_t{-1})), -128);
  CHECK_EQ(int(eval<int8_t>(Op::FloorMod, int8_t{-128}, int8_t{3})), 1);
}

TEST(integer_wrap_shift_and_power) {
  CHECK_EQ(eval<int32_t>(Op::Add, kMax<int32_t>, 1), kMin<int32_t>);
  CHECK_EQ(int(eval<int8_t>(Op::Mul, int8_t{100}, int8_t{3})), 44);
  CHECK_EQ(eval<uint16_t>(Op::Mul, uint16_t{65535}, uint16_t{65535}), 1);
  CHECK_EQ(eval<int32_t>(Op::Neg, kMin<int32_t>), kMin<int32_t>);
  CHECK_EQ(eval<int32_t>(Op::Abs, kMin<int32_t>), kMin<int32_t>);
  CHECK_EQ(eval<int32_t>(Op::Shl, 1, 33), 2);
  CHECK_EQ(eval<int32_t>(Op::Shl, 1, -1), kMin<int32_t>);
  CHECK_EQ(eval<uint64_t>(Op::Shl, uint64_t{3}, int8_t{64}), 3u);
  CHECK_EQ(eval<int32_t>(Op::Shr, -8, 1u), -4);
  CHECK_EQ(eval<uint8_t>(Op::Shr, uint8_t{128}, 7), 1);
  CHECK_EQ(eval<uint8_t>(Op::RotateLeft, uint8_t{0x81}, 1), 3);
  CHECK_EQ(eval<uint32_t>(Op::RotateRight, 1u, 0), 1u);
  CHECK_EQ(eval<int32_t>(Op::PowInt, 0, 0), 1);
  CHECK_EQ(eval<int32_t>(Op::PowInt, 10, -2), 0);
  CHECK_EQ(eval<int32_t>(Op::PowInt, -1, -3), -1);
  CHECK_EQ(eval<int32_t>(Op::PowInt, -2, 31), kMin<int32_t>);
  CHECK_EQ(eval<int32_t>(Op::PowInt, 2, 31), kMin<int32_t>);
}

TEST(bit_counts) {
  CHECK_EQ(int(eval<int8_t>(Op::Clz, int8_t{1})), 7);
  CHECK_EQ(eval<uint64_t>(Op::Clz, uint64_t{0}), 64u);
  CHECK_EQ(int(eval<uint8_t>(Op::Ctz, uint8_t{0})), 8);
  CHECK_EQ(eval<uint16_t>(Op::Ctz, uint16_t{0x8000}), 15);
  CHECK_EQ(int(eval<int8_t>(Op::Popcount, int8_t{-1})), 8);
  CHECK_EQ(eval<uint64_t>(Op::Popcount, ~uint64_t{0}), 64u);
  CHECK_EQ(eval<uint8_t>(Op::ReverseBits, uint8_t{1}), 128);
  CHECK_EQ(eval<uint32_t>(Op::ReverseBits, 2u), 0x40000000u);
  CHECK_EQ(eval<int32_t>(Op::MulHi, kMin<int32_t>, 2), -1);
  CHECK_EQ(eval<uint64_t>(Op::MulHi, ~uint64_t{0}, ~uint64_t{0}), ~uint64_t{1});
}

TEST(floats) {
  CHECK_EQ(eval<float>(Op::Min, kNan, 2.0f), 2.0f);
  CHECK_EQ(eval<float>(Op::Max, 2.0f, kNan), 2.0f);
  CHECK(std::isnan(eval<float>(Op::Max, kNan, kNan)));
  CHECK(std::signbit(eval<float>(Op::Min, 0.0f, -0.0f)));
  CHECK(!std::signbit(eval<float>(Op::Max, -0.0f, 0.0f)));
  CHECK_EQ(eval<float>(Op::Round, 2.5f), 2.0f);
  CHECK_EQ(eval<float>(Op::Round, 3.5f), 4.0f);
  CHECK(std::signbit(eval<float>(Op::Round, -0.2f)));
  CHECK_EQ(eval<float>(Op::Fract, -0.25f), 0.75f);
  CHECK_EQ(eval<float>(Op::Sign, -0.0f), 0.0f);
  CHECK_EQ(eval<float>(Op::Sign, kNan), 0.0f);
  CHECK_EQ(eval<float>(Op::FloorMod, -0.25f, 1.0f), 0.75f);
  CHECK_EQ(eval<float>(Op::FloorMod, 5.5f, -2.0f), -0.5f);
  CHECK_EQ(eval<float>(Op::FloorDiv, 5.5f, -2.0f), -3.0f);
  CHECK_EQ(eval<double>(Op::FloorDiv, 1.0, 0.1), 9.0);  // as Python
  CHECK_EQ(eval<float>(Op::FloorDiv, -1.0f, 0.0f), -kInf);
  CHECK(std::isnan(eval<float>(Op::FloorMod, 1.0f, 0.0f)));
  CHECK_EQ(eval<float>(Op::Fma, 1.0f + 0x1p-12f, 1.0f - 0x1p-12f, -1.0f), -0x1p-24f);
  CHECK_EQ(eval<bool>(Op::NotEqual, kNan, kNan), true);
  CHECK_EQ(eval<bool>(Op::LessEqual, kNan, 1.0f), false);
  CHECK_EQ(eval<bool>(Op::IsInf, -kInf), true);
  CHECK_EQ(eval<float>(Op::Clamp, kNan, 1.0f, 2.0f), 1.0f);
}

TEST(conversions) {
  CHECK_EQ(eval<int32_t>(Op::Convert, 3e9), kMax<int32_t>);
  CHECK_EQ(eval<uint32_t>(Op::Convert, 3e9), 3000000000u);
  CHECK_EQ(eval<uint32_t>(Op::Convert, -1.0f), 0u);
  CHECK_EQ(eval<int32_t>(Op::Convert, kNan), 0);
  CHECK_EQ(eval<int64_t>(Op::Convert, kInf), kMax<int64_t>);
  CHECK_EQ(int(eval<int8_t>(Op::Convert, -128.9f)), -128);
  CHECK_EQ(eval<uint64_t>(Op::Convert, 18446744073709551615.0), kMax<uint64_t>);
  CHECK_EQ(eval<float>(Op::Convert, uint16_t{60000}), 60000.0f);
  CHECK_EQ(eval<double>(Op::Convert, uint32_t{3000000000u}), 3e9);
  CHECK_EQ(eval<float>(Op::Convert, kMax<uint64_t>), 18446744073709551616.0f);
  CHECK_EQ(eval<uint64_t>(Op::Convert, int32_t{-1}), kMax<uint64_t>);
  CHECK_EQ(int(eval<int8_t>(Op::Convert, 200u)), -56);
  CHECK_EQ(eval<bool>(Op::Convert, kNan), true);
  CHECK_EQ(eval<bool>(Op::Convert, -0.0f), false);
  CHECK_EQ(eval<int32_t>(Op::Convert, true), 1);
}

TEST(half_is_rounded_once) {
  for (double x : {0.1, 65504.0, 65519.999, 65520.0, 1e-8, 2.980232238769531e-08,
                   2.9802322387695312e-08 * 1.0000001, 6.1e-5, 1.0 + 0x1p-11,
                   1.0 + 0x1p-11 + 0x1p-40, 1.0 + 3 * 0x1p-11, 1e300, -0.0, 5.96e-8})
    for (double s : {1.0, -1.0}) CHECK_EQ(to_half(s * x), half_bits(s * x));
  CHECK((to_half(std::nan("")) & 0x7fff) > 0x7c00);
}

TEST(small_floats) {
  const auto convert = [](Scalar to, float x) {
    const Type types[] = {Type::of(Scalar::Float32)};
    const std::span<const std::byte> operands[] = {std::as_bytes(std::span<const float>(&x, 1))};
    uint16_t r = 0;
    CHECK(evaluate(Op::Convert, Type::of(to), types, operands, {},
                   std::as_writable_bytes(std::span<uint16_t>(&r, 1)).first(scalar_size(to))));
    return int(r);
  };
  CHECK_EQ(convert(Scalar::BFloat16, 1.0f), 0x3f80);
  CHECK_EQ(convert(Scalar::BFloat16, 1.0f + 0x1p-8f), 0x3f80);
  CHECK_EQ(convert(Scalar::BFloat16, 1.0f + 3 * 0x1p-8f), 0x3f82);
  CHECK_EQ(convert(Scalar::Float8E4M3, 448.0f), 0x7e);
  CHECK_EQ(convert(Scalar::Float8E4M3, 1e9f), 0x7f);
  CHECK_EQ(convert(Scalar::Float8E4M3, -1.0f), 0xb8);
  CHECK_EQ(convert(Scalar::Float8E4M3, 0x1p-9f), 0x01);
  CHECK_EQ(convert(Scalar::Float8E4M3, 0x1p-10f), 0x00);
  CHECK_EQ(convert(Scalar::Float8E5M2, 57344.0f), 0x7b);
  CHECK_EQ(convert(Scalar::Float8E5M2, 61440.0f), 0x7c);
  CHECK_EQ(convert(Scalar::Float8E5M2, 0x1p-16f), 0x01);
}

TEST(vectors_and_aggregates) {
  const Type f3 = Type::vector(Scalar::Float32, 3), f1 = Type::of(Scalar::Float32);
  const float a[4] = {1, 2, 3, 99}, b[4] = {10, 20, 30, 99};
  float r[4] = {7, 7, 7, 7};
  const Type two[] = {f3, f3};
  const std::span<const std::byte> ab[] = {std::as_bytes(std::span(a)),
                                           std::as_bytes(std::span(b))};
  CHECK(evaluate(Op::Add, f3, two, ab, {}, std::as_writable_bytes(std::span(r))));
  CHECK(r[0] == 11 && r[1] == 22 && r[2] == 33 && r[3] == 0);  // padding is zero
  const uint32_t order[] = {2, 0};
  float s[2];
  CHECK(evaluate(Op::Shuffle, Type::vector(Scalar::Float32, 2), {two, 1}, {ab, 1}, order,
                 std::as_writable_bytes(std::span(s))));
  CHECK(s[0] == 3 && s[1] == 1);
  float sum;
  CHECK(evaluate(Op::ReduceSum, f1, {two, 1}, {ab, 1}, {},
                 std::as_writable_bytes(std::span(&sum, 1))));
  CHECK_EQ(sum, 6.0f);
  const Type members[] = {Type::of(Scalar::Bool), f3};
  const Type st = Type::structure(members);
  std::vector<std::byte> whole(st.size());
  const bool yes = true;
  const Type parts[] = {Type::of(Scalar::Bool), f3};
  const std::span<const std::byte> values[] = {std::as_bytes(std::span(&yes, 1)),
                                               std::as_bytes(std::span(a))};
  CHECK(evaluate(Op::Construct, st, parts, values, {}, whole));
  const uint32_t path[] = {1, 1};
  float y;
  const Type of_struct[] = {st};
  const std::span<const std::byte> bytes[] = {whole};
  CHECK(
      evaluate(Op::Extract, f1, of_struct, bytes, path, std::as_writable_bytes(std::span(&y, 1))));
  CHECK_EQ(y, 2.0f);
}

TEST(what_is_never_folded) {
  const float x = 1;
  const Type types[] = {Type::of(Scalar::Float32)};
  const std::span<const std::byte> operands[] = {std::as_bytes(std::span(&x, 1))};
  float r;
  for (Op op : {Op::Sin, Op::Exp, Op::Rsqrt, Op::Load})
    CHECK(!evaluate(op, types[0], types, operands, {}, std::as_writable_bytes(std::span(&r, 1))));
}
