// Follows the grammar's rules from word to word of the text, as the reader does in a module.
#include "spirv/assemble.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "spirv/literal.h"
#include "spirv/tokens.h"

namespace lcpy::spirv {

namespace {

bool is_number(std::string_view name, Word* value) {
  const char* const end = name.data() + name.size();
  const auto [at, status] = std::from_chars(name.data(), end, *value);
  return !name.empty() && at == end && status == std::errc();
}

// Names to ids. Every operand is looked up: numbers as in most listings in a row of their own,
// others by open addressing.
class Ids {
 public:
  explicit Ids(std::string_view text) : text_(text) { slots_.resize(1024); }

  // The id's place; 0 until it is given.
  Word* find_or_add(std::string_view name) {
    if (name.size() <= kDigits && name[0] >= '1' && name[0] <= '9') {
      Word number = 0;
      if (is_number(name, &number)) {
        if (number >= numbered_.size()) numbered_.resize(std::bit_ceil(number + 1));
        return &numbered_[number];
      }
    }
    if ((count_ + 1) * 2 > slots_.size()) grow();
    const uint32_t hash = hash_of(name);
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (!slot.length) {
        count_++;
        slot = {hash, static_cast<uint32_t>(name.data() - text_.data()),
                static_cast<uint32_t>(name.size()), 0};
        return &slot.id;
      }
      if (slot.hash == hash && text_.substr(slot.at, slot.length) == name) return &slot.id;
    }
  }

 private:
  static constexpr size_t kDigits = 7;
  struct Slot {
    uint32_t hash = 0, at = 0, length = 0;  // its place in the text
    Word id = 0;
  };
  static uint32_t hash_of(std::string_view name) {
    uint64_t h = name.size() * 0x9e3779b97f4a7c15u;
    size_t i = 0;
    for (uint64_t chunk; i + 8 <= name.size(); i += 8) {
      std::memcpy(&chunk, name.data() + i, 8);
      h = std::rotl((h ^ chunk) * 0xbf58476d1ce4e5b9u, 29);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, name.data() + i, name.size() - i);
    h = (h ^ rest) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>(h >> 32);
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 4);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (!slot.length) continue;
      size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].length) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }
  std::string_view text_;
  std::vector<Slot> slots_;
  std::vector<Word> numbered_;
  size_t count_ = 0;
};

// What the disassembler writes above the first instruction.
Word version_in_comments(std::string_view text) {
  constexpr std::string_view kSays = "; Version: 1.";
  constexpr Word kNewest = 0x00010600;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty()) continue;
    if (line[0] != ';') break;
    if (!line.starts_with(kSays)) continue;
    line.remove_prefix(kSays.size());
    const bool one = !line.empty() && line[0] >= '0' && line[0] <= '6' &&
                     (line.size() == 1 || line[1] < '0' || line[1] > '9');
    return one ? 0x00010000 | static_cast<Word>(line[0] - '0') << 8 : kNewest;
  }
  return kNewest;
}

class Assembler {
 public:
  Assembler(std::string_view text, const AssembleOptions& options)
      : text_(text), tokens_(text), options_(options), ids_(text) {}

  std::vector<Word> run() {
    if (tokens_.now().ends()) fail("no instruction");
    if (text_.size() >> 32) fail("a text of 4 GiB or more");
    if (options_.preserve_numeric_ids) reserve_numbers();
    const Word version = options_.version ? options_.version : version_in_comments(text_);
    for (const Word w : {kMagicNumber, version, Word{7} << 16, Word{0}, Word{0}})
      words_.push_back(w);
    words_.reserve(text_.size() / 6);
    while (!tokens_.now().ends()) instruction();
    words_[3] = bound_;
    return std::move(words_);
  }

 private:
  [[noreturn]] void fail(const Token& at, const std::string& message) const {
    throw AssemblyError(at.line, at.column, message);
  }
  [[noreturn]] void fail(const std::string& message) const { fail(tokens_.now(), message); }
  std::string quoted(std::string_view text) const { return '\'' + std::string(text) + '\''; }

  static std::string or_rather(std::string_view name, std::string_view before = "") {
    if (name.empty()) return "";
    return "; '" + std::string(before) + std::string(name) + "' is near it";
  }

  // ---- ids -----------------------------------------------------------------------------------

  void reserve_numbers() {
    Word number = 0;
    for (Tokens all(text_); !all.now().ends(); all.advance())
      if (all.now().text[0] == '%' && is_number(all.now().text.substr(1), &number))
        numbers_.insert(number);
  }

