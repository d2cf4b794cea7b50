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

extern "C" __global__ void __launch_bounds__(64)
lcpy_main(const float* g0_x, float* g1_y, const __grid_constant__ lcpy_block block) {
  const uint* const w = block.w;
  const uint v2 = (blockIdx.x * 64u + threadIdx.x);
  if (v2 < w[0]) {
    const float v5 = __uint_as_float(w[4]);
    const float v6 = g0_x[v2];
    const float v8 = g1_y[v2];
    g1_y[v2] = (v5 * v6) + v8;
  }
}

}  // namespace lc
