// The kernel descriptor: what a device runs, neutral of any. Slots, functions, and a tree of bodies
// of SSA operations. Everything that emits or executes reads it, and reads nothing else.
//
// Memory is reached only through places: a slot and a chain of indices. There are no pointers, so
// every descriptor is in logical addressing by construction. References become results: a callable
// with a reference parameter takes the value and returns it. Slots may be named from any function;
// a callable that takes a buffer or a shared array is specialised by slot while lowering.
//
// Operand layouts are documented in ops/op.def, row by row.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/span.h"
#include "ops/op.h"
#include "types/type.h"

namespace lcpy {

using ValueId = Id<struct ValueTag>;
using SlotId = Id<struct SlotTag>;  // index into KernelDescriptor::slots
using BodyId = Id<struct BodyTag>;
using OpId = Id<struct OpTag>;
using FunctionId = Id<struct FunctionTag>;

enum class MemoryClass : uint8_t {
  Global,    // a buffer the host binds; the chain's first index is the element
  Uniform,   // a by-value argument of the kernel, read only; the chain starts inside the value
  Constant,  // a table of constants, read only; the chain starts inside the value
  Shared,    // one value a block; the chain starts inside the value
  Scratch,   // one value a thread, local to a function; likewise
  Texture,
  Sampler,
  Heap,
  Accel,
};
enum class Access : uint8_t { None = 0, Read = 1, Write = 2, ReadWrite = 3 };

// Slot numbers of Shared, Scratch and Constant memory start here, so that they never meet a
// binding.
inline constexpr uint32_t kInternalSlotBase = 1u << 24;

struct Slot {
  std::string name;  // the user's, for messages; targets mangle it
  Type type;         // Global: the buffer type; the others: the value's type
  MemoryClass memory = MemoryClass::Global;
  Access access = Access::None;  // what the descriptor's operations do with it
  uint32_t number = 0;           // binding asked for, or kInternalSlotBase + n
  bool atomics = false;          // reached by an atomic operation
  bool length_used = false;      // BufferLength or BufferLength64 reads it
  bool extents_used = false;     // BufferExtent reads it (also multi-axis indexing)
  bool report = false;           // ours: what asserts, traps and prints write; see kernel/report.h
  FunctionId owner;              // of Scratch
  std::vector<std::byte> data;   // of Constant: type.size() bytes in memory layout
  Span span;
};

struct Operand {
  enum class Kind : uint8_t { Value, Slot, Body, Function, Imm };
  Kind kind = Kind::Imm;
  uint32_t index = 0;
  static Operand of(ValueId v) { return {Kind::Value, v.value}; }
  static Operand of(SlotId s) { return {Kind::Slot, s.value}; }
  static Operand of(BodyId b) { return {Kind::Body, b.value}; }
  static Operand of(FunctionId f) { return {Kind::Function, f.value}; }
  static Operand imm(uint32_t i) { return {Kind::Imm, i}; }
  bool is_value() const { return kind == Kind::Value; }
  bool is_imm() const { return kind == Kind::Imm; }
  ValueId value() const { return ValueId(index); }
  SlotId slot() const { return SlotId(index); }
  BodyId body() const { return BodyId(index); }
  FunctionId function() const { return FunctionId(index); }
  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class MemoryOrder : uint8_t {
  Relaxed,
  Acquire,
  Release,
  AcquireRelease,
  SequentiallyConsistent
};
// Add, Sub, Mul of floats: rounded as written, never contracted or simplified, in any math mode.
inline constexpr uint8_t kExactFlag = 1;
// Div of floats: as the device divides, within 2.5 ULP, though others are corrected to be exact.
inline constexpr uint8_t kLooseFlag = 2;
// BufferLength: 2^32 - 1 of a buffer of more elements. Without it no launch binds such a buffer.
inline constexpr uint8_t kSaturatingFlag = 1;
enum class BranchHint : uint8_t { None, Flatten, Branch };

struct Operation {
  Op op{};
  uint8_t flags =
      0;  // memory and atomics: bits 0–2 MemoryOrder, bit 3 volatile; If, Switch: BranchHint;
          // Add, Sub, Mul: kExactFlag; Div: kLooseFlag; BufferLength: kSaturatingFlag
  uint16_t result_count = 0;
  uint32_t operand_begin = 0;  // into KernelDescriptor::operands
  uint32_t operand_count = 0;
  ValueId first_result;  // results have consecutive ids
  Span span;
};

struct Value {
  enum class Def : uint8_t { Constant, Result, BodyParameter, FunctionParameter };
  Type type;
  Def def = Def::Result;
  uint32_t source = 0;  // constant index, OpId, BodyId or FunctionId
  uint32_t index = 0;   // which result or parameter
};

// A constant value, its bytes in the type's memory layout with zeroed padding; interned by
// type and bytes. bools are 0 or 1. Constants are values that dominate everything.
struct Constant {
  Type type;
  uint32_t data = 0;  // offset into KernelDescriptor::constant_data
};

struct Body {
  std::vector<ValueId> params;  // of a Loop's body: the carried values; else empty
  std::vector<OpId> ops;  // the last one is a terminator: Yield Break Continue Return Unreachable
};

struct Function {
  static constexpr uint32_t kNotExternal = 0xffffffffu;
  std::string name;
  std::vector<ValueId> params;
  std::vector<Type> results;
  BodyId body;
  Span span;
  uint32_t external = kNotExternal;  // index into KernelDescriptor::externals
};

// An external function, bound to slots as the function is: a target that compiles one of the
// languages calls the text's function of that name, the others the body. Results are the returned
// value, then the references that are written.
struct ExternalFunction {
  enum class Kind : uint8_t { Value, Reference, Buffer };
  struct Parameter {
    Kind kind = Kind::Value;
    Access access = Access::Read;
    uint32_t index = 0;  // of the function's parameter, or the slot
  };
  std::string symbol;
  std::vector<std::pair<std::string, std::string>> texts;  // language, source
  std::vector<Parameter> parameters;
  bool returns = false;
  bool has_body = false;
  const std::string* text(std::string_view language) const {
    for (const auto& [name, source] : texts)
      if (name == language) return &source;
    return nullptr;
  }
};

// A place in the program that reports: Assert, Trap, Print and Bounds name theirs by its number.
// What the host needs to say it is here; the running kernel gives the number and the values.
struct Site {
  enum class Kind : uint8_t { Assert, Trap, Print, Bounds };
  Kind kind{};
  std::string text;         // message; format, which only the host understands; what is indexed
  std::vector<Type> types;  // of the values: none; the code; what is printed; the index, and of a
                            // byte buffer what is read there
  Span span;
};

enum class MathMode : uint8_t { Ieee, Strict, Fast };

struct KernelDescriptor {
  std::string name;
  std::array<uint32_t, 3> block_size{1, 1, 1};
  MathMode math = MathMode::Ieee;
  std::vector<Slot> slots;          // host slots first, in argument order
  std::vector<Function> functions;  // 0 is the kernel: no parameters, no results
  std::vector<ExternalFunction> externals;
  std::vector<Body> bodies;
  std::vector<Operation> ops;
  std::vector<Operand> operands;
  std::vector<Value> values;
  std::vector<Constant> constants;
  std::vector<std::byte> constant_data;
  std::vector<Site> sites;
  bool view_offsets =
      false;  // buffers carry a base offset in the argument block (views at any start)

