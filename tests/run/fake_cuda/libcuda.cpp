// A stand-in for NVIDIA's driver library, for tests without a GPU: device memory is the host's,
// copies happen, launches are recorded, and run only where the "cubin" is a library of this system
// that has `lcpy_host_launch`. It is stricter than the driver: no context, a free of
// what is not allocated, an access outside of memory are faults that end up in the log.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Module {
  void* library = nullptr;
  std::string data;
};
struct Function {
  Module* module;
  int dynamic_shared = 0;
};
using HostLaunch = void (*)(const unsigned* grid, const unsigned* block, unsigned shared,
                            void** arguments);

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200, kInvalidContext = 201,
              kNotFound = 500, kNotReady = 600;
int primary_context;  // its address is the handle
std::recursive_mutex lock;
thread_local std::vector<void*> stack;
std::map<uint64_t, size_t> allocations, pinned;
std::map<std::string, std::pair<int, int>> failures;  // call → (result, after how many calls)
std::map<std::string, int> counts;
std::string text;  // launches and faults, a line each
size_t total = 0, limit = ~size_t(0);
int sticky = 0, retained = 0;

void say(const std::string& line) { text += line + "\n"; }

// The result that a call must give before it does anything; 0 to go on.
int enter(const char* name, bool needs_context = true) {
  counts[name]++;
  if (needs_context && (stack.empty() || stack.back() != &primary_context)) {
    say(std::string("FAULT no context in ") + name);
    return kInvalidContext;
  }
  if (sticky) return sticky;
  auto found = failures.find(name);
  if (found == failures.end() || found->second.second-- > 0) return 0;
  const int result = found->second.first;
  failures.erase(found);
  if (result == 700) sticky = result;  // as a fault in a kernel does
  return result;
}

bool inside(const std::map<uint64_t, size_t>& blocks, uint64_t pointer, size_t size) {
  auto after = blocks.upper_bound(pointer);
  if (after == blocks.begin()) return false;
  --after;
  return pointer + size <= after->first + after->second;
}

int on_device(const char* name, uint64_t pointer, size_t size) {
  if (inside(allocations, pointer, size)) return 0;
  say(std::string("FAULT outside of memory in ") + name);
  return sticky = 700;
}

}  // namespace

