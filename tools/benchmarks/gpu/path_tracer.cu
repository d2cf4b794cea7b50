// strict
#define FAR 1.0e9f
#define BOUNCES 6
#define LAMP_SIDE 0.7f
#define LAMP_HEIGHT 0.98f
#define BALL_COUNT 3
#define BLOCK_COUNT 7
enum { DIFFUSE, MIRROR, GLASS, LAMP };

struct Ray {
  float3 origin, direction;
};
struct Hit {
  float t;
  float3 normal, colour;
  int material;
};
struct Ball {
  float3 centre;
  float radius;
  float3 colour;
  int material;
};
struct Block {
  float3 low, high, colour;
  int material;
};

__constant__ Ball balls[BALL_COUNT] = {
    {{-0.45f, -0.65f, 0.15f}, 0.35f, {0.95f, 0.95f, 0.95f}, MIRROR},
    {{0.50f, -0.72f, -0.40f}, 0.28f, {1.0f, 1.0f, 1.0f}, GLASS},
    {{0.10f, -0.86f, -0.70f}, 0.14f, {0.80f, 0.60f, 0.15f}, DIFFUSE},
};
#define WHITE {0.73f, 0.73f, 0.73f}
__constant__ Block blocks[BLOCK_COUNT] = {
    {{-1.1f, -1.1f, -1.1f}, {1.1f, -1.0f, 1.1f}, WHITE, DIFFUSE},
    {{-1.1f, 1.0f, -1.1f}, {1.1f, 1.1f, 1.1f}, WHITE, DIFFUSE},
    {{-1.1f, -1.1f, 1.0f}, {1.1f, 1.1f, 1.1f}, WHITE, DIFFUSE},
    {{-1.1f, -1.1f, -1.1f}, {-1.0f, 1.1f, 1.1f}, {0.65f, 0.06f, 0.05f}, DIFFUSE},
    {{1.0f, -1.1f, -1.1f}, {1.1f, 1.1f, 1.1f}, {0.13f, 0.45f, 0.10f}, DIFFUSE},
    {{0.15f, -1.0f, 0.25f}, {0.75f, 0.25f, 0.80f}, {0.55f, 0.60f, 0.75f}, DIFFUSE},
    {{-0.35f, 0.98f, -0.35f}, {0.35f, 1.0f, 0.35f}, {11.0f, 10.0f, 8.5f}, LAMP},
};

INLINE float random(unsigned& state) {
  state = state * 747796405u + 2891336453u;
  const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return (float)(((word >> 22) ^ word) >> 8) / 16777216.0f;
}

__device__ float3 random_direction(unsigned& state) {
  for (int i = 0; i < 32; i++) {
    const float x = random(state), y = random(state), z = random(state);
    const float3 v = f3(x, y, z) * 2.0f - f3(1.0f);
    const float square = dot(v, v);
    if (1e-4f < square && square <= 1.0f) return v / sqrtf(square);
  }
  return f3(0.0f, 1.0f, 0.0f);
}

INLINE void hit_ball(const Ray& ray, const Ball& ball, Hit& best) {
  const float3 offset = ray.origin - ball.centre;
  const float b = dot(offset, ray.direction);
  const float discriminant = b * b - (dot(offset, offset) - ball.radius * ball.radius);
  if (discriminant <= 0.0f) return;
  const float root = sqrtf(discriminant);
  float t = -b - root;
  if (t < 1e-3f) t = -b + root;
  if (1e-3f < t && t < best.t) {
    best.t = t;
    best.normal = (ray.origin + ray.direction * t - ball.centre) / ball.radius;
    best.colour = ball.colour;
    best.material = ball.material;
  }
}

INLINE void hit_block(const Ray& ray, const Block& block, Hit& best) {
  const float3 inverse = f3(1.0f) / ray.direction;
  const float3 a = (block.low - ray.origin) * inverse, b = (block.high - ray.origin) * inverse;
  const float3 near = min(a, b), far = max(a, b);
  const float t = fmaxf(near.x, fmaxf(near.y, near.z)), leave = fminf(far.x, fminf(far.y, far.z));
  if (t >= leave || t < 1e-3f || t >= best.t) return;
  float3 normal = f3(0.0f, 0.0f, 1.0f);
  if (near.x == t)
    normal = f3(1.0f, 0.0f, 0.0f);
  else if (near.y == t)
    normal = f3(0.0f, 1.0f, 0.0f);
  if (dot(normal, ray.direction) > 0.0f) normal = -normal;
  best.t = t;
  best.normal = normal;
  best.colour = block.colour;
  best.material = block.material;
}

