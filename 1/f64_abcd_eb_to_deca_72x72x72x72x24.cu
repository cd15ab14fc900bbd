typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct c64 { float re, im; };
struct c128 { double re, im; };

// N consecutive elements, loaded and stored in one access.
template <class T, int N>
struct alignas(sizeof(T) * N) vec { T at[N]; };

// Spreads the rows of a tile over the banks of shared memory: bits of the row are mixed into bits of the column.
template <int Shift, int Mask, int Unit>
inline int swizzle(int address) { return address ^ ((address >> Shift & Mask) << Unit); }

// Integers wrap: their products and sums are formed in unsigned types.
inline i8 mul(i8 x, i8 y) { return (i8)((u32)x * (u32)y); }
inline i16 mul(i16 x, i16 y) { return (i16)((u32)x * (u32)y); }
inline i32 mul(i32 x, i32 y) { return (i32)((u32)x * (u32)y); }
inline i64 mul(i64 x, i64 y) { return (i64)((u64)x * (u64)y); }
inline u8 mul(u8 x, u8 y) { return (u8)((u32)x * (u32)y); }
inline u16 mul(u16 x, u16 y) { return (u16)((u32)x * (u32)y); }
inline u32 mul(u32 x, u32 y) { return x * y; }
inline u64 mul(u64 x, u64 y) { return x * y; }
inline float mul(float x, float y) { return x * y; }
inline double mul(double x, double y) { return x * y; }
inline c64 mul(c64 x, c64 y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
inline c128 mul(c128 x, c128 y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

inline i8 add(i8 x, i8 y) { return (i8)((u32)x + (u32)y); }
inline i16 add(i16 x, i16 y) { return (i16)((u32)x + (u32)y); }
inline i32 add(i32 x, i32 y) { return (i32)((u32)x + (u32)y); }
inline i64 add(i64 x, i64 y) { return (i64)((u64)x + (u64)y); }
inline u8 add(u8 x, u8 y) { return (u8)((u32)x + (u32)y); }
inline u16 add(u16 x, u16 y) { return (u16)((u32)x + (u32)y); }
inline u32 add(u32 x, u32 y) { return x + y; }
inline u64 add(u64 x, u64 y) { return x + y; }
inline float add(float x, float y) { return x + y; }
inline double add(double x, double y) { return x + y; }
inline c64 add(c64 x, c64 y) { return {x.re + y.re, x.im + y.im}; }
inline c128 add(c128 x, c128 y) { return {x.re + y.re, x.im + y.im}; }

inline c64 conj(c64 x) { return {x.re, -x.im}; }
inline c128 conj(c128 x) { return {x.re, -x.im}; }

template <class T>
inline bool is_zero(T x) { return x == 0; }
inline bool is_zero(c64 x) { return x.re == 0 && x.im == 0; }
inline bool is_zero(c128 x) { return x.re == 0 && x.im == 0; }

// A BLAS factor: 0 * x is 0 even where x is NaN or infinite.
template <class T>
inline T scale(T factor, T x) { return is_zero(factor) ? T{} : mul(factor, x); }

// One access of a whole vector; V is T or vec<T, N>.
template <class V, class T>
inline V load(const T* p) { return *reinterpret_cast<const V*>(p); }
template <class V, class T>
inline void store(T* p, V v) { *reinterpret_cast<V*>(p) = v; }
// The same of one element of 16 bytes, which would be two accesses otherwise.
template <class T>
inline T load_whole(const T* p) { return load<vec<T, 1>>(p).at[0]; }
template <class T>
inline void store_whole(T* p, T v) { store(p, vec<T, 1>{{v}}); }

// The value of another lane of the warp; all lanes must call it.
template <class T>
inline T shuffle(T value, int lane) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  union {
    u32 word[kWords];
    T value;
  } held;
  held.word[0] = 0;
  held.value = value;
  #pragma unroll
  for (int k = 0; k < kWords; ++k) held.word[k] = __shfl_sync(0xffffffffu, held.word[k], lane);
  return held.value;
}
// The value of the lane `span` below; the lowest lanes keep their own.
template <class T>
inline T shuffle_up(T value, int span) {
  const int lane = (int)(threadIdx.x & 31u);
  return shuffle(value, lane >= span ? lane - span : lane);
}
// Bit k: the predicate of lane k; all lanes must call it.
inline u32 ballot(bool said) { return __ballot_sync(0xffffffffu, said); }
template <class T>
inline T shuffle_xor(T value, int mask) { return shuffle(value, (int)((threadIdx.x & 31u) ^ (u32)mask)); }

inline int popcount32(u32 x) { return __popc((int)x); }
inline int popcount64(u64 x) { return __popcll((long long)x); }

// Copies from global to shared memory that go on while the thread does. What a thread has copied is there for it once
// it has waited for the copy's group, and for other threads after the barrier that follows. Both addresses are
// multiples of Bytes. 16 bytes pass by the first-level cache.
template <int Bytes>
inline void copy_async(void* shared, const void* global) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
  const u32 to = (u32)__cvta_generic_to_shared(shared);
  if (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(to), "l"(global), "n"(Bytes) : "memory");
}
// The same where `valid`, else zeros: `global` may then be any address.
template <int Bytes>
inline void copy_async_or_zero(void* shared, const void* global, bool valid) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
  const u32 to = (u32)__cvta_generic_to_shared(shared);
  const u32 read = valid ? (u32)Bytes : 0u;
  if (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(global), "r"(read) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :: "r"(to), "l"(global), "n"(Bytes), "r"(read) : "memory");
}
// The same where `wanted`; else nothing, and both addresses may be any. No branch: other instructions pass between.
template <int Bytes>
inline void copy_async_if(void* shared, const void* global, bool wanted) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
  const u32 to = (u32)__cvta_generic_to_shared(shared);
  if (Bytes == 16)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16;}"
                 :: "r"(to), "l"(global), "r"((u32)wanted) : "memory");
  else
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3;}"
                 :: "r"(to), "l"(global), "r"((u32)wanted), "n"(Bytes) : "memory");
}
// Where `wanted`, copies where `valid`, else zeros.
template <int Bytes>
inline void copy_async_or_zero_if(void* shared, const void* global, bool valid, bool wanted) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
  const u32 to = (u32)__cvta_generic_to_shared(shared);
  const u32 read = valid ? (u32)Bytes : 0u;
  if (Bytes == 16)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p cp.async.cg.shared.global [%0], [%1], 16, %2;}"
                 :: "r"(to), "l"(global), "r"(read), "r"((u32)wanted) : "memory");
  else
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p cp.async.ca.shared.global [%0], [%1], %4, %2;}"
                 :: "r"(to), "l"(global), "r"(read), "r"((u32)wanted), "n"(Bytes) : "memory");
}
// Ends a group: the thread's copies since the last one, or none.
inline void commit_async() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most Groups of the thread's last groups are under way.
template <int Groups>
inline void wait_async() { asm volatile("cp.async.wait_group %0;" :: "n"(Groups) : "memory"); }

