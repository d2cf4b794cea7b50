// Rows and cells seen from C++, and the few primitives that vector units do differently: turning a
// comparison into lane bits, and choosing by lane bits. Included by each chapter for each
// instruction set, inside namespace lcpy::interp::LCPY_ISA; everything here is inlined, so that
// code for one instruction set cannot stand in for another's at link time.
#pragma once
#ifndef LCPY_ISA
#error "include through a chapter"
#endif
#if LCPY_X86
#include <immintrin.h>
#endif
#include "kernel/semantics.h"

namespace lcpy::interp::LCPY_ISA {
namespace {

namespace sem = lcpy::semantics;

#if defined(__clang__)
#define LCPY_LANES(l) \
  _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < kLanes; ++l)
#else
#define LCPY_LANES(l) _Pragma("GCC ivdep") for (int l = 0; l < kLanes; ++l)
#endif

// Rows are reused for values of other types, so lanes are accessed through types that may alias.
template <class T>
struct Lane;
#define LCPY_LANE(T, U)                                     \
  template <>                                               \
  struct Lane<T> {                                          \
    typedef U __attribute__((may_alias)) type;              \
    LCPY_INLINE T from(U v) { return sem::bit_copy<T>(v); } \
    LCPY_INLINE U to(T v) { return sem::bit_copy<U>(v); }   \
  };
LCPY_LANE(int8_t, int8_t)
LCPY_LANE(uint8_t, uint8_t) LCPY_LANE(int16_t, int16_t) LCPY_LANE(uint16_t, uint16_t)
    LCPY_LANE(int32_t, int32_t) LCPY_LANE(uint32_t, uint32_t) LCPY_LANE(int64_t, int64_t)
        LCPY_LANE(uint64_t, uint64_t) LCPY_LANE(float, float) LCPY_LANE(double, double)
            LCPY_LANE(sem::Half, uint16_t) LCPY_LANE(sem::BFloat, uint16_t)
                LCPY_LANE(sem::Float8E4M3, uint8_t) LCPY_LANE(sem::Float8E5M2, uint8_t)
#undef LCPY_LANE

                    template <class T>
                    struct Row {
  typename Lane<T>::type* p;
  [[gnu::always_inline]] T get(int l) const { return Lane<T>::from(p[l]); }
  [[gnu::always_inline]] void put(int l, T v) const { p[l] = Lane<T>::to(v); }
};
template <class T>
LCPY_INLINE Row<T> row(char* file, uint32_t at) {
  return {reinterpret_cast<typename Lane<T>::type*>(__builtin_assume_aligned(file + at, 64))};
}
// A cell read as if it were a row of one value.
template <class T>
struct Spread {
  T v;
  [[gnu::always_inline]] T get(int) const { return v; }
};
template <class T>
LCPY_INLINE T cell(const char* file, uint32_t at) {
  T v;
  __builtin_memcpy(&v, file + at, sizeof v);
  return v;
}
template <class T>
LCPY_INLINE Spread<T> spread(const char* file, uint32_t at) {
  return {cell<T>(file, at)};
}
template <class T>
LCPY_INLINE void set_cell(char* file, uint32_t at, T v) {
  __builtin_memcpy(file + at, &v, sizeof v);
}
LCPY_INLINE uint64_t bits_of(bool v) { return v ? kAllLanes : 0; }

// ---- comparisons to lane bits
// --------------------------------------------------------------------

// Bytes that are 0 or 255 to bits.
LCPY_INLINE uint64_t gather_bits(const uint8_t* bytes) {
#if LCPY_X86
  uint64_t r = 0;
  for (int k = 0; k < 4; ++k) {
    const __m128i v = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes) + k);
    r |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(v))) << (16 * k);
  }
  return r;
#else
  uint64_t r = 0;
  for (int k = 0; k < 8; ++k) {
    uint64_t word;
    __builtin_memcpy(&word, bytes + 8 * k, 8);
    r |= (((word & 0x0101010101010101u) * 0x0102040810204080u) >> 56) << (8 * k);
  }
  return r;
