#include "spirv/source_line.h"

namespace lcpy::spirv {

// SPIR-V 1.6, 3.52.3: a line holds for what follows, until another, OpNoLine, or the block's end.
SourceLine source_line(std::span<const Word> words, size_t word) {
  Reader reader(words);
  ReadInstruction i;
  std::unordered_map<Word, std::string> files;
  Word file = 0, line = 0, column = 0;
  while (reader.next(&i)) {
    if (i.at > word) break;
    switch (i.info.opcode) {
      case Opcode::String:
        files[i.result] = i.text(i.operands[1]);
        break;
      case Opcode::Line:
        file = i.words[1];
        line = i.words[2];
        column = i.words[3];
        break;
      case Opcode::NoLine:
      case Opcode::Label:
      case Opcode::FunctionEnd:
        file = 0;
        break;
      default:
        break;
    }
    if (word < i.at + i.words.size()) break;
  }
  const auto found = files.find(file);
  if (found == files.end()) return {};
  return {found->second, line, column};
}

}  // namespace lcpy::spirv
