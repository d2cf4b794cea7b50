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
// array<int,64>
typedef struct { int e[64]; } __attribute__((aligned(4))) T0;
static_assert(sizeof(T0) == 256 && alignof(T0) == 4, "T0");

extern "C" __global__ void __launch_bounds__(64)
lcpy_main(const int* g0_values, int* g1_out, uint* g2_count, const __grid_constant__ lcpy_block block) {
  const uint* const w = block.w;
  __shared__ T0 s3_cells[1];
  const uint v2 = (blockIdx.x * 64u + threadIdx.x);
  const bool v4 = v2 < w[0];
  const uint v6 = threadIdx.x;
  int v9;
  if (v4) {
    const int v7 = g0_values[v2];
    v9 = v7;
  } else {
    v9 = 0;
  }
  s3_cells[0].e[v6] = v9;
  uint v10 = 1u;
  for (;;) {
    if (!(v10 < 64u)) {
      break;
    }
    __syncthreads();
    const int v13 = s3_cells[0].e[v6];
    const int v15 = s3_cells[0].e[v6 ^ v10];
    __syncthreads();
    s3_cells[0].e[v6] = (0u == (v6 & v10)) ? min(v13, v15) : max(v13, v15);
    v10 = v10 * 2u;
  }
  __syncthreads();
  const int v25 = s3_cells[0].e[v6];
  if (v4) {
    g1_out[v2] = v25;
  }
  const int v26 = s3_cells[0].e[v6];
  if (v26 > 50) {
    const uint v31 = 1u & (blockIdx.x);
    if (v4) {
      atomicAdd((uint*)&g2_count[v31], 1u);
    }
  }
}

}  // namespace lc
