// Reads type descriptions (the grammar in type.h). What is wrong, and at which character, is in the
// error: descriptions come from files.
#include <optional>

#include "base/error.h"
#include "types/type.h"

namespace lcpy {
namespace {

constexpr int kMaxDepth = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Type whole() {
    Type t = type();
    if (at_ != text_.size()) wrong("nothing may follow the type");
    return t;
  }

 private:
  [[noreturn]] void wrong(std::string_view why) const {
    std::string shown(text_.substr(0, 200));
    fail(Diag::type_description, {},
         {"'" + shown + "', character " + std::to_string(at_) + ": " + std::string(why)});
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) wrong(std::string("'") + c + "' is missing");
  }

  std::string_view word() {
    size_t begin = at_;
    auto part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (at_ < text_.size() && part(text_[at_])) ++at_;
    if (at_ == begin) wrong("a type's name is missing");
    return text_.substr(begin, at_ - begin);
  }

  uint64_t number() {
    size_t begin = at_;
    uint64_t n = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (n > 0xffffffffull) wrong("the number is too large");
      n = n * 10 + static_cast<uint64_t>(text_[at_++] - '0');
    }
    if (at_ == begin) wrong("a number is missing");
    if (text_[begin] == '0' && at_ != begin + 1) wrong("a number does not start with 0");
    return n;
  }
  uint32_t small_number() {
    uint64_t n = number();
    if (n > 0xffffffffull) wrong("the number is too large");
    return static_cast<uint32_t>(n);
  }

  static std::optional<Scalar> scalar(std::string_view name) {
    for (int i = 0; i < kScalarCount; ++i) {
      if (scalar_name(static_cast<Scalar>(i)) == name) return static_cast<Scalar>(i);
    }
    return std::nullopt;
  }
  Scalar expect_scalar() {
    if (auto s = scalar(word())) return *s;
    wrong("a scalar type is missing");
  }

  Type lanes(Type (*make)(Scalar, uint32_t)) {
    expect('<');
    Scalar s = expect_scalar();
    expect(',');
    uint32_t n = small_number();
    expect('>');
    return make(s, n);
  }

  Type array() {
    expect('<');
    Type element = type();
    expect(',');
    uint64_t n = number();
    expect('>');
    return Type::array(element, n);
  }

  Type structure() {
    expect('<');
    uint32_t align = small_number();
    if (align == 0) wrong("an alignment is not 0");
    std::vector<Type> members;
    while (take(',')) members.push_back(type());
    expect('>');
    return Type::structure(members, align);
  }

  Type buffer(bool packed) {
    expect('<');
    Type element = type();
    uint32_t rank = 1;
    if (take(',')) {
      rank = small_number();
      if (rank == 1) wrong("rank 1 is not written");
    }
    expect('>');
    return Type::buffer(element, rank, packed);
  }

  Type texture() {
    expect('<');
    uint32_t dim = small_number();
    expect(',');
    Scalar texel = expect_scalar();
    expect('>');
    return Type::texture(dim, texel);
  }

  Type type() {
    if (++depth_ > kMaxDepth) wrong("nested deeper than 64");
    Type t = named();
    --depth_;
    return t;
  }

  Type named() {
    std::string_view name = word();
    if (name == "void") return Type();
    if (auto s = scalar(name)) return Type::of(*s);
    if (name == "vector") return lanes(&Type::vector);
    if (name == "matrix") return lanes(&Type::matrix);
    if (name == "array") return array();
    if (name == "struct") return structure();
    if (name == "buffer") return buffer(false);
    if (name == "packed_buffer") return buffer(true);
    if (name == "texture") return texture();
    if (name == "bindless_array") return Type::bindless_array();
    if (name == "accel") return Type::accel();
    return Type::custom(name);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Type Type::parse(std::string_view description) { return Parser(description).whole(); }

}  // namespace lcpy
