// Loads SPIRV-Tools and asks it.
#include "spirv/validate.h"

#include <algorithm>

#include "base/error.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace lcpy::spirv {
namespace {

// The part of spirv-tools/libspirv.h that is used; its C interface is stable.
struct Context;
struct Position {
  size_t line, column, index;
};
struct DiagnosticText {
  Position position;
  char* error;
  bool is_text;
};
using ParseEnv = bool (*)(const char* text, int* env);
using CreateContext = Context* (*)(int env);
using DestroyContext = void (*)(Context*);
using ValidateBinary = int (*)(const Context*, const uint32_t*, size_t, DiagnosticText**);
using DestroyDiagnostic = void (*)(DiagnosticText*);

#ifdef _WIN32
constexpr const char* kNames[] = {"SPIRV-Tools-shared.dll"};
void* open_library(const char* path) { return LoadLibraryA(path); }
void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
#else
constexpr const char* kNames[] = {"libSPIRV-Tools-shared.so", "libSPIRV-Tools-shared.dylib"};
// Never unloaded, so that opening it again costs nothing.
void* open_library(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }
void* find_symbol(void* library, const char* name) { return dlsym(library, name); }
#endif

void* find_library(const std::string& path) {
  if (!path.empty()) return open_library(path.c_str());
  for (const char* name : kNames)
    if (void* library = open_library(name)) return library;
  return nullptr;
}

template <class Function>
Function symbol(void* library, const char* name) {
  void* found = find_symbol(library, name);
  if (!found) throw LoadError(std::string("SPIRV-Tools lacks ") + name);
  return reinterpret_cast<Function>(found);
}

// The validator counts instructions, from 1.
size_t word_of(std::span<const uint32_t> words, size_t instruction) {
  size_t at = 5;
  for (size_t i = 1; i < instruction && at < words.size(); i++)
    at += std::max(words[at] >> 16, 1u);
  return at;
}

}  // namespace

bool can_validate(const std::string& library) { return find_library(library) != nullptr; }

Validation validate(std::span<const uint32_t> words, const std::string& env,
                    const std::string& library) {
  void* tools = find_library(library);
  if (!tools)
    throw LoadError("SPIRV-Tools is not there: " +
                    (library.empty() ? std::string(kNames[0]) : library));
  const auto parse_env = symbol<ParseEnv>(tools, "spvParseTargetEnv");
  const auto create = symbol<CreateContext>(tools, "spvContextCreate");
  const auto destroy = symbol<DestroyContext>(tools, "spvContextDestroy");
  const auto check = symbol<ValidateBinary>(tools, "spvValidateBinary");
  const auto destroy_text = symbol<DestroyDiagnostic>(tools, "spvDiagnosticDestroy");
  int number = 0;
  if (!parse_env(env.c_str(), &number))
    throw ArgumentError("no SPIR-V environment is named " + env);
  Context* context = create(number);
  if (!context) throw LoadError("SPIRV-Tools made no context for " + env);
  DiagnosticText* text = nullptr;
  const int status = check(context, words.data(), words.size(), &text);
  Validation result;
  result.valid = status == 0;
  if (!result.valid) {
    result.message = text ? text->error : "error " + std::to_string(status);
    if (text) result.word = word_of(words, text->position.index);
  }
  destroy_text(text);
  destroy(context);
  return result;
}

}  // namespace lcpy::spirv
