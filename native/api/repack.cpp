// Merging of leaves and axes, and the strided copy loops.
#include "api/repack.h"

#include <algorithm>
#include <cstring>

namespace lcpy::api {
namespace {

bool same_axes(const Leaf& a, const Leaf& b) {
  return std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
                    [](const Axis& x, const Axis& y) {
                      return x.count == y.count && x.host == y.host && x.memory == y.memory;
                    });
}

// Drops axes of length 1, lets a contiguous innermost axis grow the run, and joins neighbouring
// axes that step alike on both sides.
void merge_axes(Leaf& leaf) {
  std::vector<Axis> kept;
  for (const Axis& axis : leaf.axes) {
    if (axis.count == 1) continue;
    if (!kept.empty()) {
      Axis& outer = kept.back();
      const auto n = static_cast<int64_t>(axis.count);
      if (outer.host == axis.host * n && outer.memory == axis.memory * n) {
        outer = {outer.count * axis.count, axis.host, axis.memory};
        continue;
      }
    }
    kept.push_back(axis);
  }
  while (!kept.empty()) {
    const auto run = static_cast<int64_t>(leaf.bytes);
    if (kept.back().host != run || kept.back().memory != run) break;
    leaf.bytes *= kept.back().count;
    kept.pop_back();
  }
  leaf.axes = std::move(kept);
}

template <uint64_t kBytes>
void copy_fixed(const std::byte* from, std::byte* to, int64_t from_step, int64_t to_step,
                uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    std::memcpy(to, from, kBytes);
    from += from_step;
    to += to_step;
  }
}

// `n` runs, in steps: the innermost loop, with the usual sizes known to the compiler.
void copy_row(const Leaf& leaf, const std::byte* from, std::byte* to, int64_t from_step,
              int64_t to_step, uint64_t n) {
  if (leaf.is_bool) {
    for (uint64_t i = 0; i < n; ++i, from += from_step, to += to_step)
      for (uint64_t k = 0; k < leaf.bytes; ++k) to[k] = std::byte{from[k] != std::byte{0}};
    return;
  }
  switch (leaf.bytes) {
    case 1:
      return copy_fixed<1>(from, to, from_step, to_step, n);
    case 2:
      return copy_fixed<2>(from, to, from_step, to_step, n);
    case 4:
      return copy_fixed<4>(from, to, from_step, to_step, n);
    case 6:
      return copy_fixed<6>(from, to, from_step, to_step, n);
    case 8:
      return copy_fixed<8>(from, to, from_step, to_step, n);
    case 12:
      return copy_fixed<12>(from, to, from_step, to_step, n);
    case 16:
      return copy_fixed<16>(from, to, from_step, to_step, n);
    case 24:
      return copy_fixed<24>(from, to, from_step, to_step, n);
    default:
      for (uint64_t i = 0; i < n; ++i, from += from_step, to += to_step)
        std::memcpy(to, from, leaf.bytes);
  }
}

void copy_axes(const Leaf& leaf, size_t axis, const std::byte* from, std::byte* to,
               bool to_memory) {
  if (axis == leaf.axes.size()) return copy_row(leaf, from, to, 0, 0, 1);
  const Axis& a = leaf.axes[axis];
  const int64_t from_step = to_memory ? a.host : a.memory;
  const int64_t to_step = to_memory ? a.memory : a.host;
  if (axis + 1 == leaf.axes.size()) return copy_row(leaf, from, to, from_step, to_step, a.count);
  for (uint64_t i = 0; i < a.count; ++i, from += from_step, to += to_step)
    copy_axes(leaf, axis + 1, from, to, to_memory);
}

bool is_empty(const Leaf& leaf) {
  return leaf.bytes == 0 || std::any_of(leaf.axes.begin(), leaf.axes.end(),
                                        [](const Axis& a) { return a.count == 0; });
}

}  // namespace

CopyPlan::CopyPlan(std::vector<Leaf> leaves) {
  for (Leaf& leaf : leaves) {
    if (is_empty(leaf)) continue;
    if (!leaves_.empty()) {
      // Members that follow one another without padding on either side are one run. This comes
      // before the axes are merged: whole structs may then become one.
      Leaf& last = leaves_.back();
      const auto run = static_cast<int64_t>(last.bytes);
      if (last.is_bool == leaf.is_bool && last.host + run == leaf.host &&
          last.memory + run == leaf.memory && same_axes(last, leaf)) {
        last.bytes += leaf.bytes;
        continue;
      }
    }
    leaves_.push_back(std::move(leaf));
  }
  for (Leaf& leaf : leaves_) merge_axes(leaf);
}

void CopyPlan::to_memory(const std::byte* host, std::byte* memory) const {
  for (const Leaf& leaf : leaves_) copy_axes(leaf, 0, host + leaf.host, memory + leaf.memory, true);
}

void CopyPlan::to_host(std::byte* host, const std::byte* memory) const {
  for (const Leaf& leaf : leaves_)
    copy_axes(leaf, 0, memory + leaf.memory, host + leaf.host, false);
}

bool CopyPlan::is_plain() const {
  return leaves_.empty() || (leaves_.size() == 1 && leaves_[0].axes.empty() && !leaves_[0].is_bool);
}

void fill_pattern(std::byte* to, std::span<const std::byte> value, uint64_t stride,
                  uint64_t count) {
  const Leaf leaf{value.size(), false, 0, 0, {}};
  if (count != 0) copy_row(leaf, value.data(), to, 0, static_cast<int64_t>(stride), count);
}

}  // namespace lcpy::api
