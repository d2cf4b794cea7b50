// strict
#define TILE 128
extern "C" __global__ void __launch_bounds__(TILE)
    advance(const float4* __restrict__ bodies, float4* __restrict__ velocities,
            float4* __restrict__ moved, float dt, int n) {
  __shared__ float4 tile[TILE];
  const int i = blockIdx.x * TILE + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 pull = f3(0.0f);
  for (int start = 0; start < n; start += TILE) {
    tile[threadIdx.x] =
        start + threadIdx.x < n ? bodies[start + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int j = 0; j < TILE; j++) {
      const float4 there = tile[j];
      const float3 d = f3(there.x - me.x, there.y - me.y, there.z - me.z);
      const float square = d.x * d.x + d.y * d.y + d.z * d.z + 0.0025f;
      const float inverse = 1.0f / sqrtf(square);
      pull += d * (there.w * inverse * inverse * inverse);
    }
    __syncthreads();
  }
  if (i >= n) return;
  const float4 before = velocities[i];
  const float3 velocity = f3(before.x, before.y, before.z) + pull * dt;
  velocities[i] = pixel(velocity);
  moved[i] = make_float4(me.x + velocity.x * dt, me.y + velocity.y * dt, me.z + velocity.z * dt, me.w);
}
