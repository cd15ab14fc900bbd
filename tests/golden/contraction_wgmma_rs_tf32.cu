// f32_ab_ca_to_bc_512x256x192        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 256
//            index c = 192
//            index a = 512
//            input A : f32 [0..131071] align 16
//            input B : f32 [0..98303] align 16 tf32
//            output C : f32 [0..49151] align 16
//            rounding free
//            products tf32
//            C[192*b + c] = sum(a : mul(A[b + 256*a], B[512*c + a]))
// extents    b=256 c=192 a=512
// plan       contraction_wgmma_rs_tf32
// traffic    1114112 B (read 917504, write 196608)
// index      32 bits: largest offset 131071
// schedule   contraction_wgmma_rs_tf32
//            tile b:128
//            tile c:96
//            tile a:32
//            order task b0 c0 sum a0
//            stage A at a0 async pad 8 a b
//            stage B at a0 async c a
//            atom wgmma_rs_tf32 rows b columns c depth a warps 8x1 runs 1x1x1
//            pipeline a0 4
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_wgmma_rs_tf32.case
extern "C" __global__ void __launch_bounds__(256, 1)
f32_ab_ca_to_bc_512x256x192(const float* __restrict__ A, const float* __restrict__ B, float* C)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  float* const B_tile = (float*)(shared + 0);
  float* const A_tile = (float*)(shared + 49152);
  float* const C_tile = (float*)(shared + 118784);
  const int b0 = (int)blockIdx.x / 2;
  const int c0 = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_b = t % 32;
  const int A_a = t / 32;
  const int B_a = t % 8;
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
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async<16>(A_tile + 4 * A_b + 136 * A_a + 1088 * r0 + 4352 * ahead, A + 128 * b0 + 4 * A_b + 256 * A_a + 2048 * r0 + 8192 * ahead);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 3; ++r0) {
      copy_async<16>(B_tile + swizzle<5, 7, 2>(4 * B_a + 32 * B_c + 1024 * r0 + 3072 * ahead), B + 49152 * c0 + 4 * B_a + 512 * B_c + 16384 * r0 + 32 * ahead);
    }
    commit_async();
  }
  float a_step0[1][1][4];
  float a_step1[1][1][4];
  float a_step2[1][1][4];
  float a_step3[1][1][4];
  #pragma unroll 1
  for (int a0 = 0; a0 < 16; ++a0) {
    wait_async<1>();
    fence_shared();
    __syncthreads();
    const int next_place = opaque(a0 + 2) % 4;
    const int next_a0 = opaque(a0 + 2) % 16;
    const int place = opaque(a0) % 4;
    fence_registers(sum);
    wait_products<3>(sum);
    a_step0[0][0][0] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place]);
    a_step0[0][0][2] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 544]);
    a_step0[0][0][1] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 8]);
    a_step0[0][0][3] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 552]);
    fence_registers(a_step0);
    wgmma_rs_tf32(sum[0], a_step0[0][0], shared_matrix<128>(B_tile + 3072 * place, 4096, 1024));
    commit_products();
    wait_products<3>(sum);
    a_step1[0][0][0] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 1088]);
    a_step1[0][0][2] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 1632]);
    a_step1[0][0][1] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 1096]);
    a_step1[0][0][3] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 1640]);
    fence_registers(a_step1);
    wgmma_rs_tf32(sum[0], a_step1[0][0], shared_matrix<128>(B_tile + 3072 * place + 8, 4096, 1024));
    commit_products();
    wait_products<3>(sum);
    a_step2[0][0][0] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 2176]);
    a_step2[0][0][2] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 2720]);
    a_step2[0][0][1] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 2184]);
    a_step2[0][0][3] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 2728]);
    fence_registers(a_step2);
    wgmma_rs_tf32(sum[0], a_step2[0][0], shared_matrix<128>(B_tile + 3072 * place + 16, 4096, 1024));
    commit_products();
    wait_products<3>(sum);
    a_step3[0][0][0] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 3264]);
    a_step3[0][0][2] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 3808]);
    a_step3[0][0][1] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 3272]);
    a_step3[0][0][3] = to_tf32(A_tile[16 * warp_row + group + 136 * member + 4352 * place + 3816]);
    fence_registers(a_step3);
    wgmma_rs_tf32(sum[0], a_step3[0][0], shared_matrix<128>(B_tile + 3072 * place + 24, 4096, 1024));
    commit_products();
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async_if<16>(A_tile + 4 * A_b + 136 * A_a + 1088 * r0 + 4352 * next_place, A + 128 * b0 + 4 * A_b + 256 * A_a + 2048 * r0 + 8192 * next_a0, a0 < 14);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 3; ++r0) {
      copy_async_if<16>(B_tile + swizzle<5, 7, 2>(4 * B_a + 32 * B_c + 1024 * r0 + 3072 * next_place), B + 49152 * c0 + 4 * B_a + 512 * B_c + 16384 * r0 + 32 * next_a0, a0 < 14);
    }
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
      store(C + 24576 * b0 + 96 * c0 + 32 * line + 4 * line_part + 192 * line_row + 6144 * r, load_shared<vec<float, 4>>(C_tile, 4 * line_part + 40 * line_row + 1280 * r));
    }
    __syncthreads();
  }
}
