#include "emit/opencl/dialect.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "emit/clike/emitter.h"
#include "emit/clike/literal.h"
#include "emit/clike/ops.h"
#include "emit/clike/ptx.h"
#include "emit/clike/warp.h"

namespace lcpy::opencl {

using clike::real_literal;
using clike::signed_literal;
using clike::Text;

namespace {

// What the language has with language.md's meaning. min and max may confuse zeros, so strict has
// them expanded; bit counts exist in every width.
bool keeps(Op op, Type result, Type first, MathMode math) {
  const bool strict = math == MathMode::Strict;
  if (op == Op::Min || op == Op::Max) return !(strict && result.is_float());
  if (op == Op::Rsqrt) return !strict;
  if (op == Op::Convert || op == Op::Saturate) return false;
  // Of vectors by lane. NVIDIA's compiler takes a divisor's lanes that nobody wants for undefined,
  // and then all of the quotient; PoCL's clang finds remainders of some constants to be 0.
  if ((op == Op::DivUnchecked || op == Op::RemUnchecked) && result.is_integer())
    return result.is_scalar();
  // The compiler takes an integer's abs() to be positive, which that of the smallest is not.
  if (op == Op::Abs) return result.is_float();
  if (op_row(op).category == OpCategory::Warp)
    return clike::keeps_warp(op, first) && !(strict && clike::sums_floats(op, first));
  return clike::form_of(op).kind != clike::OpForm::Kind::Expanded;
}

// What the machine has. A minimum of 16 bits may come out wrong where it is then compared.
bool keeps_ptx(Op op, Type result, Type first, MathMode math) {
  if ((op == Op::Min || op == Op::Max) && result.scalar() == Scalar::Float32) return true;
  if (op == Op::Convert && saturates_on_nvidia(result, first)) return true;
  if ((op == Op::Min || op == Op::Max) && result.is_integer() && scalar_size(result.scalar()) < 4)
    return false;
  return keeps(op, result, first, math);
}

void float_literal(Text& t, uint64_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits);
  float v;
  std::memcpy(&v, &word, 4);
  if (std::isfinite(v))
    real_literal(t, v, true);
  else
    t << "as_float(" << word << "u)";
}

void double_literal(Text& t, uint64_t bits) {
  double v;
  std::memcpy(&v, &bits, 8);
  if (std::isfinite(v))
    real_literal(t, v, false);
  else
    t << "as_double(" << bits << "UL)";
}

}  // namespace

NativeOp OpenclDialect::native() const { return target_.ptx ? keeps_ptx : keeps; }

std::string_view OpenclDialect::scalar(Scalar s) const {
  constexpr std::string_view names[] = {"uchar", "char",   "uchar",  "short", "ushort",
                                        "int",   "uint",   "long",   "ulong", "half",
                                        "float", "double", "ushort", "uchar", "uchar"};
  static_assert(std::size(names) == kScalarCount);
  return names[static_cast<size_t>(s)];
}

std::string_view OpenclDialect::pointer_space(MemoryClass memory) const {
  if (memory == MemoryClass::Global) return "__global ";
  if (memory == MemoryClass::Shared) return "__local ";
  if (memory == MemoryClass::Constant) return "__constant ";
  return "__private ";
}

void OpenclDialect::assert_layout(Text& t, std::string_view name, Type type) {
  t << "typedef char size_of_" << name << "[sizeof(" << name << ") == " << type.size()
    << " ? 1 : -1];\n";
}

void OpenclDialect::declare_shared(Text& t, std::string_view type, std::string_view name,
                                   uint64_t) const {
  t << pointer_space(MemoryClass::Shared) << type << ' ' << name << "[1]";
}

void OpenclDialect::open_vector(Text& t, Scalar s, uint32_t lanes) {
  t << '(' << scalar(s) << lanes << ")(";
}

