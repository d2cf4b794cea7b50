// The rows of tables.cpp, which is generated: plain numbers, so that the tables need no relocation
// when the library is loaded. tables.h is what the rest reads.
#pragma once
#include <span>

#include "spirv/tables.h"

namespace lcpy::spirv::rows {

struct InstructionRow {
  uint32_t name;
  uint8_t name_length;
  uint16_t rules;
  uint8_t rule_count;
  uint16_t opcode;
  Group group;
};
struct EnumerantRow {
  uint32_t value, name;
  uint8_t name_length;
  uint16_t rules;
  uint8_t rule_count;
};
struct ExtendedRow {
  uint32_t name;
  uint8_t name_length;
  uint16_t rules;
  uint8_t rule_count;
  uint16_t number;
};
struct AliasRow {
  uint32_t name;
  uint8_t name_length;
  uint16_t row;
};
struct KindRow {
  uint32_t name;
  uint8_t name_length;
  Category category;
  uint16_t first, count;  // enumerants, by value
};
struct SetRow {
  uint32_t name;
  uint8_t name_length;
  uint16_t first, count;  // instructions, by number
};
struct GeneratorRow {
  uint32_t name;
  uint8_t name_length;
  uint16_t number;
};

struct Tables {
  const char* text;
  std::span<const OperandRule> rules;
  std::span<const InstructionRow> instructions;
  std::span<const AliasRow> instruction_aliases;
  std::span<const EnumerantRow> enumerants;
  std::span<const AliasRow> enumerant_aliases;
  std::span<const KindRow> kinds;
  std::span<const ExtendedRow> extended;
  std::span<const SetRow> sets;
  std::span<const GeneratorRow> generators;
};
extern const Tables kTables;

}  // namespace lcpy::spirv::rows