// Tensor cores: every lane of a warp takes part. Which lane holds which elements is in src/kernel/atoms.hpp.

// A binary32 rounded to the upper 19 bits, which tensor cores read of it: to nearest, halves away from zero.
inline f32 to_tf32(f32 x) {
  u32 bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __builtin_bit_cast(f32, bits & 0xffffe000u);
}

// Elements that share a register, the first in the lowest bits.
template <class T>
inline u32 word_of(T first, T second) { return (u32)first.bits | (u32)second.bits << 16; }
template <class T>
inline u32 word_of(T a, T b, T c, T d) { return (u32)(u8)a | (u32)(u8)b << 8 | (u32)(u8)c << 16 | (u32)(u8)d << 24; }

// Matrices of 8 rows of 16 bytes in shared memory, each row at a multiple of 16; lanes 8 i to 8 i + 7 point to the rows
// of the i-th. Register i of lane l then holds bytes 4 (l % 4) to 4 (l % 4) + 3 of its row l / 4; transposed, elements
// of 16 bits 2 (l % 4) and 2 (l % 4) + 1 of its column l / 4.
inline void load_matrix_x1(u32 (&r)[1], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r[0]) : "r"((u32)__cvta_generic_to_shared(row)) : "memory");
}
inline void load_matrix_x1_transposed(u32 (&r)[1], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(r[0]) : "r"((u32)__cvta_generic_to_shared(row)) : "memory");
}
inline void load_matrix_x2(u32 (&r)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1]) : "r"((u32)__cvta_generic_to_shared(row)) : "memory");
}
inline void load_matrix_x2_transposed(u32 (&r)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1]) : "r"((u32)__cvta_generic_to_shared(row)) : "memory");
}
inline void load_matrix_x4(u32 (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((u32)__cvta_generic_to_shared(row)) : "memory");
}
inline void load_matrix_x4_transposed(u32 (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((u32)__cvta_generic_to_shared(row)) : "memory");
}

