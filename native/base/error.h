// Exceptions of the core. The user's mistakes and our own bugs are different types with different
// voices: nothing here aborts, prints, or leaves half a program behind.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace lcpy {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The program is wrong. what() is the rendered text of all diagnostics.
class CompileError : public Error {
 public:
  explicit CompileError(Diagnostic d);
  explicit CompileError(std::vector<Diagnostic> all);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// The program is right, and this target or device cannot run it. Names the feature or limit.
class UnsupportedError : public Error {
 public:
  explicit UnsupportedError(Diagnostic d);
  explicit UnsupportedError(std::vector<Diagnostic> all);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// A caller of the C++ or binding API passed the wrong thing.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

// A blob, artifact or text form is damaged, foreign or of an unknown version.
class LoadError : public Error {
 public:
  using Error::Error;
};

// A rule of ours is broken. The message asks the user to report it.
class BugError : public Error {
 public:
  explicit BugError(const std::string& what);
};

[[noreturn]] void fail(Diag code, Span span, std::initializer_list<std::string_view> args = {});

// Checks an invariant of ours in every build; throws BugError.
#define LCPY_CHECK(condition)                                                          \
  do {                                                                                 \
    if (!(condition)) throw ::lcpy::BugError(std::string(__FILE__ ": ") + #condition); \
  } while (0)

}  // namespace lcpy
