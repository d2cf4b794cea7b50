#define LCPY_DEV __device__ __forceinline__
namespace lc {
typedef unsigned char uchar;
typedef signed char schar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef long long llong;
typedef unsigned long long ullong;
struct __attribute__((aligned(16))) uint3 {
  uint x, y, z, pad;
  uint3() = default;
  LCPY_DEV uint3(uint vx, uint vy, uint vz) : x(vx), y(vy), z(vz), pad() {}
  explicit LCPY_DEV uint3(uint v) : x(v), y(v), z(v), pad() {}
};
static_assert(sizeof(uint3) == 16 && alignof(uint3) == 16, "uint3");
struct lcpy_block { uint w[4]; };
static LCPY_DEV llong llong_of_float(float a) { llong r; asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(r) : "f"(a)); return a == a ? r : 0; }

extern "C" __global__ void __launch_bounds__(64)
lcpy_main(const uchar* g0_a, const short* g1_b, const uint* g2_c, llong* g3_out, const __grid_constant__ lcpy_block block) {
  const uint* const w = block.w;
  const uint v2 = (blockIdx.x * 64u + threadIdx.x);
  if (v2 < w[0]) {
    const uchar v5 = g0_a[v2];
    const short v6 = g1_b[v2];
    const uint v7 = g2_c[v2];
    const uint v54 = ((uint)(v6)) & 31u;
    const uint v65 = ((uint)((uint)(v7 & 1431655765u) << 1u)) | ((v7 >> 1u) & 1431655765u);
    const uint v72 = ((uint)((uint)(v65 & 858993459u) << 2u)) | ((v65 >> 2u) & 858993459u);
    const uint v79 = ((uint)((uint)(v72 & 252645135u) << 4u)) | ((v72 >> 4u) & 252645135u);
    const uint v86 = ((uint)((uint)(v79 & 16711935u) << 8u)) | ((v79 >> 8u) & 16711935u);
    const uint v10 = (((uint)((uint)v7 << (uint)v54)) | (v7 >> (((uint)(-(uint)v54)) & 31u))) ^ (((uint)((uint)(v86 & 65535u) << 16u)) | ((v86 >> 16u) & 65535u));
    const uint v11 = (uint)(v5);
    const uint v12 = v10 ^ v11;
    const llong v18 = (llong)((ullong)((llong)((ullong)((llong)(v12)) * (ullong)((llong)(v6)))) - (ullong)((llong)(__umulhi(v7, v12))));
    const llong v21 = (llong)((v11 + 1u));
    const llong v103 = ((v21 == 0LL) | ((v18 == (-9223372036854775807LL - 1)) & (v21 == (-1LL)))) ? 1LL : v21;
    const llong v104 = v18 / v103;
    const llong v106 = (llong)((ullong)v18 - (ullong)((llong)((ullong)v104 * (ullong)v103)));
    const llong v115 = v18 % 1000LL;
    const llong v25 = (llong)((ullong)((v21 == 0LL) ? 0LL : (((v106 != 0LL) & ((v106 ^ v103) < 0LL)) ? ((llong)((ullong)v104 - 1ULL)) : v104)) + (ullong)((v115 < 0LL) ? ((llong)((ullong)v115 + 1000ULL)) : v115));
    const llong v30 = (llong)((ullong)((llong)(((uchar)(((uint)__popc(((uint)((uint)((uint)(v5)) << 24u)))))))) + (ullong)((llong)(((short)(((uint)__clz((((uint)((uint)((uint)(((ushort)(v6)))) << 16u)) | 32768u))))))));
    const llong v42 = ((llong)((ullong)v25 + (ullong)((llong)((ullong)v30 + (ullong)((llong)(((uint)__popc(((~v7) & (v7 - 1u)))))))))) ^ ((llong)((ullong)llong_of_float((((float)(v7)) * 3.5f)) << (ullong)(((llong)((v7 % 70u))) & 63LL)));
    const llong v48 = (llong)(((short)(v6 / ((short)7))));
    const llong v51 = (llong)((ullong)((llong)((ullong)v42 - (ullong)((llong)(((short)(v6 >> ((short)(((short)(v5)) & ((short)15))))))))) + (ullong)((llong)((ullong)v48 * (ullong)((llong)((ullong)v48 * (ullong)v48)))));
    g3_out[v2] = v51;
  }
}

}  // namespace lc
