// Rows of diag.def filled in, and the one renderer of diagnostics.
#include "base/diagnostic.h"

#include <algorithm>

#include "base/error.h"
#include "base/source.h"

namespace lcpy {
namespace {

struct DiagRow {
  Diag code;
  std::string_view name, message, hint;
};
constexpr DiagRow kRows[] = {
#define DIAG(code, name, message, hint) {Diag::name, #name, message, hint},
#include "base/diag.def"
#undef DIAG
};

constexpr bool rows_ascend() {
  for (size_t i = 1; i < std::size(kRows); ++i) {
    if (!(kRows[i - 1].code < kRows[i].code)) return false;
  }
  return true;
}
static_assert(rows_ascend(), "diag.def: codes ascend and are never reused");

const DiagRow& row_of(Diag code) {
  auto it = std::lower_bound(std::begin(kRows), std::end(kRows), code,
                             [](const DiagRow& row, Diag c) { return row.code < c; });
  if (it == std::end(kRows) || it->code != code) throw BugError("diagnostic without a row");
  return *it;
}

// "{0}" takes the first argument; an argument that is not given is empty.
std::string fill(std::string_view text, std::initializer_list<std::string_view> args) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool placeholder = text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}' &&
                       text[i + 1] >= '0' && text[i + 1] <= '9';
    if (!placeholder) {
      out += text[i];
      continue;
    }
    size_t n = static_cast<size_t>(text[i + 1] - '0');
    if (n < args.size()) out += *(args.begin() + n);
    i += 2;
  }
  return out;
}

size_t code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string place(const Span& span) {
  return source_name(span.file) + ":" + std::to_string(span.line) + ": ";
}

// The source line without its indentation, and carets under the span.
void render_line(const Span& span, std::string& out) {
  std::string line = source_line(span.file, span.line);
  size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
  if (indent == line.size()) return;
  std::string_view shown = std::string_view(line).substr(indent);
  size_t width = code_points(shown);
  size_t begin = span.column > indent ? span.column - indent : 0;
  if (begin > width) begin = width;
  size_t end = span.end_column > indent ? span.end_column - indent : 0;
  end = std::clamp(end, begin + 1, std::max(begin + 1, width));
  out += "\n    ";
  out += shown;
  out += "\n    ";
  out.append(begin, ' ');
  out.append(end - begin, '^');
}

}  // namespace

Diagnostic make_diagnostic(Diag code, Span span, std::initializer_list<std::string_view> args) {
  const DiagRow& row = row_of(code);
  return Diagnostic{code, span, fill(row.message, args), fill(row.hint, args), {}};
}

std::string diag_code(Diag code) { return "E" + std::to_string(static_cast<int>(code)); }

std::string_view diag_name(Diag code) { return row_of(code).name; }

std::string render(const Diagnostic& d) {
  std::string out;
  if (d.span.known()) out += place(d.span);
  out += "error " + diag_code(d.code) + ": " + d.message;
  if (d.span.known()) render_line(d.span, out);
  if (!d.hint.empty()) out += "\n  hint: " + d.hint;
  for (const Note& note : d.notes) {
    out += "\n  note: ";
    if (note.span.known()) out += place(note.span);
    out += note.text;
  }
  return out;
}

}  // namespace lcpy
