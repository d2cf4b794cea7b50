// What a CUDA programmer keeps in a header: operators on the built-in vector types.
#define INLINE __device__ __forceinline__

INLINE float3 f3(float x, float y, float z) { return make_float3(x, y, z); }
INLINE float3 f3(float s) { return make_float3(s, s, s); }
INLINE float3 operator+(float3 a, float3 b) { return f3(a.x + b.x, a.y + b.y, a.z + b.z); }
INLINE float3 operator-(float3 a, float3 b) { return f3(a.x - b.x, a.y - b.y, a.z - b.z); }
INLINE float3 operator-(float3 a) { return f3(-a.x, -a.y, -a.z); }
INLINE float3 operator*(float3 a, float3 b) { return f3(a.x * b.x, a.y * b.y, a.z * b.z); }
INLINE float3 operator*(float3 a, float s) { return f3(a.x * s, a.y * s, a.z * s); }
INLINE float3 operator*(float s, float3 a) { return a * s; }
INLINE float3 operator/(float3 a, float s) { return f3(a.x / s, a.y / s, a.z / s); }
INLINE float3 operator/(float3 a, float3 b) { return f3(a.x / b.x, a.y / b.y, a.z / b.z); }
INLINE void operator+=(float3& a, float3 b) { a = a + b; }
INLINE void operator*=(float3& a, float3 b) { a = a * b; }
INLINE float3 min(float3 a, float3 b) { return f3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z)); }
INLINE float3 max(float3 a, float3 b) { return f3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z)); }
INLINE float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE float length(float3 a) { return sqrtf(dot(a, a)); }
INLINE float clamp(float x, float low, float high) { return fminf(fmaxf(x, low), high); }
INLINE float saturate(float x) { return __saturatef(x); }
INLINE float lerp(float a, float b, float t) { return a + (b - a) * t; }
INLINE float3 lerp(float3 a, float3 b, float t) { return a + (b - a) * t; }
INLINE float3 root(float3 a) { return f3(sqrtf(a.x), sqrtf(a.y), sqrtf(a.z)); }
INLINE float3 saturate(float3 a) { return f3(saturate(a.x), saturate(a.y), saturate(a.z)); }
INLINE float4 pixel(float3 a) { return make_float4(a.x, a.y, a.z, 0.0f); }
#ifdef STRICT
INLINE float3 normalize(float3 a) { return a / sqrtf(dot(a, a)); }
#else
INLINE float3 normalize(float3 a) { return a * rsqrtf(dot(a, a)); }
#endif
