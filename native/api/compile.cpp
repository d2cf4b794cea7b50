// LCPY_DUMP and the calls of api/compile.h.
#include "api/compile.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace lcpy::api {
namespace {

// The switch is read at each compilation, so that a test or a debugger can change it.
bool wanted(std::string_view stage) {
  const char* list = std::getenv("LCPY_DUMP");
  if (!list || !*list) return false;
  std::string_view rest = list;
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    if (name == "all" || name == stage) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

bool any_wanted() {
  const char* list = std::getenv("LCPY_DUMP");
  return list && *list;
}

// LCPY_VALIDATE=1: the descriptor is verified after every pass, not only at the end.
bool validating() {
  const char* value = std::getenv("LCPY_VALIDATE");
  return value && *value && std::string_view(value) != "0";
}

void write(std::string_view kernel, std::string_view stage, std::string_view text) {
  const char* folder = std::getenv("LCPY_DUMP_DIR");
  if (!folder || !*folder) {
    std::fprintf(stderr, "---- %.*s: %.*s\n%.*s\n", int(kernel.size()), kernel.data(),
                 int(stage.size()), stage.data(), int(text.size()), text.data());
    return;
  }
  static std::atomic<unsigned> counter{0};
  char number[16];
  std::snprintf(number, sizeof number, "%04u", counter.fetch_add(1));
  const std::string path = std::string(folder) + "/" + number + "_" + std::string(kernel) + "_" +
                           std::string(stage) + ".txt";
  if (FILE* file = std::fopen(path.c_str(), "w")) {
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
}

struct Dump {
  std::string kernel;
  static void stage(void* self, std::string_view name, std::string_view text) {
    if (wanted(name)) write(static_cast<Dump*>(self)->kernel, name, text);
  }
};

}  // namespace

KernelDescriptor lower(const ast::FunctionBuilder& kernel, LowerOptions options) {
  Dump dump{kernel.name()};
  if (validating()) options.verify_each = true;
  const bool dumping = any_wanted();
  if (dumping) {
    if (wanted("ast")) write(dump.kernel, "ast", kernel.text());
    options.dump = &Dump::stage;
    options.dump_user = &dump;
  }
  KernelDescriptor d = lower_kernel(kernel, options);
  if (dumping && wanted("kernel")) write(dump.kernel, "kernel", to_text(d));
  return d;
}

SpirvModule spirv(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target) {
  SpirvModule module = emit_spirv(d, plan, target);
  if (wanted("spirv")) {
    std::string text;
    char word[12];
    for (size_t i = 0; i < module.words.size(); i++) {
      std::snprintf(word, sizeof word, "%08x%c", module.words[i], i % 8 == 7 ? '\n' : ' ');
      text += word;
    }
    write(d.name, "spirv", text);
  }
  return module;
}

std::string opencl(const KernelDescriptor& d, const OpenclTarget& target) {
  std::string text = emit_opencl(d, target);
  if (wanted("opencl")) write(d.name, "opencl", text);
  return text;
}

std::string cuda(const KernelDescriptor& d, const CudaTarget& target) {
  std::string text = emit_cuda(d, target);
  if (wanted("cuda")) write(d.name, "cuda", text);
  return text;
}

}  // namespace lcpy::api
