#define LCPY_DEV __device__ __forceinline__
namespace lc {
typedef unsigned char uchar;
typedef signed char schar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef long long llong;
typedef unsigned long long ullong;
#ifdef __CUDACC_RTC__
#define LCPY_OFFSET(T, m) __INTADDR__(&((T*)0)->m)
#else
#define LCPY_OFFSET(T, m) __builtin_offsetof(T, m)
#endif
struct __attribute__((aligned(16))) uint3 {
  uint x, y, z, pad;
  uint3() = default;
  LCPY_DEV uint3(uint vx, uint vy, uint vz) : x(vx), y(vy), z(vz), pad() {}
  explicit LCPY_DEV uint3(uint v) : x(v), y(v), z(v), pad() {}
};
static_assert(sizeof(uint3) == 16 && alignof(uint3) == 16, "uint3");
struct __attribute__((aligned(8))) float2 {
  float x, y;
  float2() = default;
  LCPY_DEV float2(float vx, float vy) : x(vx), y(vy) {}
  explicit LCPY_DEV float2(float v) : x(v), y(v) {}
};
static_assert(sizeof(float2) == 8 && alignof(float2) == 8, "float2");
struct __attribute__((aligned(16))) float3 {
  float x, y, z, pad;
  float3() = default;
  LCPY_DEV float3(float vx, float vy, float vz) : x(vx), y(vy), z(vz), pad() {}
  explicit LCPY_DEV float3(float v) : x(v), y(v), z(v), pad() {}
};
static_assert(sizeof(float3) == 16 && alignof(float3) == 16, "float3");
struct lcpy_block { uint w[24]; };
// matrix<float,3>
typedef struct { float3 c[3]; } __attribute__((aligned(16))) T0;
static_assert(sizeof(T0) == 48 && alignof(T0) == 16, "T0");
// array<ushort,3>
typedef struct { ushort e[3]; } __attribute__((aligned(2))) T1;
static_assert(sizeof(T1) == 6 && alignof(T1) == 2, "T1");
// struct<16,float,matrix<float,3>,bool,array<ushort,3>>
typedef struct { float m0; uint pad0[3]; T0 m1; uchar m2; uchar pad1[1]; T1 m3; uint pad2[2]; } __attribute__((aligned(16))) T2;
static_assert(sizeof(T2) == 80 && alignof(T2) == 16 && LCPY_OFFSET(T2, m0) == 0 && LCPY_OFFSET(T2, m1) == 16 && LCPY_OFFSET(T2, m2) == 64 && LCPY_OFFSET(T2, m3) == 66, "T2");
// array<struct<16,float,matrix<float,3>,bool,array<ushort,3>>,2>
typedef struct { T2 e[2]; } __attribute__((aligned(16))) T3;
static_assert(sizeof(T3) == 160 && alignof(T3) == 16, "T3");
// struct<16,array<struct<16,float,matrix<float,3>,bool,array<ushort,3>>,2>,vector<float,3>,long>
typedef struct { T3 m0; float3 m1; llong m2; uint pad0[2]; } __attribute__((aligned(16))) T4;
static_assert(sizeof(T4) == 192 && alignof(T4) == 16 && LCPY_OFFSET(T4, m0) == 0 && LCPY_OFFSET(T4, m1) == 160 && LCPY_OFFSET(T4, m2) == 176, "T4");
static __device__ T2 clean_T2(T2 v) { v.m2 = v.m2 != 0; return v; }
static __device__ T3 clean_T3(T3 v) { for (int i = 0; i < 2; i++) { v.e[i] = clean_T2(v.e[i]); } return v; }
static __device__ T4 clean_T4(T4 v) { v.m0 = clean_T3(v.m0); return v; }
static LCPY_DEV float2 operator+(float2 a, float2 b) { return float2(a.x + b.x, a.y + b.y); }
static __device__ float block_float(const uint* p, uint at) { return __uint_as_float(p[at >> 2]); }
static __device__ float3 block_vector_float_3(const uint* p, uint at) { return float3(block_float(p, at), block_float(p, at + 4u), block_float(p, at + 8u)); }
static __device__ T0 block_matrix_float_3(const uint* p, uint at) { T0 v; for (uint i = 0; i < 3; i++) v.c[i] = block_vector_float_3(p, at + i * 16u); return v; }
static LCPY_DEV float3 operator*(float3 a, float3 b) { return float3(a.x * b.x, a.y * b.y, a.z * b.z); }
static LCPY_DEV float3 operator+(float3 a, float3 b) { return float3(a.x + b.x, a.y + b.y, a.z + b.z); }

extern "C" __global__ void __launch_bounds__(32)
lcpy_main(T4* g0_items, float2* g2_out, const __grid_constant__ lcpy_block block) {
  const uint* const w = block.w;
  T4 l3_item;
  T2 l4_part;
  T4 l5_whole;
  const uint v2 = (blockIdx.x * 32u + threadIdx.x);
  if (v2 < w[0]) {
    const int v5 = (int)(v2);
    const T4 v6 = clean_T4(g0_items[v5]);
    l3_item = v6;
    const int v8 = v5 & 1;
    const float v9 = __uint_as_float(w[4]);
    const T2 v10 = l3_item.m0.e[v8];
    l4_part = v10;
    const float v11 = l4_part.m0;
    l4_part.m0 = v9 + v11;
    const bool v13 = l4_part.m2 != 0;
    l4_part.m2 = (uchar)(!v13);
    int v15 = 0;
#pragma unroll
    for (;;) {
      if (!(v15 < 3)) {
        break;
      }
      const ushort v19 = l4_part.m3.e[v15];
      l4_part.m3.e[v15] = (ushort)((uint)v19 + (uint)((ushort)(v15)));
      v15 = (int)(1u + (uint)v15);
    }
    const T2 v23 = l4_part;
    l3_item.m0.e[v8] = v23;
    const int v24 = (int)(1u - (uint)v8);
    const T2 v25 = clean_T2(g0_items[v5].m0.e[v24]);
    l4_part = v25;
    const float v26 = l4_part.m0;
    l4_part.m0 = 0.5f + v26;
    const bool v29 = l4_part.m2 != 0;
    l4_part.m2 = (uchar)(!v29);
    int v31 = 0;
#pragma unroll
    for (;;) {
      if (!(v31 < 3)) {
        break;
      }
      const ushort v34 = l4_part.m3.e[v31];
      l4_part.m3.e[v31] = (ushort)((uint)v34 + (uint)((ushort)(v31)));
      v31 = (int)(1u + (uint)v31);
    }
    const T2 v37 = l4_part;
    g0_items[v5].m0.e[v24] = v37;
    const float3 v38 = l3_item.m1;
    const float2 v41 = float2(v38.x, v38.y) + float2(1.0f, 2.0f);
    l3_item.m1.z = v41.x;
    l3_item.m1.x = v41.y;
    const T4 v44 = l3_item;
    l5_whole = v44;
    const int v63 = v5 % 3;
    const float3 v46 = l5_whole.m0.e[v8].m1.c[(v63 < 0) ? ((int)((uint)v63 + 3u)) : v63];
    const float v50 = l5_whole.m0.e[v24].m0;
    const float3 v51 = l3_item.m1;
    const T0 v52 = block_matrix_float_3(w, 32u);
    const float3 v53 = l3_item.m1;
    g0_items[v5].m1 = v51 + (((v52.c[0] * float3(v53.x)) + (v52.c[1] * float3(v53.y))) + (v52.c[2] * float3(v53.z)));
    const llong v56 = l3_item.m2;
    const ushort v59 = l3_item.m0.e[0].m3.e[2];
    g0_items[v5].m2 = (llong)((ullong)((llong)((ullong)v56 * 3ULL)) - (ullong)((llong)(v59)));
    g2_out[v5] = float2((v46.x + v46.y), v50);
  }
}

}  // namespace lc
