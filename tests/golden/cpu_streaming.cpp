// u64_abc_to_cba_64x70x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 90
//            index b = 70
//            index a = 64
//            input A : u64 [0..403199] align 16
//            output B : u64 [0..403199] align 16
//            B[4480*c + 64*b + a] = A[c + 90*b + 6300*a]
// extents    c=90 b=70 a=64
// plan       cpu_streaming: reads of 32 B, writes of 32 B, 20 tiles
// traffic    6451200 B (read 3225600, write 3225600)
// index      32 bits: largest offset 403199
// schedule   cpu_streaming
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_streaming.case
extern "C" void u64_abc_to_cba_64x70x90(void* const* args, i64 first, i64 last)
{
  const u64* __restrict__ const A = (const u64*)args[0];
  u64* __restrict__ const B = (u64*)args[1];
  for (i64 task = first; task < last; ++task) {
    const i64 a_tile = task / 10;
    const i64 b_tile = task % 10;
    const i64 b0 = 7LL * b_tile;
    const i64 a0 = 32LL * a_tile;
    for (i64 a_8 = a0; a_8 + 8 <= a0 + 32LL; a_8 += 8) {
      for (i64 b = b0; b < b0 + 7LL; ++b) {
        for (i64 c_at = 0; c_at < 90; c_at += 4) {
          for (i64 a = a_8; a + 4 <= a_8 + 8LL; a += 4) {
            const i64 c = c_at < 86 ? c_at : 86;
            u64x4 rows[4];
            rows[0] = *(const u64x4_in_memory*)(A + c + 90LL * b + 6300LL * a);
            rows[1] = *(const u64x4_in_memory*)(A + c + 90LL * b + 6300LL * a + 6300LL);
            rows[2] = *(const u64x4_in_memory*)(A + c + 90LL * b + 6300LL * a + 12600LL);
            rows[3] = *(const u64x4_in_memory*)(A + c + 90LL * b + 6300LL * a + 18900LL);
            transpose<u64, 4>(rows);
            store_nontemporal<u64x4>(B, 4480LL * c + 64LL * b + a, rows[0]);
            store_nontemporal<u64x4>(B, 4480LL * c + 64LL * b + a + 4480LL, rows[1]);
            store_nontemporal<u64x4>(B, 4480LL * c + 64LL * b + a + 8960LL, rows[2]);
            store_nontemporal<u64x4>(B, 4480LL * c + 64LL * b + a + 13440LL, rows[3]);
          }
        }
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
