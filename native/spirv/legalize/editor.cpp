#include "spirv/legalize/editor.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "spirv/disassemble.h"

namespace lcpy::spirv {

Editor::Editor(std::span<const Word> words) : original_(words) {
  Reader reader(words);
  header_ = reader.header();
  bound_ = header_.bound;
  ReadInstruction read;
  bool inside = false;
  while (reader.next(&read)) {
    Instruction& i = all_.emplace_back();
    i.words.assign(read.words.begin(), read.words.end());
    i.at = read.at;
    const bool typed = read.info.has_type();
    i.type_at = typed ? 1 : 0;
    i.result_at = read.info.has_result() ? (typed ? 2 : 1) : 0;
    for (const ReadOperand& operand : read.operands)
      if (category(operand.kind) == Category::Id) i.ids.push_back(operand.at);
    if (i.opcode() == Opcode::Function) {
      functions.emplace_back();
      inside = true;
    }
    if (inside)
      define(&i), functions.back().push_back(&i);
    else
      add_global(&i);
    if (i.opcode() == Opcode::Capability) capabilities_.insert(i.words[1]);
    if (i.opcode() == Opcode::FunctionEnd) inside = false;
  }
}

void Editor::define(Instruction* i) {
  if (i->result_at) definitions_[i->result()] = i;
}

std::vector<Word> Editor::words() const {
  std::vector<Word> made(original_.begin(), original_.begin() + kHeaderWords);
  made[3] = bound_;
  const auto put = [&](const Code& code) {
    for (const Instruction* i : code) made.insert(made.end(), i->words.begin(), i->words.end());
  };
  put(head);
  for (const Code& f : functions) put(f);
  return made;
}

Instruction* Editor::definition(Word id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? nullptr : found->second;
}
Opcode Editor::opcode_of(Word id) const {
  const Instruction* i = definition(id);
  return i ? i->opcode() : Opcode::Nop;
}
Word Editor::type_of(Word value) const {
  const Instruction* i = definition(value);
  return i ? i->type() : 0;
}

std::optional<uint32_t> Editor::constant(Word id) const {
  const Instruction* i = definition(id);
  if (!i) return std::nullopt;
  if (i->opcode() == Opcode::ConstantNull) return 0;
  if (i->opcode() != Opcode::Constant) return std::nullopt;
  const std::span<const Word> value = i->operands();
  const bool small = std::ranges::all_of(value.subspan(1), [](Word w) { return w == 0; });
  return small ? std::optional(value[0]) : std::nullopt;
}

StorageClass Editor::storage_of(Word pointer_type) const {
  LCPY_CHECK(is_pointer(pointer_type));
  return static_cast<StorageClass>(definition(pointer_type)->words[2]);
}
Word Editor::pointee(Word pointer_type) const {
  return is_pointer(pointer_type) ? definition(pointer_type)->words[3] : 0;
}
Editor::Integer Editor::integer_type(Word type) const {
  if (opcode_of(type) != Opcode::TypeInt) return {};
  const Instruction* i = definition(type);
  return {i->words[2], i->words[3] != 0};
}

bool Editor::is_array(Word type) const {
  const Opcode code = opcode_of(type);
  return code == Opcode::TypeArray || code == Opcode::TypeRuntimeArray ||
         code == Opcode::TypeVector || code == Opcode::TypeMatrix;
}
Word Editor::component(Word composite, Word index) const {
  const Instruction* t = definition(composite);
  if (!t) return 0;
  if (is_array(composite)) return t->words[2];
  if (t->opcode() != Opcode::TypeStruct) return 0;
  const std::optional<uint32_t> member = constant(index);
  return member && *member + 2 < t->words.size() ? t->words[*member + 2] : 0;
}

Instruction* Editor::make(Opcode opcode, Word type, Word result, std::span<const Word> ids,
                          size_t at) {
  Instruction& i = all_.emplace_back();
  i.words.push_back(to_word(opcode));
  if (type) i.type_at = 1, i.words.push_back(type);
  if (result) i.result_at = static_cast<uint16_t>(i.words.size()), i.words.push_back(result);
  i.words.insert(i.words.end(), ids.begin(), ids.end());
  if (i.words.size() > kMaxInstructionWords)
    throw UnsupportedError(make_diagnostic(
        Diag::limit_exceeded, {}, {"an instruction", "too long", "SPIR-V", "65,535 words"}));
  for (uint16_t k = 1; k < i.words.size(); k++) i.ids.push_back(k);
  i.at = at;
  i.resize();
  define(&i);
  changed = true;
  return &i;
}

Instruction* Editor::copy(const Instruction& other) {
  changed = true;
  return &all_.emplace_back(other);
}

Editor::Key Editor::key_of(Opcode opcode, Word type, std::span<const Word> operands) {
  Key key = {to_word(opcode), type};
  key.insert(key.end(), operands.begin(), operands.end());
  return key;
}

void Editor::add_global(Instruction* i) {
  define(i);
  i->global = true;
  head.push_back(i);
  const Opcode code = i->opcode();
  if (code == Opcode::TypePointer || code == Opcode::TypeFunction || code == Opcode::Constant)
    globals_.emplace(key_of(code, i->type(), i->operands()), i->result());
}

Word Editor::find_global(Opcode opcode, Word type, std::span<const Word> operands) const {
  const auto found = globals_.find(key_of(opcode, type, operands));
  return found == globals_.end() ? 0 : found->second;
}

Word Editor::pointer_type(StorageClass storage, Word to) {
  const std::array<Word, 2> operands = {to_word(storage), to};
  if (const Word found = find_global(Opcode::TypePointer, 0, operands)) return found;
  const Word id = new_id();
  Instruction* i = make(Opcode::TypePointer, 0, id, operands, 0);
  i->ids = {1, 3};
  add_global(i);
  return id;
}

Word Editor::function_type(Word result, std::span<const Word> parameters) {
  std::vector<Word> operands = {result};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  if (const Word found = find_global(Opcode::TypeFunction, 0, operands)) return found;
  const Word id = new_id();
  add_global(make(Opcode::TypeFunction, 0, id, operands, 0));
  return id;
}

Word Editor::integer(Word type, uint32_t value) {
  std::vector<Word> operands(integer_type(type).bits > 32 ? 2 : 1, 0);
  operands[0] = value;
  if (const Word found = find_global(Opcode::Constant, type, operands)) return found;
  const Word id = new_id();
  Instruction* i = make(Opcode::Constant, type, id, operands, 0);
  i->ids = {1, 2};
  add_global(i);
  return id;
}

std::unordered_set<Word> Editor::uses() const {
  std::unordered_set<Word> made;
  const auto count = [&](const Code& code) {
    for (const Instruction* i : code) {
      InstructionInfo info;
      if (find_instruction(to_word(i->opcode()), &info) &&
          (info.group == Group::Annotation || info.group == Group::Debug))
        continue;
      for (const uint16_t at : i->ids)
        if (at != i->result_at) made.insert(i->words[at]);
    }
  };
  count(head);
  for (const Code& f : functions) count(f);
  return made;
}

void Editor::forget(const std::unordered_set<Word>& gone) {
  std::erase_if(head, [&](Instruction* i) {
    switch (i->opcode()) {
      case Opcode::Name:
      case Opcode::MemberName:
      case Opcode::Decorate:
      case Opcode::DecorateId:
      case Opcode::DecorateString:
        return gone.contains(i->words[1]);
      case Opcode::GroupDecorate: {
        std::vector<Word> kept(i->words.begin(), i->words.begin() + 2);
        for (size_t k = 2; k < i->words.size(); k++)
          if (!gone.contains(i->words[k])) kept.push_back(i->words[k]);
        i->words = std::move(kept);
        std::erase_if(i->ids, [&](uint16_t at) { return at >= i->words.size(); });
        i->resize();
        return false;
      }
      default:
        return false;
    }
  });
  changed = true;
}

void Editor::refuse(const Instruction& instruction, const std::string& reason) const {
  // The line of the listing: one for each instruction.
  size_t line = 0;
  for (size_t at = kHeaderWords; at < instruction.at; at += original_[at] >> 16) line++;
  std::string text = disassemble(original_, {.indent = false, .header = false});
  for (; line > 0; line--) text.erase(0, text.find('\n') + 1);
  text.resize(std::min(text.find('\n'), text.size()));
  throw UnsupportedError(make_diagnostic(Diag::not_logical, {}, {text, reason}));
}

}  // namespace lcpy::spirv
