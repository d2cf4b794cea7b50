// What differs between C-like languages. A dialect writes words and calls; the walk, the
// statements, the types and their layout are the emitter's.
//
// Forms of values: a bool is `bool`; lanes of bool are integer lanes of 32 bits, 0 or -1, as
// comparisons give them. In memory, and inside matrices, arrays and structs, bools are bytes.
#pragma once
#include "emit/clike/text.h"
#include "kernel/descriptor.h"
#include "lower/lower.h"

namespace lcpy::clike {

class Emitter;

class Dialect {
 public:
  virtual ~Dialect() = default;

  // The operation in this dialect: kept by pass_expand, or expanded.
  virtual NativeOp native() const = 0;

  virtual std::string_view scalar(Scalar s) const = 0;  // as in memory: bools and storage as bits
  virtual std::string_view pointer_space(MemoryClass memory) const = 0;  // "__global ", or ""
  virtual std::string_view function_prefix() const = 0;
  virtual std::string_view constant_prefix() const = 0;  // of tables at program scope
  virtual std::string_view align_attribute() const = 0;  // "__attribute__((aligned("

  // Each opens a call that the emitter closes with ")".
  virtual void open_vector(Text& t, Scalar s, uint32_t lanes) const = 0;   // of its lanes
  virtual void open_convert(Text& t, Scalar s, uint32_t lanes) const = 0;  // by value
  virtual void open_bitcast(Text& t, Scalar s, uint32_t lanes) const = 0;  // same bits
  // (no, yes, mask of lanes as wide as the values)
  virtual void open_select(Text& t) const = 0;

  virtual void literal(Text& t, Scalar s, uint64_t bits) const = 0;
  virtual void thread_index(Text& t, Op id, uint32_t axis) const = 0;
  virtual void barrier(Text& t) const = 0;

  // The text before everything, before the kernel's parameters, and between them and its body.
  virtual void prelude(Text& t, const Emitter& e) const = 0;
  virtual void open_kernel(Text& t, const KernelDescriptor& d) const = 0;

  // Writes a statement or more; `place` is a pointer to a scalar of type `type` in `memory`, and
  // `result` what to declare ("const int v7") or "" where nobody wants the old value.
  struct Atomic {
    Op op;
    Type type;
    MemoryClass memory;
    MemoryOrder order;
    std::string_view place, value, expected, result, indent;
  };
  virtual void atomic(Text& t, Emitter& e, const Atomic& a) const = 0;
};

}  // namespace lcpy::clike
