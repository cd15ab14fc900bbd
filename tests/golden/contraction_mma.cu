// f64_abcd_deaf_to_cbef_6x24x32x24x20x24        made by ricci 0.1.0 for sm_90; do not edit
// problem    index c = 32
//            index b = 24
//            index e = 20
//            index f = 24
//            index a = 6
//            index d = 24
//            input A : f64 [0..110591] align 16
//            input B : f64 [0..69119] align 16
//            output C : f64 [0..368639] align 16
//            rounding free
//            C[11520*c + 480*b + 24*e + f] = add(sum(a d : mul(A[24*c + 768*b + 18432*a + d], B[144*e + f + 24*a + 2880*d])), C[11520*c + 480*b + 24*e + f])
// extents    c=32 b=24 e=20 f=24 a=6 d=24
// plan       contraction_mma
// traffic    7335936 B (read 4386816, write 2949120)
// index      32 bits: largest offset 368639
// schedule   contraction_mma
//            tile c:4
//            tile e:4
//            tile d:8
//            order task c0 e0 sum a d0
//            stage A at d0 async pad 8 c b d
//            stage B at d0 async pad 2 d e f
//            atom m16n8k8_f64 rows c b columns e f depth d warps 2x2 runs 1x1x2
//            pipeline d0 4
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_mma.case
extern "C" __global__ void __launch_bounds__(128, 1)
f64_abcd_deaf_to_cbef_6x24x32x24x20x24(const double* __restrict__ A, const double* __restrict__ B, double* C)
{
  extern __shared__ __align__(128) unsigned char shared[];
  double* const A_tile = (double*)(shared + 0);
  double* const B_tile = (double*)(shared + 49152);
  const int c0 = (int)blockIdx.x / 5;
  const int e0 = (int)blockIdx.x % 5;
  const int t = threadIdx.x;
  const int warp_row = t / 64;
  const int warp_column = t / 32 % 2;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_d = t % 4;
  const int A_c = t / 4 % 4;
  const int A_b = t / 16;
  const int B_f = t % 12;
  const int B_e = t / 12 % 4;
  const int B_d = t / 48 % 2;
  double sum[3][6][4];
  #pragma unroll
  for (int i = 0; i < 3; ++i) {
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      #pragma unroll
      for (int e_ = 0; e_ < 4; ++e_) {
        sum[i][j][e_] = 0.0;
      }
    }
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 3; ++ahead) {
    #pragma unroll
    for (int r0 = 0; r0 < 3; ++r0) {
      copy_async<16>(A_tile + 2 * A_d + 384 * A_c + 16 * A_b + 128 * r0 + 1536 * ahead, A + 96 * c0 + 2 * A_d + 24 * A_c + 768 * A_b + 6144 * r0 + 8 * ahead);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async_if<16>(B_tile + 2 * B_f + 24 * B_e + 98 * B_d + 196 * r0 + 784 * ahead, B + 576 * e0 + 2 * B_f + 144 * B_e + 2880 * B_d + 5760 * r0 + 23040 * ahead, t < 96);
    }
    commit_async();
  }
  #pragma unroll 1
  for (int chunk = 0; chunk < 18; ++chunk) {
    const int a = opaque(chunk) / 3;
    const int d0 = opaque(chunk) % 3;
    wait_async<2>();
    __syncthreads();
    const int next_place = opaque(chunk + 3) % 4;
    const int next_a = opaque(chunk + 3) / 3 % 6;
    const int next_d0 = opaque(chunk + 3) % 3;
    const int place = opaque(chunk) % 4;
    double a_part[1][3][4];
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
      vec<double, 2> a_run[2];
      a_run[0] = load<vec<double, 2>>(A_tile + 768 * warp_row + 16 * group + 2 * member + 1536 * place + 256 * i);
      a_part[0][i][0] = a_run[0].at[0];
      a_part[0][i][2] = a_run[0].at[1];
      a_run[1] = load<vec<double, 2>>(A_tile + 768 * warp_row + 16 * group + 2 * member + 1536 * place + 256 * i + 128);
      a_part[0][i][1] = a_run[1].at[0];
      a_part[0][i][3] = a_run[1].at[1];
    }
    double b_part[1][6][2];
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      b_part[0][j][0] = B_tile[48 * warp_column + group + 196 * member + 784 * place + 8 * j];
      b_part[0][j][1] = B_tile[48 * warp_column + group + 196 * member + 784 * place + 8 * j + 98];
    }
    #pragma unroll
    for (int r0 = 0; r0 < 3; ++r0) {
      copy_async_if<16>(A_tile + 2 * A_d + 384 * A_c + 16 * A_b + 128 * r0 + 1536 * next_place, A + 96 * c0 + 2 * A_d + 24 * A_c + 768 * A_b + 6144 * r0 + 18432 * next_a + 8 * next_d0, chunk < 15);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async_if<16>(B_tile + 2 * B_f + 24 * B_e + 98 * B_d + 196 * r0 + 784 * next_place, B + 576 * e0 + 2 * B_f + 144 * B_e + 2880 * B_d + 5760 * r0 + 24 * next_a + 23040 * next_d0, t < 96 && chunk < 15);
    }
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
      #pragma unroll
      for (int j = 0; j < 6; ++j) {
        mma_m16n8k8_f64(sum[i][j], a_part[0][i], b_part[0][j]);
      }
    }
    commit_async();
  }
  #pragma unroll
  for (int block = 0; block < 3; ++block) {
    vec<double, 2> C_before[1][6] = {};
    const int b_row = (48 * warp_row + group + 16 * block) % 24;
    const int c_row = (48 * warp_row + group + 16 * block) / 24;
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      const int f_column = (24 * warp_column + member + 4 * j) % 12;
      const int e_column = (24 * warp_column + member + 4 * j) / 12;
      C_before[0][j] = load<vec<double, 2>>(C + 46080 * c0 + 96 * e0 + 480 * b_row + 11520 * c_row + 2 * f_column + 24 * e_column);
    }
    const int b_row_ = (48 * warp_row + group + 16 * block) % 24;
    const int c_row_ = (48 * warp_row + group + 16 * block) / 24;
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      const int f_column_ = (24 * warp_column + member + 4 * j) % 12;
      const int e_column_ = (24 * warp_column + member + 4 * j) / 12;
      store(C + 46080 * c0 + 96 * e0 + 480 * b_row_ + 11520 * c_row_ + 2 * f_column_ + 24 * e_column_, vec<double, 2>{sum[block][j][0] + C_before[0][j].at[0], sum[block][j][1] + C_before[0][j].at[1]});
    }
    const int b_row__ = (48 * warp_row + group + 16 * block + 8) % 24;
    const int c_row__ = (48 * warp_row + group + 16 * block + 8) / 24;
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      const int f_column__ = (24 * warp_column + member + 4 * j) % 12;
      const int e_column__ = (24 * warp_column + member + 4 * j) / 12;
      C_before[0][j] = load<vec<double, 2>>(C + 46080 * c0 + 96 * e0 + 480 * b_row__ + 11520 * c_row__ + 2 * f_column__ + 24 * e_column__);
    }
    const int b_row___ = (48 * warp_row + group + 16 * block + 8) % 24;
    const int c_row___ = (48 * warp_row + group + 16 * block + 8) / 24;
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      const int f_column___ = (24 * warp_column + member + 4 * j) % 12;
      const int e_column___ = (24 * warp_column + member + 4 * j) / 12;
      store(C + 46080 * c0 + 96 * e0 + 480 * b_row___ + 11520 * c_row___ + 2 * f_column___ + 24 * e_column___, vec<double, 2>{sum[block][j][2] + C_before[0][j].at[0], sum[block][j][3] + C_before[0][j].at[1]});
    }
  }
}
