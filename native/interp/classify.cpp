// Which scalars differ between lanes, and which loops and calls lanes leave at different times.
// Kinds only grow; passes repeat until what flows along back edges is stable.
#include "interp/ir.h"

namespace lcpy::interp {
namespace {

class Classifier {
 public:
  explicit Classifier(Code& code) : code_(code) {}
  void run() {
    do {
      changed_ = false;
      for (const Node& n : code_.nodes) visit(n);
    } while (changed_);
    for (ScalarInfo& s : code_.scalars)
      if (s.kind == Kind::Unknown) s.kind = Kind::Uniform;
  }

 private:
  Kind kind(ScalarId s) const {
    const Kind k = code_.scalars[s].kind;
    return k == Kind::Unknown ? Kind::Uniform : k;
  }
  bool uniform(ScalarId s) const { return s == kNone || kind(s) == Kind::Uniform; }
  bool set(ScalarId s, Kind k) {
    Kind& old = code_.scalars[s].kind;
    const Kind now = join(old, k);
    const bool grew = now != old;
    old = now;
    return grew;
  }

  Kind of_element(const Node& n) const {
    if (uniform(n.a) && uniform(n.b) && uniform(n.c)) return Kind::Uniform;
    const bool wide = scalar_class(n.type) != ScalarClass::Float && scalar_size(n.type) >= 4;
    if (!wide) return Kind::Varying;
    const bool add = n.op == Op::Add || n.op == Op::Sub;
    if (add && kind(n.a) == Kind::Linear && uniform(n.b)) return Kind::Linear;
    if (n.op == Op::Add && kind(n.b) == Kind::Linear && uniform(n.a)) return Kind::Linear;
    return Kind::Varying;
  }
  Kind of_choice(const Node& n) const {
    return uniform(n.a) ? join(kind(n.b), kind(n.c)) : Kind::Varying;
  }

  // Lanes do not pass this edge together.
  bool apart(const Node& n) const {
    const Region& owner = code_.regions[n.owner];
    if (owner.type == Region::Type::If) {
      for (uint32_t r = n.region;; r = code_.regions[r].parent) {
        if (code_.regions[r].type == Region::Type::If && code_.regions[r].varying) return true;
        if (r == n.owner) return false;
      }
    }
    if (owner.type == Region::Type::Loop && n.leave == LeaveKind::Continue)
      return owner.divergent && owner.continues > 1;
    return owner.divergent;
  }

  void diverge(uint32_t region) {
    Region& r = code_.regions[region];
    changed_ |= !r.divergent;
    r.divergent = true;
  }

  void leave(const Node& n) {
    bool apart = false;
    for (uint32_t r = n.region; r != n.owner; r = code_.regions[r].parent) {
      Region& x = code_.regions[r];
      x.loses = true;
      apart |= x.type == Region::Type::If ? x.varying : x.divergent;
    }
    // Where the owner is left at different times for another reason, this edge too only takes lanes
    // off, and the loops around it must notice that none is left.
    if (!apart && !code_.regions[n.owner].divergent) return;
    for (uint32_t r = n.region; r != n.owner; r = code_.regions[r].parent)
      if (code_.regions[r].type != Region::Type::If) diverge(r);
    diverge(n.owner);
  }

  void visit(const Node& n) {
    switch (n.kind) {
      case NodeKind::Element:
        set(n.d, of_element(n));
        break;
      case NodeKind::Mask:
        set(n.d, uniform(n.a) && uniform(n.b) ? Kind::Uniform : Kind::Varying);
        break;
      case NodeKind::Convert:
        set(n.d, uniform(n.a) ? Kind::Uniform : Kind::Varying);
        break;
      case NodeKind::Choose:
        set(n.d, of_choice(n));
        break;
      case NodeKind::Load: {
        bool same = !n.lanes;
        for (uint32_t i = 0; i < n.term_count; ++i) same &= uniform(code_.terms[n.terms + i].index);
        for (uint32_t i = 0; i < n.count; ++i)
          set(code_.lists[n.list + i], same ? Kind::Uniform : Kind::Varying);
        break;
      }
      case NodeKind::Atomic:
      case NodeKind::Warp:
        set(n.d, Kind::Varying);
        break;
      case NodeKind::Move: {
        Kind k = kind(n.a);
        if (n.owner != kNone && apart(n)) k = Kind::Varying;
        changed_ |= set(n.d, k);
        break;
      }
      case NodeKind::If: {
        Region& r = code_.regions[n.region];
        r.varying |= !uniform(r.condition);
        break;
      }
      case NodeKind::Leave:
        leave(n);
        break;
      case NodeKind::Store:
      case NodeKind::Declare:
      case NodeKind::Else:
      case NodeKind::EndIf:
      case NodeKind::Loop:
      case NodeKind::Latch:
      case NodeKind::EndLoop:
      case NodeKind::Call:
      case NodeKind::EndCall:
      case NodeKind::Barrier:
        break;
    }
  }

  Code& code_;
  bool changed_ = false;
};

}  // namespace

void classify(Code& code) { Classifier(code).run(); }

}  // namespace lcpy::interp
