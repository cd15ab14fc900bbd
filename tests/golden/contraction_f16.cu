// f16_ab_ca_to_bc_64x96x128        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 96
//            index c = 128
//            index a = 64
//            input A : f16 [0..6143] align 16
//            input B : f16 [0..8191] align 16
//            output C : f16 [0..12287] align 16
//            rounding free
//            C[128*b + c] = f16(sum(a : mul(f32(A[b + 96*a]), f32(B[64*c + a]))))
// extents    b=96 c=128 a=64
// plan       contraction_f16
// traffic    53248 B (read 28672, write 24576)
// index      32 bits: largest offset 12287
// schedule   contraction_f16
//            tile b:64
//            tile c:64
//            tile a:32
//            order task b0 c0 sum a0
//            stage A at a0 async pad 8 a b
//            stage B at a0 async pad 8 c a
//            atom m16n8k16_f16 rows b columns c depth a warps 2x2 runs 1x2x2
//            pipeline a0 3
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_f16.case
extern "C" __global__ void __launch_bounds__(128, 1)
f16_ab_ca_to_bc_64x96x128(const f16* __restrict__ A, const f16* __restrict__ B, f16* C)
{
  __shared__ __align__(128) f16 A_tile[4608];
  __shared__ __align__(128) f16 B_tile[5120];
  const int b0 = (int)blockIdx.x / 2;
  const int c0 = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 64;
  const int warp_column = t / 32 % 2;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_b = t % 8;
  const int A_a = t / 8;
  const int B_a = t % 4;
  const int B_c = t / 4;
  const int matrix_row = t % 8;
  const int matrix_bit1 = t / 8 % 2;
  const int matrix_bit2 = t / 16 % 2;
  float sum[2][4][4];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        sum[i][j][e] = 0.0f;
      }
    }
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 2; ++ahead) {
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      copy_async_or_zero<16>(A_tile + 8 * A_b + 72 * A_a + 1152 * r0 + 2304 * ahead, A + 64 * b0 + 8 * A_b + 96 * A_a + 1536 * r0 + 3072 * ahead, 64 * b0 + 8 * A_b < 96);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      copy_async<16>(B_tile + 8 * B_a + 40 * B_c + 1280 * r0 + 2560 * ahead, B + 4096 * c0 + 8 * B_a + 64 * B_c + 2048 * r0 + 32 * ahead);
    }
    commit_async();
  }
  #pragma unroll 1
  for (int a0 = 0; a0 < 2; ++a0) {
    wait_async<1>();
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      u32 a_part[1][2][4];
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        load_matrix_x4_transposed(a_part[0][i], A_tile + 2304 * a0 + 32 * warp_row + 1152 * k + 16 * i + 72 * matrix_row + 8 * matrix_bit1 + 576 * matrix_bit2);
      }
      u32 b_part[1][4][2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        load_matrix_x2(b_part[0][2 * j], B_tile + 2560 * a0 + 1280 * warp_column + 16 * k + 80 * matrix_row + 8 * matrix_bit1 + 640 * j);
        load_matrix_x2(b_part[0][2 * j + 1], B_tile + 2560 * a0 + 1280 * warp_column + 16 * k + 80 * matrix_row + 8 * matrix_bit1 + 640 * j + 40);
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          mma_m16n8k16_f16(sum[i][j], a_part[0][i], b_part[0][j]);
        }
      }
    }
    commit_async();
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (64 * b0 + 32 * warp_row + group + 16 * i < 96) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 128 * group + 4 * member + 2048 * i + 16 * j, vec<f16, 4>{cast_f16(sum[i][2 * j][0]), cast_f16(sum[i][2 * j + 1][0]), cast_f16(sum[i][2 * j][1]), cast_f16(sum[i][2 * j + 1][1])});
      }
    }
    if (64 * b0 + 32 * warp_row + group + 16 * i + 8 < 96) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 128 * group + 4 * member + 2048 * i + 16 * j + 1024, vec<f16, 4>{cast_f16(sum[i][2 * j][2]), cast_f16(sum[i][2 * j + 1][2]), cast_f16(sum[i][2 * j][3]), cast_f16(sum[i][2 * j + 1][3])});
      }
    }
  }
}
