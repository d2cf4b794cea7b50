// Instructions of control nodes. Where lanes stay together, jumps; where they part, masks. Once no
// lane is on, control goes to the end of the arm, loop body or call ("dead" labels): no memory
// operation ever runs for nobody.
#include "interp/encode.h"

namespace lcpy::interp {

void Encoder::aim(const std::vector<uint32_t>& from, bool dead, uint32_t to) {
  for (uint32_t i : from) {
    const int32_t distance = static_cast<int32_t>(to) - static_cast<int32_t>(i);
    (dead ? out_[i].dead : out_[i].target) = distance;
  }
}

// Branches that all lanes take together have no end of their own for lanes that are gone.
void Encoder::wait_dead(uint32_t region) {
  while (code_.regions[region].type == Region::Type::If && !code_.regions[region].varying)
    region = code_.regions[region].parent;
  labels_[region].dead.push_back(at() - 1);
}

// ---- branches
// ------------------------------------------------------------------------------------

void Encoder::begin_if(const Node& n) {
  Region& r = code_.regions[n.region];
  Labels& l = labels_[n.region];
  r.in_else = false;
  const bool joined = n.joined == Joined::Compare;
  if (r.varying) {
    l.mask = new_cell();
    if (joined)
      compare_lanes(n, l.mask);
    else
      put(n.inverted ? flow::if_not_lanes() : flow::if_lanes(), l.mask, place(n.a));
  } else if (joined) {
    put(flow::jump_compare(n.op, n.type, !n.inverted), 0, place(n.a), place(n.b));
  } else {
    put(n.inverted ? flow::jump_if() : flow::jump_if_not(), 0, place(n.a));
  }
  l.other.push_back(at() - 1);
  const Region& parent = code_.regions[r.parent];
  if (!r.varying && parent.type == Region::Type::Loop && labels_[r.parent].top == at() - 1)
    labels_[r.parent].test = true;
}

void Encoder::compare_lanes(const Node& n, uint32_t rest) {
  Op op = n.op;
  ScalarId a = n.a, b = n.b;
  if (kind(a) == Kind::Uniform) {  // the cell stands right: turn the comparison round
    std::swap(a, b);
    op = op == Op::Less           ? Op::Greater
         : op == Op::Greater      ? Op::Less
         : op == Op::LessEqual    ? Op::GreaterEqual
         : op == Op::GreaterEqual ? Op::LessEqual
                                  : op;
  }
  const bool cell = kind(b) == Kind::Uniform;
  const uint32_t left = as_row(a, 4), right = cell ? place(b) : as_row(b, 4);
  put(loops_.if_compare[compare_index(op)][joined_index(n.type)][cell ? 1 : 0][n.inverted ? 1 : 0],
      rest, left, right);
}

void Encoder::begin_else(const Node& n) {
  Region& r = code_.regions[n.region];
  Labels& l = labels_[n.region];
  r.in_else = true;
  if (r.varying) {
    aim(l.dead, true, at());
    l.dead.clear();
    put(flow::else_lanes(), l.mask);
  } else {
    put(flow::jump());
  }
  l.exit.push_back(at() - 1);
  aim(l.other, false, at());
  l.other.clear();
}

void Encoder::end_if(const Node& n) {
  Region& r = code_.regions[n.region];
  Labels& l = labels_[n.region];
  aim(l.exit, false, at());
  if (!r.varying) {
    aim(l.other, false, at());
    return;
  }
  aim(l.dead, true, at());
  put(r.loses ? flow::end_if_checked() : flow::end_if(), l.mask);
  if (r.loses) wait_dead(r.parent);
  aim(l.other, false, at());  // without an else: nobody went in
  free_cells_.push_back(l.mask);
}

// ---- loops
// ---------------------------------------------------------------------------------------

void Encoder::begin_loop(const Node& n) {
  const Region& r = code_.regions[n.region];
  Labels& l = labels_[n.region];
  if (r.divergent) {
    l.mask = new_cell();
    put(flow::save_mask(), l.mask);
    if (!r.simple) {
      l.set_aside = new_cell();
      put(flow::clear_cell(), l.set_aside);
    }
  }
  l.top = at();
}

void Encoder::latch(const Node& n) {
  const Region& r = code_.regions[n.region];
  Labels& l = labels_[n.region];
  aim(l.edge, false, at());
  aim(l.dead, true, at());
  l.dead.clear();
  if (!r.divergent) return;
  put(flow::latch_collect(), l.set_aside);
  l.other.push_back(at() - 1);
}

void Encoder::end_loop(const Node& n) {
  const Region& r = code_.regions[n.region];
  Labels& l = labels_[n.region];
  aim(l.dead, true, at());
  // A loop that begins with a uniform test goes straight to what follows the test.
  const Instr first = out_[l.top];
  const bool tests = !r.divergent && starts_with_test(n.region);
  if (tests) {
    put(first.fn, first.d, first.a, first.b);
    out_.back().target =
        static_cast<int32_t>(l.top) + first.target - static_cast<int32_t>(at() - 1);
    put(flow::jump());
    out_.back().target = static_cast<int32_t>(l.top) + 1 - static_cast<int32_t>(at() - 1);
  } else {
    put(r.divergent && r.simple ? flow::latch() : flow::jump());
    out_.back().target = static_cast<int32_t>(l.top) - static_cast<int32_t>(at() - 1);
  }
  aim(l.exit, false, at());
  aim(l.other, true, at());
  if (!r.divergent) return;
  uint32_t call = r.parent;
  while (code_.regions[call].type != Region::Type::Call) call = code_.regions[call].parent;
  if (r.returns_inside && code_.regions[call].divergent) {
    put(flow::restore_mask(), l.mask, labels_[call].set_aside);
    wait_dead(r.parent);
  } else {
    put(flow::restore_mask_whole(), l.mask);
  }
  free_cells_.push_back(l.mask);
  if (!r.simple) free_cells_.push_back(l.set_aside);
}

// ---- calls
// ---------------------------------------------------------------------------------------

void Encoder::begin_call(const Node& n) {
  const Region& r = code_.regions[n.region];
  Labels& l = labels_[n.region];
  if (!r.divergent) return;
  l.mask = new_cell();
  l.set_aside = new_cell();
  put(flow::save_mask(), l.mask);
  put(flow::clear_cell(), l.set_aside);
}

void Encoder::end_call(const Node& n) {
  const Region& r = code_.regions[n.region];
  Labels& l = labels_[n.region];
  aim(l.dead, true, at());
  aim(l.exit, false, at());
  if (n.region == 0) {
    put(flow::end());
    return;
  }
  if (!r.divergent) return;
  put(flow::restore_mask_whole(), l.mask);
  free_cells_.push_back(l.mask);
  free_cells_.push_back(l.set_aside);
}

void Encoder::leave(const Node& n) {
  const Region& owner = code_.regions[n.owner];
  Labels& l = labels_[n.owner];
  if (n.leave == LeaveKind::Continue && owner.simple) return;
  if (!owner.divergent) {
    put(flow::jump());
    (n.leave == LeaveKind::Continue ? l.edge : l.exit).push_back(at() - 1);
  } else if (n.leave == LeaveKind::Break) {
    put(flow::leave());
    wait_dead(n.region);
  } else {
    put(flow::leave_into(), l.set_aside);
    wait_dead(n.region);
  }
}

}  // namespace lcpy::interp