// mma_<m><n><k>_<type>(c, a, b): C += A * B.
inline void mma_m8n8k4_f64(f64 (&c)[2], const f64 (&a)[1], const f64 (&b)[1]) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a[0]), "d"(b[0]));
}
inline void mma_m16n8k4_f64(f64 (&c)[4], const f64 (&a)[2], const f64 (&b)[1]) {
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}
inline void mma_m16n8k8_f64(f64 (&c)[4], const f64 (&a)[4], const f64 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
inline void mma_m16n8k16_f64(f64 (&c)[4], const f64 (&a)[8], const f64 (&b)[4]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                 "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}
inline void mma_m16n8k4_tf32(f32 (&c)[4], const f32 (&a)[2], const f32 (&b)[1]) {
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(__builtin_bit_cast(u32, a[0])), "r"(__builtin_bit_cast(u32, a[1])), "r"(__builtin_bit_cast(u32, b[0])));
}
inline void mma_m16n8k8_tf32(f32 (&c)[4], const f32 (&a)[4], const f32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(__builtin_bit_cast(u32, a[0])), "r"(__builtin_bit_cast(u32, a[1])), "r"(__builtin_bit_cast(u32, a[2])), "r"(__builtin_bit_cast(u32, a[3])), "r"(__builtin_bit_cast(u32, b[0])), "r"(__builtin_bit_cast(u32, b[1])));
}
inline void mma_m16n8k8_f16(f32 (&c)[4], const u32 (&a)[2], const u32 (&b)[1]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
inline void mma_m16n8k16_f16(f32 (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
inline void mma_m16n8k8_bf16(f32 (&c)[4], const u32 (&a)[2], const u32 (&b)[1]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
inline void mma_m16n8k16_bf16(f32 (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
inline void mma_m16n8k32_i8(i32 (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
inline void mma_m16n8k32_u8(i32 (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// f64_abcd_eb_to_deca_72x72x72x72x24        made by ricci 0.1.0 for sm_90; do not edit
// problem    index d = 72
//            index e = 24
//            index c = 72
//            index a = 72
//            index b = 72
//            input A : f64 [0..26873855] align 16
//            input B : f64 [0..1727] align 16
//            output C : f64 [0..8957951] align 16
//            rounding free
//            C[124416*d + 5184*e + 72*c + a] = sum(b : mul(A[d + 72*c + 373248*a + 5184*b], B[72*e + b]))
// extents    d=72 e=24 c=72 a=72 b=72
// plan       m16n8k8_f64 e24 x c4a8d8 x b8 warps 1x4 stages 2
// traffic    286668288 B (read 215004672, write 71663616)
// index      32 bits: largest offset 26873855
// schedule   m16n8k8_f64 e24 x c4a8d8 x b8 warps 1x4 stages 2
//            tile c:4
//            tile a:8
//            tile d:8
//            tile b:8
//            order task c0 a0 d0 sum b0
//            stage B at b0 async e b
//            stage A at b0 async pad 2 b c a d
//            atom m16n8k8_f64 rows e columns c a d depth b warps 1x4 runs 1x1x2 blocks 2
//            pipeline b0 2
// reproduce  ricci show 'abcd,eb->deca' a=72 b=72 c=72 d=72 e=24 --dtype f64 --device gpu --target sm_90 --schedule 'm16n8k8_f64 e24 x c4a8d8 x b8 warps 1x4 stages 2'
extern "C" __global__ void __launch_bounds__(128, 2)
f64_abcd_eb_to_deca_72x72x72x72x24(const double* __restrict__ A, const double* __restrict__ B, double* C)
{
  __shared__ __align__(128) double B_tile[512];
  __shared__ __align__(128) double A_tile[4128];
  const int c0 = (int)blockIdx.x / 81;
  const int a0 = (int)blockIdx.x / 9 % 9;
  const int d0 = (int)blockIdx.x % 9;
  const int t = threadIdx.x;
  const int warp_column = t / 32;
  const int group = t / 4 % 8;
  const int member = t % 4;
  const int B_b = t % 4;
  const int B_e = t / 4 % 24;
  const int A_d = t % 4;
  const int A_c = t / 4 % 4;
  const int A_b = t / 16;
  double sum[2][8][4];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int e_ = 0; e_ < 4; ++e_) {
        sum[i][j][e_] = 0.0;
      }
    }
  }
  copy_async_if<16>(B_tile + 2 * B_b + 8 * B_e, B + 2 * B_b + 72 * B_e, t < 96);
  #pragma unroll
  for (int r0 = 0; r0 < 8; ++r0) {
    copy_async<16>(A_tile + 2 * A_d + 64 * A_c + 258 * A_b + 8 * r0, A + 288 * c0 + 2985984 * a0 + 8 * d0 + 2 * A_d + 72 * A_c + 5184 * A_b + 373248 * r0);
  }
  commit_async();
  #pragma unroll 1
  for (int b0 = 0; b0 < 9; ++b0) {
    wait_async<0>();
    __syncthreads();
    const int next_place = (b0 + 1) % 2;
    const int next_b0 = (b0 + 1) % 9;
    const int place = b0 % 2;
    double a_part[1][2][4];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      vec<double, 2> a_run[2];
      a_run[0] = load<vec<double, 2>>(B_tile + 8 * group + 2 * member + 256 * place + 128 * i);
      a_part[0][i][0] = a_run[0].at[0];
      a_part[0][i][2] = a_run[0].at[1];
      a_run[1] = load<vec<double, 2>>(B_tile + 8 * group + 2 * member + 256 * place + 128 * i + 64);
      a_part[0][i][1] = a_run[1].at[0];
      a_part[0][i][3] = a_run[1].at[1];
    }
    double b_part[1][8][2];
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      b_part[0][j][0] = A_tile[64 * warp_column + group + 516 * member + 2064 * place + 8 * j];
      b_part[0][j][1] = A_tile[64 * warp_column + group + 516 * member + 2064 * place + 8 * j + 258];
    }
    copy_async_if<16>(B_tile + 2 * B_b + 8 * B_e + 256 * next_place, B + 2 * B_b + 72 * B_e + 8 * next_b0, t < 96 && b0 < 8);
    #pragma unroll
    for (int r0 = 0; r0 < 8; ++r0) {
      copy_async_if<16>(A_tile + 2 * A_d + 64 * A_c + 258 * A_b + 8 * r0 + 2064 * next_place, A + 288 * c0 + 2985984 * a0 + 8 * d0 + 2 * A_d + 72 * A_c + 5184 * A_b + 373248 * r0 + 41472 * next_b0, b0 < 8);
    }
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        mma_m16n8k8_f64(sum[i][j], a_part[0][i], b_part[0][j]);
      }
    }
    commit_async();
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (group + 16 * i < 24) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int d_column = (64 * warp_column + 2 * member + 8 * j) % 8;
        const int a_column = (64 * warp_column + 2 * member + 8 * j) / 8 % 8;
        const int c_column = (64 * warp_column + 2 * member + 8 * j) / 64;
        C[288 * c0 + 8 * a0 + 995328 * d0 + 5184 * group + 82944 * i + 124416 * d_column + a_column + 72 * c_column] = sum[i][j][0];
        const int d_column_ = (64 * warp_column + 2 * member + 8 * j + 1) % 8;
        const int a_column_ = (64 * warp_column + 2 * member + 8 * j + 1) / 8 % 8;
        const int c_column_ = (64 * warp_column + 2 * member + 8 * j + 1) / 64;
        C[288 * c0 + 8 * a0 + 995328 * d0 + 5184 * group + 82944 * i + 124416 * d_column_ + a_column_ + 72 * c_column_] = sum[i][j][1];
      }
    }
    if (group + 16 * i + 8 < 24) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int d_column__ = (64 * warp_column + 2 * member + 8 * j) % 8;
        const int a_column__ = (64 * warp_column + 2 * member + 8 * j) / 8 % 8;
        const int c_column__ = (64 * warp_column + 2 * member + 8 * j) / 64;
        C[288 * c0 + 8 * a0 + 995328 * d0 + 5184 * group + 82944 * i + 124416 * d_column__ + a_column__ + 72 * c_column__ + 41472] = sum[i][j][2];
        const int d_column___ = (64 * warp_column + 2 * member + 8 * j + 1) % 8;
        const int a_column___ = (64 * warp_column + 2 * member + 8 * j + 1) / 8 % 8;
        const int c_column___ = (64 * warp_column + 2 * member + 8 * j + 1) / 64;
        C[288 * c0 + 8 * a0 + 995328 * d0 + 5184 * group + 82944 * i + 124416 * d_column___ + a_column___ + 72 * c_column___ + 41472] = sum[i][j][3];
      }
    }
  }
}
