typedef struct { uint w[8]; } lcpy_block;
// array<float,32>
typedef struct { float e[32]; } __attribute__((aligned(4))) T0;
typedef char size_of_T0[sizeof(T0) == 128 ? 1 : -1];
// array<uint,2>
typedef struct { uint e[2]; } __attribute__((aligned(4))) T1;
typedef char size_of_T1[sizeof(T1) == 8 ? 1 : -1];
static void f1(const uint* const w, __global uint* g3_report, const uint v0, const uint v1, const uint v2, const uint v3, const uint v4);

static void f1(const uint* const w, __global uint* g3_report, const uint v0, const uint v1, const uint v2, const uint v3, const uint v4) {
  const uint v70 = w[5];
  const uint v71 = w[4];
  const uint v73 = atomic_cmpxchg((volatile __global uint*)&g3_report[0], 0u, v0 + v71);
  if (0u == v73) {
    g3_report[1] = v70;
    g3_report[2] = (uint)get_global_id(0);
    g3_report[3] = (uint)get_global_id(1);
    g3_report[4] = (uint)get_global_id(2);
    g3_report[5] = v1;
    g3_report[6] = v2;
    g3_report[7] = v3;
    g3_report[8] = v4;
  }
  const uint v79 = *(volatile __global uint*)&g3_report[9];
  if (v70 != v79) {
    const uint v81 = atomic_xchg((volatile __global uint*)&g3_report[9], v70);
    if (v70 != v81) {
      atomic_add((volatile __global uint*)&g3_report[10], 1u);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void lcpy_main(__global const float* g0_values, __global float* g1_out, __global uint* g3_report, const lcpy_block block) {
  const uint* const w = block.w;
  __local T0 s4_tile[1];
  __local T1 s5_report_block[1];
  uint l6_report_state;
  const uint v7 = (uint)get_global_id(0);
  const uint v8 = w[0];
  const bool v9 = v7 < v8;
  l6_report_state = 0u;
  const uint v12 = (uint)get_local_id(0);
  if (0u == ((v12 | ((uint)get_local_id(1))) | ((uint)get_local_id(2)))) {
    *(volatile __local uint*)&s5_report_block[0].e[0] = 0u;
    *(volatile __local uint*)&s5_report_block[0].e[1] = 0u;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  float v20;
  if (v9) {
    const float v18 = g0_values[v7];
    v20 = v18;
  } else {
    v20 = 0.0f;
  }
  s4_tile[0].e[v12] = v20;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const uint v22 = v12 % 3u;
  uint v23 = 0u;
  for (;;) {
    const uint v24 = l6_report_state;
    if (0u != (1u & v24)) {
      break;
    }
    if (!(v23 < v22)) {
      break;
    }
    const uint v30 = l6_report_state;
    float v34;
    if (0u == (1u & v30)) {
      const float v33 = s4_tile[0].e[v12];
      v34 = v33;
    } else {
      v34 = 0.0f;
    }
    const uint v41 = l6_report_state;
    if (!((((((float)(v23)) - 7.0f) != v34) | (v7 >= v8)) | (0u != (1u & v41)))) {
      f1(w, g3_report, 1u, 0u, 0u, 0u, 0u);
      const uint v45 = l6_report_state;
      l6_report_state = 1u | v45;
      *(volatile __local uint*)&s5_report_block[0].e[1u & (v45 >> 1u)] = 1u;
    }
    v23 = 1u + v23;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const uint v49 = l6_report_state;
  const uint v52 = *(volatile __local uint*)&s5_report_block[0].e[1u & (v49 >> 1u)];
  const uint v54 = v49 ^ 2u;
  l6_report_state = (0u != v52) ? ((2u & v54) | 5u) : v54;
  const uint v61 = 31u - v12;
  const uint v62 = l6_report_state;
  float v66;
  if (0u == (1u & v62)) {
    const float v65 = s4_tile[0].e[v61];
    v66 = v65;
  } else {
    v66 = 0.0f;
  }
  const uint v67 = l6_report_state;
  if (0u == (1u & v67)) {
    if (v9) {
      g1_out[v7] = v66;
    }
  }
}
