// Modules of anyone's, fitted to logical addressing.
#pragma once
#include <span>
#include <vector>

#include "spirv/encode.h"

namespace lcpy::spirv {

struct Fixups {
  bool values = true;      // spill_values
  bool pointers = true;    // settle_pointers
  bool parameters = true;  // settle_parameters
  bool physical = true;    // drop_physical, and refusal of what is left
};

// The module, or the same words where they were legal. LoadError when they are no module;
// UnsupportedError names the instruction that cannot be made logical.
std::vector<Word> legalize(std::span<const Word> words, const Fixups& fixups = {});

}  // namespace lcpy::spirv