__device__ Hit closest(const Ray& ray) {
  Hit best = {FAR, f3(0.0f), f3(0.0f), 0};
  for (int i = 0; i < BALL_COUNT; i++) hit_ball(ray, balls[i], best);
  for (int i = 0; i < BLOCK_COUNT; i++) hit_block(ray, blocks[i], best);
  return best;
}

__device__ float3 through_glass(float3 direction, float3 normal, float chance) {
  float3 outward = normal;
  float eta = 1.0f / 1.5f;
  if (dot(direction, normal) > 0.0f) {
    outward = -normal;
    eta = 1.5f;
  }
  const float facing = dot(direction, outward), cosine = fminf(-facing, 1.0f);
  const float k = 1.0f - eta * eta * (1.0f - facing * facing);
  const float3 bent =
      k < 0.0f ? f3(0.0f) : direction * eta - outward * (eta * facing + sqrtf(k));
  const float m = 1.0f - cosine, reflectance = 0.04f + 0.96f * m * m * m * m * m;
  if (dot(bent, bent) == 0.0f || chance < reflectance)
    return direction - outward * (2.0f * dot(outward, direction));
  return bent;
}

__device__ float3 lamp_light(float3 place, float3 normal, unsigned& state) {
  const float x = (random(state) - 0.5f) * LAMP_SIDE, z = (random(state) - 0.5f) * LAMP_SIDE;
  const float3 way = f3(x, LAMP_HEIGHT, z) - place;
  const float square = dot(way, way);
  const float3 direction = way / sqrtf(square);
  const float facing = dot(normal, direction);
  if (facing <= 0.0f || direction.y <= 0.0f) return f3(0.0f);
  const Hit hit = closest({place, direction});
  if (hit.material != LAMP) return f3(0.0f);
  return hit.colour * (facing * direction.y * LAMP_SIDE * LAMP_SIDE / (3.14159265f * square));
}

__device__ float3 trace(Ray ray, unsigned& state) {
  float3 weight = f3(1.0f), total = f3(0.0f);
  bool sees_lamp = true;
  for (int bounce = 0; bounce < BOUNCES; bounce++) {
    const Hit hit = closest(ray);
    if (hit.t >= FAR) return total + weight * f3(0.02f, 0.03f, 0.05f);
    const float3 place = ray.origin + ray.direction * hit.t;
    float3 direction = hit.normal;
    switch (hit.material) {
      case MIRROR:
        direction = ray.direction - hit.normal * (2.0f * dot(hit.normal, ray.direction));
        sees_lamp = true;
        break;
      case GLASS:
        direction = through_glass(ray.direction, hit.normal, random(state));
        sees_lamp = true;
        break;
      case LAMP:
        return sees_lamp ? total + weight * hit.colour : total;
      default:
        total += weight * hit.colour * lamp_light(place, hit.normal, state);
        direction += random_direction(state);
        if (dot(direction, direction) < 1e-6f) direction = hit.normal;
        sees_lamp = false;
    }
    weight *= hit.colour;
    ray = {place, normalize(direction)};
  }
  return total;
}

extern "C" __global__ void __launch_bounds__(64)
    render(float4* __restrict__ image, int samples, int width, int height) {
  const unsigned x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned state = (y * width + x) * 9781u + 1u;
  float3 total = f3(0.0f);
  for (int i = 0; i < samples; i++) {
    const float jx = random(state), jy = random(state);
    const float u = (((float)x + jx) / (float)width - 0.5f) * 2.0f;
    const float v = (((float)y + jy) / (float)height - 0.5f) * -2.0f;
    total += trace({f3(0.0f, 0.0f, -3.35f), normalize(f3(u, v, 2.4f))}, state);
  }
  const float3 mean = total / (float)samples;
  image[y * width + x] = pixel(root(saturate(mean / (f3(1.0f) + 0.25f * mean))));
}
