// Modules as assembly text, in the form of SPIRV-Tools' `spirv-dis`, byte for byte.
#pragma once
#include <span>
#include <string>

#include "spirv/encode.h"

namespace lcpy::spirv {

struct DisassembleOptions {
  bool raw_ids = false;   // %12 in place of %float
  bool indent = true;     // `=` and instructions stand below one another
  bool header = true;     // version, generator, bound and schema, as comments
  bool offsets = false;   // of each instruction's first byte, as a comment
  bool colors = false;    // escape sequences of a terminal
  bool comments = false;  // titles of a module's parts, decorations beside what they decorate
  bool nested = false;    // blocks are indented as control flow nests them
  bool reorder = false;   // blocks in the order in which they read best, not the module's
};
// LoadError when the words are no module; the text of what came before is lost.
std::string disassemble(std::span<const Word> words, const DisassembleOptions& options = {});

}  // namespace lcpy::spirv
