// f64_abc_dc_to_bad_20x10x48x24        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 10
//            index a = 20
//            index d = 24
//            index c = 48
//            input A : f64 [0..9599] align 16
//            input B : f64 [0..1151] align 16
//            output C : f64 [0..4799] align 16
//            rounding free
//            C[480*b + 24*a + d] = add(sum(c : mul(A[48*b + 480*a + c], B[48*d + c])), C[480*b + 24*a + d])
// extents    b=10 a=20 d=24 c=48
// plan       contraction_maps_mma
// traffic    162816 B (read 124416, write 38400)
// index      32 bits: largest offset 9599
// schedule   contraction_maps_mma
//            tile a:8
//            tile b:4
//            tile d:24
//            tile c:8
//            order task b0 a0 sum c0
//            stage A at c0 maps pad 2 a b c
//            stage B at c0 maps pad 2 d c
//            atom m16n8k8_f64 rows a b columns d depth c warps 2x1 runs 1x1x2
//            pipeline c0 3
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_maps_mma.case
extern "C" __global__ void __launch_bounds__(64, 1)
f64_abc_dc_to_bad_20x10x48x24(const double* __restrict__ A, const double* __restrict__ B, double* C, const __grid_constant__ TensorMap A_tile_map, const __grid_constant__ TensorMap B_tile_map)
{
  __shared__ __align__(128) double A_tile[960];
  __shared__ __align__(128) double B_tile[720];
  __shared__ __align__(128) u64 arrived[3];
  const int b0 = (int)blockIdx.x / 3;
  const int a0 = (int)blockIdx.x % 3;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  double sum[1][3][4];
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int j = 0; j < 3; ++j) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        sum[i][j][e] = 0.0;
      }
    }
  }
  if (t == 0) {
    begin_counters(arrived, 3);
    fetch_map(&A_tile_map);
    fetch_map(&B_tile_map);
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 2; ++ahead) {
    if (t == 0) {
      expect_bytes(arrived + ahead, 4480);
      copy_box(A_tile + 320 * ahead, &A_tile_map, arrived + ahead, 0, 4 * b0, 8 * a0, ahead);
      copy_box(B_tile + 240 * ahead, &B_tile_map, arrived + ahead, 0, 0, ahead);
    }
  }
  #pragma unroll 1
  for (int c0 = 0; c0 < 6; ++c0) {
    __syncthreads();
    const int next_place = opaque(c0 + 2) % 3;
    const int next_c0 = opaque(c0 + 2) % 6;
    if (t == 0 && c0 < 4) {
      expect_bytes(arrived + next_place, 4480);
      copy_box(A_tile + 320 * next_place, &A_tile_map, arrived + next_place, 0, 4 * b0, 8 * a0, next_c0);
      copy_box(B_tile + 240 * next_place, &B_tile_map, arrived + next_place, 0, 0, next_c0);
    }
    const int place = opaque(c0) % 3;
    const int parity = opaque(c0) / 3;
    await_bytes(arrived + place, parity);
    double a_part[1][1][4];
    vec<double, 2> a_run[2];
    a_run[0] = load<vec<double, 2>>(A_tile + 160 * warp_row + 10 * group + 2 * member + 320 * place);
    a_part[0][0][0] = a_run[0].at[0];
    a_part[0][0][2] = a_run[0].at[1];
    a_run[1] = load<vec<double, 2>>(A_tile + 160 * warp_row + 10 * group + 2 * member + 320 * place + 80);
    a_part[0][0][1] = a_run[1].at[0];
    a_part[0][0][3] = a_run[1].at[1];
    double b_part[1][3][2];
    #pragma unroll
    for (int j = 0; j < 3; ++j) {
      vec<double, 2> b_run[1];
      b_run[0] = load<vec<double, 2>>(B_tile + 10 * group + 2 * member + 240 * place + 80 * j);
      b_part[0][j][0] = b_run[0].at[0];
      b_part[0][j][1] = b_run[0].at[1];
    }
    #pragma unroll
    for (int i = 0; i < 1; ++i) {
      #pragma unroll
      for (int j = 0; j < 3; ++j) {
        mma_m16n8k8_f64(sum[i][j], a_part[0][i], b_part[0][j]);
      }
    }
  }
  vec<double, 2> C_before[1][6] = {};
  const int b_row = (16 * warp_row + group) % 4;
  const int a_row = (16 * warp_row + group) / 4;
  if (4 * b0 + b_row < 10 && 8 * a0 + a_row < 20) {
    #pragma unroll
    for (int j = 0; j < 3; ++j) {
      C_before[0][j] = load<vec<double, 2>>(C + 192 * a0 + 1920 * b0 + 2 * member + 480 * b_row + 24 * a_row + 8 * j);
    }
  }
  const int b_row_ = (16 * warp_row + group + 8) % 4;
  const int a_row_ = (16 * warp_row + group + 8) / 4;
  if (4 * b0 + b_row_ < 10 && 8 * a0 + a_row_ < 20) {
    #pragma unroll
    for (int j = 0; j < 3; ++j) {
      C_before[0][j + 3] = load<vec<double, 2>>(C + 192 * a0 + 1920 * b0 + 2 * member + 480 * b_row_ + 24 * a_row_ + 8 * j);
    }
  }
  const int b_row__ = (16 * warp_row + group) % 4;
  const int a_row__ = (16 * warp_row + group) / 4;
  if (4 * b0 + b_row__ < 10 && 8 * a0 + a_row__ < 20) {
    #pragma unroll
    for (int j = 0; j < 3; ++j) {
      store(C + 192 * a0 + 1920 * b0 + 2 * member + 480 * b_row__ + 24 * a_row__ + 8 * j, vec<double, 2>{sum[0][j][0] + C_before[0][j].at[0], sum[0][j][1] + C_before[0][j].at[1]});
    }
  }
  const int b_row___ = (16 * warp_row + group + 8) % 4;
  const int a_row___ = (16 * warp_row + group + 8) / 4;
  if (4 * b0 + b_row___ > 9) return;
  if (8 * a0 + a_row___ > 19) return;
  #pragma unroll
  for (int j = 0; j < 3; ++j) {
    store(C + 192 * a0 + 1920 * b0 + 2 * member + 480 * b_row___ + 24 * a_row___ + 8 * j, vec<double, 2>{sum[0][j][2] + C_before[0][j + 3].at[0], sum[0][j][3] + C_before[0][j + 3].at[1]});
  }
}
