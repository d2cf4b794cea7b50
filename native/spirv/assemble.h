// Assembly text to modules, in the language of SPIRV-Tools' `spirv-as`: the same words for the same
// text, and errors that say where and what was expected.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "spirv/encode.h"

namespace lcpy::spirv {

// The text is wrong at a line and a column, both counted from 1 (columns in bytes).
class AssemblyError : public Error {
 public:
  AssemblyError(uint32_t line, uint32_t column, const std::string& message)
      : Error(std::to_string(line) + ":" + std::to_string(column) + ": " + message),
        line(line),
        column(column),
        message(message) {}
  uint32_t line, column;
  std::string message;
};

struct AssembleOptions {
  // Of SPIR-V, as the header says it; 0: what a comment "; Version: 1.5" says before the first
  // instruction, else 1.6.
  Word version = 0;
  bool preserve_numeric_ids = false;  // %12 is the id 12; names take what numbers leave free
};
// Linear in the text. Names become ids in the order in which words name them first.
std::vector<Word> assemble(std::string_view text, const AssembleOptions& options = {});

// The version of SPIR-V that an environment of `spirv-as` has ("vulkan1.2", "spv1.4", "opencl2.0");
// 0 when there is no such environment.
Word version_of_environment(std::string_view name);

}  // namespace lcpy::spirv
