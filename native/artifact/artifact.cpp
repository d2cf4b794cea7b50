// The container. All numbers are little-endian.
//
//   0   8 bytes: 89 'L' 'C' 'P' 'Y' 0d 0a 1a, which neither text mode nor 7 bits leave as they are
//   8   uint32 version of the container, uint32 number of sections
//   16  uint64 size of the file
//   24  uint64 FNV-1a of all that follows: it tells every change of one byte, and nearly all others
//   32  for each section: 4 letters, uint32 flags (1: critical), uint64 offset, uint64 size
//   …   the sections
//
// A section holds fields one after the other: numbers of 4 and 8 bytes, strings and lists after
// their length. What may change later, and what a reader makes of it:
//   - a section gets more fields: at its end, which an older reader does not look at; a newer
//   reader
//     takes what an older file lacks for what it was before the field came;
//   - a new section: an older reader passes over it, or refuses the file where it is critical;
//   - anything else is a new version of the container, and refused by older readers.
// A list's rows have their length, so that rows grow in the same way.
#include "artifact/artifact.h"

#include <cstring>

#include "base/error.h"

namespace lcpy {
namespace {

constexpr std::string_view kMagic("\x89LCPY\r\n\x1a", 8);
constexpr uint32_t kVersion = 1, kCritical = 1;
constexpr size_t kHeader = 32, kRow = 24, kHashed = 32;

uint64_t fnv1a(std::string_view bytes) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : bytes) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return h;
}

// ---- writing ------------------------------------------------------------------------------------
class Writer {
 public:
  std::string bytes;
  void u32(uint32_t v) { number(v, 4); }
  void u64(uint64_t v) { number(v, 8); }
  void flag(bool v) { u32(v); }
  void text(std::string_view s) {
    u32(static_cast<uint32_t>(s.size()));
    bytes += s;
  }
  template <class Row, class Each>
  void list(const std::vector<Row>& rows, Each&& each) {
    u32(static_cast<uint32_t>(rows.size()));
    for (const Row& row : rows) {
      Writer one;
      each(one, row);
      text(one.bytes);
    }
  }
  void texts(const std::vector<std::string>& all) {
    list(all, [](Writer& w, const std::string& s) { w.text(s); });
  }

 private:
  void number(uint64_t v, int size) {
    for (int i = 0; i < size; i++) bytes += static_cast<char>(v >> (8 * i));
  }
};

// ---- reading ------------------------------------------------------------------------------------
[[noreturn]] void bad(const std::string& what) { throw LoadError("artifact: " + what); }

// Fields of one section or row. Past the end of what is there, fields are what they were before.
class Reader {
 public:
  Reader(std::string_view bytes, std::string_view where) : bytes_(bytes), where_(where) {}
  bool ended() const { return at_ == bytes_.size(); }
  void u32(uint32_t& v) {
    if (!ended()) v = static_cast<uint32_t>(number(4));
  }
  void u64(uint64_t& v) {
    if (!ended()) v = number(8);
  }
  void flag(bool& v) {
    uint32_t n = v;
    u32(n);
    if (n > 1) damaged("a flag that is neither 0 nor 1");
    v = n != 0;
  }
  void text(std::string& s) {
    if (!ended()) s = std::string(piece());
  }
  template <class Row, class Each>
  void list(std::vector<Row>& rows, Each&& each) {
    if (ended()) return;
    const uint64_t count = number(4);
    if (count * 4 > bytes_.size() - at_) damaged("a list that is longer than the file");
    for (uint64_t i = 0; i < count; i++) {
      Reader one(piece(), where_);
      each(one, rows.emplace_back());
    }
  }
  void texts(std::vector<std::string>& all) {
    list(all, [](Reader& r, std::string& s) { r.text(s); });
  }
  std::string_view rest() const { return bytes_.substr(at_); }

