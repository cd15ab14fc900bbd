// f64_a_a_to_a_1003        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 1003
//            input A : f64 [0..1002] align 16
//            input B : f64 [0..1002] align 16
//            output C : f64 [0..1002] align 16
//            rounding free
//            C[a] = select(less(f64(0), A[a]), B[a], C[a])
// extents    a=1003
// plan       chosen
// traffic    32096 B (read 24072, write 8024)
// index      32 bits: largest offset 1002
// schedule   chosen
//            tile a:256
//            order task a0 thread a
//            threads 256
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/chosen.case
extern "C" __global__ void __launch_bounds__(256)
f64_a_a_to_a_1003(const double* __restrict__ A, const double* B, double* C)
{
  const int a_tile = blockIdx.x;
  const int t = threadIdx.x;
  const int a = 256 * a_tile + t;
  if (a > 1002) return;
  C[a] = 0.0 < A[a] ? B[a] : C[a];
}
