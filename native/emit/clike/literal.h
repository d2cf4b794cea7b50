// Literals that every C-like language writes alike.
#pragma once
#include "emit/clike/text.h"

namespace lcpy::clike {

// A finite number: decimal where a short one is exact, else hexadecimal; every bit arrives.
// Negative ones are in parentheses.
void real_literal(Text& t, double v, bool single);

// A signed integer: the smallest one has no literal of its own. `smallest` is its type's.
void signed_literal(Text& t, int64_t v, int64_t smallest, std::string_view suffix);

}  // namespace lcpy::clike
