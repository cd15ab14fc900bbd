// f64_4_outputs_of_4_loads_1000003        made by ricci 0.1.0 for sm_90; do not edit
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
// plan       grid
// traffic    64000192 B (read 32000096, write 32000096)
// index      32 bits: largest offset 3000008
// schedule   grid
//            tile a:256
//            order task a0 thread a
//            threads 256
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/grid.case
extern "C" __global__ void __launch_bounds__(256)
f64_4_outputs_of_4_loads_1000003(const double* __restrict__ A, const double* __restrict__ B, double* __restrict__ C, double* __restrict__ D, double alpha)
{
  const int a_tile = blockIdx.x;
  const int t = threadIdx.x;
  const int a = 256 * a_tile + t;
  if (a > 1000002) return;
  const double a2 = A[a];
  const double b = B[a];
  C[a] = -(alpha * a2 + b * a2);
  const double a3 = A[a + 1000003];
  C[a + 1000003] = -(alpha * a3 + b * a3);
  const double a4 = A[a + 2000006];
  C[a + 2000006] = -(alpha * a4 + b * a4);
  D[a] = 0.5 * (b * b + a2 * a2 + a3 * a3 + a4 * a4);
}
