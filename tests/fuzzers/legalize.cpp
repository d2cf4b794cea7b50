#include "spirv/legalize/legalize.h"

#include "base/error.h"
#include "spirv/reader.h"

using namespace lcpy::spirv;

// What comes out is a module, and legal: it comes out of the same again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::vector<Word> words = words_of(std::as_bytes(std::span(data, size)));
    const std::vector<Word> made = legalize(words);
    if (legalize(made) != made) __builtin_trap();
  } catch (const lcpy::LoadError&) {
  } catch (const lcpy::UnsupportedError&) {
  }
  return 0;
}
