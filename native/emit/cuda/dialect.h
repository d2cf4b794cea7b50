// The words of CUDA C++ as NVRTC takes it, without any header; the rest is emit/clike.
//
// The language has no operators on vectors and no float16: the text brings both, but only what the
// kernel uses. What takes PTX to say stands in functions, an instruction each.
#pragma once
#include <array>

#include "emit/clike/dialect.h"
#include "emit/emit.h"

namespace lcpy::cuda {

using clike::Text;

class CudaDialect : public clike::Dialect {
 public:
  CudaDialect(const KernelDescriptor& d, const CudaTarget& target, bool halves);

  std::string_view language() const override { return "cuda"; }
  NativeOp native() const override;
  Traits traits() const override {
    return {.cpp = true,
            .wrapping_vectors = true,
            .total_functions = true,
            .small_buffers = target_.restrict_,
            .names_lanes = true,
            .merges_reads = target_.restrict_,
            .chosen_as_bits = true,
            .negates_by_zero = true,
            .reads_parts = target_.restrict_};
  }
  std::string_view scalar(Scalar s) const override;
  void vector_name(Text& t, Scalar s, uint32_t lanes) override;
  std::string_view pointer_space(MemoryClass) const override { return ""; }
  std::string_view pointer() const override { return target_.restrict_ ? "* __restrict__ " : "* "; }
  std::string_view function_prefix() const override { return "static __device__ "; }
  std::string_view inline_prefix() const override { return "static LCPY_DEV "; }
  void define_apart(Text& t) const override {
    t << "static LCPY_DEV const void* apart(const void* p) { const ullong v = (ullong)p; ullong q; "
         "asm(\"mov.u64 %0, %1;\" : \"=l\"(q) : \"l\"(v)); return (const void*)q; }\n";
  }
  std::string_view constant_prefix() const override { return "static __device__ const "; }
  std::string_view align_attribute() const override { return "__attribute__((aligned("; }
  void assert_layout(Text& t, std::string_view name, Type type) override;
  void declare_shared(Text& t, std::string_view type, std::string_view name,
                      uint64_t offset) const override;

  void open_vector(Text& t, Scalar s, uint32_t lanes) override;
  void open_convert(Text& t, clike::Emitter& e, Type to, Type from) override;
  void open_bitcast(Text& t, clike::Emitter& e, Type to, Type from) override;
  void open_select(Text& t, clike::Emitter& e, Type type) override;
  void open_bytes_of_bools(Text& t, clike::Emitter& e, uint32_t lanes) override;
  void bools_of_bytes(Text& t, clike::Emitter& e, std::string_view bytes, uint32_t lanes) override;
  void open_function(Text& t, clike::Emitter& e, Op op, Type type, std::string_view name) override;
  void use_operator(clike::Emitter& e, Op op, Type type) override;
  void open_unseen(Text& t, clike::Emitter& e, Type to) override;
  void literal(Text& t, Scalar s, uint64_t bits) const override;
  void thread_index(Text& t, Op id, uint32_t axis) override;
  void barrier(Text& t) const override { t << "__syncthreads()"; }
  std::string_view loop_hint(uint64_t count, uint64_t size) const override {
    return unrolled(count, size);
  }
  void volatile_load(Text& t, clike::Emitter& e, Type type, MemoryClass memory,
                     std::string_view place) override;
  void open_volatile_store(Text& t, clike::Emitter& e, Type type, MemoryClass memory,
                           std::string_view place) override;
  std::string_view close_volatile_store(Type type) const override;

  void prelude(Text& t, const clike::Emitter& e) override;
  void open_kernel(Text& t, const KernelDescriptor& d) const override;
  std::string_view block_parameter() const override {
    return "const __grid_constant__ lcpy_block block";
  }
  void begin_kernel(Text& t, const KernelDescriptor& d) override;
  void epilogue(Text& t) const override { t << "\n}  // namespace lc\n"; }
  void atomic(Text& t, clike::Emitter& e, const Atomic& a) override;
  void first_lanes(Text& t) const override;
  void open_vote(Text& t, std::string_view lanes) const override {
    t << "__ballot_sync(" << lanes << ", ";
  }
  void set_unseen(Text& t, std::string_view name, uint32_t value) const override {
    t << name << " = " << value << "; asm volatile(\"\" : \"+r\"(" << name << "));";
  }
  void warp(Text& t, clike::Emitter& e, const Warp& w) override;
  void clock(Text& t) const override { t << "(ullong)clock64()"; }

 private:
  // Vectors (vectors.cpp).
  std::string name(Type lanes);
  void declare_vector(Text& t, Scalar s, uint32_t lanes) const;
  // "static LCPY_DEV T NAME(T a, T b) { return T(f(a.x, b.x), …); }"
  template <class Lane>
  void define_lanes(Text& t, std::string_view name, Type result, std::span<const Type> params,
                    Lane&& lane);
  // Functions and conversions (functions.cpp, convert.cpp): what to call, defined if need be.
  std::string function(clike::Emitter& e, Op op, Scalar s, std::string_view name);
  std::string conversion(clike::Emitter& e, Scalar to, Scalar from);
  std::string bit_copy(clike::Emitter& e, Scalar to, Scalar from);
  void define_bits_of_halves(clike::Emitter& e, Type from);
  std::string unseen(clike::Emitter& e, Scalar to);
  // Atomics (atomics.cpp).
  std::string float_updater(clike::Emitter& e, const Atomic& a);
  void fence(Text& t, clike::Emitter& e, const Atomic& a, bool sequential);
  void update(Text& t, clike::Emitter& e, const Atomic& a);
  // Warps (warp.cpp).
  std::string combiner(clike::Emitter& e, const Warp& w);
  std::string lane_reader(clike::Emitter& e, const Warp& w);

  CudaTarget target_;
  std::array<uint32_t, 3> block_size_;
  MathMode math_;
  bool halves_, dynamic_shared_;
  bool structs_ = false;
  std::array<uint8_t, kScalarCount> vectors_{};  // by scalar: bit n for vectors of n lanes
};

// Numbers for Emitter::define: an operation on lanes, a conversion, copies of bits.
inline uint32_t lanes_number(Type t) {
  return static_cast<uint32_t>(t.scalar()) * 4 + (t.is_vector() ? t.lanes() - 1 : 0);
}
inline uint32_t op_number(Op op, Type t) {
  return static_cast<uint32_t>(op) * 64 + lanes_number(t);
}
constexpr uint32_t kConversions = kOpCount * 64;
constexpr uint32_t kBitCopies = kConversions + kScalarCount * 64;
constexpr uint32_t kSelects = kBitCopies + kScalarCount * 64;
constexpr uint32_t kUnseen = kSelects + 64;
constexpr uint32_t kBytesOfBools = kUnseen + 64, kBoolsOfBytes = kBytesOfBools + 4;

}  // namespace lcpy::cuda
