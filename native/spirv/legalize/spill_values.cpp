#include <array>
#include <unordered_set>

#include "spirv/legalize/fixups.h"
#include "spirv/legalize/places.h"

namespace lcpy::spirv {
namespace {

bool is_chain(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::AccessChain:
    case Opcode::InBoundsAccessChain:
    case Opcode::PtrAccessChain:
    case Opcode::InBoundsPtrAccessChain:
      return true;
    default:
      return false;
  }
}

void spill_in(Editor& e, Editor::Code& code) {
  Editor::Code wrong;
  for (Instruction* i : code)
    if (is_chain(*i) && !e.is_pointer(e.type_of(i->operands()[0])) &&
        e.opcode_of(e.type_of(i->operands()[0])) != Opcode::TypeUntypedPointerKHR)
      wrong.push_back(i);
  if (wrong.empty()) return;
  size_t entry = 0;
  while (entry < code.size() && code[entry]->opcode() != Opcode::Label) entry++;
  if (entry == code.size()) e.refuse(*wrong.front(), "it is in no block");
  const std::unordered_set<const Instruction*> own(code.begin(), code.end());
  std::unordered_map<Word, Word> variables;  // by value
  Editor::Code declared, at_entry;
  std::unordered_map<const Instruction*, Instruction*> after;
  for (Instruction* i : wrong) {
    if (!e.is_pointer(i->type()) || e.storage_of(i->type()) != StorageClass::Function)
      e.refuse(*i,
               "its base is a value, which only a pointer to a variable of the function reaches");
    const Word value = i->operands()[0];
    Word& variable = variables[value];
    if (!variable) {
      const Instruction* defined = e.definition(value);
      if (!e.type_of(value)) e.refuse(*i, "its base is no value");
      const Word type = e.pointer_type(StorageClass::Function, e.type_of(value));
      variable = e.new_id();
      Instruction* v = e.make(Opcode::Variable, type, variable,
                              std::array{to_word(StorageClass::Function)}, i->at);
      v->ids.pop_back();
      declared.push_back(v);
      Instruction* store = e.make(Opcode::Store, 0, 0, std::array{variable, value}, i->at);
      // Parameters are there from the start, and so are globals.
      const bool inside = own.contains(defined) && defined->opcode() != Opcode::FunctionParameter;
      (inside ? after[defined] : at_entry.emplace_back()) = store;
    }
    const size_t base = 1u + (i->type_at != 0) + (i->result_at != 0);
    i->words[base] = variable;
  }
  Editor::Code made(code.begin(), code.begin() + static_cast<ptrdiff_t>(entry) + 1);
  made.insert(made.end(), declared.begin(), declared.end());
  size_t k = entry + 1;
  while (k < code.size() && code[k]->opcode() == Opcode::Variable) made.push_back(code[k++]);
  made.insert(made.end(), at_entry.begin(), at_entry.end());
  Editor::Code pending;  // of phis, until the phis are over
  for (; k < code.size(); k++) {
    if (code[k]->opcode() != Opcode::Phi && !pending.empty()) {
      made.insert(made.end(), pending.begin(), pending.end());
      pending.clear();
    }
    made.push_back(code[k]);
    if (const auto found = after.find(code[k]); found != after.end()) {
      const bool is_phi = code[k]->opcode() == Opcode::Phi;
      (is_phi ? pending : made).push_back(found->second);
    }
  }
  code = std::move(made);
}

}  // namespace

void spill_values(Editor& e) {
  for (Editor::Code& code : e.functions) spill_in(e, code);
}

}  // namespace lcpy::spirv
