// Typed 32-bit ids: nodes refer to one another by these, never by pointer, so that an id of one
// kind cannot be used where another is meant.
#pragma once
#include <cstdint>
#include <functional>

namespace lcpy {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr explicit Id(size_t v) : value(static_cast<uint32_t>(v)) {}
  constexpr bool valid() const { return value != kNone; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr bool operator==(Id a, Id b) { return a.value == b.value; }
  friend constexpr bool operator!=(Id a, Id b) { return a.value != b.value; }
  friend constexpr bool operator<(Id a, Id b) { return a.value < b.value; }
};

}  // namespace lcpy

template <class Tag>
struct std::hash<lcpy::Id<Tag>> {
  size_t operator()(lcpy::Id<Tag> id) const noexcept { return id.value * 0x9e3779b97f4a7c15ull; }
};
