// What CUDA C++ has that C++ has not, for running emitted text on the processor: the words of the
// language, its functions, and PTX instructions as functions. No header is included: the text is
// compiled many times over.
#pragma once
#define __device__
#define __global__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)

struct lcpy_index {
  unsigned x, y, z;
};
extern "C" lcpy_index threadIdx, blockIdx, blockDim, gridDim;
extern "C" void lcpy_host_barrier();
inline void __syncthreads() { lcpy_host_barrier(); }
extern "C" unsigned lcpy_host_lane();
extern "C" const unsigned long long* lcpy_host_exchange(unsigned lanes, unsigned long long value);

typedef decltype(sizeof(0)) size_t;
inline void memcpy(void* to, const void* from, size_t n) { __builtin_memcpy(to, from, n); }
template <class To, class From>
inline To lcpy_bits(From f) {
  To t;
  __builtin_memcpy(&t, &f, sizeof t);
  return t;
}
inline float __uint_as_float(unsigned v) { return lcpy_bits<float>(v); }
inline float __int_as_float(int v) { return lcpy_bits<float>(v); }
inline unsigned __float_as_uint(float v) { return lcpy_bits<unsigned>(v); }
inline int __float_as_int(float v) { return lcpy_bits<int>(v); }
inline double __longlong_as_double(long long v) { return lcpy_bits<double>(v); }
inline long long __double_as_longlong(double v) { return lcpy_bits<long long>(v); }

#define LCPY_ORDERED(T)                            \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
LCPY_ORDERED(int)
LCPY_ORDERED(unsigned)
LCPY_ORDERED(long long)
LCPY_ORDERED(unsigned long long)
inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline unsigned __brev(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (v >> i & 1) << (31 - i);
  return r;
}
inline unsigned long long __brevll(unsigned long long v) {
  return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}

