// What each pure operation means, on scalars: the one definition that constant folding
// (kernel/evaluate.cpp) and the interpreter's loops (native/interp) are made of, so that folded and
// run-time bits agree. language.md holds the rules.
//
// Each operation is a struct named as in ops/op.def with a static `of`. No undefined behaviour for
// any input. Branch-light: a loop over `of` should become vector code. Everything is always_inline,
// because files built for different instruction sets include this and must not share copies.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace lcpy::semantics {

#define LCPY_INLINE [[gnu::always_inline]] static inline

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Float8E4M3 {
  uint8_t bits;
};
struct Float8E5M2 {
  uint8_t bits;
};

template <class T>
inline constexpr bool is_real_v = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool is_float_v = is_real_v<T> || std::is_same_v<T, Half>;
template <class T>
inline constexpr bool is_bool_v = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_int_v = std::is_integral_v<T> && !is_bool_v<T>;
template <class T>
inline constexpr bool is_storage_v =
    std::is_same_v<T, BFloat> || std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;
template <class T>
inline constexpr int width_v = static_cast<int>(sizeof(T)) * 8;

template <int Bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = uint8_t;
};
template <>
struct BitsOf<2> {
  using type = uint16_t;
};
template <>
struct BitsOf<4> {
  using type = uint32_t;
};
template <>
struct BitsOf<8> {
  using type = uint64_t;
};
template <class T>
using bits_t = typename BitsOf<sizeof(T)>::type;
// Unsigned and not narrower than int, so that arithmetic on it wraps and never promotes to signed.
template <class T>
using wrap_t = std::conditional_t<(sizeof(T) < 4), uint32_t, bits_t<T>>;

template <class To, class From>
LCPY_INLINE To bit_copy(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  std::memcpy(&r, &x, sizeof r);
  return r;
}

// ---- small floats ------------------------------------------------------------------------------

LCPY_INLINE float half_to_float(Half h) {
  const uint32_t sign = (h.bits & 0x8000u) << 16, magnitude = h.bits & 0x7fffu;
  // Rescaling by 2^112 turns half exponents, subnormal ones too, into float exponents exactly.
  uint32_t r = bit_copy<uint32_t>(bit_copy<float>(magnitude << 13) * 0x1p112f);
  r |= magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  r |= magnitude > 0x7c00u ? 0x00400000u : 0u;
  return bit_copy<float>(r | sign);
}

LCPY_INLINE Half float_to_half(float f) {
  const uint32_t b = bit_copy<uint32_t>(f), sign = (b >> 16) & 0x8000u, a = b & 0x7fffffffu;
  const uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  // One unit in the last place of [0.5, 1) is the smallest half: the addition rounds for us.
  const uint32_t tiny = bit_copy<uint32_t>(bit_copy<float>(a) + 0.5f) - 0x3f000000u;
  uint32_t r = a < 0x38800000u ? tiny : normal;
  r = a >= 0x47800000u ? 0x7c00u : r;
  r = a > 0x7f800000u ? (0x7e00u | ((a >> 13) & 0x3ffu)) : r;
  return Half{static_cast<uint16_t>(r | sign)};
}

// To float with the last bit sticky ("round to odd"): rounding the result again to at most 22 bits
// gives what rounding the double once would have given.
LCPY_INLINE float double_to_float_odd(double d) {
  const float f = static_cast<float>(d);
  const double back = static_cast<double>(f);
  uint32_t b = bit_copy<uint32_t>(f);
  const double ab = back < 0 ? -back : back, ad = d < 0 ? -d : d;
  b -= ab > ad ? 1u : 0u;
  b |= (back != d && d == d) ? 1u : 0u;
  return bit_copy<float>(b);
}
LCPY_INLINE Half double_to_half(double d) { return float_to_half(double_to_float_odd(d)); }

