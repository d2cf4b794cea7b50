INLINE float3 at(const float4* __restrict__ image, int x, int y, int w, int h) {
  const float4 p = image[min(max(y, 0), h - 1) * w + min(max(x, 0), w - 1)];
  return f3(p.x, p.y, p.z);
}

extern "C" __global__ void __launch_bounds__(256)
    non_local_means(const float4* __restrict__ noisy, float4* __restrict__ clean, float strength,
                    int w, int h) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= w || y >= h) return;
  float3 total = f3(0.0f);
  float weights = 0.0f;
  for (int dy = -5; dy <= 5; dy++) {
    for (int dx = -5; dx <= 5; dx++) {
      float difference = 0.0f;
#pragma unroll
      for (int v = -1; v <= 1; v++) {
#pragma unroll
        for (int u = -1; u <= 1; u++) {
          const float3 d = at(noisy, x + u, y + v, w, h) - at(noisy, x + dx + u, y + dy + v, w, h);
          difference += dot(d, d);
        }
      }
      const float weight = expf(-difference * strength);
      total += weight * at(noisy, x + dx, y + dy, w, h);
      weights += weight;
    }
  }
  clean[y * w + x] = pixel(total / weights);
}
