// i32_ab_to_ab_6x5000        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 6
//            index b = 5000
//            input A : i32 [0..29999] align 16
//            output B : i32 [0..29999] align 16
//            rounding free
//            B[5000*a] by 1 = scan(sum, b : A[5000*a + b])
// extents    a=6 b=5000
// plan       cpu_scan
// traffic    240000 B (read 120000, write 120000)
// index      32 bits: largest offset 29999
// schedule   cpu_scan
//            order task a
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_scan.case
extern "C" void i32_ab_to_ab_6x5000(void* const* args, i64 first, i64 last)
{
  const i32* __restrict__ const A = (const i32*)args[0];
  i32* __restrict__ const B = (i32*)args[1];
  for (i64 task = first; task < last; ++task) {
    const i64 a = task;
    i32 running = 0;
    i64 b = 0;
    for (; b + 16 <= 5000; b += 16) {
      alignas(64) i32 item[16];
      #pragma clang loop vectorize(assume_safety)
      for (i64 v = 0; v < 16; ++v) {
        item[v] = A[5000LL * a + b + v];
      }
      const i32x16 upto = prefixes(*(const i32x16_in_memory*)&item[0]) + running;
      *(i32x16_in_memory*)(B + 5000LL * a + b) = upto;
      running = upto[15];
    }
    for (; b < 5000; ++b) {
      running = add(running, A[5000LL * a + b]);
      B[5000LL * a + b] = running;
    }
  }
}
