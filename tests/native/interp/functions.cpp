// Transcendental functions: within one unit in the last place of the C library's double result for
// float32 and float16, edge cases as C99 has them, the same bits on every instruction set.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "interp/interp.h"
#include "kernel/descriptor.h"
#include "kernel/scalar_bits.h"

using namespace lcpy;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
std::vector<T> apply(Op op, Scalar s, const std::vector<T>& x, const std::vector<T>* y,
                     const char* isa) {
  KernelDescriptor d;
  d.block_size = {64, 1, 1};
  KernelBuilder b(d);
  std::vector<SlotId> slots;
  const size_t n = y != nullptr ? 3 : 2;
  for (size_t i = 0; i < n; ++i) {
    Slot slot;
    slot.name = "s" + std::to_string(i);
    slot.type = Type::buffer(Type::of(s));
    slot.number = static_cast<uint32_t>(i);
    slots.push_back(b.add_slot(slot));
  }
  b.add_function("k", {}, {}, {});
  b.set_insertion(BodyId(0u));
  const Operand at =
      Operand::of(b.extract(b.emit(Op::DispatchId, Type::vector(Scalar::UInt32, 3), {}), {0}));
  std::vector<ValueId> values;
  for (size_t i = 0; i + 1 < n; ++i) values.push_back(b.load(slots[i], {{at}}, Type::of(s)));
  b.store(slots.back(), {{at}}, b.emit(op, Type::of(s), std::span<const ValueId>(values)));
  b.terminate(Op::Return);
  const auto program = interp::build_program(d, isa);
  std::vector<T> a = x, c(x.size()), out(x.size());
  if (y != nullptr) c = *y;
  std::vector<interp::Binding> bindings{{a.data(), a.size() * sizeof(T)}};
  if (y != nullptr) bindings.push_back({c.data(), c.size() * sizeof(T)});
  bindings.push_back({out.data(), out.size() * sizeof(T)});
  std::vector<std::byte> block(argument_block(d).size);
  interp::run(*program, {{static_cast<uint32_t>(x.size()), 1, 1}, bindings, block, 1});
  return out;
}

double ulps(float got, double right) {
  if (std::isnan(right)) return std::isnan(got) ? 0 : 1e9;
  const float nearest = static_cast<float>(right);
  if (got == nearest) return 0;
  if (std::isinf(got) || std::isinf(nearest)) return 1e9;
  const float unit = std::max(std::nextafter(std::fabs(nearest), kInf) - std::fabs(nearest),
                              std::numeric_limits<float>::denorm_min());
  return std::fabs(got - right) / unit;
}

void check_bits(Op op, const std::vector<float>& x, const std::vector<float>* y,
                const std::vector<float>& first) {
  for (const char* isa : {"baseline", "avx2", "avx512"}) {
    try {
      const auto r = apply<float>(op, Scalar::Float32, x, y, isa);
      for (size_t i = 0; i < r.size(); ++i)
        CHECK(std::memcmp(&r[i], &first[i], 4) == 0 || (std::isnan(r[i]) && std::isnan(first[i])));
    } catch (const ArgumentError&) {
    }
  }
}

// Inputs over the whole range of float32, and densely where functions do most.
std::vector<float> samples() {
  std::vector<float> x{0.0f,       -0.0f,         1.0f,    -1.0f,   0.5f,    -0.5f,    kInf,
                       -kInf,      std::nanf(""), 1e-45f,  -1e-45f, 1e-38f,  3.4e38f,  -3.4e38f,
                       88.7f,      89.5f,         -103.9f, -104.1f, 128.0f,  -149.0f,  -150.0f,
                       4194304.0f, 4194305.0f,    1e9f,    1e22f,   3.0e38f, 0.41421f, 2.4142f};
  uint32_t state = 12345;
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525u + 1013904223u;
    float f;
    std::memcpy(&f, &state, 4);
    if (i % 3 == 0 && !std::isnan(f)) x.push_back(f);
    x.push_back((static_cast<float>(state >> 8) / 16777216.0f - 0.5f) * (i % 7 == 0   ? 400.0f
                                                                         : i % 5 == 0 ? 2.0f
                                                                                      : 20.0f));
  }
  return x;
}

