// f64_ab_bc_to_ac_200x640x48        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 200
//            index c = 48
//            index b = 640
//            input A : f64 [0..127999] align 16
//            input B : f64 [0..30719] align 16
//            output C : f64 [0..9599] align 16
//            rounding free
//            C[48*a + c] = add(mul(f64(2.5), sum(b : mul(A[640*a + b], B[c + 48*b]))), C[48*a + c])
// extents    a=200 c=48 b=640
// plan       contraction_last
// traffic    1423360 B (read 1346560, write 76800)
// index      32 bits: largest offset 127999
// schedule   contraction_last
//            tile a:32
//            tile c:16
//            tile b:336:16
//            order task a0 c0 cluster b0 last 5 sum b1
//            stage A at b1 async pad 4 a b
//            stage B at b1 async pad 4 b c
//            atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2
//            pipeline b1 3
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction_last.case
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64, 1)
f64_ab_bc_to_ac_200x640x48(const double* __restrict__ A, const double* __restrict__ B, double* C)
{
  __shared__ __align__(128) double A_tile[1920];
  __shared__ __align__(128) double B_tile[960];
  __shared__ __align__(128) double C_tile[768];
  const int cluster = (int)blockIdx.x / 2;
  const int rank = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  const int warp_row = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int A_b = t % 8;
  const int A_a = t / 8;
  const int B_c = t % 8;
  const int B_b = t / 8;
  const int left = -2 * cluster - rank + 25 < 9 ? -2 * cluster - rank + 25 : 9;
  const int alone = 2 * cluster + rank < 16 ? 2 * cluster + rank : 16;
  const int together = (-left + 9) / 2;
  const int in_parts = cluster / 8 < 1 ? cluster / 8 : 1;
  const int b0 = (-left + 9) % 2;
  const int c0 = (alone + together) % 3;
  const int a0 = (alone + together) / 3;
  double sum[1][2][4];
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        sum[i][j][e] = 0.0;
      }
    }
  }
  #pragma unroll 1
  for (int ahead = 0; ahead < 2; ++ahead) {
    #pragma unroll
    for (int r0 = 0; r0 < 4; ++r0) {
      copy_async_or_zero<16>(A_tile + 2 * A_b + 20 * A_a + 160 * r0 + 640 * ahead, A + 20480 * a0 + 336 * b0 + 2 * A_b + 640 * A_a + 5120 * r0 + 16 * ahead, 32 * a0 + A_a + 8 * r0 < 200);
    }
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      copy_async<16>(B_tile + 2 * B_c + 20 * B_b + 160 * r0 + 320 * ahead, B + 16 * c0 + 16128 * b0 + 2 * B_c + 48 * B_b + 384 * r0 + 768 * ahead);
    }
    commit_async();
  }
  #pragma unroll 1
  for (int b1 = 0; b1 < 40 && b1 + 19 * in_parts < 40 && 21 * b0 + b1 < 40; ++b1) {
    wait_async<1>();
    __syncthreads();
    const int next_place = opaque(b1 + 2) % 3;
    const int next_b1 = opaque(b1 + 2) % 40;
    const int place = opaque(b1) % 3;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      double a_part[1][1][4];
      vec<double, 2> a_run[2];
      a_run[0] = load<vec<double, 2>>(A_tile + 320 * warp_row + 20 * group + 2 * member + 640 * place + 8 * k);
      a_part[0][0][0] = a_run[0].at[0];
      a_part[0][0][2] = a_run[0].at[1];
      a_run[1] = load<vec<double, 2>>(A_tile + 320 * warp_row + 20 * group + 2 * member + 640 * place + 8 * k + 160);
      a_part[0][0][1] = a_run[1].at[0];
      a_part[0][0][3] = a_run[1].at[1];
      double b_part[1][2][2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        b_part[0][j][0] = B_tile[group + 40 * member + 320 * place + 160 * k + 8 * j];
        b_part[0][j][1] = B_tile[group + 40 * member + 320 * place + 160 * k + 8 * j + 20];
      }
      if (k == 0) {
        #pragma unroll
        for (int r0 = 0; r0 < 4; ++r0) {
          copy_async_or_zero_if<16>(A_tile + 2 * A_b + 20 * A_a + 160 * r0 + 640 * next_place, A + 20480 * a0 + 336 * b0 + 2 * A_b + 640 * A_a + 5120 * r0 + 16 * next_b1, 32 * a0 + A_a + 8 * r0 < 200, b1 + 19 * in_parts < 38 && 21 * b0 + b1 < 38);
        }
      }
      if (k > 0) {
        #pragma unroll
        for (int r0 = 0; r0 < 2; ++r0) {
          copy_async_if<16>(B_tile + 2 * B_c + 20 * B_b + 160 * r0 + 320 * next_place, B + 16 * c0 + 16128 * b0 + 2 * B_c + 48 * B_b + 384 * r0 + 768 * next_b1, b1 + 19 * in_parts < 38 && 21 * b0 + b1 < 38);
        }
      }
      #pragma unroll
      for (int i = 0; i < 1; ++i) {
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          mma_m16n8k8_f64(sum[i][j], a_part[0][i], b_part[0][j]);
        }
      }
    }
    commit_async();
  }
  if (in_parts == 0) {
    vec<double, 2> C_before[1][4] = {};
    if (32 * a0 + 16 * warp_row + group < 200) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        C_before[0][j] = load<vec<double, 2>>(C + 1536 * a0 + 16 * c0 + 768 * warp_row + 48 * group + 2 * member + 8 * j);
      }
    }
    if (32 * a0 + 16 * warp_row + group + 8 < 200) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        C_before[0][j + 2] = load<vec<double, 2>>(C + 1536 * a0 + 16 * c0 + 768 * warp_row + 48 * group + 2 * member + 8 * j + 384);
      }
    }
    if (32 * a0 + 16 * warp_row + group < 200) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        store(C + 1536 * a0 + 16 * c0 + 768 * warp_row + 48 * group + 2 * member + 8 * j, vec<double, 2>{2.5 * sum[0][j][0] + C_before[0][j].at[0], 2.5 * sum[0][j][1] + C_before[0][j].at[1]});
      }
    }
    if (32 * a0 + 16 * warp_row + group + 8 < 200) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        store(C + 1536 * a0 + 16 * c0 + 768 * warp_row + 48 * group + 2 * member + 8 * j + 384, vec<double, 2>{2.5 * sum[0][j][2] + C_before[0][j + 2].at[0], 2.5 * sum[0][j][3] + C_before[0][j + 2].at[1]});
      }
    }
  } else {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      store(C_tile + 384 * warp_row + 24 * group + 2 * member + 8 * j, vec<double, 2>{sum[0][j][0], sum[0][j][1]});
      store(C_tile + 384 * warp_row + 24 * group + 2 * member + 8 * j + 192, vec<double, 2>{sum[0][j][2], sum[0][j][3]});
    }
    barrier_of_cluster();
    const int C_c = (64 * rank + t) % 8;
    const int C_a = (64 * rank + t) / 8;
    #pragma unroll
    for (int r0 = 0; r0 < 2; ++r0) {
      if (32 * a0 + C_a + 16 * r0 < 200) {
        vec<double, 2> C_parts[2];
        C_parts[0] = load<vec<double, 2>>(of_block(C_tile, 0) + 2 * C_c + 24 * C_a + 384 * r0);
        C_parts[1] = load<vec<double, 2>>(of_block(C_tile, 1) + 2 * C_c + 24 * C_a + 384 * r0);
        store(C + 1536 * a0 + 16 * c0 + 2 * C_c + 48 * C_a + 768 * r0, vec<double, 2>{2.5 * (C_parts[0].at[0] + C_parts[1].at[0]) + C[1536 * a0 + 16 * c0 + 2 * C_c + 48 * C_a + 768 * r0], 2.5 * (C_parts[0].at[1] + C_parts[1].at[1]) + C[1536 * a0 + 16 * c0 + 2 * C_c + 48 * C_a + 768 * r0 + 1]});
      }
    }
    barrier_of_cluster();
  }
}
