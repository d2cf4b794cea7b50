// Threads that stay for the life of the process and share out the pieces of one job at a time.
#pragma once
#include <cstdint>

namespace lcpy::interp {

// Calls work(user, begin, end) for pieces of [0, total), from this thread and others, `grain` at a
// time; returns when all are done. `threads` counts this one; 0: one a processor. When the pool is
// busy with another caller's job, this thread does all of its own.
void share_out(uint64_t total, uint64_t grain, unsigned threads,
               void (*work)(void* user, uint64_t begin, uint64_t end), void* user);

unsigned processors();

}  // namespace lcpy::interp
