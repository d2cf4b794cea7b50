// The words of OpenCL C 1.2 and later; the rest is emit/clike.
#pragma once
#include "emit/clike/dialect.h"
#include "emit/emit.h"

namespace lcpy::opencl {

class OpenclDialect : public clike::Dialect {
 public:
  // `doubles`, `halves`, `long_atomics`: what the kernel uses, and so switches on.
  OpenclDialect(const OpenclTarget& target, bool doubles, bool halves, bool long_atomics)
      : target_(target), doubles_(doubles), halves_(halves), long_atomics_(long_atomics) {}

  NativeOp native() const override;
  std::string_view scalar(Scalar s) const override;
  std::string_view pointer_space(MemoryClass memory) const override;
  std::string_view function_prefix() const override { return "static "; }
  std::string_view constant_prefix() const override { return "__constant "; }
  std::string_view align_attribute() const override { return "__attribute__((aligned("; }
  void open_vector(clike::Text& t, Scalar s, uint32_t lanes) const override;
  void open_convert(clike::Text& t, Scalar s, uint32_t lanes) const override;
  void open_bitcast(clike::Text& t, Scalar s, uint32_t lanes) const override;
  void open_select(clike::Text& t) const override { t << "select("; }
  void literal(clike::Text& t, Scalar s, uint64_t bits) const override;
  void thread_index(clike::Text& t, Op id, uint32_t axis) const override;
  void barrier(clike::Text& t) const override;
  void prelude(clike::Text& t, const clike::Emitter& e) const override;
  void open_kernel(clike::Text& t, const KernelDescriptor& d) const override;
  void atomic(clike::Text& t, clike::Emitter& e, const Atomic& a) const override;

 private:
  OpenclTarget target_;
  bool doubles_, halves_, long_atomics_;
};

}  // namespace lcpy::opencl