void check_unary(Op op, double (*right)(double), double limit = 1.0) {
  const auto x = samples();
  const auto r = apply<float>(op, Scalar::Float32, x, nullptr, "baseline");
  double worst = 0;
  float at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double u = ulps(r[i], right(x[i]));
    if (u > worst) worst = u, at = x[i];
    if (right(x[i]) == 0) CHECK_EQ(std::signbit(r[i]), std::signbit(right(x[i])));
  }
  if (worst > limit)
    CHECK_EQ("worst " + std::to_string(worst) + " at " + std::to_string(at),
             std::string("within the limit"));
  check_bits(op, x, nullptr, r);
  std::vector<double> wide(x.begin(), x.end());
  const auto w = apply<double>(op, Scalar::Float64, wide, nullptr, "");
  for (size_t i = 0; i < wide.size(); ++i) {
    const double e = right(wide[i]);
    CHECK(w[i] == e || (std::isnan(w[i]) && std::isnan(e)) ||
          std::fabs(w[i] - e) <= 1e-15 * std::fabs(e));
  }
}
double rsqrt(double x) { return 1.0 / std::sqrt(x); }
double exp10_(double x) { return std::pow(10.0, x); }

}  // namespace

TEST(exp) { check_unary(Op::Exp, std::exp); }
TEST(exp2) { check_unary(Op::Exp2, std::exp2); }
TEST(exp10) { check_unary(Op::Exp10, exp10_); }
TEST(log) { check_unary(Op::Log, std::log); }
TEST(log2) { check_unary(Op::Log2, std::log2); }
TEST(log10) { check_unary(Op::Log10, std::log10); }
TEST(sin) { check_unary(Op::Sin, std::sin); }
TEST(cos) { check_unary(Op::Cos, std::cos); }
TEST(tan) { check_unary(Op::Tan, std::tan); }
TEST(asin) { check_unary(Op::Asin, std::asin); }
TEST(acos) { check_unary(Op::Acos, std::acos); }
TEST(atan) { check_unary(Op::Atan, std::atan); }
TEST(sinh) { check_unary(Op::Sinh, std::sinh); }
TEST(cosh) { check_unary(Op::Cosh, std::cosh); }
TEST(tanh) { check_unary(Op::Tanh, std::tanh); }
TEST(asinh) { check_unary(Op::Asinh, std::asinh); }
TEST(acosh) { check_unary(Op::Acosh, std::acosh); }
TEST(atanh) { check_unary(Op::Atanh, std::atanh); }
TEST(rsqrt) { check_unary(Op::Rsqrt, rsqrt, 1.5); }

static void check_binary(Op op, double (*right)(double, double)) {
  const float nan = std::nanf("");
  std::vector<float> some{0.0f,        -0.0f,    1.0f,  -1.0f, 0.5f,   -0.5f,  2.0f,
                          -2.0f,       3.0f,     -3.0f, 1.5f,  1e-30f, -1e30f, 7.25f,
                          16777217.0f, 0.99999f, kInf,  -kInf, nan,    100.0f, -41.0f};
  std::vector<float> x, y;
  for (float a : some)
    for (float b : some) x.push_back(a), y.push_back(b);
  const auto more = samples();
  for (size_t i = 0; i + 7 < more.size(); ++i)
    x.push_back(std::fabs(more[i])), y.push_back(more[i + 7]);
  const auto r = apply<float>(op, Scalar::Float32, x, &y, "baseline");
  for (size_t i = 0; i < x.size(); ++i) {
    const double e = right(x[i], y[i]);
    if (ulps(r[i], e) > 1.0 || (e == 0 && std::signbit(e) != std::signbit(r[i])))
      CHECK_EQ(std::to_string(x[i]) + ", " + std::to_string(y[i]) + " gave " +
                   std::to_string(r[i]) + " not " + std::to_string(e),
               "");
  }
  check_bits(op, x, &y, r);
}
TEST(pow) { check_binary(Op::Pow, std::pow); }
TEST(atan2) { check_binary(Op::Atan2, std::atan2); }

TEST(half_through_float) {
  std::vector<uint16_t> x;
  for (uint32_t i = 0; i < 65536; i += 7) x.push_back(static_cast<uint16_t>(i));
  std::vector<float> wide;
  for (uint16_t h : x) {
    const int e = (h >> 10) & 31, m = h & 1023;
    const double v = e == 31  ? (m ? NAN : INFINITY)
                     : e == 0 ? std::ldexp(m, -24)
                              : std::ldexp(1024 + m, e - 25);
    wide.push_back(static_cast<float>(h & 0x8000 ? -v : v));
  }
  for (Op op : {Op::Sin, Op::Exp, Op::Log2}) {
    const auto h = apply<uint16_t>(op, Scalar::Float16, x, nullptr, "");
    const auto f = apply<float>(op, Scalar::Float32, wide, nullptr, "");
    for (size_t i = 0; i < x.size(); ++i)
      CHECK(h[i] == half_bits(f[i]) || (std::isnan(f[i]) && (h[i] & 0x7fff) > 0x7c00));
  }
}
