// f64_4_outputs_of_8_loads_1000000        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 1000000
//            input A : f64 [0..3999999] align 16
//            input B : f64 [0..3999999] align 16
//            output C : f64 [0..3999999] align 16
//            rounding free
//            let %1 = A[a]
//            let %2 = B[a]
//            let %3 = A[a + 1000000]
//            let %4 = B[a + 2000000]
//            let %5 = B[a + 1000000]
//            let %6 = B[a + 3000000]
//            let %7 = A[a + 2000000]
//            let %8 = A[a + 3000000]
//            C[a] = add(mul(%1, %2), mul(%3, %4))
//            C[a + 1000000] = add(mul(%1, %5), mul(%3, %6))
//            C[a + 2000000] = add(mul(%2, %7), mul(%4, %8))
//            C[a + 3000000] = add(mul(%5, %7), mul(%8, %6))
// extents    a=1000000
// plan       cpu_parts
// traffic    96000000 B (read 64000000, write 32000000)
// index      32 bits: largest offset 3999999
// schedule   cpu_parts
//            tile a:8192:8
//            order task a0 serial a1
//            lanes a 8
//            strip 256
//            part 1 2
//            part 3 4
//            nontemporal
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_parts.case
extern "C" void f64_4_outputs_of_8_loads_1000000(void* const* args, i64 first, i64 last)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  for (i64 task = first; task < last; ++task) {
    const i64 a_tile = task;
    const i64 a0 = 8192LL * a_tile;
    const i64 a_end = a0 + 8192LL < 1000000 ? a0 + 8192LL : 1000000;
    i64 a = a0;
    for (; a + 256 <= a_end; a += 256) {
      for (i64 point = 0; point < 256; point += 8) {
        __builtin_prefetch(A + a + point + 256LL, 0, 2);
        __builtin_prefetch(B + a + point + 256LL, 0, 2);
        __builtin_prefetch(A + a + point + 1000256LL, 0, 2);
        __builtin_prefetch(B + a + point + 2000256LL, 0, 2);
        __builtin_prefetch(B + a + point + 1000256LL, 0, 2);
        __builtin_prefetch(B + a + point + 3000256LL, 0, 2);
        const f64x8 a2 = *(const f64x8_in_memory*)(A + a + point);
        const f64x8 a3 = *(const f64x8_in_memory*)(A + a + point + 1000000LL);
        store_nontemporal<f64x8>(C, a + point, a2 * (*(const f64x8_in_memory*)(B + a + point)) + a3 * (*(const f64x8_in_memory*)(B + a + point + 2000000LL)));
        store_nontemporal<f64x8>(C, a + point + 1000000LL, a2 * (*(const f64x8_in_memory*)(B + a + point + 1000000LL)) + a3 * (*(const f64x8_in_memory*)(B + a + point + 3000000LL)));
      }
      for (i64 point = 0; point < 256; point += 8) {
        __builtin_prefetch(A + a + point + 2000256LL, 0, 2);
        __builtin_prefetch(A + a + point + 3000256LL, 0, 2);
        const f64x8 a2 = *(const f64x8_in_memory*)(A + a + point + 2000000LL);
        const f64x8 a3 = *(const f64x8_in_memory*)(A + a + point + 3000000LL);
        store_nontemporal<f64x8>(C, a + point + 2000000LL, *(const f64x8_in_memory*)(B + a + point) * a2 + *(const f64x8_in_memory*)(B + a + point + 2000000LL) * a3);
        store_nontemporal<f64x8>(C, a + point + 3000000LL, *(const f64x8_in_memory*)(B + a + point + 1000000LL) * a2 + a3 * (*(const f64x8_in_memory*)(B + a + point + 3000000LL)));
      }
    }
    for (; a + 8 <= a_end; a += 8) {
      const f64x8 a2 = *(const f64x8_in_memory*)(A + a);
      const f64x8 b = *(const f64x8_in_memory*)(B + a);
      const f64x8 a3 = *(const f64x8_in_memory*)(A + a + 1000000LL);
      const f64x8 b2 = *(const f64x8_in_memory*)(B + a + 2000000LL);
      store_nontemporal<f64x8>(C, a, a2 * b + a3 * b2);
      const f64x8 b3 = *(const f64x8_in_memory*)(B + a + 1000000LL);
      const f64x8 b4 = *(const f64x8_in_memory*)(B + a + 3000000LL);
      store_nontemporal<f64x8>(C, a + 1000000LL, a2 * b3 + a3 * b4);
      const f64x8 a4 = *(const f64x8_in_memory*)(A + a + 2000000LL);
      const f64x8 a5 = *(const f64x8_in_memory*)(A + a + 3000000LL);
      store_nontemporal<f64x8>(C, a + 2000000LL, b * a4 + b2 * a5);
      store_nontemporal<f64x8>(C, a + 3000000LL, b3 * a4 + a5 * b4);
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