#endif
}
template <class Test>
LCPY_INLINE uint64_t test_bytes(Test test) {
  alignas(64) uint8_t bytes[kLanes];
  LCPY_LANES(l) bytes[l] = test(l) ? 255 : 0;
  return gather_bits(bytes);
}

#if LCPY_X86
#if defined(__AVX512F__)
inline constexpr int kWide = 64;
#elif defined(__AVX2__)
inline constexpr int kWide = 32;
#else
inline constexpr int kWide = 16;
#endif
template <class T>
struct Wide;
#define LCPY_WIDE(T)                                               \
  template <>                                                      \
  struct Wide<T> {                                                 \
    typedef T __attribute__((vector_size(kWide), may_alias)) type; \
  };
LCPY_WIDE(int32_t)
LCPY_WIDE(uint32_t) LCPY_WIDE(int64_t) LCPY_WIDE(uint64_t) LCPY_WIDE(float) LCPY_WIDE(double)
    LCPY_WIDE(uint8_t) LCPY_WIDE(uint16_t)
#undef LCPY_WIDE
        template <class T>
        inline constexpr int kPerWide = kWide / static_cast<int>(sizeof(T));

template <class T>
LCPY_INLINE typename Wide<T>::type wide(Row<T> r, int l) {
  return *reinterpret_cast<const typename Wide<T>::type*>(r.p + l);
}
template <class T>
LCPY_INLINE typename Wide<T>::type wide(Spread<T> s, int) {
  typename Wide<T>::type v = {};
  return s.v - v;  // not v + s.v: that loses the sign of -0
}

#if defined(__AVX512F__)
// The predicates of vcmpps and vpcmpd for each comparison.
template <class Op>
struct Predicate;
#define LCPY_PREDICATE(op, real, integer)  \
  template <>                              \
  struct Predicate<sem::op> {              \
    enum { kReal = real, kInt = integer }; \
  };
LCPY_PREDICATE(Less, _CMP_LT_OS, _MM_CMPINT_LT)
LCPY_PREDICATE(Greater, _CMP_GT_OS, _MM_CMPINT_NLE)
LCPY_PREDICATE(LessEqual, _CMP_LE_OS, _MM_CMPINT_LE)
LCPY_PREDICATE(GreaterEqual, _CMP_GE_OS, _MM_CMPINT_NLT)
LCPY_PREDICATE(Equal, _CMP_EQ_OQ, _MM_CMPINT_EQ)
LCPY_PREDICATE(NotEqual, _CMP_NEQ_UQ, _MM_CMPINT_NE)
#undef LCPY_PREDICATE

template <class Op, class T, class V>
LCPY_INLINE uint64_t compare_wide(V a, V b) {
  using P = Predicate<Op>;
  if constexpr (std::is_same_v<T, float>)
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, P::kReal);
  else if constexpr (std::is_same_v<T, double>)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, P::kReal);
  else if constexpr (std::is_same_v<T, int32_t>)
    return _mm512_cmp_epi32_mask((__m512i)a, (__m512i)b, P::kInt);
  else if constexpr (std::is_same_v<T, uint32_t>)
    return _mm512_cmp_epu32_mask((__m512i)a, (__m512i)b, P::kInt);
  else if constexpr (std::is_same_v<T, int64_t>)
    return _mm512_cmp_epi64_mask((__m512i)a, (__m512i)b, P::kInt);
  else
    return _mm512_cmp_epu64_mask((__m512i)a, (__m512i)b, P::kInt);
}
#else
#define LCPY_WIDE_OP(name, sign)                       \
  template <class V>                                   \
  LCPY_INLINE auto wide_compare(sem::name, V a, V b) { \
    return a sign b;                                   \
  }
LCPY_WIDE_OP(Less, <)
LCPY_WIDE_OP(Greater, >) LCPY_WIDE_OP(LessEqual, <=) LCPY_WIDE_OP(GreaterEqual, >=)
    LCPY_WIDE_OP(Equal, ==) LCPY_WIDE_OP(NotEqual, !=)
#undef LCPY_WIDE_OP
        template <class Op, class T, class V>
        LCPY_INLINE uint64_t compare_wide(V a, V b) {
  const auto c = wide_compare(Op{}, a, b);
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 4)
    return static_cast<uint32_t>(_mm256_movemask_ps((__m256)c));
  else
    return static_cast<uint32_t>(_mm256_movemask_pd((__m256d)c));
