// Facts about operations, read from op.def. Code reads rows; it never switches over all ops.
#pragma once
#include <cstdint>
#include <string_view>

namespace lcpy {

enum class Op : uint16_t {
#define OP(name, python, category, shape, usage, level, sync, doc) name,
#define REFUSED(name, python, category, usage, reason, doc) name,
#include "ops/op.def"
#undef OP
#undef REFUSED
};
inline constexpr int kOpCount = 0
#define OP(name, python, category, shape, usage, level, sync, doc) +1
#define REFUSED(name, python, category, usage, reason, doc) +1
#include "ops/op.def"
#undef OP
#undef REFUSED
    ;

enum class OpCategory : uint8_t {
  Operator, Select, Math, Bits, Geometry, Reduce, Matrix, Make, Ids, Buffer, Atomic, Block, Hint,
  Convert, Value, Memory, Control, Warp, Texture, Bindless, Autodiff, RayTracing, Raster, Indirect,
  Cooperative, Async, Tensor, Debug
};
enum class OpUsage : uint8_t { Nothing, Read, Write0, ReadWrite0 };
enum class OpLevel : uint8_t { Ast, Both, Kernel, Refused };
enum class OpSync : uint8_t { Free, Uniform };
enum class Shape : uint8_t {
#define SHAPE(name, doc) name,
#include "ops/shape.def"
#undef SHAPE
};

struct OpRow {
  Op op;
  std::string_view name;         // the enumerator's spelling, for text forms and messages
  std::string_view python_name;  // "" when it has none
  OpCategory category;
  Shape shape;
  OpUsage usage;
  OpLevel level;
  OpSync sync;
  std::string_view reason;  // of a Refused row
  std::string_view doc;
};

extern const OpRow* const kOpRows;  // kOpCount of them
inline const OpRow& op_row(Op op) { return kOpRows[static_cast<int>(op)]; }
// kOpCount when there is none.
Op find_op(std::string_view enumerator_name);
Op find_python_op(std::string_view python_name);

}  // namespace lcpy
