// u64_abc_to_bac_30x20x64        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 20
//            index a = 30
//            index c = 64
//            input A : u64 [0..38399] align 16
//            output B : u64 [0..38399] align 16
//            B[1920*b + 64*a + c] = A[64*b + 1280*a + c]
// extents    b=20 a=30 c=64
// plan       cpu_copy: accesses of 8 B, 20 tiles
// traffic    614400 B (read 307200, write 307200)
// index      32 bits: largest offset 38399
// schedule   cpu_copy
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_copy.case
extern "C" void u64_abc_to_bac_30x20x64(void* const* args, i64 first, i64 last)
{
  const u64* __restrict__ const A = (const u64*)args[0];
  u64* __restrict__ const B = (u64*)args[1];
  for (i64 task = first; task < last; ++task) {
    const i64 b = task;
    for (i64 a = 0; a < 30; ++a) {
      #pragma clang loop vectorize(assume_safety)
      for (i64 c = 0; c < 64; ++c) {
        B[1920LL * b + 64LL * a + c] = A[64LL * b + 1280LL * a + c];
      }
    }
  }
}
