// u64_abc_to_cba_64x70x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[4480 * c + 64 * b + a] = A[c + 90 * b + 6300 * a]
// extents    c=90 b=70 a=64
// plan       cpu_streaming: reads of 32 B, writes of 32 B, 20 tiles
// traffic    6451200 B (read 3225600, write 3225600)
// index      32 bits: largest offset 403199
// schedule   cpu_streaming
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_streaming.case
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

// A nontemporal store where the address is aligned, else an ordinary one.
static inline void stream(u64* to, out_lanes value) {
  if ((u64)to & 31) *(out_lanes_in_memory*)to = value;
  else __builtin_nontemporal_store(value, (out_lanes*)to);
}

extern "C" void u64_abc_to_cba_64x70x90(void* const* args, i64 first, i64 last)
{
  const u64* const A_base = (const u64*)args[0];
  u64* const B_base = (u64*)args[1];
  for (i64 tile = first; tile < last; ++tile) {
    const i64 b0 = 7 * (tile % 10);
    const i64 a0 = 32 * (tile / 10);
    const u64* __restrict__ const A = A_base + (90 * b0 + 6300 * a0);
    u64* __restrict__ const B = B_base + (64 * b0 + a0);
    for (i64 a_8 = 0; a_8 < 32; a_8 += 8) {
      for (i64 b = 0; b < 7; ++b) {
        for (i64 c_at = 0; c_at < 90; c_at += 4) {
          for (i64 a_4 = a_8; a_4 < a_8 + 8; a_4 += 4) {
            const i64 c = c_at + 4 <= 90 ? c_at : 90 - 4;
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
          }
        }
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
