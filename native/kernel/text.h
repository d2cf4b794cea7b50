// Choices of the text form; the form itself is described in kernel/README.md.
#pragma once
#include <string>
#include <string_view>

#include "kernel/descriptor.h"

namespace lcpy {

struct TextOptions {
  bool names = true;  // the kernel's, slots' and functions' names
  bool spans = true;
};
std::string to_text(const KernelDescriptor& d, const TextOptions& options);

// Words of the text form, shared by its printer and its parser; in the order of the enumerators.
inline constexpr std::string_view kMemoryWords[] = {
    "global", "uniform", "constant", "shared", "scratch", "texture", "sampler", "heap", "accel"};
inline constexpr std::string_view kAccessWords[] = {"none", "read", "write", "read_write"};
inline constexpr std::string_view kParameterWords[] = {"value", "reference", "buffer"};
inline constexpr std::string_view kMathWords[] = {"ieee", "strict", "fast"};
inline constexpr std::string_view kSiteWords[] = {"assert", "trap", "print", "bounds"};

}  // namespace lcpy
