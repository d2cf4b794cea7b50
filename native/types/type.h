// Interned types and their one layout. A Type is a handle to an immutable record that lives as
// long as the process; equal types have equal handles. Thread-safe.
//
// Descriptions (printed by description(), read by Type::parse, no white space):
//   scalar     the names in scalar.def
//   vector     vector<float,3>                      2 to 4 lanes of a scalar
//   matrix     matrix<float,3>                      N×N, column vectors; half, float, double
//   array      array<T,n>                           n >= 1
//   struct     struct<align,T0,T1,…>                align: a power of two, at least the members'
//   buffer     buffer<T> buffer<T,2> buffer<T,3>    rank; buffer<void> is a byte buffer
//              packed_buffer<T>[,rank]              elements without padding (float3 in 12 bytes)
//   texture    texture<2,float>                     dimension 2 or 3; int, uint or float texels
//   bindless_array, accel
//   custom     any other identifier                 opaque
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lcpy {

enum class Scalar : uint8_t {
#define SCALAR(name, description, numpy, bytes, cls) name,
#include "types/scalar.def"
#undef SCALAR
};
inline constexpr int kScalarCount = 0
#define SCALAR(name, description, numpy, bytes, cls) +1
#include "types/scalar.def"
#undef SCALAR
    ;
enum class ScalarClass : uint8_t { Bool, Signed, Unsigned, Float, Storage };

constexpr uint32_t scalar_size(Scalar s) {
  constexpr uint8_t sizes[] = {
#define SCALAR(name, description, numpy, bytes, cls) bytes,
#include "types/scalar.def"
#undef SCALAR
  };
  return sizes[static_cast<int>(s)];
}
constexpr ScalarClass scalar_class(Scalar s) {
  constexpr ScalarClass classes[] = {
#define SCALAR(name, description, numpy, bytes, cls) ScalarClass::cls,
#include "types/scalar.def"
#undef SCALAR
  };
  return classes[static_cast<int>(s)];
}

enum class TypeTag : uint8_t {
  Void,
  Scalar,
  Vector,
  Matrix,
  Array,
  Struct,
  Buffer,
  Texture,
  BindlessArray,
  Accel,
  Custom
};

struct TypeInfo;

class Type {
 public:
  constexpr Type() = default;  // void
  static Type of(Scalar s);
  static Type vector(Scalar s, uint32_t lanes);
  static Type matrix(Scalar s, uint32_t dim);
  static Type array(Type element, uint64_t count);
  static Type structure(std::span<const Type> members, uint32_t align = 0);  // 0: the members' own
  static Type buffer(Type element, uint32_t rank = 1, bool packed = false);  // void element: bytes
  static Type texture(uint32_t dim, Scalar texel);
  static Type bindless_array();
  static Type accel();
  static Type custom(std::string_view name);
  static Type parse(std::string_view description);  // CompileError E1001

  TypeTag tag() const;
  bool is_void() const { return info_ == nullptr; }
  bool is_scalar() const { return tag() == TypeTag::Scalar; }
  bool is_vector() const { return tag() == TypeTag::Vector; }
  bool is_matrix() const { return tag() == TypeTag::Matrix; }
  bool is_array() const { return tag() == TypeTag::Array; }
  bool is_struct() const { return tag() == TypeTag::Struct; }
  bool is_buffer() const { return tag() == TypeTag::Buffer; }
  bool is_resource() const;             // buffer, texture, bindless array, accel
  bool is_value() const;                // has a size and can be held by a variable
  bool is_basic() const;                // scalar, vector or matrix
  bool is_lanes() const;                // scalar or vector
  bool is_bool() const;                 // scalar bool
  bool has_class(ScalarClass c) const;  // scalar or vector of that class
  bool is_integer() const;              // scalar or vector, signed or unsigned
  bool is_float() const;                // scalar or vector, class Float
  bool is_arithmetic() const { return is_integer() || is_float(); }

  Scalar scalar() const;   // of a scalar, vector or matrix; texel of a texture
  uint32_t lanes() const;  // 1 for scalars, 2–4 for vectors, N for N×N matrices; else 0
  uint64_t count() const;  // array length; struct member count; lanes of vectors; columns
  Type element() const;    // array, buffer: element; vector: scalar; matrix: column vector
  std::span<const Type> members() const;  // struct
  Type component(uint64_t index) const;   // type of element, member, lane or column `index`
  uint32_t rank() const;                  // buffer 1–3, texture 2–3
  bool packed() const;                    // buffer

  uint64_t size() const;    // bytes in memory, padding included; 0 of what is not a value
  uint32_t align() const;   // 1 of what is not a value
  uint64_t stride() const;  // array, matrix (column), vector (lane), buffer (element): bytes apart
  uint64_t offset(uint64_t index) const;  // bytes from the start to component `index`
  // The largest size that divides size and place of every scalar of the packed form: packed
  // elements are reached by units of it.
  uint64_t packed_unit() const;
  uint64_t packed_size() const;  // bytes without any padding: what NumPy's packed dtype occupies

  Type with_scalar(Scalar s) const;   // same lanes, other scalar; scalars, vectors, matrices
  Type with_lanes(uint32_t n) const;  // scalar (1) or vector of the same scalar

  const std::string& description() const;
  uint64_t hash() const;   // of the description: stable across processes and machines
  uint32_t index() const;  // in order of registration; elements come before what holds them
  static uint32_t registered();
  static Type at(uint32_t index);  // of a registered one

  friend bool operator==(Type a, Type b) { return a.info_ == b.info_; }
  friend bool operator!=(Type a, Type b) { return a.info_ != b.info_; }
  const TypeInfo* info() const { return info_; }

 private:
  friend struct TypeRegistry;
  constexpr explicit Type(const TypeInfo* i) : info_(i) {}
  const TypeInfo* info_ = nullptr;
};

// The record behind a handle; written once, before anyone sees the handle.
struct TypeInfo {
  TypeTag tag = TypeTag::Void;
  Scalar scalar = Scalar::Bool;
  ScalarClass cls =
      ScalarClass::Storage;  // of the scalar; meaningful for scalars, vectors, matrices
  bool packed = false;
  uint32_t lanes = 0;
  uint32_t rank = 0;
  uint32_t align = 1;
  uint32_t index = 0;
  uint64_t count = 0;
  uint64_t size = 0;
  uint64_t stride = 0;
  uint64_t packed_size = 0;
  uint64_t hash = 0;
  Type element;
  std::vector<Type> members;
  std::vector<uint64_t> offsets;  // of members
  std::string description;
};

inline TypeTag Type::tag() const { return info_ ? info_->tag : TypeTag::Void; }
inline bool Type::is_resource() const {
  return tag() >= TypeTag::Buffer && tag() <= TypeTag::Accel;
}
inline bool Type::is_value() const { return tag() >= TypeTag::Scalar && tag() <= TypeTag::Struct; }
inline bool Type::is_basic() const { return tag() >= TypeTag::Scalar && tag() <= TypeTag::Matrix; }
inline bool Type::is_lanes() const { return tag() == TypeTag::Scalar || tag() == TypeTag::Vector; }
inline bool Type::has_class(ScalarClass c) const { return is_lanes() && info_->cls == c; }
inline bool Type::is_bool() const { return is_scalar() && info_->cls == ScalarClass::Bool; }
inline bool Type::is_integer() const {
  return has_class(ScalarClass::Signed) || has_class(ScalarClass::Unsigned);
}
inline bool Type::is_float() const { return has_class(ScalarClass::Float); }
inline uint32_t Type::lanes() const { return info_ ? info_->lanes : 0; }
inline uint64_t Type::count() const { return info_ ? info_->count : 0; }
inline Type Type::element() const { return info_ ? info_->element : Type(); }
inline std::span<const Type> Type::members() const {
  return info_ ? std::span<const Type>(info_->members) : std::span<const Type>();
}
inline uint32_t Type::rank() const { return info_ ? info_->rank : 0; }
inline bool Type::packed() const { return info_ && info_->packed; }
inline uint64_t Type::size() const { return info_ ? info_->size : 0; }
inline uint32_t Type::align() const { return info_ ? info_->align : 1; }
inline uint64_t Type::stride() const { return info_ ? info_->stride : 0; }
inline uint64_t Type::packed_size() const { return info_ ? info_->packed_size : 0; }

std::string_view scalar_name(Scalar s);  // as in descriptions
std::string_view scalar_numpy(Scalar s);

}  // namespace lcpy

template <>
struct std::hash<lcpy::Type> {
  size_t operator()(lcpy::Type t) const noexcept { return reinterpret_cast<size_t>(t.info()) >> 4; }
};
