// Expansions run on the interpreter: what loops (powers, float remainders) against the operation as
// the interpreter does it itself; matrices and geometry against arithmetic in double.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "check.h"
#include "run_kit.h"

using namespace lcpy;
using namespace lcpy::test;

namespace {

KernelDescriptor expanded(KernelDescriptor d) {
  pass_expand(d, nothing_native);
  verify_or_throw(d, "expand");
  return d;
}

template <class T>
void check_expanded_equals_own(Op op, Scalar s, const std::vector<T>& samples) {
  std::vector<T> a, b;
  for (T x : samples)
    for (T y : samples) a.push_back(x), b.push_back(y);
  const Type types[] = {Type::of(s), Type::of(s)};
  const KernelDescriptor d = elementwise(op, types[0], types);
  const auto own = run<T>(d, a.size(), 1, a, b);
  const auto other = run<T>(expanded(d), a.size(), 1, a, b);
  for (size_t i = 0; i < a.size(); i++) {
    const bool both_nan = own[i] != own[i] && other[i] != other[i];
    if (both_nan || std::memcmp(&own[i], &other[i], sizeof(T)) == 0) continue;
    std::ostringstream text;
    text << op_row(op).name << "(" << +a[i] << ", " << +b[i] << ") = " << +other[i] << ", not "
         << +own[i];
    test::fail(__FILE__, __LINE__, text.str());
  }
}

template <class T>
std::vector<T> integer_samples() {
  using Limits = std::numeric_limits<T>;
  return {T(0), T(1), T(2), T(3), T(7), T(-1), T(-2), T(-3), T(31), Limits::max(), Limits::min()};
}
template <class T>
std::vector<T> float_samples() {
  const T inf = std::numeric_limits<T>::infinity();
  return {T(0),    T(-0.0),  T(0.5),      T(-0.5), T(0.3),  T(1),
          T(-1),   T(2.75),  T(-7),       T(0.1),  T(1e10), T(-3e20),
          T(1e30), T(1e-30), T(16777217), inf,     -inf,    std::numeric_limits<T>::quiet_NaN()};
}

// Matrices of n columns padded as in memory: a column of 3 takes 4.
constexpr size_t column_stride(size_t n) { return n == 3 ? 4 : n; }

struct Matrix {
  size_t n;
  std::array<std::array<double, 4>, 4> at{};  // [row][column]
};
Matrix sample(size_t n, double seed) {
  Matrix m{n};
  for (size_t r = 0; r < n; r++)
    for (size_t c = 0; c < n; c++)
      m.at[r][c] = std::sin(seed + 3.7 * static_cast<double>(r) + 1.3 * static_cast<double>(c)) +
                   (r == c ? 1.5 : 0);
  return m;
}
std::vector<double> stored(const Matrix& m) {
  std::vector<double> v(m.n * column_stride(m.n));
  for (size_t c = 0; c < m.n; c++)
    for (size_t r = 0; r < m.n; r++) v[c * column_stride(m.n) + r] = m.at[r][c];
  return v;
}
double loaded(const std::vector<double>& v, size_t n, size_t r, size_t c) {
  return v[c * column_stride(n) + r];
}
double determinant(const Matrix& m) {
  if (m.n == 1) return m.at[0][0];
  double sum = 0;
  for (size_t c = 0; c < m.n; c++) {
    Matrix rest{m.n - 1};
    for (size_t r = 1; r < m.n; r++)
      for (size_t k = 0, at = 0; k < m.n; k++)
        if (k != c) rest.at[r - 1][at++] = m.at[r][k];
    sum += (c % 2 ? -1 : 1) * m.at[0][c] * determinant(rest);
  }
  return sum;
}
bool near(double a, double b) { return std::fabs(a - b) <= 1e-12 * (1 + std::fabs(b)); }

}  // namespace

TEST(powers_of_integers) {
  check_expanded_equals_own<int8_t>(Op::PowInt, Scalar::Int8, integer_samples<int8_t>());
  check_expanded_equals_own<int32_t>(Op::PowInt, Scalar::Int32, integer_samples<int32_t>());
  check_expanded_equals_own<uint64_t>(Op::PowInt, Scalar::UInt64, integer_samples<uint64_t>());
}

TEST(floor_division_of_floats) {
  for (Op op : {Op::FloorMod, Op::FloorDiv}) {
    check_expanded_equals_own<float>(op, Scalar::Float32, float_samples<float>());
    check_expanded_equals_own<double>(op, Scalar::Float64, float_samples<double>());
  }
}

