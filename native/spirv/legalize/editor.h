// A module that fixups change: its instructions one by one, found by what they define.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "spirv/reader.h"

namespace lcpy::spirv {

struct Instruction {
  std::vector<Word> words;
  std::vector<uint16_t> ids;  // where among the words ids stand, type and result included
  size_t at = 0;              // the word in the module it came from or was made for
  uint16_t type_at = 0, result_at = 0;
  bool global = false;  // it stands before the functions

  Opcode opcode() const { return static_cast<Opcode>(words[0] & 0xffff); }
  Word type() const { return type_at ? words[type_at] : 0; }
  Word result() const { return result_at ? words[result_at] : 0; }
  // Without type and result.
  std::span<const Word> operands() const {
    return std::span(words).subspan(1u + (type_at != 0) + (result_at != 0));
  }
  void resize() { words[0] = static_cast<Word>(words.size()) << 16 | (words[0] & 0xffff); }
};

class Editor {
 public:
  // The words stay the caller's, and alive. LoadError when they are no module.
  explicit Editor(std::span<const Word> words);

  using Code = std::vector<Instruction*>;
  Code head;                   // all before the first function
  std::deque<Code> functions;  // each from OpFunction to OpFunctionEnd
  bool changed = false;

  // The module as it now is.
  std::vector<Word> words() const;

  Instruction* definition(Word id) const;
  Opcode opcode_of(Word id) const;  // Nop of what nothing defines
  Word type_of(Word value) const;
  // The value of an OpConstant of at most 32 bits, or of OpConstantNull.
  std::optional<uint32_t> constant(Word id) const;
  // What the module declared when it came.
  bool has(Capability capability) const { return capabilities_.contains(to_word(capability)); }

  // Types, by id.
  bool is_pointer(Word type) const { return opcode_of(type) == Opcode::TypePointer; }
  StorageClass storage_of(Word pointer_type) const;
  Word pointee(Word pointer_type) const;  // 0 of what is no pointer
  // Of an integer type; 0 bits of what is none.
  struct Integer {
    uint32_t bits = 0;
    bool is_signed = false;
  };
  Integer integer_type(Word type) const;
  // What an index into a composite reaches; 0 where it reaches nothing.
  Word component(Word composite, Word index) const;
  bool is_array(Word type) const;  // whose elements all have one type, matrices and vectors too

  Word new_id() { return bound_++; }
  // An instruction all of whose operands are ids; it stands nowhere yet.
  Instruction* make(Opcode opcode, Word type, Word result, std::span<const Word> ids, size_t at);
  Instruction* copy(const Instruction& other);
  // Its result is now what it says: after another instruction, or id, has become it.
  void define(Instruction* instruction);
  // Puts one among the globals, behind all others.
  void add_global(Instruction* instruction);
  // Found among the globals, or added to them.
  Word pointer_type(StorageClass storage, Word pointee);
  Word function_type(Word result, std::span<const Word> parameters);
  Word integer(Word type, uint32_t value);

  // The ids that are used, not counting names and decorations.
  std::unordered_set<Word> uses() const;
  // Forgets names and decorations of ids that are gone.
  void forget(const std::unordered_set<Word>& gone);

  // UnsupportedError: the instruction's text, and why it cannot be made logical.
  [[noreturn]] void refuse(const Instruction& instruction, const std::string& reason) const;

 private:
  using Key = std::vector<Word>;  // opcode, type, operands
  static Key key_of(Opcode opcode, Word type, std::span<const Word> operands);
  Word find_global(Opcode opcode, Word type, std::span<const Word> operands) const;

  std::span<const Word> original_;
  Header header_;
  Word bound_ = 0;
  std::deque<Instruction> all_;
  std::unordered_map<Word, Instruction*> definitions_;
  std::unordered_set<Word> capabilities_;
  std::map<Key, Word> globals_;  // types and constants that may be asked for
};

}  // namespace lcpy::spirv
