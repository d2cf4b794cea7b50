// AST → kernel descriptor, and the named passes over it.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ast/builder.h"
#include "kernel/descriptor.h"
#include "kernel/uniform.h"

namespace lcpy {

struct LowerOptions {
  MathMode math = MathMode::Ieee;
  bool bounds = false;  // accesses out of range trap
  int opt = 1;          // 0 runs no optional pass; same bits
  bool ragged = true;   // the dispatch may end inside a block: threads past the end must be kept
                        // from memory. false only when every axis is a multiple of the block
  bool view_offsets =
      false;                 // buffers are views at any start: add the argument block's base offset
  bool verify_each = false;  // verify after every pass (tests, debug)
  void (*dump)(void* user, std::string_view stage, std::string_view text) = nullptr;
  void* dump_user = nullptr;
};

// The pipeline, read aloud in lower/pipeline.cpp: lower, then the passes, each named. The result
// holds the language's own operations (FloorDiv, Shl, MatMul, …). CompileError on wrong programs.
KernelDescriptor lower_kernel(const ast::FunctionBuilder& kernel, const LowerOptions& options);

// The first stage alone: no pass has run yet.
KernelDescriptor lower_ast(const ast::FunctionBuilder& kernel, const LowerOptions& options);

// Passes, each linear in the size of the descriptor. Names are those of the dump switch.
void pass_fold(KernelDescriptor& d);      // constants, by the interpreter's own arithmetic
void pass_simplify(KernelDescriptor& d);  // identities that keep every bit (x*0 stays for floats)
void pass_common(KernelDescriptor& d);    // equal pure operations along dominance
void pass_dead(
    KernelDescriptor& d);  // unused pure operations, results, parameters, bodies, slots, constants
// The same for emitters, when the argument block is already what the host packs: it stays.
void remove_dead(KernelDescriptor& d);
void pass_inline(KernelDescriptor& d);  // small callables without a return inside a loop
// Structs that branches yield, loops carry and functions take or return, one value for each member;
// for targets whose compiler moves such structs byte by byte. Then the passes that gain by it.
void pass_split(KernelDescriptor& d);
// Short loops of known turns, one turn after the other, then the passes that gain by it; for
// targets whose compiler leaves them, with their tables and local arrays, as they are.
void pass_unroll(KernelDescriptor& d);
// Sequentially consistent atomics, by others that acquire and release; run by targets.
void pass_sequential(KernelDescriptor& d);
void pass_report(KernelDescriptor& d, bool ragged);  // Assert, Trap, Print and Bounds
void pass_guard(KernelDescriptor& d, bool ragged);   // threads past the end

// External functions: those with a text in `language` stay, without their body; the others become
// calls of their body; those with neither are refused. `target` names the target in messages;
// language "" has no texts. The slots' marks stay, and so does the argument block.
void pass_external(KernelDescriptor& d, std::string_view language, std::string_view target);

// Whether a conversion is from floats to integers of 32 or 64 bits, which NVIDIA's machine does
// with saturation.
inline bool saturates_on_nvidia(Type to, Type from) {
  return to.is_integer() && scalar_size(to.scalar()) >= 4 && from.is_float() &&
         scalar_size(from.scalar()) >= 4;
}

// Replaces operations that a target lacks by others that every target has, with language.md's
// meaning: floor division, guarded division, masked shifts, saturating conversion, matrix algebra,
// geometry, narrow and wide bit counts… `native` says which (op, type of the first operand) to
// keep.
using NativeOp = bool (*)(Op op, Type result, Type first_operand, MathMode math);

// The core's own versions of functions that a target lacks or computes too loosely (own.def): they
// become functions of the descriptor, one for each operation and type, and are called.
struct OwnFunctions {
  uint32_t float32 = 0;    // a bit for each row of own.def; not in fast mode
  bool float64 = false;    // all of them
  bool float16 = false;    // half by way of float, rounded once; not in fast mode
  bool fused_fma = false;  // Fma is one rounding and cheap
};
uint32_t own_function_bit(Op op);                    // 0: the core has none
std::vector<std::string_view> own_function_names();  // Python's, by bit
void pass_expand(KernelDescriptor& d, NativeOp native, const OwnFunctions& own = {});

// For a target without half: holds halves as their bits and computes in float, rounded to half
// after each operation. Run before the target's own pass_expand; costs nothing without halves.
void pass_widen(KernelDescriptor& d);

}  // namespace lcpy
