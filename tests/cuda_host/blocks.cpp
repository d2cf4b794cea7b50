// Runs the blocks of a grid one after another; the threads of a block one after another, or, where
// the kernel has barriers, each on its own stack, taking turns at barriers.
#include <ucontext.h>

#include <cstdint>
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
};
std::vector<Fiber> fibers;
std::vector<char> stacks;
ucontext_t scheduler;
size_t running;
Thread body;
void** given_buffers;
const void* given_block;

void enter() {
  body(given_buffers, given_block);
  fibers[running].done = true;
  swapcontext(&fibers[running].context, &scheduler);
}

template <class F>
void each_index(lcpy_index extent, lcpy_index& at, F&& f) {
  for (at.z = 0; at.z < extent.z; at.z++)
    for (at.y = 0; at.y < extent.y; at.y++)
      for (at.x = 0; at.x < extent.x; at.x++) f();
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
    f.done = false;
    count++;
  });
  for (bool any = true; any;) {
    any = false;
    for (running = 0; running < n; running++) {
      Fiber& f = fibers[running];
      if (f.done) continue;
      any = true;
      threadIdx = f.index;
      swapcontext(&scheduler, &f.context);
    }
  }
}

}  // namespace

extern "C" {
void lcpy_host_barrier() { swapcontext(&fibers[running].context, &scheduler); }

void lcpy_host_launch(Thread thread, void** buffers, const void* block, const unsigned* grid,
                      const unsigned* threads, int barriers) {
  body = thread;
  given_buffers = buffers;
  given_block = block;
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {threads[0], threads[1], threads[2]};
  each_index(gridDim, blockIdx, [&] {
    if (barriers)
      run_together();
    else
      each_index(blockDim, threadIdx, [&] { thread(buffers, block); });
  });
}
}
