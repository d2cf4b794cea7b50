// Building programs and running them: strips are shared out over the pool; each thread works in a
// context of its own, which holds the register file of one strip, or of all strips of a block.
#include <cstring>

#include "base/error.h"
#include "interp/flatten.h"
#include "interp/pool.h"
#include "interp/program.h"
#include "lower/lower.h"

namespace lcpy::interp {
namespace {

constexpr uint64_t kLaneCount = kLanes;

char* align64(std::vector<std::byte>& memory) {
  const uintptr_t p = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<char*>((p + 63) & ~uintptr_t{63});
}
template <class T>
void set(char* file, uint32_t at, T value) {
  if (at != kNone) std::memcpy(file + at, &value, sizeof value);
}

uint64_t lanes_mask(uint64_t count) {
  return count >= kLaneCount ? kAllLanes : (uint64_t{1} << count) - 1;
}

void execute(State& s) {
  const Instr* at = s.resume;
  char* const file = s.file;
  while (at != nullptr) at = at->fn(at, file, s);
}

// The thread ids of strip `index` of a block, which do not change.
void set_thread_ids(const Program& p, char* file, uint64_t index) {
  const auto& size = p.block_size;
  for (int axis = 0; axis < 3; ++axis) {
    if (p.thread[axis] == kNone) continue;
    const int lanes = p.thread_is_row[axis] ? kLanes : 1;
    for (int l = 0; l < lanes; ++l) {
      const uint64_t t = index * kLaneCount + static_cast<uint64_t>(l);
      const uint64_t id[] = {t % size[0], t / size[0] % size[1], t / (uint64_t{size[0]} * size[1])};
      set(file, p.thread[axis] + 4 * static_cast<uint32_t>(l), static_cast<uint32_t>(id[axis]));
    }
  }
}

Context* make_context(const Program& p) {
  const uint64_t threads = uint64_t{p.block_size[0]} * p.block_size[1] * p.block_size[2];
  auto* c = new Context;
  c->strips.resize(p.blocks() ? (threads + kLaneCount - 1) / kLaneCount : 1);
  c->shared.resize(p.shared_bytes + 64);
  c->shared_data = align64(c->shared);
  for (size_t i = 0; i < c->strips.size(); ++i) {
    Strip& s = c->strips[i];
    s.memory.resize(p.file_size + p.scratch_bytes + 64);
    s.state.file = align64(s.memory);
    std::memcpy(s.state.file, p.image.data(), p.image.size());
    for (const SlotPlan& slot : p.slots) {
      if (slot.memory == MemoryClass::Constant) set(s.state.file, slot.cell, slot.data.data());
      if (slot.memory == MemoryClass::Shared)
        set(s.state.file, slot.cell, c->shared_data + slot.at);
      if (slot.memory == MemoryClass::Scratch)
        set(s.state.file, slot.cell, s.state.file + p.file_size + slot.at * kLaneCount);
    }
    if (p.blocks()) set_thread_ids(p, s.state.file, i);
  }
  return c;
}

struct Task {
  const Program& program;
  const Launch& launch;
  std::array<uint64_t, 3> extent;  // strips along x and rows, or blocks
};

void bind(const Task& t, Context& c) {
  const Program& p = t.program;
  const std::byte* const block = t.launch.block.data();
  for (Strip& s : c.strips) {
    char* const file = s.state.file;
    for (const SlotPlan& slot : p.slots) {
      if (slot.memory == MemoryClass::Global)
        set(file, slot.cell, t.launch.buffers[slot.buffer].data);
      if (slot.memory == MemoryClass::Uniform) set(file, slot.cell, block + slot.argument);
    }
    set(file, p.arguments_cell, block);
    for (int i = 0; i < 3; ++i) set(file, p.size[i], t.launch.dispatch_size[i]);
  }
}

void run_strip(const Program& p, State& s, uint64_t lanes) {
  s.mask = lanes_mask(lanes);
  s.resume = p.code.data();
  execute(s);
}

// Strips along the rows of the dispatch, each from a multiple of 64.
void run_rows(const Task& t, Context& c, uint64_t begin, uint64_t end) {
  const Program& p = t.program;
  State& s = c.strips[0].state;
  const uint64_t width = t.launch.dispatch_size[0];
  uint64_t x = begin % t.extent[0], row = begin / t.extent[0];
  for (uint64_t i = begin; i < end; ++row, x = 0) {
    set(s.file, p.dispatch[1], static_cast<uint32_t>(row % t.extent[1]));
    set(s.file, p.dispatch[2], static_cast<uint32_t>(row / t.extent[1]));
    for (; x < t.extent[0] && i < end; ++x, ++i) {
      const uint64_t first = x * kLaneCount;
      set(s.file, p.dispatch[0], static_cast<uint32_t>(first));
      if (p.thread[0] != kNone)
        set(s.file, p.thread[0], static_cast<uint32_t>(first % p.block_size[0]));
      if (p.block[0] != kNone)
        set(s.file, p.block[0], static_cast<uint32_t>(first / p.block_size[0]));
      run_strip(p, s, width - first);
    }
  }
}

// Strips of 64 threads in linear order, over rows shorter than a strip.
void run_packed(const Task& t, Context& c, uint64_t begin, uint64_t end) {
  const Program& p = t.program;
  State& s = c.strips[0].state;
  const uint64_t width = t.launch.dispatch_size[0], height = t.launch.dispatch_size[1];
  const uint64_t total = width * height * t.launch.dispatch_size[2];
  for (uint64_t i = begin; i < end; ++i) {
    const uint64_t first = i * kLaneCount;
    uint64_t id[] = {first % width, first / width % height, first / (width * height)};
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (int axis = 0; axis < 3; ++axis)
        if (p.dispatch[axis] != kNone)
          set(s.file, p.dispatch[axis] + 4 * l, static_cast<uint32_t>(id[axis]));
      if (++id[0] == width) id[0] = 0, ++id[1];
      if (id[1] == height) id[1] = 0, ++id[2];
    }
    run_strip(p, s, total - first);
  }
}

// Whole blocks: every strip runs to the barrier before any goes on.
void run_blocks(const Task& t, Context& c, uint64_t begin, uint64_t end) {
  const Program& p = t.program;
  const uint64_t threads = uint64_t{p.block_size[0]} * p.block_size[1] * p.block_size[2];
  for (uint64_t i = begin; i < end; ++i) {
    const uint64_t id[] = {i % t.extent[0], i / t.extent[0] % t.extent[1],
                           i / (t.extent[0] * t.extent[1])};
    for (size_t k = 0; k < c.strips.size(); ++k) {
      State& s = c.strips[k].state;
      for (int axis = 0; axis < 3; ++axis)
        set(s.file, p.block[axis], static_cast<uint32_t>(id[axis]));
      s.mask = lanes_mask(threads - k * kLaneCount);
      s.resume = p.code.data();
    }
    for (bool waiting = true; waiting;) {
      waiting = false;
      for (Strip& strip : c.strips) {
        if (strip.state.resume == nullptr) continue;
        execute(strip.state);
        waiting |= strip.state.resume != nullptr;
      }
    }
  }
}

void work(void* user, uint64_t begin, uint64_t end) {
  const Task& t = *static_cast<const Task*>(user);
  Context* const c = t.program.take_context();
  bind(t, *c);
  if (t.program.blocks())
    run_blocks(t, *c, begin, end);
  else if (t.program.strips == Strips::Packed)
    run_packed(t, *c, begin, end);
  else
    run_rows(t, *c, begin, end);
  t.program.give_context(c);
}

void check(const Program& p, const Launch& launch) {
  if (launch.buffers.size() < p.buffers)
    throw ArgumentError("the kernel has " + std::to_string(p.buffers) +
                        " buffers, the launch binds " + std::to_string(launch.buffers.size()));
  if (launch.block.size() < p.argument_bytes)
    throw ArgumentError("the argument block has " + std::to_string(launch.block.size()) +
                        " bytes, the kernel reads " + std::to_string(p.argument_bytes));
}

}  // namespace

