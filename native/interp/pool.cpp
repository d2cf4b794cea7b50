// One job at a time: the caller publishes it, wakes who sleeps, works along, closes it, and waits
// for those who joined. Idle workers look for a new job for a short while before they sleep, so
// that launches in a row need no system call. A forked child has no workers: it makes new ones.
#include "interp/pool.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#endif

namespace lcpy::interp {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

struct Job {
  uint64_t total, grain;
  void (*work)(void*, uint64_t, uint64_t);
  void* user;
  unsigned helpers;  // workers wanted
  std::atomic<uint64_t> next{0};
  void take_pieces() {
    for (;;) {
      const uint64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= total) return;
      work(user, begin, total - begin < grain ? total : begin + grain);
    }
  }
};

class Pool {
 public:
  // Only the owner of `mutex_` publishes.
  bool try_own() { return owner_.try_lock(); }
  void disown() { owner_.unlock(); }

  void run(Job& job) {
    while (workers_ < job.helpers) {
      std::thread(&Pool::serve, this, workers_).detach();
      ++workers_;
    }
    job_.store(&job);
    round_.fetch_add(1);
    if (sleepers_.load() != 0) {
      std::lock_guard lock(sleep_);
      wake_.notify_all();
    }
    job.take_pieces();
    job_.store(nullptr);
    for (unsigned spins = 0; active_.load() != 0; ++spins)
      if (spins < 2000)
        relax();
      else
        std::this_thread::yield();
  }

 private:
  static constexpr unsigned kSpins = 4000;

  void serve(unsigned index) {
    uint64_t seen = 0;
    for (;;) {
      uint64_t round = round_.load();
      for (unsigned spins = 0; round == seen && spins < kSpins; ++spins) {
        relax();
        round = round_.load();
      }
      if (round == seen) {
        std::unique_lock lock(sleep_);
        sleepers_.fetch_add(1);
        wake_.wait(lock, [&] { return round_.load() != seen; });
        sleepers_.fetch_sub(1);
        round = round_.load();
      }
      seen = round;
      active_.fetch_add(1);
      Job* const job = job_.load();
      if (job != nullptr && index < job->helpers) job->take_pieces();
      active_.fetch_sub(1);
    }
  }

  std::mutex owner_, sleep_;
  std::condition_variable wake_;
  std::atomic<Job*> job_{nullptr};
  std::atomic<uint64_t> round_{0};
  std::atomic<unsigned> active_{0}, sleepers_{0};
  unsigned workers_ = 0;
};

// Never destroyed: its threads outlive static destructors.
std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
  Pool* p = the_pool.load(std::memory_order_acquire);
  if (p != nullptr) return *p;
  static std::mutex making;
  std::lock_guard lock(making);
  p = the_pool.load(std::memory_order_acquire);
  if (p == nullptr) {
#if defined(__unix__) || defined(__APPLE__)
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
      the_pool.store(nullptr, std::memory_order_release);  // its threads stayed with the parent
    });
    (void)registered;
#endif
    p = new Pool;
    the_pool.store(p, std::memory_order_release);
  }
  return *p;
}

}  // namespace

unsigned processors() {
  static const unsigned count = [] {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
      return static_cast<unsigned>(CPU_COUNT(&set));
#endif
    const unsigned n = std::thread::hardware_concurrency();
    return n == 0 ? 1u : n;
  }();
  return count;
}

void share_out(uint64_t total, uint64_t grain, unsigned threads,
               void (*work)(void*, uint64_t, uint64_t), void* user) {
  if (threads == 0) threads = processors();
  if (threads > 256) threads = 256;
  if (threads > 1 && total > grain) {
    Pool& p = pool();
    if (p.try_own()) {
      Job job{total, grain, work, user, threads - 1};
      p.run(job);
      p.disown();
      return;
    }
  }
  work(user, 0, total);
}

}  // namespace lcpy::interp
