// Copies between a host array of any strides and device memory's layout: the padding of float3 and
// structs, transposed matrices, bools of one byte. A plan is made once for a pair of layouts and
// knows no element type, only leaves: strided copies of scalars, merged into runs where both sides
// are contiguous.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lcpy::api {

// One axis of a leaf: how many, and how far apart on both sides. Strides may be negative or zero.
struct Axis {
  uint64_t count = 0;
  int64_t host = 0, memory = 0;
};

struct Leaf {
  uint64_t bytes = 0;            // of the run that is copied at once
  bool is_bool = false;          // each byte becomes 0 or 1
  int64_t host = 0, memory = 0;  // offsets of the first run
  std::vector<Axis> axes;        // outermost first
};

class CopyPlan {
 public:
  explicit CopyPlan(std::vector<Leaf> leaves);
  // `host` and `memory` are where the offsets count from. The two must not overlap.
  void to_memory(const std::byte* host, std::byte* memory) const;
  void to_host(std::byte* host, const std::byte* memory) const;
  const std::vector<Leaf>& leaves() const { return leaves_; }
  // One run without padding on either side: the plan is a plain memory copy.
  bool is_plain() const;

 private:
  std::vector<Leaf> leaves_;
};

// Fills `count` elements of `bytes` bytes, `stride` apart, with one value.
void fill_pattern(std::byte* to, std::span<const std::byte> value, uint64_t stride, uint64_t count);

}  // namespace lcpy::api
