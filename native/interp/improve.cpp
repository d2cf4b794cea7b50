// Fewer and cheaper nodes: values carried by loops or given by branches are computed in place,
// products join the sums that use them, comparisons the branches. The bits stay the same: a joined
// product is still rounded before it is added.
#include "interp/ir.h"

namespace lcpy::interp {
namespace {

constexpr uint32_t kWindow = 24;  // nodes that a product may wait for its sum

bool is_compare(Op op) {
  return op == Op::Less || op == Op::Greater || op == Op::LessEqual || op == Op::GreaterEqual ||
         op == Op::Equal || op == Op::NotEqual;
}

class Improver {
 public:
  explicit Improver(Code& code) : code_(code) {}
  void run() {
    count();
    for (uint32_t i = 0; i < code_.nodes.size(); ++i) {
      const Node& n = code_.nodes[i];
      if (n.kind == NodeKind::Element && (n.op == Op::Add || n.op == Op::Sub)) join_product(i);
      if (n.kind == NodeKind::If) join_comparison(i);
    }
    for (uint32_t i = 0; i < code_.nodes.size(); ++i)
      if (code_.nodes[i].kind == NodeKind::Move) write_in_place(i);
    rename();
    sweep();
  }

 private:
  template <class F>
  void each_use(const Node& n, F f) const {
    for (ScalarId s : {n.a, n.b, n.c, n.e})
      if (s != kNone) f(s);
    for (uint32_t i = 0; i < n.term_count; ++i) f(code_.terms[n.terms + i].index);
    if (n.kind == NodeKind::Store)
      for (uint32_t i = 0; i < n.count; ++i) f(code_.lists[n.list + i]);
  }

  void count() {
    const size_t n = code_.scalars.size();
    uses_.assign(n, 0), defs_.assign(n, 0), def_.assign(n, kNone), last_use_.assign(n, 0);
    renamed_.assign(n, kNone);
    removed_.assign(code_.nodes.size(), 0);
    for (uint32_t i = 0; i < code_.nodes.size(); ++i) {
      const Node& x = code_.nodes[i];
      each_use(x, [&](ScalarId s) { uses_[s]++, last_use_[s] = i; });
      const auto wrote = [&](ScalarId s) { defs_[s]++, def_[s] = i; };
      if (x.d != kNone && x.kind != NodeKind::Declare) wrote(x.d);
      if (x.kind == NodeKind::Load)
        for (uint32_t k = 0; k < x.count; ++k) wrote(code_.lists[x.list + k]);
    }
  }

  // d = a * b, used once, by a sum a few nodes on, in the same arm: the sum takes it over.
  bool product(ScalarId s, uint32_t at) const {
    if (s == kNone || uses_[s] != 1 || defs_[s] != 1) return false;
    const uint32_t from = def_[s];
    const Node& m = code_.nodes[from];
    if (removed_[from] || from >= at || at - from > kWindow) return false;
    if (m.kind != NodeKind::Element || m.op != Op::Mul || m.region != code_.nodes[at].region)
      return false;
    // A bitcast is no node: the product may be one of integers, whose bits the sum reads as floats.
    if (m.type != code_.nodes[at].type) return false;
    if (code_.scalars[s].kind != Kind::Varying) return false;
    for (uint32_t i = from + 1; i < at; ++i) {
      const Node& x = code_.nodes[i];
      if (x.region != m.region) return false;
      if (x.d != kNone && (x.d == m.a || x.d == m.b)) return false;
    }
    return true;
  }
  void join_product(uint32_t i) {
    Node& n = code_.nodes[i];
    if (n.type != Scalar::Float32 && n.type != Scalar::Float64) return;
    if (code_.scalars[n.d].kind != Kind::Varying) return;
    // The later product, when both are: it is nearer.
    const bool left = product(n.a, i), right = product(n.b, i);
    if (!left && !right) return;
    const bool take_right = right && (!left || def_[n.b] > def_[n.a]);
    const uint32_t m = def_[take_right ? n.b : n.a];
    const ScalarId rest = take_right ? n.a : n.b;
    if (code_.scalars[code_.nodes[m].a].kind != Kind::Varying &&
        code_.scalars[code_.nodes[m].b].kind != Kind::Varying)
      return;
    n.joined = n.op == Op::Add ? Joined::MulAdd : take_right ? Joined::SubMul : Joined::MulSub;
    n.a = code_.nodes[m].a, n.b = code_.nodes[m].b, n.c = rest;
    if (code_.scalars[n.a].kind != Kind::Varying) std::swap(n.a, n.b);
    last_use_[n.a] = std::max(last_use_[n.a], i);
    last_use_[n.b] = std::max(last_use_[n.b], i);
    removed_[m] = 1;
  }

