// What products of tensor cores take: every lane of a warp takes part. Which lane holds which elements is in
// src/kernel/atoms.hpp; the functions of the products are made from it (device_prelude.cpp).

// Elements that share a register, the first in the lowest bits.
template <class T>
inline u32 word_of(T first, T second) { return (u32)first.bits | (u32)second.bits << 16; }
inline u32 word_of_bf16(float first, float second) {
  u32 word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}
inline u32 word_of_f16(float first, float second) {
  u32 word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}
// One of two elements that share a register.
template <class T>
inline T half_of(u32 word, int number) { return T{(u16)(word >> 16 * number)}; }
template <class T>
inline u32 word_of(T a, T b, T c, T d) { return (u32)(u8)a | (u32)(u8)b << 8 | (u32)(u8)c << 16 | (u32)(u8)d << 24; }

// Matrices of 8 rows of 16 bytes in shared memory, each row at a multiple of 16; lanes 8 i to 8 i + 7 point to the rows
// of the i-th. Register i of lane l then holds bytes 4 (l % 4) to 4 (l % 4) + 3 of its row l / 4; transposed, elements
// of 16 bits 2 (l % 4) and 2 (l % 4) + 1 of its column l / 4.
#define RICCI_LOAD_MATRIX(count, name, way, numbers, ...)                                               \
  inline void load_matrix_x##count##name(u32 (&r)[count], const void* row) {                           \
    asm volatile("ldmatrix.sync.aligned.m8n8.x" #count way ".shared.b16 {" numbers "}, [%" #count "];" \
                 : __VA_ARGS__ : "r"((u32)__cvta_generic_to_shared(row)) : "memory");                  \
  }
#define RICCI_LOAD_MATRIX_EITHER_WAY(count, ...)    \
  RICCI_LOAD_MATRIX(count, , "", __VA_ARGS__)       \
  RICCI_LOAD_MATRIX(count, _transposed, ".trans", __VA_ARGS__)
RICCI_LOAD_MATRIX_EITHER_WAY(1, "%0", "=r"(r[0]))
RICCI_LOAD_MATRIX_EITHER_WAY(2, "%0, %1", "=r"(r[0]), "=r"(r[1]))
RICCI_LOAD_MATRIX_EITHER_WAY(4, "%0, %1, %2, %3", "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]))
#undef RICCI_LOAD_MATRIX_EITHER_WAY
#undef RICCI_LOAD_MATRIX
