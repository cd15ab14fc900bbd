// bf16_ab_ch_ah_to_cb_80x16x80x80x80x16x16x16        made by ricci 0.1.0 for sm_90; do not edit
// problem    index c = 80
//            index b = 16
//            index a = 80
//            index d = 80
//            index e = 80
//            index f = 16
//            index g = 16
//            index h = 16
//            input A : bf16 [0..1279] align 16
//            input B : bf16 [0..1279] align 16
//            input C : bf16 [0..1279] align 16
//            output D : bf16 [0..1279] align 16
//            rounding free
//            let %1 = maximum(d : guard(less_equal(d, c), f32(bf16(mul(f32(0.25), sum(f : mul(f32(B[16*c + f]), f32(C[16*d + f]))))))))
//            D[16*c + b] = bf16(div(sum(a : guard(less_equal(a, c), mul(f32(A[b + 16*a]), f32(bf16(exp(sub(f32(bf16(mul(f32(0.25), sum(h : mul(f32(B[16*c + h]), f32(C[16*a + h])))))), %1))))))), sum(e : guard(less_equal(e, c), f32(bf16(exp(sub(f32(bf16(mul(f32(0.25), sum(g : mul(f32(B[16*c + g]), f32(C[16*e + g])))))), %1))))))))
// extents    c=80 b=16 a=80 d=80 e=80 f=16 g=16 h=16
// plan       attention_groups
// traffic    10240 B (read 7680, write 2560)
// index      32 bits: largest offset 1279
// schedule   attention_groups
//            tile c:64
//            tile d:32
//            order task c0 serial d0
//            stage B at c0 maps c h
//            stage C at d0 maps d h
//            stage A at d0 maps d b
//            pipeline d0 2
//            atom wgmma_bf16 rows c columns d depth h warps 4x1 runs 1x1x1
//            atom wgmma_rs_bf16 rows c columns b depth d warps 4x1 runs 1x1x1
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/attention_groups.case
extern "C" __global__ void __launch_bounds__(128, 1)
bf16_ab_ch_ah_to_cb_80x16x80x80x80x16x16x16(const bf16* __restrict__ A, const bf16* __restrict__ B, const bf16* __restrict__ C, bf16* __restrict__ D, const __grid_constant__ TensorMap C_map, const __grid_constant__ TensorMap A_map, const __grid_constant__ TensorMap B_map)
{
  __shared__ __align__(1024) bf16 C_tile[1024];
  __shared__ __align__(1024) bf16 A_tile[1024];
  __shared__ __align__(1024) bf16 B_tile[1024];
  __shared__ __align__(128) u64 arrived[2];
  const int c_tile = blockIdx.x;
  const int t = threadIdx.x;
  const int warp = t / 32;
  const int group = t / 4 % 8;
  const int member2 = t % 4;
  float most[1][2];
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
      most[i][half] = -infinity_f32();
    }
  }
  float shift[1][2];
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
      shift[i][half] = 0.0f;
    }
  }
  float sum[1][2] = {};
  float product[1][2][4] = {};
  if (t == 0) {
    begin_counters(arrived, 2);
    fetch_map(&C_map);
    fetch_map(&A_map);
    fetch_map(&B_map);
  }
  if (t == 0 && 64 * c_tile - 127 < 1) {
    expect_bytes(arrived, 4096);
    copy_box(B_tile, &B_map, arrived, 0, -64 * c_tile + 64);
    copy_box(C_tile, &C_map, arrived, 0, 0);
    copy_box(A_tile, &A_map, arrived, 0, 0);
  }
  #pragma unroll 1
  for (int d0 = 0; d0 < 3 && 64 * c_tile + 32 * d0 - 127 < 1; ++d0) {
    const int place = opaque(d0) % 2;
    const int next_place = -place + 1;
    __syncthreads();
    if (t == 0 && d0 < 2 && 64 * c_tile + 32 * d0 - 95 < 1) {
      expect_bytes(arrived + next_place, 2048);
      copy_box(C_tile + 512 * next_place, &C_map, arrived + next_place, 0, 32 * d0 + 32);
      copy_box(A_tile + 512 * next_place, &A_map, arrived + next_place, 0, 32 * d0 + 32);
    }
    const int parity = opaque(d0) / 2 % 2;
    await_bytes(arrived + place, parity);
    float score[1][4][4] = {};
    fence_registers(score);
    wgmma_bf16<0, 0>(score[0], shared_matrix<32>(B_tile, 512, 256), shared_matrix<32>(C_tile + 512 * place, 512, 256));
    commit_products();
    wait_products<0>(score);
    #pragma unroll
    for (int i = 0; i < 1; ++i) {
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          #pragma unroll
          for (int e2 = 0; e2 < 2; ++e2) {
            score[i][j][2 * half + e2] = cast_f32(cast_bf16(0.25f * score[i][j][2 * half + e2]));
          }
        }
      }
    }
    if (64 * c_tile + 32 * d0 > 33) {
      #pragma unroll
      for (int i = 0; i < 1; ++i) {
        #pragma unroll
        for (int half = 0; half < 2; ++half) {
          #pragma unroll
          for (int j = 0; j < 4; ++j) {
            #pragma unroll
            for (int e2 = 0; e2 < 2; ++e2) {
              if (16 * warp + group + 16 * i + 8 * half + 65 <= 64 * c_tile + 2 * member2 + 32 * d0 + 8 * j + e2) {
                score[i][j][2 * half + e2] = -infinity_f32();
              }
            }
          }
        }
      }
    }
    if (32 * d0 > 48) {
      #pragma unroll
      for (int i = 0; i < 1; ++i) {
        #pragma unroll
        for (int half = 0; half < 2; ++half) {
          #pragma unroll
          for (int j = 0; j < 4; ++j) {
            #pragma unroll
            for (int e2 = 0; e2 < 2; ++e2) {
              if (2 * member2 + 32 * d0 + 8 * j + e2 > 79) {
                score[i][j][2 * half + e2] = -infinity_f32();
              }
            }
          }
        }
      }
    }
    #pragma unroll
    for (int i = 0; i < 1; ++i) {
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        float top = most[i][half];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          #pragma unroll
          for (int e2 = 0; e2 < 2; ++e2) {
            top = greatest(top, score[i][j][2 * half + e2]);
          }
        }
        #pragma unroll
        for (int mask = 2; mask > 0; mask /= 2) top = maximum<float>(top, shuffle_xor(top, mask));
        const float shifted = (top == -infinity_f32() ? 0.0f : top) * (-1.442695f);
        const float factor = most[i][half] == -infinity_f32() ? 0.0f : power_of_two(shifted - shift[i][half]);
        shift[i][half] = shifted;
        most[i][half] = top;
        sum[i][half] *= factor;
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          #pragma unroll
          for (int e2 = 0; e2 < 2; ++e2) {
            product[i][j][2 * half + e2] *= factor;
          }
        }
      }
    }
    fence_registers(product);
    u32 weight[1][4];
    #pragma unroll
    for (int i = 0; i < 1; ++i) {
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        #pragma unroll
        for (int right = 0; right < 2; ++right) {
          const float power = power_of_two(score[i][right][2 * half] * 1.442695f + shift[i][half]);
          const float power2 = power_of_two(score[i][right][2 * half + 1] * 1.442695f + shift[i][half]);
          weight[i][half + 2 * right] = word_of_bf16(power, power2);
          sum[i][half] += cast_f32(half_of<bf16>(weight[i][half + 2 * right], 0));
          sum[i][half] += cast_f32(half_of<bf16>(weight[i][half + 2 * right], 1));
        }
      }
    }
    fence_registers(weight);
    wgmma_rs_bf16<1>(product[0], weight[0], shared_matrix<32>(A_tile + 512 * place, 512, 256));
    commit_products();
    u32 weight2[1][4];
    #pragma unroll
    for (int i = 0; i < 1; ++i) {
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        #pragma unroll
        for (int right = 0; right < 2; ++right) {
          const float power3 = power_of_two(score[i][right + 2][2 * half] * 1.442695f + shift[i][half]);
          const float power4 = power_of_two(score[i][right + 2][2 * half + 1] * 1.442695f + shift[i][half]);
          weight2[i][half + 2 * right] = word_of_bf16(power3, power4);
          sum[i][half] += cast_f32(half_of<bf16>(weight2[i][half + 2 * right], 0));
          sum[i][half] += cast_f32(half_of<bf16>(weight2[i][half + 2 * right], 1));
        }
      }
    }
    fence_registers(weight2);
    wgmma_rs_bf16<1>(product[0], weight2[0], shared_matrix<32>(A_tile + 512 * place + 256, 512, 256));
    commit_products();
    wait_products<0>(product);
  }
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
      #pragma unroll
      for (int mask = 2; mask > 0; mask /= 2) sum[i][half] = sum[i][half] + shuffle_xor(sum[i][half], mask);
    }
  }
  #pragma unroll
  for (int i = 0; i < 1; ++i) {
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (16 * warp + group + 16 * i + 8 * half < 64 * c_tile + 16) {
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          store(D + -1024 * c_tile + 256 * warp + 16 * group + 2 * member2 + 256 * i + 128 * half + 8 * j + 1024, vec<bf16, 2>{cast_bf16(product[i][j][2 * half] / sum[i][half]), cast_bf16(product[i][j][2 * half + 1] / sum[i][half])});
        }
      }
    }
  }
}
