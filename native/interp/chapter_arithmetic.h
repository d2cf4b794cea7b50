// The rows of kernel/elementwise.def for the scalars that LCPY_SCALARS lists, one instruction set.
#include "interp/loops_elements.h"

namespace lcpy::interp::LCPY_ISA {

void LCPY_FILL(Loops& loops) {
#define LCPY_SET(scalar, type, op, operands, result) \
  set_element<sem::op, operands, Result::result, type>(loops, Op::op, Scalar::scalar);
#define LCPY_TYPES_Int(...) LCPY_INTS(LCPY_SET, __VA_ARGS__)
#define LCPY_TYPES_Float(...) LCPY_FLOATS(LCPY_SET, __VA_ARGS__)
#define LCPY_TYPES_Number(...) LCPY_INTS(LCPY_SET, __VA_ARGS__) LCPY_FLOATS(LCPY_SET, __VA_ARGS__)
#define LCPY_TYPES_Bits(...) LCPY_INTS(LCPY_SET, __VA_ARGS__)
#define LCPY_TYPES_NumberBool(...) LCPY_TYPES_Number(__VA_ARGS__)
#define LCPY_TYPES_Bool(...)  // lane bits: interp/flow.cpp
#define ELEMENTWISE(op, operands, types, result) LCPY_TYPES_##types(op, operands, result)
#include "kernel/elementwise.def"
#undef ELEMENTWISE
}

}  // namespace lcpy::interp::LCPY_ISA
