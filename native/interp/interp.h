// The interpreter: runs a descriptor a strip of 64 lanes at a time. It defines meaning.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "kernel/descriptor.h"

namespace lcpy::interp {

class Program;  // decoded, immutable, shareable between threads

// isa: "baseline", "avx2", "avx512", or "" for the best the processor has. ArgumentError if it
// lacks it. warp_size: 8, 16, 32 or 64 lanes.
inline constexpr uint32_t kDefaultWarpSize = 32;
std::shared_ptr<const Program> build_program(const KernelDescriptor& d, const char* isa = "",
                                             uint32_t warp_size = kDefaultWarpSize);

struct Binding {
  void* data = nullptr;  // start of the whole view
  uint64_t bytes = 0;
};
struct Launch {
  std::array<uint32_t, 3> dispatch_size{};
  std::span<const Binding> buffers;  // by order of Global slots
  std::span<const std::byte>
      block;             // the argument block; its dispatch size is read from `dispatch_size`
  unsigned threads = 0;  // 0: one per processor
};
// Blocks until every thread of the dispatch has run.
void run(const Program& program, const Launch& launch);

}  // namespace lcpy::interp
