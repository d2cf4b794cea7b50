// The source registry: texts by file id, with the start of each line found once.
#include "base/source.h"

#include <deque>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace lcpy {
namespace {

struct Source {
  std::string name;
  std::string text;
  uint32_t first_line;
  std::vector<size_t> line_starts;
};

struct Registry {
  std::shared_mutex mutex;
  std::deque<Source> sources;  // file id - 1
  std::unordered_multimap<size_t, uint32_t> by_hash;
};

// Never destroyed: errors may be rendered while the process ends.
Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}

}  // namespace

uint32_t register_source(std::string_view name, std::string_view text, uint32_t first_line) {
  Registry& r = registry();
  std::hash<std::string_view> hash_of;
  size_t key = hash_of(name) * 31 + hash_of(text) + first_line;
  std::unique_lock lock(r.mutex);
  auto [begin, end] = r.by_hash.equal_range(key);
  for (auto it = begin; it != end; ++it) {
    const Source& s = r.sources[it->second - 1];
    if (s.name == name && s.text == text && s.first_line == first_line) return it->second;
  }
  Source s{std::string(name), std::string(text), first_line, {0}};
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') s.line_starts.push_back(i + 1);
  }
  r.sources.push_back(std::move(s));
  auto id = static_cast<uint32_t>(r.sources.size());
  r.by_hash.emplace(key, id);
  return id;
}

std::string source_name(uint32_t file) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  if (file == 0 || file > r.sources.size()) return "<unknown>";
  return r.sources[file - 1].name;
}

std::string source_line(uint32_t file, uint32_t line) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  if (file == 0 || file > r.sources.size()) return {};
  const Source& s = r.sources[file - 1];
  if (line < s.first_line || line - s.first_line >= s.line_starts.size()) return {};
  size_t index = line - s.first_line;
  size_t begin = s.line_starts[index];
  size_t end = index + 1 < s.line_starts.size() ? s.line_starts[index + 1] - 1 : s.text.size();
  if (end > begin && s.text[end - 1] == '\r') --end;
  return s.text.substr(begin, end - begin);
}

SourceLines source_lines(uint32_t file) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  if (file == 0 || file > r.sources.size()) return {};
  const Source& s = r.sources[file - 1];
  return {s.first_line, static_cast<uint32_t>(s.line_starts.size())};
}

}  // namespace lcpy
