typedef struct { uint w[4]; } lcpy_block;
// array<int,64>
typedef struct { int e[64]; } __attribute__((aligned(4))) T0;
typedef char size_of_T0[sizeof(T0) == 256 ? 1 : -1];

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void lcpy_main(__global const int* g0_values, __global int* g1_out, __global uint* g2_count, const lcpy_block block) {
  const uint* const w = block.w;
  __local T0 s3_cells[1];
  const uint v2 = (uint)get_global_id(0);
  const bool v4 = v2 < w[0];
  const uint v6 = (uint)get_local_id(0);
  int v9;
  if (v4) {
    const int v7 = g0_values[v2];
    v9 = v7;
  } else {
    v9 = 0;
  }
  s3_cells[0].e[v6] = v9;
  uint v10 = 1u;
  for (;;) {
    if (!(v10 < 64u)) {
      break;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const int v13 = s3_cells[0].e[v6];
    const int v15 = s3_cells[0].e[v6 ^ v10];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    s3_cells[0].e[v6] = (0u == (v6 & v10)) ? min(v13, v15) : max(v13, v15);
    v10 = v10 * 2u;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const int v25 = s3_cells[0].e[v6];
  if (v4) {
    g1_out[v2] = v25;
  }
  const int v26 = s3_cells[0].e[v6];
  if (v26 > 50) {
    const uint v31 = 1u & ((uint)get_group_id(0));
    if (v4) {
      atomic_add((volatile __global uint*)&g2_count[v31], 1u);
    }
  }
}
