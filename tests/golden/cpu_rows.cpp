// f32_ab_ac_to_ab_12x61x61        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 12
//            index b = 61
//            index c = 61
//            input A : f32 [0..731] align 16
//            output B : f32 [0..731] align 16
//            rounding free
//            B[61*a + b] = select(less_equal(b, a), div(exp(A[61*a + b]), sum(c : guard(less_equal(c, a), exp(A[61*a + c])))), f32(0))
// extents    a=12 b=61 c=61
// plan       cpu_rows
// traffic    5856 B (read 2928, write 2928)
// index      32 bits: largest offset 731
// schedule   cpu_rows
//            tile a:4
//            order task a0 b serial a
//            row b 8
//            nontemporal
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_rows.case
extern "C" void f32_ab_ac_to_ab_12x61x61(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const float* __restrict__ const A = (const float*)args[0];
  float* __restrict__ const B = (float*)args[1];
  float* __restrict__ const kept = (float*)(scratch + 0);
  for (i64 task = first; task < last; ++task) {
    const i64 a_tile = task;
    const i64 a0 = 4LL * a_tile;
    for (i64 a = a0; a < a0 + 4LL; ++a) {
      const i64 cut = a + 1LL < 61 ? a + 1LL : 61;
      f32x8 sum[4];
      #pragma unroll
      for (int ub = 0; ub < 4; ++ub) {
        sum[ub] = 0.0f;
      }
      f32x4 sum2 = 0.0f;
      float sum3 = 0.0f;
      i64 b2 = 0;
      for (; b2 + 32 <= cut; b2 += 32) {
        f32x8 value[4];
        #pragma unroll
        for (int ub = 0; ub < 4; ++ub) {
          value[ub] = Lanes<float, 8>::exp(*(const f32x8_in_memory*)(A + 61LL * a + 8LL * ub + b2));
        }
        #pragma unroll
        for (int ub = 0; ub < 4; ++ub) {
          *(f32x8_in_memory*)(kept + 8LL * ub + b2) = value[ub];
        }
        #pragma unroll
        for (int ub = 0; ub < 4; ++ub) {
          sum[ub] += value[ub];
        }
      }
      for (; b2 + 8 <= cut; b2 += 8) {
        const f32x8 value2 = Lanes<float, 8>::exp(*(const f32x8_in_memory*)(A + 61LL * a + b2));
        *(f32x8_in_memory*)(kept + b2) = value2;
        sum[0] += value2;
      }
      for (; b2 + 4 <= cut; b2 += 4) {
        const f32x4 value3 = Lanes<float, 4>::exp(*(const f32x4_in_memory*)(A + 61LL * a + b2));
        *(f32x4_in_memory*)(kept + b2) = value3;
        sum2 += value3;
      }
      for (; b2 < cut; ++b2) {
        const float value4 = Lanes<float, 1>::exp(A[61LL * a + b2]);
        kept[b2] = value4;
        sum3 += value4;
      }
      const f32x8 sum4 = sum[0] + sum[1] + (sum[2] + sum[3]);
      const f32x4 sum5 = part_of<float, 0, 4>(sum4) + part_of<float, 4, 4>(sum4) + sum2;
      const f32x2 sum6 = part_of<float, 0, 2>(sum5) + part_of<float, 2, 2>(sum5);
      const float sum7 = sum6[0] + sum6[1] + sum3;
      i64 b3 = 0;
      for (; b3 + 32 <= cut; b3 += 32) {
        __builtin_prefetch(A + 61LL * a + b3 + 61LL, 0, 2);
        __builtin_prefetch(A + 61LL * a + b3 + 77LL, 0, 2);
        #pragma unroll
        for (int ub = 0; ub < 4; ++ub) {
          store_nontemporal<f32x8>(B, 61LL * a + 8LL * ub + b3, *(const f32x8_in_memory*)(kept + 8LL * ub + b3) / sum7);
        }
      }
      for (; b3 + 8 <= cut; b3 += 8) {
        __builtin_prefetch(A + 61LL * a + b3 + 61LL, 0, 2);
        store_nontemporal<f32x8>(B, 61LL * a + b3, *(const f32x8_in_memory*)(kept + b3) / sum7);
      }
      for (; b3 + 4 <= cut; b3 += 4) {
        *(f32x4_in_memory*)(B + 61LL * a + b3) = *(const f32x4_in_memory*)(kept + b3) / sum7;
      }
      for (; b3 < cut; ++b3) {
        B[61LL * a + b3] = kept[b3] / sum7;
      }
      i64 b4 = cut;
      for (i64 aligned = b4 + elements_before<f32x8>(B + 61LL * a + b4); b4 < aligned && b4 < 61; ++b4) {
        B[61LL * a + b4] = 0.0f;
      }
      for (; b4 + 32 <= 61; b4 += 32) {
        __builtin_prefetch(A + 61LL * a + b4 + 61LL, 0, 2);
        __builtin_prefetch(A + 61LL * a + b4 + 77LL, 0, 2);
        #pragma unroll
        for (int ub = 0; ub < 4; ++ub) {
          store_nontemporal<f32x8>(B, 61LL * a + 8LL * ub + b4, 0.0f);
        }
      }
      for (; b4 + 8 <= 61; b4 += 8) {
        __builtin_prefetch(A + 61LL * a + b4 + 61LL, 0, 2);
        store_nontemporal<f32x8>(B, 61LL * a + b4, 0.0f);
      }
      for (; b4 + 4 <= 61; b4 += 4) {
        *(f32x4_in_memory*)(B + 61LL * a + b4) = 0.0f;
      }
      for (; b4 < 61; ++b4) {
        B[61LL * a + b4] = 0.0f;
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
