// A vector whose first N elements live in the object: chains and operand lists are short, and
// lowering makes one for nearly every expression.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace lcpy::lower {

template <class T, size_t N>
class InlineVector {
 public:
  void push_back(const T& x) {
    if (size_ < N) {
      items_[size_] = x;
    } else {
      if (size_ == N) more_.assign(items_, items_ + N);
      more_.push_back(x);
    }
    size_++;
  }
  void append(std::span<const T> all) {
    for (const T& x : all) push_back(x);
  }
  void clear() {
    size_ = 0;
    more_.clear();
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return size_ <= N ? items_ : more_.data(); }
  const T* data() const { return size_ <= N ? items_ : more_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  operator std::span<const T>() const { return {data(), size_}; }

 private:
  T items_[N]{};
  std::vector<T> more_;
  size_t size_ = 0;
};

}  // namespace lcpy::lower