#define LCPY_FUNCTION(name)                                        \
  inline float name##f(float x) { return __builtin_##name##f(x); } \
  inline double name(double x) { return __builtin_##name(x); }
#define LCPY_FUNCTION2(name)                                                   \
  inline float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  inline double name(double x, double y) { return __builtin_##name(x, y); }
LCPY_FUNCTION(fabs)
LCPY_FUNCTION(floor)
LCPY_FUNCTION(ceil)
LCPY_FUNCTION(rint)
LCPY_FUNCTION(trunc)
LCPY_FUNCTION(sqrt)
LCPY_FUNCTION(exp)
LCPY_FUNCTION(exp2)
LCPY_FUNCTION(exp10)
LCPY_FUNCTION(log)
LCPY_FUNCTION(log2)
LCPY_FUNCTION(log10)
LCPY_FUNCTION(sin)
LCPY_FUNCTION(cos)
LCPY_FUNCTION(tan)
LCPY_FUNCTION(asin)
LCPY_FUNCTION(acos)
LCPY_FUNCTION(atan)
LCPY_FUNCTION(sinh)
LCPY_FUNCTION(cosh)
LCPY_FUNCTION(tanh)
LCPY_FUNCTION(asinh)
LCPY_FUNCTION(acosh)
LCPY_FUNCTION(atanh)
LCPY_FUNCTION2(fmin)
LCPY_FUNCTION2(fmax)
LCPY_FUNCTION2(fmod)
LCPY_FUNCTION2(pow)
LCPY_FUNCTION2(atan2)
LCPY_FUNCTION2(copysign)
inline float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
inline float rsqrtf(float x) { return (float)(1 / __builtin_sqrt((double)x)); }
inline double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

inline long long clock64() { return (long long)__builtin_ia32_rdtsc(); }

// One thread at a time runs: atomics are plain.
#define LCPY_ATOMIC(name, T, result) \
  inline T name(T* p, T v) {         \
    const T a = *p;                  \
    *p = result;                     \
    return a;                        \
  }
#define LCPY_ATOMICS(T)                      \
  LCPY_ATOMIC(atomicAnd, T, a& v)            \
  LCPY_ATOMIC(atomicOr, T, a | v)            \
  LCPY_ATOMIC(atomicXor, T, a ^ v)           \
  LCPY_ATOMIC(atomicExch, T, v)              \
  inline T atomicCAS(T* p, T compare, T v) { \
    const T a = *p;                          \
    if (a == compare) *p = v;                \
    return a;                                \
  }
LCPY_ATOMICS(int)
LCPY_ATOMICS(unsigned)
LCPY_ATOMICS(unsigned long long)
LCPY_ATOMIC(atomicExch, float, v)
LCPY_ATOMIC(atomicAdd, int, (int)((unsigned)a + (unsigned)v))
LCPY_ATOMIC(atomicAdd, unsigned, a + v)
LCPY_ATOMIC(atomicAdd, unsigned long long, a + v)
LCPY_ATOMIC(atomicAdd, float, a + v)
LCPY_ATOMIC(atomicAdd, double, a + v)
#define LCPY_ORDERED_ATOMICS(T)        \
  LCPY_ATOMIC(atomicMin, T, min(a, v)) \
  LCPY_ATOMIC(atomicMax, T, max(a, v))
LCPY_ORDERED_ATOMICS(int)
LCPY_ORDERED_ATOMICS(unsigned)
LCPY_ORDERED_ATOMICS(long long)
LCPY_ORDERED_ATOMICS(unsigned long long)

// Warps: the lanes named wait for each other, and each gets the values of all. A lane that is not
// among them has none; a shuffle from it gives something that no program may use.
constexpr int warpSize = 32;
inline int __ffs(int v) { return __builtin_ffs(v); }
inline unsigned __ballot_sync(unsigned lanes, int p) {
  const unsigned long long* all = lcpy_host_exchange(lanes, p != 0);
  unsigned bits = 0;
  for (int i = 0; i < 32; i++) bits |= (unsigned)(lanes >> i & all[i] & 1) << i;
  return bits;
}
inline int __all_sync(unsigned lanes, int p) { return __ballot_sync(lanes, p) == lanes; }
inline int __any_sync(unsigned lanes, int p) { return __ballot_sync(lanes, p) != 0; }
template <class T>
inline T __shfl_sync(unsigned lanes, T v, int lane) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &v, sizeof v);
  bits = lcpy_host_exchange(lanes, bits)[lane & 31];
  if (!(lanes >> (lane & 31) & 1)) bits = 0x5a5a5a5a5a5a5a5aull;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
template <class T>
inline T __shfl_xor_sync(unsigned lanes, T v, int bits) {
  return __shfl_sync(lanes, v, (int)lcpy_host_lane() ^ bits);
}
template <class T>
inline T __shfl_up_sync(unsigned lanes, T v, unsigned by) {
  const unsigned lane = lcpy_host_lane();
  return __shfl_sync(lanes, v, (int)(lane < by ? lane : lane - by));
}
inline void ptx_mov_u64(unsigned long long& to, unsigned long long from) { to = from; }
inline void ptx_mov_u32(unsigned& lane) { lane = lcpy_host_lane(); }
inline void ptx_mov_b32(float& r, unsigned a) { r = __uint_as_float(a); }
inline void ptx_mov_b64(double& r, unsigned long long a) { r = __longlong_as_double(a); }

// PTX, by the instruction's name. Conversions to integers saturate; a NaN gives 0 from float to 32
// bits, else the top bit alone.
template <class To, class From>
inline void lcpy_saturate(To& to, From x, bool wide) {
  const bool with_sign = (To)-1 < (To)0;
  const int bits = (int)sizeof(To) * 8;
  const To top = (To)((unsigned long long)1 << (bits - 1));
  const From limit = (From)(1ull << (bits - 1)) * (with_sign ? 1 : 2);
  if (x != x)
    to = wide ? top : (To)0;
  else if (x >= limit)
    to = with_sign ? (To)~top : (To)-1;
  else if (with_sign ? x < -limit : x <= 0)
    to = with_sign ? top : (To)0;
  else
    to = (To)x;
}
inline void ptx_cvt_rzi_s32_f32(int& r, float x) { lcpy_saturate(r, x, false); }
inline void ptx_cvt_rzi_u32_f32(unsigned& r, float x) { lcpy_saturate(r, x, false); }
inline void ptx_cvt_rzi_s64_f32(long long& r, float x) { lcpy_saturate(r, x, true); }
inline void ptx_cvt_rzi_u64_f32(unsigned long long& r, float x) { lcpy_saturate(r, x, true); }
inline void ptx_cvt_rzi_s32_f64(int& r, double x) { lcpy_saturate(r, x, true); }
inline void ptx_cvt_rzi_u32_f64(unsigned& r, double x) { lcpy_saturate(r, x, true); }
inline void ptx_cvt_rzi_s64_f64(long long& r, double x) { lcpy_saturate(r, x, true); }
inline void ptx_cvt_rzi_u64_f64(unsigned long long& r, double x) { lcpy_saturate(r, x, true); }

// Any NaN loses, where C's functions let a signaling one win.
inline bool lcpy_nan_loses(float& r, float a, float b) {
  if (a == a && b == b) return false;
  r = a == a ? a : b == b ? b : __uint_as_float(0x7fffffff);
  return true;
}
inline void ptx_min_f32(float& r, float a, float b) {
  if (lcpy_nan_loses(r, a, b)) return;
  r = a == b ? __uint_as_float(__float_as_uint(a) | __float_as_uint(b)) : a < b ? a : b;
}
inline void ptx_max_f32(float& r, float a, float b) {
  if (lcpy_nan_loses(r, a, b)) return;
  r = a == b ? __uint_as_float(__float_as_uint(a) & __float_as_uint(b)) : a < b ? b : a;
}

typedef unsigned short lcpy_half;
// The machine has one NaN of each type, whatever went in.
inline void ptx_cvt_f32_f16(float& r, lcpy_half h) {
  r = (h & 0x7fff) > 0x7c00 ? lcpy_bits<float>(0x7fffffff) : (float)lcpy_bits<_Float16>(h);
}
inline void ptx_cvt_rn_f16_f32(lcpy_half& r, float x) {
  r = x != x ? 0x7fff : lcpy_bits<lcpy_half>((_Float16)x);
}
inline void ptx_mov_b32(lcpy_half& r, lcpy_half x) { r = x; }
inline void ptx_cvt_rn_f16_f64(lcpy_half& r, double x) {
  r = x != x ? 0x7fff : lcpy_bits<lcpy_half>((_Float16)x);
}
// Sums and products of halves are exact in double.
#define LCPY_HALF(name, sign)                                               \
  inline void ptx_##name##_rn_f16(lcpy_half& r, lcpy_half a, lcpy_half b) { \
    const double x = (double)lcpy_bits<_Float16>(a);                        \
    const double y = (double)lcpy_bits<_Float16>(b);                        \
    ptx_cvt_rn_f16_f64(r, x sign y);                                        \
  }
LCPY_HALF(add, +)
LCPY_HALF(sub, -)
LCPY_HALF(mul, *)
inline void ptx_fma_rn_f16(lcpy_half& r, lcpy_half a, lcpy_half b, lcpy_half c) {
  const __float128 x = lcpy_bits<_Float16>(a), y = lcpy_bits<_Float16>(b);
  const __float128 s = x * y + (__float128)lcpy_bits<_Float16>(c);
  r = s != s ? 0x7fff : lcpy_bits<lcpy_half>((_Float16)s);
}
inline void ptx_fence_acq_rel_gpu() {}
inline void ptx_fence_acq_rel_cta() {}
inline void ptx_fence_sc_gpu() {}
inline void ptx_fence_sc_cta() {}
