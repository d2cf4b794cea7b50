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

  std::string_view language() const override { return "opencl"; }
  NativeOp native() const override;
  Traits traits() const override {
    return {.swizzles = true,
            .wide_masks = true,
            .total_functions = target_.ptx,
            .small_buffers = target_.restrict_,
            .merges_reads = target_.ptx && target_.restrict_,
            .reads_four = target_.ptx,
            .chosen_as_bits = target_.ptx,
            .negates_by_zero = target_.ptx,
            .hides_met_indices = target_.ptx,
            .copies_parts = target_.ptx};
  }
  std::string_view scalar(Scalar s) const override;
  void vector_name(clike::Text& t, Scalar s, uint32_t lanes) override { t << scalar(s) << lanes; }
  std::string_view pointer_space(MemoryClass memory) const override;
  std::string_view pointer() const override { return target_.restrict_ ? "* restrict " : "* "; }
  std::string_view loop_hint(uint64_t count, uint64_t size) const override {
    return target_.ptx ? unrolled(count, size) : "";  // NVIDIA's compiler is CUDA's
  }
  std::string_view function_prefix() const override { return "static "; }
  // PoCL gives each block its own shared arrays by replacing the kernel's uses of them. Before
  // that, clang may have put the array itself in place of a function's parameter: that function
  // would then use one array that all blocks have in common.
  std::string_view takes_shared() const override { return "__attribute__((always_inline)) "; }
  void define_apart(clike::Text& t) const override {
    t << "static __global const void* apart(__global const void* p) { ulong q; "
         "asm(\"mov.u64 %0, %1;\" : \"=l\"(q) : \"l\"((ulong)p)); "
         "return (__global const void*)q; }\n";
  }
  std::string_view constant_prefix() const override { return "__constant "; }
  std::string_view align_attribute() const override { return "__attribute__((aligned("; }
  void assert_layout(clike::Text& t, std::string_view name, Type type) override;
  void declare_shared(clike::Text& t, std::string_view type, std::string_view name,
                      uint64_t offset) const override;
  void open_vector(clike::Text& t, Scalar s, uint32_t lanes) override;
  void open_convert(clike::Text& t, clike::Emitter& e, Type to, Type from) override;
  void open_bitcast(clike::Text& t, clike::Emitter& e, Type to, Type from) override;
  void open_select(clike::Text& t, clike::Emitter&, Type) override { t << "select("; }
  void open_bytes_of_bools(clike::Text& t, clike::Emitter& e, uint32_t lanes) override;
  void bools_of_bytes(clike::Text& t, clike::Emitter& e, std::string_view bytes,
                      uint32_t lanes) override;
  void open_function(clike::Text& t, clike::Emitter& e, Op op, Type type,
                     std::string_view name) override;
  void use_operator(clike::Emitter&, Op, Type) override {}
  void open_unpack_half(clike::Text& t, clike::Emitter& e, uint32_t lanes) override;
  void open_pack_half(clike::Text& t, clike::Emitter& e, uint32_t lanes) override;
  void open_pack_half_ptx(clike::Text& t, clike::Emitter& e, uint32_t lanes);
  void open_unseen(clike::Text& t, clike::Emitter& e, Type to) override;
  void literal(clike::Text& t, Scalar s, uint64_t bits) const override;
  void thread_index(clike::Text& t, Op id, uint32_t axis) override;
  void barrier(clike::Text& t) const override;
  void volatile_load(clike::Text& t, clike::Emitter& e, Type type, MemoryClass memory,
                     std::string_view place) override;
  void open_volatile_store(clike::Text& t, clike::Emitter& e, Type type, MemoryClass memory,
                           std::string_view place) override;
  std::string_view close_volatile_store(Type) const override { return ""; }
  void prelude(clike::Text& t, const clike::Emitter& e) override;
  void open_kernel(clike::Text& t, const KernelDescriptor& d) const override;
  void atomic(clike::Text& t, clike::Emitter& e, const Atomic& a) override;
  void clock(clike::Text& t) const override { t << "clock_read_device()"; }
  void warp(clike::Text& t, clike::Emitter& e, const Warp& w) override;

 private:
  std::string by_lane(clike::Emitter& e, std::string name, Type to,
                      std::span<const Type> parameters);

  OpenclTarget target_;
  bool doubles_, halves_, long_atomics_;
};

}  // namespace lcpy::opencl
