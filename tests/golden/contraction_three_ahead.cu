// c128_ab_ca_to_cb_40x40x64        made by ricci 0.1.0 for sm_90; do not edit
// problem    index c = 64
//            index b = 40
//            index a = 40
//            input A : c128 [0..1599] align 16
//            input B : c128 [0..2559] align 16
//            output C : c128 [0..2559] align 16
//            rounding free
//            C[40*c + b] = sum(a : mul(A[b + 40*a], conj(B[40*c + a])))
// extents    c=64 b=40 a=40
// plan       contraction_three_ahead
// traffic    107520 B (read 66560, write 40960)
// index      32 bits: largest offset 2559
// schedule   contraction_three_ahead
//            tile c:32
//            tile b:16
//            tile a:8
//            order task b0 c0 sum a0
//            stage A at a0 async pad 2 a b
//            stage B at a0 async pad 4 c a
//            atom m16n8k4_f64 rows c columns b depth a warps 2x1 runs 1x1x1 products 3
//            pipeline a0 3 prefetch
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_three_ahead.case
extern "C" __global__ void __launch_bounds__(64, 1)
c128_ab_ca_to_cb_40x40x64(const c128* __restrict__ A, const c128* __restrict__ B, c128* C)
{
  C = (c128*)__builtin_assume_aligned(C, 16);
  __shared__ __align__(128) c128 A_tile[432];
  __shared__ __align__(128) c128 B_tile[1152];
  const int b0 = (int)blockIdx.x / 2;
  const int c0 = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int odd_column = t / 4 % 2;
  const int column_pair = t / 8 % 4;
  const int A_b = t % 16;
  const int A_a = t / 16;
  const int B_a = t % 8;
  const int B_c = t / 8;
  double sum[3][1][2][4];
  #pragma unroll
  for (int part = 0; part < 3; ++part) {
    #pragma unroll
    for (int i = 0; i < 1; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          sum[part][i][j][e] = 0.0;
        }
      }
    }
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 3; ++ahead) {
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      copy_async_or_zero<16>(A_tile + A_b + 18 * A_a + 72 * r0 + 144 * ahead, A + 16 * b0 + A_b + 40 * A_a + 160 * r0 + 320 * ahead, 16 * b0 + A_b < 40);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async<16>(B_tile + B_a + 12 * B_c + 96 * r0 + 384 * ahead, B + 1280 * c0 + B_a + 40 * B_c + 320 * r0 + 8 * ahead);
    }
    commit_async();
  }
  wait_async<2>();
  __syncthreads();
  double a_next[1][1][2];
  double a_next_imag[1][1][2];
  c128 a_run[2];
  a_run[0] = B_tile[192 * warp_row + 12 * group + member];
  a_next[0][0][0] = a_run[0].re;
  a_next_imag[0][0][0] = -a_run[0].im;
  a_run[1] = B_tile[192 * warp_row + 12 * group + member + 96];
  a_next[0][0][1] = a_run[1].re;
  a_next_imag[0][0][1] = -a_run[1].im;
  double b_next[1][2][1];
  double b_next_imag[1][2][1];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    c128 b_run[1];
    b_run[0] = A_tile[18 * member + 4 * odd_column + column_pair + 8 * j];
    b_next[0][j][0] = b_run[0].re;
    b_next_imag[0][j][0] = b_run[0].im;
  }
  #pragma unroll 1
  for (int a0 = 0; a0 < 5; ++a0) {
    const int place = opaque(a0) % 3;
    const int next_place = opaque(a0 + 1) % 3;
    const int next_a0 = opaque(a0 + 3) % 5;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      double a_part[1][1][2];
      double a_imag[1][1][2];
      double a_sum[1][1][2];
      #pragma unroll
      for (int e = 0; e < 2; ++e) {
        a_part[0][0][e] = a_next[0][0][e];
        a_imag[0][0][e] = a_next_imag[0][0][e];
      }
      if (k == 0) {
        c128 a_run[2];
        a_run[0] = B_tile[192 * warp_row + 12 * group + member + 384 * place + 4 * k + 4];
        a_next[0][0][0] = a_run[0].re;
        a_next_imag[0][0][0] = -a_run[0].im;
        a_run[1] = B_tile[192 * warp_row + 12 * group + member + 384 * place + 4 * k + 100];
        a_next[0][0][1] = a_run[1].re;
        a_next_imag[0][0][1] = -a_run[1].im;
      }
      double b_part[1][2][1];
      double b_imag[1][2][1];
      double b_sum[1][2][1];
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        b_part[0][i][0] = b_next[0][i][0];
        b_imag[0][i][0] = b_next_imag[0][i][0];
      }
      if (k == 0) {
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          c128 b_run[1];
          b_run[0] = A_tile[18 * member + 4 * odd_column + column_pair + 144 * place + 72 * k + 8 * j + 72];
          b_next[0][j][0] = b_run[0].re;
          b_next_imag[0][j][0] = b_run[0].im;
        }
      }
      if (k > 0) {
        wait_async<1>();
        __syncthreads();
        c128 a_run[2];
        a_run[0] = B_tile[192 * warp_row + 12 * group + member + 384 * next_place];
        a_next[0][0][0] = a_run[0].re;
        a_next_imag[0][0][0] = -a_run[0].im;
        a_run[1] = B_tile[192 * warp_row + 12 * group + member + 384 * next_place + 96];
        a_next[0][0][1] = a_run[1].re;
        a_next_imag[0][0][1] = -a_run[1].im;
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          c128 b_run[1];
          b_run[0] = A_tile[18 * member + 4 * odd_column + column_pair + 144 * next_place + 8 * j];
          b_next[0][j][0] = b_run[0].re;
          b_next_imag[0][j][0] = b_run[0].im;
        }
        #pragma unroll
        for (int r0 = 0; r0 < 2; ++r0) {
          copy_async_or_zero_if<16>(A_tile + A_b + 18 * A_a + 72 * r0 + 144 * place, A + 16 * b0 + A_b + 40 * A_a + 160 * r0 + 320 * next_a0, 16 * b0 + A_b < 40, a0 < 2);
        }
        #pragma unroll
        for (int r0 = 0; r0 < 4; ++r0) {
          copy_async_if<16>(B_tile + B_a + 12 * B_c + 96 * r0 + 384 * place, B + 1280 * c0 + B_a + 40 * B_c + 320 * r0 + 8 * next_a0, a0 < 2);
        }
        commit_async();
      }
      #pragma unroll
      for (int i = 0; i < 1; ++i) {
        #pragma unroll
        for (int step = 0; step < 1; ++step) {
          #pragma unroll
          for (int e = 0; e < 2; ++e) {
            a_sum[0][i][e] = a_part[0][i][e] + a_imag[0][i][e];
          }
        }
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        #pragma unroll
        for (int step = 0; step < 1; ++step) {
          #pragma unroll
          for (int e = 0; e < 1; ++e) {
            b_sum[0][j][0] = b_part[0][j][0] + b_imag[0][j][0];
          }
        }
        #pragma unroll
        for (int i = 0; i < 1; ++i) {
          mma_m16n8k4_f64(sum[0][i][j], a_part[0][i], b_part[0][j]);
          mma_m16n8k4_f64(sum[1][i][j], a_imag[0][i], b_imag[0][j]);
          mma_m16n8k4_f64(sum[2][i][j], a_sum[0][i], b_sum[0][j]);
        }
      }
    }
  }
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    if (16 * b0 + member + 8 * j < 40) {
      C[1280 * c0 + 16 * b0 + 640 * warp_row + 40 * group + member + 8 * j] = c128{sum[0][0][j][0] - sum[1][0][j][0], sum[2][0][j][0] - sum[0][0][j][0] - sum[1][0][j][0]};
    }
    if (16 * b0 + member + 8 * j + 4 < 40) {
      C[1280 * c0 + 16 * b0 + 640 * warp_row + 40 * group + member + 8 * j + 4] = c128{sum[0][0][j][1] - sum[1][0][j][1], sum[2][0][j][1] - sum[0][0][j][1] - sum[1][0][j][1]};
    }
  }
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    if (16 * b0 + member + 8 * j < 40) {
      C[1280 * c0 + 16 * b0 + 640 * warp_row + 40 * group + member + 8 * j + 320] = c128{sum[0][0][j][2] - sum[1][0][j][2], sum[2][0][j][2] - sum[0][0][j][2] - sum[1][0][j][2]};
    }
    if (16 * b0 + member + 8 * j + 4 < 40) {
      C[1280 * c0 + 16 * b0 + 640 * warp_row + 40 * group + member + 8 * j + 324] = c128{sum[0][0][j][3] - sum[1][0][j][3], sum[2][0][j][3] - sum[0][0][j][3] - sum[1][0][j][3]};
    }
  }
}
