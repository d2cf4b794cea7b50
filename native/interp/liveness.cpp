// Lifetimes: from the first node that writes a scalar to the last that needs it, where what a loop
// reads from outside stays needed to the loop's end. Nodes that nobody needs are dropped before.
#include "interp/ir.h"

namespace lcpy::interp {
namespace {

template <class F>
void each_use(const Code& code, const Node& n, F f) {
  for (ScalarId s : {n.a, n.b, n.c, n.e})
    if (s != kNone) f(s);
  for (uint32_t i = 0; i < n.term_count; ++i) f(code.terms[n.terms + i].index);
  if (n.kind == NodeKind::Store)
    for (uint32_t i = 0; i < n.count; ++i) f(code.lists[n.list + i]);
}

bool is_pure(NodeKind k) {
  return k == NodeKind::Element || k == NodeKind::Mask || k == NodeKind::Convert ||
         k == NodeKind::Choose || k == NodeKind::Load || k == NodeKind::Warp;
}

void drop_unused(Code& code) {
  std::vector<uint32_t> uses(code.scalars.size());
  for (const Node& n : code.nodes) each_use(code, n, [&](ScalarId s) { uses[s]++; });
  std::vector<uint8_t> dead(code.nodes.size());
  for (size_t i = code.nodes.size(); i-- > 0;) {
    Node& n = code.nodes[i];
    if (!is_pure(n.kind)) continue;
    bool needed = n.d != kNone && uses[n.d] != 0;
    if (n.kind == NodeKind::Load)
      for (uint32_t k = 0; k < n.count; ++k) needed |= uses[code.lists[n.list + k]] != 0;
    if (needed) {
      if (n.kind == NodeKind::Load)
        for (uint32_t k = 0; k < n.count; ++k)
          if (uses[code.lists[n.list + k]] == 0) code.lists[n.list + k] = kNone;
      continue;
    }
    each_use(code, n, [&](ScalarId s) { uses[s]--; });
    dead[i] = 1;
  }
  size_t out = 0;
  for (size_t i = 0; i < code.nodes.size(); ++i) {
    if (dead[i]) continue;
    if (out != i) code.nodes[out] = code.nodes[i];
    ++out;
  }
  code.nodes.resize(out);
}

}  // namespace

void find_lifetimes(Code& code) {
  drop_unused(code);
  for (uint32_t i = 0; i < code.nodes.size(); ++i) {
    const Node& n = code.nodes[i];
    if (n.kind == NodeKind::Loop) code.regions[n.region].begin = i;
    if (n.kind == NodeKind::EndLoop) code.regions[n.region].end = i;
  }
  std::vector<uint32_t> home(code.scalars.size(), kNone);  // the loop a scalar was first written in
  std::vector<uint32_t> loops;                             // open ones, outermost first
  for (uint32_t i = 0; i < code.nodes.size(); ++i) {
    const Node& n = code.nodes[i];
    if (n.kind == NodeKind::Loop) loops.push_back(n.region);
    const uint32_t here = loops.empty() ? kNone : loops.back();
    const auto touch = [&](ScalarId s) {
      ScalarInfo& info = code.scalars[s];
      if (info.pinned != Pinned::No) return;
      if (info.first == kNone) {
        info.first = i;
        home[s] = here;
      }
      uint32_t last = i;
      for (size_t k = loops.size(); k-- > 0 && loops[k] != home[s];)
        last = code.regions[loops[k]].end;
      if (last > info.last) info.last = last;
    };
    each_use(code, n, touch);
    if (n.d != kNone) touch(n.d);
    if (n.kind == NodeKind::Load)
      for (uint32_t k = 0; k < n.count; ++k)
        if (code.lists[n.list + k] != kNone) touch(code.lists[n.list + k]);
    if (n.kind == NodeKind::EndLoop) loops.pop_back();
  }
}

}  // namespace lcpy::interp
