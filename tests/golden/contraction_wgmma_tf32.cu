// f32_ab_cb_to_ac_256x512x192        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 256
//            index c = 192
//            index b = 512
//            input A : f32 [0..131071] align 16
//            input B : f32 [0..98303] align 16 tf32
//            output C : f32 [0..49151] align 16
//            rounding free
//            products tf32
//            C[192*a + c] = sum(b : mul(A[512*a + b], B[512*c + b]))
// extents    a=256 c=192 b=512
// plan       contraction_wgmma_tf32
// traffic    1114112 B (read 917504, write 196608)
// index      32 bits: largest offset 131071
// schedule   contraction_wgmma_tf32
//            tile a:64
//            tile c:96
//            tile b:32
//            order task a0 c0 sum b0
//            stage A at b0 shared a b
//            stage B at b0 async c b
//            atom wgmma_tf32 rows a columns c depth b warps 4x1 runs 1x1x1
//            pipeline b0 4
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_wgmma_tf32.case
extern "C" __global__ void __launch_bounds__(128, 1)
f32_ab_cb_to_ac_256x512x192(const float* __restrict__ A, const float* __restrict__ B, float* C)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  float* const A_tile = (float*)(shared + 0);
  float* const B_tile = (float*)(shared + 32768);
  float* const C_tile = (float*)(shared + 81920);
  const int a0 = (int)blockIdx.x / 2;
  const int c0 = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_b = t % 8;
  const int A_a = t / 8;
  const int B_b = t % 8;
  const int B_c = t / 8;
  const int line_part = t % 8;
  const int line_row = t / 8;
  float sum[1][12][4];
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int j = 0; j < 12; ++j) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        sum[i][j][e] = 0.0f;
      }
    }
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 2; ++ahead) {
    vec<float, 4> A_run[4];
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      A_run[r0] = load<vec<float, 4>>(A + 32768 * a0 + 4 * A_b + 512 * A_a + 8192 * r0 + 32 * ahead);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      store(A_tile + swizzle<5, 7, 2>(4 * A_b + 32 * A_a + 512 * r0 + 2048 * ahead), vec<float, 4>{to_tf32(A_run[r0].at[0]), to_tf32(A_run[r0].at[1]), to_tf32(A_run[r0].at[2]), to_tf32(A_run[r0].at[3])});
    }
    #pragma unroll
    for (int r0 = 0; r0 < 6; ++r0) {
      copy_async<16>(B_tile + swizzle<5, 7, 2>(4 * B_b + 32 * B_c + 512 * r0 + 3072 * ahead), B + 49152 * c0 + 4 * B_b + 512 * B_c + 8192 * r0 + 32 * ahead);
    }
    commit_async();
  }
  #pragma unroll 1
  for (int b0 = 0; b0 < 16; ++b0) {
    wait_async<1>();
    fence_shared();
    __syncthreads();
    const int next_place = opaque(b0 + 2) % 4;
    const int next_b0 = opaque(b0 + 2) % 16;
    const int place = opaque(b0) % 4;
    fence_registers(sum);
    wgmma_tf32(sum[0], shared_matrix<128>(A_tile + 2048 * place, 4096, 1024), shared_matrix<128>(B_tile + 3072 * place, 4096, 1024));
    wgmma_tf32(sum[0], shared_matrix<128>(A_tile + 2048 * place + 8, 4096, 1024), shared_matrix<128>(B_tile + 3072 * place + 8, 4096, 1024));
    wgmma_tf32(sum[0], shared_matrix<128>(A_tile + 2048 * place + 16, 4096, 1024), shared_matrix<128>(B_tile + 3072 * place + 16, 4096, 1024));
    wgmma_tf32(sum[0], shared_matrix<128>(A_tile + 2048 * place + 24, 4096, 1024), shared_matrix<128>(B_tile + 3072 * place + 24, 4096, 1024));
    commit_products();
    vec<float, 4> A_run[4];
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      if (b0 < 14) {
        A_run[r0] = load<vec<float, 4>>(A + 32768 * a0 + 4 * A_b + 512 * A_a + 8192 * r0 + 32 * next_b0);
      }
    }
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      if (b0 < 14) {
        store(A_tile + swizzle<5, 7, 2>(4 * A_b + 32 * A_a + 512 * r0 + 2048 * next_place), vec<float, 4>{to_tf32(A_run[r0].at[0]), to_tf32(A_run[r0].at[1]), to_tf32(A_run[r0].at[2]), to_tf32(A_run[r0].at[3])});
      }
    }
    #pragma unroll
    for (int r0 = 0; r0 < 6; ++r0) {
      copy_async_if<16>(B_tile + swizzle<5, 7, 2>(4 * B_b + 32 * B_c + 512 * r0 + 3072 * next_place), B + 49152 * c0 + 4 * B_b + 512 * B_c + 8192 * r0 + 32 * next_b0, b0 < 14);
    }
    wait_products<1>(sum);
    commit_async();
  }
  wait_products<0>(sum);
  #pragma unroll
  for (int line = 0; line < 3; ++line) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      store(C_tile + 640 * warp_row + 40 * group + 2 * member + 8 * j, vec<float, 2>{sum[0][4 * line + j][0], sum[0][4 * line + j][1]});
      store(C_tile + 640 * warp_row + 40 * group + 2 * member + 8 * j + 320, vec<float, 2>{sum[0][4 * line + j][2], sum[0][4 * line + j][3]});
    }
    __syncthreads();
    #pragma unroll
    for (int r = 0; r < 4; ++r) {
      store(C + 12288 * a0 + 96 * c0 + 32 * line + 4 * line_part + 192 * line_row + 3072 * r, load_shared<vec<float, 4>>(C_tile, 4 * line_part + 40 * line_row + 640 * r));
    }
    __syncthreads();
  }
}
