// The core's own functions, run on the interpreter, against those that the interpreter has itself:
// with and without fused multiply-add, float and double, near and far arguments, and the edges.
#include "lower/own.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "check.h"
#include "interp/interp.h"
#include "kernel/descriptor.h"
#include "lower/lower.h"

using namespace lcpy;

namespace {

bool all_native(Op, Type, Type, MathMode) { return true; }

// out[i] = op(a[i]) or op(a[i], b[i]); every operation of a lane.
KernelDescriptor kernel(Op op, Type t, size_t operands) {
  KernelDescriptor d;
  KernelBuilder b(d);
  for (uint32_t i = 0; i <= operands; i++) {
    Slot slot;
    slot.name = "b";
    slot.type = Type::buffer(t);
    slot.number = i;
    slot.access = i == operands ? Access::Write : Access::Read;
    b.add_slot(slot);
  }
  b.add_function("k", {}, {}, {});
  b.set_insertion(BodyId(0u));
  const ValueId id = b.emit(Op::DispatchId, Type::vector(Scalar::UInt32, 3), {});
  const Operand at = Operand::of(b.extract(id, {0}));
  std::vector<ValueId> args;
  for (uint32_t i = 0; i < operands; i++) args.push_back(b.load(SlotId(i), std::span(&at, 1), t));
  const ValueId v = b.emit(op, t, std::span<const ValueId>(args));
  b.store(SlotId(operands), std::span(&at, 1), v);
  b.terminate(Op::Return);
  return d;
}

template <class T>
std::vector<T> run(const KernelDescriptor& d, const std::vector<std::vector<T>>& args) {
  std::vector<T> out(args[0].size());
  std::vector<interp::Binding> bindings;
  for (const auto& a : args) bindings.push_back({const_cast<T*>(a.data()), a.size() * sizeof(T)});
  bindings.push_back({out.data(), out.size() * sizeof(T)});
  const std::vector<std::byte> block(argument_block(d).size);
  interp::Launch launch;
  launch.dispatch_size = {static_cast<uint32_t>(out.size()), 1, 1};
  launch.buffers = bindings;
  launch.block = block;
  launch.threads = 1;
  interp::run(*interp::build_program(d), launch);
  return out;
}

template <class T>
double last_places(T got, T want) {
  if (got == want || (got != got && want != want)) return 0;
  if (std::isinf(got) || std::isinf(want) || got != got || want != want) return 1e30;
  const T size = std::fmax(std::fabs(want), std::numeric_limits<T>::min());
  const T place = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return std::fabs(double(got) - double(want)) / double(place);
}

template <class T>
std::vector<T> samples() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> v = {0,
                      T(0.5),
                      1,
                      2,
                      3,
                      T(0.1),
                      T(1e-30),
                      T(1e-5),
                      89,
                      88,
                      104,
                      710,
                      746,
                      Limits::min(),
                      Limits::denorm_min(),
                      Limits::max(),
                      Limits::infinity()};
  uint32_t state = 1;
  const auto random = [&] { return double(state = state * 1664525u + 1013904223u) / 4294967296.0; };
  for (int i = 0; i < 400; i++) {
    v.push_back(T(random() * 4));
    v.push_back(T(random() * 150));
    v.push_back(T(std::ldexp(random() + 0.5, int(random() * 240) - 120)));
    v.push_back(T(1 + std::ldexp(random() - 0.5, -int(random() * 20))));
  }
  const size_t n = v.size();
  for (size_t i = 0; i < n; i++) v.push_back(-v[i]);
  v.push_back(Limits::quiet_NaN());
  return v;
}

template <class T>
void check_functions(Scalar s, bool fused) {
  const Type t = Type::of(s);
  OwnFunctions own;
  own.float32 = ~0u;
  own.float64 = true;
  own.fused_fma = fused;
  for (size_t o = 0; o < kOpCount; o++) {
    const Op op = static_cast<Op>(o);
    if (!own_function_bit(op)) continue;
    std::vector<T> x = samples<T>(), y;
    const bool pair = op == Op::Pow || op == Op::Atan2;
    std::vector<std::vector<T>> args{x};
    if (pair) {
      for (size_t i = 0; i < x.size(); i++) y.push_back(x[(i * 7919) % x.size()]);
      for (T a : {T(0), T(-0.0), T(1), T(-1), T(2), T(-3), T(0.5), T(INFINITY), T(-INFINITY)})
        for (T b : {T(0), T(-0.0), T(1), T(-1), T(2), T(-3), T(0.5), T(INFINITY), T(-INFINITY)})
          x.push_back(a), y.push_back(b);
      args = {x, y};
    }
    const KernelDescriptor d = kernel(op, t, args.size());
    KernelDescriptor expanded = d;
    pass_expand(expanded, all_native, own);
    verify_or_throw(expanded, "expand");
    CHECK(expanded.functions.size() > 1);
    const std::vector<T> want = run<T>(d, args), got = run<T>(expanded, args);
    for (size_t i = 0; i < x.size(); i++) {
      const bool zero = want[i] == 0 && std::signbit(want[i]) != std::signbit(got[i]);
      if (last_places(got[i], want[i]) <= 4 && !zero) continue;
      std::ostringstream text;
      text.precision(17);
      text << op_row(op).name << '(' << x[i] << (pair ? ", " : "");
      if (pair) text << y[i];
      text << ") = " << got[i] << ", not " << want[i] << (fused ? ", fused" : "");
      test::fail(__FILE__, __LINE__, text.str());
    }
  }
}

}  // namespace

TEST(own_functions_of_float) {
  check_functions<float>(Scalar::Float32, false);
  check_functions<float>(Scalar::Float32, true);
}

TEST(own_functions_of_double) {
  check_functions<double>(Scalar::Float64, false);
  check_functions<double>(Scalar::Float64, true);
}

// One function for each operation and type, whatever the number of uses and lanes; none in fast
// mode of float, nor where the mask leaves it out.
TEST(own_functions_are_made_once) {
  KernelDescriptor d;
  KernelBuilder b(d);
  const Type v = Type::vector(Scalar::Float32, 3);
  Slot slot;
  slot.name = "b";
  slot.type = Type::buffer(v);
  slot.access = Access::ReadWrite;
  b.add_slot(slot);
  b.add_function("k", {}, {}, {});
  b.set_insertion(BodyId(0u));
  const Operand at = Operand::of(b.integer(Type::of(Scalar::UInt32), 0));
  const ValueId x = b.load(SlotId(0u), std::span(&at, 1), v);
  const ValueId e = b.emit(Op::Exp, v, {b.emit(Op::Exp, v, {x})});
  b.store(SlotId(0u), std::span(&at, 1), e);
  b.terminate(Op::Return);
  OwnFunctions own;
  own.float32 = own_function_bit(Op::Exp);
  KernelDescriptor once = d;
  pass_expand(once, all_native, own);
  CHECK(once.functions.size() == 2);
  own.float32 = own_function_bit(Op::Log);
  KernelDescriptor none = d;
  pass_expand(none, all_native, own);
  CHECK(none.functions.size() == 1);
  own.float32 = ~0u;
  d.math = MathMode::Fast;
  pass_expand(d, all_native, own);
  CHECK(d.functions.size() == 1);
}