namespace {

bool executes(Op op, Type, Type, MathMode) { return flatten_row(op) != &Flattener::expanded; }
bool needs_expansion(const KernelDescriptor& d) {
  for (const Operation& o : d.ops)
    if (!executes(o.op, {}, {}, d.math)) return true;
  return false;
}

}  // namespace

Context* Program::take_context() const {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Context* const c = idle_.back();
      idle_.pop_back();
      return c;
    }
  }
  return make_context(*this);
}
void Program::give_context(Context* context) const {
  std::lock_guard lock(mutex_);
  idle_.push_back(context);
}
Program::~Program() {
  for (Context* c : idle_) delete c;
}

namespace {

std::shared_ptr<Program> build(const KernelDescriptor& d, const Loops& loops, Strips strips,
                               uint32_t warp_size) {
  auto program = std::make_shared<Program>();
  Code code = flatten(d, strips, warp_size);
  hoist(code);
  classify(code);
  improve(code);
  find_lifetimes(code);
  program->block_size = d.block_size;
  program->slots.resize(d.slots.size());
  const ArgumentBlock block = argument_block(d);
  for (size_t i = 0; i < d.slots.size(); ++i) {
    SlotPlan& plan = program->slots[i];
    plan.memory = d.slots[i].memory;
    if (plan.memory == MemoryClass::Global) plan.buffer = program->buffers++;
    if (plan.memory == MemoryClass::Uniform) plan.argument = block.entries[i].value;
    if (plan.memory == MemoryClass::Constant) plan.data = d.slots[i].data;
  }
  program->argument_bytes = block.size;
  encode(code, loops, *program);
  return program;
}

}  // namespace

