// In which order a function's blocks read best, and how deep each stands: as `spirv-dis` has it
// with
// --reorder-blocks and --nested-indent.
#pragma once
#include <span>
#include <vector>

#include "spirv/encode.h"

namespace lcpy::spirv {

// A block by its last two instructions; ids are 0 where there is none.
struct BlockEdges {
  Word label = 0;
  Word merge = 0, next_turn = 0;  // of a merge instruction
  Word body = 0, next = 0;        // of OpBranch: behind a merge instruction, and without one
  std::vector<Word> sides;        // of OpBranchConditional
  std::vector<Word> cases;        // of OpSwitch, the default first
};

struct Nesting {
  std::vector<size_t> order;     // of the blocks; those that nothing reaches last
  std::vector<uint32_t> levels;  // by block
};
// Linear in the blocks and their edges; edges to labels that are not among them count as none.
Nesting nesting(std::span<const BlockEdges> blocks);

}  // namespace lcpy::spirv