  Word id_of(const Token& token) {
    const std::string_view name = token.text.substr(1);
    if (name.empty()) fail(token, "an id is '%' with letters, digits and '_'");
    Word* const id = ids_.find_or_add(name);
    if (*id) return *id;
    if (!std::ranges::all_of(name, is_name_character))
      fail(token, "an id is '%' with letters, digits and '_', not " + quoted(token.text));
    if (!options_.preserve_numeric_ids || !is_number(name, id)) {
      while (numbers_.contains(next_)) next_++;
      *id = next_++;
    }
    bound_ = std::max(bound_, *id + 1);
    return *id;
  }

  // ---- instructions --------------------------------------------------------------------------

  void instruction() {
    if (tokens_.now().text[0] == '!') return raw_instruction();
    result_ = {};
    if (tokens_.now().text[0] == '%') {
      result_ = tokens_.now();
      tokens_.advance();
      if (tokens_.now().text != "=")
        fail("'=' is expected after the result " + quoted(result_.text));
      tokens_.advance();
    }
    name_ = tokens_.now();
    if (!name_.is_opcode())
      fail(name_.ends() ? "an instruction is expected, and the text ends"
                        : "an instruction is expected, not " + quoted(name_.text));
    if (!find_instruction(name_.text.substr(2), &info_))
      fail("no instruction is named " + quoted(name_.text) +
           or_rather(nearest_instruction(name_.text.substr(2)), "Op"));
    if (info_.has_result() && result_.ends())
      fail(quoted(name_.text) + " has a result: '%name = ' is expected before it");
    if (!info_.has_result() && !result_.ends())
      fail(quoted(name_.text) + " has no result, so nothing stands before it");
    tokens_.advance();
    start_ = words_.size();
    words_.push_back(0);
    set_ = ExtendedSet::None;
    type_ = result_id_ = 0;
    operands();
    const size_t count = words_.size() - start_;
    if (count > kMaxInstructionWords)
      fail(name_, "an instruction of " + std::to_string(count) + " words; 65535 are the most");
    words_[start_] = static_cast<Word>(count) << 16 | to_word(info_.opcode);
    note();
  }

  // `!first other words`, as they are.
  void raw_instruction() {
    raw_word();
    while (!tokens_.now().ends() && !tokens_.at_instruction()) free_operand();
  }

  // Rules wait on a stack: what an operand brings along stands between it and what follows it.
  void operands() {
    pending_.clear();
    push(info_.rules);
    while (!pending_.empty()) {
      auto& rules = pending_.back();
      const OperandRule rule = rules[0];
      if (rule.kind == Kind::IdResult) {
        pop(rules);
        result();
        continue;
      }
      const bool ends = tokens_.now().ends() || tokens_.at_instruction();
      if (ends && rule.count == Count::One)
        fail(expectation(rule.kind) + " is expected" +
             (tokens_.now().ends() ? ", and the text ends" : ", not the next instruction"));
      if (rule.count != Count::Any || ends) pop(rules);
      if (ends) continue;
      if (tokens_.now().text[0] == '!') return free_operands();
      operand(rule.kind);
    }
  }

  void push(std::span<const OperandRule> rules) {
    if (!rules.empty()) pending_.push_back(rules);
  }
  void pop(std::span<const OperandRule>& rules) {
    rules = rules.subspan(1);
    if (rules.empty()) pending_.pop_back();
  }

  std::string expectation(Kind kind) const {
    switch (kind) {
      case Kind::LiteralInteger:
        return "an integer";
      case Kind::LiteralFloat:
      case Kind::LiteralContextDependentNumber:
        return "a number";
      case Kind::LiteralString:
        return "a string";
      case Kind::LiteralExtInstInteger:
        return "an extended instruction's name";
      case Kind::LiteralSpecConstantOpInteger:
        return "an instruction's name without 'Op'";
      case Kind::PairLiteralIntegerIdRef:
        return "an integer";
      default:
        return category(kind) == Category::Id || category(kind) == Category::Composite
                   ? "an id"
                   : "a " + std::string(name_of(kind));
    }
  }

  void result() {
    result_id_ = id_of(result_);
    words_.push_back(result_id_);
  }

  // ---- words as they are ---------------------------------------------------------------------

  // After `!word` the grammar no longer knows what comes: numbers, strings and ids.
  void free_operands() {
    bool has_result = words_.size() - start_ > (info_.has_type() ? 2u : 1u);
    while (!tokens_.now().ends() && !tokens_.at_instruction()) {
      free_operand();
      if (info_.has_result() && !has_result &&
          words_.size() - start_ == (info_.has_type() ? 2u : 1u)) {
        result();
        has_result = true;
      }
    }
  }

