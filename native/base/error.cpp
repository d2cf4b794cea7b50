// Exceptions of the core and their rendered texts.
#include "base/error.h"

namespace lcpy {
namespace {

std::string render_all(const std::vector<Diagnostic>& all) {
  std::string out;
  for (const Diagnostic& d : all) {
    if (!out.empty()) out += '\n';
    out += render(d);
  }
  return out;
}

}  // namespace

CompileError::CompileError(Diagnostic d) : Error(render(d)) {
  diagnostics_.push_back(std::move(d));
}
CompileError::CompileError(std::vector<Diagnostic> all)
    : Error(render_all(all)), diagnostics_(std::move(all)) {}

UnsupportedError::UnsupportedError(Diagnostic d) : Error(render(d)) {
  diagnostics_.push_back(std::move(d));
}
UnsupportedError::UnsupportedError(std::vector<Diagnostic> all)
    : Error(render_all(all)), diagnostics_(std::move(all)) {}

BugError::BugError(const std::string& what)
    : Error("a fault in lcpy, not in your program; please report it: " + what) {}

void fail(Diag code, Span span, std::initializer_list<std::string_view> args) {
  throw CompileError(make_diagnostic(code, span, args));
}

}  // namespace lcpy
