// Functions that read a value of any type from the argument block's words or from a byte buffer,
// and write one to a byte buffer, at an offset known at run time. They give and take memory forms.
//
// Memory that is read as several types is touched as words and single bytes alone, which C lets
// stand for anything.
#include "emit/clike/ops.h"

namespace lcpy::clike {
namespace {

// "vector_float_3" of "vector<float,3>": a part of a function's name.
std::string identifier(Type type) {
  std::string name;
  for (char c : type.description()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      name += c;
    else if (c == '_')
      name += "__";
    else if (c != '>')
      name += '_';
  }
  return name;
}

std::string part(uint64_t offset) { return offset ? " + " + std::to_string(offset) + "u" : ""; }

}  // namespace

// "return …;" of a scalar's memory form, at `at` bytes into the words or bytes `p`.
void Emitter::read_scalar(Text& t, Type type, Source source) {
  const bool block = source == Source::Block;
  const uint32_t size = scalar_size(type.scalar());
  Text bits;
  const auto word_at = [&](uint32_t offset) {
    if (block) {
      bits << (offset ? "p[(at" : "p[at") << part(offset) << (offset ? ") >> 2]" : " >> 2]");
    } else {
      const bool is_volatile = source == Source::VolatileBytes;
      bits << "*(" << dialect_.pointer_space(MemoryClass::Global) << "const "
           << (is_volatile ? "volatile " : "") << dialect_.scalar(Scalar::UInt32) << "*)(p + at"
           << part(offset) << ')';
    }
  };
  const auto byte_at = [&](uint32_t offset) {
    if (block)
      bits << "(p[at >> 2] >> (at & 3) * 8) >> " << offset * 8;
    else
      bits << "p[at" << part(offset) << ']';
  };
  if (size == 8) {
    bits << '(' << dialect_.scalar(Scalar::UInt64) << ')';
    word_at(4);
    bits << " << 32 | ";
    word_at(0);
  } else if (size == 4) {
    word_at(0);
  } else if (size == 2) {
    bits << '(' << dialect_.scalar(Scalar::UInt16) << ")((";
    byte_at(0);
    bits << ") & 255 | (";
    byte_at(1);
    bits << ") << 8)";
  } else {
    bits << '(' << dialect_.scalar(Scalar::UInt8) << ")(";
    byte_at(0);
    bits << ')';
  }
  t << "return ";
  const Type read = type.is_bool() ? Type::of(Scalar::UInt8) : type;
  dialect_.open_bitcast(t, *this, read, unsigned_like(read));
  t << bits << (type.is_bool() ? ") != 0;" : ");");
}

std::string Emitter::reader(Type type, Source source) {
  const bool block = source == Source::Block;
  const bool is_volatile = source == Source::VolatileBytes;
  const std::string name =
      (block ? "block_" : is_volatile ? "read_volatile_" : "read_") + identifier(type);
  if (defined_.count(name)) return name;
  const std::string_view word = dialect_.scalar(Scalar::UInt32);
  Text body;
  if (type.is_scalar()) {
    read_scalar(body, type, source);
  } else if (type.is_vector()) {
    body << "return ";
    const bool bools = type.scalar() == Scalar::Bool;
    dialect_.open_vector(body, bools ? Scalar::UInt8 : type.scalar(), type.lanes());
    for (uint32_t i = 0; i < type.lanes(); i++)
      body << (i ? ", " : "") << reader(type.element(), source) << "(p, at" << part(type.offset(i))
           << ')';
    body << ");";
  } else {
    types_.memory_name(body, type);
    body << " v; ";
    if (type.is_struct()) {
      for (uint64_t i = 0; i < type.count(); i++)
        body << "v.m" << i << " = " << reader(type.component(i), source) << "(p, at"
             << part(type.offset(i)) << "); ";
    } else {
      body << "for (" << word << " i = 0; i < " << type.count() << "; i++) v."
           << (type.is_matrix() ? 'c' : 'e') << "[i] = " << reader(type.element(), source)
           << "(p, at + i * " << type.stride() << "u); ";
    }
    body << "return v;";
  }
  Text& t = *define(name);
  t << dialect_.function_prefix();
  types_.memory_name(t, type);
  t << ' ' << name << '(';
  if (block)
    t << "const " << word << "* p, " << word << " at) { ";
  else
    t << dialect_.pointer_space(MemoryClass::Global) << "const "
      << (is_volatile ? "volatile " : "") << dialect_.scalar(Scalar::UInt8) << "* p, "
      << dialect_.scalar(Scalar::UInt64) << " at) { ";
  t << body << " }\n";
  return name;
}

std::string Emitter::writer(Type type, bool is_volatile) {
  const std::string name = (is_volatile ? "write_volatile_" : "write_") + identifier(type);
  if (defined_.count(name)) return name;
  const std::string_view word = dialect_.scalar(Scalar::UInt32),
                         byte = dialect_.scalar(Scalar::UInt8);
  const std::string_view wide = dialect_.scalar(Scalar::UInt64);
  const std::string space = std::string(dialect_.pointer_space(MemoryClass::Global)) +
                            (is_volatile ? "volatile " : "");
  Text body;
  if (type.is_scalar()) {
    const uint32_t size = scalar_size(type.scalar());
    const Type given = type.is_bool() ? Type::of(Scalar::UInt8) : type, bits = unsigned_like(given);
    body << "const " << dialect_.scalar(bits.scalar()) << " b = ";
    dialect_.open_bitcast(body, *this, bits, given);
    body << "v); ";
    if (size >= 4) body << "*(" << space << word << "*)(p + at) = (" << word << ")b;";
    if (size == 8) body << " *(" << space << word << "*)(p + at + 4) = (" << word << ")(b >> 32);";
    if (size <= 2) body << "p[at] = (" << byte << ")b;";
    if (size == 2) body << " p[at + 1] = (" << byte << ")(b >> 8);";
  } else if (type.is_struct() || type.is_vector()) {
    for (uint64_t i = 0; i < type.count(); i++) {
      body << writer(type.component(i), is_volatile) << "(p, at" << part(type.offset(i)) << ", v";
      put_component(body, type, i);
      body << "); ";
    }
  } else {
    body << "for (" << word << " i = 0; i < " << type.count() << "; i++) "
         << writer(type.element(), is_volatile) << "(p, at + i * " << type.stride() << "u, v."
         << (type.is_matrix() ? 'c' : 'e')
         << "[i]);";
  }
  Text& t = *define(name);
  t << dialect_.function_prefix() << "void " << name << '(' << space << byte << "* p, " << wide
    << " at, ";
  types_.memory_name(t, type);
  t << " v) { " << body << " }\n";
  return name;
}

}  // namespace lcpy::clike
