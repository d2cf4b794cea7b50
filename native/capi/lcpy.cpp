// The C interface: each function is the C++ one of its chapter, with errors as messages.
#include "capi/lcpy.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "artifact/artifact.h"
#include "base/error.h"
#include "emit/emit.h"
#include "interp/interp.h"
#include "kernel/descriptor.h"
#include "spirv/assemble.h"
#include "spirv/disassemble.h"
#include "spirv/reader.h"
#include "spirv/validate.h"

struct lcpy_artifact {
  lcpy::Artifact a;
};
struct lcpy_kernel {
  lcpy::KernelDescriptor d;
};

namespace {

thread_local std::string message;

// What `work` gives; a zero of that type, with the message kept, where it throws.
template <class Work>
auto guarded(Work&& work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& e) {
    try {
      message = e.what();
    } catch (const std::exception&) {
      message.clear();  // no memory for the message either
    }
  }
  return {};
}

void* copied(const void* data, size_t bytes, size_t room) {
  void* memory = std::malloc(room ? room : 1);
  if (!memory) throw std::bad_alloc();
  if (bytes) std::memcpy(memory, data, bytes);
  return memory;
}

char* text_of(const std::string& s) {
  return static_cast<char*>(copied(s.c_str(), s.size() + 1, s.size() + 1));
}

uint32_t* words_of(const std::vector<uint32_t>& words, size_t* count) {
  auto* made = static_cast<uint32_t*>(copied(words.data(), words.size() * 4, words.size() * 4));
  if (count) *count = words.size();
  return made;
}

}  // namespace

const char* lcpy_version() { return LCPY_VERSION; }
const char* lcpy_error() { return message.c_str(); }
void lcpy_free(void* memory) { std::free(memory); }

// ---- SPIR-V -------------------------------------------------------------------------------------
uint32_t* lcpy_spirv_assemble(const char* text, size_t size, const char* environment,
                              int preserve_ids, size_t* word_count) {
  return guarded([&] {
    lcpy::spirv::AssembleOptions options;
    options.preserve_numeric_ids = preserve_ids != 0;
    if (environment) {
      options.version = lcpy::spirv::version_of_environment(environment);
      if (!options.version)
        throw lcpy::ArgumentError(std::string("no environment '") + environment + "'");
    }
    return words_of(lcpy::spirv::assemble({text, size}, options), word_count);
  });
}

char* lcpy_spirv_disassemble(const void* module, size_t bytes, int raw_ids) {
  return guarded([&] {
    lcpy::spirv::DisassembleOptions options;
    options.raw_ids = raw_ids != 0;
    const std::span<const std::byte> given(static_cast<const std::byte*>(module), bytes);
    return text_of(lcpy::spirv::disassemble(lcpy::spirv::words_of(given), options));
  });
}

int lcpy_spirv_validate(const uint32_t* words, size_t word_count, const char* environment,
                        const char* library) {
  return guarded([&] {
    const auto found =
        lcpy::spirv::validate({words, word_count}, environment, library ? library : "");
    if (!found.valid) message = found.message;
    return found.valid ? 1 : 0;
  });
}

// ---- compiled kernels ---------------------------------------------------------------------------
lcpy_artifact* lcpy_artifact_read(const void* bytes, size_t size) {
  return guarded([&] {
    return std::make_unique<lcpy_artifact>(
               lcpy_artifact{lcpy::read_artifact({static_cast<const char*>(bytes), size})})
        .release();
  });
}
void lcpy_artifact_free(lcpy_artifact* artifact) { delete artifact; }

const char* lcpy_artifact_text(const lcpy_artifact* artifact, lcpy_text which) {
  const lcpy::Artifact& a = artifact->a;
  switch (which) {
    case LCPY_TARGET:
      return a.target.c_str();
    case LCPY_ENVIRONMENT:
      return a.environment.c_str();
    case LCPY_PRODUCER:
      return a.producer.c_str();
    case LCPY_KERNEL:
      return a.kernel.c_str();
    case LCPY_ENTRY_POINT:
      return a.entry_point.c_str();
    case LCPY_MATH:
      return a.math.c_str();
    case LCPY_BUILD_OPTIONS:
      return a.build_options.c_str();
    case LCPY_BLOCK:
      return a.block.c_str();
  }
  return nullptr;
}

