// u64_abc_to_cba_64x70x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 90
//            index b = 70
//            index a = 64
//            input A : u64 [0..403199] align 16
//            output B : u64 [0..403199] align 16
//            B[4480*c + 64*b + a] = A[c + 90*b + 6300*a]
// extents    c=90 b=70 a=64
// plan       cpu_prefetched: reads of 32 B, writes of 32 B, 60 tiles
// traffic    6451200 B (read 3225600, write 3225600)
// index      32 bits: largest offset 403199
// schedule   cpu_prefetched
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_prefetched.case
static const i32 rows_ahead[] = {0, 90, 180, 270, 360, 450, 540, 6300, 6390, 6480, 6570, 6660, 6750, 6840, 12600, 12690, 12780, 12870, 12960, 13050, 13140, 18900, 18990, 19080, 19170, 19260, 19350, 19440, 25200, 25290, 25380, 25470, 25560, 25650, 25740, 31500, 31590, 31680, 31770, 31860, 31950, 32040, 37800, 37890, 37980, 38070, 38160, 38250, 38340, 44100, 44190, 44280, 44370, 44460, 44550, 44640, 50400, 50490, 50580, 50670, 50760, 50850, 50940, 56700, 56790, 56880, 56970, 57060, 57150, 57240, 63000, 63090, 63180, 63270, 63360, 63450, 63540, 69300, 69390, 69480, 69570, 69660, 69750, 69840, 75600, 75690, 75780, 75870, 75960, 76050, 76140, 81900, 81990, 82080, 82170, 82260, 82350, 82440, 88200, 88290, 88380, 88470, 88560, 88650, 88740, 94500, 94590, 94680, 94770, 94860, 94950, 95040, 100800, 100890, 100980, 101070, 101160, 101250, 101340, 107100, 107190, 107280, 107370, 107460, 107550, 107640, 113400, 113490, 113580, 113670, 113760, 113850, 113940, 119700, 119790, 119880, 119970, 120060, 120150, 120240, 126000, 126090, 126180, 126270, 126360, 126450, 126540, 132300, 132390, 132480, 132570, 132660, 132750, 132840, 138600, 138690, 138780, 138870, 138960, 139050, 139140, 144900, 144990, 145080, 145170, 145260, 145350, 145440, 151200, 151290, 151380, 151470, 151560, 151650, 151740, 157500, 157590, 157680, 157770, 157860, 157950, 158040, 163800, 163890, 163980, 164070, 164160, 164250, 164340, 170100, 170190, 170280, 170370, 170460, 170550, 170640, 176400, 176490, 176580, 176670, 176760, 176850, 176940, 182700, 182790, 182880, 182970, 183060, 183150, 183240, 189000, 189090, 189180, 189270, 189360, 189450, 189540, 195300, 195390, 195480, 195570, 195660, 195750, 195840};

extern "C" void u64_abc_to_cba_64x70x90(void* const* args, i64 first, i64 last)
{
  const u64* __restrict__ const A = (const u64*)args[0];
  u64* __restrict__ const B = (u64*)args[1];
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 a_tile = task / 30;
    const i64 b_tile = task / 3 % 10;
    const i64 c_tile = task % 3;
    const i64 c0 = 40LL * c_tile;
    const i64 b0 = 7LL * b_tile;
    const i64 a0 = 32LL * a_tile;
    return A + c0 + 90LL * b0 + 6300LL * a0;
  };
  for (i64 task = first; task < last; ++task) {
    RowsAhead<rows_ahead, 320, u64> ahead(begin_A(task + 1 < last ? task + 1 : last - 1));
    const i64 a_tile = task / 30;
    const i64 b_tile = task / 3 % 10;
    const i64 c_tile = task % 3;
    const i64 c0 = 40LL * c_tile;
    const i64 b0 = 7LL * b_tile;
    const i64 a0 = 32LL * a_tile;
    const i64 c_end = c0 + 40LL < 90 ? c0 + 40LL : 90;
    for (i64 b = b0; b < b0 + 7LL; ++b) {
      for (i64 c_8 = c0; c_8 < c_end; c_8 += 8) {
        for (i64 a_8 = a0; a_8 + 8 <= a0 + 32LL; a_8 += 8) {
          const i64 c_at_stop = c_8 + 8LL < 90 ? c_8 + 8LL : 90;
          for (i64 c_at = c_8; c_at < c_at_stop; c_at += 4) {
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
              ahead.prefetch<3>();
            }
          }
        }
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
