#pragma OPENCL FP_CONTRACT OFF
typedef struct { uint w[8]; } lcpy_block;

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void lcpy_main(__global const float* g0_x, __global float* g1_y, const lcpy_block block) {
  const uint* const w = block.w;
  const uint v2 = (uint)get_global_id(0);
  if (v2 < w[0]) {
    const float v5 = as_float(w[4]);
    const float v6 = g0_x[v2];
    const float v8 = g1_y[v2];
    g1_y[v2] = (v5 * v6) + v8;
  }
}
