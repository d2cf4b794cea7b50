// A built program: instructions, the register file's first contents, and what the runner must fill.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "interp/interp.h"
#include "interp/ir.h"

namespace lcpy::interp {

struct SlotPlan {
  MemoryClass memory{};
  uint32_t cell = kNone;        // where its pointer goes; kNone: nobody asks
  uint32_t argument = kNone;    // Uniform: offset in the argument block
  uint64_t at = 0;              // Shared, Scratch: offset in the block's or the strip's memory
  uint32_t buffer = 0;          // Global: which binding
  std::vector<std::byte> data;  // Constant
};

// One strip's state. A thread of the pool holds one, or one for each strip of a block.
struct Strip {
  State state;
  std::vector<std::byte> memory;  // register file, 64-aligned inside, then scratch
};

struct Context {
  std::vector<Strip> strips;
  std::vector<std::byte> shared;
  char* shared_data = nullptr;
};

class Program {
 public:
  std::vector<Instr> code;
  std::vector<std::byte> image;  // the register file at the start
  uint32_t file_size = 0;
  uint64_t scratch_bytes = 0, shared_bytes = 0;  // scratch: of a strip
  std::vector<SlotPlan> slots;
  uint32_t arguments_cell = kNone;
  std::array<uint32_t, 3> thread{}, block{}, dispatch{},
      size{};  // cells or rows; kNone: nobody asks
  std::array<bool, 3> thread_is_row{};
  std::array<uint32_t, 3> block_size{};
  Strips strips{};
  uint32_t warp_size = 32;
  bool blocks() const { return strips >= Strips::Blocks; }
  uint32_t buffers = 0, argument_bytes = 0;

  // Contexts are kept from launch to launch.
  Context* take_context() const;
  void give_context(Context* context) const;
  ~Program();

  // The same kernel with packed strips, or with ragged blocks; made when a dispatch first asks.
  const Program& other_layout() const;
  KernelDescriptor source;
  const Loops* loops = nullptr;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<Context*> idle_;
  mutable std::once_flag other_once_;
  mutable std::shared_ptr<const Program> other_;
};

}  // namespace lcpy::interp
