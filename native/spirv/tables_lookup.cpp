// Look-ups in the generated tables: by number in rows that are sorted, by name in indices that are
// made when first asked for.
#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "spirv/table_rows.h"

namespace lcpy::spirv {
namespace {

using namespace rows;

template <class Row>
std::string_view name_in(const Row& row) {
  return {kTables.text + row.name, row.name_length};
}
template <class Row>
std::span<const OperandRule> rules_in(const Row& row) {
  return kTables.rules.subspan(row.rules, row.rule_count);
}

InstructionInfo info_of(const InstructionRow& row) {
  return {name_in(row), static_cast<Opcode>(row.opcode), row.group, rules_in(row)};
}
Enumerant info_of(const EnumerantRow& row) { return {name_in(row), row.value, rules_in(row)}; }
ExtendedInstruction info_of(const ExtendedRow& row) {
  return {name_in(row), row.number, rules_in(row)};
}

// Names to rows: open addressing over all rows of a table, told apart by an owner (a kind, a set).
class NameIndex {
 public:
  NameIndex(size_t count) { slots_.resize(std::bit_ceil(count * 2 + 1)); }
  void add(std::string_view name, uint32_t owner, uint32_t row) {
    size_t at = hash(name, owner) & (slots_.size() - 1);
    while (slots_[at].name.data()) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {name, owner, row};
  }
  // The row, or -1.
  int64_t find(std::string_view name, uint32_t owner) const {
    size_t at = hash(name, owner) & (slots_.size() - 1);
    for (; slots_[at].name.data(); at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].owner == owner && slots_[at].name == name) return slots_[at].row;
    return -1;
  }

