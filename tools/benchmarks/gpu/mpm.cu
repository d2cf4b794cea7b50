#define TIME 0.0128f
#define PER_CELL 4.0f
#define MU (1000.0f / (2.0f * 1.2f))
#define LAMBDA (1000.0f * 0.2f / (1.2f * (1.0f - 2.0f * 0.2f)))

struct Matrix {  // by columns
  float2 a, b;
};
struct Particle {
  float2 x, v;
  Matrix c, f;
};

INLINE Matrix matrix(float xx, float xy, float yx, float yy) {  // rows (xx xy), (yx yy)
  return {make_float2(xx, yx), make_float2(xy, yy)};
}
INLINE Matrix product(Matrix p, Matrix q) {
  return matrix(p.a.x * q.a.x + p.b.x * q.a.y, p.a.x * q.b.x + p.b.x * q.b.y,
                p.a.y * q.a.x + p.b.y * q.a.y, p.a.y * q.b.x + p.b.y * q.b.y);
}
INLINE float2 apply(Matrix m, float2 v) {
  return make_float2(m.a.x * v.x + m.b.x * v.y, m.a.y * v.x + m.b.y * v.y);
}
INLINE float weight(float f, int i) {
  return i == 0   ? 0.5f * (1.5f - f) * (1.5f - f)
         : i == 1 ? 0.75f - (f - 1.0f) * (f - 1.0f)
                  : 0.5f * (f - 0.5f) * (f - 0.5f);
}

extern "C" __global__ void __launch_bounds__(128) clear(float4* __restrict__ grid, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) grid[i] = make_float4(0, 0, 0, 0);
}

extern "C" __global__ void __launch_bounds__(128)
    to_grid(Particle* __restrict__ particles, float4* __restrict__ grid, int side, int n) {
  const int id = blockIdx.x * 128 + threadIdx.x;
  if (id >= n) return;
  const float dt = TIME / (float)side;
  Particle p = particles[id];
  p.f = product(matrix(1.0f + dt * p.c.a.x, dt * p.c.b.x, dt * p.c.a.y, 1.0f + dt * p.c.b.y), p.f);
  particles[id].f = p.f;
  const float px = p.x.x * (float)side, py = p.x.y * (float)side;
  const int bx = (int)(px - 0.5f), by = (int)(py - 0.5f);
  const float fx = px - (float)bx, fy = py - (float)by;
  const float mass = 1.0f / (PER_CELL * (float)side * (float)side);
  const float determinant = p.f.a.x * p.f.b.y - p.f.b.x * p.f.a.y;
  const float logarithm = LAMBDA * logf(fmaxf(determinant, 0.05f));
  const Matrix square = product(p.f, matrix(p.f.a.x, p.f.a.y, p.f.b.x, p.f.b.y));
  const float scale = -dt * mass * 4.0f * ((float)side * (float)side);
  const Matrix affine = matrix(
      scale * (MU * (square.a.x - 1.0f) + logarithm) + mass * p.c.a.x,
      scale * (MU * square.b.x) + mass * p.c.b.x, scale * (MU * square.a.y) + mass * p.c.a.y,
      scale * (MU * (square.b.y - 1.0f) + logarithm) + mass * p.c.b.y);
#pragma unroll
  for (int i = 0; i < 3; i++) {
#pragma unroll
    for (int j = 0; j < 3; j++) {
      const float2 distance =
          make_float2(((float)i - fx) / (float)side, ((float)j - fy) / (float)side);
      const float w = weight(fx, i) * weight(fy, j);
      const float2 push = apply(affine, distance);
      float4* node = grid + (by + j) * side + bx + i;
      atomicAdd(&node->x, w * (mass * p.v.x + push.x));
      atomicAdd(&node->y, w * (mass * p.v.y + push.y));
      atomicAdd(&node->z, w * mass);
    }
  }
}

extern "C" __global__ void __launch_bounds__(128) move_grid(float4* __restrict__ grid, int side) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= side * side) return;
  const float4 node = grid[i];
  if (!(node.z > 0.0f)) return;
  float vx = node.x / node.z, vy = node.y / node.z + TIME / (float)side * -9.8f;
  const int x = i % side, y = i / side;
  if ((x < 3 && vx < 0.0f) || (x >= side - 3 && vx > 0.0f)) vx = 0.0f;
  if ((y < 3 && vy < 0.0f) || (y >= side - 3 && vy > 0.0f)) vy = 0.0f;
  grid[i] = make_float4(vx, vy, node.z, 0.0f);
}

extern "C" __global__ void __launch_bounds__(128)
    to_particles(Particle* __restrict__ particles, const float4* __restrict__ grid, int side, int n) {
  const int id = blockIdx.x * 128 + threadIdx.x;
  if (id >= n) return;
  const float dt = TIME / (float)side;
  Particle p = particles[id];
  const float px = p.x.x * (float)side, py = p.x.y * (float)side;
  const int bx = (int)(px - 0.5f), by = (int)(py - 0.5f);
  const float fx = px - (float)bx, fy = py - (float)by;
  float2 v = make_float2(0.0f, 0.0f);
  Matrix c = matrix(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < 3; i++) {
#pragma unroll
    for (int j = 0; j < 3; j++) {
      const float dx = (float)i - fx, dy = (float)j - fy;
      const float w = weight(fx, i) * weight(fy, j);
      const float4 node = grid[(by + j) * side + bx + i];
      v.x += w * node.x;
      v.y += w * node.y;
      const float scale = 4.0f * (float)side * w;
      c.a.x += scale * (node.x * dx);
      c.a.y += scale * (node.y * dx);
      c.b.x += scale * (node.x * dy);
      c.b.y += scale * (node.y * dy);
    }
  }
  const float edge = 2.0f / (float)side;
  p.v = v;
  p.c = c;
  p.x.x = clamp(p.x.x + dt * v.x, edge, 1.0f - edge);
  p.x.y = clamp(p.x.y + dt * v.y, edge, 1.0f - edge);
  particles[id] = p;
}