  const Operation& op(OpId id) const { return ops[id.value]; }
  Operation& op(OpId id) { return ops[id.value]; }
  std::span<const Operand> operands_of(const Operation& o) const {
    return {operands.data() + o.operand_begin, o.operand_count};
  }
  std::span<Operand> operands_of(const Operation& o) {
    return {operands.data() + o.operand_begin, o.operand_count};
  }
  ValueId result(const Operation& o, uint32_t i = 0) const {
    return ValueId(o.first_result.value + i);
  }
  Type type_of(ValueId v) const { return values[v.value].type; }
  const ExternalFunction& external_of(const Operation& o) const {  // of an External
    return externals[functions[operands[o.operand_begin].index].external];
  }
  bool is_constant(ValueId v) const { return values[v.value].def == Value::Def::Constant; }
  std::span<const std::byte> constant_bytes(ValueId v) const;  // of a constant value
  const Slot& slot(SlotId s) const { return slots[s.value]; }
  const Body& body(BodyId b) const { return bodies[b.value]; }

  bool uses_barrier() const;  // reaches SyncBlock, from any function
  bool uses_warp() const;     // reaches an operation over the lanes of a warp
  bool uses_shared() const;
  // Whether every thread of a block must run, those past the end of the dispatch too.
  bool needs_whole_blocks() const { return uses_shared() || uses_barrier() || uses_warp(); }
  // The host slots that reports use, none where the kernel has none: the tag, a Uniform uint4, and
  // the memory, a Global buffer<uint> right after it.
  SlotId report_tag() const;
  SlotId report_memory() const;
  uint64_t shared_bytes() const;  // of all Shared slots, each at its alignment
  uint64_t hash() const;          // of the text form without names and spans
};

// Appends operations to a body of a descriptor. Types are given by the caller and checked by
// verify().
class KernelBuilder {
 public:
  explicit KernelBuilder(KernelDescriptor& d);

