// f32_ab_ca_to_bc_64x96x128        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 96
//            index c = 128
//            index a = 64
//            input A : f32 [0..6143] align 16
//            input B : f32 [0..8191] align 16
//            output C : f32 [0..12287] align 16
//            rounding free
//            C[128*b + c] = sum(a : mul(f32(bf16(A[b + 96*a])), f32(bf16(B[64*c + a]))))
// extents    b=96 c=128 a=64
// plan       contraction_rounded
// traffic    106496 B (read 57344, write 49152)
// index      32 bits: largest offset 12287
// schedule   contraction_rounded
//            tile b:64
//            tile c:64
//            tile a:32
//            order task b0 c0 sum a0
//            stage A at a0 shared pad 8 a b
//            stage B at a0 shared pad 8 c a
//            atom m16n8k16_bf16 rows b columns c depth a warps 2x2 runs 1x1x2
//            pipeline a0 2
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_rounded.case
extern "C" __global__ void __launch_bounds__(128, 1)
f32_ab_ca_to_bc_64x96x128(const float* __restrict__ A, const float* __restrict__ B, float* C)
{
  __shared__ __align__(128) bf16 A_tile[4608];
  __shared__ __align__(128) bf16 B_tile[5120];
  const int b0 = (int)blockIdx.x / 2;
  const int c0 = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 64;
  const int warp_column = t / 32 % 2;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_b = t % 16;
  const int A_a = t / 16;
  const int B_a = t % 8;
  const int B_c = t / 8;
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
  vec<float, 4> A_run[4];
  #pragma unroll
  for (int r0 = 0; r0 < 4; ++r0) {
    if (64 * b0 + 4 * A_b < 96) {
      A_run[r0] = load<vec<float, 4>>(A + 64 * b0 + 4 * A_b + 96 * A_a + 768 * r0);
    } else {
      A_run[r0] = vec<float, 4>{0.0f, 0.0f, 0.0f, 0.0f};
    }
  }
  #pragma unroll
  for (int r0 = 0; r0 < 4; ++r0) {
    store(A_tile + 4 * A_b + 72 * A_a + 576 * r0, vec<bf16, 4>{cast_bf16(A_run[r0].at[0]), cast_bf16(A_run[r0].at[1]), cast_bf16(A_run[r0].at[2]), cast_bf16(A_run[r0].at[3])});
  }
  vec<float, 4> B_run[4];
  #pragma unroll
  for (int r0 = 0; r0 < 4; ++r0) {
    B_run[r0] = load<vec<float, 4>>(B + 4096 * c0 + 4 * B_a + 64 * B_c + 1024 * r0);
  }
  #pragma unroll
  for (int r0 = 0; r0 < 4; ++r0) {
    store(B_tile + 4 * B_a + 40 * B_c + 640 * r0, vec<bf16, 4>{cast_bf16(B_run[r0].at[0]), cast_bf16(B_run[r0].at[1]), cast_bf16(B_run[r0].at[2]), cast_bf16(B_run[r0].at[3])});
  }
  commit_async();
  #pragma unroll 1
  for (int a0 = 0; a0 < 2; ++a0) {
    wait_async<0>();
    __syncthreads();
    const int next_place = opaque(a0 + 1) % 2;
    const int next_a0 = opaque(a0 + 1) % 2;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      u32 a_part[1][2][4];
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        load_matrix_x4_transposed(a_part[0][i], A_tile + 2304 * a0 + 32 * warp_row + 1152 * k + 16 * i + 72 * matrix_row + 8 * matrix_bit1 + 576 * matrix_bit2);
      }
      u32 b_part[1][4][2];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        load_matrix_x2(b_part[0][j], B_tile + 2560 * a0 + 1280 * warp_column + 16 * k + 40 * matrix_row + 8 * matrix_bit1 + 320 * j);
      }
      if (k == 0) {
        vec<float, 4> A_run[4];
        #pragma unroll
        for (int r0 = 0; r0 < 4; ++r0) {
          if (a0 == 0 && 64 * b0 + 4 * A_b < 96) {
            A_run[r0] = load<vec<float, 4>>(A + 64 * b0 + 4 * A_b + 96 * A_a + 768 * r0 + 3072 * next_a0);
          } else {
            A_run[r0] = vec<float, 4>{0.0f, 0.0f, 0.0f, 0.0f};
          }
        }
        #pragma unroll
        for (int r0 = 0; r0 < 4; ++r0) {
          if (a0 == 0) {
            store(A_tile + 4 * A_b + 72 * A_a + 576 * r0 + 2304 * next_place, vec<bf16, 4>{cast_bf16(A_run[r0].at[0]), cast_bf16(A_run[r0].at[1]), cast_bf16(A_run[r0].at[2]), cast_bf16(A_run[r0].at[3])});
          }
        }
      }
      if (k > 0) {
        vec<float, 4> B_run[4];
        #pragma unroll
        for (int r0 = 0; r0 < 4; ++r0) {
          if (a0 == 0) {
            B_run[r0] = load<vec<float, 4>>(B + 4096 * c0 + 4 * B_a + 64 * B_c + 1024 * r0 + 32 * next_a0);
          }
        }
        #pragma unroll
        for (int r0 = 0; r0 < 4; ++r0) {
          if (a0 == 0) {
            store(B_tile + 4 * B_a + 40 * B_c + 640 * r0 + 2560 * next_place, vec<bf16, 4>{cast_bf16(B_run[r0].at[0]), cast_bf16(B_run[r0].at[1]), cast_bf16(B_run[r0].at[2]), cast_bf16(B_run[r0].at[3])});
          }
        }
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          mma_m16n8k16_bf16(sum[i][j], a_part[0][i], b_part[0][j]);
        }
      }
    }
    commit_async();
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (64 * b0 + 32 * warp_row + group + 16 * i < 96) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 128 * group + 2 * member + 2048 * i + 8 * j, vec<float, 2>{sum[i][j][0], sum[i][j][1]});
      }
    }
    if (64 * b0 + 32 * warp_row + group + 16 * i + 8 < 96) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 128 * group + 2 * member + 2048 * i + 8 * j + 1024, vec<float, 2>{sum[i][j][2], sum[i][j][3]});
      }
    }
  }
}
