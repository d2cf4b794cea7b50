// Words of assembly text: what stands between spaces and comments, strings with theirs.
#pragma once
#include <cstdint>
#include <string_view>

namespace lcpy::spirv {

// What names of ids are made of.
inline bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct Token {
  std::string_view text;  // empty at the end
  uint32_t line = 1, column = 1;

  bool ends() const { return text.empty(); }
  bool is_opcode() const {
    return text.size() > 2 && text[0] == 'O' && text[1] == 'p' && text[2] >= 'A' && text[2] <= 'Z';
  }
};

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text.substr(0, text.find('\0'))) { ahead(0); }

  const Token& now() const { return ring_[at_now_ & 3]; }
  // One or two words further on.
  const Token& ahead(uint32_t n) {
    for (; known_ <= n; known_++) ring_[(at_now_ + known_) & 3] = scan();
    return ring_[(at_now_ + n) & 3];
  }
  void advance() {
    ahead(1);
    at_now_++;
    known_--;
  }
  // Whether an instruction begins here: its name, or `%result = Name`.
  bool at_instruction() {
    if (now().is_opcode()) return true;
    if (now().text[0] != '%') return false;
    const std::string_view next = ahead(1).text;
    return next.size() == 1 && next[0] == '=' && ahead(2).is_opcode();
  }

 private:
  Token scan();

  std::string_view text_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
  Token ring_[4];
  uint32_t at_now_ = 0, known_ = 0;  // words that are known from there on
};

}  // namespace lcpy::spirv
