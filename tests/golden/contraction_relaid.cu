// f64_abcd_de_to_bace_8x9x15x16x15        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 9
//            index a = 8
//            index c = 15
//            index e = 15
//            index d = 16
//            input A : f64 [0..17279] align 16
//            input B : f64 [0..239] align 16
//            output C : f64 [0..16199] align 16
//            rounding free
//            C[1800*b + 225*a + 15*c + e] = sum(d : mul(A[240*b + 2160*a + 16*c + d], B[e + 15*d]))
// extents    b=9 a=8 c=15 e=15 d=16
// plan       contraction_relaid
// traffic    269760 B (read 140160, write 129600)
// index      32 bits: largest offset 17279
// schedule   contraction_relaid
//            tile b:4
//            tile a:2
//            order task b0 a0
//            stage A at a0 async pad 2 b a c d
//            stage B at a0 async pad 1 d e
//            atom m16n8k8_f64 rows b a c columns e depth d warps 2x1 runs 1x1x2
//            store shared
//            nontemporal
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_relaid.case
extern "C" __global__ void __launch_bounds__(64, 1)
f64_abcd_de_to_bace_8x9x15x16x15(const double* __restrict__ A, const double* __restrict__ B, double* C)
{
  __shared__ __align__(128) double A_tile[2304];
  __shared__ __align__(128) double B_tile[256];
  __shared__ __align__(128) double C_tile[3072];
  const int b0 = (int)blockIdx.x / 4;
  const int a0 = (int)blockIdx.x % 4;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_d = t % 8;
  const int A_c = t / 8;
  const int B_e = t % 15;
  const int B_d = t / 15 % 4;
  #pragma unroll
  for (int r0 = 0; r0 < 2; ++r0) {
    #pragma unroll
    for (int r1 = 0; r1 < 4; ++r1) {
      #pragma unroll
      for (int r2 = 0; r2 < 2; ++r2) {
        copy_async_or_zero_if<16>(A_tile + 2 * A_d + 18 * A_c + 144 * r0 + 540 * r1 + 270 * r2, A + 960 * b0 + 4320 * a0 + 2 * A_d + 16 * A_c + 128 * r0 + 240 * r1 + 2160 * r2, 4 * b0 + r1 < 9, A_c + 8 * r0 < 15);
      }
    }
  }
  #pragma unroll
  for (int r0 = 0; r0 < 4; ++r0) {
    copy_async_if<8>(B_tile + B_e + 16 * B_d + 64 * r0, B + B_e + 15 * B_d + 60 * r0, t < 60);
  }
  commit_async();
  wait_async<0>();
  __syncthreads();
  double sum[4][2][4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      #pragma unroll
      for (int e_ = 0; e_ < 4; ++e_) {
        sum[i][j][e_] = 0.0;
      }
    }
  }
  #pragma unroll
  for (int k = 0; k < 2; ++k) {
    double a_part[1][4][4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      vec<double, 2> a_run[2];
      a_run[0] = load<vec<double, 2>>(A_tile + 1152 * warp_row + 18 * group + 2 * member + 8 * k + 288 * i);
      a_part[0][i][0] = a_run[0].at[0];
      a_part[0][i][2] = a_run[0].at[1];
      a_run[1] = load<vec<double, 2>>(A_tile + 1152 * warp_row + 18 * group + 2 * member + 8 * k + 288 * i + 144);
      a_part[0][i][1] = a_run[1].at[0];
      a_part[0][i][3] = a_run[1].at[1];
    }
    double b_part[1][2][2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      b_part[0][j][0] = B_tile[group + 32 * member + 128 * k + 8 * j];
      b_part[0][j][1] = B_tile[group + 32 * member + 128 * k + 8 * j + 16];
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        mma_m16n8k8_f64(sum[i][j], a_part[0][i], b_part[0][j]);
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      store(C_tile + 1536 * warp_row + 24 * group + 2 * member + 384 * i + 8 * j, vec<double, 2>{sum[i][j][0], sum[i][j][1]});
      store(C_tile + 1536 * warp_row + 24 * group + 2 * member + 384 * i + 8 * j + 192, vec<double, 2>{sum[i][j][2], sum[i][j][3]});
    }
  }
  __syncthreads();
  const int C_e = t % 15;
  const int C_c = t / 15 % 3;
  #pragma unroll
  for (int r0 = 0; r0 < 5; ++r0) {
    #pragma unroll
    for (int r1 = 0; r1 < 2; ++r1) {
      #pragma unroll
      for (int r2 = 0; r2 < 4; ++r2) {
        if (t < 45 && 4 * b0 + r2 < 9) {
          store_nontemporal<double>(C + 7200 * b0 + 450 * a0 + C_e + 15 * C_c + 45 * r0 + 225 * r1 + 1800 * r2, C_tile[C_e + 24 * C_c + 72 * r0 + 360 * r1 + 720 * r2]);
        }
      }
    }
  }
}
