extern "C" __global__ void __launch_bounds__(256)
    saxpy(const float* __restrict__ x, float* __restrict__ y, float a, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void __launch_bounds__(256)
    sgemm_naive(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                unsigned n) {
  const unsigned column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= n || column >= n) return;
  float total = 0.0f;
  for (unsigned k = 0; k < n; k++) total += a[row * n + k] * b[k * n + column];
  c[row * n + column] = total;
}

// A tile of 64 by 64 by 256 threads, 16 deep; edges padded with zeros.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                unsigned rows, unsigned columns, unsigned depth) {
  __shared__ float tile_a[16][65], tile_b[16][64];
  const unsigned tx = threadIdx.x, ty = threadIdx.y, linear = ty * 16 + tx;
  const unsigned row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  float sum[4][4] = {};
  for (unsigned k0 = 0; k0 < depth; k0 += 16) {
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
      const unsigned row = row0 + ty + 16 * i, k = k0 + tx;
      tile_a[tx][ty + 16 * i] = row < rows && k < depth ? a[row * depth + k] : 0.0f;
    }
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
      const unsigned k = k0 + linear / 64 + 4 * i, column = column0 + linear % 64;
      tile_b[linear / 64 + 4 * i][linear % 64] =
          k < depth && column < columns ? b[k * columns + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 16; k++) {
      float right[4];
#pragma unroll
      for (unsigned j = 0; j < 4; j++) right[j] = tile_b[k][tx + 16 * j];
#pragma unroll
      for (unsigned i = 0; i < 4; i++) {
        const float left = tile_a[k][ty * 4 + i];
#pragma unroll
        for (unsigned j = 0; j < 4; j++) sum[i][j] += left * right[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned j = 0; j < 4; j++) {
    const unsigned column = column0 + tx + 16 * j;
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
      const unsigned row = row0 + ty * 4 + i;
      if (column < columns && row < rows) c[row * columns + column] = sum[i][j];
    }
  }
}
