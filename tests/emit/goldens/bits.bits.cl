#pragma OPENCL FP_CONTRACT OFF
typedef struct { uint w[4]; } lcpy_block;

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void lcpy_main(__global const uchar* g0_a, __global const short* g1_b, __global const uint* g2_c, __global long* g3_out, const lcpy_block block) {
  const uint* const w = block.w;
  const uint v2 = (uint)get_global_id(0);
  if (v2 < w[0]) {
    const uchar v5 = g0_a[v2];
    const short v6 = g1_b[v2];
    const uint v7 = g2_c[v2];
    const uint v54 = ((uint)(v6)) & 31u;
    const uint v65 = ((uint)((uint)(v7 & 1431655765u) << 1u)) | ((v7 >> 1u) & 1431655765u);
    const uint v72 = ((uint)((uint)(v65 & 858993459u) << 2u)) | ((v65 >> 2u) & 858993459u);
    const uint v79 = ((uint)((uint)(v72 & 252645135u) << 4u)) | ((v72 >> 4u) & 252645135u);
    const uint v86 = ((uint)((uint)(v79 & 16711935u) << 8u)) | ((v79 >> 8u) & 16711935u);
    const uint v10 = (((uint)((uint)v7 << (uint)v54)) | (v7 >> (((uint)(-(uint)v54)) & 31u))) ^ (((uint)((uint)(v86 & 65535u) << 16u)) | ((v86 >> 16u) & 65535u));
    const uint v11 = (uint)(v5);
    const uint v12 = v10 ^ v11;
    const long v18 = (long)((ulong)((long)((ulong)((long)(v12)) * (ulong)((long)(v6)))) - (ulong)((long)(mul_hi(v7, v12))));
    const long v21 = (long)((v11 + 1u));
    const long v103 = ((v21 == 0L) | ((v18 == (-9223372036854775807L - 1)) & (v21 == (-1L)))) ? 1L : v21;
    const long v104 = v18 / v103;
    const long v106 = (long)((ulong)v18 - (ulong)((long)((ulong)v104 * (ulong)v103)));
    const long v115 = v18 % 1000L;
    const long v25 = (long)((ulong)((v21 == 0L) ? 0L : (((v106 != 0L) & ((v106 ^ v103) < 0L)) ? ((long)((ulong)v104 - 1UL)) : v104)) + (ulong)((v115 < 0L) ? ((long)((ulong)v115 + 1000UL)) : v115));
    const long v33 = (long)((ulong)((long)((ulong)((long)(popcount(v5))) + (ulong)((long)(clz(v6))))) + (ulong)((long)(popcount(((~v7) & (v7 - 1u))))));
    const float v37 = ((float)(v7)) * 3.5f;
    const long v135 = (v37 < (-0x1p+63f)) ? (-9223372036854775807L - 1) : ((v37 >= 0x1p+63f) ? 9223372036854775807L : ((long)((((v37 >= (-0x1p+63f)) & (v37 < 0x1p+63f)) ? v37 : 0.0f))));
    const long v45 = (long)((ulong)(((long)((ulong)v25 + (ulong)v33)) ^ ((long)((ulong)v135 << (ulong)(((long)((v7 % 70u))) & 63L)))) - (ulong)((long)(((short)(v6 >> ((short)(((short)(v5)) & ((short)15))))))));
    const long v48 = (long)(((short)(v6 / ((short)7))));
    g3_out[v2] = (long)((ulong)v45 + (ulong)((long)((ulong)v48 * (ulong)((long)((ulong)v48 * (ulong)v48)))));
  }
}
