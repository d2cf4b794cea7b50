#include "spirv/tokens.h"

#include <algorithm>
#include <array>

namespace lcpy::spirv {
namespace {

enum class Character : uint8_t { Ordinary, Space, Line, Comment, Quote, Escape };
constexpr auto kCharacters = [] {
  std::array<Character, 256> table{};
  for (const char c : {' ', '\t', '\r'}) table[static_cast<uint8_t>(c)] = Character::Space;
  table['\n'] = Character::Line;
  table[';'] = Character::Comment;
  table['"'] = Character::Quote;
  table['\\'] = Character::Escape;
  return table;
}();
Character kind_of(char c) { return kCharacters[static_cast<uint8_t>(c)]; }

}  // namespace

Token Tokens::scan() {
  const char* const text = text_.data();
  const size_t end = text_.size();
  size_t at = at_;
  for (; at < end; at++) {
    const Character c = kind_of(text[at]);
    if (c == Character::Comment)
      at = std::min(text_.find('\n', at), end - 1);
    else if (c != Character::Space && c != Character::Line)
      break;
    if (text[at] == '\n') {
      line_++;
      line_start_ = at + 1;
    }
  }
  const size_t first = at;
  Token token{{}, line_, static_cast<uint32_t>(first - line_start_ + 1)};
  bool quoted = false;
  for (; at < end; at++) {
    const Character c = kind_of(text[at]);
    if (c == Character::Ordinary) continue;
    if (c == Character::Quote)
      quoted = !quoted;
    else if (c == Character::Escape)
      at += at + 1 < end;  // the next one is as it is
    else if (!quoted)
      break;
    if (text[at] == '\n') {
      line_++;
      line_start_ = at + 1;
    }
  }
  token.text = text_.substr(first, at - first);
  at_ = at;
  return token;
}

}  // namespace lcpy::spirv
