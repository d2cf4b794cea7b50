// Validation by SPIRV-Tools in this process. The library is loaded when first asked for, through
// its C interface; the core does not link to it.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace lcpy::spirv {

struct Validation {
  bool valid = false;
  std::string message;  // of the first rule that is broken, with the instruction; empty when valid
  size_t word = 0;      // of the module, where it is broken
};

// `env`: "vulkan1.1", "vulkan1.2", "vulkan1.3"… as spirv-val takes it. `library`: a path to
// libSPIRV-Tools-shared, or "" to find it by name. LoadError when it is not there or lacks what is
// needed, ArgumentError for an unknown environment.
Validation validate(std::span<const uint32_t> words, const std::string& env,
                    const std::string& library = "");
// True when validate() would find the library.
bool can_validate(const std::string& library = "");

}  // namespace lcpy::spirv
