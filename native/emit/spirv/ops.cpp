// The rows of ops.def as a table by operation, proven total by the compiler.
#include "emit/spirv/ops.h"

#include "emit/spirv/emitter.h"
#include "lower/expand.h"

namespace lcpy::spirv {
namespace {

// ---- native predicates ----------------------------------------------------------------------

bool always(Type, Type, MathMode) { return true; }

bool never(Type, Type, MathMode) { return false; }

bool lanes32(Type, Type first, MathMode) {
  return first.is_lanes() && scalar_size(first.scalar()) == 4;
}

// In strict mode -0 is below +0, which the instructions do not promise.
bool zeros_equal(Type, Type first, MathMode math) {
  return math != MathMode::Strict || !first.is_float();
}

// Pow is defined for positive bases alone; fast mode takes it as it is.
bool fast(Type, Type, MathMode math) { return math == MathMode::Fast; }

bool unsigned_integers(Type, Type first, MathMode) {
  return first.has_class(ScalarClass::Unsigned);
}

// Saturation and the storage formats are arithmetic that pass_expand writes.
bool convertible(Type result, Type first, MathMode) {
  const auto from = scalar_class(first.scalar()), to = scalar_class(result.scalar());
  if (from == ScalarClass::Storage || to == ScalarClass::Storage) return false;
  return from != ScalarClass::Float || to == ScalarClass::Float || to == ScalarClass::Bool;
}

// Warp operations on 8, 16 and 64 bits need a feature of their own: they are built of these.
bool warp_integers(Type, Type first, MathMode) {
  return first.is_integer() && scalar_size(first.scalar()) == 4;
}

bool warp_numbers(Type, Type first, MathMode math) {
  if (first.is_integer()) return scalar_size(first.scalar()) == 4;
  return math != MathMode::Strict && scalar_size(first.scalar()) >= 4;
}

bool words(Type, Type first, MathMode) {
  return !first.has_class(ScalarClass::Bool) && scalar_size(first.scalar()) == 4;
}

// ---- rows -----------------------------------------------------------------------------------

// No definition: an operation without a row in ops.def fails here, and the error names it.
template <Op op>
struct Row;

#define LCPY_ROW(name) \
  template <>          \
  struct Row<Op::name>
#define INSTRUCTION(name, native, b, s, u, f)                                        \
  LCPY_ROW(name) {                                                                   \
    static constexpr EmitRow row{                                                    \
        RowKind::Instruction, native, {Opcode::b, Opcode::s, Opcode::u, Opcode::f}}; \
  };
#define GLSL(name, native, s, u, f, width64)                                                  \
  LCPY_ROW(name) {                                                                            \
    static constexpr EmitRow row{                                                             \
        RowKind::Glsl, native, {}, {Glsl::Bad, Glsl::s, Glsl::u, Glsl::f}, Width64::width64}; \
  };
#define OWN(name, native, function)                                                               \
  LCPY_ROW(name) {                                                                                \
    static constexpr EmitRow row{RowKind::Own, native, {}, {}, Width64::Yes, &Emitter::function}; \
  };
#define OWN32(name, native, function)                                                            \
  LCPY_ROW(name) {                                                                               \
    static constexpr EmitRow row{RowKind::Own, native, {}, {}, Width64::No, &Emitter::function}; \
  };
#define EXPANDED(name)                                      \
  LCPY_ROW(name) {                                          \
    static_assert(has_expansion(Op::name));                 \
    static constexpr EmitRow row{RowKind::Expanded, never}; \
  };
#define UNSUPPORTED(name, why)                                             \
  LCPY_ROW(name) {                                                         \
    static constexpr EmitRow row{                                          \
        RowKind::Unsupported, always, {}, {}, Width64::Yes, nullptr, why}; \
  };
#include "emit/spirv/ops.def"
#undef INSTRUCTION
#undef GLSL
#undef OWN
#undef OWN32
#undef EXPANDED
#undef UNSUPPORTED
#undef LCPY_ROW

// The op table's levels decide what needs a row.
#define LCPY_AT_Ast(name) nullptr
#define LCPY_AT_Both(name) &Row<Op::name>::row
#define LCPY_AT_Kernel(name) &Row<Op::name>::row
constexpr const EmitRow* kRows[kOpCount] = {
#define OP(name, python, category, shape, usage, level, sync, doc) LCPY_AT_##level(name),
#define REFUSED(name, python, category, usage, reason, doc) nullptr,
#include "ops/op.def"
#undef OP
#undef REFUSED
};
#undef LCPY_AT_Ast
#undef LCPY_AT_Both
#undef LCPY_AT_Kernel

}  // namespace

const EmitRow* emit_row(Op op) { return kRows[static_cast<size_t>(op)]; }

namespace {

bool is_extreme(Op op) { return op == Op::Min || op == Op::Max; }
bool nvidia_native(Op op, Type result, Type first, MathMode math) {
  if (is_extreme(op) && result.scalar() == Scalar::Float32) return true;
  if (is_extreme(op) && result.is_integer() && scalar_size(result.scalar()) < 4) return false;
  if (op == Op::Convert && saturates_on_nvidia(result, first)) return true;
  return spirv_native(op, result, first, math);
}

}  // namespace

NativeOp native_ops(const VulkanTarget& target) {
  return target.nvidia_arithmetic ? nvidia_native : spirv_native;
}

bool spirv_native(Op op, Type result, Type first, MathMode math) {
  const EmitRow* row = emit_row(op);
  return row && row->native(result, first, math);
}

}  // namespace lcpy::spirv