std::shared_ptr<const Program> build_program(const KernelDescriptor& d, const char* isa,
                                             uint32_t warp_size) {
  if (warp_size != 8 && warp_size != 16 && warp_size != 32 && warp_size != 64)
    throw ArgumentError("warp_size: 8, 16, 32 or 64, not " + std::to_string(warp_size));
  const Loops& loops = loops_for(isa);
  KernelDescriptor copy = d;
  pass_external(copy, "", "cpu");
  // Matrix and geometry operations are expanded as for every target: one order of operations.
  if (needs_expansion(copy)) pass_expand(copy, &executes);
  const Strips strips = copy.needs_whole_blocks() ? Strips::Blocks : Strips::Rows;
  const std::shared_ptr<Program> program = build(copy, loops, strips, warp_size);
  program->warp_size = warp_size;
  program->source = std::move(copy);
  program->loops = &loops;
  return program;
}

const Program& Program::other_layout() const {
  std::call_once(other_once_, [this] {
    other_ = build(source, *loops, blocks() ? Strips::RaggedBlocks : Strips::Packed, warp_size);
  });
  return *other_;
}

namespace {

void launch_strips(const Task& task) {
  const Program& p = task.program;
  const uint64_t total = task.extent[0] * task.extent[1] * task.extent[2];
  // What is done before another thread would have woken up is not shared out.
  const uint64_t cost = total * p.code.size() * (p.blocks() ? 4 : 1);
  const unsigned threads = cost < 1500 ? 1 : task.launch.threads;
  const uint64_t workers = threads == 0 ? processors() : threads;
  uint64_t grain = total / (workers * 16);
  grain = grain < 1 ? 1 : grain > 1024 ? 1024 : grain;
  share_out(total, grain, threads, &work, const_cast<Task*>(&task));
}

}  // namespace

void run(const Program& program, const Launch& launch) {
  check(program, launch);
  const auto& size = launch.dispatch_size;
  if (size[0] == 0 || size[1] == 0 || size[2] == 0) return;
  if (program.blocks()) {
    bool whole = true;
    std::array<uint64_t, 3> blocks{};
    for (int i = 0; i < 3; ++i) {
      whole &= size[i] % program.block_size[i] == 0;
      blocks[i] = (uint64_t{size[i]} + program.block_size[i] - 1) / program.block_size[i];
    }
    return launch_strips({whole ? program : program.other_layout(), launch, blocks});
  }
  const uint64_t rows = uint64_t{size[1]} * size[2];
  if (size[0] <= kLanes / 2 && rows > 1) {
    const uint64_t strips = (size[0] * rows + kLaneCount - 1) / kLaneCount;
    return launch_strips({program.other_layout(), launch, {strips, 1, 1}});
  }
  const uint64_t strips = (size[0] + kLaneCount - 1) / kLaneCount;
  launch_strips({program, launch, {strips, size[1], size[2]}});
}

}  // namespace lcpy::interp
