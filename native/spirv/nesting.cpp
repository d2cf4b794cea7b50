#include "spirv/nesting.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace lcpy::spirv {

// Depth first, the ways that come last in the text being gone first: what is left behind last is
// first. A block gets its level from the first that leads to it: a merge block that of its header,
// a continue block one more, what is between two more.
Nesting nesting(std::span<const BlockEdges> blocks) {
  std::unordered_map<Word, size_t> places;
  for (size_t k = 0; k < blocks.size(); k++) places[blocks[k].label] = k;
  Nesting made;
  made.levels.assign(blocks.size(), 0);
  if (blocks.empty()) return made;
  std::vector<bool> placed(blocks.size(), false), seen(blocks.size(), false);
  placed[0] = true;

  struct Step {
    size_t block;
    bool leaves;
  };
  std::vector<Step> open = {{0, false}};
  std::vector<size_t> left;
  while (!open.empty()) {
    const Step step = open.back();
    open.pop_back();
    if (step.leaves) {
      left.push_back(step.block);
      continue;
    }
    if (seen[step.block]) continue;
    seen[step.block] = true;
    open.push_back({step.block, true});
    const BlockEdges& b = blocks[step.block];
    const uint32_t level = made.levels[step.block];
    const auto each = [&](auto&& visit, Word label) {
      if (const auto found = places.find(label); label && found != places.end())
        visit(found->second);
    };
    const auto at = [&](Word label, uint32_t depth) {
      each(
          [&](size_t to) {
            if (placed[to]) return;
            placed[to] = true;
            made.levels[to] = depth;
          },
          label);
    };
    at(b.merge, level);
    at(b.next_turn, level + 1);
    for (const Word side : b.sides) at(side, level + 2);
    at(b.body, level + 2);
    at(b.next, level);
    for (const Word label : b.cases) at(label, level + 2);
    const auto go = [&](Word label) {
      each([&](size_t to) { open.push_back({to, false}); }, label);
    };
    for (const Word side : b.sides) go(side);
    go(b.body);
    go(b.next);
    for (const Word label : b.cases) go(label);
    go(b.next_turn);
    go(b.merge);
  }
  made.order.assign(left.rbegin(), left.rend());
  for (size_t k = 0; k < blocks.size(); k++) {
    if (seen[k]) continue;
    made.order.push_back(k);
    made.levels[k] = 0;
  }
  return made;
}

}  // namespace lcpy::spirv
