// Structure: branches, loops and calls become regions, and the values that cross their edges moves.
#include "interp/flatten.h"

#include "kernel/walk.h"

namespace lcpy::interp {

Code Flattener::run() {
  code_.regions.emplace_back();
  code_.regions[0].type = Region::Type::Call;
  region_ = 0;
  node(NodeKind::Call);
  const Scalars none;
  return_to_ = {&none, nullptr, 0, false};
  body(d_.functions[0].body);
  node(NodeKind::EndCall);
  return std::move(code_);
}

void Flattener::body(BodyId b) {
  for (OpId id : d_.body(b).ops) {
    const Operation& o = d_.op(id);
    (this->*flatten_row(o.op))(o);
  }
}

uint32_t Flattener::open(Region::Type type, NodeKind kind) {
  const uint32_t r = static_cast<uint32_t>(code_.regions.size());
  code_.regions.emplace_back();
  code_.regions[r].type = type;
  code_.regions[r].parent = region_;
  region_ = r;
  code_.regions[r].begin = static_cast<uint32_t>(code_.nodes.size());
  node(kind);
  return r;
}
void Flattener::close(NodeKind kind) {
  code_.regions[region_].end = static_cast<uint32_t>(code_.nodes.size());
  node(kind);
  region_ = code_.regions[region_].parent;
}
uint32_t Flattener::enclosing(Region::Type type) const {
  uint32_t r = region_;
  while (code_.regions[r].type != type) r = code_.regions[r].parent;
  return r;
}

Flattener::Scalars Flattener::fresh_for(ValueId first, uint32_t count) {
  Scalars out;
  for (uint32_t i = 0; i < count; ++i) {
    const LeafRange r = leaves(d_.type_of(ValueId(first.value + i)));
    for (uint32_t k = 0; k < r.count; ++k) out.push_back(fresh(code_.leaves[r.begin + k].type));
  }
  return out;
}
Flattener::Scalars Flattener::gather(const Operation& o, uint32_t first) {
  Scalars out;
  for (uint32_t i = first; i < o.operand_count; ++i) {
    const auto p = args(o, i);
    out.insert(out.end(), p.begin(), p.end());
  }
  return out;
}
void Flattener::move(ScalarId to, ScalarId from, uint32_t owner, bool shared) {
  Node& n = node(NodeKind::Move);
  n.type = code_.scalars[to].type;
  n.d = to, n.a = from;
  n.owner = owner;
  n.shared_result = shared;
}
void Flattener::declare(std::span<const ScalarId> scalars) {
  for (ScalarId s : scalars) node(NodeKind::Declare).d = s;
}

// ---- branches
// ------------------------------------------------------------------------------------

bool Flattener::empty_arm(BodyId b) const {
  const auto& ops = d_.body(b).ops;
  return ops.size() == 1 && d_.op(ops[0]).op == Op::Yield && d_.op(ops[0]).operand_count == 0;
}

bool Flattener::yields(BodyId b) const {
  return d_.op(d_.body(b).ops.back()).op == Op::Yield;
}

void Flattener::arm(BodyId b, const Scalars& results, uint32_t owner, bool shared) {
  const Exit outer = yield_;
  yield_ = {&results, nullptr, owner, shared};
  body(b);
  yield_ = outer;
}

void Flattener::inline_body(BodyId b, Scalars& out) {
  const Exit outer = yield_;
  yield_ = {nullptr, &out, kNone, false};
  body(b);
  yield_ = outer;
}

void Flattener::branch(ScalarId condition, const Operation& o, BodyId then_body, BodyId else_body) {
  const bool swap = empty_arm(then_body) && !empty_arm(else_body);
  if (swap) std::swap(then_body, else_body);
  const Scalars results = fresh_for(o.first_result, o.result_count);
  // Where both arms leave, what comes after is reached by nobody, and is encoded all the same.
  if (!yields(then_body) && !yields(else_body)) declare(results);
  const uint32_t r = open(Region::Type::If, NodeKind::If);
  code_.regions[r].condition = condition;
  code_.nodes.back().a = condition;
  code_.nodes.back().inverted = swap;
  arm(then_body, results, r, false);
  if (!empty_arm(else_body)) {
    code_.regions[r].has_else = true;
    code_.regions[r].in_else = true;
    node(NodeKind::Else);
    arm(else_body, results, r, false);
  }
  close(NodeKind::EndIf);
  define_results(o, results);
}

void Flattener::if_(const Operation& o) {
  const ScalarId condition = part(operand(o, 0).value());
  const BodyId then_body = operand(o, 1).body(), else_body = operand(o, 2).body();
  const bool known = code_.scalars[condition].pinned == Pinned::Constant;
  if (!known) return branch(condition, o, then_body, else_body);
  Scalars out;
  inline_body(code_.scalars[condition].bits != 0 ? then_body : else_body, out);
  if (out.empty()) {  // the body left instead of yielding: nobody sees these
    for (ScalarId s : fresh_for(o.first_result, o.result_count))
      out.push_back(constant(code_.scalars[s].type, 0));
  }
  define_results(o, out);
}

// A switch is a chain of branches that write the same results.
void Flattener::switch_(const Operation& o) {
  const Scalars results = fresh_for(o.first_result, o.result_count);
  declare(results);
  cases(o, 2, &results, kNone);
  define_results(o, results);
}
void Flattener::cases(const Operation& o, uint32_t at, const Scalars* results, uint32_t owner) {
  if (at >= o.operand_count) {
    if (owner == kNone) {  // a default alone
      Scalars out;
      inline_body(operand(o, 1).body(), out);
      for (size_t i = 0; i < out.size(); ++i) move((*results)[i], out[i], kNone);
    } else {
      arm(operand(o, 1).body(), *results, owner, true);
    }
    return;
  }
  const Scalar type = type_of(o, 0).scalar();
  const ScalarId selector = part(operand(o, 0).value());
  ScalarId condition = kNone;
  for (; operand(o, at).is_value(); ++at) {
    const ScalarId hit =
        emit(Op::Equal, type, Scalar::Bool, selector, part(operand(o, at).value()));
    condition =
        condition == kNone ? hit : emit(Op::BitOr, Scalar::Bool, Scalar::Bool, condition, hit);
  }
  const uint32_t r = open(Region::Type::If, NodeKind::If);
  code_.regions[r].condition = condition;
  code_.nodes.back().a = condition;
  const uint32_t top = owner == kNone ? r : owner;
  arm(operand(o, at).body(), *results, top, true);
  code_.regions[r].has_else = true;
  code_.regions[r].in_else = true;
  node(NodeKind::Else);
  cases(o, at + 1, results, top);
  close(NodeKind::EndIf);
}

void Flattener::yield(const Operation& o) {
  const Scalars values = gather(o, 0);
  if (yield_.alias != nullptr) {
    *yield_.alias = values;
    return;
  }
  Region& r = code_.regions[yield_.owner];
  (r.in_else ? r.else_yields : r.then_yields) = true;
  for (size_t i = 0; i < values.size(); ++i)
    move((*yield_.to)[i], values[i], yield_.owner, yield_.shared);
}

// ---- loops
// ---------------------------------------------------------------------------------------

namespace {

uint32_t count_in_this_loop(const KernelDescriptor& d, BodyId b, Op op) {
  uint32_t n = 0;
  for (OpId id : d.body(b).ops) {
    const Operation& o = d.op(id);
    n += o.op == op;
    if (o.op != Op::If && o.op != Op::Switch) continue;
    for (const Operand& x : d.operands_of(o))
      if (x.kind == Operand::Kind::Body) n += count_in_this_loop(d, x.body(), op);
  }
  return n;
}

}  // namespace

void Flattener::loop(const Operation& o) {
  const BodyId b = operand(o, 0).body();
  const auto& params = d_.body(b).params;
  const Scalars results = fresh_for(o.first_result, o.result_count);
  const Scalars initial = gather(o, 1);
  Scalars carried;
  for (ValueId p : params) {
    const Scalars s = fresh_for(p, 1);
    define(p, s);
    carried.insert(carried.end(), s.begin(), s.end());
  }
  for (size_t i = 0; i < carried.size(); ++i) move(carried[i], initial[i], kNone);
  declare(results);
  const uint32_t continues = count_in_this_loop(d_, b, Op::Continue);
  const bool simple = continues == 1 && d_.op(d_.body(b).ops.back()).op == Op::Continue;
  Scalars next;
  if (!simple) {
    for (ScalarId s : carried) next.push_back(fresh(code_.scalars[s].type));
    declare(next);
  }
  const uint32_t r = open(Region::Type::Loop, NodeKind::Loop);
  Region& region = code_.regions[r];
  region.simple = simple;
  region.continues = continues;
  region.carried = carried;
  region.next = next;
  region.results = results;
  const Exit outer = yield_;
  body(b);
  yield_ = outer;
  if (!simple) {
    node(NodeKind::Latch);
    for (size_t i = 0; i < carried.size(); ++i) move(carried[i], next[i], kNone);
  }
  close(NodeKind::EndLoop);
  define_results(o, results);
}

void Flattener::leave(LeaveKind kind, uint32_t region, std::span<const ScalarId> to,
                      const Operation& o) {
  Scalars values = gather(o, 0);
  LCPY_CHECK(values.size() == to.size());
  // Moves are simultaneous: a value that an earlier move overwrites is put aside first.
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (values[i] != to[k] || values[k] == to[k]) continue;
      const ScalarId aside = fresh(code_.scalars[values[i]].type);
      move(aside, values[i], kNone);
      values[i] = aside;
      break;
    }
  }
  // The copies aside must come before all moves; they were appended first, so they do.
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == to[i]) continue;
    move(to[i], values[i], region);
    code_.nodes.back().leave = kind;
  }
  Node& n = node(NodeKind::Leave);
  n.leave = kind;
  n.owner = region;
}

