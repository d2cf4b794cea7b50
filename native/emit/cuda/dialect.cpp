#include "emit/cuda/dialect.h"

#include <cmath>
#include <cstring>

#include "emit/clike/emitter.h"
#include "emit/clike/literal.h"
#include "emit/clike/ops.h"
#include "emit/clike/warp.h"
#include "lower/expand.h"

namespace lcpy::cuda {
namespace {

// What the language has with language.md's meaning. Minima of doubles may confuse zeros, so strict
// has them expanded. Conversions to integers saturate; those that are no single instruction are
// expanded.
bool keeps(Op op, Type result, Type first, MathMode math) {
  const bool strict = math == MathMode::Strict;
  if (op_row(op).category == OpCategory::Warp) return clike::keeps_warp(op, first);
  switch (op) {
    case Op::Min:
    case Op::Max:
      return !(strict && result.has_class(ScalarClass::Float) &&
               result.scalar() == Scalar::Float64);
    case Op::Rsqrt:
      return !strict;
    case Op::Saturate:
      return !strict && result.scalar() == Scalar::Float32;
    case Op::Convert:
      return result.is_integer() && first.is_float();
    case Op::Abs:
      return result.is_float();
    case Op::Clz:
    case Op::Popcount:
    case Op::MulHi:
      return scalar_size(result.scalar()) >= 4;
    case Op::All:
    case Op::Any:
      return false;
    default:
      return clike::form_of(op).kind != clike::OpForm::Kind::Expanded;
  }
}

}  // namespace

CudaDialect::CudaDialect(const KernelDescriptor& d, const CudaTarget& target, bool halves)
    : target_(target),
      block_size_(d.block_size),
      math_(d.math),
      halves_(halves),
      dynamic_shared_(cuda_dynamic_shared(d) != 0) {}

NativeOp CudaDialect::native() const { return keeps; }

std::string_view CudaDialect::scalar(Scalar s) const {
  constexpr std::string_view names[] = {"uchar", "schar",  "uchar",  "short",  "ushort",
                                        "int",   "uint",   "llong",  "ullong", "half",
                                        "float", "double", "ushort", "uchar",  "uchar"};
  static_assert(std::size(names) == kScalarCount);
  return names[static_cast<size_t>(s)];
}

void CudaDialect::assert_layout(Text& t, std::string_view name, Type type) {
  t << "static_assert(sizeof(" << name << ") == " << type.size() << " && alignof(" << name
    << ") == " << type.align();
  if (type.is_struct()) {
    structs_ = true;
    for (uint64_t i = 0; i < type.count(); i++)
      t << " && LCPY_OFFSET(" << name << ", m" << i << ") == " << type.offset(i);
  }
  t << ", \"" << name << "\");\n";
}

void CudaDialect::declare_shared(Text& t, std::string_view type, std::string_view name,
                                 uint64_t offset) const {
  if (dynamic_shared_)
    t << type << "* const " << name << " = (" << type << "*)(lcpy_shared + " << offset << ')';
  else
    t << "__shared__ " << type << ' ' << name << "[1]";
}

void CudaDialect::literal(Text& t, Scalar s, uint64_t bits) const {
  switch (s) {
    case Scalar::Float32: {
      const uint32_t word = static_cast<uint32_t>(bits);
      float v;
      std::memcpy(&v, &word, 4);
      if (std::isfinite(v))
        clike::real_literal(t, v, true);
      else
        t << "__uint_as_float(" << word << "u)";
      return;
    }
    case Scalar::Float64: {
      double v;
      std::memcpy(&v, &bits, 8);
      if (std::isfinite(v))
        clike::real_literal(t, v, false);
      else
        t << "__longlong_as_double((llong)" << bits << "ULL)";
      return;
    }
    case Scalar::Float16:
      t << "half_of_bits(" << (bits & 0xffff) << ')';
      return;
    case Scalar::Int32:
      return clike::signed_literal(t, static_cast<int32_t>(bits), INT32_MIN, "");
    case Scalar::Int64:
      return clike::signed_literal(t, static_cast<int64_t>(bits), INT64_MIN, "LL");
    case Scalar::UInt32:
      t << static_cast<uint32_t>(bits) << 'u';
      return;
    case Scalar::UInt64:
      t << bits << "ULL";
      return;
    default: {
      t << "((" << scalar(s) << ')';
      const uint32_t unused = 64 - scalar_size(s) * 8;
      if (scalar_class(s) == ScalarClass::Signed)
        clike::signed_literal(t, static_cast<int64_t>(bits << unused) >> unused, INT64_MIN, "");
      else
        t << bits;
      t << ')';
    }
  }
}

void CudaDialect::thread_index(Text& t, Op id, uint32_t axis) {
  const char letter = "xyz"[axis];
  const bool one = block_size_[axis] == 1;
  if (id == Op::ThreadId) {
    if (one)
      t << "0u";
    else
      t << "threadIdx." << letter;
    return;
  }
  const bool sum = id == Op::DispatchId && !one;
  if (sum) t << '(';
  t << (target_.fold ? "block_index(w)." : "blockIdx.") << letter;
  if (sum) t << " * " << block_size_[axis] << "u + threadIdx." << letter << ')';
}

// Scalars are volatile objects; the rest travels by words (a class has no volatile copies).
void CudaDialect::volatile_load(Text& t, clike::Emitter& e, Type type, MemoryClass,
                                std::string_view place) {
  if (type.is_scalar() && type.scalar() != Scalar::Float16) {
    t << "*(const volatile " << scalar(type.scalar()) << "*)&" << place;
    return;
  }
  if (Text* f = e.define("volatile_load"))
    *f << "template <class T, class W> static LCPY_DEV T volatile_load(const void* p) {\n"
          "  T v;\n"
          "  for (uint i = 0; i < sizeof(T) / sizeof(W); i++) "
          "((W*)&v)[i] = ((const volatile W*)p)[i];\n"
          "  return v;\n}\n";
  t << "volatile_load<";
  e.types().memory_name(t, type);
  t << (type.align() >= 4   ? ", uint>(&"
        : type.align() == 2 ? ", ushort>(&"
                            : ", uchar>(&")
    << place << ')';
}

void CudaDialect::open_volatile_store(Text& t, clike::Emitter& e, Type type, MemoryClass,
                                      std::string_view place) {
  if (type.is_scalar() && type.scalar() != Scalar::Float16) {
    t << "*(volatile " << scalar(type.scalar()) << "*)&" << place << " = ";
    return;
  }
  if (Text* f = e.define("volatile_store"))
    *f << "template <class W, class T> static LCPY_DEV void volatile_store(void* p, T v) {\n"
          "  for (uint i = 0; i < sizeof(T) / sizeof(W); i++) "
          "((volatile W*)p)[i] = ((const W*)&v)[i];\n}\n";
  t << "volatile_store<"
    << (type.align() >= 4   ? "uint"
        : type.align() == 2 ? "ushort"
                            : "uchar")
    << ">(&" << place << ", ";
}

std::string_view CudaDialect::close_volatile_store(Type type) const {
  return type.is_scalar() && type.scalar() != Scalar::Float16 ? "" : ")";
}

namespace {

constexpr std::string_view kWords =
    "#define LCPY_DEV __device__ __forceinline__\n"
    "namespace lc {\n"
    "typedef unsigned char uchar;\n"
    "typedef signed char schar;\n"
    "typedef unsigned short ushort;\n"
    "typedef unsigned int uint;\n"
    "typedef long long llong;\n"
    "typedef unsigned long long ullong;\n";

// NVRTC has no offsetof.
constexpr std::string_view kOffset =
    "#ifdef __CUDACC_RTC__\n"
    "#define LCPY_OFFSET(T, m) __INTADDR__(&((T*)0)->m)\n"
    "#else\n"
    "#define LCPY_OFFSET(T, m) __builtin_offsetof(T, m)\n"
    "#endif\n";

// Arithmetic of float16 is the machine's. Bits are taken by way of a register of 32 bits, which
// costs nothing: of a register that held a half, ptxas stores a byte by making the half an integer.
constexpr std::string_view kHalf =
    "struct half { ushort bits; };\n"
    "static LCPY_DEV half half_of_bits(ushort b) { half h; h.bits = b; return h; }\n"
    "static LCPY_DEV ushort bits_of_half(half a) { ushort b; "
    "asm(\"{.reg .b32 t; .reg .b16 d; mov.b32 t, {%1, %1}; mov.b32 {%0, d}, t;}\" "
    ": \"=h\"(b) : \"h\"(a.bits)); return b; }\n"
    "static LCPY_DEV float float_of_half(half a) { float f; "
    "asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(a.bits)); return f; }\n"
    "static LCPY_DEV half half_of_float(float f) { half h; "
    "asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h.bits) : \"f\"(f)); return h; }\n"
    "static LCPY_DEV half half_of_double(double f) { half h; "
    "asm(\"cvt.rn.f16.f64 %0, %1;\" : \"=h\"(h.bits) : \"d\"(f)); return h; }\n"
    "static LCPY_DEV half operator+(half a, half b) { half h; "
    "asm(\"add.rn.f16 %0, %1, %2;\" : \"=h\"(h.bits) : \"h\"(a.bits), \"h\"(b.bits)); return h; }\n"
    "static LCPY_DEV half operator-(half a, half b) { half h; "
    "asm(\"sub.rn.f16 %0, %1, %2;\" : \"=h\"(h.bits) : \"h\"(a.bits), \"h\"(b.bits)); return h; }\n"
    "static LCPY_DEV half operator*(half a, half b) { half h; "
    "asm(\"mul.rn.f16 %0, %1, %2;\" : \"=h\"(h.bits) : \"h\"(a.bits), \"h\"(b.bits)); return h; }\n"
    "static LCPY_DEV half fma_half(half a, half b, half c) { half h; "
    "asm(\"fma.rn.f16 %0, %1, %2, %3;\" : \"=h\"(h.bits) : \"h\"(a.bits), \"h\"(b.bits), "
    "\"h\"(c.bits)); return h; }\n"
    "static LCPY_DEV half operator/(half a, half b) { "
    "return half_of_float(float_of_half(a) / float_of_half(b)); }\n"
    "static LCPY_DEV half operator-(half a) { return half_of_bits(bits_of_half(a) ^ 0x8000); }\n"
    "#define LCPY_HALF_COMPARE(sign) static LCPY_DEV bool operator sign(half a, half b) { "
    "return float_of_half(a) sign float_of_half(b); }\n"
    "LCPY_HALF_COMPARE(<)\n"
    "LCPY_HALF_COMPARE(>)\n"
    "LCPY_HALF_COMPARE(<=)\n"
    "LCPY_HALF_COMPARE(>=)\n"
    "LCPY_HALF_COMPARE(==)\n"
    "LCPY_HALF_COMPARE(!=)\n";

}  // namespace

void CudaDialect::prelude(Text& t, const clike::Emitter& e) {
  t << kWords;
  if (structs_) t << kOffset;
  if (halves_) t << kHalf;
  for (size_t s = 0; s < vectors_.size(); s++)
    for (uint32_t lanes = 2; lanes <= 4; lanes++)
      if (vectors_[s] >> lanes & 1) declare_vector(t, static_cast<Scalar>(s), lanes);
  t << "struct lcpy_block { uint w[" << e.block().size / 4 << "]; };\n";
  if (dynamic_shared_) t << "extern __shared__ __attribute__((aligned(16))) uchar lcpy_shared[];\n";
  if (!target_.fold) return;
  // Of the dispatch, from the index of the hardware's block.
  t << "struct block_place { uint x, y, z; };\n"
       "static LCPY_DEV block_place block_index(const uint* w) {\n"
       "  const ullong at = blockIdx.x + (ullong)gridDim.x * "
       "(blockIdx.y + (ullong)gridDim.y * blockIdx.z);\n";
  for (uint32_t axis = 0; axis < 2; axis++)
    t << "  const ullong n" << axis << " = (w[" << axis << "] - 1u) / " << block_size_[axis]
      << "u + 1ull;\n";
  t << "  block_place p;\n"
       "  p.x = (uint)(at % n0);\n"
       "  p.y = (uint)(at / n0 % n1);\n"
       "  p.z = (uint)(at / n0 / n1);\n"
       "  return p;\n}\n";
}

void CudaDialect::open_kernel(Text& t, const KernelDescriptor& d) const {
  t << "extern \"C\" __global__ void __launch_bounds__("
    << d.block_size[0] * d.block_size[1] * d.block_size[2] << ")\nlcpy_main(";
}

// Blocks past the last one leave together.
void CudaDialect::begin_kernel(Text& t, const KernelDescriptor& d) {
  if (target_.fold)
    t << "  if (block_index(w).z > (w[2] - 1u) / " << d.block_size[2] << "u) return;\n";
}

}  // namespace lcpy::cuda