 private:
  [[noreturn]] void damaged(const char* what) const {
    bad("section " + std::string(where_) + " has " + what);
  }
  uint64_t number(size_t size) {
    if (bytes_.size() - at_ < size) damaged("no room for a number");
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++)
      v |= uint64_t{static_cast<uint8_t>(bytes_[at_ + i])} << (8 * i);
    at_ += size;
    return v;
  }
  std::string_view piece() {
    const uint64_t size = number(4);
    if (size > bytes_.size() - at_) damaged("text that is longer than the file");
    const std::string_view found = bytes_.substr(at_, size);
    at_ += size;
    return found;
  }

  std::string_view bytes_, where_;
  size_t at_ = 0;
};

// ---- sections: each field once, for both directions
// -----------------------------------------------
template <class F>
struct Fields {
  F& f;
  void kernel(auto& a) {
    f.text(a.target), f.text(a.environment), f.text(a.producer), f.text(a.kernel);
    f.text(a.entry_point), f.text(a.math), f.text(a.build_options);
    for (auto& n : a.block_size) f.u32(n);
    f.flag(a.ragged), f.flag(a.uses_warp), f.flag(a.indexes_arguments);
    f.u64(a.shared_bytes), f.u64(a.dynamic_shared), f.u64(a.hash);
  }
  void parameters(auto& a) {
    f.list(a.parameters, [](auto& r, auto& p) { r.text(p.name), r.text(p.type); });
  }
  void slots(auto& a) {
    f.list(a.slots, [](auto& r, auto& s) {
      r.text(s.name), r.text(s.type), r.text(s.memory), r.text(s.access), r.u32(s.number);
      r.flag(s.atomics), r.flag(s.bound), r.flag(s.counted_in_32_bits);
      r.u32(s.set), r.u32(s.binding);
      r.u32(s.value), r.u32(s.length), r.u32(s.extents), r.u32(s.base);
    });
    f.text(a.block), f.u32(a.block_set), f.u32(a.block_binding), f.u32(a.block_bytes);
  }
  void features(auto& a) { f.texts(a.features); }
  void sites(auto& a) {
    f.u32(a.report_tag);
    f.list(a.sites, [](auto& r, auto& s) {
      r.text(s.kind), r.text(s.text), r.text(s.file), r.text(s.source), r.texts(s.types);
      r.u32(s.line);
    });
  }
  void lines(auto& a) {
    f.texts(a.files);
    f.list(a.lines,
           [](auto& r, auto& l) { r.u32(l.place), r.u32(l.file), r.u32(l.line), r.u32(l.column); });
  }
};

struct Section {
  const char* tag;
  uint32_t flags;
  void (*write)(Writer&, const Artifact&);
  void (*read)(Reader&, Artifact&);
};
#define LCPY_SECTION(tag, flags, fields)                                           \
  Section {                                                                        \
    tag, flags, [](Writer& w, const Artifact& a) { Fields<Writer>{w}.fields(a); }, \
        [](Reader& r, Artifact& a) { Fields<Reader>{r}.fields(a); }                \
  }
constexpr Section kSections[] = {
    LCPY_SECTION("KERN", kCritical, kernel),
    LCPY_SECTION("PARA", kCritical, parameters),
    LCPY_SECTION("SLOT", kCritical, slots),
    LCPY_SECTION("NEED", kCritical, features),
    LCPY_SECTION("SITE", kCritical, sites),
    LCPY_SECTION("LINE", 0, lines),
    {"CODE", kCritical, [](Writer& w, const Artifact& a) { w.bytes = a.code; },
     [](Reader& r, Artifact& a) { a.code = std::string(r.rest()); }},
};
#undef LCPY_SECTION

