// A module at hand: where each id is defined, what it is called and decorated with, and where the
// functions and their blocks stand. One pass over the words, which stay the caller's.
#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "spirv/reader.h"

namespace lcpy::spirv {

class ModuleIndex {
 public:
  // LoadError when the words are no module, or define an id twice.
  explicit ModuleIndex(std::span<const Word> words);

  const Header& header() const { return header_; }
  std::span<const Word> words() const { return words_; }

  // The instruction that defines an id, whole; empty when none does.
  std::span<const Word> definition(Word id) const;
  // What defines it; Nop when nothing does.
  Opcode opcode(Word id) const;
  // The type of a value; 0 of what has none.
  Word type_of(Word id) const;
  // The bits of an integer constant of at most 64 bits, or a specialisation constant's default.
  bool constant(Word id, uint64_t* value) const;

  static constexpr uint32_t kWhole = ~0u;
  struct Decorated {
    uint32_t member;  // kWhole: of the id itself
    Decoration decoration;
    std::span<const Word> operands;
  };
  // Its own, and those of groups that it is of, in their order.
  std::span<const Decorated> decorations(Word id) const;
  bool decorated(Word id, Decoration decoration, uint32_t member = kWhole) const;
  // The first operand of a decoration.
  bool decoration(Word id, Decoration decoration, uint32_t* operand,
                  uint32_t member = kWhole) const;
  std::string name(Word id) const;  // by OpName; empty without
  std::string name(Word id, uint32_t member) const;

  struct Block {
    Word label = 0;
    size_t first = 0, end = 0;  // words: from OpLabel to behind the terminator
  };
  struct Function {
    Word id = 0;
    size_t first = 0, end = 0;  // from OpFunction to behind OpFunctionEnd
    std::vector<Block> blocks;
  };
  std::span<const Function> functions() const { return functions_; }
  // Instructions before the first function, by opcode, in their order.
  std::span<const size_t> places(Opcode opcode) const;
  std::span<const Word> at(size_t place) const {
    return words_.subspan(place, words_[place] >> 16);
  }

 private:
  void note(const ReadInstruction& i);
  void structure(const ReadInstruction& i);

  std::span<const Word> words_;
  Header header_;
  struct Definition {
    size_t at;
    Word type;
  };
  std::unordered_map<Word, Definition> definitions_;
  std::unordered_map<Word, std::vector<Decorated>> decorations_;
  std::unordered_map<Word, size_t> names_;
  std::unordered_map<uint64_t, size_t> member_names_;
  std::unordered_map<uint32_t, std::vector<size_t>> places_;
  std::vector<Function> functions_;
  bool in_function_ = false, in_block_ = false;
};

}  // namespace lcpy::spirv
