// Vectors: structs of lanes, as large and as aligned as the core's layout says, and the operators
// on them that a kernel uses.
#include <span>

#include "base/error.h"
#include "emit/clike/emitter.h"
#include "emit/clike/ops.h"
#include "emit/cuda/dialect.h"
#include "lower/expand.h"

namespace lcpy::cuda {
namespace {

// Lanes of bool are lanes of int.
Type lanes_of(Type t) { return t.has_class(ScalarClass::Bool) ? t.with_scalar(Scalar::Int32) : t; }

std::string_view sign_of(Op op) {
  switch (op) {
    case Op::Neg:
      return "-";
    case Op::BitNot:
      return "~";
    case Op::RemUnchecked:
      return "%";
    case Op::ShlUnchecked:
      return "<<";
    default:
      return clike::form_of(op).text;
  }
}

}  // namespace

void CudaDialect::vector_name(Text& t, Scalar s, uint32_t lanes) {
  // One struct a name: bools and storage formats lie in memory as unsigned integers.
  const bool bits = scalar_class(s) == ScalarClass::Bool || scalar_class(s) == ScalarClass::Storage;
  const Scalar lane = bits ? unsigned_like(Type::of(s)).scalar() : s;
  vectors_[static_cast<size_t>(lane)] |= static_cast<uint8_t>(1u << lanes);
  t << scalar(s) << lanes;
}

std::string CudaDialect::name(Type lanes) {
  Text t;
  if (lanes.is_vector())
    vector_name(t, lanes.scalar(), lanes.lanes());
  else
    t << scalar(lanes.scalar());
  return t.take();
}

void CudaDialect::open_vector(Text& t, Scalar s, uint32_t lanes) {
  vector_name(t, s, lanes);
  t << '(';
}

// The fourth word of a vector of three is a member: a copy is then one access, not two.
void CudaDialect::declare_vector(Text& t, Scalar s, uint32_t lanes) const {
  const std::string_view lane = scalar(s);
  const Type type = Type::vector(s, lanes);
  const auto list = [&](std::string_view before, std::string_view after) {
    for (uint32_t i = 0; i < lanes; i++) t << (i ? ", " : "") << before << "xyzw"[i] << after;
  };
  t << "struct __attribute__((aligned(" << type.align() << "))) " << lane << lanes << " {\n  "
    << lane << ' ';
  list("", "");
  t << (lanes == 3 ? ", pad;\n" : ";\n");
  t << "  " << lane << lanes << "() = default;\n";
  for (const bool splat : {false, true}) {
    t << (splat ? "  explicit LCPY_DEV " : "  LCPY_DEV ") << lane << lanes << '(';
    if (splat)
      t << lane << " v";
    else
      list(std::string(lane) + " v", "");
    t << ") : ";
    for (uint32_t i = 0; i < lanes; i++) {
      t << (i ? ", " : "") << "xyzw"[i] << "(v";
      if (!splat) t << "xyzw"[i];
      t << ')';
    }
    t << (lanes == 3 ? ", pad() {}\n" : " {}\n");
  }
  t << "};\nstatic_assert(sizeof(" << lane << lanes << ") == " << type.size() << " && alignof("
    << lane << lanes << ") == " << type.align() << ", \"" << lane << lanes << "\");\n";
}

template <class Lane>
void CudaDialect::define_lanes(Text& t, std::string_view function, Type result,
                               std::span<const Type> params, Lane&& lane) {
  const std::string type = name(result);
  t << "static LCPY_DEV " << type << ' ' << function << '(';
  for (size_t i = 0; i < params.size(); i++)
    t << (i ? ", " : "") << name(params[i]) << ' ' << "abc"[i];
  t << ") { return " << type << '(';
  for (uint32_t i = 0; i < result.lanes(); i++) {
    if (i) t << ", ";
    lane("xyzw"[i]);
  }
  t << "); }\n";
}

void CudaDialect::use_operator(clike::Emitter& e, Op op, Type given) {
  const Type type = lanes_of(given);
  Text* t = e.define(op_number(op, type));
  if (!t) return;
  const bool unary = op == Op::Neg || op == Op::BitNot;
  const bool compares = clike::form_of(op).kind == clike::OpForm::Kind::Compare;
  // Integers through unsigned ones of at least 32 bits: they wrap.
  const bool wraps = type.is_integer() && (op == Op::Add || op == Op::Sub || op == Op::Mul ||
                                           op == Op::Neg || op == Op::ShlUnchecked);
  const Scalar wide = scalar_size(type.scalar()) == 8 ? Scalar::UInt64 : Scalar::UInt32;
  const std::string_view sign = sign_of(op);
  const Type params[] = {type, type};
  const Type result = compares ? type.with_scalar(Scalar::Int32) : type;
  define_lanes(*t, "operator" + std::string(sign), result, {params, unary ? size_t{1} : size_t{2}},
               [&](char lane) {
                 const auto operand = [&](char v) {
                   if (wraps) *t << '(' << scalar(wide) << ')';
                   *t << v << '.' << lane;
                 };
                 if (compares) *t << "-(";
                 if (wraps) *t << '(' << scalar(type.scalar()) << ")(";
                 if (unary && wraps) {
                   *t << "0u - ";
                   operand('a');
                 } else if (unary) {
                   *t << sign;
                   operand('a');
                 } else {
                   operand('a');
                   *t << ' ' << sign << ' ';
                   operand('b');
                 }
                 if (compares || wraps) *t << ')';
               });
}

void CudaDialect::open_select(Text& t, clike::Emitter& e, Type given) {
  const Type type = lanes_of(given);
  if (Text* f = e.define(kSelects + lanes_number(type))) {
    const Type params[] = {type, type, type.with_scalar(Scalar::Int32)};
    define_lanes(*f, "select", type, params,
                 [&](char lane) { *f << "c." << lane << " ? b." << lane << " : a." << lane; });
  }
  t << "select(";
}

void CudaDialect::open_bytes_of_bools(Text& t, clike::Emitter& e, uint32_t lanes) {
  if (Text* f = e.define(kBytesOfBools + lanes - 1)) {
    const Type params[] = {Type::vector(Scalar::Int32, lanes)};
    define_lanes(*f, "bytes_of_bools", Type::vector(Scalar::UInt8, lanes), params,
                 [&](char lane) { *f << "a." << lane << " != 0"; });
  }
  t << "bytes_of_bools(";
}

void CudaDialect::bools_of_bytes(Text& t, clike::Emitter& e, std::string_view bytes,
                                 uint32_t lanes) {
  if (Text* f = e.define(kBoolsOfBytes + lanes - 1)) {
    const Type params[] = {Type::vector(Scalar::UInt8, lanes)};
    define_lanes(*f, "bools_of_bytes", Type::vector(Scalar::Int32, lanes), params,
                 [&](char lane) { *f << "-(a." << lane << " != 0)"; });
  }
  t << "bools_of_bytes(" << bytes << ')';
}

void CudaDialect::open_function(Text& t, clike::Emitter& e, Op op, Type type,
                                std::string_view given) {
  const std::string call = function(e, op, type.scalar(), given);
  if (!type.is_vector()) {
    t << call << '(';
    return;
  }
  if (Text* f = e.define(op_number(op, type))) {
    const bool two = op == Op::Min || op == Op::Max || op == Op::Pow || op == Op::Atan2 ||
                     op == Op::Copysign || op == Op::MulHi || op == Op::RemUnchecked;
    const size_t arity = op == Op::Fma ? 3 : two ? 2 : 1;
    const Type params[] = {type, type, type};
    define_lanes(*f, "v_" + std::string(given), type, {params, arity}, [&](char lane) {
      *f << call << '(';
      for (size_t i = 0; i < arity; i++) *f << (i ? ", " : "") << "abc"[i] << '.' << lane;
      *f << ')';
    });
  }
  t << "v_" << given << '(';
}

void CudaDialect::open_convert(Text& t, clike::Emitter& e, Type to, Type from) {
  const std::string call = conversion(e, to.scalar(), from.scalar());
  if (!to.is_vector()) {
    t << call << '(';
    return;
  }
  const std::string function = name(to) + "_of_" + name(from);
  if (Text* f =
          e.define(kConversions + static_cast<uint32_t>(to.scalar()) * 64 + lanes_number(from))) {
    const Type params[] = {from};
    define_lanes(*f, function, to, params, [&](char lane) { *f << call << "(a." << lane << ')'; });
  }
  t << function << '(';
}

// Other bits of halves than as many of 16, each taken as bits_of_half does.
void CudaDialect::define_bits_of_halves(clike::Emitter& e, Type from) {
  Text* f = e.define("bits_as_" + name(from));
  if (!f) return;
  *f << "template <class T> static LCPY_DEV T bits_as(" << name(from) << " f) {\n"
     << "  const ushort b[] = {";
  for (uint32_t i = 0; i < from.lanes(); i++) {
    *f << (i ? ", " : "") << "bits_of_half(f";
    if (from.is_vector()) *f << '.' << "xyzw"[i];
    *f << ')';
  }
  *f << "};\n  static_assert(sizeof(T) == sizeof(b), \"bits_as\");\n"
     << "  T v;\n  memcpy(&v, b, sizeof(T));\n  return v;\n}\n";
}

void CudaDialect::open_bitcast(Text& t, clike::Emitter& e, Type to, Type from) {
  if (!to.is_lanes() || !from.is_lanes() || to.lanes() != from.lanes()) {
    if (Text* f = e.define("bits_as"))
      *f << "template <class T, class F> static LCPY_DEV T bits_as(F f) {\n"
            "  static_assert(sizeof(T) == sizeof(F), \"bits_as\");\n"
            "  T v;\n  memcpy(&v, &f, sizeof(T));\n  return v;\n}\n";
    if (from.scalar() == Scalar::Float16) define_bits_of_halves(e, from);
    t << "bits_as<";
    e.types().memory_name(t, to);
    t << ">(";
    return;
  }
  const std::string call = bit_copy(e, to.scalar(), from.scalar());
  if (!to.is_vector()) {
    t << call << '(';
    return;
  }
  if (name(to) == name(from)) {  // storage formats are their bits
    t << '(';
    return;
  }
  const std::string function = "bits_" + name(to) + "_of_" + name(from);
  if (Text* f =
          e.define(kBitCopies + static_cast<uint32_t>(to.scalar()) * 64 + lanes_number(from))) {
    const Type params[] = {from};
    define_lanes(*f, function, to, params, [&](char lane) { *f << call << "(a." << lane << ')'; });
  }
  t << function << '(';
}

void CudaDialect::open_unseen(Text& t, clike::Emitter& e, Type to) {
  const std::string call = unseen(e, to.scalar());
  if (!to.is_vector()) {
    t << call << '(';
    return;
  }
  const Type from = unsigned_like(to);
  if (Text* f = e.define(kUnseen + lanes_number(to))) {
    const Type params[] = {from};
    define_lanes(*f, "unseen_" + name(to), to, params,
                 [&](char lane) { *f << call << "(a." << lane << ')'; });
  }
  t << "unseen_" << name(to) << '(';
}

}  // namespace lcpy::cuda
