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
struct lcpy_block { uint w[8]; };
static __device__ int f1(const uint* const w, const uint v0, const int v1);

static __device__ int f1(const uint* const w, const uint v0, const int v1) {
  int v95;
  uint v83 = v0;
  int v84 = 0;
  for (;;) {
    if (!(1u != v83)) {
      v95 = v84;
      break;
    }
    if (v84 >= v1) {
      return (-1);
    }
    const uint v93 = (0u == (1u & v83)) ? (v83 >> 1u) : (1u + (v83 * 3u));
    const int v94 = (int)(1u + (uint)v84);
    v83 = v93;
    v84 = v94;
  }
  return v95;
}

extern "C" __global__ void __launch_bounds__(32)
lcpy_main(const int* g0_values, int* g1_out, const __grid_constant__ lcpy_block block) {
  const uint* const w = block.w;
  const uint v4 = (blockIdx.x * 32u + threadIdx.x);
  if (v4 < w[0]) {
    const int v7 = g0_values[v4];
    const int v96 = v7 % 11;
    const int v99 = (v96 < 0) ? ((int)((uint)v96 + 11u)) : v96;
    int v48;
    int v10 = 0;
    int v11 = 0;
    for (;;) {
      if (!(v10 < v99)) {
        v48 = v11;
        break;
      }
      const int v14 = (int)(1u + (uint)v10);
      if (v10 == 7) {
        v10 = v14;
        continue;
      }
      const uint v28 = (v10 < 20) ? (1u + (((20u - ((uint)(v10))) - 1u) / 3u)) : 0u;
      bool v42;
      int v43;
      int v29 = v10;
      uint v30 = 0u;
      int v31 = v11;
      for (;;) {
        if (!(v30 < v28)) {
          v42 = false;
          v43 = v31;
          break;
        }
        const int v35 = (int)(3u + (uint)v29);
        const uint v36 = 1u + v30;
        if (((int)((uint)v10 * (uint)v29)) > v7) {
          v42 = true;
          v43 = v31;
          break;
        }
        const int v41 = (int)((uint)v31 + (uint)(v10 ^ v29));
        v29 = v35;
        v30 = v36;
        v31 = v41;
      }
      int v46;
      if (v42) {
        v46 = v43;
      } else {
        v46 = (int)((uint)v43 + 1000u);
      }
      v10 = v14;
      v11 = v46;
    }
    const uint v49 = 1u + v4;
    bool v54;
    if (v49 < w[4]) {
      const int v52 = g0_values[v49];
      v54 = v52 > v7;
    } else {
      v54 = false;
    }
    int v58;
    if (v54 | (v7 < 0)) {
      v58 = (int)(-(uint)v48);
    } else {
      v58 = v48;
    }
    const int v100 = v7 % 7;
    const int v103 = (v100 < 0) ? ((int)((uint)v100 + 7u)) : v100;
    int v75;
    if ((0 == v103) | (3 == v103)) {
      v75 = 1;
    } else {
      const bool v64 = 5 == v103;
      bool v66;
      if (v64) {
        v66 = v7 > 20;
      } else {
        v66 = v64;
      }
      int v74;
      if (v66) {
        v74 = 2;
      } else {
        int v73;
        if (6 == v103) {
          v73 = (int)((uint)v7 + 100u);
        } else {
          v73 = (int)((uint)v7 - 1u);
        }
        v74 = v73;
      }
      v75 = v74;
    }
    const int v81 = f1(w, (uint)(((int)((uint)v7 + 1u))), 60);
    g1_out[v4] = (int)((uint)((int)((uint)v58 + (uint)((int)(7u * (uint)v75)))) + (uint)v81);
  }
}

}  // namespace lc
