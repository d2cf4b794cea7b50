// Spans shown in their source, registration, and what the exceptions say.
#include "base/diagnostic.h"

#include "base/error.h"
#include "base/source.h"
#include "check.h"

using namespace lcpy;

TEST(renders_line_and_carets) {
  uint32_t file = register_source("kernel.py", "def f():\n    é = wrong + 1\r\n", 10);
  Diagnostic d =
      make_diagnostic(Diag::type_not_allowed, {file, 11, 8, 13}, {"'wrong'", "a number"});
  d.hint = "mend it";
  d.notes.push_back({{file, 10, 0, 0}, "called from here"});
  CHECK_EQ(render(d),
           "kernel.py:11: error E1002: 'wrong' cannot be a number\n"
           "    é = wrong + 1\n"
           "        ^^^^^\n"
           "  hint: mend it\n"
           "  note: kernel.py:10: called from here");
}

TEST(renders_without_source) {
  CHECK_EQ(render(make_diagnostic(Diag::type_description, {}, {"x"})),
           "error E1001: not a type description: x");
  Diagnostic far =
      make_diagnostic(Diag::type_description, {register_source("a.py", "x"), 99}, {"x"});
  CHECK_EQ(render(far), "a.py:99: error E1001: not a type description: x");
}

TEST(carets_stay_inside_the_line) {
  uint32_t file = register_source("b.py", "abc");
  CHECK_EQ(render(make_diagnostic(Diag::type_description, {file, 1, 2, 900}, {"x"})),
           "b.py:1: error E1001: not a type description: x\n    abc\n      ^");
  CHECK_EQ(render(make_diagnostic(Diag::type_description, {file, 1, 900, 0}, {"x"})),
           "b.py:1: error E1001: not a type description: x\n    abc\n       ^");
}

TEST(sources) {
  uint32_t a = register_source("s.py", "one\ntwo", 5);
  CHECK_EQ(a, register_source("s.py", "one\ntwo", 5));
  CHECK(a != register_source("s.py", "one\ntwo", 6));
  CHECK(a != 0);
  CHECK_EQ(source_line(a, 6), "two");
  CHECK_EQ(source_line(a, 4), "");
  CHECK_EQ(source_line(a, 7), "");
  CHECK_EQ(source_name(a), "s.py");
  CHECK_EQ(source_name(0), "<unknown>");
  CHECK_EQ(source_name(999999), "<unknown>");
}

TEST(exceptions_have_their_voices) {
  CHECK_EQ(std::string(BugError("x").what()).find("a fault in lcpy"), 0u);
  std::vector<Diagnostic> two(2, make_diagnostic(Diag::type_description, {}, {"x"}));
  CHECK_EQ(std::string(CompileError(two).what()),
           "error E1001: not a type description: x\nerror E1001: not a type description: x");
  CHECK_EQ(UnsupportedError(two).diagnostics().size(), 2u);
  CHECK_THROWS(fail(Diag::type_description, {}, {"x"}), CompileError);
  CHECK_EQ(diag_code(Diag::type_description), "E1001");
  CHECK_EQ(diag_name(Diag::type_description), "type_description");
}
