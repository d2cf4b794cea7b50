#include "emit/clike/text.h"

#include <charconv>

namespace lcpy::clike {

Text& Text::operator<<(std::string_view s) {
  text_.append(s);
  return *this;
}

Text& Text::operator<<(char c) {
  text_.push_back(c);
  return *this;
}

Text& Text::number(uint64_t n) {
  char digits[24];
  text_.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
  return *this;
}

}  // namespace lcpy::clike
