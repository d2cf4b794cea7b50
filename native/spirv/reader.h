// Reads a module of anyone's, instruction by instruction, and says what each word is. Every count
// is checked before it is believed: no input makes it read past the end, or go round for ever.
// Linear in the module; what it keeps is the types of ids and the imported instruction sets.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spirv/encode.h"
#include "spirv/tables.h"

namespace lcpy::spirv {

inline constexpr size_t kHeaderWords = 5;

struct Header {
  Word version = 0, generator = 0, bound = 0, schema = 0;
};

// How a literal's words are to be taken.
struct NumberType {
  enum class Class : uint8_t { None, Unsigned, Signed, Float };
  Class number = Class::None;
  uint16_t encoding = kIeee;  // of floats: kIeee, or a value of FPEncoding
  uint16_t width = 0;         // bits

  static constexpr uint16_t kIeee = 0xffff;
  bool is_integer() const { return number == Class::Unsigned || number == Class::Signed; }
  uint32_t words() const { return width > 32 ? (width + 31) / 32 : 1; }
};
inline constexpr NumberType kWord = {NumberType::Class::Unsigned, NumberType::kIeee, 32};

struct ReadOperand {
  Kind kind;                   // of pairs, each half's; of literals of either half, LiteralInteger
  NumberType type;             // of literal numbers
  uint16_t at = 0, words = 0;  // within the instruction
};

// A literal string, up to the end that its words hold.
std::string string_of(std::span<const Word> words);

struct ReadInstruction {
  InstructionInfo info;
  size_t at = 0;  // its first word in the module
  std::span<const Word> words;
  Word type = 0, result = 0;            // 0 where it has none
  ExtendedSet set = ExtendedSet::None;  // of OpExtInst
  std::span<const ReadOperand> operands;

  // A literal string at an operand's place; the reader has seen its end.
  std::string text(const ReadOperand& operand) const {
    return string_of(words.subspan(operand.at, operand.words));
  }
};

// The types of numbers, by the ids that declare them and the ids that have them. The assembler
// keeps the same.
class NumberTypes {
 public:
  // After OpTypeInt or OpTypeFloat; `operands` follow the result.
  void declare_type(Opcode opcode, Word result, std::span<const Word> operands);
  void declare_value(Word result, Word type) { values_[result] = type; }
  // None when the id is no type of numbers.
  NumberType of_type(Word type) const;
  NumberType of_value(Word value) const;

 private:
  std::unordered_map<Word, NumberType> types_;
  std::unordered_map<Word, Word> values_;  // those whose type is a number's
};

// The module of some bytes, which may be in either order; LoadError when they are no module.
std::vector<Word> words_of(std::span<const std::byte> bytes);

class Reader {
 public:
  // LoadError when the header is not one. The words are in the order of the host.
  explicit Reader(std::span<const Word> words);

  const Header& header() const { return header_; }
  // False at the end. LoadError names the word and what is wrong with it.
  bool next(ReadInstruction* instruction);

 private:
  [[noreturn]] void fail(size_t word, const std::string& what) const;
  void read_operands();
  void push(std::span<const OperandRule> rules);
  void one(Kind kind);
  void id(Kind kind);
  void literal(Kind kind, NumberType type);
  void string(Kind kind);
  void extended_number();
  void spec_constant_opcode();
  void enumerated(Kind kind);
  NumberType literal_type() const;
  void note();

  std::span<const Word> words_;
  Header header_;
  size_t next_ = kHeaderWords;

  ReadInstruction now_;
  size_t at_ = 0;  // the next word of the instruction
  std::vector<ReadOperand> operands_;
  std::vector<std::span<const OperandRule>> pending_;  // the innermost last
  NumberTypes types_;
  std::unordered_map<Word, ExtendedSet> sets_;
};

}  // namespace lcpy::spirv
