#include "spirv/reflect.h"

#include "base/error.h"
#include "spirv/module_index.h"
#include "spirv/source_line.h"

using namespace lcpy::spirv;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::vector<Word> words = words_of(std::as_bytes(std::span(data, size)));
    source_line(words, words.size() / 2);
    reflect(words);
  } catch (const lcpy::LoadError&) {
  }
  return 0;
}
