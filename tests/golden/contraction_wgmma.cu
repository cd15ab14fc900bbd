// bf16_ab_ca_to_bc_512x256x384        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 256
//            index c = 384
//            index a = 512
//            input A : bf16 [0..131071] align 16
//            input B : bf16 [0..196607] align 16
//            output C : bf16 [0..98303] align 16
//            rounding free
//            C[384*b + c] = bf16(sum(a : mul(f32(A[b + 256*a]), f32(B[512*c + a]))))
// extents    b=256 c=384 a=512
// plan       contraction_wgmma
// traffic    851968 B (read 655360, write 196608)
// index      32 bits: largest offset 196607
// schedule   contraction_wgmma
//            tile b:128:64
//            tile c:128
//            tile a:64
//            order task b0 c0 sum a0
//            stage A at a0 async b1 a b
//            stage B at a0 async c a
//            atom wgmma_bf16 rows b1 b columns c depth a warps 8x1 runs 1x1x2
//            pipeline a0 4
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_wgmma.case
extern "C" __global__ void __launch_bounds__(256, 1)
bf16_ab_ca_to_bc_512x256x384(const bf16* __restrict__ A, const bf16* __restrict__ B, bf16* C)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  bf16* const A_tile = (bf16*)(shared + 0);
  bf16* const B_tile = (bf16*)(shared + 65536);
  bf16* const C_tile = (bf16*)(shared + 131072);
  const int b0 = (int)blockIdx.x / 3;
  const int c0 = (int)blockIdx.x % 3;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_b = t % 8;
  const int A_b1 = t / 8 % 2;
  const int A_a = t / 16;
  const int B_a = t % 8;
  const int B_c = t / 8;
  const int warp_group = t / 128;
  const int line_part = t % 8;
  const int line_row = t / 8;
  float sum[1][16][4];
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int j = 0; j < 16; ++j) {
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
      copy_async<16>(A_tile + swizzle<6, 7, 3>(8 * A_b + 4096 * A_b1 + 64 * A_a + 1024 * r0 + 8192 * ahead), A + 128 * b0 + 8 * A_b + 64 * A_b1 + 256 * A_a + 4096 * r0 + 16384 * ahead);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async<16>(B_tile + swizzle<6, 7, 3>(8 * B_a + 64 * B_c + 2048 * r0 + 8192 * ahead), B + 65536 * c0 + 8 * B_a + 512 * B_c + 16384 * r0 + 64 * ahead);
    }
    commit_async();
  }
  #pragma unroll 1
  for (int a0 = 0; a0 < 8; ++a0) {
    wait_async<1>();
    fence_shared();
    __syncthreads();
    const int next_place = opaque(a0 + 2) % 4;
    const int next_a0 = opaque(a0 + 2) % 8;
    const int place = opaque(a0) % 4;
    fence_registers(sum);
    wgmma_bf16<1, 0>(sum[0], shared_matrix<128>(A_tile + 8192 * place + 4096 * warp_group, 8192, 1024), shared_matrix<128>(B_tile + 8192 * place, 8192, 1024));
    wgmma_bf16<1, 0>(sum[0], shared_matrix<128>(A_tile + 8192 * place + 4096 * warp_group + 1024, 8192, 1024), shared_matrix<128>(B_tile + 8192 * place + 16, 8192, 1024));
    wgmma_bf16<1, 0>(sum[0], shared_matrix<128>(A_tile + 8192 * place + 4096 * warp_group + 2048, 8192, 1024), shared_matrix<128>(B_tile + 8192 * place + 32, 8192, 1024));
    wgmma_bf16<1, 0>(sum[0], shared_matrix<128>(A_tile + 8192 * place + 4096 * warp_group + 3072, 8192, 1024), shared_matrix<128>(B_tile + 8192 * place + 48, 8192, 1024));
    commit_products();
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async_if<16>(A_tile + swizzle<6, 7, 3>(8 * A_b + 4096 * A_b1 + 64 * A_a + 1024 * r0 + 8192 * next_place), A + 128 * b0 + 8 * A_b + 64 * A_b1 + 256 * A_a + 4096 * r0 + 16384 * next_a0, a0 < 6);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async_if<16>(B_tile + swizzle<6, 7, 3>(8 * B_a + 64 * B_c + 2048 * r0 + 8192 * next_place), B + 65536 * c0 + 8 * B_a + 512 * B_c + 16384 * r0 + 64 * next_a0, a0 < 6);
    }
    wait_products<1>(sum);
    commit_async();
  }
  wait_products<0>(sum);
  #pragma unroll
  for (int line = 0; line < 2; ++line) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      store(C_tile + 1152 * warp_row + 72 * group + 2 * member + 8 * j, vec<bf16, 2>{cast_bf16(sum[0][8 * line + j][0]), cast_bf16(sum[0][8 * line + j][1])});
      store(C_tile + 1152 * warp_row + 72 * group + 2 * member + 8 * j + 576, vec<bf16, 2>{cast_bf16(sum[0][8 * line + j][2]), cast_bf16(sum[0][8 * line + j][3])});
    }
    __syncthreads();
    #pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int b_row = (line_row + 32 * r) % 64;
      const int b1_row = (line_row + 32 * r) / 64;
      store(C + 49152 * b0 + 128 * c0 + 64 * line + 8 * line_part + 384 * b_row + 24576 * b1_row, load<vec<bf16, 8>>(C_tile + 8 * line_part + 72 * line_row + 2304 * r));
    }
    __syncthreads();
  }
}
