// Emits a descriptor for every Vulkan version and has the module judged: its words walk to the end,
// every id is defined once, and SPIRV-Tools, where LCPY_SPIRV_TOOLS names its library (tools/test
// sets it) or the system has it, accepts it.
#pragma once
#include <cstdlib>
#include <string>
#include <vector>

#include "check.h"
#include "emit/emit.h"
#include "spirv/tables.h"
#include "spirv/validate.h"

namespace lcpy::test {

inline std::string tools_library() {
  const char* path = std::getenv("LCPY_SPIRV_TOOLS");
  return path ? path : "";
}

struct Instruction {
  spirv::Opcode opcode;
  std::vector<uint32_t> operands;
};

inline std::vector<Instruction> instructions(const std::vector<uint32_t>& words) {
  std::vector<Instruction> all;
  for (size_t at = 5; at < words.size();) {
    const uint32_t count = words[at] >> 16;
    if (count == 0 || at + count > words.size()) throw Failure("the words do not walk to the end");
    all.push_back({static_cast<spirv::Opcode>(words[at] & 0xffff),
                   {words.begin() + at + 1, words.begin() + at + count}});
    at += count;
  }
  return all;
}

inline size_t count_of(const std::vector<uint32_t>& words, spirv::Opcode opcode) {
  size_t n = 0;
  for (const Instruction& i : instructions(words)) n += i.opcode == opcode;
  return n;
}

// Empty when nothing is wrong.
inline std::string complaint(const SpirvModule& m, uint32_t version) {
  std::vector<bool> defined(m.words[3], false);
  for (const Instruction& i : instructions(m.words)) {
    spirv::InstructionInfo info;
    if (!spirv::find_instruction(static_cast<uint32_t>(i.opcode), &info))
      return "unknown opcode " + std::to_string(static_cast<uint32_t>(i.opcode));
    if (!info.has_result()) continue;
    const size_t at = info.has_type() ? 1 : 0;
    if (i.operands.size() <= at) return std::string(info.name) + " is too short";
    const uint32_t id = i.operands[at];
    if (id == 0 || id >= defined.size()) return std::string(info.name) + " has a bad result id";
    if (defined[id]) return std::string(info.name) + " defines an id again";
    defined[id] = true;
  }
  static const bool judged = spirv::can_validate(tools_library());
  if (!judged) return "";
  return spirv::validate(m.words, "vulkan1." + std::to_string(version - 10), tools_library())
      .message;
}

// Judges the descriptor on Vulkan 1.1, 1.2 and 1.3; returns the last module.
inline SpirvModule judge(const KernelDescriptor& d, VulkanTarget target = {},
                         const BindingPlan* plan = nullptr) {
  SpirvModule module;
  for (const uint32_t version : {11u, 12u, 13u}) {
    target.version = version;
    module = emit_spirv(d, plan ? *plan : default_plan(d), target);
    const std::string wrong = complaint(module, version);
    if (!wrong.empty())
      throw Failure("Vulkan 1." + std::to_string(version - 10) + ": " + wrong + "\n" + to_text(d));
  }
  return module;
}

}  // namespace lcpy::test
