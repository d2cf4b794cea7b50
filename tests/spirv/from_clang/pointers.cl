global float table[64];
global int counts[16];
static float total(const float* p, int n) {
  float s = 0;
  for (const float* q = p; q != p + n; q++) s += *q;
  return s;
}
static float pick(global float* p, int k) { return p[k] * 2.0f; }
__attribute__((noinline)) static void put(global float* to, int k, float v) { to[k + 1] = v; }
kernel void run(int n) {
  float own[8];
  for (int i = 0; i < 8; i++) own[i] = (float)(i * n);
  global float* p = n > 3 ? &table[n] : &table[2 * n];
  *p = total(own, 8) + pick(p, 2);
  put(p, n, own[n & 7]);
  atomic_inc(&counts[n & 15]);
}
