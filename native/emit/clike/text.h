// A string that text is appended to.
#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace lcpy::clike {

class Text {
 public:
  Text& operator<<(std::string_view s) {
    text_.append(s);
    return *this;
  }
  Text& operator<<(char c) {
    text_.push_back(c);
    return *this;
  }
  template <std::unsigned_integral N>
  Text& operator<<(N n) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
    return *this;
  }
  Text& operator<<(const Text& t) { return *this << std::string_view(t.text_); }

  void clear() { text_.clear(); }
  void reserve(size_t n) { text_.reserve(n); }
  size_t size() const { return text_.size(); }
  const std::string& str() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace lcpy::clike
