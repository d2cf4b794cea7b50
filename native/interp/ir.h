// The descriptor, flattened: a list of nodes on scalars, in the order of execution, with regions
// for its structure. Between the descriptor and the instructions; lives only while a program is
// built.
//
// A scalar is one component of a value. Aggregates have vanished: making one, taking it apart and
// reordering lanes are bookkeeping. A scalar is defined once, but for those that nodes of kind Move
// write: what loops carry, what branches, loops and calls give.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "interp/code.h"
#include "kernel/descriptor.h"

namespace lcpy::interp {

using ScalarId = uint32_t;
inline constexpr uint32_t kNone = 0xffffffffu;

// How a scalar differs between the lanes of a strip. Linear: an integer that grows by 1 a lane.
enum class Kind : uint8_t { Unknown, Uniform, Linear, Varying };
constexpr Kind join(Kind a, Kind b) {
  if (a == Kind::Unknown || a == b) return b;
  return b == Kind::Unknown ? a : Kind::Varying;
}

// Scalars whose place in the register file is fixed before the strip starts.
enum class Pinned : uint8_t { No, Constant, Cell, Row };

struct ScalarInfo {
  Scalar type{};
  Kind kind = Kind::Unknown;
  Pinned pinned = Pinned::No;
  uint64_t bits = 0;       // of a constant: its cell
  uint32_t first = kNone;  // node that makes it, filled by liveness
  uint32_t last = 0;       // last node that needs it, loops taken into account
  uint32_t place = kNone;  // byte offset in the register file
};

enum class NodeKind : uint8_t {
  Element,  // d = op(a, b, c) on `type`
  Mask,     // the same on bools
  Convert,  // d = a, from `type` to `to`
  Choose,   // d = a ? b : c
  Load,     // lists[b…] = leaves of the place at pointer a, terms and offset
  Store,    // likewise, the other way
  Atomic,   // on the place; d old value, c operand, e wished value
  Move,     // d = a; `owner` tells whose edge it is
  Declare,  // d starts to live
  If,
  Else,
  EndIf,
  Loop,
  Latch,
  EndLoop,
  Call,
  EndCall,
  Leave,
  Barrier,
  Warp,     // d = op(a) over a warp's lanes that are on; b: the lane to read, the ballot's word
};

enum class LeaveKind : uint8_t { Break, Continue, Return };

// What improve() has made one of two: an Element is a * b + c, a * b - c or c - a * b, the product
// rounded; an If compares a and b itself.
enum class Joined : uint8_t { No, MulAdd, MulSub, SubMul, Compare };

// A run-time index of a place and the bytes that it counts.
struct Term {
  ScalarId index = kNone;
  Index type{};
  int64_t stride = 0;
};
// One scalar of what a place holds.
struct Leaf {
  Scalar type{};
  uint64_t offset = 0;
};

struct Node {
  NodeKind kind{};
  Op op{};
  Scalar type{}, to{};
  bool lanes = false;          // memory: scratch, interleaved by lane
  bool shared = false;         // Atomic: on shared memory
  bool inverted = false;       // If: the arm is for lanes whose condition is false
  bool shared_result = false;  // Move: other arms of a switch write the same scalar
  LeaveKind leave{};
  Joined joined{};
  uint32_t region = 0;     // the region it stands in; of If … EndCall: the region itself
  uint32_t owner = kNone;  // Move, Leave: the If, Loop or Call whose edge it is
  ScalarId d = kNone, a = kNone, b = kNone, c = kNone, e = kNone;
  // Memory: ranges of Code::terms, and of Code::lists and Code::leaves.
  uint32_t terms = 0, term_count = 0, list = 0, leaf = 0, count = 0;
  int64_t offset = 0;
};

struct Region {
  enum class Type : uint8_t { If, Loop, Call };
  Type type{};
  uint32_t parent = kNone;
  ScalarId condition = kNone;  // If
  bool varying = false;        // If: the condition differs between lanes
  bool divergent = false;      // Loop, Call: lanes leave at different times
  bool then_yields = false, else_yields = false, has_else = false;
  bool loses = false;           // If: a lane that goes in may not come out
  bool returns_inside = false;  // Loop: holds a Return
  bool simple = false;          // Loop: its one Continue is the end of its body
  bool in_else = false;         // while it is open: the else arm has begun
  uint32_t continues = 0;
  uint32_t begin = 0, end = 0;  // nodes
  std::vector<ScalarId> carried, next, results;
};

// What strips are cut from. A program has two layouts, the second made when a dispatch asks for it.
enum class Strips : uint8_t {
  Rows,          // rows of the dispatch
  Packed,        // the linear index, over rows shorter than a strip
  Blocks,        // blocks, for kernels that need whole ones; no block reaches past the dispatch
  RaggedBlocks,  // likewise, and blocks reach past the dispatch: guards against that stay
};

struct Code {
  std::vector<ScalarInfo> scalars;
  std::vector<Node> nodes;
  std::vector<Term> terms;
  std::vector<ScalarId> lists;
  std::vector<Leaf> leaves;
  std::vector<Region> regions;  // 0 is the kernel, a Call
  Strips strips{};
  uint32_t warp_size = 32;
  bool blocks() const { return strips >= Strips::Blocks; }
  // Pinned cells that the runner fills.
  ScalarId thread[3], block[3], dispatch[3], size[3];
  std::vector<ScalarId> slots;                   // pointer of each slot; kNone when unused
  ScalarId arguments = kNone;                    // pointer to the argument block
  uint64_t shared_bytes = 0, scratch_bytes = 0;  // scratch: of one lane
  std::vector<uint64_t> slot_at;                 // offset of Shared and Scratch slots
};

// flatten.cpp: BugError for what pass_expand should have removed.
Code flatten(const KernelDescriptor& d, Strips strips, uint32_t warp_size);
// hoist.cpp: takes out of loops what does not change in them.
void hoist(Code& code);
// classify.cpp: decides every scalar's kind and every region's divergence.
void classify(Code& code);
// improve.cpp: fewer nodes with the same results.
void improve(Code& code);
// liveness.cpp: first and last node of every scalar.
void find_lifetimes(Code& code);

class Program;
// encode.cpp: instructions and the register file's layout.
void encode(Code& code, const Loops& loops, Program& program);

}  // namespace lcpy::interp
