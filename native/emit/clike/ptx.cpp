#include "emit/clike/ptx.h"

#include <array>
#include <string>

#include "base/error.h"

namespace lcpy::clike {
namespace {

bool is_wide(Scalar s) { return scalar_size(s) == 8; }

// Letters of PTX's types, and of the registers that hold them.
std::string_view letters(Scalar s) {
  switch (scalar_class(s)) {
    case ScalarClass::Float:
      return is_wide(s) ? "f64" : "f32";
    case ScalarClass::Signed:
      return is_wide(s) ? "s64" : "s32";
    default:
      return is_wide(s) ? "u64" : "u32";
  }
}
char register_of(Scalar s) {
  if (scalar_class(s) == ScalarClass::Float) return is_wide(s) ? 'd' : 'f';
  return is_wide(s) ? 'l' : 'r';
}

}  // namespace

void define_ptx(Text& t, const Dialect& dialect, std::string_view name,
                std::string_view instruction, Scalar result, std::span<const Scalar> parameters,
                std::string_view returned) {
  const std::string_view type = dialect.scalar(result);
  t << dialect.inline_prefix() << type << ' ' << name << '(';
  for (size_t i = 0; i < parameters.size(); i++)
    t << (i ? ", " : "") << dialect.scalar(parameters[i]) << ' ' << "ab"[i];
  t << ") { " << type << " r; asm(\"" << instruction << " %0";
  for (size_t i = 0; i < parameters.size(); i++) t << ", %" << static_cast<uint32_t>(i + 1);
  t << ";\" : \"=" << register_of(result) << "\"(r) : ";
  for (size_t i = 0; i < parameters.size(); i++)
    t << (i ? ", \"" : "\"") << register_of(parameters[i]) << "\"("
      << "ab"[i] << ')';
  t << "); return " << returned << "; }\n";
}

void define_saturating(Text& t, const Dialect& dialect, std::string_view name, Scalar to,
                       Scalar from) {
  // cvt saturates. A NaN gives 0 by it only from float to 32 bits, so else it is asked for.
  const bool asks = from == Scalar::Float64 || is_wide(to);
  const std::string instruction =
      "cvt.rzi." + std::string(letters(to)) + '.' + std::string(letters(from));
  define_ptx(t, dialect, name, instruction, to, std::array{from}, asks ? "a == a ? r : 0" : "r");
}

std::string_view strict_extreme(Op op) { return op == Op::Min ? "min_strict" : "max_strict"; }

void define_strict_extreme(Text& t, const Dialect& dialect, Op op) {
  const std::array both = {Scalar::Float32, Scalar::Float32};
  define_ptx(t, dialect, strict_extreme(op), op == Op::Min ? "min.f32" : "max.f32", Scalar::Float32,
             both);
}

void define_unseen(Text& t, const Dialect& dialect, std::string_view name, Scalar to) {
  const Scalar from = is_wide(to) ? Scalar::UInt64 : Scalar::UInt32;
  define_ptx(t, dialect, name, is_wide(to) ? "mov.b64" : "mov.b32", to, std::array{from});
}

}  // namespace lcpy::clike
