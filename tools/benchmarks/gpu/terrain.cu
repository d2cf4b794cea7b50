#define METRES 90.0f
#define DIRECTIONS 16
struct Field {
  const float* __restrict__ data;
  int w, h;
};

INLINE float height(const Field& f, float x, float y) {
  x = clamp(x, 0.0f, (float)f.w - 1.001f);
  y = clamp(y, 0.0f, (float)f.h - 1.001f);
  const int cx = (int)x, cy = (int)y;
  const float fx = x - floorf(x), fy = y - floorf(y);
  const float* top = f.data + cy * f.w + cx;
  const float* bottom = top + f.w;
  return lerp(lerp(top[0], top[1], fx), lerp(bottom[0], bottom[1], fx), fy);
}
INLINE bool inside(const Field& f, float x, float y) {
  return x >= 0.0f && y >= 0.0f && x < (float)f.w && y < (float)f.h;
}

__device__ float sunlight(const Field& f, float x, float y, float3 sun) {
  const float start = height(f, x, y) + 1.0f;
  float light = 1.0f, t = 0.5f;
  while (t < 90.0f) {
    const float qx = x + sun.x * t, qy = y + sun.y * t;
    if (!inside(f, qx, qy)) break;
    const float clearance = start + sun.z * METRES * t - height(f, qx, qy);
    light = fminf(light, 0.5f + clearance / (4.0f * t));
    if (light <= 0.0f) return 0.0f;
    t += 0.5f + 0.01f * t;
  }
  return light;
}

__device__ float horizon(const Field& f, float x, float y, float dx, float dy) {
  const float start = height(f, x, y);
  float steepest = 0.0f, t = 1.0f;
  for (int i = 0; i < 14; i++) {
    const float qx = x + dx * t, qy = y + dy * t;
    if (!inside(f, qx, qy)) break;
    steepest = fmaxf(steepest, (height(f, qx, qy) - start) / (METRES * t));
    t *= 1.3f;
  }
  return steepest * rsqrtf(1.0f + steepest * steepest);
}

INLINE float smoothstep(float a, float b, float x) {
  const float t = saturate((x - a) / (b - a));
  return t * t * (3.0f - 2.0f * t);
}

INLINE float3 ground(float metres, float slope) {
  const float t = saturate((metres - 260.0f) / 640.0f);
  const float3 low = lerp(f3(0.24f, 0.36f, 0.17f), f3(0.52f, 0.47f, 0.27f), saturate(2.0f * t));
  const float3 high = lerp(low, f3(0.86f, 0.84f, 0.80f), saturate(2.0f * t - 1.0f));
  return lerp(high, f3(0.42f, 0.38f, 0.34f), smoothstep(0.25f, 0.6f, slope));
}

extern "C" __global__ void __launch_bounds__(256)
    shade(const float* __restrict__ data, float4* __restrict__ image, float scale, int fw, int fh,
          int w, int h) {
  const int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 16 + threadIdx.y;
  if (px >= w || py >= h) return;
  const Field f = {data, fw, fh};
  const float x = (float)px / scale, y = (float)py / scale;
  const float dx = (height(f, x + 0.5f, y) - height(f, x - 0.5f, y)) / METRES;
  const float dy = (height(f, x, y + 0.5f) - height(f, x, y - 0.5f)) / METRES;
  const float3 normal = normalize(f3(-dx * 2.0f, -dy * 2.0f, 1.0f));
  const float3 sun = normalize(f3(-0.80f, -0.55f, 0.24f));
  const float direct = saturate(dot(normal, sun)) * saturate(sunlight(f, x, y, sun));
  float blocked = 0.0f;
  for (int k = 0; k < DIRECTIONS; k++) {
    const float angle = 6.2831853f * (float)k / (float)DIRECTIONS;
    blocked += horizon(f, x, y, cosf(angle), sinf(angle));
  }
  const float sky = 1.0f - 1.4f * blocked / (float)DIRECTIONS;
  const float3 light = direct * f3(2.3f, 1.9f, 1.4f) + sky * f3(0.34f, 0.42f, 0.55f);
  const float3 colour = ground(height(f, x, y), sqrtf(dx * dx + dy * dy)) * light;
  image[py * w + px] = pixel(root(saturate(colour / (f3(1.0f) + 0.25f * colour))));
}
