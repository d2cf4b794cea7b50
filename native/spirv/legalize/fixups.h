// The fixups, each of which leaves what is legal as it is. In the order in which they are made.
#pragma once
#include "spirv/legalize/editor.h"

namespace lcpy::spirv {

// Access chains into values: the value is kept in a variable.
void spill_values(Editor& editor);
// Pointers moved by elements, chosen or carried by loops: chains with indices that are.
void settle_pointers(Editor& editor, Editor::Code& function);
// Pointers given to functions that they may not be given: the functions are made for where they
// point. Settles pointers on the way, callers first.
void settle_parameters(Editor& editor);
// Addressing, capabilities, decorations and memory operands of physical modules, and linkage.
void drop_physical(Editor& editor);
// UnsupportedError where anything is left that logical addressing does not know.
void require_logical(const Editor& editor);

}  // namespace lcpy::spirv
