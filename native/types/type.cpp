// The registry of interned types. Reading a type touches no lock; making one takes a shared lock
// for the look-up and an exclusive one only when the type is new.
#include "types/type.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <unordered_map>

#include "base/error.h"
#include "types/layout.h"

namespace lcpy {
namespace {

constexpr std::string_view kScalarNames[] = {
#define SCALAR(name, description, numpy, bytes, cls) description,
#include "types/scalar.def"
#undef SCALAR
};
constexpr std::string_view kScalarNumpy[] = {
#define SCALAR(name, description, numpy, bytes, cls) numpy,
#include "types/scalar.def"
#undef SCALAR
};

uint64_t fnv1a(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (char c : name) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

[[noreturn]] void refuse(std::string_view what, std::string_view role) {
  fail(Diag::type_not_allowed, {}, {what, role});
}

}  // namespace

struct TypeRegistry {
  std::shared_mutex mutex;
  std::deque<TypeInfo> infos;  // stable addresses, by index
  std::unordered_map<std::string_view, const TypeInfo*> by_description;
  // Scalars, vectors and matrices by scalar and lanes, filled at start: no lock to reach them.
  std::array<std::array<Type, 5>, kScalarCount> lanes;
  std::array<std::array<Type, 5>, kScalarCount> matrices;
  std::atomic<uint32_t> count{0};

  TypeRegistry() {
    for (int i = 0; i < kScalarCount; ++i) add_basic(static_cast<Scalar>(i));
  }

  static TypeRegistry& get() {
    static TypeRegistry& r = *new TypeRegistry;  // types outlive every static object
    return r;
  }

  Type find(std::string_view description) {
    std::shared_lock lock(mutex);
    auto it = by_description.find(description);
    return it == by_description.end() ? Type() : Type(it->second);
  }

  Type add(TypeInfo&& info) {
    if (!compute_layout(info)) fail(Diag::type_too_large, {}, {info.description});
    info.hash = fnv1a(info.description);
    std::unique_lock lock(mutex);
    auto it = by_description.find(info.description);
    if (it != by_description.end()) return Type(it->second);
    info.index = static_cast<uint32_t>(infos.size());
    infos.push_back(std::move(info));
    const TypeInfo* record = &infos.back();
    by_description.emplace(record->description, record);
    count.store(record->index + 1, std::memory_order_release);
    return Type(record);
  }

