// Transcendental functions, one instruction set.
#include "interp/functions.h"
#include "interp/loops_elements.h"

namespace lcpy::interp::LCPY_ISA {

void fill_functions(Loops& loops) {
#define FUNCTION(op, operands)                                                                \
  set_element<functions::op, operands, Result::Same, sem::Half>(loops, Op::op, Scalar::Float16); \
  set_element<functions::op, operands, Result::Same, float>(loops, Op::op, Scalar::Float32);     \
  set_element<functions::op, operands, Result::Same, double>(loops, Op::op, Scalar::Float64);
#include "interp/functions.def"
#undef FUNCTION
}

}  // namespace lcpy::interp::LCPY_ISA
