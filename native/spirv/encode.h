// Encodes instructions into words: the lowest of the three layers, it knows nothing of modules.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "spirv/grammar.h"

namespace lcpy::spirv {

using Word = uint32_t;

// SPIR-V 1.6, 2.3: the word count sits in the high half of an instruction's first word.
inline constexpr uint32_t kMaxInstructionWords = 0xffff;

template <class T>
constexpr Word to_word(T v) {
  static_assert(std::is_enum_v<T> || std::is_integral_v<T>);
  static_assert(sizeof(T) <= 4, "a wide literal is written as two words");
  return static_cast<Word>(v);
}

// Appends a literal string (SPIR-V 1.6, 2.2.1): UTF-8 in little-endian words, ended by a zero byte.
inline void append_text(std::vector<Word>& words, std::string_view s) {
  const size_t at = words.size();
  words.resize(at + s.size() / 4 + 1, 0);
  for (size_t i = 0; i < s.size(); i++)
    words[at + i / 4] |= static_cast<Word>(static_cast<unsigned char>(s[i])) << (8 * (i % 4));
}

// A growing run of instructions. Instructions of fixed length go through op(); the others are
// opened by begin(), filled by push() and text(), and closed by end().
class Words {
 public:
  template <class... Operands>
  void op(Opcode code, Operands... operands) {
    constexpr size_t count = 1 + sizeof...(Operands);
    const size_t at = words_.size();
    words_.resize(at + count);
    Word* out = words_.data() + at;
    *out++ = static_cast<Word>(count) << 16 | to_word(code);
    ((*out++ = to_word(operands)), ...);
  }
  void begin(Opcode code) {
    start_ = words_.size();
    words_.push_back(to_word(code));
  }
  template <class T>
  void push(T operand) {
    words_.push_back(to_word(operand));
  }
  void push_all(std::span<const Word> operands) {
    words_.insert(words_.end(), operands.begin(), operands.end());
  }
  void text(std::string_view s) { append_text(words_, s); }
  // False when the instruction is longer than its length field can say.
  [[nodiscard]] bool end() {
    const size_t count = words_.size() - start_;
    if (count > kMaxInstructionWords) return false;
    words_[start_] |= static_cast<Word>(count) << 16;
    return true;
  }

  size_t size() const { return words_.size(); }
  bool empty() const { return words_.empty(); }
  void clear() { words_.clear(); }
  void reserve(size_t n) { words_.reserve(n); }
  Word& operator[](size_t i) { return words_[i]; }
  Word operator[](size_t i) const { return words_[i]; }
  std::span<const Word> view() const { return words_; }
  void append(const Words& other) {
    words_.insert(words_.end(), other.words_.begin(), other.words_.end());
  }

 private:
  std::vector<Word> words_;
  size_t start_ = 0;
};

}  // namespace lcpy::spirv
