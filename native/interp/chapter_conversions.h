// Conversions between all scalars, choices, copies between rows and cells; one instruction set.
#include "interp/loops.h"

namespace lcpy::interp::LCPY_ISA {
namespace {

template <class From, class To>
const Instr* convert_cell(const Instr* at, char* f, State& s) {
  if constexpr (sem::is_bool_v<From>)
    set_cell(f, at->d, sem::convert<To>(cell<uint64_t>(f, at->a) != 0));
  else if constexpr (sem::is_bool_v<To>)
    set_cell(f, at->d, bits_of(sem::convert<bool>(cell<From>(f, at->a))));
  else
    set_cell(f, at->d, sem::convert<To>(cell<From>(f, at->a)));
  LCPY_NEXT;
}

template <class From, class To>
const Instr* convert_row(const Instr* at, char* f, State& s) {
  if constexpr (sem::is_bool_v<From>) {
    using U = sem::bits_t<To>;
    const U one = sem::bit_copy<U>(sem::convert<To>(true));
    choose<U>(row<U>(f, at->d), Spread<U>{one}, Spread<U>{0}, cell<uint64_t>(f, at->a));
  } else if constexpr (sem::is_bool_v<To>) {
    const auto a = row<From>(f, at->a);
    set_cell(f, at->d, test_bytes([&](int l) __attribute__((always_inline)) {
               return sem::convert<bool>(a.get(l));
             }));
  } else {
    const auto a = row<From>(f, at->a);
    const auto d = row<To>(f, at->d);
    LCPY_LANES(l) d.put(l, sem::convert<To>(a.get(l)));
  }
  LCPY_NEXT;
}

template <class U, Form F>
const Instr* select(const Instr* at, char* f, State& s) {
  const uint64_t mask = cell<uint64_t>(f, at->a);
  const auto d = row<U>(f, at->d);
  if constexpr (F == Form::Rows)
    choose<U>(d, row<U>(f, at->b), row<U>(f, at->c), mask);
  else if constexpr (F == Form::RowCell)
    choose<U>(d, row<U>(f, at->b), spread<U>(f, at->c), mask);
  else if constexpr (F == Form::CellRow)
    choose<U>(d, spread<U>(f, at->b), row<U>(f, at->c), mask);
  else
    choose<U>(d, spread<U>(f, at->b), spread<U>(f, at->c), mask);
  LCPY_NEXT;
}

template <class U>
const Instr* spread_row(const Instr* at, char* f, State& s) {
  const auto d = row<U>(f, at->d);
  const U v = cell<U>(f, at->a);
  LCPY_LANES(l) d.p[l] = v;
  LCPY_NEXT;
}
template <class U>
const Instr* ramp_row(const Instr* at, char* f, State& s) {
  const auto d = row<U>(f, at->d);
  const U v = cell<U>(f, at->a);
  LCPY_LANES(l) d.p[l] = v + static_cast<U>(l);
  LCPY_NEXT;
}
template <class U>
const Instr* copy_row(const Instr* at, char* f, State& s) {
  __builtin_memcpy(__builtin_assume_aligned(f + at->d, 64), __builtin_assume_aligned(f + at->a, 64),
                   sizeof(U) * kLanes);
  LCPY_NEXT;
}
template <class U>
const Instr* blend_row(const Instr* at, char* f, State& s) {
  if (s.mask == kAllLanes) return copy_row<U>(at, f, s);
  choose<U>(row<U>(f, at->d), row<U>(f, at->a), row<U>(f, at->d), s.mask);
  LCPY_NEXT;
}

template <class U>
void fill_size(Loops& loops) {
  constexpr int k = size_index(sizeof(U));
  loops.select[k] = {&select<U, Form::Cells>, &select<U, Form::Rows>, &select<U, Form::RowCell>,
                     &select<U, Form::CellRow>};
  loops.spread[k] = &spread_row<U>;
  loops.copy[k] = &copy_row<U>;
  loops.blend[k] = &blend_row<U>;
}

template <class From, class To>
void set_pair(Loops& loops, Scalar from, Scalar to) {
  auto& entry = loops.convert[static_cast<int>(from)][static_cast<int>(to)];
  if constexpr (std::is_same_v<From, To>) {
    entry = {nullptr, nullptr};  // no operation at all
  } else {
    entry = {&convert_cell<From, To>, &convert_row<From, To>};
  }
}

template <class From>
void fill_from(Loops& loops, Scalar from) {
  set_pair<From, bool>(loops, from, Scalar::Bool);
  set_pair<From, int8_t>(loops, from, Scalar::Int8);
  set_pair<From, uint8_t>(loops, from, Scalar::UInt8);
  set_pair<From, int16_t>(loops, from, Scalar::Int16);
  set_pair<From, uint16_t>(loops, from, Scalar::UInt16);
  set_pair<From, int32_t>(loops, from, Scalar::Int32);
  set_pair<From, uint32_t>(loops, from, Scalar::UInt32);
  set_pair<From, int64_t>(loops, from, Scalar::Int64);
  set_pair<From, uint64_t>(loops, from, Scalar::UInt64);
  set_pair<From, sem::Half>(loops, from, Scalar::Float16);
  set_pair<From, float>(loops, from, Scalar::Float32);
  set_pair<From, double>(loops, from, Scalar::Float64);
  set_pair<From, sem::BFloat>(loops, from, Scalar::BFloat16);
  set_pair<From, sem::Float8E4M3>(loops, from, Scalar::Float8E4M3);
  set_pair<From, sem::Float8E5M2>(loops, from, Scalar::Float8E5M2);
}

}  // namespace

void fill_conversions(Loops& loops) {
  fill_from<bool>(loops, Scalar::Bool);
  fill_from<int8_t>(loops, Scalar::Int8);
  fill_from<uint8_t>(loops, Scalar::UInt8);
  fill_from<int16_t>(loops, Scalar::Int16);
  fill_from<uint16_t>(loops, Scalar::UInt16);
  fill_from<int32_t>(loops, Scalar::Int32);
  fill_from<uint32_t>(loops, Scalar::UInt32);
  fill_from<int64_t>(loops, Scalar::Int64);
  fill_from<uint64_t>(loops, Scalar::UInt64);
  fill_from<sem::Half>(loops, Scalar::Float16);
  fill_from<float>(loops, Scalar::Float32);
  fill_from<double>(loops, Scalar::Float64);
  fill_from<sem::BFloat>(loops, Scalar::BFloat16);
  fill_from<sem::Float8E4M3>(loops, Scalar::Float8E4M3);
  fill_from<sem::Float8E5M2>(loops, Scalar::Float8E5M2);
  static_assert(kScalarCount == 15, "a new scalar needs its row and column here");
  fill_size<uint8_t>(loops);
  fill_size<uint16_t>(loops);
  fill_size<uint32_t>(loops);
  fill_size<uint64_t>(loops);
  loops.ramp = {&ramp_row<uint32_t>, &ramp_row<uint64_t>};
}

}  // namespace lcpy::interp::LCPY_ISA