#define ENTER(name, ...)                                  \
  std::lock_guard<std::recursive_mutex> guard(lock);      \
  if (const int result = enter(#name, ##__VA_ARGS__)) return result

extern "C" {

// ---- what tests ask ----
const char* fake_text() { return text.c_str(); }
int fake_count(const char* name) { return counts[name]; }
void fake_fail(const char* name, int result, int after) { failures[name] = {result, after}; }
void fake_limit(size_t bytes) { limit = bytes; }
size_t fake_total() { return total; }
int fake_depth() { return static_cast<int>(stack.size()); }
int fake_retained() { return retained; }
void* fake_retain() {
  retained++;
  return &primary_context;
}

// ---- the driver ----
int cuInit(unsigned) { return 0; }
int cuGetErrorName(int code, const char** name) {
  static std::map<int, std::string> names = {{1, "CUDA_ERROR_INVALID_VALUE"},
                                             {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                             {200, "CUDA_ERROR_INVALID_IMAGE"},
                                             {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                             {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                             {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}};
  auto found = names.find(code);
  *name = found == names.end() ? nullptr : found->second.c_str();
  return found == names.end() ? kInvalidValue : 0;
}
int cuGetErrorString(int code, const char** string) { return cuGetErrorName(code, string); }

int cuCtxGetCurrent(void** context) {
  *context = stack.empty() ? nullptr : stack.back();
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  stack.push_back(context);
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  if (stack.empty()) return kInvalidContext;
  *context = stack.back();
  stack.pop_back();
  return 0;
}

int cuStreamCreate(void** stream, unsigned) {
  ENTER(cuStreamCreate);
  *stream = new int;
  return 0;
}
int cuStreamDestroy_v2(void*) {
  ENTER(cuStreamDestroy);
  return 0;
}
int cuStreamSynchronize(void*) {
  ENTER(cuStreamSynchronize);
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  ENTER(cuEventCreate);
  *event = new int(0);
  return 0;
}
int cuEventRecord(void* event, void*) {
  ENTER(cuEventRecord);
  *static_cast<int*>(event) = 2;  // not ready when first asked
  return 0;
}
int cuEventQuery(void* event) {
  ENTER(cuEventQuery);
  int& left = *static_cast<int*>(event);
  return left > 0 && left-- ? kNotReady : 0;
}
int cuEventSynchronize(void* event) {
  ENTER(cuEventSynchronize);
  *static_cast<int*>(event) = 0;
  return 0;
}

int cuMemAlloc_v2(uint64_t* pointer, size_t size) {
  ENTER(cuMemAlloc);
  if (size == 0) return kInvalidValue;
  if (total + size > limit) return kOutOfMemory;
  void* made = aligned_alloc(256, (size + 255) / 256 * 256);
  if (!made) return kOutOfMemory;
  memset(made, 0xa5, size);  // never zero by luck
  total += size;
  *pointer = reinterpret_cast<uint64_t>(made);
  allocations[*pointer] = size;
  return 0;
}
int cuMemFree_v2(uint64_t pointer) {
  ENTER(cuMemFree);
  auto found = allocations.find(pointer);
  if (found == allocations.end()) {
    say("FAULT free of what is not allocated");
    return kInvalidValue;
  }
  total -= found->second;
  allocations.erase(found);
  free(reinterpret_cast<void*>(pointer));
  return 0;
}
int cuMemHostAlloc(void** place, size_t size, unsigned) {
  ENTER(cuMemHostAlloc);
  *place = malloc(size);
  pinned[reinterpret_cast<uint64_t>(*place)] = size;
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t size, void*) {
  ENTER(cuMemcpyHtoDAsync);
  if (const int result = on_device("cuMemcpyHtoDAsync", to, size)) return result;
  memcpy(reinterpret_cast<void*>(to), from, size);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t size, void*) {
  ENTER(cuMemcpyDtoHAsync);
  if (const int result = on_device("cuMemcpyDtoHAsync", from, size)) return result;
  memcpy(to, reinterpret_cast<void*>(from), size);
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void*) {
  ENTER(cuMemcpyDtoDAsync);
  if (const int result = on_device("cuMemcpyDtoDAsync", to, size)) return result;
  if (const int result = on_device("cuMemcpyDtoDAsync", from, size)) return result;
  if (to < from + size && from < to + size) say("FAULT overlapping copy");
  memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), size);
  return 0;
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void*) {
  ENTER(cuMemsetD8Async);
  if (const int result = on_device("cuMemsetD8Async", to, n)) return result;
  memset(reinterpret_cast<void*>(to), value, n);
  return 0;
}
int cuMemsetD16Async(uint64_t to, unsigned short value, size_t n, void*) {
  ENTER(cuMemsetD16Async);
  if (to % 2) return kInvalidValue;
  if (const int result = on_device("cuMemsetD16Async", to, n * 2)) return result;
  for (size_t i = 0; i < n; i++) reinterpret_cast<unsigned short*>(to)[i] = value;
  return 0;
}
int cuMemsetD32Async(uint64_t to, unsigned value, size_t n, void*) {
  ENTER(cuMemsetD32Async);
  if (to % 4) return kInvalidValue;
  if (const int result = on_device("cuMemsetD32Async", to, n * 4)) return result;
  for (size_t i = 0; i < n; i++) reinterpret_cast<unsigned*>(to)[i] = value;
  return 0;
}

// An image is "FAKE" with what cuLaunchKernel reads of it, or "HOST", 8 bytes with its length, and
// a library of this system, or a cubin.
int cuModuleLoadData(void** module, const void* image) {
  ENTER(cuModuleLoadData);
  const char* bytes = static_cast<const char*>(image);
  auto* made = new Module;
  if (!memcmp(bytes, "HOST", 4)) {
    uint64_t size;
    memcpy(&size, bytes + 4, 8);
    char path[] = "/tmp/fake-cubin-XXXXXX";
    const int file = mkstemp(path);
    const bool whole = write(file, bytes + 12, size) == static_cast<ssize_t>(size);
    close(file);
    made->library = whole ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!made->library) fprintf(stderr, "fake driver: %s\n", dlerror());
    unlink(path);
    if (!made->library) return kInvalidImage;
  } else if (!memcmp(bytes, "\x7f" "ELF", 4)) {
    made->data = "FAKE 0 0";  // a cubin: launches of it are counted
  } else if (memcmp(bytes, "FAKE", 4)) {
    return kInvalidImage;
  } else {
    made->data = bytes;
  }
  *module = made;
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  ENTER(cuModuleGetFunction);
  if (strcmp(name, "lcpy_main")) return kNotFound;
  *function = new Function{static_cast<Module*>(module)};
  return 0;
}
int cuModuleUnload(void*) {
  ENTER(cuModuleUnload);
  return 0;
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  ENTER(cuFuncGetAttribute);
  *value = attribute == 0 ? 1024 : 0;
  return 0;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  ENTER(cuFuncSetAttribute);
  if (attribute == 8) static_cast<Function*>(function)->dynamic_shared = value;
  return 0;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** arguments, void**) {
  ENTER(cuLaunchKernel);
  const auto* f = static_cast<Function*>(function);
  if (!stream || !gx || !gy || !gz || gy > 65535 || gz > 65535 || gx > 0x7fffffffu)
    return kInvalidValue;
  if (shared > 49152u && static_cast<unsigned>(f->dynamic_shared) < shared) return kInvalidValue;
  if (f->module->library) {
    const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
    auto run = reinterpret_cast<HostLaunch>(dlsym(f->module->library, "lcpy_host_launch"));
    if (!run) return kNotFound;
    run(grid, block, shared, arguments);
    return 0;
  }
  // "FAKE pointers words": how many addresses and words of the block there are.
  unsigned pointers = 0, words = 0;
  sscanf(f->module->data.c_str(), "FAKE %u %u", &pointers, &words);
  char line[160];
  snprintf(line, sizeof line, "launch %u %u %u / %u %u %u / %u /", gx, gy, gz, bx, by, bz, shared);
  std::string out = line;
  for (unsigned i = 0; i < pointers; i++) {
    const uint64_t pointer = *static_cast<uint64_t*>(arguments[i]);
    snprintf(line, sizeof line, " %d", inside(allocations, pointer, 1) ? 1 : 0);
    out += line;
  }
  out += " /";
  for (unsigned i = 0; i < words; i++) {
    snprintf(line, sizeof line, " %x", static_cast<unsigned*>(arguments[pointers])[i]);
    out += line;
  }
  say(out);
  return 0;
}

}  // extern "C"
