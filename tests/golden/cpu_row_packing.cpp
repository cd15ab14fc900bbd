// u8_abc_to_cba_50x7x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[350 * c + 50 * b + a] = A[c + 90 * b + 630 * a]
// extents    c=90 b=7 a=50
// plan       cpu_row_packing: reads of 16 B, writes of 32 B, 5120 B shared, 12 tiles
// traffic    63000 B (read 31500, write 31500)
// index      32 bits: largest offset 31499
// schedule   cpu_row_packing
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_row_packing.case
typedef u8 lanes __attribute__((ext_vector_type(32)));
typedef lanes lanes_in_memory __attribute__((aligned(1), may_alias));

// 16 x 32: piece k of row i of the result is a column of the argument:
//   k = 0: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
//   k = 1: 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
static inline __attribute__((always_inline)) void transpose(lanes (&row)[16])
{
  const lanes low1_0 = __builtin_shufflevector(row[0], row[1], 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
  const lanes high1_0 = __builtin_shufflevector(row[0], row[1], 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  const lanes low1_2 = __builtin_shufflevector(row[2], row[3], 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
  const lanes high1_2 = __builtin_shufflevector(row[2], row[3], 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  const lanes low1_4 = __builtin_shufflevector(row[4], row[5], 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
  const lanes high1_4 = __builtin_shufflevector(row[4], row[5], 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  const lanes low1_6 = __builtin_shufflevector(row[6], row[7], 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
  const lanes high1_6 = __builtin_shufflevector(row[6], row[7], 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  const lanes low1_8 = __builtin_shufflevector(row[8], row[9], 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
  const lanes high1_8 = __builtin_shufflevector(row[8], row[9], 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  const lanes low1_10 = __builtin_shufflevector(row[10], row[11], 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
  const lanes high1_10 = __builtin_shufflevector(row[10], row[11], 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  const lanes low1_12 = __builtin_shufflevector(row[12], row[13], 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
  const lanes high1_12 = __builtin_shufflevector(row[12], row[13], 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  const lanes low1_14 = __builtin_shufflevector(row[14], row[15], 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
  const lanes high1_14 = __builtin_shufflevector(row[14], row[15], 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
  const lanes low2_0 = __builtin_shufflevector(low1_0, low1_2, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55);
  const lanes high2_0 = __builtin_shufflevector(low1_0, low1_2, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
  const lanes low2_1 = __builtin_shufflevector(high1_0, high1_2, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55);
  const lanes high2_1 = __builtin_shufflevector(high1_0, high1_2, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
  const lanes low2_4 = __builtin_shufflevector(low1_4, low1_6, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55);
  const lanes high2_4 = __builtin_shufflevector(low1_4, low1_6, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
  const lanes low2_5 = __builtin_shufflevector(high1_4, high1_6, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55);
  const lanes high2_5 = __builtin_shufflevector(high1_4, high1_6, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
  const lanes low2_8 = __builtin_shufflevector(low1_8, low1_10, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55);
  const lanes high2_8 = __builtin_shufflevector(low1_8, low1_10, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
  const lanes low2_9 = __builtin_shufflevector(high1_8, high1_10, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55);
  const lanes high2_9 = __builtin_shufflevector(high1_8, high1_10, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
  const lanes low2_12 = __builtin_shufflevector(low1_12, low1_14, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55);
  const lanes high2_12 = __builtin_shufflevector(low1_12, low1_14, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
  const lanes low2_13 = __builtin_shufflevector(high1_12, high1_14, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55);
  const lanes high2_13 = __builtin_shufflevector(high1_12, high1_14, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
  const lanes low4_0 = __builtin_shufflevector(low2_0, low2_4, 0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39, 16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55);
  const lanes high4_0 = __builtin_shufflevector(low2_0, low2_4, 8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47, 24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63);
  const lanes low4_1 = __builtin_shufflevector(low2_1, low2_5, 0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39, 16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55);
  const lanes high4_1 = __builtin_shufflevector(low2_1, low2_5, 8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47, 24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63);
  const lanes low4_2 = __builtin_shufflevector(high2_0, high2_4, 0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39, 16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55);
  const lanes high4_2 = __builtin_shufflevector(high2_0, high2_4, 8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47, 24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63);
  const lanes low4_3 = __builtin_shufflevector(high2_1, high2_5, 0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39, 16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55);
  const lanes high4_3 = __builtin_shufflevector(high2_1, high2_5, 8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47, 24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63);
  const lanes low4_8 = __builtin_shufflevector(low2_8, low2_12, 0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39, 16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55);
  const lanes high4_8 = __builtin_shufflevector(low2_8, low2_12, 8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47, 24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63);
  const lanes low4_9 = __builtin_shufflevector(low2_9, low2_13, 0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39, 16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55);
  const lanes high4_9 = __builtin_shufflevector(low2_9, low2_13, 8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47, 24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63);
  const lanes low4_10 = __builtin_shufflevector(high2_8, high2_12, 0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39, 16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55);
  const lanes high4_10 = __builtin_shufflevector(high2_8, high2_12, 8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47, 24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63);
  const lanes low4_11 = __builtin_shufflevector(high2_9, high2_13, 0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39, 16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55);
  const lanes high4_11 = __builtin_shufflevector(high2_9, high2_13, 8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47, 24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63);
  const lanes low8_0 = __builtin_shufflevector(low4_0, low4_8, 0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55);
  const lanes high8_0 = __builtin_shufflevector(low4_0, low4_8, 8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47, 24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63);
  const lanes low8_1 = __builtin_shufflevector(low4_1, low4_9, 0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55);
  const lanes high8_1 = __builtin_shufflevector(low4_1, low4_9, 8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47, 24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63);
  const lanes low8_2 = __builtin_shufflevector(low4_2, low4_10, 0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55);
  const lanes high8_2 = __builtin_shufflevector(low4_2, low4_10, 8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47, 24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63);
  const lanes low8_3 = __builtin_shufflevector(low4_3, low4_11, 0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55);
  const lanes high8_3 = __builtin_shufflevector(low4_3, low4_11, 8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47, 24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63);
  const lanes low8_4 = __builtin_shufflevector(high4_0, high4_8, 0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55);
  const lanes high8_4 = __builtin_shufflevector(high4_0, high4_8, 8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47, 24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63);
  const lanes low8_5 = __builtin_shufflevector(high4_1, high4_9, 0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55);
  const lanes high8_5 = __builtin_shufflevector(high4_1, high4_9, 8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47, 24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63);
  const lanes low8_6 = __builtin_shufflevector(high4_2, high4_10, 0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55);
  const lanes high8_6 = __builtin_shufflevector(high4_2, high4_10, 8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47, 24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63);
  const lanes low8_7 = __builtin_shufflevector(high4_3, high4_11, 0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55);
  const lanes high8_7 = __builtin_shufflevector(high4_3, high4_11, 8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47, 24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63);
  row[0] = low8_0;
  row[1] = high8_0;
  row[2] = low8_4;
  row[3] = high8_4;
  row[4] = low8_2;
  row[5] = high8_2;
  row[6] = low8_6;
  row[7] = high8_6;
  row[8] = low8_1;
  row[9] = high8_1;
  row[10] = low8_5;
  row[11] = high8_5;
  row[12] = low8_3;
  row[13] = high8_3;
  row[14] = low8_7;
  row[15] = high8_7;
}

typedef u8 out_lanes __attribute__((ext_vector_type(32)));
typedef out_lanes out_lanes_in_memory __attribute__((aligned(1), may_alias));

typedef u8 piece __attribute__((ext_vector_type(32)));
typedef piece piece_in_memory __attribute__((aligned(1), may_alias));
typedef u8 part __attribute__((ext_vector_type(16)));
typedef part part_in_memory __attribute__((aligned(1), may_alias));
static inline __attribute__((always_inline)) lanes side_by_side(const u8* row0, const u8* row1) {
  return __builtin_shufflevector(*(const part_in_memory*)row0, *(const part_in_memory*)row1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}
// Stores one column of a block: part N of a transposed vector.
template <int N>
static inline __attribute__((always_inline)) void keep(u8* to, lanes row) {
  const piece kept = __builtin_shufflevector(row, row, 32 * N + 0, 32 * N + 1, 32 * N + 2, 32 * N + 3, 32 * N + 4, 32 * N + 5, 32 * N + 6, 32 * N + 7, 32 * N + 8, 32 * N + 9, 32 * N + 10, 32 * N + 11, 32 * N + 12, 32 * N + 13, 32 * N + 14, 32 * N + 15, 32 * N + 16, 32 * N + 17, 32 * N + 18, 32 * N + 19, 32 * N + 20, 32 * N + 21, 32 * N + 22, 32 * N + 23, 32 * N + 24, 32 * N + 25, 32 * N + 26, 32 * N + 27, 32 * N + 28, 32 * N + 29, 32 * N + 30, 32 * N + 31);
  *(piece_in_memory*)to = kept;
}

// The input of a tile: rows of 40 elements, prefetched line by line.
static const i32 next_row[] = {0, 90, 630, 720, 1260, 1350, 1890, 1980, 2520, 2610, 3150, 3240, 3780, 3870, 4410, 4500, 5040, 5130, 5670, 5760, 6300, 6390, 6930, 7020, 7560, 7650, 8190, 8280, 8820, 8910, 9450, 9540, 10080, 10170, 10710, 10800, 11340, 11430, 11970, 12060, 12600, 12690, 13230, 13320, 13860, 13950, 14490, 14580, 15120, 15210, 15750, 15840, 16380, 16470, 17010, 17100, 17640, 17730, 18270, 18360, 18900, 18990, 19530, 19620, 20160, 20250, 20790, 20880, 21420, 21510, 22050, 22140, 22680, 22770, 23310, 23400, 23940, 24030, 24570, 24660, 25200, 25290, 25830, 25920, 26460, 26550, 27090, 27180, 27720, 27810, 28350, 28440, 28980, 29070, 29610, 29700, 30240, 30330, 30870, 30960};
struct Prefetch {
  const u8* next;
  i64 row;
  u64 at, end;
  inline __attribute__((always_inline)) Prefetch(const u8* next) : next(next), row(-1), at(0), end(0) {
  }
  inline __attribute__((always_inline)) void request() {
    if (at >= end) {
      if (row == 99) return;
      const u64 first = (u64)(next + next_row[++row]);
      at = first & -64, end = first + 40;
    }
    __builtin_prefetch((const void*)at, 0, 2);
    at += 64;
  }
};

// Storing part of a line reads the line first: prefetch the lines that a run shares with others.
static inline __attribute__((always_inline)) void prefetch_ends(const u8* run, i64 count) {
  if ((u64)run % 64 != 0) __builtin_prefetch(run, 1, 3);
  if ((u64)(run + count) % 64 != 0) __builtin_prefetch(run + count - 1, 1, 3);
}

static const i32 outer_in_input[] = {0, 90};
static const i32 outer_in_kept[] = {0, 50};
// Reads the next tile into its array, a few blocks for each two lines written of the current tile.
struct TileReader {
  const u8* from;
  u8* to;
  bool more;  // whether there is a next tile
  const u8* in = from;
  u8* out = to;
  i64 outer = 0, row_at = 0, column_at = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    const i64 column = column_at < 24 ? column_at : 24;
    const i64 row = row_at < 18 ? row_at : 18;
    const u8* const in = from + outer_in_input[outer] + column;
    u8* const out = to + outer_in_kept[outer] + row;
    lanes rows[16];
    rows[0] = side_by_side(in + (630 * row + 0), in + (630 * row + 10080));
    rows[1] = side_by_side(in + (630 * row + 630), in + (630 * row + 10710));
    rows[2] = side_by_side(in + (630 * row + 1260), in + (630 * row + 11340));
    rows[3] = side_by_side(in + (630 * row + 1890), in + (630 * row + 11970));
    rows[4] = side_by_side(in + (630 * row + 2520), in + (630 * row + 12600));
    rows[5] = side_by_side(in + (630 * row + 3150), in + (630 * row + 13230));
    rows[6] = side_by_side(in + (630 * row + 3780), in + (630 * row + 13860));
    rows[7] = side_by_side(in + (630 * row + 4410), in + (630 * row + 14490));
    rows[8] = side_by_side(in + (630 * row + 5040), in + (630 * row + 15120));
    rows[9] = side_by_side(in + (630 * row + 5670), in + (630 * row + 15750));
    rows[10] = side_by_side(in + (630 * row + 6300), in + (630 * row + 16380));
    rows[11] = side_by_side(in + (630 * row + 6930), in + (630 * row + 17010));
    rows[12] = side_by_side(in + (630 * row + 7560), in + (630 * row + 17640));
    rows[13] = side_by_side(in + (630 * row + 8190), in + (630 * row + 18270));
    rows[14] = side_by_side(in + (630 * row + 8820), in + (630 * row + 18900));
    rows[15] = side_by_side(in + (630 * row + 9450), in + (630 * row + 19530));
    transpose(rows);
    keep<0>(out + (128 * column + 0), rows[0]);
    keep<0>(out + (128 * column + 128), rows[1]);
    keep<0>(out + (128 * column + 256), rows[2]);
    keep<0>(out + (128 * column + 384), rows[3]);
    keep<0>(out + (128 * column + 512), rows[4]);
    keep<0>(out + (128 * column + 640), rows[5]);
    keep<0>(out + (128 * column + 768), rows[6]);
    keep<0>(out + (128 * column + 896), rows[7]);
    keep<0>(out + (128 * column + 1024), rows[8]);
    keep<0>(out + (128 * column + 1152), rows[9]);
    keep<0>(out + (128 * column + 1280), rows[10]);
    keep<0>(out + (128 * column + 1408), rows[11]);
    keep<0>(out + (128 * column + 1536), rows[12]);
    keep<0>(out + (128 * column + 1664), rows[13]);
    keep<0>(out + (128 * column + 1792), rows[14]);
    keep<0>(out + (128 * column + 1920), rows[15]);
    if ((column_at += 16) < 40) return;
    column_at = 0;
    if ((row_at += 32) < 50) return;
    row_at = 0;
    ++outer;
  }
  inline __attribute__((always_inline)) void beside_two_lines() {
    if (more && ++beat % 3 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && outer < 2) one();
  }
};

// Part of a line.
static inline __attribute__((always_inline)) void write_part(u8* to, const u8* from, i64 count) {
  if (count & 32) __builtin_memcpy(to, from, 32), to += 32, from += 32;
  if (count & 16) __builtin_memcpy(to, from, 16), to += 16, from += 16;
  if (count & 8) __builtin_memcpy(to, from, 8), to += 8, from += 8;
  if (count & 4) __builtin_memcpy(to, from, 4), to += 4, from += 4;
  if (count & 2) __builtin_memcpy(to, from, 2), to += 2, from += 2;
  if (count & 1) __builtin_memcpy(to, from, 1), to += 1, from += 1;
}

// Nontemporal stores, except for the ends.
static inline __attribute__((always_inline)) void write_run(u8* to, const u8* from, i64 count, Prefetch& prefetch, TileReader& reader) {
  i64 i = 0;
  if ((u64)to % 64 != 0) {
    const i64 room = 64 - (u64)to % 64 / 1;
    i = room < count ? room : count;
    write_part(to, from, i);
  }
  const i64 before = i;
  #pragma clang loop unroll(disable)
  for (; i + 128 <= count; i += 128) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 32), (out_lanes*)(to + i + 32));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 64), (out_lanes*)(to + i + 64));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 96), (out_lanes*)(to + i + 96));
    prefetch.request();
    prefetch.request();
    reader.beside_two_lines();
  }
  if (i + 64 <= count) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 32), (out_lanes*)(to + i + 32));
    prefetch.request();
    i += 64;
  }
  if (i < count) write_part(to + i, from + i, count - i);
  for (i64 lines = (i - before) / 64; lines < 5; ++lines) prefetch.request();
}

extern "C" void u8_abc_to_cba_50x7x90(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u8* const A_base = (const u8*)args[0];
  u8* const B_base = (u8*)args[1];
  u8 (* __restrict__ const kept)[5184] = (u8 (*)[5184])((u8*)scratch);
  if (first >= last) return;
  // Where a tile begins in A.
  const auto begin = [&](i64 tile) {
    const i64 c0_at = 40 * (tile % 3);
    const i64 c0 = c0_at < 50 ? c0_at : 50;
    const i64 b0_at = 2 * (tile / 3);
    const i64 b0 = b0_at < 5 ? b0_at : 5;
    return A_base + (c0 + 90 * b0);
  };
  // Where a tile begins in B.
  const auto begin_in_output = [&](i64 tile) {
    const i64 c0_at = 40 * (tile % 3);
    const i64 c0 = c0_at < 50 ? c0_at : 50;
    const i64 b0_at = 2 * (tile / 3);
    const i64 b0 = b0_at < 5 ? b0_at : 5;
    return B_base + (350 * c0 + 50 * b0);
  };
  for (i64 tile = first - 1; tile < last; ++tile) {
    const i64 after = tile + 1 < last ? tile + 1 : last - 1;
    TileReader reader = {begin(after), kept[(tile + 1) & 1], tile + 1 < last};
    if (tile < first) {
      reader.finish();
      continue;
    }
    Prefetch prefetch(begin(after + 1 < last ? after + 1 : last - 1));
    const i64 next = begin_in_output(after) - begin_in_output(tile);
    const i64 c0_at = 40 * (tile % 3);
    const i64 c0 = c0_at < 50 ? c0_at : 50;
    const i64 b0_at = 2 * (tile / 3);
    const i64 b0 = b0_at < 5 ? b0_at : 5;
    u8* __restrict__ const B = B_base + (350 * c0 + 50 * b0);
    // write B along a
    {
      const i64 a = 0;
      const i64 b = 0;
      for (i64 c = 0; c < 40; ++c) {
        prefetch_ends(B + 350 * c + 50 * b + a + next, 100);
        write_run(B + 350 * c + 50 * b + a, kept[tile & 1] + 128 * c + 50 * b + a, 100, prefetch, reader);
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
