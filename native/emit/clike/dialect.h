// What differs between C-like languages. A dialect writes words and calls; the walk, the
// statements, the types and their layout are the emitter's.
//
// Forms of values: a bool is `bool`; lanes of bool are integer lanes of 32 bits, 0 or -1, as
// comparisons give them. In memory, and inside matrices, arrays and structs, bools are bytes.
//
// A dialect may define functions and operators as they are first needed (Emitter::define), and note
// what it wrote for the prelude, which is asked for last.
#pragma once
#include "emit/clike/text.h"
#include "kernel/descriptor.h"
#include "kernel/turns.h"
#include "lower/lower.h"

namespace lcpy::clike {

class Emitter;

class Dialect {
 public:
  virtual ~Dialect() = default;

  // The operation in this dialect: kept by pass_expand, or expanded.
  virtual NativeOp native() const = 0;

  virtual std::string_view language() const = 0;  // of external functions' texts

  struct Traits {
    bool cpp = false;               // T{a, b} for (T){.m0 = a, .m1 = b}, and no narrowing within
    bool swizzles = false;          // v.zyx
    bool wide_masks = false;        // comparisons give lanes as wide as those compared
    bool wrapping_vectors = false;  // operators on signed vectors wrap
    bool total_functions = false;   // constant infinities and NaNs are arguments like others
    // Every buffer has fewer than 2^31 elements: indices within it never wrap around.
    bool small_buffers = false;
    bool names_lanes = false;        // of a warp that are here: see first_lanes
    bool merges_reads = false;       // see apart.cpp
    bool reads_four = false;         // three lanes would be read in two steps, but four in one
    bool chosen_as_bits = false;     // constant floats that meet do so as bits, see open_unseen
    bool negates_by_zero = false;    // narrow integers, see negate_narrow
    bool hides_met_indices = false;  // of what branches give, see is_met
    bool copies_parts = false;       // aggregates are written part by part, see store_parts
    bool reads_parts = false;        // those of buffers that are also written are read so
  };
  virtual Traits traits() const = 0;

  virtual std::string_view scalar(Scalar s) const = 0;  // as in memory: bools and storage as bits
  virtual void vector_name(Text& t, Scalar s, uint32_t lanes) = 0;
  virtual std::string_view pointer_space(MemoryClass memory) const = 0;  // "__global ", or ""
  virtual std::string_view pointer() const = 0;  // between a slot's type and its name: "* "
  virtual std::string_view function_prefix() const = 0;
  virtual std::string_view inline_prefix() const { return function_prefix(); }  // of a line or two
  // What else stands before a function that is given shared arrays.
  virtual std::string_view takes_shared() const { return ""; }
  virtual std::string_view constant_prefix() const = 0;  // of tables at program scope
  virtual std::string_view align_attribute() const = 0;  // "__attribute__((aligned("
  // Asserts that the declared `name` has the type's size, and what else the language can tell.
  virtual void assert_layout(Text& t, std::string_view name, Type type) = 0;
  // A block's array of one `type`; `offset` is its place among the block's shared memory.
  virtual void declare_shared(Text& t, std::string_view type, std::string_view name,
                              uint64_t offset) const = 0;

  // Each opens a call that the emitter closes with ")".
  virtual void open_vector(Text& t, Scalar s, uint32_t lanes) = 0;            // of its lanes
  virtual void open_convert(Text& t, Emitter& e, Type to, Type from) = 0;     // by value
  virtual void open_bitcast(Text& t, Emitter& e, Type to, Type from) = 0;     // same bits
  virtual void open_select(Text& t, Emitter& e, Type type) = 0;               // (no, yes, mask)
  virtual void open_bytes_of_bools(Text& t, Emitter& e, uint32_t lanes) = 0;  // of a mask
  virtual void bools_of_bytes(Text& t, Emitter& e, std::string_view bytes, uint32_t lanes) = 0;
  // `name` is as ops.def has it.
  virtual void open_function(Text& t, Emitter& e, Op op, Type type, std::string_view name) = 0;
  // An operator is about to be written between vectors of this type.
  virtual void use_operator(Emitter& e, Op op, Type type) = 0;

  // Between halves' bits in ushort lanes and floats, correctly rounded; where half is missing.
  virtual void open_unpack_half(Text& t, Emitter& e, uint32_t lanes);
  virtual void open_pack_half(Text& t, Emitter& e, uint32_t lanes);

  // Of unsigned integers the floats with the same bits, though the compiler cannot tell.
  virtual void open_unseen(Text& t, Emitter& e, Type to);

  virtual void literal(Text& t, Scalar s, uint64_t bits) const = 0;
  virtual void thread_index(Text& t, Op id, uint32_t axis) = 0;
  virtual void barrier(Text& t) const = 0;
  // Where lanes that part run on by themselves, neither the hardware nor a compiler need bring them
  // together where the text reads so. There the text names the lanes that are here: those that the
  // kernel begins with, and of these, by votes that wait for all of them, those that go each way.
  virtual void first_lanes(Text& /*t*/) const {}
  virtual void open_vote(Text& /*t*/, std::string_view /*lanes*/) const {}
  // A statement; the compiler cannot see through the number, so as to send lanes past a vote.
  virtual void set_unseen(Text& /*t*/, std::string_view /*name*/, uint32_t /*value*/) const {}
  // What to say before a loop that runs `count` times, of `size` operations a time.
  virtual std::string_view loop_hint(uint64_t /*count*/, uint64_t /*size*/) const { return ""; }
  // NVIDIA's compiler unrolls short loops by itself, but not all that are worth it: then constant
  // tables become literals, and arrays registers.
  static std::string_view unrolled(uint64_t count, uint64_t size) {
    return is_short_loop(count, size) ? "#pragma unroll\n" : "";
  }
  // "apart(p)": the address p, const, which the compiler knows nothing of.
  virtual void define_apart(Text& /*t*/) const {}
  // The places of volatile accesses, of any type.
  virtual void volatile_load(Text& t, Emitter& e, Type type, MemoryClass memory,
                             std::string_view place) = 0;
  virtual void open_volatile_store(Text& t, Emitter& e, Type type, MemoryClass memory,
                                   std::string_view place) = 0;
  virtual std::string_view close_volatile_store(Type type) const = 0;

  // The text before everything and after it, before the kernel's parameters, of the argument block
  // among them, and before its statements.
  virtual void prelude(Text& t, const Emitter& e) = 0;
  virtual void open_kernel(Text& t, const KernelDescriptor& d) const = 0;
  virtual std::string_view block_parameter() const { return "const lcpy_block block"; }
  virtual void begin_kernel(Text&, const KernelDescriptor&) {}
  virtual void epilogue(Text&) const {}

  // Writes a statement or more; `place` is a pointer to a scalar of type `type` in `memory`, and
  // `result` what to declare ("const int v7") or "" where nobody wants the old value.
  struct Atomic {
    Op op;
    Type type;
    MemoryClass memory;
    MemoryOrder order;
    std::string_view place, value, expected, result, indent;
  };
  virtual void atomic(Text& t, Emitter& e, const Atomic& a) = 0;

  virtual void clock(Text& t) const = 0;  // an expression: the device's counter, ulong

  // Writes an expression: a warp operation on `value` of type `type` (of the result where there is
  // no operand), at `lane` for WarpReadLane. native() says which types come; vectors never do
  // unless it keeps them.
  struct Warp {
    Op op;
    Type type;
    std::string_view value, lane;
    std::string_view lanes;  // a name of those that are here, if the traits say so
  };
  virtual void warp(Text& t, Emitter& e, const Warp& w) = 0;
};

}  // namespace lcpy::clike
