// Numbers as the assembly language writes them: decimal, or hexadecimal where that is exact and
// decimal is not (denormals, infinities, NaNs, and every float narrower than 32 bits).
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "spirv/reader.h"

namespace lcpy::spirv {

void write_number(std::string& out, NumberType type, std::span<const Word> words);
void write_decimal(std::string& out, uint64_t value);

// A literal's words, low first, integers narrower than 32 bits extended by their sign.
struct ParsedNumber {
  std::string error;  // empty when it is one
  Word words[2] = {};
  uint32_t count = 1;
};
ParsedNumber parse_number(std::string_view text, NumberType type);

}  // namespace lcpy::spirv
