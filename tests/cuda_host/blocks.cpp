// Runs the blocks of a grid one after another; the threads of a block one after another, or, where
// the kernel has barriers or warp operations, each on its own stack, taking turns where it waits.
// A turn in which nobody gets on is a fault of the text, which ends the process: lanes wait for one
// that comes elsewhere, or that never comes.
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct lcpy_index {
  unsigned x, y, z;
};
extern "C" {
lcpy_index threadIdx, blockIdx, blockDim, gridDim;
typedef void (*Thread)(void** buffers, const void* block);
}

namespace {

constexpr size_t kStack = 256 * 1024;

struct Fiber {
  ucontext_t context;
  lcpy_index index;
  bool done;
  bool at_barrier;
  uint32_t lanes;       // that it waits for, or 0
  uint64_t value, all[32];  // what it gives those, and what they gave
};
std::vector<Fiber> fibers;
std::vector<char> stacks;
ucontext_t scheduler;
size_t running, alive, at_barrier;
bool moved;
Thread body;
void** given_buffers;
const void* given_block;

void enter() {
  body(given_buffers, given_block);
  fibers[running].done = true;
  alive--;
  moved = true;
  swapcontext(&fibers[running].context, &scheduler);
}

template <class F>
void each_index(lcpy_index extent, lcpy_index& at, F&& f) {
  for (at.z = 0; at.z < extent.z; at.z++)
    for (at.y = 0; at.y < extent.y; at.y++)
      for (at.x = 0; at.x < extent.x; at.x++) f();
}

[[noreturn]] void stuck() {
  const size_t n = size_t(blockDim.x) * blockDim.y * blockDim.z;
  fprintf(stderr, "threads wait for each other in vain, in block %u, %u, %u:\n", blockIdx.x,
          blockIdx.y, blockIdx.z);
  for (size_t i = 0; i < n; i++) {
    const Fiber& f = fibers[i];
    if (f.lanes) fprintf(stderr, "  thread %zu for lanes %08x\n", i, f.lanes);
    if (f.at_barrier) fprintf(stderr, "  thread %zu at a barrier\n", i);
  }
  abort();
}

// Gives all the lanes named what each of them brought, once they all wait for the same ones.
void release(size_t warp, uint32_t lanes) {
  const size_t n = size_t(blockDim.x) * blockDim.y * blockDim.z;
  for (size_t i = 0; i < 32; i++)
    if (lanes >> i & 1 && (warp + i >= n || fibers[warp + i].lanes != lanes)) return;
  for (size_t to = 0; to < 32; to++) {
    if (!(lanes >> to & 1)) continue;
    for (size_t i = 0; i < 32; i++)
      fibers[warp + to].all[i] = lanes >> i & 1 ? fibers[warp + i].value : 0;
    fibers[warp + to].lanes = 0;
  }
  moved = true;
}

void run_together() {
  const size_t n = size_t(blockDim.x) * blockDim.y * blockDim.z;
  if (fibers.size() < n) {
    fibers.resize(n);
    stacks.resize(n * kStack);
  }
  size_t count = 0;
  lcpy_index at;
  each_index(blockDim, at, [&] {
    Fiber& f = fibers[count];
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = stacks.data() + count * kStack;
    f.context.uc_stack.ss_size = kStack;
    f.context.uc_link = nullptr;
    makecontext(&f.context, enter, 0);
    f.index = at;
    f.done = f.at_barrier = false;
    f.lanes = 0;
    count++;
  });
  at_barrier = 0;
  for (alive = n; alive;) {
    moved = false;
    for (running = 0; running < n; running++) {
      Fiber& f = fibers[running];
      if (f.done || f.lanes || f.at_barrier) continue;
      threadIdx = f.index;
      swapcontext(&scheduler, &f.context);
    }
    if (at_barrier && at_barrier == alive) {
      for (size_t i = 0; i < n; i++) fibers[i].at_barrier = false;
      at_barrier = 0;
      moved = true;
    }
    if (!moved) stuck();
  }
}

}  // namespace

extern "C" {
void lcpy_host_barrier() {
  fibers[running].at_barrier = true;
  at_barrier++;
  moved = true;
  swapcontext(&fibers[running].context, &scheduler);
}

unsigned lcpy_host_lane() {
  const lcpy_index &t = threadIdx, &n = blockDim;
  return (t.x + n.x * (t.y + n.y * t.z)) % 32;
}

const uint64_t* lcpy_host_exchange(uint32_t lanes, uint64_t value) {
  Fiber& f = fibers[running];
  if (!(lanes >> running % 32 & 1)) {
    f.lanes = lanes;
    stuck();
  }
  f.value = value;
  f.lanes = lanes;
  moved = true;
  release(running / 32 * 32, lanes);
  if (f.lanes) swapcontext(&f.context, &scheduler);
  return f.all;
}

void lcpy_host_launch(Thread thread, void** buffers, const void* block, const unsigned* grid,
                      const unsigned* threads, int together) {
  body = thread;
  given_buffers = buffers;
  given_block = block;
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {threads[0], threads[1], threads[2]};
  each_index(gridDim, blockIdx, [&] {
    if (together)
      run_together();
    else
      each_index(blockDim, threadIdx, [&] { thread(buffers, block); });
  });
}
}
