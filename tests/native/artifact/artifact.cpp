// Artifacts as files, from C++ alone.
#include "artifact/artifact.h"

#include "base/error.h"
#include "check.h"

using namespace lcpy;

namespace {

Artifact sample() {
  Artifact a;
  a.target = "spirv", a.environment = "vulkan1.2", a.producer = "a test", a.kernel = "scale";
  a.entry_point = "main", a.math = "strict", a.block = "push";
  a.block_size = {64, 2, 1};
  a.ragged = false, a.uses_warp = true;
  a.shared_bytes = uint64_t{1} << 40, a.hash = 0x0123456789abcdef;
  a.parameters = {{"x", "buffer<float>"}, {"by", "float"}};
  Artifact::Slot x{"x", "buffer<float>", "global", "read_write"};
  x.bound = true, x.length = 24;
  Artifact::Slot by{"by", "float", "uniform", "read", 1};
  by.value = 16;
  a.slots = {x, by};
  a.block_bytes = 32;
  a.features = {"Shader", ""};
  a.report_tag = 1;
  a.sites = {{"assert", "too large", "k.py", "assert x < 3", {"int", "float"}, 7}};
  a.files = {"k.py", "other.py"};
  a.lines = {{5, 0, 3, 4}, {90, 1, 0xffffffff, 0}};
  a.code = std::string("\3\2#\7\0\0\0\0", 8);
  return a;
}

std::string refusal(const std::string& bytes) {
  try {
    read_artifact(bytes);
  } catch (const LoadError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST(round_trip) {
  const Artifact a = sample(), b = read_artifact(write_artifact(a));
  CHECK(b.target == a.target && b.environment == a.environment && b.producer == a.producer);
  CHECK(b.kernel == a.kernel && b.entry_point == a.entry_point && b.math == a.math);
  CHECK(b.block_size == a.block_size && !b.ragged && b.uses_warp && !b.indexes_arguments);
  CHECK(b.shared_bytes == a.shared_bytes && b.dynamic_shared == 0 && b.hash == a.hash);
  CHECK(b.parameters.size() == 2 && b.parameters[1].name == "by");
  CHECK(b.slots.size() == 2 && b.slots[0].bound && b.slots[0].length == 24);
  CHECK(b.slots[0].value == Artifact::kNone && b.slots[1].value == 16 && b.slots[1].number == 1);
  CHECK(b.block == "push" && b.block_bytes == 32 && b.features == a.features);
  CHECK(b.report_tag == 1 && b.sites.size() == 1 && b.sites[0].types[1] == "float");
  CHECK(b.sites[0].line == 7 && b.sites[0].source == "assert x < 3");
  CHECK(b.files == a.files && b.lines.size() == 2 && b.lines[1].line == 0xffffffff);
  CHECK(b.code == a.code);
  CHECK(write_artifact(b) == write_artifact(a));
}

TEST(nothing_but_whole_artifacts) {
  const std::string whole = write_artifact(sample());
  for (size_t size = 0; size < whole.size(); size++) CHECK(refusal(whole.substr(0, size)) != "");
  for (size_t at = 0; at < whole.size(); at++) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    CHECK(refusal(damaged).starts_with("artifact: "));
  }
  CHECK(refusal(whole) == "");
}

TEST(what_is_written_can_be_relied_on) {
  const auto refused = [](auto change) {
    Artifact a = sample();
    change(a);
    try {
      write_artifact(a);
    } catch (const LoadError&) {
      return true;
    }
    return false;
  };
  CHECK(refused([](Artifact& a) { a.target = "metal"; }));
  CHECK(refused([](Artifact& a) { a.math = "quick"; }));
  CHECK(refused([](Artifact& a) { a.block = "heap"; }));
  CHECK(refused([](Artifact& a) { a.block_size[1] = 0; }));
  CHECK(refused([](Artifact& a) { a.slots[1].value = 32; }));
  CHECK(refused([](Artifact& a) { a.slots[0].length = 25; }));
  CHECK(refused([](Artifact& a) { a.slots[0].extents = 0xfffffffe; }));
  CHECK(refused([](Artifact& a) { a.report_tag = 2; }));
  CHECK(refused([](Artifact& a) { a.code += 'x'; }));
  CHECK(refused([](Artifact& a) { a.lines[0].file = 2; }));
  CHECK(refused([](Artifact& a) { a.lines[0].place = 91; }));
  CHECK(!refused([](Artifact& a) { a.target = "cuda", a.code = "x"; }));
}
