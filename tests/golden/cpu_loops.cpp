// u16_abc_to_cba_12x10x50        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 50
//            index b = 10
//            index a = 12
//            input A : u16 [0..5999] align 16
//            output B : u16 [0..5999] align 16
//            B[120*c + 12*b + a] = A[c + 50*b + 500*a]
// extents    c=50 b=10 a=12
// plan       cpu_loops: accesses of 2 B, 20 tiles
// traffic    24000 B (read 12000, write 12000)
// index      32 bits: largest offset 5999
// schedule   cpu_loops
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_loops.case
extern "C" void u16_abc_to_cba_12x10x50(void* const* args, i64 first, i64 last)
{
  const u16* __restrict__ const A = (const u16*)args[0];
  u16* __restrict__ const B = (u16*)args[1];
  for (i64 task = first; task < last; ++task) {
    const i64 c_tile = task / 10;
    const i64 b = task % 10;
    const i64 c0 = 32LL * c_tile;
    const i64 c_end = c0 + 32LL < 50 ? c0 + 32LL : 50;
    for (i64 c = c0; c < c_end; ++c) {
      #pragma clang loop vectorize(assume_safety)
      for (i64 a = 0; a < 12; ++a) {
        B[120LL * c + 12LL * b + a] = A[c + 50LL * b + 500LL * a];
      }
    }
  }
}
