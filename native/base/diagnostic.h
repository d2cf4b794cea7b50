// Diagnostics: what is wrong with the user's program, where, and how to mend it.
// One row of diag.def for each; one renderer for Python and C++ alike.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace lcpy {

enum class Diag : uint16_t {
#define DIAG(code, name, message, hint) name = code,
#include "base/diag.def"
#undef DIAG
};

struct Note {
  Span span;
  std::string text;
};

struct Diagnostic {
  Diag code{};
  Span span;
  std::string message;      // the row's message with {0}, {1}… filled in
  std::string hint;         // likewise; may be empty
  std::vector<Note> notes;  // for example, the calls that led here
};

// Fills the row's message and hint.
Diagnostic make_diagnostic(Diag code, Span span, std::initializer_list<std::string_view> args = {});

// "E2003" of the row; its name, for tests and tools.
std::string diag_code(Diag code);
std::string_view diag_name(Diag code);

// The text users see:
//   file.py:12: error E2003: message
//       line of source
//          ^^^^
//     hint: …
//     note: file.py:30: called from here
std::string render(const Diagnostic& diagnostic);

}  // namespace lcpy