 private:
  struct Slot {
    std::string_view name;
    uint32_t owner = 0, row = 0;
  };
  static size_t hash(std::string_view name, uint32_t owner) {
    return std::hash<std::string_view>()(name) + owner * 0x9e3779b97f4a7c15u;
  }
  std::vector<Slot> slots_;
};

const NameIndex& instruction_names() {
  static const NameIndex index = [] {
    NameIndex made(kTables.instructions.size() + kTables.instruction_aliases.size());
    for (uint32_t i = 0; i < kTables.instructions.size(); i++)
      made.add(name_in(kTables.instructions[i]), 0, i);
    for (const AliasRow& alias : kTables.instruction_aliases)
      made.add(name_in(alias), 0, alias.row);
    return made;
  }();
  return index;
}

const NameIndex& enumerant_names() {
  static const NameIndex index = [] {
    NameIndex made(kTables.enumerants.size() + kTables.enumerant_aliases.size());
    std::vector<uint32_t> kinds(kTables.enumerants.size());
    for (uint32_t k = 0; k < kTables.kinds.size(); k++)
      for (uint32_t i = 0; i < kTables.kinds[k].count; i++) kinds[kTables.kinds[k].first + i] = k;
    for (uint32_t i = 0; i < kinds.size(); i++)
      made.add(name_in(kTables.enumerants[i]), kinds[i], i);
    for (const AliasRow& alias : kTables.enumerant_aliases)
      made.add(name_in(alias), kinds[alias.row], alias.row);
    return made;
  }();
  return index;
}

const NameIndex& extended_names() {
  static const NameIndex index = [] {
    NameIndex made(kTables.extended.size());
    for (uint32_t s = 0; s < kTables.sets.size(); s++)
      for (uint32_t i = 0; i < kTables.sets[s].count; i++) {
        const uint32_t row = kTables.sets[s].first + i;
        made.add(name_in(kTables.extended[row]), s, row);
      }
    return made;
  }();
  return index;
}

// Letters to change, add or leave out (Levenshtein), their case aside; `most` and one for more.
uint32_t distance(std::string_view a, std::string_view b, uint32_t most) {
  const auto same = [](char x, char y) { return (x | 32) == (y | 32); };
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<uint32_t> row(b.size() + 1);
  for (uint32_t j = 0; j < row.size(); j++) row[j] = j;
  for (uint32_t i = 1; i <= a.size(); i++) {
    uint32_t diagonal = row[0];
    row[0] = i;
    for (uint32_t j = 1; j < row.size(); j++) {
      const uint32_t changed = diagonal + !same(a[i - 1], b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return std::min(row.back(), most + 1);
}

template <class Row>
std::string_view nearest(std::span<const Row> rows, std::string_view name) {
  uint32_t least = static_cast<uint32_t>(name.size()) / 3 + 1;
  std::string_view found;
  for (const Row& row : rows) {
    const uint32_t d = distance(name, name_in(row), least);
    if (d < least) {
      least = d;
      found = name_in(row);
    }
  }
  return found;
}

template <class Row, class Number>
const Row* by_number(std::span<const Row> rows, uint32_t wanted, Number number) {
  const auto at = std::ranges::lower_bound(rows, wanted, {}, number);
  return at != rows.end() && number(*at) == wanted ? &*at : nullptr;
}

}  // namespace

bool find_instruction(uint32_t opcode, InstructionInfo* found) {
  const auto* row = by_number(kTables.instructions, opcode,
                              [](const InstructionRow& r) -> uint32_t { return r.opcode; });
  if (row) *found = info_of(*row);
  return row;
}

bool find_instruction(std::string_view name, InstructionInfo* found) {
  const int64_t row = instruction_names().find(name, 0);
  if (row >= 0) *found = info_of(kTables.instructions[row]);
  return row >= 0;
}

bool find_enumerant(Kind kind, uint32_t value, Enumerant* found) {
  const KindRow& k = kTables.kinds[static_cast<size_t>(kind)];
  const auto* row = by_number(kTables.enumerants.subspan(k.first, k.count), value,
                              [](const EnumerantRow& r) { return r.value; });
  if (row) *found = info_of(*row);
  return row;
}

bool find_enumerant(Kind kind, std::string_view name, Enumerant* found) {
  const int64_t row = enumerant_names().find(name, static_cast<uint32_t>(kind));
  if (row >= 0) *found = info_of(kTables.enumerants[row]);
  return row >= 0;
}

Category category(Kind kind) { return kTables.kinds[static_cast<size_t>(kind)].category; }
std::string_view name_of(Kind kind) { return name_in(kTables.kinds[static_cast<size_t>(kind)]); }

std::string_view name_of(Kind kind, uint32_t value) {
  Enumerant found;
  return find_enumerant(kind, value, &found) ? found.name : std::string_view();
}

std::string_view generator_name(uint32_t number) {
  const auto* row = by_number(kTables.generators, number,
                              [](const GeneratorRow& r) -> uint32_t { return r.number; });
  return row ? name_in(*row) : std::string_view();
}

bool is_non_semantic(std::string_view name) { return name.starts_with("NonSemantic."); }

ExtendedSet find_set(std::string_view name) {
  for (size_t i = 0; i < kTables.sets.size(); i++) {
    const std::string_view set = name_in(kTables.sets[i]);
    if (set.ends_with('.') ? name.starts_with(set) : name == set)
      return static_cast<ExtendedSet>(i);
  }
  return is_non_semantic(name) ? ExtendedSet::Unknown : ExtendedSet::None;
}

std::string_view name_of(ExtendedSet set) {
  return name_in(kTables.sets[static_cast<size_t>(set)]);
}

bool find_extended(ExtendedSet set, uint32_t number, ExtendedInstruction* found) {
  if (set >= ExtendedSet::Unknown) return false;
  const SetRow& s = kTables.sets[static_cast<size_t>(set)];
  const auto* row = by_number(kTables.extended.subspan(s.first, s.count), number,
                              [](const ExtendedRow& r) -> uint32_t { return r.number; });
  if (row) *found = info_of(*row);
  return row;
}

bool find_extended(ExtendedSet set, std::string_view name, ExtendedInstruction* found) {
  if (set >= ExtendedSet::Unknown) return false;
  const int64_t row = extended_names().find(name, static_cast<uint32_t>(set));
  if (row >= 0) *found = info_of(kTables.extended[row]);
  return row >= 0;
}

std::string_view nearest_instruction(std::string_view name) {
  return nearest(kTables.instructions, name);
}

std::string_view nearest_enumerant(Kind kind, std::string_view name) {
  const KindRow& k = kTables.kinds[static_cast<size_t>(kind)];
  return nearest(kTables.enumerants.subspan(k.first, k.count), name);
}

std::string_view nearest_extended(ExtendedSet set, std::string_view name) {
  if (set >= ExtendedSet::Unknown) return {};
  const SetRow& s = kTables.sets[static_cast<size_t>(set)];
  return nearest(kTables.extended.subspan(s.first, s.count), name);
}

}  // namespace lcpy::spirv