  void free_operand() {
    const Token& token = tokens_.now();
    if (token.text[0] == '!') return raw_word();
    if (token.text[0] == '%') return id();
    if (token.text[0] == '"') return string();
    const bool real = token.text.find('.') != std::string_view::npos;
    const bool negative = token.text[0] == '-';
    const auto number = real       ? NumberType::Class::Float
                        : negative ? NumberType::Class::Signed
                                   : NumberType::Class::Unsigned;
    literal({number, NumberType::kIeee, 32});
  }

  void raw_word() {
    const ParsedNumber n = parse_number(tokens_.now().text.substr(1), kWord);
    if (!n.error.empty()) fail("a word is '!' with an integer: " + n.error);
    words_.push_back(n.words[0]);
    tokens_.advance();
  }

  // ---- operands ------------------------------------------------------------------------------

  void operand(Kind kind) {
    switch (kind) {
      case Kind::IdResultType:
        id();
        type_ = words_.back();
        return;
      case Kind::LiteralInteger:
        return literal(kWord);
      case Kind::LiteralFloat:
        return literal({NumberType::Class::Float, NumberType::kIeee, 32});
      case Kind::LiteralContextDependentNumber:
        return literal(literal_type());
      case Kind::LiteralString:
        return string();
      case Kind::LiteralExtInstInteger:
        return extended_instruction();
      case Kind::LiteralSpecConstantOpInteger:
        return spec_constant_opcode();
      case Kind::PairLiteralIntegerIdRef:
        literal(literal_type());
        return second(Kind::IdRef);
      case Kind::PairIdRefLiteralInteger:
        id();
        return second(Kind::LiteralInteger);
      case Kind::PairIdRefIdRef:
        id();
        return second(Kind::IdRef);
      default:
        return category(kind) == Category::Id ? id() : enumerated(kind);
    }
  }

  void second(Kind kind) {
    if (tokens_.now().ends() || tokens_.at_instruction())
      fail(expectation(kind) + " is expected: operands come in pairs here");
    operand(kind);
  }

  void id() {
    if (tokens_.now().text[0] != '%') fail("an id is expected, not " + quoted(tokens_.now().text));
    words_.push_back(id_of(tokens_.now()));
    tokens_.advance();
  }

  void literal(NumberType type) {
    const ParsedNumber n = parse_number(tokens_.now().text, type);
    if (!n.error.empty()) fail(n.error);
    words_.push_back(n.words[0]);
    if (n.count > 1) words_.push_back(n.words[1]);
    tokens_.advance();
  }

  NumberType literal_type() const {
    const bool is_switch = info_.opcode == Opcode::Switch;
    const NumberType type = is_switch ? types_.of_value(words_[start_ + 1]) : types_.of_type(type_);
    if (is_switch && !type.is_integer()) fail("the selector is no integer that was made before");
    if (type.number == NumberType::Class::None)
      fail("the type of " + quoted(name_.text) + " is none of integers or floats");
    return type;
  }

  void string() {
    const std::string_view text = tokens_.now().text;
    if (text.size() < 2 || text[0] != '"' || text.back() != '"')
      fail("a string in quotes is expected, not " + quoted(text));
    string_.clear();
    bool ended = false;
    for (size_t i = 1; i < text.size() && !ended; i++) {
      if (text[i] == '"') {
        if (i + 1 < text.size()) fail("more after a string: " + quoted(text.substr(i + 1)));
        ended = true;
      } else {
        if (text[i] == '\\') i++;
        if (i < text.size()) string_ += text[i];
      }
    }
    if (!ended) fail("a string without its end");
    if (info_.opcode == Opcode::ExtInstImport) {
      const ExtendedSet set = find_set(string_);
      if (set == ExtendedSet::None) fail("no instruction set is named " + quoted(string_));
      sets_[result_id_] = set;
    }
    append_text(words_, string_);
    tokens_.advance();
  }

  void extended_instruction() {
    const auto set = sets_.find(words_.back());
    if (set == sets_.end()) fail("the id before it imports no instruction set");
    set_ = set->second;
    static constexpr OperandRule kIds[] = {{Kind::IdRef, Count::Any}};
    const std::string_view name = tokens_.now().text;
    ExtendedInstruction found;
    if (find_extended(set_, name, &found)) {
      words_.push_back(found.number);
      tokens_.advance();
      return push(found.rules);
    }
    const bool open = set_ == ExtendedSet::Unknown || is_non_semantic(name_of(set_));
    const ParsedNumber n = parse_number(name, kWord);
    if (!open || !n.error.empty()) {
      if (set_ == ExtendedSet::Unknown)
        fail("an instruction's number is expected, not " + quoted(name));
      fail("the instruction set " + std::string(name_of(set_)) + " has no instruction " +
           quoted(name) + or_rather(nearest_extended(set_, name)));
    }
    words_.push_back(n.words[0]);
    tokens_.advance();
    push(kIds);
  }

