// u32_ab_to_ba_100x64        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 64
//            index a = 100
//            input A : u32 [0..6399] align 16
//            output B : u32 [0..6399] align 16
//            B[100*b + a] = A[b + 64*a]
// extents    b=64 a=100
// plan       cpu_transposed: reads of 32 B, writes of 32 B, 8 tiles
// traffic    51200 B (read 25600, write 25600)
// index      32 bits: largest offset 6399
// schedule   cpu_transposed
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_transposed.case
extern "C" void u32_ab_to_ba_100x64(void* const* args, i64 first, i64 last)
{
  const u32* __restrict__ const A = (const u32*)args[0];
  u32* __restrict__ const B = (u32*)args[1];
  for (i64 task = first; task < last; ++task) {
    const i64 b_tile = task / 4;
    const i64 a_tile = task % 4;
    const i64 a0 = 32LL * a_tile;
    const i64 b0 = 32LL * b_tile;
    const i64 a_end = a0 + 32LL < 100 ? a0 + 32LL : 100;
    for (i64 b = b0; b + 8 <= b0 + 32LL; b += 8) {
      #pragma clang loop vectorize(assume_safety)
      for (i64 a_at = a0; a_at < a_end; a_at += 8) {
        const i64 a = a_at < 92 ? a_at : 92;
        u32x8 rows[8];
        rows[0] = *(const u32x8_in_memory*)(A + b + 64LL * a);
        rows[1] = *(const u32x8_in_memory*)(A + b + 64LL * a + 64LL);
        rows[2] = *(const u32x8_in_memory*)(A + b + 64LL * a + 128LL);
        rows[3] = *(const u32x8_in_memory*)(A + b + 64LL * a + 192LL);
        rows[4] = *(const u32x8_in_memory*)(A + b + 64LL * a + 256LL);
        rows[5] = *(const u32x8_in_memory*)(A + b + 64LL * a + 320LL);
        rows[6] = *(const u32x8_in_memory*)(A + b + 64LL * a + 384LL);
        rows[7] = *(const u32x8_in_memory*)(A + b + 64LL * a + 448LL);
        transpose<u32, 8>(rows);
        *(u32x8_in_memory*)(B + 100LL * b + a) = rows[0];
        *(u32x8_in_memory*)(B + 100LL * b + a + 100LL) = rows[1];
        *(u32x8_in_memory*)(B + 100LL * b + a + 200LL) = rows[2];
        *(u32x8_in_memory*)(B + 100LL * b + a + 300LL) = rows[3];
        *(u32x8_in_memory*)(B + 100LL * b + a + 400LL) = rows[4];
        *(u32x8_in_memory*)(B + 100LL * b + a + 500LL) = rows[5];
        *(u32x8_in_memory*)(B + 100LL * b + a + 600LL) = rows[6];
        *(u32x8_in_memory*)(B + 100LL * b + a + 700LL) = rows[7];
      }
    }
  }
}
