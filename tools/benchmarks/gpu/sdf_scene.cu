INLINE float sphere(float3 p, float radius) { return length(p) - radius; }
INLINE float box(float3 p, float half) {
  const float3 q = f3(fabsf(p.x) - half, fabsf(p.y) - half, fabsf(p.z) - half);
  return length(max(q, f3(0.0f))) + fminf(fmaxf(q.x, fmaxf(q.y, q.z)), 0.0f);
}
INLINE float torus(float3 p, float large, float small) {
  const float a = sqrtf(p.x * p.x + p.z * p.z) - large;
  return sqrtf(a * a + p.y * p.y) - small;
}
INLINE float smooth_min(float a, float b, float k) {
  const float h = fmaxf(k - fabsf(a - b), 0.0f) / k;
  return fminf(a, b) - h * h * k * 0.25f;
}

__device__ float scene(float3 p) {
  float d = sphere(p - f3(0.0f, 0.5f, 0.0f), 0.7f);
  d = smooth_min(d, box(p - f3(1.1f, 0.4f, 0.0f), 0.4f), 0.3f);
  d = fminf(d, torus(p - f3(-1.3f, 0.3f, 0.0f), 0.5f, 0.15f));
  for (int i = 0; i < 5; i++)
    d = fminf(d, sphere(p - f3((float)i * 0.8f - 1.6f, -0.05f, -1.3f), 0.15f));
  return fminf(d, p.y + 0.2f);
}

__device__ float3 normal(float3 p) {
  const float e = 0.0005f;
  const float3 a = f3(e, -e, -e), b = f3(-e, -e, e), c = f3(-e, e, -e), d = f3(e, e, e);
  return normalize(a * scene(p + a) + b * scene(p + b) + c * scene(p + c) + d * scene(p + d));
}

__device__ float soft_shadow(float3 origin, float3 direction) {
  float light = 1.0f, t = 0.03f;
  for (int i = 0; i < 48; i++) {
    const float h = scene(origin + direction * t);
    if (h < 0.0005f) return 0.0f;
    light = fminf(light, 10.0f * h / t);
    t += clamp(h, 0.01f, 0.25f);
    if (t > 8.0f) break;
  }
  return light;
}

__device__ float occlusion(float3 p, float3 n) {
  float total = 0.0f, weight = 1.0f;
  for (int i = 0; i < 5; i++) {
    const float h = 0.02f + 0.09f * (float)i;
    total += (h - scene(p + n * h)) * weight;
    weight *= 0.85f;
  }
  return saturate(1.0f - 1.6f * total);
}

__device__ float3 shade(float3 p, float3 eye) {
  const float3 n = normal(p), sun = normalize(f3(0.6f, 0.7f, -0.4f));
  float3 albedo = f3(0.62f, 0.42f, 0.30f);
  if (p.y < -0.19f) {
    int tile = ((int)floorf(p.x * 2.0f) + (int)floorf(p.z * 2.0f)) % 2;
    if (tile < 0) tile += 2;
    albedo = f3(0.28f + 0.22f * (float)tile);
  }
  float diffuse = saturate(dot(n, sun));
  if (diffuse > 0.0f) diffuse *= soft_shadow(p + n * 0.002f, sun);
  const float shine = powf(saturate(dot(n, normalize(sun + eye))), 32.0f) * diffuse;
  const float sky = 0.5f + 0.5f * n.y;
  const float3 light = diffuse * f3(2.4f, 2.1f, 1.7f) + sky * occlusion(p, n) * f3(0.45f, 0.55f, 0.75f);
  return albedo * light + f3(shine * 0.6f);
}

extern "C" __global__ void __launch_bounds__(256)
    render(float4* __restrict__ image, int width, int height) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = ((float)x + 0.5f - 0.5f * (float)width) / (float)height;
  const float v = ((float)y + 0.5f - 0.5f * (float)height) / (float)height;
  const float3 origin = f3(0.0f, 1.5f, -5.8f), direction = normalize(f3(u, -v - 0.30f, 1.4f));
  float t = 0.0f;
  bool hit = false;
  for (int i = 0; i < 96; i++) {
    const float d = scene(origin + direction * t);
    if (d < 0.0005f * (1.0f + t)) {
      hit = true;
      break;
    }
    t += d;
    if (t > 24.0f) break;
  }
  float3 colour = lerp(f3(0.75f, 0.82f, 0.95f), f3(0.30f, 0.48f, 0.80f), -v + 0.5f);
  if (hit) {
    const float3 lit = shade(origin + direction * t, -direction);
    colour = lerp(lit, colour, 1.0f - expf(-0.0006f * t * t * t));
  }
  image[y * width + x] = pixel(root(saturate(colour / (f3(1.0f) + 0.35f * colour))));
}
