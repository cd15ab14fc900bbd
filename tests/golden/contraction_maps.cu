// bf16_ab_ca_to_bc_520x256x376        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 256
//            index c = 376
//            index a = 520
//            input A : bf16 [0..133119] align 16
//            input B : bf16 [0..195519] align 16
//            output C : bf16 [0..96255] align 16
//            rounding free
//            C[376*b + c] = bf16(sum(a : mul(f32(A[b + 256*a]), f32(B[520*c + a]))))
// extents    b=256 c=376 a=520
// plan       contraction_maps
// traffic    849792 B (read 657280, write 192512)
// index      32 bits: largest offset 195519
// schedule   contraction_maps
//            tile b:128:64
//            tile c:128
//            tile a:64
//            order task b0 c0 sum a0
//            stage A at a0 maps b1 a b
//            stage B at a0 maps c a
//            atom wgmma_bf16 rows b1 b columns c depth a warps 8x1 runs 1x1x2
//            pipeline a0 4
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_maps.case
extern "C" __global__ void __launch_bounds__(256, 1)
bf16_ab_ca_to_bc_520x256x376(const bf16* __restrict__ A, const bf16* __restrict__ B, bf16* C, const __grid_constant__ TensorMap A_tile_map, const __grid_constant__ TensorMap B_tile_map)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  bf16* const A_tile = (bf16*)(shared + 0);
  bf16* const B_tile = (bf16*)(shared + 65536);
  u64* const arrived = (u64*)(shared + 131072);
  bf16* const C_tile = (bf16*)(shared + 131200);
  const int b0 = (int)blockIdx.x / 3;
  const int c0 = (int)blockIdx.x % 3;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
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
  if (t == 0) {
    begin_counters(arrived, 4);
    fetch_map(&A_tile_map);
    fetch_map(&B_tile_map);
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 2; ++ahead) {
    if (t == 0) {
      expect_bytes(arrived + ahead, 32768);
      copy_box(A_tile + 8192 * ahead, &A_tile_map, arrived + ahead, 128 * b0, 64 * ahead);
      copy_box(A_tile + 8192 * ahead + 4096, &A_tile_map, arrived + ahead, 128 * b0 + 64, 64 * ahead);
      copy_box(B_tile + 8192 * ahead, &B_tile_map, arrived + ahead, 64 * ahead, 128 * c0);
    }
  }
  #pragma unroll 1
  for (int a0 = 0; a0 < 9; ++a0) {
    __syncthreads();
    const int next_place = opaque(a0 + 2) % 4;
    const int next_a0 = opaque(a0 + 2) % 9;
    if (t == 0 && a0 < 7) {
      expect_bytes(arrived + next_place, 32768);
      copy_box(A_tile + 8192 * next_place, &A_tile_map, arrived + next_place, 128 * b0, 64 * next_a0);
      copy_box(A_tile + 8192 * next_place + 4096, &A_tile_map, arrived + next_place, 128 * b0 + 64, 64 * next_a0);
      copy_box(B_tile + 8192 * next_place, &B_tile_map, arrived + next_place, 64 * next_a0, 128 * c0);
    }
    const int place = opaque(a0) % 4;
    const int parity = opaque(a0) / 4 % 2;
    await_bytes(arrived + place, parity);
    fence_registers(sum);
    wgmma_bf16<1, 0>(sum[0], shared_matrix<128>(A_tile + 8192 * place + 4096 * warp_group, 8192, 1024), shared_matrix<128>(B_tile + 8192 * place, 8192, 1024));
    wgmma_bf16<1, 0>(sum[0], shared_matrix<128>(A_tile + 8192 * place + 4096 * warp_group + 1024, 8192, 1024), shared_matrix<128>(B_tile + 8192 * place + 16, 8192, 1024));
    wgmma_bf16<1, 0>(sum[0], shared_matrix<128>(A_tile + 8192 * place + 4096 * warp_group + 2048, 8192, 1024), shared_matrix<128>(B_tile + 8192 * place + 32, 8192, 1024));
    wgmma_bf16<1, 0>(sum[0], shared_matrix<128>(A_tile + 8192 * place + 4096 * warp_group + 3072, 8192, 1024), shared_matrix<128>(B_tile + 8192 * place + 48, 8192, 1024));
    commit_products();
    wait_products<1>(sum);
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
      if (128 * c0 + 64 * line + 8 * line_part < 376) {
        store(C + 48128 * b0 + 128 * c0 + 64 * line + 8 * line_part + 376 * b_row + 24064 * b1_row, load<vec<bf16, 8>>(C_tile + 8 * line_part + 72 * line_row + 2304 * r));
      }
    }
    __syncthreads();
  }
}
