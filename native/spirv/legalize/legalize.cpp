#include "spirv/legalize/legalize.h"

#include "spirv/legalize/fixups.h"

namespace lcpy::spirv {

std::vector<Word> legalize(std::span<const Word> words, const Fixups& fixups) {
  Editor editor(words);
  if (fixups.values) spill_values(editor);
  if (fixups.parameters) settle_parameters(editor);
  if (fixups.pointers)
    for (Editor::Code& function : editor.functions) settle_pointers(editor, function);
  if (fixups.physical) drop_physical(editor);
  if (fixups.physical) require_logical(editor);
  if (!editor.changed) return {words.begin(), words.end()};
  return editor.words();
}

}  // namespace lcpy::spirv