void OpenclDialect::open_convert(Text& t, clike::Emitter& e, Type to, Type from) {
  if (target_.ptx && saturates_on_nvidia(to, from)) {
    const std::string name =
        std::string(scalar(to.scalar())) + "_of_" + std::string(scalar(from.scalar()));
    if (Text* f = e.define(name))
      clike::define_saturating(*f, *this, name, to.scalar(), from.scalar());
    const Type given[] = {from};
    t << by_lane(e, name, to, given) << '(';
    return;
  }
  if (to.is_scalar())
    t << '(' << scalar(to.scalar()) << ")(";
  else
    t << "convert_" << scalar(to.scalar()) << to.lanes() << '(';
}

void OpenclDialect::open_bitcast(Text& t, clike::Emitter&, Type to, Type) {
  t << "as_" << scalar(to.scalar());
  if (to.is_vector()) t << to.lanes();
  t << '(';
}

void OpenclDialect::open_bytes_of_bools(Text& t, clike::Emitter&, uint32_t lanes) {
  t << "convert_uchar" << lanes << "(-";
}

void OpenclDialect::bools_of_bytes(Text& t, clike::Emitter&, std::string_view bytes,
                                   uint32_t lanes) {
  t << "convert_int" << lanes << '(' << bytes << " != (uchar" << lanes << ")(0))";
}

// Halves in memory are OpenCL's own without any extension, exact and rounded to nearest even.
void OpenclDialect::open_unpack_half(Text& t, clike::Emitter& e, uint32_t lanes) {
  const std::string n = lanes > 1 ? std::to_string(lanes) : "", name = "unpack_half" + n;
  if (Text* f = e.define(name))
    *f << "static float" << n << ' ' << name << "(ushort" << n << " v) { return vload_half" << n
       << "(0, (const __private half*)&v); }\n";
  t << name << '(';
}

void OpenclDialect::open_pack_half(Text& t, clike::Emitter& e, uint32_t lanes) {
  const std::string n = lanes > 1 ? std::to_string(lanes) : "", name = "pack_half" + n;
  if (target_.ptx) return open_pack_half_ptx(t, e, lanes);
  if (Text* f = e.define(name))
    *f << "static ushort" << n << ' ' << name << "(float" << n << " x) { ushort" << n
       << " v; vstore_half" << n << "_rte(x, 0, (__private half*)&v); return v; }\n";
  t << name << '(';
}

// ---- for NVIDIA's compiler, in PTX --------------------------------------------------------------

// By way of a register of 32 bits: of one that held a half, ptxas makes an integer of the half
// where its low byte is stored, and leaves -0 where its sign is masked.
void OpenclDialect::open_pack_half_ptx(Text& t, clike::Emitter& e, uint32_t lanes) {
  const Type half = Type::of(Scalar::UInt16), real = Type::of(Scalar::Float32);
  if (Text* f = e.define("pack_half"))
    *f << "static ushort pack_half(float x) { uint r; asm(\"{.reg .b16 t; cvt.rn.f16.f32 t, %1; "
          "mov.b32 %0, {t, t};}\" : \"=r\"(r) : \"f\"(x)); return (ushort)r; }\n";
  const Type parameters[] = {lanes > 1 ? Type::vector(Scalar::Float32, lanes) : real};
  t << by_lane(e, "pack_half", lanes > 1 ? Type::vector(Scalar::UInt16, lanes) : half, parameters)
    << '(';
}

// The function of scalars for the lanes of `to` and of its parameters; "name4" if they are four.
std::string OpenclDialect::by_lane(clike::Emitter& e, std::string name, Type to,
                                   std::span<const Type> parameters) {
  if (to.is_scalar()) return name;
  const std::string scalars = std::exchange(name, name + std::to_string(to.lanes()));
  Text* f = e.define(name);
  if (!f) return name;
  const auto vector = [&](Type t) { *f << scalar(t.scalar()) << t.lanes(); };
  *f << function_prefix();
  vector(to);
  *f << ' ' << name << '(';
  for (size_t i = 0; i < parameters.size(); i++) {
    *f << (i ? ", " : "");
    vector(parameters[i]);
    *f << ' ' << "ab"[i];
  }
  *f << ") { return ";
  open_vector(*f, to.scalar(), to.lanes());
  for (uint32_t lane = 0; lane < to.lanes(); lane++) {
    *f << (lane ? ", " : "") << scalars << '(';
    for (size_t i = 0; i < parameters.size(); i++)
      *f << (i ? ", " : "") << "ab"[i] << '.' << "xyzw"[lane];
    *f << ')';
  }
  *f << "); }\n";
  return name;
}

