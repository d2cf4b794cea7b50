// NonSemantic.Shader.DebugInfo.100: what tools show beside a module. Each function of the kernel is
// a DebugFunction; each block begins with its scope; lines stand before what they gave. The source
// is embedded, as far as it is known: what kernels and callables were made of, at its own lines.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/source.h"
#include "emit/spirv/emitter.h"
#include "kernel/walk.h"

namespace lcpy::spirv {
namespace {

enum Debug : uint32_t {
  CompilationUnit = 1,
  TypeFunction = 8,
  FunctionOf = 20,
  Scope = 23,
  Source = 35,
  FunctionDefinition = 101,
  SourceContinued = 102,
  Line = 103,
};
constexpr uint32_t kInfoVersion = 100, kDwarf = 4, kUnknownLanguage = 0;
constexpr size_t kLongestString = 60000;  // of one OpString
constexpr uint32_t kMostLines = 100000;

}  // namespace

// The lines of all that the kernel came of in a file of this name; others are empty.
std::string Emitter::debug_text(std::string_view name) const {
  std::map<uint32_t, std::string> lines;
  std::vector<uint32_t> seen;
  walk_functions(d_, [&](OpId, const Operation& o) {
    const uint32_t file = o.span.file;
    if (!o.span.known() || std::ranges::find(seen, file) != seen.end()) return;
    seen.push_back(file);
    if (source_name(file) != name) return;
    const SourceLines known = source_lines(file);
    for (uint32_t i = 0; i < std::min(known.count, kMostLines); i++)
      lines[known.first + i] = source_line(file, known.first + i);
  });
  std::string text;
  uint32_t at = 1;
  for (const auto& [line, content] : lines) {
    for (; at < line && at < kMostLines; at++) text += '\n';
    text += content + '\n';
    at++;
  }
  return text;
}

Word Emitter::debug_source(uint32_t file) {
  const std::string name = source_name(file);
  for (const auto& [known, id] : debug_sources_)
    if (known == name) return id;
  const std::string text = debug_text(name);
  std::vector<Word> parts;
  for (size_t at = 0; at == 0 || at < text.size(); at += kLongestString)
    parts.push_back(m_.string(std::string_view(text).substr(at, kLongestString)));
  const Word source[] = {m_.string(name), parts[0]};
  const Word id = m_.debug(Debug::Source, source);
  for (size_t i = 1; i < parts.size(); i++) m_.debug(Debug::SourceContinued, {&parts[i], 1});
  debug_sources_.emplace_back(name, id);
  return id;
}

void Emitter::open_debug(const Function& f, Word function) {
  Span start = f.span;
  if (!start.known())
    walk_body(d_, f.body, [&](OpId, const Operation& o) {
      if (!start.known()) start = o.span;
    });
  debug_scope_ = debug_block_ = 0;
  debug_span_ = {};
  if (!start.known()) return;
  const Word source = debug_source(start.file), none = u32(0);
  if (!debug_unit_) {
    const Word unit[] = {u32(kInfoVersion), u32(kDwarf), source, u32(kUnknownLanguage)};
    debug_unit_ = m_.debug(Debug::CompilationUnit, unit);
  }
  const Word signature[] = {none, m_.type_void()};
  const Word type = m_.debug(Debug::TypeFunction, signature), name = m_.string(f.name);
  const Word line = u32(start.line), column = u32(start.column + 1);
  const Word facts[] = {name, type, source, line, column, debug_unit_, name, none, line};
  debug_scope_ = m_.debug(Debug::FunctionOf, facts);
  early_.op(Opcode::ExtInst, m_.type_void(), m_.new_id(), m_.debug_info(),
            uint32_t{Debug::FunctionDefinition}, debug_scope_, function);
}

// Before an operation: its scope, where the block has none yet, and its line, where that is
// another.
void Emitter::debug_line(Span span) {
  if (!span.known() || !debug_scope_ || !label_) return;
  const Word type = m_.type_void(), set = m_.debug_info();
  const bool fresh = debug_block_ != label_;
  if (fresh)
    code_.op(Opcode::ExtInst, type, m_.new_id(), set, uint32_t{Debug::Scope}, debug_scope_);
  if (!fresh && span == debug_span_) return;
  debug_block_ = label_;
  debug_span_ = span;
  const uint32_t first = span.column + 1u, last = std::max<uint32_t>(first, span.end_column);
  const Word source = debug_source(span.file), line = u32(span.line);
  const Word from = u32(first), to = u32(last);
  code_.op(Opcode::ExtInst, type, m_.new_id(), set, uint32_t{Debug::Line}, source, line, line, from,
           to);
}

}  // namespace lcpy::spirv
