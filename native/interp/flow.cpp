// Control flow, lane masks and cells: what does not loop over lanes.
#include "interp/code.h"

#include <cstring>

#include "kernel/semantics.h"

namespace lcpy::interp::flow {
namespace {

uint64_t get(const char* f, uint32_t at) {
  uint64_t v;
  std::memcpy(&v, f + at, sizeof v);
  return v;
}
void set(char* f, uint32_t at, uint64_t v) { std::memcpy(f + at, &v, sizeof v); }

// What may jump backward returns to execute() always: should a compiler make calls of LCPY_GO after
// all, they end with the iteration.
const Instr* do_jump(const Instr* at, char*, State&) { return at + at->target; }
const Instr* do_jump_if(const Instr* at, char* f, State&) {
  return at + (get(f, at->a) != 0 ? at->target : 1);
}
const Instr* do_jump_if_not(const Instr* at, char* f, State&) {
  return at + (get(f, at->a) == 0 ? at->target : 1);
}

template <bool Invert>
const Instr* do_if_lanes(const Instr* at, char* f, State& s) {
  const uint64_t c = Invert ? ~get(f, at->a) : get(f, at->a);
  const uint64_t in = s.mask & c;
  if (in == 0) {
    set(f, at->d, 0);  // nobody waits at the end of the branch not taken
    LCPY_GO(at + at->target, f, s);
  }
  set(f, at->d, s.mask & ~c);
  s.mask = in;
  LCPY_GO(at + 1, f, s);
}
const Instr* do_else_lanes(const Instr* at, char* f, State& s) {
  const uint64_t waiting = get(f, at->d);
  set(f, at->d, s.mask);
  s.mask = waiting;
  LCPY_GO(at + (waiting == 0 ? at->target : 1), f, s);
}
const Instr* do_end_if(const Instr* at, char* f, State& s) {
  s.mask |= get(f, at->d);
  LCPY_GO(at + 1, f, s);
}
const Instr* do_end_if_checked(const Instr* at, char* f, State& s) {
  s.mask |= get(f, at->d);
  LCPY_GO(at + (s.mask == 0 ? at->dead : 1), f, s);
}

const Instr* do_save_mask(const Instr* at, char* f, State& s) {
  set(f, at->d, s.mask);
  LCPY_GO(at + 1, f, s);
}
const Instr* do_restore_mask(const Instr* at, char* f, State& s) {
  s.mask = get(f, at->d) & ~get(f, at->a);
  LCPY_GO(at + (s.mask == 0 ? at->dead : 1), f, s);
}
const Instr* do_restore_mask_whole(const Instr* at, char* f, State& s) {
  s.mask = get(f, at->d);
  LCPY_GO(at + 1, f, s);
}
const Instr* do_leave(const Instr* at, char* f, State& s) {
  s.mask = 0;
  LCPY_GO(at + at->dead, f, s);
}
const Instr* do_leave_into(const Instr* at, char* f, State& s) {
  set(f, at->d, get(f, at->d) | s.mask);
  s.mask = 0;
  LCPY_GO(at + at->dead, f, s);
}
const Instr* do_latch(const Instr* at, char*, State& s) {
  return at + (s.mask != 0 ? at->target : 1);
}
const Instr* do_latch_collect(const Instr* at, char* f, State& s) {
  s.mask |= get(f, at->d);
  set(f, at->d, 0);
  LCPY_GO(at + (s.mask == 0 ? at->dead : 1), f, s);
}
const Instr* do_clear_cell(const Instr* at, char* f, State& s) {
  set(f, at->d, 0);
  LCPY_GO(at + 1, f, s);
}
const Instr* do_barrier(const Instr* at, char*, State& s) {
  s.resume = at + 1;
  return nullptr;
}
const Instr* do_end(const Instr*, char*, State& s) {
  s.resume = nullptr;
  return nullptr;
}

const Instr* do_and(const Instr* at, char* f, State& s) {
  set(f, at->d, get(f, at->a) & get(f, at->b));
  LCPY_GO(at + 1, f, s);
}
const Instr* do_or(const Instr* at, char* f, State& s) {
  set(f, at->d, get(f, at->a) | get(f, at->b));
  LCPY_GO(at + 1, f, s);
}
const Instr* do_xor(const Instr* at, char* f, State& s) {
  set(f, at->d, get(f, at->a) ^ get(f, at->b));
  LCPY_GO(at + 1, f, s);
}
const Instr* do_not(const Instr* at, char* f, State& s) {
  set(f, at->d, ~get(f, at->a));
  LCPY_GO(at + 1, f, s);
}
const Instr* do_equal(const Instr* at, char* f, State& s) {
  set(f, at->d, ~(get(f, at->a) ^ get(f, at->b)));
  LCPY_GO(at + 1, f, s);
}
const Instr* do_select(const Instr* at, char* f, State& s) {
  const uint64_t c = get(f, at->a);
  set(f, at->d, (c & get(f, at->b)) | (~c & get(f, at->c)));
  LCPY_GO(at + 1, f, s);
}
const Instr* do_blend(const Instr* at, char* f, State& s) {
  set(f, at->d, (s.mask & get(f, at->a)) | (~s.mask & get(f, at->d)));
  LCPY_GO(at + 1, f, s);
}
const Instr* do_copy(const Instr* at, char* f, State& s) {
  set(f, at->d, get(f, at->a));
  LCPY_GO(at + 1, f, s);
}

template <class Op, class T, bool Inverted>
const Instr* do_jump_compare(const Instr* at, char* f, State&) {
  T a, b;
  std::memcpy(&a, f + at->a, sizeof a);
  std::memcpy(&b, f + at->b, sizeof b);
  return at + (Op::of(a, b) != Inverted ? at->target : 1);
}
template <class Op>
constexpr std::array<std::array<Fn, 2>, kJoinedTypes> jump_compares() {
  return {{{&do_jump_compare<Op, int32_t, false>, &do_jump_compare<Op, int32_t, true>},
           {&do_jump_compare<Op, uint32_t, false>, &do_jump_compare<Op, uint32_t, true>},
           {&do_jump_compare<Op, float, false>, &do_jump_compare<Op, float, true>}}};
}

template <class I>
const Instr* do_address(const Instr* at, char* f, State& s) {
  I index;
  std::memcpy(&index, f + at->b, sizeof index);
  set(f, at->d,
      get(f, at->a) +
          static_cast<uint64_t>(static_cast<int64_t>(index)) * static_cast<uint64_t>(at->imm));
  LCPY_GO(at + 1, f, s);
}
const Instr* do_constant(const Instr* at, char* f, State& s) {
  set(f, at->d, static_cast<uint64_t>(at->imm));
  LCPY_GO(at + 1, f, s);
}

}  // namespace

Fn jump() { return &do_jump; }
Fn jump_if() { return &do_jump_if; }
Fn jump_if_not() { return &do_jump_if_not; }
Fn if_lanes() { return &do_if_lanes<false>; }
Fn if_not_lanes() { return &do_if_lanes<true>; }
Fn else_lanes() { return &do_else_lanes; }
Fn end_if() { return &do_end_if; }
Fn end_if_checked() { return &do_end_if_checked; }
Fn save_mask() { return &do_save_mask; }
Fn restore_mask() { return &do_restore_mask; }
Fn restore_mask_whole() { return &do_restore_mask_whole; }
Fn leave() { return &do_leave; }
Fn leave_into() { return &do_leave_into; }
Fn latch() { return &do_latch; }
Fn latch_collect() { return &do_latch_collect; }
Fn clear_cell() { return &do_clear_cell; }
Fn barrier() { return &do_barrier; }
Fn end() { return &do_end; }
Fn mask_and() { return &do_and; }
Fn mask_or() { return &do_or; }
Fn mask_xor() { return &do_xor; }
Fn mask_not() { return &do_not; }
Fn mask_equal() { return &do_equal; }
Fn mask_select() { return &do_select; }
Fn mask_blend() { return &do_blend; }
Fn copy_cell() { return &do_copy; }
Fn constant_cell() { return &do_constant; }
Fn jump_compare(Op op, Scalar type, bool inverted) {
  static constexpr std::array<std::array<std::array<Fn, 2>, kJoinedTypes>, kCompares> fns = {
      jump_compares<semantics::Less>(),      jump_compares<semantics::Greater>(),
      jump_compares<semantics::LessEqual>(), jump_compares<semantics::GreaterEqual>(),
      jump_compares<semantics::Equal>(),     jump_compares<semantics::NotEqual>()};
  return fns[compare_index(op)][joined_index(type)][inverted ? 1 : 0];
}
Fn address(Index index) {
  constexpr Fn fns[] = {&do_address<int32_t>, &do_address<uint32_t>, &do_address<int64_t>};
  return fns[static_cast<int>(index)];
}

}  // namespace lcpy::interp::flow