const void* lcpy_artifact_code(const lcpy_artifact* artifact, size_t* bytes) {
  if (bytes) *bytes = artifact->a.code.size();
  return artifact->a.code.data();
}

void lcpy_artifact_block_size(const lcpy_artifact* artifact, uint32_t size[3]) {
  for (size_t i = 0; i < 3; i++) size[i] = artifact->a.block_size[i];
}

void lcpy_artifact_block(const lcpy_artifact* artifact, uint32_t* set, uint32_t* binding,
                         uint32_t* bytes) {
  if (set) *set = artifact->a.block_set;
  if (binding) *binding = artifact->a.block_binding;
  if (bytes) *bytes = artifact->a.block_bytes;
}

const char* lcpy_artifact_feature(const lcpy_artifact* artifact, size_t index) {
  const auto& all = artifact->a.features;
  return index < all.size() ? all[index].c_str() : nullptr;
}

int lcpy_artifact_slot(const lcpy_artifact* artifact, size_t index, lcpy_slot* slot) {
  if (index >= artifact->a.slots.size()) return 0;
  const lcpy::Artifact::Slot& s = artifact->a.slots[index];
  *slot = {s.name.c_str(),  s.type.c_str(), s.memory.c_str(), s.access.c_str(), s.number,
           s.bound ? 1 : 0, s.set,          s.binding,        s.value,          s.length,
           s.extents,       s.base};
  return 1;
}

// ---- kernel descriptors -------------------------------------------------------------------------
lcpy_kernel* lcpy_kernel_parse(const char* text, size_t size) {
  return guarded([&] {
    auto made = std::make_unique<lcpy_kernel>();
    made->d = lcpy::parse_kernel({text, size});
    const auto faults = lcpy::verify(made->d);
    if (!faults.empty()) throw lcpy::LoadError(faults[0].path + ": " + faults[0].message);
    return made.release();
  });
}
void lcpy_kernel_free(lcpy_kernel* kernel) { delete kernel; }

uint32_t* lcpy_kernel_spirv(const lcpy_kernel* kernel, unsigned minor, size_t* word_count) {
  return guarded([&] {
    if (minor > 4) throw lcpy::ArgumentError("Vulkan 1.0 to 1.4");
    lcpy::VulkanTarget target;
    target.version = 10 + minor;
    const auto plan = lcpy::default_plan(kernel->d);
    return words_of(lcpy::emit_spirv(kernel->d, plan, target).words, word_count);
  });
}
char* lcpy_kernel_opencl(const lcpy_kernel* kernel) {
  return guarded([&] { return text_of(lcpy::emit_opencl(kernel->d, {})); });
}
char* lcpy_kernel_cuda(const lcpy_kernel* kernel) {
  return guarded([&] { return text_of(lcpy::emit_cuda(kernel->d, {})); });
}

int lcpy_kernel_run(const lcpy_kernel* kernel, const uint32_t threads[3],
                    const lcpy_buffer* buffers, size_t buffer_count, const void* block,
                    size_t block_bytes) {
  return guarded([&] {
    size_t wanted = 0;
    for (const lcpy::Slot& s : kernel->d.slots) wanted += s.memory == lcpy::MemoryClass::Global;
    if (wanted != buffer_count)
      throw lcpy::ArgumentError("the kernel takes " + std::to_string(wanted) + " buffers");
    if (block_bytes != lcpy_kernel_block_bytes(kernel))
      throw lcpy::ArgumentError("the argument block has " +
                                std::to_string(lcpy_kernel_block_bytes(kernel)) + " bytes");
    std::vector<lcpy::interp::Binding> bindings;
    for (size_t i = 0; i < buffer_count; i++)
      bindings.push_back({buffers[i].data, buffers[i].bytes});
    lcpy::interp::Launch launch;
    launch.dispatch_size = {threads[0], threads[1], threads[2]};
    launch.buffers = bindings;
    launch.block = {static_cast<const std::byte*>(block), block_bytes};
    lcpy::interp::run(*lcpy::interp::build_program(kernel->d), launch);
    return 1;
  });
}

uint32_t lcpy_kernel_block_bytes(const lcpy_kernel* kernel) {
  return guarded([&] { return lcpy::argument_block(kernel->d).size; });
}
