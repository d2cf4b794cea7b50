// Transcendental functions, one instruction set.
#include "interp/functions.h"
#include "interp/loops_elements.h"

namespace lcpy::interp::LCPY_ISA {
namespace {

// sin, cos and tan of a row: large arguments, which are rare, must not keep the others from being
// vector code. A lane's result never depends on its neighbours.
template <class Op, class T>
const Instr* turning_row(const Instr* at, char* f, State& s) {
  const auto a = row<T>(f, at->a), d = row<T>(f, at->d);
  alignas(64) float x[kLanes];
  LCPY_LANES(l) x[l] = sem::up(a.get(l));
  const uint64_t far = ~test_bytes([&](int l) __attribute__((always_inline)) {
    return __builtin_fabsf(x[l]) <= functions::kTurnLimit;
  });
  alignas(64) float r[kLanes];
  LCPY_LANES(l) r[l] = Op::near_zero(x[l]);
  for (uint64_t m = far & s.mask; m != 0; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    r[l] = Op::of(x[l]);
  }
  LCPY_LANES(l) d.put(l, sem::down<T>(r[l]));
  return at + 1;
}
template <class Op>
void set_turning(Loops& loops, lcpy::Op op) {
  constexpr int rows = static_cast<int>(Form::Rows);
  loops.ops[static_cast<int>(op)][static_cast<int>(Scalar::Float32)][rows] =
      &turning_row<Op, float>;
  loops.ops[static_cast<int>(op)][static_cast<int>(Scalar::Float16)][rows] =
      &turning_row<Op, sem::Half>;
}

}  // namespace

void fill_functions(Loops& loops) {
#define FUNCTION(op, operands)                                                                   \
  set_element<functions::op, operands, Result::Same, sem::Half>(loops, Op::op, Scalar::Float16); \
  set_element<functions::op, operands, Result::Same, float>(loops, Op::op, Scalar::Float32);     \
  set_element<functions::op, operands, Result::Same, double>(loops, Op::op, Scalar::Float64);
#include "interp/functions.def"
#undef FUNCTION
  set_turning<functions::Sin>(loops, Op::Sin);
  set_turning<functions::Cos>(loops, Op::Cos);
  set_turning<functions::Tan>(loops, Op::Tan);
}

}  // namespace lcpy::interp::LCPY_ISA
