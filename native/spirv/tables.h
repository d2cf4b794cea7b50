// What the specification says of instructions, operands and extended instruction sets: looked up by
// number or by name. Total over the newest published grammar (tables.cpp is generated from it).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "spirv/grammar.h"

namespace lcpy::spirv {

enum class Category : uint8_t { Mask, Value, Id, Literal, Composite };
enum class Count : uint8_t { One, Optional, Any };

// What is expected at one place: an operand, one or none, or any number of them.
struct OperandRule {
  Kind kind;
  Count count;
};

// The part of a module that an instruction is of, as far as a listing tells them apart.
enum class Group : uint8_t { Other, Annotation, Debug, Type };

struct InstructionInfo {
  std::string_view name;  // without "Op"
  Opcode opcode;
  Group group;
  std::span<const OperandRule> rules;  // type and result included

  bool has_type() const { return !rules.empty() && rules[0].kind == Kind::IdResultType; }
  bool has_result() const {
    const size_t at = has_type() ? 1 : 0;
    return rules.size() > at && rules[at].kind == Kind::IdResult;
  }
};
// A value of an operand kind, or one bit of a mask; `rules` are of the operands that follow it.
struct Enumerant {
  std::string_view name;
  uint32_t value;
  std::span<const OperandRule> rules;
};
struct ExtendedInstruction {
  std::string_view name;
  uint32_t number;
  std::span<const OperandRule> rules;
};

// Each returns whether there is such a one. Names are the grammar's, or older ones of the same.
bool find_instruction(uint32_t opcode, InstructionInfo* found);
bool find_instruction(std::string_view name, InstructionInfo* found);
bool find_enumerant(Kind kind, uint32_t value, Enumerant* found);
bool find_enumerant(Kind kind, std::string_view name, Enumerant* found);

// The name that is most like a misspelt one, for messages; empty when none is near.
std::string_view nearest_instruction(std::string_view name);
std::string_view nearest_enumerant(Kind kind, std::string_view name);

Category category(Kind kind);
std::string_view name_of(Kind kind);
std::string_view name_of(Kind kind, uint32_t value);  // empty when the kind has no such value
inline std::string_view name_of(Capability capability) {
  return name_of(Kind::Capability, static_cast<uint32_t>(capability));
}
// "Khronos SPIR-V Tools Assembler"; empty when nobody has registered the number.
std::string_view generator_name(uint32_t number);

// Extended instruction sets by the names that modules import them by.
enum class ExtendedSet : uint8_t { None = 0xff, Unknown = 0xfe };  // else an index
// None when modules may not import it. Sets whose names begin with "NonSemantic." may be unknown:
// their instructions have ids as operands.
std::string_view name_of(ExtendedSet set);  // of one that is known
ExtendedSet find_set(std::string_view name);
bool is_non_semantic(std::string_view name);
bool find_extended(ExtendedSet set, uint32_t number, ExtendedInstruction* found);
bool find_extended(ExtendedSet set, std::string_view name, ExtendedInstruction* found);
std::string_view nearest_extended(ExtendedSet set, std::string_view name);

}  // namespace lcpy::spirv
