// What the interpreter executes: instructions over one register file a strip, and the tables of
// functions that carry them out, one set for each instruction set.
//
// The register file holds cells and rows. A cell is 8 bytes: a value that is equal in all lanes of
// the strip, the first lane's value of one that grows by 1 a lane ("linear"), a pointer, or 64 bits
// that are a bool in each lane. A row is 64 lanes of a value of 1, 2, 4 or 8 bytes. A bool that is
// equal in all lanes is a cell of equal bits, so that it serves wherever a lane mask does.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/op.h"
#include "types/type.h"

namespace lcpy::interp {

inline constexpr int kLanes = 64;
inline constexpr uint64_t kAllLanes = ~uint64_t{0};

struct Instr;
struct State;
// Carries out one instruction and gives the next one; null ends the run (see State::resume).
using Fn = const Instr* (*)(const Instr* at, char* file, State& state);

// d, a, b, c are byte offsets into the register file.
struct Instr {
  Fn fn = nullptr;
  uint32_t d = 0, a = 0, b = 0, c = 0;
  union {
    int64_t imm = 0;
    struct {
      int32_t offset, stride;  // memory: bytes from the pointer, bytes an index counts
    };
    struct {
      int32_t target, dead;  // flow: instructions to jump, relative
    };
  };
};
static_assert(sizeof(Instr) == 32);

// How a handler goes on: straight to the next one where the compiler makes that a jump, else back
// to the loop in execute(). Without optimisation, or under a sanitiser, calls would pile up.
#if !defined(__clang__) && defined(__GNUC__) && defined(__OPTIMIZE__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#pragma GCC optimize("optimize-sibling-calls")
#define LCPY_GO(to, file, state)    \
  do {                              \
    const Instr* const go = to;     \
    return go->fn(go, file, state); \
  } while (0)
#else
#define LCPY_GO(to, file, state) \
  do {                           \
    (void)(file), (void)(state); \
    return to;                   \
  } while (0)
#endif

struct State {
  uint64_t mask = 0;  // lanes that are on
  char* file = nullptr;
  const Instr* resume = nullptr;  // where to go on after a barrier; null when the strip is done
};

enum class Form : uint8_t { Cells, Rows, RowCell, CellRow };
inline constexpr int kForms = 4;
inline constexpr int kSizes = 4;  // 1, 2, 4, 8 bytes: index is log2
constexpr int size_index(uint32_t bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

enum class Index : uint8_t { Int32, UInt32, Int64 };
inline constexpr int kIndices = 3;

// Loads and stores. Bool: bytes in memory, lane bits in a cell; the others by size.
inline constexpr int kElements = 5;
inline constexpr int kBoolElement = 4;

// Comparisons stand side by side in the op table.
inline constexpr int kCompares = 6;
constexpr int compare_index(Op op) { return static_cast<int>(op) - static_cast<int>(Op::Less); }
static_assert(compare_index(Op::NotEqual) == kCompares - 1);
// Types that comparisons joined with branches take.
inline constexpr int kJoinedTypes = 3;
constexpr int joined_index(Scalar s) {
  return s == Scalar::Int32 ? 0 : s == Scalar::UInt32 ? 1 : 2;
}

using OpTable = std::array<std::array<std::array<Fn, kForms>, kScalarCount>, kOpCount>;

// Everything that loops over lanes, for one instruction set. An entry of `ops` that is null for
// RowCell or CellRow asks the encoder to spread the cell into a row first.
struct Loops {
  OpTable ops{};  // d = op(a, b, c)
  std::array<std::array<std::array<Fn, 2>, kScalarCount>, kScalarCount>
      convert{};                                        // [from][to][row]
  std::array<std::array<Fn, kForms>, kSizes> select{};  // d = a ? b : c; forms are of b, c
  std::array<Fn, kSizes> spread{};                      // row d = cell a
  std::array<Fn, 2> ramp{};                             // row d = cell a + lane; 4, 8 bytes
  std::array<Fn, kSizes> copy{}, blend{};               // row d = row a; in lanes that are on
  // d = a * b + c, a * b - c, c - a * b, rounded twice; float, double. Forms are of b and c.
  std::array<std::array<std::array<Fn, kForms>, 2>, 3> product{};
  // Branches by a comparison: [compare][type][b is a cell][inverted].
  std::array<std::array<std::array<std::array<Fn, 2>, 2>, kJoinedTypes>, kCompares> if_compare{};
  // Memory: pointer cell a, index b; value d of loads, c of stores.
  std::array<Fn, kElements> load_cell{}, store_cell{};             // address equal in all lanes
  std::array<std::array<Fn, kIndices>, kElements> load_cell_at{};  // likewise, with an index cell
  std::array<Fn, kElements> store_last{};  // value row, one address: the last lane wins
  std::array<std::array<Fn, kIndices>, kElements> load_linear{}, store_linear{};
  std::array<std::array<Fn, kIndices>, kElements> load_row{}, store_row{};  // index row b
  // Scratch memory: lanes side by side, so one index for all lanes is a row in memory.
  std::array<Fn, kElements> load_lanes{}, store_lanes{};
  std::array<std::array<Fn, kIndices>, kElements> load_lanes_row{}, store_lanes_row{};
};

// Parts of a Loops are filled by the chapters; each is compiled once for each instruction set.
#define LCPY_CHAPTERS(isa)       \
  namespace isa {                \
  void fill_integers(Loops&);    \
  void fill_narrow(Loops&);      \
  void fill_floats(Loops&);      \
  void fill_functions(Loops&);   \
  void fill_conversions(Loops&); \
  void fill_memory(Loops&);      \
  void fill_joined(Loops&);      \
  }
LCPY_CHAPTERS(baseline)
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define LCPY_X86 1
LCPY_CHAPTERS(avx2)
LCPY_CHAPTERS(avx512)
#else
#define LCPY_X86 0
#endif

// The set for a name, "" for the best; ArgumentError when the processor lacks it.
const Loops& loops_for(const char* isa);

// Control, masks and atomics: no loops over lanes that vector code would help.
namespace flow {
Fn jump(), jump_if(), jump_if_not();  // target; cell a
Fn if_lanes(), if_not_lanes();        // cell a; rest into cell d; target when no lane takes it
Fn else_lanes();                      // cell d; target when no lane takes it
Fn end_if(), end_if_checked();        // cell d; dead when no lane is left
Fn save_mask(), restore_mask();       // cell d; restore: mask = cell d & ~cell a
Fn restore_mask_whole();              // mask = cell d
Fn leave(), leave_into();             // no lane stays; into: cell d |= mask first. Jumps to dead
Fn latch(),
    latch_collect();  // loop edge: target while lanes stay; collect adds cell d, dead when none
Fn clear_cell();
Fn barrier(), end();
Fn mask_and(), mask_or(), mask_xor(), mask_not(), mask_equal(), mask_select();
Fn mask_blend();  // cell d = (d & ~mask) | (a & mask)
Fn copy_cell();
Fn jump_compare(Op op, Scalar type,
                bool inverted);  // cells a, b: target when true, or false if inverted
Fn address(Index index);         // cell d = cell a + index cell b * imm
Fn constant_cell();              // cell d = imm
}  // namespace flow

// Atomics: pointer cell a + offset, index row b of the given type times stride (kIndices: no
// index); value row c; old values into row d, or nowhere for 0. Compare-exchange takes 64-bit byte
// offsets, and the wished value from the row at `stride`. Null where the type has no such
// operation.
Fn atomic_fn(Op op, Scalar type, bool shared, int index);

// Over the lanes of a warp that are on: value row a, or lane bits for bools; lane row b of
// warp_read_lane, cell b of the ballot's word; imm is the warp's width. Null where there is none.
Fn warp_fn(Op op, Scalar type);

}  // namespace lcpy::interp
