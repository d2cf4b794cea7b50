// SPIR-V types of lcpy types, in families. A value's type and the type of the memory that holds it
// differ: explicit layout may decorate only what the host sees, bool has no size there, and a place
// that emulated float atomics reach holds the float's bits.
#pragma once
#include <cstdint>
#include <vector>

#include "spirv/module.h"
#include "types/type.h"

namespace lcpy::spirv {

enum class Family : uint8_t {
  Value,     // what operations work on, and Function, Private and Workgroup memory: no layout
  Bits,      // the same with 32- and 64-bit floats as unsigned integers: Workgroup memory
  Laid,      // buffers: offsets and strides of types/layout, bool as one byte
  LaidBits,  // both
};
inline constexpr int kFamilyCount = 4;
constexpr bool is_laid(Family f) { return f == Family::Laid || f == Family::LaidBits; }
constexpr bool is_bits(Family f) { return f == Family::Bits || f == Family::LaidBits; }

// What a type holds, at any depth.
enum TypeFact : uint16_t {
  kHoldsBool = 1,
  kHoldsInt8 = 2,
  kHoldsInt16 = 4,
  kHoldsInt64 = 8,
  kHoldsFloat16 = 16,
  kHoldsFloat64 = 32,
  kHoldsFloat32 = 64,
  kFactsKnown = 128,
};

class Types {
 public:
  // `held8`, `held16`: integers of that width are not the device's in registers, and are held in 32
  // bits, extended by their sign.
  explicit Types(Module& module, bool held8 = false, bool held16 = false)
      : m_(module), held8_(held8), held16_(held16) {}

  Word id(Type t, Family f = Family::Value);
  Word pointer(StorageClass storage, Type t, Family f);
  // A scalar (one lane) or vector by its parts, without the type registry: as a value, and as what
  // buffers hold.
  Word lanes(Scalar s, uint32_t count) { return stored_lanes(held_as(s), count); }
  Word stored_lanes(Scalar s, uint32_t count);
  bool held(Scalar s) const { return held_as(s) != s; }
  // The scalar in whose type a value is held.
  Scalar held_as(Scalar s) const;
  uint16_t facts(Type t);
  // True when the memory's type is the value's type, so that a load needs no conversion.
  bool same(Type t, Family f) { return id(t, f) == id(t, Family::Value); }
  // True when OpCopyLogical turns one into the other.
  bool copyable(Type t, Family f);

 private:
  Word make(Type t, Family f);
  Word make_struct(Type t, Family f);

  static constexpr int kStorages = 13;
  Module& m_;
  bool held8_, held16_;
  std::vector<Word> ids_[kFamilyCount];
  std::vector<Word> pointers_[kStorages][kFamilyCount];
  std::vector<uint16_t> facts_;
  Word lanes_[kScalarCount][5] = {};
};

// The stride of the matrices that a struct member holds, if it is a matrix or an array of them.
void decorate_matrix_member(Module& m, Word structure, uint32_t member, Type t, Family f);

}  // namespace lcpy::spirv
