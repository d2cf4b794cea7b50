typedef struct { uint w[16]; } lcpy_block;
static void f1(const uint* const w, __global uint* g4_report, const uint v0, const uint v1, const uint v2, const uint v3, const uint v4);
static uint f2(const uint* const w, __global uint* g4_report, const uint v5, const uint v6);

static void f1(const uint* const w, __global uint* g4_report, const uint v0, const uint v1, const uint v2, const uint v3, const uint v4) {
  const uint v53 = w[5];
  const uint v54 = w[4];
  const uint v56 = atomic_cmpxchg((volatile __global uint*)&g4_report[0], 0u, v0 + v54);
  if (0u == v56) {
    g4_report[1] = v53;
    g4_report[2] = (uint)get_global_id(0);
    g4_report[3] = (uint)get_global_id(1);
    g4_report[4] = (uint)get_global_id(2);
    g4_report[5] = v1;
    g4_report[6] = v2;
    g4_report[7] = v3;
    g4_report[8] = v4;
  }
  const uint v62 = *(volatile __global uint*)&g4_report[9];
  if (v53 != v62) {
    const uint v64 = atomic_xchg((volatile __global uint*)&g4_report[9], v53);
    if (v53 != v64) {
      atomic_add((volatile __global uint*)&g4_report[10], 1u);
    }
  }
}

static uint f2(const uint* const w, __global uint* g4_report, const uint v5, const uint v6) {
  const uint v67 = w[6];
  const uint v68 = 5u + v6;
  const uint v69 = *(volatile __global uint*)&g4_report[11];
  uint v93;
  if (v69 < v67) {
    const uint v71 = atomic_add((volatile __global uint*)&g4_report[11], v68);
    const uint v77 = v71 + 16u;
    uint v92;
    if ((v71 <= v67) & (v68 <= (v67 - v71))) {
      const uint v79 = w[4];
      const uint v81 = w[5];
      g4_report[v77] = v5 + v79;
      g4_report[1u + v77] = v81;
      g4_report[v77 + 2u] = (uint)get_global_id(0);
      g4_report[3u + v77] = (uint)get_global_id(1);
      g4_report[v77 + 4u] = (uint)get_global_id(2);
      v92 = 5u + v77;
    } else {
      if (v71 < v67) {
        g4_report[v77] = 0u;
      }
      v92 = 0u;
    }
    v93 = v92;
  } else {
    v93 = 0u;
  }
  if (0u == v93) {
    atomic_add((volatile __global uint*)&g4_report[12], 1u);
  }
  return v93;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void lcpy_main(__global const float* g0_values, __global const int* g1_index, __global float* g2_out, __global uint* g4_report, const lcpy_block block) {
  const uint* const w = block.w;
  const uint v9 = (uint)get_global_id(0);
  if (v9 < w[0]) {
    const uint v12 = (w[11] ? 0xffffffffu : w[10]);
    if (!(v9 < v12)) {
      f1(w, g4_report, 1u, v9, 0u, v12, 0u);
      return;
    }
    const int v16 = g1_index[v9];
    if (v16 < (-100)) {
      const int v19 = g1_index[v9];
      f1(w, g4_report, 3u, (uint)(v19), (v19 < 0) ? 4294967295u : 0u, 0u, 0u);
      return;
    }
    const int v26 = g1_index[v9];
    const uint v27 = (w[9] ? 0xffffffffu : w[8]);
    const uint v29 = (uint)(v26);
    if (!((v26 >= 0) & (v29 < v27))) {
      f1(w, g4_report, 5u, v29, (v26 < 0) ? 4294967295u : 0u, v27, 0u);
      return;
    }
    const float v35 = g0_values[v26];
    if (!(v35 >= 0.0f)) {
      f1(w, g4_report, 6u, 0u, 0u, 0u, 0u);
      return;
    }
    const uint v40 = (w[13] ? 0xffffffffu : w[12]);
    if (!(v9 < v40)) {
      f1(w, g4_report, 7u, v9, 0u, v40, 0u);
      return;
    }
    g2_out[v9] = sqrt(v35);
    const float v43 = g2_out[v9];
    if (v43 > 1000.0f) {
      const float v46 = g2_out[v9];
      const uint v47 = as_uint(v46);
      const uint v50 = f2(w, g4_report, 10u, 2u);
      if (0u != v50) {
        g4_report[v50] = v9;
        g4_report[1u + v50] = v47;
      }
    }
  }
}
