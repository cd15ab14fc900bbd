// f64_4_outputs_of_4_loads_1000003        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 1000003
//            input A : f64 [0..3000008] align 16
//            input B : f64 [0..1000002] align 16
//            output C : f64 [0..3000008] align 16
//            output D : f64 [0..1000002] align 16
//            param alpha : f64
//            rounding free
//            let %1 = A[a]
//            let %2 = B[a]
//            let %3 = A[a + 1000003]
//            let %4 = A[a + 2000006]
//            C[a] = neg(add(mul(alpha, %1), mul(%2, %1)))
//            C[a + 1000003] = neg(add(mul(alpha, %3), mul(%2, %3)))
//            C[a + 2000006] = neg(add(mul(alpha, %4), mul(%2, %4)))
//            D[a] = mul(f64(0.5), add(add(add(mul(%2, %2), mul(%1, %1)), mul(%3, %3)), mul(%4, %4)))
// extents    a=1000003
// plan       cpu_grid
// traffic    64000192 B (read 32000096, write 32000096)
// index      32 bits: largest offset 3000008
// schedule   cpu_grid
//            tile a:8000:8
//            order task a0 serial a1
//            lanes a 8
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_grid.case
extern "C" void f64_4_outputs_of_4_loads_1000003(void* const* args, i64 first, i64 last)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  double* __restrict__ const D = (double*)args[3];
  const double alpha = *(const double*)args[4];
  for (i64 task = first; task < last; ++task) {
    const i64 a_tile = task;
    const i64 a0 = 8000LL * a_tile;
    const i64 a_end = a0 + 8000LL < 1000003 ? a0 + 8000LL : 1000003;
    i64 a = a0;
    for (; a + 8 <= a_end; a += 8) {
      const f64x8 a2 = *(const f64x8_in_memory*)(A + a);
      const f64x8 b = *(const f64x8_in_memory*)(B + a);
      *(f64x8_in_memory*)(C + a) = -(alpha * a2 + b * a2);
      const f64x8 a3 = *(const f64x8_in_memory*)(A + a + 1000003LL);
      *(f64x8_in_memory*)(C + a + 1000003LL) = -(alpha * a3 + b * a3);
      const f64x8 a4 = *(const f64x8_in_memory*)(A + a + 2000006LL);
      *(f64x8_in_memory*)(C + a + 2000006LL) = -(alpha * a4 + b * a4);
      *(f64x8_in_memory*)(D + a) = 0.5 * (b * b + a2 * a2 + a3 * a3 + a4 * a4);
    }
    for (; a < a_end; ++a) {
      const double a2 = A[a];
      const double b = B[a];
      C[a] = -(alpha * a2 + b * a2);
      const double a3 = A[a + 1000003LL];
      C[a + 1000003LL] = -(alpha * a3 + b * a3);
      const double a4 = A[a + 2000006LL];
      C[a + 2000006LL] = -(alpha * a4 + b * a4);
      D[a] = 0.5 * (b * b + a2 * a2 + a3 * a3 + a4 * a4);
    }
  }
}