TEST(matrix_algebra) {
  for (uint32_t n : {2u, 3u, 4u}) {
    const Type m = Type::matrix(Scalar::Float64, n), v = Type::vector(Scalar::Float64, n);
    const Type s = Type::of(Scalar::Float64);
    const Matrix a = sample(n, 0.3), b = sample(n, 1.9);
    const size_t stride = column_stride(n);
    const auto call = [&](Op op, Type result, std::vector<Type> types, size_t size, auto... args) {
      return run<double>(expanded(elementwise(op, result, types)), 1, size, args...);
    };
    const auto product = call(Op::MatMul, m, {m, m}, n * stride, stored(a), stored(b));
    const auto inverse = call(Op::Inverse, m, {m}, n * stride, stored(a));
    const auto turned = call(Op::Transpose, m, {m}, n * stride, stored(a));
    const auto det = call(Op::Determinant, s, {m}, 1, stored(a));
    std::vector<double> x(stride), y(stride);
    for (size_t i = 0; i < n; i++) x[i] = 1.0 + static_cast<double>(i), y[i] = 0.5 - x[i];
    const auto by_vector = call(Op::MatMul, v, {m, v}, stride, stored(a), x);
    const auto of_vector = call(Op::MatMul, v, {v, m}, stride, x, stored(a));
    const auto outer = call(Op::OuterProduct, m, {v, v}, n * stride, x, y);
    CHECK(near(det[0], determinant(a)));
    for (size_t r = 0; r < n; r++) {
      double mv = 0, vm = 0;
      for (size_t k = 0; k < n; k++) mv += a.at[r][k] * x[k], vm += x[k] * a.at[k][r];
      CHECK(near(by_vector[r], mv));
      CHECK(near(of_vector[r], vm));
      for (size_t c = 0; c < n; c++) {
        double p = 0, unit = 0;
        for (size_t k = 0; k < n; k++) {
          p += a.at[r][k] * b.at[k][c];
          unit += a.at[r][k] * loaded(inverse, n, k, c);
        }
        CHECK(near(loaded(product, n, r, c), p));
        CHECK(near(unit, r == c ? 1 : 0));
        CHECK(loaded(turned, n, r, c) == a.at[c][r]);
        CHECK(loaded(outer, n, r, c) == x[r] * y[c]);
      }
    }
  }
}

TEST(geometry) {
  const Type v = Type::vector(Scalar::Float64, 3), s = Type::of(Scalar::Float64);
  const std::vector<double> a = {1, -2, 3, 0, 0, 0, 0, 0}, b = {0.6, 0, 0.8, 0, 1, 0, 0, 0};
  const auto call = [&](Op op, Type result, std::vector<Type> types, size_t size, auto... args) {
    return run<double>(expanded(elementwise(op, result, types)), 2, size, args...);
  };
  const auto dot = call(Op::Dot, s, {v, v}, 1, a, b);
  CHECK(near(dot[0], 3.0) && dot[1] == 0);
  const auto cross = call(Op::Cross, v, {v, v}, 4, a, b);
  CHECK(near(cross[0], -1.6) && near(cross[1], 1.0) && near(cross[2], 1.2));
  const auto unit = call(Op::Normalize, v, {v}, 4, a);
  CHECK(near(unit[1], -2 / std::sqrt(14)) && unit[4] == 0 && unit[5] == 0 && unit[6] == 0);
  const auto distance = call(Op::Distance, s, {v, v}, 1, a, b);
  CHECK(near(distance[0], std::sqrt(0.16 + 4 + 4.84)));
  const auto reflected = call(Op::Reflect, v, {v, v}, 4, a, b);
  CHECK(near(reflected[0], 1 - 6 * 0.6) && near(reflected[1], -2) && near(reflected[2], 3 - 4.8));
  const std::vector<double> eta = {0.5, 2.0}, down = {0.6, -0.8, 0, 0, 0.8, -0.6, 0, 0},
                            up = {0, 1, 0, 0, 0, 1, 0, 0};
  const auto bent = call(Op::Refract, v, {v, v, s}, 4, down, up, eta);
  CHECK(near(bent[0], 0.3) && near(bent[1], -std::sqrt(1 - 0.09)));
  CHECK(bent[4] == 0 && bent[5] == 0);
  const auto facing = call(Op::Faceforward, v, {v, v, v}, 4, a, down, up);
  CHECK(facing[0] == 1 && facing[1] == -2);
  const auto sum = call(Op::ReduceSum, s, {v}, 1, a);
  const auto least = call(Op::ReduceMin, s, {v}, 1, a);
  CHECK(sum[0] == 2 && least[0] == -2);
}

TEST(functions_of_floats_that_targets_may_lack) {
  const std::vector<float> x = {0.5f, 1, 2, 3, 10, -2, 0, 38}, y = {2, 0, 0.5f, -2, 3, 3, 0, -1.5f};
  const Type f = Type::of(Scalar::Float32), one[] = {f}, two[] = {f, f};
  const auto power = run<float>(expanded(elementwise(Op::Pow, f, two)), x.size(), 1, x, y);
  const auto tens = run<float>(expanded(elementwise(Op::Exp10, f, one)), x.size(), 1, x);
  const auto logs = run<float>(expanded(elementwise(Op::Log10, f, one)), x.size(), 1, x);
  for (size_t i = 0; i < x.size(); i++) {
    const double p = std::pow(double(x[i]), double(y[i])), t = std::pow(10.0, double(x[i]));
    CHECK(std::fabs(power[i] - p) <= 1e-6 * std::fabs(p));
    CHECK(std::fabs(tens[i] - t) <= 3e-7 * t);
    if (x[i] > 0) CHECK(std::fabs(logs[i] - std::log10(double(x[i]))) <= 3e-7);
  }
  CHECK(std::isinf(logs[6]) && std::isnan(logs[5]));
}
