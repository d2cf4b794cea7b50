// How each operation becomes SPIR-V: one row an operation, in ops.def. The table is total: an
// operation of op.def that passes into descriptors and has no row here stops the build by name.
#pragma once
#include "emit/emit.h"
#include "lower/lower.h"
#include "ops/op.h"
#include "spirv/grammar.h"

namespace lcpy::spirv {

class Emitter;

// Which column of a row applies: the class of the first operand.
enum class OperandClass : uint8_t { Bool, Signed, Unsigned, Float };
inline constexpr int kOperandClasses = 4;

enum class RowKind : uint8_t { Instruction, Glsl, Own, Expanded, Unsupported };
// GLSL.std.450 computes some functions up to 32 bits only; of double they are the core's own.
enum class Width64 : uint8_t { Yes, No };

// Whether SPIR-V does the operation itself; where it does not, pass_expand has replaced it.
using Native = bool (*)(Type result, Type first, MathMode math);
using OwnFunction = void (Emitter::*)(const Operation&);

struct EmitRow {
  RowKind kind{};
  Native native = nullptr;
  Opcode opcodes[kOperandClasses] = {};  // of Instruction; Nop where the class has none
  Glsl functions[kOperandClasses] = {};  // of Glsl; Bad (0) where the class has none
  Width64 width64 = Width64::Yes;        // whether it is done on double
  OwnFunction own = nullptr;
  const char* reason = nullptr;  // of Unsupported
};

// Of any operation; AST-level and refused ones have none, and never get into a descriptor.
const EmitRow* emit_row(Op op);

// The native set that pass_expand is asked to keep.
bool spirv_native(Op op, Type result, Type first, MathMode math);
// The same for a target, whose machine may have more.
NativeOp native_ops(const VulkanTarget& target);

constexpr OperandClass operand_class(Scalar s) {
  switch (scalar_class(s)) {
    case ScalarClass::Bool:
      return OperandClass::Bool;
    case ScalarClass::Signed:
      return OperandClass::Signed;
    case ScalarClass::Float:
      return OperandClass::Float;
    case ScalarClass::Unsigned:
    case ScalarClass::Storage:
      break;
  }
  return OperandClass::Unsigned;
}

}  // namespace lcpy::spirv
