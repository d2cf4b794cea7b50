// Functions of scalars and conversions between them: the language's own where it has them, else
// defined, in PTX if it must be.
#include "base/error.h"
#include "emit/clike/emitter.h"
#include "emit/clike/ptx.h"
#include "emit/cuda/dialect.h"
#include "lower/expand.h"

namespace lcpy::cuda {
namespace {

bool is_float(Scalar s) { return scalar_class(s) == ScalarClass::Float; }
bool is_integer(Scalar s) {
  return scalar_class(s) == ScalarClass::Signed || scalar_class(s) == ScalarClass::Unsigned;
}
bool has_sign(Scalar s) { return scalar_class(s) == ScalarClass::Signed; }

}  // namespace

std::string CudaDialect::function(clike::Emitter& e, Op op, Scalar s, std::string_view given) {
  const std::string name(given);
  if (s == Scalar::Float32) {
    if (op == Op::Saturate) return "__saturatef";
    const bool ordered = math_ == MathMode::Strict && (op == Op::Min || op == Op::Max);
    if (!ordered) return name + 'f';
    // The machine has -0 below +0; fminf need not, whatever the compiler makes of it.
    const std::string strict(clike::strict_extreme(op));
    if (Text* t = e.define(strict)) clike::define_strict_extreme(*t, *this, op);
    return strict;
  }
  if (s == Scalar::Float64) return name;
  if (s == Scalar::Float16) {
    if (op == Op::Fma) return "fma_half";
    const std::string half = name + "_half", single = function(e, op, Scalar::Float32, given);
    if (Text* t = e.define(op_number(op, Type::of(s)))) {
      // Signs by bits: a conversion drops that of a NaN.
      if (op == Op::Copysign) {
        *t << "static LCPY_DEV half " << half
           << "(half a, half b) { return half_of_bits(bits_of_half(a) & 0x7fff | bits_of_half(b) & "
              "0x8000); }\n";
        return half;
      }
      if (op == Op::Abs) {
        *t << "static LCPY_DEV half " << half
           << "(half a) { return half_of_bits(bits_of_half(a) & 0x7fff); }\n";
        return half;
      }
      const bool two = op == Op::Min || op == Op::Max || op == Op::Pow || op == Op::Atan2 ||
                       op == Op::Copysign || op == Op::RemUnchecked;
      *t << "static LCPY_DEV half " << half << (two ? "(half a, half b)" : "(half a)")
         << " { return half_of_float(" << single << "(float_of_half(a)"
         << (two ? ", float_of_half(b)" : "") << ")); }\n";
    }
    return half;
  }
  const bool wide = scalar_size(s) == 8;
  const std::string cast = '(' + std::string(scalar(s)) + ')';
  switch (op) {
    case Op::Clz:
      return cast + (wide ? "__clzll" : "__clz");
    case Op::Popcount:
      return cast + (wide ? "__popcll" : "__popc");
    case Op::MulHi:
      return wide ? (has_sign(s) ? "__mul64hi" : "__umul64hi")
                  : (has_sign(s) ? "__mulhi" : "__umulhi");
    default:  // min, max: of narrow integers in int
      return scalar_size(s) < 4 ? cast + name : name;
  }
}

// What to write before "(" to convert by value.
std::string CudaDialect::conversion(clike::Emitter& e, Scalar to, Scalar from) {
  const std::string to_name(scalar(to)), from_name(scalar(from));
  const bool same = to == from || (is_integer(to) && !is_float(from));
  const bool plain = is_float(to) && to != Scalar::Float16 && from != Scalar::Float16;
  if (same || plain) return '(' + to_name + ')';
  const std::string name = to_name + "_of_" + from_name;
  if (to == Scalar::Float16 && (from == Scalar::Float32 || from == Scalar::Float64)) return name;
  if (to == Scalar::Float32 && from == Scalar::Float16) return name;
  const uint32_t number =
      kConversions + static_cast<uint32_t>(to) * 64 + lanes_number(Type::of(from));
  if (from == Scalar::Float16 || to == Scalar::Float16) {  // through float
    const std::string first = conversion(e, Scalar::Float32, from);
    const std::string second = conversion(e, to, Scalar::Float32);
    if (Text* t = e.define(number))
      *t << "static LCPY_DEV " << to_name << ' ' << name << '(' << from_name << " a) { return "
         << second << '(' << first << "(a)); }\n";
    return name;
  }
  LCPY_CHECK(is_integer(to) && is_float(from));
  if (scalar_size(to) >= 4) {
    if (Text* t = e.define(number)) clike::define_saturating(*t, *this, name, to, from);
    return name;
  }
  // Narrow ones are held against their bounds in 32 bits.
  const Scalar wide = has_sign(to) ? Scalar::Int32 : Scalar::UInt32;
  const std::string first = conversion(e, wide, from);
  if (Text* t = e.define(number)) {
    const uint32_t bits = scalar_size(to) * 8;
    *t << "static LCPY_DEV " << to_name << ' ' << name << '(' << from_name << " a) { return ("
       << to_name << ')';
    if (has_sign(to))
      *t << "max(min(" << first << "(a), " << ((1u << (bits - 1)) - 1) << "), -"
         << (1u << (bits - 1)) << ')';
    else
      *t << "min(" << first << "(a), " << ((1u << bits) - 1) << "u)";
    *t << "; }\n";
  }
  return name;
}

// What to write before "(" to take the bits as another type of the same width.
std::string CudaDialect::bit_copy(clike::Emitter&, Scalar to, Scalar from) {
  const std::string cast = '(' + std::string(scalar(to)) + ')';
  if (to == from || (!is_float(to) && !is_float(from))) return cast;
  switch (to) {
    case Scalar::Float16:
      return "half_of_bits";
    case Scalar::Float32:
      return has_sign(from) ? "__int_as_float" : "__uint_as_float";
    case Scalar::Float64:
      return "__longlong_as_double";
    default:
      break;
  }
  switch (from) {
    case Scalar::Float16:
      return cast + "bits_of_half";
    case Scalar::Float32:
      return has_sign(to) ? "__float_as_int" : "__float_as_uint";
    default:
      return has_sign(to) ? "__double_as_longlong" : cast + "__double_as_longlong";
  }
}

// What to write before "(" for a float of bits that the compiler does not see through.
std::string CudaDialect::unseen(clike::Emitter& e, Scalar to) {
  const std::string name = "unseen_" + std::string(scalar(to));
  if (Text* t = e.define(kUnseen + lanes_number(Type::of(to))))
    clike::define_unseen(*t, *this, name, to);
  return name;
}

}  // namespace lcpy::cuda
