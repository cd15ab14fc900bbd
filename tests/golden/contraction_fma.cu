// f32_ab_ac_to_bc_200x100x128        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 100
//            index c = 128
//            index a = 200
//            input A : f32 [0..19999] align 16
//            input B : f32 [0..25599] align 16
//            output C : f32 [0..12799] align 16
//            rounding free
//            C[128*b + c] = sum(a : mul(A[b + 100*a], B[c + 128*a]))
// extents    b=100 c=128 a=200
// plan       contraction_fma
// traffic    233600 B (read 182400, write 51200)
// index      32 bits: largest offset 25599
// schedule   contraction_fma
//            tile b:64
//            tile c:64
//            tile a:16
//            order task b0 c0 sum a0
//            stage A at a0 async pad 4 a b
//            stage B at a0 async pad 4 a c
//            atom fma rows b columns c depth a warps 2x2 runs 4x4x1
//            pipeline a0 3
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_fma.case
extern "C" __global__ void __launch_bounds__(128, 1)
f32_ab_ac_to_bc_200x100x128(const float* __restrict__ A, const float* __restrict__ B, float* C)
{
  __shared__ __align__(128) float A_tile[3264];
  __shared__ __align__(128) float B_tile[3264];
  const int b0 = (int)blockIdx.x / 2;
  const int c0 = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 64;
  const int warp_column = t / 32 % 2;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int odd_row = t / 2 % 2;
  const int row_pair = t / 8 % 4;
  const int odd_column = t % 2;
  const int column_pair = t / 4 % 2;
  const int A_b = t % 16;
  const int A_a = t / 16;
  const int B_c = t % 16;
  const int B_a = t / 16;
  float sum[4][8];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      sum[i][j] = 0.0f;
    }
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 2; ++ahead) {
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      copy_async_or_zero<16>(A_tile + 4 * A_b + 68 * A_a + 544 * r0 + 1088 * ahead, A + 64 * b0 + 4 * A_b + 100 * A_a + 800 * r0 + 1600 * ahead, 64 * b0 + 4 * A_b < 100 && A_a + 8 * r0 + 16 * ahead < 200);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      copy_async_or_zero<16>(B_tile + 4 * B_c + 68 * B_a + 544 * r0 + 1088 * ahead, B + 64 * c0 + 4 * B_c + 128 * B_a + 1024 * r0 + 2048 * ahead, B_a + 8 * r0 + 16 * ahead < 200);
    }
    commit_async();
  }
  #pragma unroll 1
  for (int a0 = 0; a0 < 13; ++a0) {
    wait_async<1>();
    __syncthreads();
    const int next_place = opaque(a0 + 2) % 3;
    const int next_a0 = opaque(a0 + 2) % 13;
    const int place = opaque(a0) % 3;
    #pragma unroll
    for (int k = 0; k < 16; ++k) {
      float a_part[1][4];
      vec<float, 4> a_run[1];
      a_run[0] = load_shared<vec<float, 4>>(A_tile, 32 * warp_row + 4 * odd_row + 8 * row_pair + 1088 * place + 68 * k);
      a_part[0][0] = a_run[0].at[0];
      a_part[0][1] = a_run[0].at[1];
      a_part[0][2] = a_run[0].at[2];
      a_part[0][3] = a_run[0].at[3];
      float b_part[1][8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        vec<float, 4> b_run[1];
        b_run[0] = load_shared<vec<float, 4>>(B_tile, 32 * warp_column + 4 * odd_column + 8 * column_pair + 1088 * place + 68 * k + 16 * j);
        b_part[0][4 * j] = b_run[0].at[0];
        b_part[0][4 * j + 1] = b_run[0].at[1];
        b_part[0][4 * j + 2] = b_run[0].at[2];
        b_part[0][4 * j + 3] = b_run[0].at[3];
      }
      if (k == 0) {
        #pragma unroll
        for (int r0 = 0; r0 < 2; ++r0) {
          copy_async_or_zero_if<16>(A_tile + 4 * A_b + 68 * A_a + 544 * r0 + 1088 * next_place, A + 64 * b0 + 4 * A_b + 100 * A_a + 800 * r0 + 1600 * next_a0, 64 * b0 + 4 * A_b < 100 && A_a + 8 * r0 + 16 * next_a0 < 200, a0 < 11);
        }
      }
      if (-k == -1) {
        #pragma unroll
        for (int r0 = 0; r0 < 2; ++r0) {
          copy_async_or_zero_if<16>(B_tile + 4 * B_c + 68 * B_a + 544 * r0 + 1088 * next_place, B + 64 * c0 + 4 * B_c + 128 * B_a + 1024 * r0 + 2048 * next_a0, B_a + 8 * r0 + 16 * next_a0 < 200, a0 < 11);
        }
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
          sum[i][j] += a_part[0][i] * b_part[0][j];
        }
      }
    }
    commit_async();
  }
  if (64 * b0 + 32 * warp_row + 4 * odd_row + 8 * row_pair < 100) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 512 * odd_row + 1024 * row_pair + 4 * odd_column + 8 * column_pair + 16 * j, vec<float, 4>{sum[0][4 * j], sum[0][4 * j + 1], sum[0][4 * j + 2], sum[0][4 * j + 3]});
    }
  }
  if (64 * b0 + 32 * warp_row + 4 * odd_row + 8 * row_pair + 1 < 100) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 512 * odd_row + 1024 * row_pair + 4 * odd_column + 8 * column_pair + 16 * j + 128, vec<float, 4>{sum[1][4 * j], sum[1][4 * j + 1], sum[1][4 * j + 2], sum[1][4 * j + 3]});
    }
  }
  if (64 * b0 + 32 * warp_row + 4 * odd_row + 8 * row_pair + 2 < 100) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 512 * odd_row + 1024 * row_pair + 4 * odd_column + 8 * column_pair + 16 * j + 256, vec<float, 4>{sum[2][4 * j], sum[2][4 * j + 1], sum[2][4 * j + 2], sum[2][4 * j + 3]});
    }
  }
  if (64 * b0 + 32 * warp_row + 4 * odd_row + 8 * row_pair > 96) return;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 512 * odd_row + 1024 * row_pair + 4 * odd_column + 8 * column_pair + 16 * j + 384, vec<float, 4>{sum[3][4 * j], sum[3][4 * j + 1], sum[3][4 * j + 2], sum[3][4 * j + 3]});
  }
}
