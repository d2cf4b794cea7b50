// A compiled kernel as a file: what a host needs to bind and start it, and the code. Nothing of the
// front end or the emitters is needed to read one.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lcpy {

struct Artifact {
  static constexpr uint32_t kNone = 0xffffffffu;

  std::string target;       // "spirv", "opencl", "cuda" or "cpu" (a descriptor, as text)
  std::string environment;  // what it was made for: "vulkan1.2", "opencl1.2", "sm_75"
  std::string producer;     // "lcpy 0.1"
  std::string kernel;       // its name in Python
  std::string entry_point;
  std::string math;           // "ieee", "strict" or "fast"
  std::string build_options;  // for the compiler of OpenCL C and CUDA C++
  std::array<uint32_t, 3> block_size{};
  bool ragged = true;  // the dispatch need not be whole blocks
  bool uses_warp = false, indexes_arguments = false;
  uint64_t shared_bytes = 0, dynamic_shared = 0;
  uint64_t hash = 0;  // of the kernel's descriptor: of its structure, not of names

  struct Parameter {
    std::string name, type;  // the type's description
  };
  std::vector<Parameter> parameters;

  // What the kernel names: buffers, arguments by value, its own memory. `number` is the position
  // of its parameter, offsets are in the argument block (see kernel/descriptor.h).
  struct Slot {
    std::string name, type, memory, access;
    uint32_t number = 0;
    bool atomics = false, bound = false, counted_in_32_bits = false;
    uint32_t set = 0, binding = 0;  // where bound
    uint32_t value = kNone, length = kNone, extents = kNone, base = kNone;
  };
  std::vector<Slot> slots;

  // The argument block: pushed, or a buffer of its own.
  std::string block;  // "push", "uniform" or "storage"
  uint32_t block_set = 0, block_binding = 0, block_bytes = 0;

  std::vector<std::string> features;  // capabilities and extensions

  // Places that assert, trap or print.
  uint32_t report_tag = kNone;  // the slot for the tag of each launch
  struct Site {
    std::string kind, text, file, source;
    std::vector<std::string> types;
    uint32_t line = 0;
  };
  std::vector<Site> sites;

  // From which lines the code came: each row holds from its place on, words of SPIR-V.
  std::vector<std::string> files;
  struct Line {
    uint32_t place = 0, file = 0, line = 0, column = 0;
  };
  std::vector<Line> lines;

  std::string code;
};

// The same bytes everywhere for the same artifact.
std::string write_artifact(const Artifact& artifact);

// LoadError for anything but a whole and undamaged artifact of a version that is known; the text
// says which part is wrong. Believes no count: memory stays within a small multiple of the size.
Artifact read_artifact(std::string_view bytes);

}  // namespace lcpy
