// A test is TEST(name) { CHECK(condition); CHECK_EQ(a, b); CHECK_THROWS(expression, Type); }.
// Each test program links check_main.cpp; a failed check ends its test, the others go on.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace lcpy::test {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void add(const char* file, const char* name, void (*body)());
struct Register {
  Register(const char* file, const char* name, void (*body)()) { add(file, name, body); }
};
[[noreturn]] inline void fail(const char* file, int line, const std::string& text) {
  std::ostringstream out;
  out << file << ":" << line << ": " << text;
  throw Failure(out.str());
}
template <class A, class B>
void equal(const A& a, const B& b, const char* text, const char* file, int line) {
  if (a == b) return;
  std::ostringstream out;
  out << text << "\n    left:  " << a << "\n    right: " << b;
  fail(file, line, out.str());
}

}  // namespace lcpy::test

#define TEST(name)                                                              \
  static void test_##name();                                                    \
  static ::lcpy::test::Register register_##name(__FILE__, #name, &test_##name); \
  static void test_##name()
#define CHECK(...)                                                            \
  do {                                                                        \
    if (!(__VA_ARGS__)) ::lcpy::test::fail(__FILE__, __LINE__, #__VA_ARGS__); \
  } while (0)
#define CHECK_EQ(a, b) ::lcpy::test::equal((a), (b), #a " == " #b, __FILE__, __LINE__)
#define CHECK_THROWS(expression, Type)                                                        \
  do {                                                                                        \
    bool thrown = false;                                                                      \
    try {                                                                                     \
      (void)(expression);                                                                     \
    } catch (const Type&) {                                                                   \
      thrown = true;                                                                          \
    }                                                                                         \
    if (!thrown) ::lcpy::test::fail(__FILE__, __LINE__, #expression " did not throw " #Type); \
  } while (0)