  SlotId add_slot(Slot slot);
  FunctionId add_function(std::string name, std::span<const Type> params,
                          std::span<const Type> results, Span span);
  BodyId add_body(std::span<const Type> params = {});
  void set_insertion(BodyId body) { body_ = body; }
  BodyId insertion() const { return body_; }
  void set_span(Span span) { span_ = span; }
  Span span() const { return span_; }

  // Interned constants.
  ValueId constant(Type type, std::span<const std::byte> bytes);
  ValueId zero(Type type);
  ValueId splat(Type lanes, double value);     // a float or integer scalar or vector, converted
  ValueId integer(Type lanes, uint64_t bits);  // truncated to the width, spread over the lanes
  ValueId boolean(bool value);

  // Any operation: operands, result types, and flags.
  OpId append(Op op, std::span<const Operand> operands, std::span<const Type> results = {},
              uint8_t flags = 0);
  // Value operations with one result.
  ValueId emit(Op op, Type type, std::initializer_list<ValueId> operands);
  ValueId emit(Op op, Type type, std::span<const ValueId> operands);
  ValueId extract(ValueId aggregate, std::initializer_list<uint32_t> path);
  ValueId insert(ValueId aggregate, ValueId part, std::initializer_list<uint32_t> path);
  ValueId construct(Type type, std::span<const ValueId> parts);
  ValueId load(SlotId slot, std::span<const Operand> chain, Type type, uint8_t flags = 0);
  void store(SlotId slot, std::span<const Operand> chain, ValueId value, uint8_t flags = 0);
  void terminate(Op op, std::span<const ValueId> values = {});

  KernelDescriptor& descriptor() { return d_; }

 private:
  KernelDescriptor& d_;
  BodyId body_;
  Span span_;
  // Open addressing over the constants' values: compiling meets many constants, most of them again.
  void rehash(size_t least);
  void remember(ValueId v);
  ValueId find(Type type, std::span<const std::byte> bytes) const;
  std::vector<uint32_t> interned_;
  size_t interned_count_ = 0;
  std::vector<Operand> scratch_;
};

// The argument block: what the host passes besides the buffers, one layout for every target.
//   0   uint3 dispatch size    12  uint kernel id
//   16… each Uniform slot at its type's alignment, in slot order, bools as one byte
//   then, for each Global slot that needs them, in slot order: uint64 length (8-aligned) if
//   length_used, uint3 extents (4-aligned) if extents_used, uint64 base offset in elements
//   (bytes for byte buffers) if view_offsets
struct ArgumentBlock {
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr uint32_t kDispatchSize = 0, kKernelId = 12, kHeader = 16;
  struct Entry {
    uint32_t value = kNone, length = kNone, extents = kNone, base = kNone;  // byte offsets
  };
  std::vector<Entry> entries;  // by slot index
  uint32_t size = kHeader;     // rounded up to 16
};
ArgumentBlock argument_block(const KernelDescriptor& d);

// Every violation, each with its path ("function 0 / op 3 Loop / body / op 1"). Empty: well formed.
struct Violation {
  std::string path;
  std::string rule;  // a short stable name, "dominance", "slot_class", …
  std::string message;
  Span span;
};
std::vector<Violation> verify(const KernelDescriptor& d);
// Throws BugError listing all violations.
void verify_or_throw(const KernelDescriptor& d, const char* after);

// Text form that parses back to an equal descriptor.
std::string to_text(const KernelDescriptor& d);
KernelDescriptor parse_kernel(std::string_view text);  // LoadError with line and column

}  // namespace lcpy