  void spec_constant_opcode() {
    InstructionInfo info;
    const std::string_view name = tokens_.now().text;
    if (!find_instruction(name, &info) || !info.has_type() || !info.has_result())
      fail("no constant is made by the instruction " + quoted(name) +
           or_rather(nearest_instruction(name)));
    words_.push_back(to_word(info.opcode));
    tokens_.advance();
    push(info.rules.subspan(2));
  }

  // A name, or in masks several with `|` between them; each may bring operands along, lower bits
  // first.
  void enumerated(Kind kind) {
    const std::string_view text = tokens_.now().text;
    Enumerant found;
    const auto find = [&](std::string_view name) {
      if (!find_enumerant(kind, name, &found))
        fail("no " + std::string(name_of(kind)) + " is named " + quoted(name) +
             or_rather(nearest_enumerant(kind, name)));
    };
    Word value = 0;
    if (category(kind) == Category::Value) {
      find(text);
      value = found.value;
      push(found.rules);
    } else {
      for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find('|', at), text.size());
        find(text.substr(at, end - at));
        value |= found.value;
        at = end + 1;
      }
      const size_t before = pending_.size();
      for (Word rest = value; rest; rest &= rest - 1)
        if (find_enumerant(kind, rest & (0 - rest), &found)) push(found.rules);
      std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(before), pending_.end());
    }
    words_.push_back(value);
    tokens_.advance();
  }

  // What later instructions need to know of this one.
  void note() {
    if (info_.group == Group::Type && result_id_) {
      if (!defined_.insert(result_id_).second)
        fail(name_, quoted(result_.text) + " is a type already");
      last_type_ = 0;
      if (info_.opcode == Opcode::TypeInt || info_.opcode == Opcode::TypeFloat)
        types_.declare_type(info_.opcode, result_id_, std::span(words_).subspan(start_ + 2));
    } else if (info_.has_type()) {
      if (type_ != last_type_) {
        last_type_ = type_;
        last_is_integer_ = types_.of_type(type_).is_integer();
      }
      if (last_is_integer_) types_.declare_value(result_id_, type_);
    }
  }

  std::string_view text_;
  Tokens tokens_;
  const AssembleOptions& options_;
  std::vector<Word> words_;

  Ids ids_;
  std::unordered_set<Word> numbers_;  // ids that numbers name
  Word next_ = 1, bound_ = 1;
  std::unordered_map<Word, ExtendedSet> sets_;
  std::unordered_set<Word> defined_;  // types
  Word last_type_ = 0;                // of a value, and whether it is one of integers
  bool last_is_integer_ = false;
  NumberTypes types_;

  // Of the instruction being written.
  Token result_, name_;
  InstructionInfo info_;
  size_t start_ = 0;
  Word type_ = 0, result_id_ = 0;
  ExtendedSet set_ = ExtendedSet::None;
  std::vector<std::span<const OperandRule>> pending_;
  std::string string_;
};

}  // namespace

std::vector<Word> assemble(std::string_view text, const AssembleOptions& options) {
  return Assembler(text, options).run();
}

Word version_of_environment(std::string_view name) {
  struct Environment {
    std::string_view name;
    Word version;
  };
  static constexpr Environment kEnvironments[] = {
      {"vulkan1.0", 0x10000},
      {"vulkan1.1", 0x10300},
      {"vulkan1.1spv1.4", 0x10400},
      {"vulkan1.2", 0x10500},
      {"vulkan1.3", 0x10600},
      {"vulkan1.4", 0x10600},
      {"spv1.0", 0x10000},
      {"spv1.1", 0x10100},
      {"spv1.2", 0x10200},
      {"spv1.3", 0x10300},
      {"spv1.4", 0x10400},
      {"spv1.5", 0x10500},
      {"spv1.6", 0x10600},
      {"opencl1.2", 0x10000},
      {"opencl1.2embedded", 0x10000},
      {"opencl2.0", 0x10000},
      {"opencl2.0embedded", 0x10000},
      {"opencl2.1", 0x10000},
      {"opencl2.1embedded", 0x10000},
      {"opencl2.2", 0x10200},
      {"opencl2.2embedded", 0x10200},
      {"opengl4.0", 0x10000},
      {"opengl4.1", 0x10000},
      {"opengl4.2", 0x10000},
      {"opengl4.3", 0x10000},
      {"opengl4.5", 0x10000},
  };
  for (const Environment& e : kEnvironments)
    if (e.name == name) return e.version;
  return 0;
}

}  // namespace lcpy::spirv
