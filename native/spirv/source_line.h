// Which line of a source a word of a module came from, as OpLine says.
#pragma once
#include <span>
#include <string>

#include "spirv/reader.h"

namespace lcpy::spirv {

struct SourceLine {
  std::string file;  // empty where the module does not say
  uint32_t line = 0, column = 0;
};
// Of the instruction that has the word. Reads up to there; LoadError when that is no module.
SourceLine source_line(std::span<const Word> words, size_t word);

}  // namespace lcpy::spirv