  void join_comparison(uint32_t i) {
    Node& n = code_.nodes[i];
    const ScalarId s = n.a;
    if (uses_[s] != 1 || defs_[s] != 1 || def_[s] + 1 != i) return;
    const Node& c = code_.nodes[def_[s]];
    if (c.kind != NodeKind::Element || !is_compare(c.op)) return;
    const bool four =
        c.type == Scalar::Int32 || c.type == Scalar::UInt32 || c.type == Scalar::Float32;
    if (!four) return;
    n.joined = Joined::Compare;
    n.op = c.op, n.type = c.type;
    n.a = c.a, n.b = c.b;
    last_use_[n.a] = std::max(last_use_[n.a], i);
    last_use_[n.b] = std::max(last_use_[n.b], i);
    removed_[def_[s]] = 1;
  }

  // What a node computes and only a move wants is computed where the move would put it, when
  // nothing reads the old value any more, and no lane needs it: for a loop's one edge at the end of
  // its body, lanes that are off have left; for the first arm of a branch, they write later.
  void write_in_place(uint32_t i) {
    Node& n = code_.nodes[i];
    if (n.owner == kNone || n.a == n.d) return;
    const Region& owner = code_.regions[n.owner];
    const bool edge =
        owner.type == Region::Type::Loop && n.leave == LeaveKind::Continue && owner.simple;
    const bool first_arm = owner.type == Region::Type::If && !n.shared_result &&
                           n.region == n.owner &&
                           !(owner.has_else && i > else_of(n.owner) && owner.varying);
    if (!edge && !first_arm) return;
    const ScalarId v = n.a, to = n.d;
    if (defs_[v] != 1 || renamed_[v] != kNone || renamed_[to] != kNone) return;
    const uint32_t from = def_[v];
    const Node& x = code_.nodes[from];
    if (removed_[from] || x.d != v || x.region != n.region || from > i) return;
    if (first_arm && owner.has_else && (from > else_of(n.owner)) != (i > else_of(n.owner))) return;
    const ScalarInfo &a = code_.scalars[v], &b = code_.scalars[to];
    const bool same_place = a.kind == b.kind && scalar_size(a.type) == scalar_size(b.type) &&
                            (a.type == Scalar::Bool) == (b.type == Scalar::Bool);
    if (!same_place || a.pinned != Pinned::No) return;
    if (x.kind != NodeKind::Element && x.kind != NodeKind::Convert && x.kind != NodeKind::Choose &&
        x.kind != NodeKind::Mask)
      return;
    if (edge && last_use_[to] > from && uses_[to] != 0) return;
    renamed_[v] = to;
    removed_[i] = 1;
    last_use_[to] = std::max(last_use_[to], last_use_[v]);
  }
  uint32_t else_of(uint32_t region) {
    if (else_.empty()) {
      else_.assign(code_.regions.size(), kNone);
      for (uint32_t i = 0; i < code_.nodes.size(); ++i)
        if (code_.nodes[i].kind == NodeKind::Else) else_[code_.nodes[i].region] = i;
    }
    return else_[region];
  }

  void rename() {
    const auto fix = [&](ScalarId& s) {
      if (s != kNone && renamed_[s] != kNone) s = renamed_[s];
    };
    for (Node& n : code_.nodes) fix(n.d), fix(n.a), fix(n.b), fix(n.c), fix(n.e);
    for (Term& t : code_.terms) fix(t.index);
    for (ScalarId& s : code_.lists) fix(s);
  }
  void sweep() {
    size_t out = 0;
    for (size_t i = 0; i < code_.nodes.size(); ++i) {
      if (removed_[i]) continue;
      if (out != i) code_.nodes[out] = code_.nodes[i];
      ++out;
    }
    code_.nodes.resize(out);
  }

  Code& code_;
  std::vector<uint32_t> uses_, defs_, def_, last_use_, else_;
  std::vector<ScalarId> renamed_;
  std::vector<uint8_t> removed_;
};

}  // namespace

void improve(Code& code) { Improver(code).run(); }

}  // namespace lcpy::interp