  void add_basic(Scalar s) {
    std::string name(scalar_name(s));
    auto& row = lanes[static_cast<int>(s)];
    row[1] = add({.tag = TypeTag::Scalar,
                  .scalar = s,
                  .cls = scalar_class(s),
                  .lanes = 1,
                  .count = 1,
                  .description = name});
    for (uint32_t n = 2; n <= 4; ++n) {
      std::string suffix = "<" + name + "," + std::to_string(n) + ">";
      row[n] = add({.tag = TypeTag::Vector,
                    .scalar = s,
                    .cls = scalar_class(s),
                    .lanes = n,
                    .count = n,
                    .element = row[1],
                    .description = "vector" + suffix});
      if (scalar_class(s) != ScalarClass::Float) continue;
      matrices[static_cast<int>(s)][n] = add({.tag = TypeTag::Matrix,
                                              .scalar = s,
                                              .cls = scalar_class(s),
                                              .lanes = n,
                                              .count = n,
                                              .element = row[n],
                                              .description = "matrix" + suffix});
    }
  }
};

Type Type::of(Scalar s) { return TypeRegistry::get().lanes[static_cast<int>(s)][1]; }

Type Type::vector(Scalar s, uint32_t lanes) {
  if (lanes < 2 || lanes > 4) refuse(std::to_string(lanes), "a number of lanes: 2, 3 or 4");
  return TypeRegistry::get().lanes[static_cast<int>(s)][lanes];
}

Type Type::matrix(Scalar s, uint32_t dim) {
  if (dim < 2 || dim > 4) refuse(std::to_string(dim), "a matrix's size: 2, 3 or 4");
  Type t = TypeRegistry::get().matrices[static_cast<int>(s)][dim];
  if (t.is_void()) refuse(scalar_name(s), "a matrix's scalar: that is half, float or double");
  return t;
}

Type Type::array(Type element, uint64_t count) {
  if (!element.is_value()) refuse(element.description(), "an array's element");
  if (count == 0) refuse("0", "an array's length");
  std::string text = "array<" + element.description() + "," + std::to_string(count) + ">";
  if (Type known = TypeRegistry::get().find(text); !known.is_void()) return known;
  return TypeRegistry::get().add(
      {.tag = TypeTag::Array, .count = count, .element = element, .description = std::move(text)});
}

Type Type::structure(std::span<const Type> members, uint32_t align) {
  if (members.empty()) refuse("a struct", "without members");
  uint32_t own = 1;
  for (Type m : members) {
    if (!m.is_value()) refuse(m.description(), "a struct's member");
    own = std::max(own, m.align());
  }
  if (align == 0) align = own;
  if (align < own || align > kMaxAlign || (align & (align - 1)) != 0) {
    fail(Diag::type_alignment, {}, {std::to_string(align), std::to_string(own)});
  }
  std::string text = "struct<" + std::to_string(align);
  for (Type m : members) text += "," + m.description();
  text += ">";
  if (Type known = TypeRegistry::get().find(text); !known.is_void()) return known;
  return TypeRegistry::get().add({.tag = TypeTag::Struct,
                                  .align = align,
                                  .count = members.size(),
                                  .members = {members.begin(), members.end()},
                                  .description = std::move(text)});
}

uint64_t Type::packed_unit() const {
  if (is_array()) return std::gcd(element().packed_unit(), element().packed_size());
  if (!is_struct()) return scalar_size(scalar());
  uint64_t unit = 0, at = 0;
  for (Type m : members()) {
    unit = std::gcd(std::gcd(unit, m.packed_unit()), at);
    at += m.packed_size();
  }
  return std::gcd(unit, at);
}

Type Type::buffer(Type element, uint32_t rank, bool packed) {
  if (!element.is_void() && !element.is_value()) {
    refuse(element.description(), "a buffer's element");
  }
  if (rank < 1 || rank > 3) refuse(std::to_string(rank), "a buffer's rank: 1, 2 or 3");
  if (element.is_void() && (rank != 1 || packed)) {
    refuse("a byte buffer", rank != 1 ? "of rank 2 or 3" : "packed: it has no elements to pack");
  }
  std::string text = (packed ? "packed_buffer<" : "buffer<") + element.description();
  if (rank > 1) text += "," + std::to_string(rank);
  text += ">";
  if (Type known = TypeRegistry::get().find(text); !known.is_void()) return known;
  return TypeRegistry::get().add({.tag = TypeTag::Buffer,
                                  .packed = packed,
                                  .rank = rank,
                                  .element = element,
                                  .description = std::move(text)});
}

Type Type::texture(uint32_t dim, Scalar texel) {
  if (dim != 2 && dim != 3) refuse(std::to_string(dim), "a texture's dimension: 2 or 3");
  if (texel != Scalar::Int32 && texel != Scalar::UInt32 && texel != Scalar::Float32) {
    refuse(scalar_name(texel), "a texel: that is int, uint or float");
  }
  std::string text = "texture<" + std::to_string(dim) + "," + std::string(scalar_name(texel)) + ">";
  if (Type known = TypeRegistry::get().find(text); !known.is_void()) return known;
  return TypeRegistry::get().add({.tag = TypeTag::Texture,
                                  .scalar = texel,
                                  .rank = dim,
                                  .element = Type::vector(texel, 4),
                                  .description = std::move(text)});
}

Type Type::bindless_array() {
  static const Type t =
      TypeRegistry::get().add({.tag = TypeTag::BindlessArray, .description = "bindless_array"});
  return t;
}

Type Type::accel() {
  static const Type t = TypeRegistry::get().add({.tag = TypeTag::Accel, .description = "accel"});
  return t;
}

Type Type::custom(std::string_view name) {
  static constexpr std::string_view kReserved[] = {
      "void",   "vector",        "matrix",  "array",          "struct",
      "buffer", "packed_buffer", "texture", "bindless_array", "accel"};
  bool reserved = false;
  for (std::string_view word : kReserved) reserved |= name == word;
  for (std::string_view word : kScalarNames) reserved |= name == word;
  if (reserved || !is_identifier(name)) refuse("'" + std::string(name) + "'", "a type's name");
  if (Type known = TypeRegistry::get().find(name); !known.is_void()) return known;
  return TypeRegistry::get().add({.tag = TypeTag::Custom, .description = std::string(name)});
}

Scalar Type::scalar() const {
  LCPY_CHECK(is_basic() || tag() == TypeTag::Texture);
  return info_->scalar;
}

Type Type::component(uint64_t index) const {
  switch (tag()) {
    case TypeTag::Struct:
      LCPY_CHECK(index < info_->members.size());
      return info_->members[index];
    case TypeTag::Vector:
    case TypeTag::Matrix:
    case TypeTag::Array:
      LCPY_CHECK(index < info_->count);
      return info_->element;
    case TypeTag::Buffer:
      return info_->element;
    default:
      throw BugError("component of " + description());
  }
}

uint64_t Type::offset(uint64_t index) const {
  if (!is_struct()) return index * stride();
  LCPY_CHECK(index < info_->offsets.size());
  return info_->offsets[index];
}

Type Type::with_scalar(Scalar s) const {
  LCPY_CHECK(is_basic());
  auto& r = TypeRegistry::get();
  Type t = is_matrix() ? r.matrices[static_cast<int>(s)][info_->lanes]
                       : r.lanes[static_cast<int>(s)][info_->lanes];
  if (t.is_void()) refuse(scalar_name(s), is_matrix() ? "a matrix's scalar" : "a vector's scalar");
  return t;
}

Type Type::with_lanes(uint32_t n) const {
  LCPY_CHECK(is_basic());
  return n == 1 ? of(info_->scalar) : vector(info_->scalar, n);
}

const std::string& Type::description() const {
  static const std::string& nothing = *new std::string("void");
  return info_ ? info_->description : nothing;
}

uint64_t Type::hash() const { return info_ ? info_->hash : fnv1a("void"); }

uint32_t Type::index() const {
  LCPY_CHECK(info_ != nullptr);
  return info_->index;
}

uint32_t Type::registered() { return TypeRegistry::get().count.load(std::memory_order_acquire); }

Type Type::at(uint32_t index) {
  TypeRegistry& r = TypeRegistry::get();
  std::shared_lock lock(r.mutex);
  LCPY_CHECK(index < r.infos.size());
  return Type(&r.infos[index]);
}

std::string_view scalar_name(Scalar s) { return kScalarNames[static_cast<int>(s)]; }
std::string_view scalar_numpy(Scalar s) { return kScalarNumpy[static_cast<int>(s)]; }

}  // namespace lcpy
