extern "C" __global__ void __launch_bounds__(256)
    seed(unsigned char* __restrict__ cells, unsigned width, unsigned height) {
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned h = (x * 73856093u) ^ (y * 19349663u);
  h = (h ^ (h >> 13)) * 1274126177u;
  cells[y * width + x] = (h >> 16) % 5 == 0;
}

extern "C" __global__ void __launch_bounds__(256)
    step(const unsigned char* __restrict__ old, unsigned char* __restrict__ next, unsigned w,
         unsigned h) {
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= w || y >= h) return;
  const unsigned left = x == 0 ? w - 1 : x - 1, right = x + 1 == w ? 0 : x + 1;
  const unsigned up = (y == 0 ? h - 1 : y - 1) * w, down = (y + 1 == h ? 0 : y + 1) * w, row = y * w;
  const unsigned neighbours = old[row + left] + old[row + right] + old[up + left] + old[up + x] +
                              old[up + right] + old[down + left] + old[down + x] +
                              old[down + right];
  next[row + x] = neighbours == 3 || (old[row + x] && neighbours == 2);
}
