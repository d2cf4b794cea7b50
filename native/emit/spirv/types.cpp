// Types by family, each made once and found again by the type's index.
#include "emit/spirv/types.h"

#include "base/error.h"

namespace lcpy::spirv {
namespace {

// The slot of a flat table that grows with the process' types.
template <class T>
T& at(std::vector<T>& table, Type t) {
  const uint32_t index = t.index();
  if (index >= table.size()) table.resize(std::max<size_t>(Type::registered(), index + 1));
  return table[index];
}

uint16_t scalar_facts(Scalar s) {
  switch (scalar_class(s)) {
    case ScalarClass::Bool:
      return kHoldsBool;
    case ScalarClass::Float:
      return scalar_size(s) == 2   ? kHoldsFloat16
             : scalar_size(s) == 4 ? kHoldsFloat32
                                   : kHoldsFloat64;
    case ScalarClass::Signed:
    case ScalarClass::Unsigned:
    case ScalarClass::Storage:
      break;
  }
  const uint32_t size = scalar_size(s);
  return size == 1 ? kHoldsInt8 : size == 2 ? kHoldsInt16 : size == 8 ? kHoldsInt64 : 0;
}

// The scalar whose bits a place of family Bits holds.
Scalar bits_of(Scalar s) {
  if (s == Scalar::Float32) return Scalar::UInt32;
  if (s == Scalar::Float64) return Scalar::UInt64;
  return s;
}

}  // namespace

Scalar Types::held_as(Scalar s) const {
  const uint32_t size = scalar_size(s);
  const ScalarClass c = scalar_class(s);
  if (c == ScalarClass::Bool || c == ScalarClass::Float) return s;
  if (!(size == 1 && held8_) && !(size == 2 && held16_)) return s;
  return c == ScalarClass::Signed ? Scalar::Int32 : Scalar::UInt32;
}

Word Types::stored_lanes(Scalar s, uint32_t count) {
  Word& known = lanes_[static_cast<int>(s)][count];
  if (known) return known;
  if (count > 1) return known = m_.type_vector(stored_lanes(s, 1), count);
  const uint32_t width = scalar_size(s) * 8;
  switch (scalar_class(s)) {
    case ScalarClass::Bool:
      known = m_.type_bool();
      break;
    case ScalarClass::Signed:
      known = m_.type_int(width, true);
      break;
    case ScalarClass::Float:
      known = m_.type_float(width);
      break;
    // bfloat16 and float8 are bits until a conversion, which pass_expand has made arithmetic.
    case ScalarClass::Storage:
    case ScalarClass::Unsigned:
      known = m_.type_int(width, false);
      break;
  }
  return known;
}

uint16_t Types::facts(Type t) {
  if (t.is_void()) return kFactsKnown;
  if (const uint16_t known = at(facts_, t)) return known;
  uint16_t found = kFactsKnown;
  switch (t.tag()) {
    case TypeTag::Scalar:
    case TypeTag::Vector:
    case TypeTag::Matrix:
      found |= scalar_facts(t.scalar());
      break;
    case TypeTag::Array:
      found |= facts(t.element());
      break;
    case TypeTag::Struct:
      for (const Type member : t.members()) found |= facts(member);
      break;
    default:
      throw BugError("no SPIR-V value of type " + t.description());
  }
  at(facts_, t) = found;
  return found;
}

bool Types::copyable(Type t, Family f) {
  if (m_.version() < kVersion14) return false;
  const uint16_t held = facts(t);
  if (is_laid(f) && (held & kHoldsBool)) return false;
  if (is_laid(f) && held8_ && (held & kHoldsInt8)) return false;
  if (is_laid(f) && held16_ && (held & kHoldsInt16)) return false;
  return !is_bits(f) || !(held & (kHoldsFloat32 | kHoldsFloat64));
}

Word Types::id(Type t, Family f) {
  if (t.is_void()) return m_.type_void();
  std::vector<Word>& table = ids_[static_cast<int>(f)];
  if (const Word known = at(table, t)) return known;
  const Word made = make(t, f);
  at(table, t) = made;
  return made;
}

Word Types::make(Type t, Family f) {
  switch (t.tag()) {
    case TypeTag::Scalar:
    case TypeTag::Vector: {
      Scalar s = t.scalar();
      if (is_laid(f) && s == Scalar::Bool) s = Scalar::UInt8;
      if (is_bits(f)) s = bits_of(s);
      return is_laid(f) ? stored_lanes(s, t.lanes()) : lanes(s, t.lanes());
    }
    case TypeTag::Matrix:
      if (!is_bits(f)) return m_.type_matrix(lanes(t.scalar(), t.lanes()), t.lanes());
      [[fallthrough]];  // there are no integer matrices: an array of columns
    case TypeTag::Array: {
      LCPY_CHECK(t.count() <= 0xffffffffu);
      const Word element = id(t.element(), f);
      const Word count = m_.constant_u32(static_cast<uint32_t>(t.count()));
      if (!is_laid(f)) return m_.type_array(element, count);
      const Word made = m_.new_array(element, count);
      m_.decorate(made, Decoration::ArrayStride, static_cast<Word>(t.stride()));
      return made;
    }
    case TypeTag::Struct:
      return make_struct(t, f);
    default:
      throw BugError("no SPIR-V type for " + t.description());
  }
}

Word Types::make_struct(Type t, Family f) {
  std::vector<Word> members;
  for (const Type member : t.members()) members.push_back(id(member, f));
  if (!is_laid(f)) return m_.type_struct(members);
  const Word made = m_.new_struct(members);
  for (uint32_t i = 0; i < members.size(); i++) {
    m_.decorate_member(made, i, Decoration::Offset, static_cast<Word>(t.offset(i)));
    decorate_matrix_member(m_, made, i, t.component(i), f);
  }
  return made;
}

Word Types::pointer(StorageClass storage, Type t, Family f) {
  LCPY_CHECK(static_cast<int>(storage) < kStorages);
  Word& known = at(pointers_[static_cast<int>(storage)][static_cast<int>(f)], t);
  if (!known) known = m_.type_pointer(storage, id(t, f));
  return known;
}

void decorate_matrix_member(Module& m, Word structure, uint32_t member, Type t, Family f) {
  while (t.is_array()) t = t.element();
  if (!t.is_matrix() || is_bits(f)) return;
  m.decorate_member(structure, member, Decoration::ColMajor);
  m.decorate_member(structure, member, Decoration::MatrixStride, static_cast<Word>(t.stride()));
}

}  // namespace lcpy::spirv
