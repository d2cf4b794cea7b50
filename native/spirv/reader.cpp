// The grammar's rules, applied to words.
#include "spirv/reader.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace lcpy::spirv {

// SPIR-V 1.6, 2.17: the universal limits have no larger ids, and some tools take more.
static constexpr Word kLargestBound = 1u << 26;

std::string string_of(std::span<const Word> words) {
  std::string out;
  out.reserve(words.size() * 4);
  for (const Word w : words)
    for (int shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>(w >> shift);
      if (!c) return out;
      out += c;
    }
  return out;
}

// ---- types of numbers -------------------------------------------------------------------------

void NumberTypes::declare_type(Opcode opcode, Word result, std::span<const Word> operands) {
  if (operands.empty()) return;
  NumberType type;
  type.width = static_cast<uint16_t>(operands[0]);
  if (opcode == Opcode::TypeInt) {
    const bool is_signed = operands.size() > 1 && operands[1];
    type.number = is_signed ? NumberType::Class::Signed : NumberType::Class::Unsigned;
  } else {
    type.number = NumberType::Class::Float;
    if (operands.size() > 1) type.encoding = static_cast<uint16_t>(operands[1]);
  }
  if (operands[0] >= 1 && operands[0] <= 0x7fff) types_[result] = type;
}

NumberType NumberTypes::of_type(Word type) const {
  const auto at = types_.find(type);
  return at == types_.end() ? NumberType{} : at->second;
}

NumberType NumberTypes::of_value(Word value) const {
  const auto at = values_.find(value);
  return at == values_.end() ? NumberType{} : of_type(at->second);
}

// ---- the module -------------------------------------------------------------------------------

std::vector<Word> words_of(std::span<const std::byte> bytes) {
  if (bytes.size() % 4 || bytes.size() < kHeaderWords * 4)
    throw LoadError("no SPIR-V module: " + std::to_string(bytes.size()) +
                    " bytes; a header of 20 and whole words are needed");
  std::vector<Word> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const auto swapped = [](Word w) {
    return w << 24 | (w & 0xff00u) << 8 | (w >> 8 & 0xff00u) | w >> 24;
  };
  if (words[0] == swapped(kMagicNumber))
    for (Word& w : words) w = swapped(w);
  return words;
}

Reader::Reader(std::span<const Word> words) : words_(words) {
  if (words.size() < kHeaderWords)
    throw LoadError("no SPIR-V module: " + std::to_string(words.size()) +
                    " words, which is no header of 5");
  if (words[0] != kMagicNumber) fail(0, "no SPIR-V module: it does not begin with 0x07230203");
  header_ = {words[1], words[2], words[3], words[4]};
  if (header_.bound > kLargestBound) fail(3, "an id bound beyond 2^26");
}

void Reader::fail(size_t word, const std::string& what) const {
  std::string text = "SPIR-V, word " + std::to_string(word) + ": ";
  if (word >= kHeaderWords && !now_.info.name.empty())
    text += "Op" + std::string(now_.info.name) + ": ";
  throw LoadError(text + what);
}

bool Reader::next(ReadInstruction* instruction) {
  if (next_ >= words_.size()) return false;
  now_ = {};
  const Word first = words_[next_], count = first >> 16, opcode = first & 0xffff;
  if (!find_instruction(opcode, &now_.info))
    fail(next_, "no instruction has the opcode " + std::to_string(opcode));
  if (count == 0) fail(next_, "an instruction of 0 words");
  if (count > words_.size() - next_)
    fail(next_, std::to_string(count) + " words, and the module ends after " +
                    std::to_string(words_.size() - next_));
  now_.at = next_;
  now_.words = words_.subspan(next_, count);
  read_operands();
  note();
  now_.operands = operands_;
  next_ += count;
  *instruction = now_;
  return true;
}

// ---- operands ---------------------------------------------------------------------------------

void Reader::push(std::span<const OperandRule> rules) {
  if (!rules.empty()) pending_.push_back(rules);
}

// Rules wait on a stack: what an operand brings along stands between it and what follows it.
void Reader::read_operands() {
  operands_.clear();
  pending_.clear();
  at_ = 1;
  push(now_.info.rules);
  while (!pending_.empty()) {
    auto& rules = pending_.back();
    const OperandRule rule = rules[0];
    const bool ends = at_ == now_.words.size();
    if (rule.count == Count::One && ends)
      fail(now_.at, "it ends where " + std::string(name_of(rule.kind)) + " is expected");
    if (rule.count != Count::Any || ends) {
      rules = rules.subspan(1);
      if (rules.empty()) pending_.pop_back();
    }
    if (!ends) one(rule.kind);
  }
  if (at_ != now_.words.size())
    fail(now_.at + at_, "words left over: it has " + std::to_string(now_.words.size()) +
                            ", of which " + std::to_string(at_) + " are used");
}

void Reader::one(Kind kind) {
  switch (kind) {
    case Kind::IdResultType:
      now_.type = now_.words[at_];
      return id(kind);
    case Kind::IdResult:
      now_.result = now_.words[at_];
      return id(kind);
    case Kind::LiteralInteger:
      return literal(kind, kWord);
    case Kind::LiteralFloat:
      return literal(kind, {NumberType::Class::Float, NumberType::kIeee, 32});
    case Kind::LiteralContextDependentNumber:
      return literal(kind, literal_type());
    case Kind::LiteralString:
      return string(kind);
    case Kind::LiteralExtInstInteger:
      return extended_number();
    case Kind::LiteralSpecConstantOpInteger:
      return spec_constant_opcode();
    case Kind::PairLiteralIntegerIdRef:  // OpSwitch: of the selector's type
      literal(Kind::LiteralContextDependentNumber, literal_type());
      return id(Kind::IdRef);
    case Kind::PairIdRefLiteralInteger:
      id(Kind::IdRef);
      return literal(Kind::LiteralInteger, kWord);
    case Kind::PairIdRefIdRef:
      id(Kind::IdRef);
      return id(Kind::IdRef);
    default:
      return category(kind) == Category::Id ? id(kind) : enumerated(kind);
  }
}