// What nothing but a damaged or foreign file has, so that hosts may rely on it.
void check(const Artifact& a) {
  const auto one_of = [](std::string_view text, std::initializer_list<std::string_view> all) {
    for (const std::string_view x : all)
      if (x == text) return true;
    return false;
  };
  if (!one_of(a.target, {"spirv", "opencl", "cuda", "cpu"})) bad("unknown target " + a.target);
  if (!one_of(a.math, {"ieee", "strict", "fast"})) bad("unknown math mode '" + a.math + "'");
  if (!one_of(a.block, {"push", "uniform", "storage"})) bad("unknown block '" + a.block + "'");
  for (const uint32_t n : a.block_size)
    if (n == 0) bad("a block without threads");
  const auto inside = [&](uint32_t offset, uint32_t size) {
    return offset == Artifact::kNone || uint64_t{offset} + size <= a.block_bytes;
  };
  for (const Artifact::Slot& s : a.slots)
    if (!inside(s.value, 1) || !inside(s.length, 8) || !inside(s.extents, 12) || !inside(s.base, 8))
      bad("slot '" + s.name + "' lies outside the argument block");
  if (a.report_tag != Artifact::kNone && a.report_tag >= a.slots.size())
    bad("the slot of its reports is none");
  if (a.target == "spirv" && a.code.size() % 4) bad("SPIR-V that is not whole words");
  uint32_t before = 0;
  for (const Artifact::Line& l : a.lines) {
    if (l.file >= a.files.size() || l.place < before) bad("a source map out of order");
    before = l.place;
  }
}

uint64_t number_at(std::string_view bytes, size_t at, size_t size) {
  uint64_t v = 0;
  for (size_t i = 0; i < size; i++) v |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return v;
}

}  // namespace

std::string write_artifact(const Artifact& artifact) {
  check(artifact);
  Writer table, body;
  const size_t start = kHeader + kRow * std::size(kSections);
  for (const Section& section : kSections) {
    Writer fields;
    section.write(fields, artifact);
    while (body.bytes.size() % 8) body.bytes += '\0';  // code may be read in place
    table.bytes += section.tag;
    table.u32(section.flags);
    table.u64(start + body.bytes.size());
    table.u64(fields.bytes.size());
    body.bytes += fields.bytes;
  }
  const std::string rest = table.bytes + body.bytes;
  Writer file;
  file.bytes = kMagic;
  file.u32(kVersion);
  file.u32(static_cast<uint32_t>(std::size(kSections)));
  file.u64(kHeader + rest.size());
  file.u64(fnv1a(rest));
  return file.bytes + rest;
}

Artifact read_artifact(std::string_view bytes) {
  if (bytes.size() < 8 || bytes.substr(0, 8) != kMagic) bad("these bytes are none");
  if (bytes.size() < kHeader) bad("cut short");
  const uint64_t version = number_at(bytes, 8, 4), count = number_at(bytes, 12, 4);
  if (version != kVersion)
    bad("container version " + std::to_string(version) + "; this lcpy reads " +
        std::to_string(kVersion));
  if (number_at(bytes, 16, 8) != bytes.size())
    bad("it should have " + std::to_string(number_at(bytes, 16, 8)) + " bytes, and has " +
        std::to_string(bytes.size()));
  if (count > (bytes.size() - kHeader) / kRow) bad("a table of sections longer than the file");
  if (number_at(bytes, 24, 8) != fnv1a(bytes.substr(kHashed))) bad("damaged: its hash is another");
  Artifact made;
  uint32_t seen = 0;
  for (uint64_t i = 0; i < count; i++) {
    const size_t row = kHeader + i * kRow;
    const std::string_view tag = bytes.substr(row, 4);
    const uint64_t flags = number_at(bytes, row + 4, 4), offset = number_at(bytes, row + 8, 8),
                   size = number_at(bytes, row + 16, 8);
    if (offset > bytes.size() || size > bytes.size() - offset)
      bad("section " + std::string(tag) + " reaches beyond the file");
    const Section* known = nullptr;
    for (const Section& section : kSections)
      if (section.tag == tag) known = &section;
    if (!known && (flags & kCritical))
      bad("section " + std::string(tag) + " is of a newer lcpy, and must be understood");
    if (!known) continue;
    const uint32_t bit = 1u << (known - kSections);
    if (seen & bit) bad("section " + std::string(tag) + " twice");
    seen |= bit;
    Reader reader(bytes.substr(offset, size), known->tag);
    known->read(reader, made);
  }
  for (const Section& section : kSections)
    if ((section.flags & kCritical) && !(seen & 1u << (&section - kSections)))
      bad("no section " + std::string(section.tag));
  check(made);
  return made;
}

}  // namespace lcpy