#else
  if constexpr (sizeof(T) == 4)
    return static_cast<uint32_t>(_mm_movemask_ps((__m128)c));
  else
    return static_cast<uint32_t>(_mm_movemask_pd((__m128d)c));
#endif
}
#endif  // AVX-512
#endif  // x86

template <class Op, class T, class A, class B>
LCPY_INLINE uint64_t compare_rows(A a, B b) {
#if LCPY_X86
  if constexpr ((sizeof(T) == 4 || sizeof(T) == 8) && !std::is_same_v<T, sem::Half>) {
    uint64_t r = 0;
#pragma GCC unroll 16
    for (int l = 0; l < kLanes; l += kPerWide<T>)
      r |= compare_wide<Op, T>(wide<T>(a, l), wide<T>(b, l)) << l;
    return r;
  }
#endif
  return test_bytes([&](int l)
                        __attribute__((always_inline)) { return Op::of(a.get(l), b.get(l)); });
}

// ---- choosing by lane bits
// -----------------------------------------------------------------------

// d = bit ? a : b, by element size; U is the unsigned type of that size.
template <class U, class A, class B>
LCPY_INLINE void choose(Row<U> d, A a, B b, uint64_t mask) {
#if LCPY_X86 && defined(__AVX512F__)
#pragma GCC unroll 16
  for (int l = 0; l < kLanes; l += kPerWide<U>) {
    const __m512i x = (__m512i)wide<U>(a, l), y = (__m512i)wide<U>(b, l);
    __m512i r;
    if constexpr (sizeof(U) == 1)
      r = _mm512_mask_blend_epi8(mask, y, x);
    else if constexpr (sizeof(U) == 2)
      r = _mm512_mask_blend_epi16(static_cast<__mmask32>(mask >> l), y, x);
    else if constexpr (sizeof(U) == 4)
      r = _mm512_mask_blend_epi32(static_cast<__mmask16>(mask >> l), y, x);
    else
      r = _mm512_mask_blend_epi64(static_cast<__mmask8>(mask >> l), y, x);
    _mm512_store_si512(d.p + l, r);
  }
#elif LCPY_X86
  using V = typename Wide<U>::type;
  if constexpr (sizeof(U) == 1) {
    typedef uint64_t W __attribute__((vector_size(kWide), may_alias));
    V bits;
    for (int k = 0; k < kWide; ++k) bits[k] = static_cast<uint8_t>(1u << (k & 7));
    for (int l = 0; l < kLanes; l += kPerWide<U>) {
      W bytes;
      for (int k = 0; k < kWide / 8; ++k)
        bytes[k] = ((mask >> (l + 8 * k)) & 255) * 0x0101010101010101u;
      const V on = (V)(((V)bytes & bits) == bits);
      *reinterpret_cast<V*>(d.p + l) = (wide<U>(a, l) & on) | (wide<U>(b, l) & ~on);
    }
  } else {
    V bits;
    for (int k = 0; k < kPerWide<U>; ++k) bits[k] = static_cast<U>(U{1} << k);
#pragma GCC unroll 32
    for (int l = 0; l < kLanes; l += kPerWide<U>) {
      const U low = static_cast<U>(mask >> l);
      const V chunk = V{} + low;
      const V on = (V)((chunk & bits) == bits);
      *reinterpret_cast<V*>(d.p + l) = (wide<U>(a, l) & on) | (wide<U>(b, l) & ~on);
    }
  }
#else
  LCPY_LANES(l) d.put(l, (mask >> l) & 1 ? a.get(l) : b.get(l));
#endif
}

template <class Body>
LCPY_INLINE void each_lane(uint64_t mask, Body body) {
  if (mask == kAllLanes) {
    for (int l = 0; l < kLanes; ++l) body(l);
  } else {
    for (; mask != 0; mask &= mask - 1) body(__builtin_ctzll(mask));
  }
}

#define LCPY_NEXT LCPY_GO(at + 1, f, s)

}  // namespace
}  // namespace lcpy::interp::LCPY_ISA
