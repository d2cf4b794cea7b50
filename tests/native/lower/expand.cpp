// Expansions of elementwise operations against kernel/semantics.h: applied to constants they fold,
// through primitive operations alone, to what evaluate() says of the operation itself.
#include "lower/expand.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "check.h"
#include "kernel/evaluate.h"

using namespace lcpy;

namespace {

bool nothing_native(Op, Type, Type, MathMode) { return false; }

struct Bench {
  KernelDescriptor d;
  Expander e;
  explicit Bench(MathMode math = MathMode::Ieee) : d(make(math)), e(d, nothing_native) {
    KernelBuilder& b = e.builder();
    b.add_function("main", {}, {}, {});
    b.set_insertion(d.functions[0].body);
  }
  static KernelDescriptor make(MathMode math) {
    KernelDescriptor d;
    d.math = math;
    return d;
  }
};

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of(T v) {
  Bytes b(sizeof v);
  std::memcpy(b.data(), &v, sizeof v);
  return b;
}
std::string hex(std::span<const std::byte> b) {
  std::string s;
  for (size_t i = b.size(); i-- > 0;) {
    s += "0123456789abcdef"[static_cast<int>(b[i]) >> 4];
    s += "0123456789abcdef"[static_cast<int>(b[i]) & 15];
  }
  return s;
}

// The expansion of op on these constants gives evaluate()'s bytes; any NaN equals any other.
void check_same(Bench& bench, Op op, Type type, std::span<const Type> types,
                std::span<const Bytes> operands) {
  std::vector<ValueId> args;
  std::vector<std::span<const std::byte>> views;
  std::string text(op_row(op).name);
  for (size_t i = 0; i < operands.size(); i++) {
    args.push_back(bench.e.builder().constant(types[i], operands[i]));
    views.push_back(operands[i]);
    text += " " + types[i].description() + ":" + hex(operands[i]);
  }
  Bytes expected(type.size());
  CHECK(evaluate(op, type, types, views, {}, expected));
  const ValueId got = expand_one(bench.e, {op, type, args});
  if (!bench.d.is_constant(got)) test::fail(__FILE__, __LINE__, text + " did not fold");
  const auto actual = bench.d.constant_bytes(got);
  const auto is_nan = [&](std::span<const std::byte> b) {
    double v = 0;
    float f = 0;
    if (type == Type::of(Scalar::Float64)) std::memcpy(&v, b.data(), 8);
    if (type == Type::of(Scalar::Float32)) std::memcpy(&f, b.data(), 4), v = f;
    return v != v;
  };
  if (is_nan(actual) && is_nan(expected)) return;
  if (!std::equal(actual.begin(), actual.end(), expected.begin(), expected.end()))
    test::fail(__FILE__, __LINE__, text + " = " + hex(actual) + ", not " + hex(expected));
}

constexpr Scalar kIntegers[] = {Scalar::Int8,  Scalar::UInt8,  Scalar::Int16, Scalar::UInt16,
                                Scalar::Int32, Scalar::UInt32, Scalar::Int64, Scalar::UInt64};

std::vector<Bytes> integer_samples(Scalar s) {
  std::vector<Bytes> all;
  const uint64_t top = uint64_t{1} << (scalar_size(s) * 8 - 1);
  for (uint64_t v : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{8},
                     uint64_t{100}, ~uint64_t{0}, ~uint64_t{0} - 1, ~uint64_t{0} - 6, top, top - 1,
                     top + 1, uint64_t{0x123456789abcdef5}}) {
    Bytes b = bytes_of(v);
    b.resize(scalar_size(s));
    all.push_back(b);
  }
  return all;
}
std::vector<Bytes> float_samples(Scalar s) {
  std::vector<Bytes> all;
  const double inf = std::numeric_limits<double>::infinity();
  for (double v : {0.0,
                   -0.0,
                   0.5,
                   -0.5,
                   0.999,
                   -0.999,
                   1.0,
                   -1.0,
                   1.5,
                   -1.5,
                   2.5,
                   127.5,
                   128.0,
                   -128.5,
                   -129.0,
                   255.5,
                   256.0,
                   32767.5,
                   32768.0,
                   -32769.0,
                   65535.9,
                   65536.0,
                   2147483520.0,
                   2147483648.0,
                   -2147483648.0,
                   -2147483904.0,
                   4294967040.0,
                   4294967296.0,
                   9.2233720368547758e18,
                   -9.2233720368547758e18,
                   1.8446744073709552e19,
                   1e30,
                   -1e30,
                   inf,
                   -inf,
                   std::nan("")}) {
    if (s == Scalar::Float64)
      all.push_back(bytes_of(v));
    else
      all.push_back(bytes_of(static_cast<float>(v)));
  }
  return all;
}

void check_binary(std::initializer_list<Op> ops, Scalar s, const std::vector<Bytes>& samples,
                  MathMode math = MathMode::Ieee) {
  const Type t = Type::of(s);
  const Type types[] = {t, t};
  for (Op op : ops) {
    Bench bench(math);
    for (const Bytes& a : samples)
      for (const Bytes& b : samples) check_same(bench, op, t, types, std::vector<Bytes>{a, b});
  }
}

}  // namespace

