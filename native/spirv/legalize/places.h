// Where pointers of a function point: a variable or parameter, and the indices from there on.
// Pointers to neighbours, chosen pointers and pointers that loops carry become indices.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "spirv/legalize/editor.h"

namespace lcpy::spirv {

struct Place {
  Word root = 0;
  std::vector<Word> path;
};

// Whether a pointer may be chosen, carried or moved by elements: by the module's capabilities.
bool pointers_vary(const Editor& editor, StorageClass storage);
// Whether an instruction gives a pointer that logical addressing does not know.
bool gives_free_pointer(const Editor& editor, const Instruction& instruction);

class Places {
 public:
  Places(Editor& editor, Editor::Code& code);
  const Place& of(Word pointer);
  // Instructions that come before another, or first in its block.
  void put_before(const Instruction* where, Instruction* what) { before_[where].push_back(what); }
  void put_first(const Instruction* where, Instruction* what);
  void drop(const Instruction* what) { dropped_.insert(what); }
  // Behind the phis of the block, or the variables of the first.
  const Instruction* behind_phis(const Instruction* where);
  // The code with all that.
  void write();

 private:
  Place resolve(const Instruction& i);
  Place step(const Instruction& i);
  Place choose(const Instruction& i);
  void carry(const Instruction& i);
  void append(Place* place, std::span<const Word> indices) const;
  bool moves(const Place& place, size_t step) const;
  void same_shape(const Instruction& i, const Place& a, const Place& b) const;
  Word sum(const Instruction& i, Word index, Word element);
  // An index as a value of a type, written before an instruction.
  Word as_type(const Instruction& i, Word index, Word type, const Instruction* where);
  const Instruction* terminator(const Instruction& phi, Word label) const;
  size_t block(const Instruction* where) const;

  Editor& e_;
  Editor::Code& code_;
  std::unordered_map<Word, Place> known_;
  std::unordered_set<Word> busy_;
  std::unordered_map<const Instruction*, size_t> block_of_;  // where its label stands
  std::unordered_map<Word, size_t> labels_;
  std::unordered_map<size_t, size_t> last_;  // of each block, by place of the label
  std::unordered_map<size_t, const Instruction*> behind_;
  std::unordered_map<const Instruction*, Editor::Code> before_;
  std::unordered_map<size_t, Editor::Code> first_;  // by place of the label
  std::unordered_set<const Instruction*> dropped_;
};

}  // namespace lcpy::spirv
