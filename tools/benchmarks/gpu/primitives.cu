// The algorithms of lcpy.primitives: no use of warps, the order of combination fixed by the length.
extern "C" __global__ void __launch_bounds__(256)
    reduce(const float* __restrict__ source, float* __restrict__ partial, unsigned n,
           unsigned rounds) {
  __shared__ float totals[256];
  const unsigned thread = threadIdx.x, stretch = rounds * 512;
  const unsigned start = (blockIdx.x * 4 + thread / 64) * stretch;
  unsigned i = start + thread % 64;
  float total = 0.0f;
  if (start < n && stretch <= n - start) {
    for (unsigned r = 0; r < rounds; r++) {
#pragma unroll
      for (unsigned step = 0; step < 8; step++) total += source[i + step * 64];
      i += 512;
    }
  } else {
    for (unsigned r = 0; r < rounds * 8; r++) {
      if (start <= i && i < n) total += source[i];
      i += 64;
    }
  }
  totals[thread] = total;
  __syncthreads();
  if (thread < 16) {
#pragma unroll
    for (unsigned k = 1; k < 16; k++) total += totals[thread + k * 16];
    totals[thread] = total;
  }
  __syncthreads();
  if (thread == 0) {
#pragma unroll
    for (unsigned k = 1; k < 16; k++) total += totals[k];
    partial[blockIdx.x] = total;
  }
}

INLINE void load_tile(const float* __restrict__ source, unsigned n, float* tile) {
  const unsigned first = blockIdx.x * 2048 + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < 8; k++)
    tile[k * 256 + threadIdx.x] = first + k * 256 < n ? source[first + k * 256] : 0.0f;
  __syncthreads();
}

INLINE float total_of_items(const float* tile) {
  float total = tile[threadIdx.x * 8];
#pragma unroll
  for (unsigned k = 1; k < 8; k++) total += tile[threadIdx.x * 8 + k];
  return total;
}

extern "C" __global__ void __launch_bounds__(256)
    tile_totals(const float* __restrict__ source, float* __restrict__ totals, unsigned n) {
  __shared__ float tile[2048], sums[256];
  const unsigned thread = threadIdx.x;
  load_tile(source, n, tile);
  sums[thread] = total_of_items(tile);
  __syncthreads();
  if (thread < 16) {
    float total = sums[thread * 16];
#pragma unroll
    for (unsigned k = 1; k < 16; k++) total += sums[thread * 16 + k];
    sums[thread * 16] = total;
  }
  __syncthreads();
  if (thread == 0) {
    float total = sums[0];
#pragma unroll
    for (unsigned k = 1; k < 16; k++) total += sums[k * 16];
    totals[blockIdx.x] = total;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    tile_scan(const float* __restrict__ source, float* __restrict__ target,
              const float* __restrict__ offsets, unsigned n, bool inclusive) {
  __shared__ float tile[2048], sums[256], groups[16];
  const unsigned thread = threadIdx.x;
  load_tile(source, n, tile);
  sums[thread] = total_of_items(tile);
  __syncthreads();
  if (thread < 16) {
    float running = 0.0f;
#pragma unroll
    for (unsigned k = 0; k < 16; k++) {
      const float after = running + sums[thread * 16 + k];
      sums[thread * 16 + k] = running;
      running = after;
    }
    groups[thread] = running;
  }
  __syncthreads();
  if (thread == 0) {
    float running = offsets[blockIdx.x];
#pragma unroll
    for (unsigned k = 0; k < 16; k++) {
      const float after = running + groups[k];
      groups[k] = running;
      running = after;
    }
  }
  __syncthreads();
  float running = groups[thread / 16] + sums[thread];
#pragma unroll
  for (unsigned k = 0; k < 8; k++) {
    const float after = running + tile[thread * 8 + k];
    tile[thread * 8 + k] = inclusive ? after : running;
    running = after;
  }
  __syncthreads();
  const unsigned first = blockIdx.x * 2048 + thread;
#pragma unroll
  for (unsigned k = 0; k < 8; k++)
    if (first + k * 256 < n) target[first + k * 256] = tile[k * 256 + thread];
}

extern "C" __global__ void __launch_bounds__(256)
    histogram(const int* __restrict__ values, unsigned* __restrict__ counts, unsigned n,
              unsigned rounds) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const unsigned stretch = rounds * 512;
  const unsigned start = (blockIdx.x * 4 + threadIdx.x / 64) * stretch;
  unsigned i = start + threadIdx.x % 64;
  if (start < n && stretch <= n - start) {
    for (unsigned r = 0; r < rounds; r++) {
#pragma unroll
      for (unsigned step = 0; step < 8; step++) {
        const unsigned value = values[i + step * 64];
        if (value < 256) atomicAdd(&mine[value], 1u);
      }
      i += 512;
    }
  } else {
    for (unsigned r = 0; r < rounds * 8; r++) {
      if (start <= i && i < n) {
        const unsigned value = values[i];
        if (value < 256) atomicAdd(&mine[value], 1u);
      }
      i += 64;
    }
  }
  __syncthreads();
  if (mine[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
