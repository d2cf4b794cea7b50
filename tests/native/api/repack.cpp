// Copy plans: merging, strides of any sign, bools, both directions.
#include "api/repack.h"

#include <numeric>
#include <vector>

#include "check.h"

using namespace lcpy::api;

namespace {
std::vector<std::byte> counted(size_t n) {
  std::vector<std::byte> bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = std::byte(i + 1);
  return bytes;
}
int at(const std::vector<std::byte>& bytes, size_t i) { return static_cast<int>(bytes[i]); }
}  // namespace

TEST(float3_rows_gain_padding) {
  CopyPlan plan({{4, false, 0, 0, {{2, 12, 16}, {3, 4, 4}}}});
  CHECK_EQ(plan.leaves().size(), 1u);
  CHECK_EQ(plan.leaves()[0].bytes, 12u);
  auto host = counted(24);
  std::vector<std::byte> memory(32), back(24);
  plan.to_memory(host.data(), memory.data());
  CHECK_EQ(at(memory, 11), 12);
  CHECK_EQ(at(memory, 12), 0);
  CHECK_EQ(at(memory, 16), 13);
  plan.to_host(back.data(), memory.data());
  CHECK(back == host);
  CHECK(!plan.is_plain());
}

TEST(equal_layouts_become_one_copy) {
  CopyPlan plan({{4, false, 0, 0, {{5, 8, 8}}}, {4, false, 4, 4, {{5, 8, 8}}}});
  CHECK_EQ(plan.leaves().size(), 1u);
  CHECK(plan.is_plain());
  CHECK_EQ(plan.leaves()[0].bytes, 40u);
}

TEST(negative_and_zero_strides) {
  auto host = counted(4);
  std::vector<std::byte> memory(4);
  CopyPlan({{1, false, 0, 0, {{4, -1, 1}}}}).to_memory(host.data() + 3, memory.data());
  CHECK_EQ(at(memory, 0), 4);
  CHECK_EQ(at(memory, 3), 1);
  CopyPlan({{1, false, 0, 0, {{4, 0, 1}}}}).to_memory(host.data(), memory.data());
  CHECK_EQ(at(memory, 3), 1);
}

TEST(bools_become_zero_or_one) {
  std::vector<std::byte> host{std::byte{0}, std::byte{7}, std::byte{255}}, memory(3);
  CopyPlan plan({{1, true, 0, 0, {{3, 1, 1}}}});
  plan.to_memory(host.data(), memory.data());
  CHECK_EQ(at(memory, 0), 0);
  CHECK_EQ(at(memory, 1), 1);
  CHECK_EQ(at(memory, 2), 1);
  CHECK(!plan.is_plain());
}

TEST(transposed_matrix) {
  // Rows of a 2×2 byte matrix against columns in memory.
  CopyPlan plan({{1, false, 0, 0, {{1, 4, 4}, {2, 1, 2}, {2, 2, 1}}}});
  auto host = counted(4);
  std::vector<std::byte> memory(4);
  plan.to_memory(host.data(), memory.data());
  CHECK_EQ(at(memory, 1), 3);
  CHECK_EQ(at(memory, 2), 2);
}

TEST(nothing_to_copy) {
  CopyPlan plan({{4, false, 0, 0, {{0, 4, 4}}}});
  plan.to_memory(nullptr, nullptr);
  CHECK(plan.is_plain());
}

TEST(patterns_fill_with_stride) {
  std::vector<std::byte> memory(16), value = counted(3);
  fill_pattern(memory.data(), value, 4, 4);
  CHECK_EQ(at(memory, 12), 1);
  CHECK_EQ(at(memory, 14), 3);
  CHECK_EQ(at(memory, 15), 0);
}
