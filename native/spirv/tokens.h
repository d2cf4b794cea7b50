// Words of assembly text: what stands between spaces and comments, strings with theirs.
#pragma once
#include <cstdint>
#include <string_view>

namespace lcpy::spirv {

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
  explicit Tokens(std::string_view text) : text_(text.substr(0, text.find('\0'))) {
    queue_[0] = scan();
  }

  const Token& now() const { return queue_[0]; }
  // One or two words further on.
  const Token& ahead(int n) {
    while (known_ <= n) queue_[known_++] = scan();
    return queue_[n];
  }
  void advance() {
    ahead(1);
    queue_[0] = queue_[1];
    queue_[1] = queue_[2];
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
  Token queue_[3];
  int known_ = 1;
};

}  // namespace lcpy::spirv