void Reader::id(Kind kind) {
  if (at_ == now_.words.size()) fail(now_.at, "it ends where an id is expected");
  const Word value = now_.words[at_];
  if (value == 0) fail(now_.at + at_, "an id of 0");
  if (value >= header_.bound)
    fail(now_.at + at_, "the id " + std::to_string(value) + " is not below the bound, " +
                            std::to_string(header_.bound));
  operands_.push_back({kind, {}, static_cast<uint16_t>(at_), 1});
  at_++;
}

void Reader::literal(Kind kind, NumberType type) {
  const uint32_t count = type.words();
  if (count > now_.words.size() - at_)
    fail(now_.at, "it ends within a literal of " + std::to_string(type.width) + " bits");
  operands_.push_back({kind, type, static_cast<uint16_t>(at_), static_cast<uint16_t>(count)});
  at_ += count;
}

void Reader::string(Kind kind) {
  const size_t first = at_;
  const auto has_end = [](Word w) {
    return !(w & 0xff) || !(w & 0xff00) || !(w & 0xff0000) || !(w & 0xff000000);
  };
  while (at_ < now_.words.size() && !has_end(now_.words[at_])) at_++;
  if (at_ == now_.words.size()) fail(now_.at + first, "a string without its end");
  at_++;
  operands_.push_back({kind, {}, static_cast<uint16_t>(first), static_cast<uint16_t>(at_ - first)});
}

void Reader::extended_number() {
  const Word number = now_.words[at_], from = now_.words[at_ - 1];
  const auto set = sets_.find(from);
  if (set == sets_.end())
    fail(now_.at + at_ - 1, "the id " + std::to_string(from) + " imports no instruction set");
  now_.set = set->second;
  operands_.push_back({Kind::LiteralExtInstInteger, kWord, static_cast<uint16_t>(at_), 1});
  at_++;
  static constexpr OperandRule kIds[] = {{Kind::IdRef, Count::Any}};
  ExtendedInstruction found;
  if (find_extended(now_.set, number, &found)) return push(found.rules);
  if (now_.set != ExtendedSet::Unknown && !is_non_semantic(name_of(now_.set)))
    fail(now_.at + at_ - 1, "the instruction set " + std::string(name_of(now_.set)) +
                                " has no instruction " + std::to_string(number));
  push(kIds);
}

void Reader::spec_constant_opcode() {
  InstructionInfo info;
  const Word opcode = now_.words[at_];
  if (!find_instruction(opcode, &info) || !info.has_type() || !info.has_result())
    fail(now_.at + at_, "no constant is made by the opcode " + std::to_string(opcode));
  operands_.push_back({Kind::LiteralSpecConstantOpInteger, kWord, static_cast<uint16_t>(at_), 1});
  at_++;
  push(info.rules.subspan(2));
}

// A value, or a mask of which each bit may bring operands along, lower bits first.
void Reader::enumerated(Kind kind) {
  const Word value = now_.words[at_];
  const auto unknown = [&](Word v) {
    fail(now_.at + at_, std::string(name_of(kind)) + " has no value " + std::to_string(v));
  };
  Enumerant found;
  const size_t before = pending_.size();
  if (category(kind) == Category::Value) {
    if (!find_enumerant(kind, value, &found)) unknown(value);
    push(found.rules);
  } else {
    for (Word rest = value; rest; rest &= rest - 1) {
      const Word bit = rest & (0 - rest);
      if (!find_enumerant(kind, bit, &found)) unknown(bit);
      push(found.rules);
    }
    std::reverse(pending_.begin() + before, pending_.end());
  }
  operands_.push_back({kind, {}, static_cast<uint16_t>(at_), 1});
  at_++;
}

// Of the result's type, or in OpSwitch of the selector's.
NumberType Reader::literal_type() const {
  const bool is_switch = now_.info.opcode == Opcode::Switch;
  const NumberType type = is_switch ? types_.of_value(now_.words[1]) : types_.of_type(now_.type);
  if (is_switch ? !type.is_integer() : type.number == NumberType::Class::None)
    fail(now_.at,
         is_switch ? "its selector is no integer" : "its type is none of integers or floats");
  return type;
}

// What later instructions need to know of this one.
void Reader::note() {
  switch (now_.info.opcode) {
    case Opcode::TypeInt:
    case Opcode::TypeFloat:
      return types_.declare_type(now_.info.opcode, now_.result, now_.words.subspan(2));
    case Opcode::ExtInstImport: {
      const std::string name = now_.text(operands_[1]);
      const ExtendedSet set = find_set(name);
      if (set == ExtendedSet::None)
        fail(now_.at + 2, "no instruction set is named \"" + name + '"');
      sets_[now_.result] = set;
      return;
    }
    default:
      if (now_.type && types_.of_type(now_.type).is_integer())
        types_.declare_value(now_.result, now_.type);
  }
}

}  // namespace lcpy::spirv
