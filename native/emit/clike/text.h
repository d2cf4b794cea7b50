// A string that text is appended to.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace lcpy::clike {

class Text {
 public:
  // Not inline: they are called thousands of times over, and each copy would be a growing string's.
  Text& operator<<(std::string_view s);
  Text& operator<<(char c);
  template <std::unsigned_integral N>
  Text& operator<<(N n) {
    return number(n);
  }
  Text& operator<<(const Text& t) { return *this << std::string_view(t.text_); }

  void clear() { text_.clear(); }
  void reserve(size_t n) { text_.reserve(n); }
  size_t size() const { return text_.size(); }
  const std::string& str() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  Text& number(uint64_t n);

  std::string text_;
};

}  // namespace lcpy::clike
