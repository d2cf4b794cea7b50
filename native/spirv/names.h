// Names for ids, as `spirv-dis` gives them: what OpName says, else what a type, a constant or a
// builtin is, made of letters, digits and `_`, and each given once.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "spirv/reader.h"

namespace lcpy::spirv {

class FriendlyNames {
 public:
  // Reads the whole module; stops without a word where it is damaged.
  explicit FriendlyNames(std::span<const Word> words);

  void write(std::string& out, Word id) const;  // without "%"

 private:
  void name(const ReadInstruction& i);
  void save(Word id, std::string_view suggested);
  std::string of(Word id) const;

  struct Place {
    uint32_t at = 0, length = 0;  // in text_; of length 0: the id's number
    bool given = false;
  };
  Place& place(Word id);
  const Place* find(Word id) const;
  std::vector<Place> places_;                // by id, as many as the module can define
  std::unordered_map<Word, Place> distant_;  // of larger ids
  std::string text_;
  std::unordered_set<std::string> used_;
  std::string scratch_;
  bool numbers_used_ = false;  // some name is a number, which may be another id's
};

}  // namespace lcpy::spirv
