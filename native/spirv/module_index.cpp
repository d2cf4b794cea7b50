#include "spirv/module_index.h"

#include "base/error.h"

namespace lcpy::spirv {
namespace {

bool ends_block(Opcode opcode) {
  switch (opcode) {
    case Opcode::Branch:
    case Opcode::BranchConditional:
    case Opcode::Switch:
    case Opcode::Return:
    case Opcode::ReturnValue:
    case Opcode::Kill:
    case Opcode::Unreachable:
    case Opcode::TerminateInvocation:
    case Opcode::IgnoreIntersectionKHR:
    case Opcode::TerminateRayKHR:
    case Opcode::EmitMeshTasksEXT:
      return true;
    default:
      return false;
  }
}

uint64_t member_key(Word id, uint32_t member) { return uint64_t{id} << 32 | member; }

[[noreturn]] void fail(size_t word, const std::string& what) {
  throw LoadError("SPIR-V, word " + std::to_string(word) + ": " + what);
}

}  // namespace

ModuleIndex::ModuleIndex(std::span<const Word> words) : words_(words) {
  Reader reader(words);
  header_ = reader.header();
  ReadInstruction i;
  while (reader.next(&i)) {
    note(i);
    structure(i);
  }
  if (in_function_) fail(words.size(), "the module ends within a function");
}

void ModuleIndex::note(const ReadInstruction& i) {
  const auto& w = i.words;
  if (i.result && !definitions_.try_emplace(i.result, Definition{i.at, i.type}).second)
    fail(i.at, "the id " + std::to_string(i.result) + " is defined a second time");
  if (!in_function_) places_[to_word(i.info.opcode)].push_back(i.at);
  switch (i.info.opcode) {
    case Opcode::Name:
      names_.try_emplace(w[1], i.at);
      break;
    case Opcode::MemberName:
      member_names_.try_emplace(member_key(w[1], w[2]), i.at);
      break;
    case Opcode::Decorate:
    case Opcode::DecorateId:
    case Opcode::DecorateString:
      decorations_[w[1]].push_back({kWhole, static_cast<Decoration>(w[2]), w.subspan(3)});
      break;
    case Opcode::MemberDecorate:
    case Opcode::MemberDecorateString:
      decorations_[w[1]].push_back({w[2], static_cast<Decoration>(w[3]), w.subspan(4)});
      break;
    case Opcode::GroupDecorate: {
      const std::vector<Decorated> group = decorations_[w[1]];
      for (const Word target : w.subspan(2)) {
        auto& all = decorations_[target];
        all.insert(all.end(), group.begin(), group.end());
      }
      break;
    }
    case Opcode::GroupMemberDecorate: {
      const std::vector<Decorated> group = decorations_[w[1]];
      for (size_t k = 2; k + 1 < w.size(); k += 2)
        for (Decorated d : group) {
          d.member = w[k + 1];
          decorations_[w[k]].push_back(d);
        }
      break;
    }
    default:
      break;
  }
}

void ModuleIndex::structure(const ReadInstruction& i) {
  const Opcode opcode = i.info.opcode;
  const size_t end = i.at + i.words.size();
  if (opcode == Opcode::Function) {
    if (in_function_) fail(i.at, "a function within a function");
    in_function_ = true;
    functions_.push_back({i.result, i.at, end, {}});
  } else if (opcode == Opcode::FunctionEnd) {
    if (!in_function_ || in_block_) fail(i.at, "no function ends here");
    in_function_ = false;
    functions_.back().end = end;
  } else if (opcode == Opcode::Label) {
    if (!in_function_ || in_block_) fail(i.at, "no block begins here");
    in_block_ = true;
    functions_.back().blocks.push_back({i.result, i.at, end});
  } else if (ends_block(opcode)) {
    if (!in_block_) fail(i.at, "no block ends here");
    in_block_ = false;
    functions_.back().blocks.back().end = end;
  }
}

std::span<const Word> ModuleIndex::definition(Word id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? std::span<const Word>() : at(found->second.at);
}

Opcode ModuleIndex::opcode(Word id) const {
  const auto w = definition(id);
  return w.empty() ? Opcode::Nop : static_cast<Opcode>(w[0] & 0xffff);
}

Word ModuleIndex::type_of(Word id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? 0 : found->second.type;
}

bool ModuleIndex::constant(Word id, uint64_t* value) const {
  const auto w = definition(id);
  const Opcode code = opcode(id);
  if (code == Opcode::ConstantNull) return *value = 0, opcode(w[1]) == Opcode::TypeInt;
  if (code != Opcode::Constant && code != Opcode::SpecConstant) return false;
  *value = w[3] | (w.size() > 4 ? uint64_t{w[4]} << 32 : 0);
  return opcode(w[1]) == Opcode::TypeInt;
}

std::span<const ModuleIndex::Decorated> ModuleIndex::decorations(Word id) const {
  const auto found = decorations_.find(id);
  return found == decorations_.end() ? std::span<const Decorated>() : std::span(found->second);
}

bool ModuleIndex::decorated(Word id, Decoration decoration, uint32_t member) const {
  for (const Decorated& d : decorations(id))
    if (d.decoration == decoration && d.member == member) return true;
  return false;
}

bool ModuleIndex::decoration(Word id, Decoration wanted, uint32_t* operand, uint32_t member) const {
  for (const Decorated& d : decorations(id))
    if (d.decoration == wanted && d.member == member && !d.operands.empty())
      return *operand = d.operands[0], true;
  return false;
}

std::string ModuleIndex::name(Word id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? "" : string_of(at(found->second).subspan(2));
}

std::string ModuleIndex::name(Word id, uint32_t member) const {
  const auto found = member_names_.find(member_key(id, member));
  return found == member_names_.end() ? "" : string_of(at(found->second).subspan(3));
}

std::span<const size_t> ModuleIndex::places(Opcode opcode) const {
  const auto found = places_.find(to_word(opcode));
  return found == places_.end() ? std::span<const size_t>() : std::span(found->second);
}

}  // namespace lcpy::spirv
