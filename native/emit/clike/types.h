// Names and declarations of types. Matrices, arrays and structs become C structs whose members,
// explicit padding and alignment reproduce the core's layout; each is checked by a static
// assertion.
#pragma once
#include <unordered_map>

#include "emit/clike/dialect.h"

namespace lcpy::clike {

class Types {
 public:
  explicit Types(Dialect& dialect) : dialect_(dialect) {}

  void value_name(Text& t, Type type);   // of variables
  void memory_name(Text& t, Type type);  // of memory and of members
  // The struct's name; declares it, and what it holds, on first use.
  std::string_view aggregate(Type type);
  const Text& declarations() const { return declarations_; }

  static bool holds_bool(Type type);  // at any depth
  // Whether the declaration has padding before a member, or after the last for `member` = count.
  static bool padded_before(Type structure, uint64_t member);

 private:
  void declare(Type type, const std::string& name);

  Dialect& dialect_;
  std::unordered_map<Type, std::string> names_;
  Text declarations_;
};

// The bits of one lane of a vector in memory; of a scalar, its own.
uint64_t lane_bits(Type type, std::span<const std::byte> bytes, uint32_t lane);

// The path from an aggregate to component `index`: ".c[1]", ".e[7]", ".m2", ".y".
void put_component(Text& t, Type aggregate, uint64_t index);

}  // namespace lcpy::clike
