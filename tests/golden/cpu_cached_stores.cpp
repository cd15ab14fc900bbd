// u32_ab_to_ba_150x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 90
//            index a = 150
//            input A : u32 [0..13499] align 16
//            output B : u32 [0..13499] align 16
//            B[150*b + a] = A[b + 90*a]
// extents    b=90 a=150
// plan       cpu_cached_stores: reads of 32 B, writes of 4 B, 8192 B shared, 9 tiles
// traffic    108000 B (read 54000, write 54000)
// index      32 bits: largest offset 13499
// schedule   cpu_cached_stores
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_cached_stores.case
extern "C" void u32_ab_to_ba_150x90(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u32* __restrict__ const A = (const u32*)args[0];
  u32* __restrict__ const B = (u32*)args[1];
  u32* __restrict__ const kept = (u32*)(scratch + 0);
  for (i64 task = first; task < last; ++task) {
    const i64 a_tile = task / 3;
    const i64 b_tile = task % 3;
    const i64 b0 = 32LL * b_tile < 58 ? 32LL * b_tile : 58;
    const i64 a0 = 50LL * a_tile;
    // read A along b
    {
      #pragma clang loop unroll(disable) vectorize(disable)
      for (i64 column = 0; column < 32; column += 8) {
        #pragma clang loop unroll(disable) vectorize(disable)
        for (i64 row_at = 0; row_at < 50; row_at += 8) {
          const i64 row = row_at < 42 ? row_at : 42;
          u32x8 rows[8];
          rows[0] = *(const u32x8_in_memory*)(A + b0 + 90LL * a0 + column + 90LL * row);
          rows[1] = *(const u32x8_in_memory*)(A + b0 + 90LL * a0 + column + 90LL * row + 90LL);
          rows[2] = *(const u32x8_in_memory*)(A + b0 + 90LL * a0 + column + 90LL * row + 180LL);
          rows[3] = *(const u32x8_in_memory*)(A + b0 + 90LL * a0 + column + 90LL * row + 270LL);
          rows[4] = *(const u32x8_in_memory*)(A + b0 + 90LL * a0 + column + 90LL * row + 360LL);
          rows[5] = *(const u32x8_in_memory*)(A + b0 + 90LL * a0 + column + 90LL * row + 450LL);
          rows[6] = *(const u32x8_in_memory*)(A + b0 + 90LL * a0 + column + 90LL * row + 540LL);
          rows[7] = *(const u32x8_in_memory*)(A + b0 + 90LL * a0 + column + 90LL * row + 630LL);
          transpose<u32, 8>(rows);
          *(u32x8_in_memory*)(kept + 64LL * column + row) = rows[0];
          *(u32x8_in_memory*)(kept + 64LL * column + row + 64LL) = rows[1];
          *(u32x8_in_memory*)(kept + 64LL * column + row + 128LL) = rows[2];
          *(u32x8_in_memory*)(kept + 64LL * column + row + 192LL) = rows[3];
          *(u32x8_in_memory*)(kept + 64LL * column + row + 256LL) = rows[4];
          *(u32x8_in_memory*)(kept + 64LL * column + row + 320LL) = rows[5];
          *(u32x8_in_memory*)(kept + 64LL * column + row + 384LL) = rows[6];
          *(u32x8_in_memory*)(kept + 64LL * column + row + 448LL) = rows[7];
        }
      }
    }
    // write B along a
    {
      for (i64 b = 0; b < 32; ++b) {
        write_lines<50>(B + 150LL * b + 150LL * b0 + a0, kept + 64LL * b);
      }
    }
  }
}