void Flattener::break_(const Operation& o) {
  const uint32_t r = enclosing(Region::Type::Loop);
  const Scalars to = code_.regions[r].results;
  leave(LeaveKind::Break, r, to, o);
}
void Flattener::continue_(const Operation& o) {
  const uint32_t r = enclosing(Region::Type::Loop);
  const Scalars to = code_.regions[r].simple ? code_.regions[r].carried : code_.regions[r].next;
  leave(LeaveKind::Continue, r, to, o);
}

// ---- calls
// ---------------------------------------------------------------------------------------

// Functions are inlined: rows then belong to one place of the program, and what is uniform at a
// call is uniform within. One that returns at its end alone needs no region.
void Flattener::call(const Operation& o) {
  const Function& f = d_.functions[operand(o, 0).index];
  for (uint32_t i = 0; i < f.params.size(); ++i)
    define(f.params[i], Scalars(args(o, i + 1).begin(), args(o, i + 1).end()));
  uint32_t returns = 0;
  walk_body(d_, f.body, [&](OpId, const Operation& x) { returns += x.op == Op::Return; });
  const bool at_end = returns == 1 && d_.op(d_.body(f.body).ops.back()).op == Op::Return;
  const Exit outer_yield = yield_, outer_return = return_to_;
  Scalars results;
  if (at_end) {
    return_to_ = {nullptr, &results, kNone, false};
    body(f.body);
  } else {
    results = fresh_for(o.first_result, o.result_count);
    declare(results);
    const uint32_t r = open(Region::Type::Call, NodeKind::Call);
    return_to_ = {&results, nullptr, r, false};
    body(f.body);
    close(NodeKind::EndCall);
  }
  yield_ = outer_yield;
  return_to_ = outer_return;
  define_results(o, results);
}

void Flattener::return_(const Operation& o) {
  if (return_to_.alias != nullptr) {
    *return_to_.alias = gather(o, 0);
    return;
  }
  for (uint32_t r = region_; r != return_to_.owner; r = code_.regions[r].parent)
    if (code_.regions[r].type == Region::Type::Loop) code_.regions[r].returns_inside = true;
  leave(LeaveKind::Return, return_to_.owner, *return_to_.to, o);
}
void Flattener::unreachable(const Operation&) {
  for (uint32_t r = region_; r != return_to_.owner && r != 0; r = code_.regions[r].parent)
    if (code_.regions[r].type == Region::Type::Loop) code_.regions[r].returns_inside = true;
  Node& n = node(NodeKind::Leave);
  n.leave = LeaveKind::Return;
  n.owner = return_to_.owner == kNone ? enclosing(Region::Type::Call) : return_to_.owner;
}

void Flattener::sync_block(const Operation&) { node(NodeKind::Barrier); }

}  // namespace lcpy::interp
