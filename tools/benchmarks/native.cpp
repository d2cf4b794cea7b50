// The limit to compare primitives with: sum and histogram in C++ with two threads.
// Built by tools/bench with -O3 -march=native -ffast-math into a shared library.
#include <cstdint>
#include <cstring>
#include <thread>

extern "C" float native_sum(const float* x, int64_t n) {
  float part[2] = {0, 0};
  auto work = [&](int which) {
    const int64_t begin = which ? n / 2 : 0, end = which ? n : n / 2;
    float total = 0;
    for (int64_t i = begin; i < end; i++) total += x[i];
    part[which] = total;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  return part[0] + part[1];
}

extern "C" void native_histogram(const int32_t* x, int64_t n, int32_t* bins) {
  int32_t part[2][256] = {};
  auto work = [&](int which) {
    const int64_t begin = which ? n / 2 : 0, end = which ? n : n / 2;
    int32_t* mine = part[which];
    for (int64_t i = begin; i < end; i++) mine[x[i]]++;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  for (int i = 0; i < 256; i++) bins[i] = part[0][i] + part[1][i];
}
