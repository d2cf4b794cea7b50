// Computations of a loop whose operands come from outside go before it. They read no memory and
// cannot fail, so it does not matter if the loop would not have come to them.
#include <algorithm>

#include "interp/ir.h"

namespace lcpy::interp {
namespace {

bool movable(NodeKind k) {
  return k == NodeKind::Element || k == NodeKind::Mask || k == NodeKind::Convert ||
         k == NodeKind::Choose;
}

}  // namespace

void hoist(Code& code) {
  bool has_loops = false;
  for (const Region& r : code.regions) has_loops |= r.type == Region::Type::Loop;
  if (!has_loops) return;
  std::vector<uint8_t> defs(code.scalars.size());
  // Open loops where a scalar is written, at the most: what a loop carries belongs to the loop.
  std::vector<uint32_t> depth(code.scalars.size());
  uint32_t loops = 0;
  for (const Node& n : code.nodes) {
    loops += n.kind == NodeKind::Loop;
    const auto wrote = [&](ScalarId s) {
      if (defs[s] < 2) defs[s]++;
      depth[s] = std::max(depth[s], loops);
    };
    if (n.d != kNone) wrote(n.d);
    if (n.kind == NodeKind::Load)
      for (uint32_t i = 0; i < n.count; ++i) wrote(code.lists[n.list + i]);
    loops -= n.kind == NodeKind::EndLoop;
  }
  // What is to go before each open loop, and where the loop's own nodes begin: its initial moves
  // stand before the Loop node, and what is hoisted may go between.
  struct Open {
    uint32_t region;
    uint32_t parent_region;
    std::vector<Node> before, body;
  };
  std::vector<Open> open;
  std::vector<Node> out;
  out.reserve(code.nodes.size());
  const auto sink = [&]() -> std::vector<Node>& { return open.empty() ? out : open.back().body; };
  for (Node& n : code.nodes) {
    if (n.kind == NodeKind::Loop) {
      open.push_back({n.region, code.regions[n.region].parent, {}, {}});
      open.back().body.push_back(n);
      continue;
    }
    const uint32_t here = static_cast<uint32_t>(open.size());
    if (movable(n.kind) && here > 0 && defs[n.d] == 1) {
      uint32_t needed = 0;
      for (ScalarId s : {n.a, n.b, n.c})
        if (s != kNone && depth[s] > needed) needed = depth[s];
      if (needed < here) {
        n.region = open[needed].parent_region;
        depth[n.d] = needed;
        open[needed].before.push_back(n);
        continue;
      }
    }
    sink().push_back(n);
    if (n.kind == NodeKind::EndLoop) {
      Open done = std::move(open.back());
      open.pop_back();
      std::vector<Node>& to = sink();
      to.insert(to.end(), done.before.begin(), done.before.end());
      to.insert(to.end(), done.body.begin(), done.body.end());
    }
  }
  code.nodes = std::move(out);
}

}  // namespace lcpy::interp