LCPY_INLINE float bfloat_to_float(BFloat h) {
  return bit_copy<float>(static_cast<uint32_t>(h.bits) << 16);
}
LCPY_INLINE BFloat float_to_bfloat(float f) {
  const uint32_t b = bit_copy<uint32_t>(f);
  const uint32_t rounded = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
  const uint32_t nan = (b >> 16) | 0x40u;
  return BFloat{static_cast<uint16_t>((b & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

// An 8-bit float with `Mantissa` bits. Finite: no infinities, all ones is NaN (E4M3); what
// overflows becomes infinity, or NaN where there is none.
template <int Mantissa, bool Finite>
LCPY_INLINE float float8_to_float(uint8_t v) {
  constexpr int bias = Mantissa == 3 ? 7 : 15;
  const uint32_t sign = (v & 0x80u) << 24, magnitude = v & 0x7fu;
  const float scale = bit_copy<float>(static_cast<uint32_t>(127 + 127 - bias) << 23);
  uint32_t r = bit_copy<uint32_t>(bit_copy<float>(magnitude << (23 - Mantissa)) * scale);
  if constexpr (Finite) {
    r = magnitude == 0x7fu ? 0x7fc00000u : r;
  } else {
    r = magnitude == 0x7cu ? 0x7f800000u : r;
    r = magnitude > 0x7cu ? 0x7fc00000u : r;
  }
  return bit_copy<float>(r | sign);
}
template <int Mantissa, bool Finite>
LCPY_INLINE uint8_t float_to_float8(float f) {
  constexpr int bias = Mantissa == 3 ? 7 : 15, shift = 23 - Mantissa;
  constexpr uint32_t smallest = static_cast<uint32_t>(127 - bias + 1) << 23;
  constexpr uint32_t offset = static_cast<uint32_t>(127 - bias) << 23;
  // A number whose last place is the smallest 8-bit subnormal: adding it rounds for us.
  constexpr uint32_t magic = static_cast<uint32_t>(127 - bias + 1 + shift) << 23;
  constexpr uint32_t top = Finite ? 0x7eu : 0x7bu, over = Finite ? 0x7fu : 0x7cu;
  constexpr uint32_t nan = Finite ? 0x7fu : 0x7eu;
  const uint32_t b = bit_copy<uint32_t>(f), a = b & 0x7fffffffu;
  const uint32_t normal = (a - offset + ((1u << (shift - 1)) - 1) + ((a >> shift) & 1u)) >> shift;
  const uint32_t tiny = bit_copy<uint32_t>(bit_copy<float>(a) + bit_copy<float>(magic)) - magic;
  uint32_t r = a < smallest ? tiny : normal;
  r = r > top || a >= 0x7f800000u ? over : r;
  r = a > 0x7f800000u ? nan : r;
  return static_cast<uint8_t>(r | ((b >> 24) & 0x80u));
}

// The type that arithmetic on T is done in, and the way back.
template <class T>
using real_t = std::conditional_t<std::is_same_v<T, Half>, float, T>;
LCPY_INLINE float up(Half x) { return half_to_float(x); }
template <class T>
LCPY_INLINE T up(T x) {
  return x;
}
template <class T>
LCPY_INLINE T down(real_t<T> x) {
  if constexpr (std::is_same_v<T, Half>)
    return float_to_half(x);
  else
    return x;
}

// ---- arithmetic --------------------------------------------------------------------------------

#define LCPY_UNARY(name, ...) \
  struct name {               \
    template <class T>        \
    LCPY_INLINE T of(T x) {   \
      __VA_ARGS__             \
    }                         \
  };
#define LCPY_BINARY(name, ...)   \
  struct name {                  \
    template <class T>           \
    LCPY_INLINE T of(T a, T b) { \
      __VA_ARGS__                \
    }                            \
  };
#define LCPY_COMPARE(name, ...)     \
  struct name {                     \
    template <class T>              \
    LCPY_INLINE bool of(T a, T b) { \
      __VA_ARGS__                   \
    }                               \
  };

LCPY_BINARY(Add, {
  if constexpr (is_int_v<T>)
    return static_cast<T>(static_cast<wrap_t<T>>(a) + static_cast<wrap_t<T>>(b));
  else
    return down<T>(up(a) + up(b));
})
LCPY_BINARY(Sub, {
  if constexpr (is_int_v<T>)
    return static_cast<T>(static_cast<wrap_t<T>>(a) - static_cast<wrap_t<T>>(b));
  else
    return down<T>(up(a) - up(b));
})
LCPY_BINARY(Mul, {
  if constexpr (is_int_v<T>)
    return static_cast<T>(static_cast<wrap_t<T>>(a) * static_cast<wrap_t<T>>(b));
  else
    return down<T>(up(a) * up(b));
})
LCPY_BINARY(Div, return down<T>(up(a) / up(b));)
LCPY_UNARY(Neg, {
  if constexpr (is_int_v<T>)
    return static_cast<T>(wrap_t<T>{0} - static_cast<wrap_t<T>>(x));
  else
    return bit_copy<T>(
        static_cast<bits_t<T>>(bit_copy<bits_t<T>>(x) ^ (bits_t<T>{1} << (width_v<T> - 1))));
})
LCPY_UNARY(Abs, {
  if constexpr (!is_int_v<T>) {
    return bit_copy<T>(static_cast<bits_t<T>>(
        bit_copy<bits_t<T>>(x) & static_cast<bits_t<T>>(~(bits_t<T>{1} << (width_v<T> - 1)))));
  } else if constexpr (std::is_signed_v<T>) {
    return x < 0 ? Neg::of(x) : x;
  } else {
    return x;
  }
})
LCPY_UNARY(Sign, {
  if constexpr (is_float_v<T>) {
    const real_t<T> v = up(x);
    return down<T>(v > 0 ? real_t<T>(1) : v < 0 ? real_t<T>(-1) : real_t<T>(0));
  } else {
    return static_cast<T>((x > T{0} ? 1 : 0) - (x < T{0} ? 1 : 0));
  }
})

// The divisor, made safe: 1 for 0 (the result is replaced), and 1 for -1 under MIN.
template <class T>
LCPY_INLINE T safe_divisor(T a, T b) {
  bool unsafe = b == T{0};
  if constexpr (std::is_signed_v<T>) unsafe |= (a == std::numeric_limits<T>::min()) & (b == T{-1});
  return unsafe ? T{1} : b;
}
LCPY_BINARY(TruncDiv, {
  const T q = static_cast<T>(a / safe_divisor(a, b));
  return b == T{0} ? T{0} : q;  // MIN / 1 is MIN, as asked
})
LCPY_BINARY(TruncRem, return static_cast<T>(a % safe_divisor(a, b));)  // x % 1 is 0, as asked
// Callers promise a divisor that is neither 0 nor -1 under MIN; checked all the same, for this runs
// lanes that are switched off.
struct DivUnchecked : TruncDiv {};
struct RemUnchecked : TruncRem {};

struct FloorMod;
struct FloorDiv {
  template <class T>
  LCPY_INLINE T of(T a, T b) {
    if constexpr (is_float_v<T>)
      return down<T>(real(up(a), up(b)));
    else if constexpr (!std::is_signed_v<T>)
      return TruncDiv::of(a, b);
    else {
      const T d = safe_divisor(a, b);
      const T q = static_cast<T>(a / d), r = static_cast<T>(a % d);
      const bool below = (r != T{0}) & ((r < T{0}) != (d < T{0}));
      return b == T{0} ? T{0} : static_cast<T>(q - (below ? 1 : 0));
    }
  }
  // Python's float_floor_div, and a / b for b = 0.
  template <class T>
  LCPY_INLINE T real(T a, T b) {
    T m = remainder(a, b);
    T q = (a - m) / b;
    if (m != 0 && (b < 0) != (m < 0)) q -= 1;
    if (b == 0) return a / b;
    if (q == 0) return zero_like(a / b);
    const T f = floor_of(q);
    return q - f > T(0.5) ? f + 1 : f;
  }
  LCPY_INLINE float remainder(float a, float b) { return __builtin_fmodf(a, b); }
  LCPY_INLINE double remainder(double a, double b) { return __builtin_fmod(a, b); }
  LCPY_INLINE float floor_of(float x) { return __builtin_floorf(x); }
  LCPY_INLINE double floor_of(double x) { return __builtin_floor(x); }
  LCPY_INLINE float zero_like(float x) { return __builtin_copysignf(0.0f, x); }
  LCPY_INLINE double zero_like(double x) { return __builtin_copysign(0.0, x); }
};
struct FloorMod {
  template <class T>
  LCPY_INLINE T of(T a, T b) {
    if constexpr (is_float_v<T>)
      return down<T>(real(up(a), up(b)));
    else if constexpr (!std::is_signed_v<T>)
      return TruncRem::of(a, b);
    else {
      const T d = safe_divisor(a, b);
      const T r = static_cast<T>(a % d);
      const bool other = (r != T{0}) & ((r < T{0}) != (d < T{0}));
      return static_cast<T>(r + (other ? d : T{0}));
    }
  }
  template <class T>
  LCPY_INLINE T real(T a, T b) {
    const T m = FloorDiv::remainder(a, b);
    if (m == 0) return FloorDiv::zero_like(b);
    return (b < 0) != (m < 0) ? m + b : m;
  }
};

LCPY_BINARY(BitAnd, return static_cast<T>(a & b);)
LCPY_BINARY(BitOr, return static_cast<T>(a | b);)
LCPY_BINARY(BitXor, return static_cast<T>(a ^ b);)
LCPY_UNARY(BitNot, {
  if constexpr (is_bool_v<T>)
    return !x;
  else
    return static_cast<T>(~x);
})
LCPY_UNARY(Not, return static_cast<T>(!x);)

// Shift amounts of any integer type count modulo the width; their low bits are all it takes.
struct Shl {
  template <class T, class N>
  LCPY_INLINE T of(T a, N n) {
    return static_cast<T>(static_cast<wrap_t<T>>(a)
                          << (static_cast<uint32_t>(n) & (width_v<T> - 1)));
  }
};
struct Shr {
  template <class T, class N>
  LCPY_INLINE T of(T a, N n) {
    return static_cast<T>(a >> (static_cast<uint32_t>(n) & (width_v<T> - 1)));
  }
};
struct ShlUnchecked : Shl {};
struct ShrUnchecked : Shr {};
struct RotateLeft {
  template <class T, class N>
  LCPY_INLINE T of(T a, N n) {
    using U = bits_t<T>;
    const uint32_t k = static_cast<uint32_t>(n) & (width_v<T> - 1);
    const wrap_t<T> u = static_cast<U>(a);
    return static_cast<T>(static_cast<U>((u << k) | (u >> ((width_v<T> - k) & (width_v<T> - 1)))));
  }
};
struct RotateRight {
  template <class T, class N>
  LCPY_INLINE T of(T a, N n) {
    return RotateLeft::of(a, uint32_t{0} - static_cast<uint32_t>(n));
  }
};

LCPY_COMPARE(Less, return up(a) < up(b);)
LCPY_COMPARE(Greater, return up(a) > up(b);)
LCPY_COMPARE(LessEqual, return up(a) <= up(b);)
LCPY_COMPARE(GreaterEqual, return up(a) >= up(b);)
LCPY_COMPARE(Equal, return up(a) == up(b);)
LCPY_COMPARE(NotEqual, return up(a) != up(b);)

// A NaN loses; -0 is below +0 (equal numbers differ in bits only when they are zeros).
LCPY_BINARY(Min, {
  if constexpr (!is_float_v<T>)
    return b < a ? b : a;
  else {
    using U = bits_t<T>;
    const T low = up(a) < up(b) ? a : b;
    const T both = bit_copy<T>(static_cast<U>(bit_copy<U>(a) | bit_copy<U>(b)));
    const T r = up(a) == up(b) ? both : low;
    return up(b) != up(b) ? a : r;
  }
})
LCPY_BINARY(Max, {
  if constexpr (!is_float_v<T>)
    return a < b ? b : a;
  else {
    using U = bits_t<T>;
    const T high = up(a) > up(b) ? a : b;
    const T both = bit_copy<T>(static_cast<U>(bit_copy<U>(a) & bit_copy<U>(b)));
    const T r = up(a) == up(b) ? both : high;
    return up(b) != up(b) ? a : r;
  }
})

#define LCPY_REAL(name, expression32, expression64)                  \
  struct name {                                                      \
    LCPY_INLINE float of(float x) { return expression32; }           \
    LCPY_INLINE double of(double x) { return expression64; }         \
    LCPY_INLINE Half of(Half h) { return float_to_half(of(up(h))); } \
  };
LCPY_REAL(Floor, __builtin_floorf(x), __builtin_floor(x))
LCPY_REAL(Ceil, __builtin_ceilf(x), __builtin_ceil(x))
LCPY_REAL(Round, __builtin_rintf(x), __builtin_rint(x))
LCPY_REAL(Trunc, __builtin_truncf(x), __builtin_trunc(x))
LCPY_REAL(Fract, x - __builtin_floorf(x), x - __builtin_floor(x))
LCPY_REAL(Sqrt, __builtin_sqrtf(x), __builtin_sqrt(x))
LCPY_REAL(Rsqrt, 1.0f / __builtin_sqrtf(x), 1.0 / __builtin_sqrt(x))

LCPY_BINARY(Copysign, {
  using U = bits_t<T>;
  constexpr U sign = static_cast<U>(U{1} << (width_v<T> - 1));
  return bit_copy<T>(
      static_cast<U>((bit_copy<U>(a) & static_cast<U>(~sign)) | (bit_copy<U>(b) & sign)));
})
struct IsNan {
  template <class T>
  LCPY_INLINE bool of(T x) {
    return up(x) != up(x);
  }
};
struct IsInf {
  template <class T>
  LCPY_INLINE bool of(T x) {
    return up(Abs::of(x)) == std::numeric_limits<real_t<T>>::infinity();
  }
};
// a * b + c, rounded once.
struct Fma {
  LCPY_INLINE float of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  LCPY_INLINE double of(double a, double b, double c) { return __builtin_fma(a, b, c); }
  // The product is exact in double; the sum's error makes the double sticky before the last
  // rounding.
  LCPY_INLINE Half of(Half a, Half b, Half c) {
    const double p = static_cast<double>(up(a)) * static_cast<double>(up(b)), d = up(c);
    const double s = p + d, t = s - p, e = (p - (s - t)) + (d - t);
    int64_t bits = bit_copy<int64_t>(s);
    const bool inexact = e != 0 && s - s == 0;
    const bool away = inexact && ((e < 0) != (s < 0));
    bits -= away ? 1 : 0;
    bits |= inexact ? 1 : 0;
    return double_to_half(bit_copy<double>(bits));
  }
};

// ---- bits --------------------------------------------------------------------------------------

LCPY_UNARY(Clz, {
  const bits_t<T> u = static_cast<bits_t<T>>(x);
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(u == 0 ? 64 : __builtin_clzll(u | (u == 0)));
  else
    return static_cast<T>(u == 0 ? width_v<T>
                                 : __builtin_clz(u | uint32_t{u == 0}) - (32 - width_v<T>));
})
LCPY_UNARY(Ctz, {
  const bits_t<T> u = static_cast<bits_t<T>>(x);
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(u == 0 ? 64 : __builtin_ctzll(u | (u == 0)));
  else
    return static_cast<T>(u == 0 ? width_v<T> : __builtin_ctz(u | uint32_t{u == 0}));
})
LCPY_UNARY(Popcount, {
  using U = wrap_t<T>;
  constexpr U m1 = static_cast<U>(0x5555555555555555ull),
              m2 = static_cast<U>(0x3333333333333333ull);
  constexpr U m4 = static_cast<U>(0x0f0f0f0f0f0f0f0full),
              ones = static_cast<U>(0x0101010101010101ull);
  U u = static_cast<bits_t<T>>(x);
  u = u - ((u >> 1) & m1);
  u = (u & m2) + ((u >> 2) & m2);
  u = (u + (u >> 4)) & m4;
  return static_cast<T>((u * ones) >> (width_v<U> - 8));
})
LCPY_UNARY(ReverseBits, {
  using U = wrap_t<T>;
  U u = static_cast<bits_t<T>>(x);
  constexpr U m1 = static_cast<U>(0x5555555555555555ull),
              m2 = static_cast<U>(0x3333333333333333ull);
  constexpr U m4 = static_cast<U>(0x0f0f0f0f0f0f0f0full),
              m8 = static_cast<U>(0x00ff00ff00ff00ffull);
  u = ((u >> 1) & m1) | ((u & m1) << 1);
  u = ((u >> 2) & m2) | ((u & m2) << 2);
  u = ((u >> 4) & m4) | ((u & m4) << 4);
  if constexpr (sizeof(T) >= 2) u = ((u >> 8) & m8) | ((u & m8) << 8);
  if constexpr (sizeof(T) == 4) u = (u >> 16) | (u << 16);
  if constexpr (sizeof(T) == 8) {
    constexpr U m16 = static_cast<U>(0x0000ffff0000ffffull);
    u = ((u >> 16) & m16) | ((u & m16) << 16);
    u = (u >> 32) | (u << 32);
  }
  return static_cast<T>(u);
})
LCPY_BINARY(MulHi, {
  if constexpr (sizeof(T) == 8) {
    using W = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> 64);
  } else {
    using W = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> width_v<T>);
  }
})
LCPY_BINARY(PowInt, {
  using U = wrap_t<T>;
  if constexpr (std::is_signed_v<T>) {
    if (b < 0) return a == T{1} ? T{1} : a == T{-1} ? ((b & 1) ? T{-1} : T{1}) : T{0};
  }
  U result = 1;
  U base = static_cast<U>(a);
  for (bits_t<T> e = static_cast<bits_t<T>>(b); e != 0; e = static_cast<bits_t<T>>(e >> 1)) {
    result = (e & 1) ? result * base : result;
    base *= base;
  }
  return static_cast<T>(result);
})

// ---- conversions -------------------------------------------------------------------------------

// Truncates, saturates, NaN gives 0. The bounds are powers of two, exact in every float type; what
// lies within one below the lower bound truncates to it, which is also what saturation gives.
template <class To, class From>
LCPY_INLINE To float_to_int(From x) {
  constexpr To low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  constexpr int bits = width_v<To> - (std::is_signed_v<To> ? 1 : 0);
  constexpr From above = static_cast<From>(uint64_t{1} << (bits - 1)) * From(2);  // high + 1
  constexpr From below = std::is_signed_v<To> ? -above : From(0);
  const bool inside = (x >= below) & (x < above);
  To r = static_cast<To>(inside ? x : From(0));
  r = x >= above ? high : r;
  return x < below ? low : r;
}

// To float with the last bit sticky, from any number.
template <class From>
LCPY_INLINE float sticky_float(From x) {
  if constexpr (std::is_same_v<From, double>)
    return double_to_float_odd(x);
  else if constexpr (std::is_same_v<From, float>)
    return x;
  else if constexpr (sizeof(From) < 8)
    return double_to_float_odd(static_cast<double>(x));
  else {
    const uint64_t u = x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    const bool wide = (u >> 53) != 0;
    const double top = static_cast<double>(wide ? u & ~uint64_t{0x7ff} : u);
    const uint64_t sticky = wide && (u & 0x7ff) != 0;
    const float f = double_to_float_odd(bit_copy<double>(bit_copy<uint64_t>(top) | sticky));
    return x < 0 ? -f : f;
  }
}

template <class To, class From>
LCPY_INLINE To convert(From x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (std::is_same_v<From, BFloat>)
    return convert<To>(bfloat_to_float(x));
  else if constexpr (std::is_same_v<From, Float8E4M3>)
    return convert<To>(float8_to_float<3, true>(x.bits));
  else if constexpr (std::is_same_v<From, Float8E5M2>)
    return convert<To>(float8_to_float<2, false>(x.bits));
  else if constexpr (std::is_same_v<To, BFloat> || std::is_same_v<To, Float8E4M3> ||
                     std::is_same_v<To, Float8E5M2>) {
    float f;
    if constexpr (is_bool_v<From> || std::is_same_v<From, Half>)
      f = convert<float>(x);
    else
      f = sticky_float(x);
    if constexpr (std::is_same_v<To, BFloat>)
      return float_to_bfloat(f);
    else if constexpr (std::is_same_v<To, Float8E4M3>)
      return To{float_to_float8<3, true>(f)};
    else
      return To{float_to_float8<2, false>(f)};
  } else if constexpr (is_bool_v<To>)
    return up(x) != 0;
  else if constexpr (std::is_same_v<To, Half>) {
    if constexpr (std::is_same_v<From, double>)
      return double_to_half(x);
    else
      return float_to_half(static_cast<float>(x));  // integers: exact, or far beyond half's range
  } else if constexpr (std::is_same_v<From, Half>)
    return convert<To>(half_to_float(x));
  else if constexpr (is_real_v<From> && is_int_v<To>)
    return float_to_int<To>(x);
  else
    return static_cast<To>(x);
}
struct ConvertUnchecked {
  template <class To, class From>
  LCPY_INLINE To of(From x) {
    return convert<To>(x);
  }
};

#undef LCPY_UNARY
#undef LCPY_BINARY
#undef LCPY_COMPARE
#undef LCPY_REAL

}  // namespace lcpy::semantics