void OpenclDialect::open_unseen(Text& t, clike::Emitter& e, Type to) {
  const std::string name = "unseen_" + std::string(scalar(to.scalar()));
  if (Text* f = e.define(name)) clike::define_unseen(*f, *this, name, to.scalar());
  const Type from[] = {lcpy::unsigned_like(to)};
  t << by_lane(e, name, to, from) << '(';
}

void OpenclDialect::open_function(Text& t, clike::Emitter& e, Op op, Type type,
                                  std::string_view name) {
  const bool extreme = (op == Op::Min || op == Op::Max) && type.scalar() == Scalar::Float32;
  if (!target_.ptx || !extreme || e.descriptor().math != MathMode::Strict) {
    t << name << '(';
    return;
  }
  const std::string strict(clike::strict_extreme(op));
  if (Text* f = e.define(strict)) clike::define_strict_extreme(*f, *this, op);
  const Type both[] = {type, type};
  t << by_lane(e, strict, type, both) << '(';
}

void OpenclDialect::literal(Text& t, Scalar s, uint64_t bits) const {
  switch (s) {
    case Scalar::Float32:
      return float_literal(t, bits);
    case Scalar::Float64:
      return double_literal(t, bits);
    case Scalar::Float16:
      t << "as_half((ushort)" << (bits & 0xffff) << ')';
      return;
    case Scalar::Int32:
      return signed_literal(t, static_cast<int32_t>(bits), INT32_MIN, "");
    case Scalar::Int64:
      return signed_literal(t, static_cast<int64_t>(bits), INT64_MIN, "L");
    case Scalar::UInt32:
      t << static_cast<uint32_t>(bits) << 'u';
      return;
    case Scalar::UInt64:
      t << bits << "UL";
      return;
    default: {
      t << "((" << scalar(s) << ')';
      const uint32_t unused = 64 - scalar_size(s) * 8;
      if (scalar_class(s) == ScalarClass::Signed)
        signed_literal(t, static_cast<int64_t>(bits << unused) >> unused, INT64_MIN, "");
      else
        t << bits;
      t << ')';
    }
  }
}

void OpenclDialect::thread_index(Text& t, Op id, uint32_t axis) {
  t << (id == Op::ThreadId  ? "(uint)get_local_id("
        : id == Op::BlockId ? "(uint)get_group_id("
                            : "(uint)get_global_id(")
    << axis << ')';
}

void OpenclDialect::barrier(Text& t) const {
  t << "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)";
}

void OpenclDialect::volatile_load(Text& t, clike::Emitter& e, Type type, MemoryClass memory,
                                  std::string_view place) {
  t << "(*(volatile " << pointer_space(memory);  // in parentheses: members are taken of it
  e.types().memory_name(t, type);
  t << "*)&" << place << ')';
}

void OpenclDialect::open_volatile_store(Text& t, clike::Emitter& e, Type type, MemoryClass memory,
                                        std::string_view place) {
  volatile_load(t, e, type, memory, place);
  t << " = ";
}

void OpenclDialect::prelude(Text& t, const clike::Emitter& e) {
  if (doubles_ && target_.version < 20) t << "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  if (halves_) t << "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  if (long_atomics_)
    t << "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
         "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n";
  if (e.descriptor().math == MathMode::Strict) t << "#pragma OPENCL FP_CONTRACT OFF\n";
  t << "typedef struct { uint w[" << e.block().size / 4 << "]; } lcpy_block;\n";
}

void OpenclDialect::open_kernel(Text& t, const KernelDescriptor& d) const {
  t << "__kernel __attribute__((reqd_work_group_size(" << d.block_size[0] << ", " << d.block_size[1]
    << ", " << d.block_size[2] << ")))\nvoid lcpy_main(";
}

}  // namespace lcpy::opencl
