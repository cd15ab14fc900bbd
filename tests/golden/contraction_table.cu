// f64_abcd_aecf_to_debf_9x15x5x3x7x6        made by ricci 0.1.0 for sm_90; do not edit
// problem    index d = 3
//            index e = 7
//            index b = 15
//            index f = 6
//            index a = 9
//            index c = 5
//            input A : f64 [0..2024] align 16
//            input B : f64 [0..1889] align 16
//            output C : f64 [0..1889] align 16
//            rounding free
//            C[630*d + 90*e + 6*b + f] = add(mul(f64(2), sum(a c : mul(A[d + 15*b + 225*a + 3*c], B[30*e + f + 210*a + 6*c]))), mul(f64(0.5), C[630*d + 90*e + 6*b + f]))
// extents    d=3 e=7 b=15 f=6 a=9 c=5
// plan       contraction_table
// traffic    61560 B (read 46440, write 15120)
// index      32 bits: largest offset 2024
// schedule   contraction_table
//            join bd b d
//            join ef e f
//            join ac a c table
//            tile bd:32
//            tile ef:32
//            tile ac:16
//            order task bd0 ef0 sum ac0
//            stage A at ac0 async pad 4 ac bd
//            stage B at ac0 async pad 4 ac ef
//            atom m16n8k8_f64 rows bd columns ef depth ac warps 2x1 runs 2x1x1
//            pipeline ac0 3
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_table.case
static __device__ const int A_places[48] = {0, 1, 2, 3, 4, 75, 76, 77, 78, 79, 150, 151, 152, 153, 154, 225, 226, 227, 228, 229, 300, 301, 302, 303, 304, 375, 376, 377, 378, 379, 450, 451, 452, 453, 454, 525, 526, 527, 528, 529, 600, 601, 602, 603, 604, 0, 0, 0};
static __device__ const int B_places[48] = {0, 1, 2, 3, 4, 35, 36, 37, 38, 39, 70, 71, 72, 73, 74, 105, 106, 107, 108, 109, 140, 141, 142, 143, 144, 175, 176, 177, 178, 179, 210, 211, 212, 213, 214, 245, 246, 247, 248, 249, 280, 281, 282, 283, 284, 0, 0, 0};
extern "C" __global__ void __launch_bounds__(64, 1)
f64_abcd_aecf_to_debf_9x15x5x3x7x6(const double* __restrict__ A, const double* __restrict__ B, double* C)
{
  __shared__ __align__(128) double A_tile[1728];
  __shared__ __align__(128) double B_tile[1728];
  const int bd0 = (int)blockIdx.x / 2;
  const int ef0 = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_bd = t % 16;
  const int A_ac = t / 16;
  const int B_ef = t % 8;
  const int B_ac = t / 8;
  double sum[1][4][4];
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      #pragma unroll
      for (int e_ = 0; e_ < 4; ++e_) {
        sum[i][j][e_] = 0.0;
      }
    }
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 2; ++ahead) {
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      #pragma unroll
      for (int r1 = 0; r1 < 4; ++r1) {
        const int A_d = (32 * bd0 + A_bd + 16 * r0) % 3;
        const int A_b = (32 * bd0 + A_bd + 16 * r0) / 3;
        const int A_c = opaque(A_ac + 4 * r1 + 16 * ahead) % 5;
        const int A_a = opaque(A_ac + 4 * r1 + 16 * ahead) / 5;
        copy_async_or_zero<8>(A_tile + A_bd + 16 * r0 + 36 * A_ac + 144 * r1 + 576 * ahead, A + A_d + 15 * A_b + 3 * A_c + 225 * A_a, 32 * bd0 + A_bd + 16 * r0 < 45 && A_ac + 4 * r1 + 16 * ahead < 45);
      }
    }
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      #pragma unroll
      for (int r1 = 0; r1 < 2; ++r1) {
        const int B_f = (32 * ef0 + 2 * B_ef + 16 * r0) % 6;
        const int B_e = (32 * ef0 + 2 * B_ef + 16 * r0) / 6;
        const int B_c = opaque(B_ac + 8 * r1 + 16 * ahead) % 5;
        const int B_a = opaque(B_ac + 8 * r1 + 16 * ahead) / 5;
        copy_async_or_zero<16>(B_tile + 2 * B_ef + 16 * r0 + 36 * B_ac + 288 * r1 + 576 * ahead, B + B_f + 30 * B_e + 6 * B_c + 210 * B_a, 32 * ef0 + 2 * B_ef + 16 * r0 < 42 && B_ac + 8 * r1 + 16 * ahead < 45);
      }
    }
    commit_async();
  }
  #pragma unroll 1
  for (int ac0 = 0; ac0 < 3; ++ac0) {
    wait_async<1>();
    __syncthreads();
    const int next_place = opaque(ac0 + 2) % 3;
    const int next_ac0 = opaque(ac0 + 2) % 3;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      double a_part[1][1][4];
      vec<double, 2> a_run[2];
      a_run[0] = load<vec<double, 2>>(A_tile + 576 * ac0 + 16 * warp_row + 2 * group + 36 * member + 288 * k);
      a_part[0][0][0] = a_run[0].at[0];
      a_part[0][0][1] = a_run[0].at[1];
      a_run[1] = load<vec<double, 2>>(A_tile + 576 * ac0 + 16 * warp_row + 2 * group + 36 * member + 288 * k + 144);
      a_part[0][0][2] = a_run[1].at[0];
      a_part[0][0][3] = a_run[1].at[1];
      double b_part[1][4][2];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        b_part[0][j][0] = B_tile[576 * ac0 + group + 36 * member + 288 * k + 8 * j];
        b_part[0][j][1] = B_tile[576 * ac0 + group + 36 * member + 288 * k + 8 * j + 144];
      }
      if (k == 0) {
        #pragma unroll
        for (int r0 = 0; r0 < 2; ++r0) {
          #pragma unroll
          for (int r1 = 0; r1 < 4; ++r1) {
            if (ac0 == 0) {
              const int A_d_ = (32 * bd0 + A_bd + 16 * r0) % 3;
              const int A_b_ = (32 * bd0 + A_bd + 16 * r0) / 3;
              copy_async_or_zero<8>(A_tile + A_bd + 16 * r0 + 36 * A_ac + 144 * r1 + 576 * next_place, A + 3 * (A_places[A_ac + 4 * r1 + 16 * next_ac0]) + A_d_ + 15 * A_b_, 32 * bd0 + A_bd + 16 * r0 < 45 && A_ac + 4 * r1 + 16 * next_ac0 < 45);
            }
          }
        }
      }
      if (k > 0) {
        #pragma unroll
        for (int r0 = 0; r0 < 2; ++r0) {
          #pragma unroll
          for (int r1 = 0; r1 < 2; ++r1) {
            if (ac0 == 0) {
              const int B_f_ = (32 * ef0 + 2 * B_ef + 16 * r0) % 6;
              const int B_e_ = (32 * ef0 + 2 * B_ef + 16 * r0) / 6;
              copy_async_or_zero<16>(B_tile + 2 * B_ef + 16 * r0 + 36 * B_ac + 288 * r1 + 576 * next_place, B + 6 * (B_places[B_ac + 8 * r1 + 16 * next_ac0]) + B_f_ + 30 * B_e_, 32 * ef0 + 2 * B_ef + 16 * r0 < 42 && B_ac + 8 * r1 + 16 * next_ac0 < 45);
            }
          }
        }
      }
      #pragma unroll
      for (int i = 0; i < 1; ++i) {
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          mma_m16n8k8_f64(sum[i][j], a_part[0][i], b_part[0][j]);
        }
      }
    }
    commit_async();
  }
  vec<double, 2> C_before[1][8] = {};
  const int d_row = (32 * bd0 + 16 * warp_row + 2 * group) % 3;
  const int b_row = (32 * bd0 + 16 * warp_row + 2 * group) / 3;
  if (32 * bd0 + 16 * warp_row + 2 * group < 45) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int f_column = (32 * ef0 + 2 * member + 8 * j) % 6;
      const int e_column = (32 * ef0 + 2 * member + 8 * j) / 6;
      if (32 * ef0 + 2 * member + 8 * j < 42) {
        C_before[0][j] = load<vec<double, 2>>(C + 630 * d_row + 6 * b_row + f_column + 90 * e_column);
      }
    }
  }
  const int d_row_ = (32 * bd0 + 16 * warp_row + 2 * group + 1) % 3;
  const int b_row_ = (32 * bd0 + 16 * warp_row + 2 * group + 1) / 3;
  if (32 * bd0 + 16 * warp_row + 2 * group + 1 < 45) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int f_column_ = (32 * ef0 + 2 * member + 8 * j) % 6;
      const int e_column_ = (32 * ef0 + 2 * member + 8 * j) / 6;
      if (32 * ef0 + 2 * member + 8 * j < 42) {
        C_before[0][j + 4] = load<vec<double, 2>>(C + 630 * d_row_ + 6 * b_row_ + f_column_ + 90 * e_column_);
      }
    }
  }
  const int d_row__ = (32 * bd0 + 16 * warp_row + 2 * group) % 3;
  const int b_row__ = (32 * bd0 + 16 * warp_row + 2 * group) / 3;
  if (32 * bd0 + 16 * warp_row + 2 * group < 45) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int f_column__ = (32 * ef0 + 2 * member + 8 * j) % 6;
      const int e_column__ = (32 * ef0 + 2 * member + 8 * j) / 6;
      if (32 * ef0 + 2 * member + 8 * j < 42) {
        store(C + 630 * d_row__ + 6 * b_row__ + f_column__ + 90 * e_column__, vec<double, 2>{2.0 * sum[0][j][0] + 0.5 * C_before[0][j].at[0], 2.0 * sum[0][j][1] + 0.5 * C_before[0][j].at[1]});
      }
    }
  }
  const int d_row___ = (32 * bd0 + 16 * warp_row + 2 * group + 1) % 3;
  const int b_row___ = (32 * bd0 + 16 * warp_row + 2 * group + 1) / 3;
  if (32 * bd0 + 16 * warp_row + 2 * group > 43) return;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int f_column___ = (32 * ef0 + 2 * member + 8 * j) % 6;
    const int e_column___ = (32 * ef0 + 2 * member + 8 * j) / 6;
    if (32 * ef0 + 2 * member + 8 * j < 42) {
      store(C + 630 * d_row___ + 6 * b_row___ + f_column___ + 90 * e_column___, vec<double, 2>{2.0 * sum[0][j][2] + 0.5 * C_before[0][j + 4].at[0], 2.0 * sum[0][j][3] + 0.5 * C_before[0][j + 4].at[1]});
    }
  }
}
