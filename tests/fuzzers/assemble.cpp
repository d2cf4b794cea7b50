#include "spirv/assemble.h"

#include <cstdlib>

#include "spirv/disassemble.h"

using namespace lcpy::spirv;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  AssembleOptions options;
  options.preserve_numeric_ids = size & 1;
  std::vector<Word> words;
  try {
    words = assemble({reinterpret_cast<const char*>(data), size}, options);
  } catch (const AssemblyError&) {
    return 0;
  }
  try {  // words that are written as they are need be no module
    DisassembleOptions raw;
    raw.raw_ids = true;
    options.preserve_numeric_ids = true;
    options.version = words[1];
    const std::vector<Word> again = assemble(disassemble(words, raw), options);
    if (again.size() != words.size() ||
        !std::equal(again.begin() + 5, again.end(), words.begin() + 5))
      std::abort();
  } catch (const lcpy::LoadError&) {
  } catch (const AssemblyError&) {
  }
  return 0;
}
