// f32_ab_ca_to_bc_200x100x128        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 100
//            index c = 128
//            index a = 200
//            input A : f32 [0..19999] align 16
//            input B : f32 [0..25599] align 16
//            output C : f32 [0..12799] align 16
//            rounding free
//            products tf32
//            C[128*b + c] = sum(a : mul(A[b + 100*a], B[200*c + a]))
// extents    b=100 c=128 a=200
// plan       contraction_tf32
// traffic    233600 B (read 182400, write 51200)
// index      32 bits: largest offset 25599
// schedule   contraction_tf32
//            tile b:64
//            tile c:64
//            tile a:16
//            order task b0 c0 sum a0
//            stage A at a0 async pad 8 a b
//            stage B at a0 async pad 4 c a
//            atom m16n8k8_tf32 rows b columns c depth a warps 2x2 runs 1x1x2
//            pipeline a0 3
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_tf32.case
extern "C" __global__ void __launch_bounds__(128, 1)
f32_ab_ca_to_bc_200x100x128(const float* __restrict__ A, const float* __restrict__ B, float* C)
{
  __shared__ __align__(128) float A_tile[3456];
  __shared__ __align__(128) float B_tile[3840];
  const int b0 = (int)blockIdx.x / 2;
  const int c0 = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 64;
  const int warp_column = t / 32 % 2;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_b = t % 16;
  const int A_a = t / 16;
  const int B_a = t % 4;
  const int B_c = t / 4;
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
      copy_async_or_zero<16>(A_tile + 4 * A_b + 72 * A_a + 576 * r0 + 1152 * ahead, A + 64 * b0 + 4 * A_b + 100 * A_a + 800 * r0 + 1600 * ahead, 64 * b0 + 4 * A_b < 100 && A_a + 8 * r0 + 16 * ahead < 200);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      copy_async_or_zero<16>(B_tile + 4 * B_a + 20 * B_c + 640 * r0 + 1280 * ahead, B + 12800 * c0 + 4 * B_a + 200 * B_c + 6400 * r0 + 16 * ahead, 4 * B_a + 16 * ahead < 200);
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
    float a_ahead[2][4];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      a_ahead[i][0] = A_tile[32 * warp_row + group + 144 * member + 1152 * place + 16 * i];
      a_ahead[i][1] = A_tile[32 * warp_row + group + 144 * member + 1152 * place + 16 * i + 72];
      a_ahead[i][2] = A_tile[32 * warp_row + group + 144 * member + 1152 * place + 16 * i + 8];
      a_ahead[i][3] = A_tile[32 * warp_row + group + 144 * member + 1152 * place + 16 * i + 80];
    }
    vec<float, 2> b_ahead[4][1];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      b_ahead[j][0] = load_shared<vec<float, 2>>(B_tile, 640 * warp_column + 20 * group + 2 * member + 1280 * place + 160 * j);
    }
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      float a_part[1][2][4];
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        a_part[0][i][0] = to_tf32(a_ahead[i][0]);
        a_part[0][i][2] = to_tf32(a_ahead[i][1]);
        a_part[0][i][1] = to_tf32(a_ahead[i][2]);
        a_part[0][i][3] = to_tf32(a_ahead[i][3]);
      }
      float b_part[1][4][2];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        b_part[0][j][0] = to_tf32(b_ahead[j][0].at[0]);
        b_part[0][j][1] = to_tf32(b_ahead[j][0].at[1]);
      }
      if (k == 0) {
        #pragma unroll
        for (int i = 0; i < 2; ++i) {
          a_ahead[i][0] = A_tile[32 * warp_row + group + 144 * member + 1152 * place + 576 * k + 16 * i + 576];
          a_ahead[i][1] = A_tile[32 * warp_row + group + 144 * member + 1152 * place + 576 * k + 16 * i + 648];
          a_ahead[i][2] = A_tile[32 * warp_row + group + 144 * member + 1152 * place + 576 * k + 16 * i + 584];
          a_ahead[i][3] = A_tile[32 * warp_row + group + 144 * member + 1152 * place + 576 * k + 16 * i + 656];
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          b_ahead[j][0] = load_shared<vec<float, 2>>(B_tile, 640 * warp_column + 20 * group + 2 * member + 1280 * place + 8 * k + 160 * j + 8);
        }
      }
      if (k == 0) {
        #pragma unroll
        for (int r0 = 0; r0 < 2; ++r0) {
          copy_async_or_zero_if<16>(A_tile + 4 * A_b + 72 * A_a + 576 * r0 + 1152 * next_place, A + 64 * b0 + 4 * A_b + 100 * A_a + 800 * r0 + 1600 * next_a0, 64 * b0 + 4 * A_b < 100 && A_a + 8 * r0 + 16 * next_a0 < 200, a0 < 11);
        }
      }
      if (k > 0) {
        #pragma unroll
        for (int r0 = 0; r0 < 2; ++r0) {
          copy_async_or_zero_if<16>(B_tile + 4 * B_a + 20 * B_c + 640 * r0 + 1280 * next_place, B + 12800 * c0 + 4 * B_a + 200 * B_c + 6400 * r0 + 16 * next_a0, 4 * B_a + 16 * next_a0 < 200, a0 < 11);
        }
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          mma_m16n8k8_tf32(sum[i][j], a_part[0][i], b_part[0][j]);
        }
      }
    }
    commit_async();
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (64 * b0 + 32 * warp_row + group + 16 * i < 100) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 128 * group + 2 * member + 2048 * i + 8 * j, vec<float, 2>{sum[i][j][0], sum[i][j][1]});
      }
    }
    if (64 * b0 + 32 * warp_row + group + 16 * i + 8 < 100) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        store(C + 8192 * b0 + 64 * c0 + 4096 * warp_row + 32 * warp_column + 128 * group + 2 * member + 2048 * i + 8 * j + 1024, vec<float, 2>{sum[i][j][2], sum[i][j][3]});
      }
    }
  }
}
