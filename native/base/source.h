// Registry of source texts that spans point into. Thread-safe; entries live as long as the process.
#pragma once
#include <string>
#include <string_view>

#include "base/span.h"

namespace lcpy {

// Registers a text and returns its file id (never 0). `first_line` is the number of the text's
// first line within the file, so that a function cut out of a file keeps its line numbers.
// Registering the same (name, first_line, text) again gives the same id.
uint32_t register_source(std::string_view name, std::string_view text, uint32_t first_line = 1);

// Name given at registration; "<unknown>" for 0.
std::string source_name(uint32_t file);

// The text of one line without its line break; empty when it is not known.
std::string source_line(uint32_t file, uint32_t line);

// The first line that is known of a file's text, and the number of lines; {0, 0} for 0.
struct SourceLines {
  uint32_t first = 0, count = 0;
};
SourceLines source_lines(uint32_t file);

}  // namespace lcpy
