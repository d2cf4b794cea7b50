// Warp operations: over the lanes that are on, from the lowest up, warp by warp of the strip. They
// are written once: each goes from lane to lane, so vector code would not help them.
#include <chrono>
#include <cstring>

#include "interp/code.h"
#include "kernel/semantics.h"

namespace lcpy::interp {
namespace {

namespace sem = lcpy::semantics;

template <class T>
T lane(const char* f, uint32_t at, int l) {
  T v;
  std::memcpy(&v, f + at + static_cast<uint32_t>(l) * sizeof v, sizeof v);
  return v;
}
template <class T>
void put(char* f, uint32_t at, int l, T v) {
  std::memcpy(f + at + static_cast<uint32_t>(l) * sizeof v, &v, sizeof v);
}
uint64_t cell(const char* f, uint32_t at) { return lane<uint64_t>(f, at, 0); }
uint64_t ones(int64_t count) { return count >= kLanes ? kAllLanes : (uint64_t{1} << count) - 1; }

// body(bits of the warp's active lanes, first lane of the warp), for warps that have any.
template <class Body>
void each_warp(const Instr* at, const State& s, Body body) {
  const int width = static_cast<int>(at->imm);
  for (int first = 0; first < kLanes; first += width)
    if (const uint64_t active = s.mask & (ones(width) << first)) body(active, first);
}
template <class Body>
void each_lane(uint64_t lanes, Body body) {
  for (; lanes != 0; lanes &= lanes - 1) body(__builtin_ctzll(lanes));
}

// ---- numbers
// ---------------------------------------------------------------------------------------

template <class How, class T>
const Instr* combine(const Instr* at, char* f, State& s) {
  each_warp(at, s, [&](uint64_t active, int) {
    T total = lane<T>(f, at->a, __builtin_ctzll(active));
    each_lane(active & (active - 1), [&](int l) { total = How::of(total, lane<T>(f, at->a, l)); });
    each_lane(active, [&](int l) { put(f, at->d, l, total); });
  });
  LCPY_GO(at + 1, f, s);
}

template <class How, class T, int Empty>
const Instr* prefix(const Instr* at, char* f, State& s) {
  each_warp(at, s, [&](uint64_t active, int) {
    const int lowest = __builtin_ctzll(active);
    T total = lane<T>(f, at->a, lowest);
    put(f, at->d, lowest, sem::convert<T>(static_cast<int32_t>(Empty)));
    each_lane(active & (active - 1), [&](int l) {
      const T mine = lane<T>(f, at->a, l);
      put(f, at->d, l, total);
      total = How::of(total, mine);
    });
  });
  LCPY_GO(at + 1, f, s);
}

template <class T>
const Instr* all_equal(const Instr* at, char* f, State& s) {
  uint64_t equal = 0;
  each_warp(at, s, [&](uint64_t active, int) {
    const T first = lane<T>(f, at->a, __builtin_ctzll(active));
    bool same = true;
    each_lane(active, [&](int l) { same &= sem::Equal::of(first, lane<T>(f, at->a, l)); });
    if (same) equal |= active;
  });
  put(f, at->d, 0, equal);
  LCPY_GO(at + 1, f, s);
}

// By the value's bits: T is an unsigned integer as wide.
template <class T>
const Instr* read_first(const Instr* at, char* f, State& s) {
  each_warp(at, s, [&](uint64_t active, int) {
    const T first = lane<T>(f, at->a, __builtin_ctzll(active));
    each_lane(active, [&](int l) { put(f, at->d, l, first); });
  });
  LCPY_GO(at + 1, f, s);
}
template <class T>
const Instr* read_lane(const Instr* at, char* f, State& s) {
  T got[kLanes];  // the result may lie where an operand does
  each_warp(at, s, [&](uint64_t active, int first) {
    each_lane(active, [&](int l) {
      const uint32_t n = lane<uint32_t>(f, at->b, l);
      const bool there = n < at->imm && (active >> (static_cast<uint32_t>(first) + n) & 1);
      got[l] = there ? lane<T>(f, at->a, first + static_cast<int>(n)) : T{0};
    });
  });
  each_lane(s.mask, [&](int l) { put(f, at->d, l, got[l]); });
  LCPY_GO(at + 1, f, s);
}

// ---- bools: lane bits
// -------------------------------------------------------------------------------------

enum class Vote { All, Any, Odd, Equal, First, ReadFirst };

template <Vote V>
const Instr* vote(const Instr* at, char* f, State& s) {
  const uint64_t given = cell(f, at->a);
  uint64_t result = 0;
  each_warp(at, s, [&](uint64_t active, int) {
    const uint64_t yes = given & active, lowest = active & (0 - active);
    bool all = false;
    if constexpr (V == Vote::All) all = yes == active;
    if constexpr (V == Vote::Any) all = yes != 0;
    if constexpr (V == Vote::Odd) all = __builtin_popcountll(yes) & 1;
    if constexpr (V == Vote::Equal) all = yes == 0 || yes == active;
    if constexpr (V == Vote::ReadFirst) all = (given & lowest) != 0;
    if constexpr (V == Vote::First) result |= lowest;
    if (all) result |= active;
  });
  put(f, at->d, 0, result);
  LCPY_GO(at + 1, f, s);
}

const Instr* read_lane_bool(const Instr* at, char* f, State& s) {
  const uint64_t given = cell(f, at->a);
  uint64_t result = 0;
  each_warp(at, s, [&](uint64_t active, int first) {
    each_lane(active, [&](int l) {
      const uint32_t n = lane<uint32_t>(f, at->b, l);
      if (n < at->imm && (active & given) >> (static_cast<uint32_t>(first) + n) & 1)
        result |= uint64_t{1} << l;
    });
  });
  put(f, at->d, 0, result);
  LCPY_GO(at + 1, f, s);
}

enum class Number { LaneId, FirstLane, Count, PrefixCount, Ballot };

template <Number N>
const Instr* number(const Instr* at, char* f, State& s) {
  const uint64_t given = at->a == 0 ? 0 : cell(f, at->a);
  const uint64_t word = N == Number::Ballot ? cell(f, at->b) : 0;
  each_warp(at, s, [&](uint64_t active, int first) {
    const uint64_t yes = given & active;
    each_lane(active, [&](int l) {
      uint64_t n = 0;
      if constexpr (N == Number::LaneId) n = static_cast<uint64_t>(l - first);
      if constexpr (N == Number::FirstLane)
        n = static_cast<uint64_t>(__builtin_ctzll(active) - first);
      if constexpr (N == Number::Count) n = static_cast<uint64_t>(__builtin_popcountll(yes));
      if constexpr (N == Number::PrefixCount)
        n = static_cast<uint64_t>(__builtin_popcountll(yes & ones(l)));
      if constexpr (N == Number::Ballot) n = yes >> first >> (32 * (word & 1));
      put(f, at->d, l, static_cast<uint32_t>(n));
    });
  });
  LCPY_GO(at + 1, f, s);
}

// ---- the clock
// -------------------------------------------------------------------------------------

const Instr* clock(const Instr* at, char* f, State& s) {
#if LCPY_X86
  const uint64_t now = __builtin_ia32_rdtsc();
#else
  const uint64_t now =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  each_lane(s.mask, [&](int l) { put(f, at->d, l, now); });
  LCPY_GO(at + 1, f, s);
}

// ---- the table
// --------------------------------------------------------------------------------------

using Table = std::array<std::array<Fn, kScalarCount>, kOpCount>;

constexpr void set(Table& t, Op op, Scalar s, Fn fn) {
  t[static_cast<int>(op)][static_cast<int>(s)] = fn;
}
template <class T>
constexpr void set_numbers(Table& t, Scalar s) {
  set(t, Op::WarpSum, s, &combine<sem::Add, T>);
  set(t, Op::WarpProduct, s, &combine<sem::Mul, T>);
  set(t, Op::WarpMin, s, &combine<sem::Min, T>);
  set(t, Op::WarpMax, s, &combine<sem::Max, T>);
  set(t, Op::WarpPrefixSum, s, &prefix<sem::Add, T, 0>);
  set(t, Op::WarpPrefixProduct, s, &prefix<sem::Mul, T, 1>);
  set(t, Op::WarpAllEqual, s, &all_equal<T>);
  set(t, Op::WarpReadLane, s, &read_lane<sem::bits_t<T>>);
  set(t, Op::WarpReadFirst, s, &read_first<sem::bits_t<T>>);
  if constexpr (sem::is_int_v<T>) {
    using U = sem::bits_t<T>;
    set(t, Op::WarpAnd, s, &combine<sem::BitAnd, U>);
    set(t, Op::WarpOr, s, &combine<sem::BitOr, U>);
    set(t, Op::WarpXor, s, &combine<sem::BitXor, U>);
  }
}
constexpr Table kWarp = [] {
  Table t{};
  set_numbers<int8_t>(t, Scalar::Int8);
  set_numbers<uint8_t>(t, Scalar::UInt8);
  set_numbers<int16_t>(t, Scalar::Int16);
  set_numbers<uint16_t>(t, Scalar::UInt16);
  set_numbers<int32_t>(t, Scalar::Int32);
  set_numbers<uint32_t>(t, Scalar::UInt32);
  set_numbers<int64_t>(t, Scalar::Int64);
  set_numbers<uint64_t>(t, Scalar::UInt64);
  set_numbers<sem::Half>(t, Scalar::Float16);
  set_numbers<float>(t, Scalar::Float32);
  set_numbers<double>(t, Scalar::Float64);
  set(t, Op::WarpAnd, Scalar::Bool, &vote<Vote::All>);
  set(t, Op::WarpOr, Scalar::Bool, &vote<Vote::Any>);
  set(t, Op::WarpXor, Scalar::Bool, &vote<Vote::Odd>);
  set(t, Op::WarpAll, Scalar::Bool, &vote<Vote::All>);
  set(t, Op::WarpAny, Scalar::Bool, &vote<Vote::Any>);
  set(t, Op::WarpAllEqual, Scalar::Bool, &vote<Vote::Equal>);
  set(t, Op::WarpReadFirst, Scalar::Bool, &vote<Vote::ReadFirst>);
  set(t, Op::WarpReadLane, Scalar::Bool, &read_lane_bool);
  set(t, Op::WarpIsFirst, Scalar::Bool, &vote<Vote::First>);
  set(t, Op::WarpCount, Scalar::Bool, &number<Number::Count>);
  set(t, Op::WarpPrefixCount, Scalar::Bool, &number<Number::PrefixCount>);
  set(t, Op::WarpBallot, Scalar::Bool, &number<Number::Ballot>);
  set(t, Op::WarpLaneId, Scalar::UInt32, &number<Number::LaneId>);
  set(t, Op::WarpFirstLane, Scalar::UInt32, &number<Number::FirstLane>);
  set(t, Op::Clock, Scalar::UInt64, &clock);
  return t;
}();

}  // namespace

Fn warp_fn(Op op, Scalar type) { return kWarp[static_cast<int>(op)][static_cast<int>(type)]; }

}  // namespace lcpy::interp