TEST(integer_division_of_every_width) {
  for (Scalar s : kIntegers)
    check_binary({Op::FloorDiv, Op::FloorMod, Op::TruncDiv, Op::TruncRem, Op::MulHi}, s,
                 integer_samples(s));
}

TEST(shifts_take_amounts_of_every_type) {
  for (Scalar s : kIntegers)
    for (Scalar n : kIntegers) {
      Bench bench;
      const Type types[] = {Type::of(s), Type::of(n)};
      for (Op op : {Op::Shl, Op::Shr, Op::RotateLeft, Op::RotateRight})
        for (const Bytes& a : integer_samples(s))
          for (const Bytes& b : integer_samples(n))
            check_same(bench, op, types[0], types, std::vector<Bytes>{a, b});
    }
}

TEST(bit_counts_of_every_width) {
  for (Scalar s : kIntegers) {
    Bench bench;
    const Type types[] = {Type::of(s)};
    for (Op op : {Op::Clz, Op::Ctz, Op::Popcount, Op::ReverseBits, Op::Abs, Op::Sign})
      for (const Bytes& a : integer_samples(s))
        check_same(bench, op, types[0], types, std::vector<Bytes>{a});
  }
}

TEST(floats_to_integers_saturate) {
  for (Scalar from : {Scalar::Float32, Scalar::Float64})
    for (Scalar to : kIntegers) {
      Bench bench;
      const Type types[] = {Type::of(from)};
      for (const Bytes& a : float_samples(from))
        check_same(bench, Op::Convert, Type::of(to), types, std::vector<Bytes>{a});
    }
}

TEST(bools_convert_both_ways) {
  for (Scalar s : {Scalar::Int8, Scalar::UInt64, Scalar::Float32, Scalar::Float64}) {
    Bench bench;
    const Type flag[] = {Type::of(Scalar::Bool)}, type[] = {Type::of(s)};
    for (bool b : {false, true})
      check_same(bench, Op::Convert, type[0], flag, std::vector<Bytes>{bytes_of(b)});
    for (const Bytes& a : type[0].is_float() ? float_samples(s) : integer_samples(s))
      check_same(bench, Op::Convert, flag[0], type, std::vector<Bytes>{a});
  }
}

TEST(small_floats_convert_both_ways) {
  const Type real = Type::of(Scalar::Float32);
  for (Scalar s : {Scalar::BFloat16, Scalar::Float8E4M3, Scalar::Float8E5M2}) {
    Bench bench;
    const Type small[] = {Type::of(s)}, wide[] = {real};
    const uint32_t patterns = scalar_size(s) == 1 ? 256 : 65536;
    for (uint32_t p = 0; p<patterns; p += patterns> 256 ? 37 : 1) {
      Bytes b = bytes_of(p);
      b.resize(scalar_size(s));
      check_same(bench, Op::Convert, real, small, std::vector<Bytes>{b});
    }
    for (uint32_t p = 0; p < 4000; p++)
      check_same(bench, Op::Convert, small[0], wide, std::vector<Bytes>{bytes_of(p * 1073741u)});
  }
}

TEST(float_tests_and_signs) {
  for (Scalar s : {Scalar::Float32, Scalar::Float64}) {
    Bench bench;
    const Type types[] = {Type::of(s)};
    for (const Bytes& a : float_samples(s)) {
      for (Op op : {Op::IsNan, Op::IsInf})
        check_same(bench, op, Type::of(Scalar::Bool), types, std::vector<Bytes>{a});
      for (Op op : {Op::Abs, Op::Sign, Op::Fract})
        check_same(bench, op, types[0], types, std::vector<Bytes>{a});
    }
  }
}

TEST(float_minima_and_copysign) {
  for (Scalar s : {Scalar::Float32, Scalar::Float64})
    check_binary({Op::Min, Op::Max, Op::Copysign}, s, float_samples(s), MathMode::Strict);
}

TEST(powers_by_a_constant_exponent) {
  Bench bench;
  const Type t = Type::of(Scalar::Int32), types[] = {t, t};
  for (int32_t x : {0, 1, -1, 2, -2, 3, 10, 46341})
    for (int32_t y : {0, 1, 2, 3, 5, 16, 31, 32})
      check_same(bench, Op::PowInt, t, types, std::vector<Bytes>{bytes_of(x), bytes_of(y)});
}

TEST(a_zero_divisor_in_one_lane_leaves_the_others_exact) {
  Bench bench;
  const Type t = Type::vector(Scalar::Int32, 4), types[] = {t, t};
  const int32_t x[] = {8, 9, 10, 11}, y[] = {2, 0, 5, 0};
  const auto whole = [](const int32_t(&v)[4]) {
    Bytes b(sizeof v);
    std::memcpy(b.data(), v, sizeof v);
    return b;
  };
  for (Op op : {Op::FloorDiv, Op::FloorMod, Op::TruncDiv, Op::TruncRem})
    check_same(bench, op, t, types, std::vector<Bytes>{whole(x), whole(y)});
}
