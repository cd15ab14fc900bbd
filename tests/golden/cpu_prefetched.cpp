// u64_abc_to_cba_64x70x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[4480 * c + 64 * b + a] = A[c + 90 * b + 6300 * a]
// extents    c=90 b=70 a=64
// plan       cpu_prefetched: reads of 32 B, writes of 32 B, 60 tiles
// traffic    6451200 B (read 3225600, write 3225600)
// index      32 bits: largest offset 403199
// schedule   cpu_prefetched
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_prefetched.case
typedef u64 lanes __attribute__((ext_vector_type(4)));
typedef lanes lanes_in_memory __attribute__((aligned(8), may_alias));

// 4 x 4: row i of the result is column i of the argument
static inline __attribute__((always_inline)) void transpose(lanes (&row)[4])
{
  const lanes low1_0 = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
  const lanes high1_0 = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
  const lanes low1_2 = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
  const lanes high1_2 = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
  const lanes low2_0 = __builtin_shufflevector(low1_0, low1_2, 0, 1, 4, 5);
  const lanes high2_0 = __builtin_shufflevector(low1_0, low1_2, 2, 3, 6, 7);
  const lanes low2_1 = __builtin_shufflevector(high1_0, high1_2, 0, 1, 4, 5);
  const lanes high2_1 = __builtin_shufflevector(high1_0, high1_2, 2, 3, 6, 7);
  row[0] = low2_0;
  row[1] = low2_1;
  row[2] = high2_0;
  row[3] = high2_1;
}

typedef u64 out_lanes __attribute__((ext_vector_type(4)));
typedef out_lanes out_lanes_in_memory __attribute__((aligned(8), may_alias));

// The input of a tile: rows of 40 elements, prefetched line by line.
static const i32 next_row[] = {0, 90, 180, 270, 360, 450, 540, 6300, 6390, 6480, 6570, 6660, 6750, 6840, 12600, 12690, 12780, 12870, 12960, 13050, 13140, 18900, 18990, 19080, 19170, 19260, 19350, 19440, 25200, 25290, 25380, 25470, 25560, 25650, 25740, 31500, 31590, 31680, 31770, 31860, 31950, 32040, 37800, 37890, 37980, 38070, 38160, 38250, 38340, 44100, 44190, 44280, 44370, 44460, 44550, 44640, 50400, 50490, 50580, 50670, 50760, 50850, 50940, 56700, 56790, 56880, 56970, 57060, 57150, 57240, 63000, 63090, 63180, 63270, 63360, 63450, 63540, 69300, 69390, 69480, 69570, 69660, 69750, 69840, 75600, 75690, 75780, 75870, 75960, 76050, 76140, 81900, 81990, 82080, 82170, 82260, 82350, 82440, 88200, 88290, 88380, 88470, 88560, 88650, 88740, 94500, 94590, 94680, 94770, 94860, 94950, 95040, 100800, 100890, 100980, 101070, 101160, 101250, 101340, 107100, 107190, 107280, 107370, 107460, 107550, 107640, 113400, 113490, 113580, 113670, 113760, 113850, 113940, 119700, 119790, 119880, 119970, 120060, 120150, 120240, 126000, 126090, 126180, 126270, 126360, 126450, 126540, 132300, 132390, 132480, 132570, 132660, 132750, 132840, 138600, 138690, 138780, 138870, 138960, 139050, 139140, 144900, 144990, 145080, 145170, 145260, 145350, 145440, 151200, 151290, 151380, 151470, 151560, 151650, 151740, 157500, 157590, 157680, 157770, 157860, 157950, 158040, 163800, 163890, 163980, 164070, 164160, 164250, 164340, 170100, 170190, 170280, 170370, 170460, 170550, 170640, 176400, 176490, 176580, 176670, 176760, 176850, 176940, 182700, 182790, 182880, 182970, 183060, 183150, 183240, 189000, 189090, 189180, 189270, 189360, 189450, 189540, 195300, 195390, 195480, 195570, 195660, 195750, 195840};
struct Prefetch {
  const u64* next;
  i64 row;
  u64 at, end;
  inline __attribute__((always_inline)) Prefetch(const u64* next) : next(next), row(-1), at(0), end(0) {
  }
  inline __attribute__((always_inline)) void request() {
    if (at >= end) {
      if (row == 223) return;
      const u64 first = (u64)(next + next_row[++row]);
      at = first & -64, end = first + 320;
    }
    __builtin_prefetch((const void*)at, 0, 2);
    at += 64;
  }
};

// A nontemporal store where the address is aligned, else an ordinary one.
static inline void stream(u64* to, out_lanes value) {
  if ((u64)to & 31) *(out_lanes_in_memory*)to = value;
  else __builtin_nontemporal_store(value, (out_lanes*)to);
}

extern "C" void u64_abc_to_cba_64x70x90(void* const* args, i64 first, i64 last)
{
  const u64* const A_base = (const u64*)args[0];
  u64* const B_base = (u64*)args[1];
  // Where a tile begins in A.
  const auto begin = [&](i64 tile) {
    const i64 c0 = 40 * (tile % 3);
    const i64 b0 = 7 * (tile / 3 % 10);
    const i64 a0 = 32 * (tile / 30);
    return A_base + (c0 + 90 * b0 + 6300 * a0);
  };
  for (i64 tile = first; tile < last; ++tile) {
    Prefetch prefetch(begin(tile + 1 < last ? tile + 1 : last - 1));
    const i64 c0 = 40 * (tile % 3);
    const i64 b0 = 7 * (tile / 3 % 10);
    const i64 a0 = 32 * (tile / 30);
    const u64* __restrict__ const A = A_base + (c0 + 90 * b0 + 6300 * a0);
    u64* __restrict__ const B = B_base + (4480 * c0 + 64 * b0 + a0);
    const i64 c_end = 90 - c0 < 40 ? 90 - c0 : 40;
    for (i64 b = 0; b < 7; ++b) {
      for (i64 c_8 = 0; c_8 < c_end; c_8 += 8) {
        for (i64 a_8 = 0; a_8 < 32; a_8 += 8) {
          const i64 c_at_stop = c_8 + 8 < c_end ? c_8 + 8 : c_end;
          for (i64 c_at = c_8; c_at < c_at_stop; c_at += 4) {
            for (i64 a_4 = a_8; a_4 < a_8 + 8; a_4 += 4) {
              const i64 c = c_at + 4 <= c_end ? c_at : c_end - 4;
              const i64 a = a_4;
              lanes row[4];
              row[0] = *(const lanes_in_memory*)(A + c + 90 * b + 6300 * a);
              row[1] = *(const lanes_in_memory*)(A + c + 90 * b + 6300 * a + 6300);
              row[2] = *(const lanes_in_memory*)(A + c + 90 * b + 6300 * a + 12600);
              row[3] = *(const lanes_in_memory*)(A + c + 90 * b + 6300 * a + 18900);
              transpose(row);
              stream(B + 4480 * c + 64 * b + a, row[0]);
              stream(B + 4480 * c + 64 * b + a + 4480, row[1]);
              stream(B + 4480 * c + 64 * b + a + 8960, row[2]);
              stream(B + 4480 * c + 64 * b + a + 13440, row[3]);
              prefetch.request();
              prefetch.request();
              prefetch.request();
            }
          }
        }
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
