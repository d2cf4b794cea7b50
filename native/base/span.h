// A place in a user's source text. Making a node needs one; a default span means "no source".
#pragma once
#include <cstdint>

namespace lcpy {

struct Span {
  uint32_t file = 0;    // index into the process-wide source registry (base/source.h); 0 is none
  uint32_t line = 0;    // 1-based line in that file
  uint16_t column = 0;  // 0-based, in Unicode code points
  uint16_t end_column = 0;  // one past the last column on the same line; 0 when unknown
  constexpr bool known() const { return file != 0; }
  friend constexpr bool operator==(const Span& a, const Span& b) {
    return a.file == b.file && a.line == b.line && a.column == b.column &&
           a.end_column == b.end_column;
  }
};

}  // namespace lcpy
