#include "spirv/disassemble.h"

#include "base/error.h"
#include "spirv/assemble.h"
#include "spirv/reader.h"

using namespace lcpy::spirv;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<Word> words;
  try {
    words = words_of(std::as_bytes(std::span(data, size)));
  } catch (const lcpy::LoadError&) {
    return 0;
  }
  for (int bits = 0; bits < 4; bits++) {
    DisassembleOptions options;
    options.raw_ids = bits & 1;
    options.indent = !(bits & 1);
    options.comments = options.offsets = bits & 2;
    options.nested = options.reorder = bits == 3;
    try {
      assemble(disassemble(words, options));
    } catch (const lcpy::LoadError&) {
    } catch (const AssemblyError&) {
    }
  }
  return 0;
}
