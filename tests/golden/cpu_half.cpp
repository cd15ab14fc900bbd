// bf16_f16_ab_bc_to_ac_61x50x44        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 61
//            index c = 44
//            index b = 50
//            input A : bf16 [0..3049] align 16
//            input B : bf16 [0..2199] align 16
//            output C : f16 [0..2683] align 16
//            rounding free
//            C[44*a + c] = f16(add(sum(b : mul(f32(A[50*a + b]), f32(B[c + 44*b]))), f32(C[44*a + c])))
// extents    a=61 c=44 b=50
// plan       cpu_half
// traffic    21236 B (read 15868, write 5368)
// index      32 bits: largest offset 3049
// schedule   cpu_half
//            tile a:63:63:9
//            tile c:48:48
//            order task c0 a0 serial a1 c1 a2
//            stage B at a0 scratch c1 b c
//            stage A at a1 scratch a2 b a
//            atom fma rows a columns c depth b lanes 16
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_half.case
extern "C" void bf16_f16_ab_bc_to_ac_61x50x44(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const bf16* __restrict__ const A = (const bf16*)args[0];
  const bf16* __restrict__ const B = (const bf16*)args[1];
  f16* __restrict__ const C = (f16*)args[2];
  float* __restrict__ const B_packed = (float*)(scratch + 0);
  float* __restrict__ const A_packed = (float*)(scratch + 9600);
  for (i64 task = first; task < last; ++task) {
    for (i64 b = 0; b < 50; ++b) {
      #pragma unroll
      for (int cv = 0; cv < 2; ++cv) {
        *(f32x16_in_memory*)(B_packed + 48LL * b + 16LL * cv) = widen_bf16(*(const bf16x16_in_memory*)(B + 44LL * b + 16LL * cv));
      }
      store_part<12>(B_packed + 48LL * b + 32LL, widen_bf16(load_part<bf16x16, 12>(B + 44LL * b + 32LL)));
    }
    for (i64 a2 = 0; a2 < 7 && 9LL * a2 < 61; ++a2) {
      if (9LL * a2 + 8LL < 61) {
        for (i64 bb = 0; bb < 3; ++bb) {
          f32x16 A_packed_rows[16];
          #pragma unroll
          for (int u = 0; u < 9; ++u) {
            A_packed_rows[u] = widen_bf16(*(const bf16x16_in_memory*)(A + 450LL * a2 + 16LL * bb + 50LL * u));
          }
          #pragma unroll
          for (int z = 0; z < 7; ++z) {
            A_packed_rows[z + 9LL] = 0.0f;
          }
          transpose<float, 16>(A_packed_rows);
          #pragma unroll
          for (int w = 0; w < 16; ++w) {
            store_part<9>(A_packed + 450LL * a2 + 144LL * bb + 9LL * w, A_packed_rows[w]);
          }
        }
        for (i64 br = 0; br < 2; ++br) {
          #pragma unroll
          for (int ar = 0; ar < 9; ++ar) {
            A_packed[450LL * a2 + ar + 9LL * br + 432LL] = cast_f32(A[450LL * a2 + 50LL * ar + br + 48LL]);
          }
        }
      } else {
        for (i64 bb = 0; bb < 6; ++bb) {
          f32x8 A_packed_rows[8];
          #pragma unroll
          for (int u = 0; u < 7; ++u) {
            A_packed_rows[u] = widen_bf16(*(const bf16x8_in_memory*)(A + 450LL * a2 + 8LL * bb + 50LL * u));
          }
          #pragma unroll
          for (int z = 0; z < 1; ++z) {
            A_packed_rows[z + 7LL] = 0.0f;
          }
          transpose<float, 8>(A_packed_rows);
          #pragma unroll
          for (int w = 0; w < 8; ++w) {
            store_part<7>(A_packed + 450LL * a2 + 72LL * bb + 9LL * w, A_packed_rows[w]);
          }
        }
        #pragma unroll
        for (int br = 0; br < 2; ++br) {
          #pragma unroll
          for (int ar = 0; ar < 7; ++ar) {
            A_packed[450LL * a2 + ar + 9LL * br + 432LL] = cast_f32(A[450LL * a2 + 50LL * ar + br + 48LL]);
          }
        }
      }
    }
    for (i64 a2 = 0; a2 < 7; ++a2) {
      f32x16 sum[9][3];
      #pragma unroll
      for (int r = 0; r < 9; ++r) {
        #pragma unroll
        for (int v = 0; v < 3; ++v) {
          sum[r][v] = 0.0f;
        }
      }
      for (i64 b = 0; b < 50; ++b) {
        float a_[9];
        f32x16 b_[3];
        #pragma unroll
        for (int a = 0; a < 9; ++a) {
          a_[a] = A_packed[450LL * a2 + a + 9LL * b];
        }
        #pragma unroll
        for (int cv = 0; cv < 3; ++cv) {
          b_[cv] = *(const f32x16_in_memory*)(B_packed + 48LL * b + 16LL * cv);
        }
        #pragma unroll
        for (int a = 0; a < 9; ++a) {
          #pragma unroll
          for (int cv = 0; cv < 3; ++cv) {
            sum[a][cv] += a_[a] * b_[cv];
          }
        }
      }
      #pragma unroll
      for (int a = 0; a < 9; ++a) {
        if (9LL * a2 + a < 61) {
          #pragma unroll
          for (int cv = 0; cv < 2; ++cv) {
            *(f16x16_in_memory*)(C + 396LL * a2 + 44LL * a + 16LL * cv) = narrow_f16(sum[a][cv] + widen_f16(*(const f16x16_in_memory*)(C + 396LL * a2 + 44LL * a + 16LL * cv)));
          }
          store_part<12>(C + 396LL * a2 + 44LL * a + 32LL, narrow_f16(sum[a][2] + widen_f16(load_part<f16x16, 12>(C + 396LL * a2 + 44LL * a + 32LL))));
        }
      }
    }
  }
}
