// strict
extern "C" __global__ void __launch_bounds__(256)
    mandelbrot(float4* __restrict__ image, int* __restrict__ counts, int width, int height) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  const float cx = ((float)x / width - 0.72f) * 2.7f, cy = ((float)y / height - 0.5f) * 2.7f;
  float zx = 0.0f, zy = 0.0f;
  int count = 0;
  while (count < 256) {
    const float xx = zx * zx, yy = zy * zy;
    if (xx + yy > 4.0f) break;
    zy = 2.0f * zx * zy + cy;
    zx = xx - yy + cx;
    count++;
  }
  counts[y * width + x] = count;
  float3 colour = f3(0.0f);
  if (count < 256) {
    const float t = (float)count / 48.0f;
    colour = f3(0.5f + 0.5f * cosf(6.2831853f * t + 3.0f),
                0.5f + 0.5f * cosf(6.2831853f * (t + 0.10f) + 3.0f),
                0.5f + 0.5f * cosf(6.2831853f * (t + 0.20f) + 3.0f));
  }
  image[y * width + x] = pixel(colour);
}
