// f64_2_outputs_of_4_loads_1000003        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 1000003
//            input A : f64 [0..2000005] align 16
//            input B : f64 [0..2000005] align 16
//            output C : f64 [0..2000005] align 16
//            rounding free
//            let %1 = A[a]
//            let %2 = A[a + 1000003]
//            let %3 = add(mul(B[a], %1), mul(B[a + 1000003], %2))
//            C[a] = mul(%1, %3)
//            C[a + 1000003] = mul(%2, %3)
// extents    a=1000003
// plan       cpu_strip
// traffic    48000144 B (read 32000096, write 16000048)
// index      32 bits: largest offset 2000005
// schedule   cpu_strip
//            tile a:8192:8
//            order task a0 serial a1
//            lanes a 8
//            strip 128
//            nontemporal
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_strip.case
extern "C" void f64_2_outputs_of_4_loads_1000003(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  double* __restrict__ const in = (double*)(scratch + 0);
  double* __restrict__ const out = (double*)(scratch + 4352);
  for (i64 task = first; task < last; ++task) {
    const i64 a_tile = task;
    const i64 a0 = 8192LL * a_tile;
    const i64 a_end = a0 + 8192LL < 1000003 ? a0 + 8192LL : 1000003;
    i64 a = a0;
    for (; a + 128 <= a_end; a += 128) {
      copy_row<f64x8, true, false>(in, A + a, 128);
      copy_row<f64x8, true, false>(in + 136, B + a, 128);
      copy_row<f64x8, true, false>(in + 272, B + a + 1000003LL, 128);
      copy_row<f64x8, true, false>(in + 408, A + a + 1000003LL, 128);
      for (i64 point = 0; point < 128; point += 8) {
        const f64x8 a2 = *(const f64x8_in_memory*)(in + point);
        const f64x8 a3 = *(const f64x8_in_memory*)(in + point + 408LL);
        const f64x8 value = *(const f64x8_in_memory*)(in + point + 136LL) * a2 + *(const f64x8_in_memory*)(in + point + 272LL) * a3;
        *(f64x8_in_memory*)(out + point) = a2 * value;
        *(f64x8_in_memory*)(out + point + 136LL) = a3 * value;
      }
      copy_row<f64x8, false, true>(C + a, out, 128);
      copy_row<f64x8, false, true>(C + a + 1000003LL, out + 136, 128);
    }
    for (; a + 8 <= a_end; a += 8) {
      const f64x8 a2 = *(const f64x8_in_memory*)(A + a);
      const f64x8 a3 = *(const f64x8_in_memory*)(A + a + 1000003LL);
      const f64x8 value = *(const f64x8_in_memory*)(B + a) * a2 + *(const f64x8_in_memory*)(B + a + 1000003LL) * a3;
      store_nontemporal<f64x8>(C, a, a2 * value);
      store_nontemporal<f64x8>(C, a + 1000003LL, a3 * value);
    }
    for (; a < a_end; ++a) {
      const double a2 = A[a];
      const double a3 = A[a + 1000003LL];
      const double value = B[a] * a2 + B[a + 1000003LL] * a3;
      C[a] = a2 * value;
      C[a + 1000003LL] = a3 * value;
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
