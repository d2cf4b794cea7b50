// Loads and stores, one instruction set. Lanes that are off are never touched in memory, for there
// may be none behind them; without bounds there is no other check.
#include "interp/loops.h"

namespace lcpy::interp::LCPY_ISA {
namespace {

// An element in memory and what it becomes: bytes as they are in a row, or bools as lane bits.
struct BoolElement {};
template <class E>
inline constexpr int kBytes = sizeof(E);
template <>
inline constexpr int kBytes<BoolElement> = 1;

template <class U>
LCPY_INLINE U peek(const char* p) {
  U v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class U>
LCPY_INLINE void poke(char* p, U v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// Collects the loaded lanes.
template <class E>
struct Into {
  Row<E> d;
  Into(char* f, uint32_t at) : d(row<E>(f, at)) {}
  [[gnu::always_inline]] void lane(int l, const char* p) { d.p[l] = peek<E>(p); }
  [[gnu::always_inline]] void whole(const char* p) { __builtin_memcpy(d.p, p, sizeof(E) * kLanes); }
  [[gnu::always_inline]] void same(const char* p) {
    const E v = peek<E>(p);
    LCPY_LANES(l) d.p[l] = v;
  }
  [[gnu::always_inline]] void done() {}
};
template <>
struct Into<BoolElement> {
  char* f;
  uint32_t at;
  uint64_t bits = 0;
  Into(char* file, uint32_t where) : f(file), at(where) {}
  [[gnu::always_inline]] void lane(int l, const char* p) {
    bits |= static_cast<uint64_t>(*p != 0) << l;
  }
  [[gnu::always_inline]] void whole(const char* p) {
    bits = test_bytes([&](int l) __attribute__((always_inline)) { return p[l] != 0; });
  }
  [[gnu::always_inline]] void same(const char* p) { bits = bits_of(*p != 0); }
  [[gnu::always_inline]] void done() { set_cell(f, at, bits); }
};

// Gives the lanes to store.
template <class E>
struct OutOf {
  Row<E> c;
  OutOf(char* f, uint32_t at) : c(row<E>(f, at)) {}
  [[gnu::always_inline]] void lane(int l, char* p) const { poke<E>(p, c.p[l]); }
  [[gnu::always_inline]] void whole(char* p) const { __builtin_memcpy(p, c.p, sizeof(E) * kLanes); }
  [[gnu::always_inline]] void some(char* p, uint64_t mask) const {
    choose<E>(Row<E>{reinterpret_cast<typename Lane<E>::type*>(p)}, c,
              Row<E>{reinterpret_cast<typename Lane<E>::type*>(p)}, mask);
  }
};
template <>
struct OutOf<BoolElement> {
  uint64_t bits;
  OutOf(char* f, uint32_t at) : bits(cell<uint64_t>(f, at)) {}
  [[gnu::always_inline]] void lane(int l, char* p) const {
    *p = static_cast<char>((bits >> l) & 1);
  }
  [[gnu::always_inline]] void whole(char* p) const {
    for (int l = 0; l < kLanes; ++l) lane(l, p + l);
  }
  [[gnu::always_inline]] void some(char* p, uint64_t mask) const {
    each_lane(
        mask, [&](int l) __attribute__((always_inline)) { lane(l, p + l); });
  }
};

LCPY_INLINE char* pointer(const char* f, const Instr* at) {
  return cell<char*>(f, at->a) + at->offset;
}

template <class E>
const Instr* load_cell(const Instr* at, char* f, State& s) {
  const char* p = pointer(f, at);
  if constexpr (std::is_same_v<E, BoolElement>)
    set_cell(f, at->d, bits_of(*p != 0));
  else
    set_cell(f, at->d, peek<E>(p));
  LCPY_NEXT;
}
template <class E, class I>
const Instr* load_cell_at(const Instr* at, char* f, State& s) {
  const char* p = pointer(f, at) + static_cast<int64_t>(cell<I>(f, at->b)) * at->stride;
  if constexpr (std::is_same_v<E, BoolElement>)
    set_cell(f, at->d, bits_of(*p != 0));
  else
    set_cell(f, at->d, peek<E>(p));
  LCPY_NEXT;
}
template <class E>
const Instr* store_cell(const Instr* at, char* f, State& s) {
  char* p = pointer(f, at);
  if constexpr (std::is_same_v<E, BoolElement>)
    *p = cell<uint64_t>(f, at->c) != 0;
  else
    poke(p, cell<E>(f, at->c));
  LCPY_NEXT;
}
template <class E>
const Instr* store_last(const Instr* at, char* f, State& s) {
  OutOf<E>(f, at->c).lane(63 - __builtin_clzll(s.mask), pointer(f, at));
  LCPY_NEXT;
}

// Index base + lane. When it wraps within the strip, lanes are addressed one by one.
template <class I>
LCPY_INLINE I plus(I base, int l) {
  using U = sem::bits_t<I>;
  return static_cast<I>(static_cast<U>(static_cast<U>(base) + static_cast<U>(l)));
}

// So much work lies between the loads of one strip and of the next that the processor does not see
// far enough ahead by itself. What follows in memory is what the next strips load, or, in a loop
// that goes on by little, the next iterations. Strips of a loop that strides far stay a while: less
// ahead.
inline constexpr int64_t kFar = 4096, kNear = 1024;
template <int Bytes>
LCPY_INLINE void fetch_ahead(const Instr* at, char* f, const char* p) {
  const uintptr_t here = reinterpret_cast<uintptr_t>(p);
  uintptr_t ahead = here + kFar;
  if (at->c != 0) {  // in a loop: the address of the iteration before
    const uintptr_t step = here - cell<uintptr_t>(f, at->c);
    ahead = here + (step <= kNear ? 8 * step : kNear);
    set_cell(f, at->c, here);
  }
  for (int k = 0; k < Bytes; k += 64) __builtin_prefetch(reinterpret_cast<const char*>(ahead) + k);
}

template <class E, class I>
const Instr* load_linear(const Instr* at, char* f, State& s) {
  Into<E> d(f, at->d);
  const char* p = pointer(f, at);
  const I base = cell<I>(f, at->b);
  const int64_t stride = at->stride;
  if (plus(base, kLanes - 1) >= base) {
    p += static_cast<int64_t>(base) * stride;
    if (stride == kBytes<E> && s.mask == kAllLanes) {
      fetch_ahead<kLanes * kBytes<E>>(at, f, p);
      d.whole(p);
    } else {
      each_lane(
          s.mask, [&](int l) __attribute__((always_inline)) { d.lane(l, p + l * stride); });
    }
  } else {
    each_lane(s.mask, [&](int l) { d.lane(l, p + static_cast<int64_t>(plus(base, l)) * stride); });
  }
  d.done();
  LCPY_NEXT;
}
template <class E, class I>
const Instr* store_linear(const Instr* at, char* f, State& s) {
  const OutOf<E> c(f, at->c);
  char* p = pointer(f, at);
  const I base = cell<I>(f, at->b);
  const int64_t stride = at->stride;
  if (plus(base, kLanes - 1) >= base) {
    p += static_cast<int64_t>(base) * stride;
    if (stride == kBytes<E> && s.mask == kAllLanes)
      c.whole(p);
    else
      each_lane(
          s.mask, [&](int l) __attribute__((always_inline)) { c.lane(l, p + l * stride); });
  } else {
    each_lane(s.mask, [&](int l) { c.lane(l, p + static_cast<int64_t>(plus(base, l)) * stride); });
  }
  LCPY_NEXT;
}

// Whether all lanes' indices are equal, or count up by one: rows that are so at run time alone (the
// compiler could not tell) are loaded at once.
template <class I>
LCPY_INLINE bool counts_up_by(Row<I> b, I step) {
  const I first = b.p[0];
  if (b.p[kLanes - 1] != plus(first, step * (kLanes - 1))) return false;
  if (step != 0 && plus(first, kLanes - 1) < first) return false;
  I differs = 0;
  LCPY_LANES(l) differs |= b.p[l] ^ plus(first, step * l);
  return differs == 0;
}

template <class E, class I>
const Instr* load_row(const Instr* at, char* f, State& s) {
  Into<E> d(f, at->d);
  const char* p = pointer(f, at);
  const auto b = row<I>(f, at->b);
  const int64_t stride = at->stride;
  if (s.mask == kAllLanes && stride == kBytes<E> && counts_up_by<I>(b, 1)) {
    d.whole(p + static_cast<int64_t>(b.p[0]) * stride);
  } else if (s.mask == kAllLanes && counts_up_by<I>(b, 0)) {
    d.same(p + static_cast<int64_t>(b.p[0]) * stride);
  } else {
    each_lane(
        s.mask, [&](int l) __attribute__((always_inline)) {
          d.lane(l, p + static_cast<int64_t>(b.p[l]) * stride);
        });
  }
  d.done();
  LCPY_NEXT;
}
template <class E, class I>
const Instr* store_row(const Instr* at, char* f, State& s) {
  const OutOf<E> c(f, at->c);
  char* p = pointer(f, at);
  const auto b = row<I>(f, at->b);
  const int64_t stride = at->stride;
  each_lane(
      s.mask, [&](int l) __attribute__((always_inline)) {
        c.lane(l, p + static_cast<int64_t>(b.p[l]) * stride);
      });
  LCPY_NEXT;
}

template <class E>
const Instr* load_lanes(const Instr* at, char* f, State& s) {
  Into<E> d(f, at->d);
  d.whole(pointer(f, at));
  d.done();
  LCPY_NEXT;
}
template <class E>
const Instr* store_lanes(const Instr* at, char* f, State& s) {
  const OutOf<E> c(f, at->c);
  if (s.mask == kAllLanes)
    c.whole(pointer(f, at));
  else
    c.some(pointer(f, at), s.mask);
  LCPY_NEXT;
}
template <class E, class I>
const Instr* load_lanes_row(const Instr* at, char* f, State& s) {
  Into<E> d(f, at->d);
  const char* p = pointer(f, at);
  const auto b = row<I>(f, at->b);
  const int64_t stride = at->stride;
  each_lane(
      s.mask, [&](int l) __attribute__((always_inline)) {
        d.lane(l, p + static_cast<int64_t>(b.p[l]) * stride + l * kBytes<E>);
      });
  d.done();
  LCPY_NEXT;
}
template <class E, class I>
const Instr* store_lanes_row(const Instr* at, char* f, State& s) {
  const OutOf<E> c(f, at->c);
  char* p = pointer(f, at);
  const auto b = row<I>(f, at->b);
  const int64_t stride = at->stride;
  each_lane(
      s.mask, [&](int l) __attribute__((always_inline)) {
        c.lane(l, p + static_cast<int64_t>(b.p[l]) * stride + l * kBytes<E>);
      });
  LCPY_NEXT;
}

template <class E>
void fill_element(Loops& t, int k) {
  t.load_cell[k] = &load_cell<E>;
  t.load_cell_at[k] = {&load_cell_at<E, int32_t>, &load_cell_at<E, uint32_t>,
                       &load_cell_at<E, int64_t>};
  t.store_cell[k] = &store_cell<E>;
  t.store_last[k] = &store_last<E>;
  t.load_linear[k] = {&load_linear<E, int32_t>, &load_linear<E, uint32_t>,
                      &load_linear<E, int64_t>};
  t.store_linear[k] = {&store_linear<E, int32_t>, &store_linear<E, uint32_t>,
                       &store_linear<E, int64_t>};
  t.load_row[k] = {&load_row<E, int32_t>, &load_row<E, uint32_t>, &load_row<E, int64_t>};
  t.store_row[k] = {&store_row<E, int32_t>, &store_row<E, uint32_t>, &store_row<E, int64_t>};
  t.load_lanes[k] = &load_lanes<E>;
  t.store_lanes[k] = &store_lanes<E>;
  t.load_lanes_row[k] = {&load_lanes_row<E, int32_t>, &load_lanes_row<E, uint32_t>,
                         &load_lanes_row<E, int64_t>};
  t.store_lanes_row[k] = {&store_lanes_row<E, int32_t>, &store_lanes_row<E, uint32_t>,
                          &store_lanes_row<E, int64_t>};
}

}  // namespace

void fill_memory(Loops& loops) {
  fill_element<uint8_t>(loops, 0);
  fill_element<uint16_t>(loops, 1);
  fill_element<uint32_t>(loops, 2);
  fill_element<uint64_t>(loops, 3);
  fill_element<BoolElement>(loops, kBoolElement);
}

}  // namespace lcpy::interp::LCPY_ISA
