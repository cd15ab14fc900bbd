// The host's half of src/codegen/device (all but types.cuh and what any compiler takes), for kernels
// that run on the simulator: CUDA's keywords, coordinates and barriers, and the functions that the generated text
// calls. It becomes part of the kernel's text, after hooks.hpp; no file of the project includes it. Needs -fdeclspec.

extern "C" {
const RicciSimtHooks* ricci_simt_hooks;
// Asks the compiler plug-in to show every access (src/jit/clang_plugin/access_tracing.hpp).
void (*ricci_trace)(const void* address, unsigned access);
// Shared variables are found in this section by name; they are placed relative to this one.
__attribute__((section("ricci_shared"), used, aligned(1024))) char ricci_simt_shared[1024];
}

// noinline and disable_sanitizer_instrumentation keep the simulator's own loads out of the trace; convergent keeps
// barriers where they are; inline leaves out what a kernel does not call.
#define RICCI_SIMT_HOOK extern "C" inline __attribute__((noinline, disable_sanitizer_instrumentation, convergent))

#define __global__ __attribute__((noinline))
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __shared__ static __attribute__((section("ricci_shared"), used))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__

extern "C" __attribute__((noinline, disable_sanitizer_instrumentation, const)) unsigned ricci_simt_coordinate(
    unsigned which) {
  return ricci_simt_hooks->coordinate(which);
}

template <unsigned first>
struct RicciSimtCoordinates {
  static unsigned get_x() { return ricci_simt_coordinate(first); }
  static unsigned get_y() { return ricci_simt_coordinate(first + 1); }
  static unsigned get_z() { return ricci_simt_coordinate(first + 2); }
  __declspec(property(get = get_x)) unsigned x;
  __declspec(property(get = get_y)) unsigned y;
  __declspec(property(get = get_z)) unsigned z;
};
static const RicciSimtCoordinates<0> threadIdx;
static const RicciSimtCoordinates<3> blockIdx;
static const RicciSimtCoordinates<6> blockDim;
static const RicciSimtCoordinates<9> gridDim;

RICCI_SIMT_HOOK void __syncthreads(unsigned line = __builtin_LINE()) { ricci_simt_hooks->sync_threads(line); }
RICCI_SIMT_HOOK void __syncwarp(unsigned line = __builtin_LINE()) { ricci_simt_hooks->sync_warp(line); }
RICCI_SIMT_HOOK void ricci_simt_shuffle(void* value, unsigned bytes, unsigned source, unsigned line) {
  ricci_simt_hooks->shuffle(value, bytes, source, line);
}

// The widest unit that a type's alignment lets a GPU move at once.
template <unsigned bytes>
struct RicciSimtUnit {
  typedef unsigned long long type __attribute__((vector_size(16), may_alias));
};
template <>
struct RicciSimtUnit<1> {
  typedef unsigned char type;
};
template <>
struct RicciSimtUnit<2> {
  typedef unsigned short type __attribute__((may_alias));
};
template <>
struct RicciSimtUnit<4> {
  typedef unsigned int type __attribute__((may_alias));
};
template <>
struct RicciSimtUnit<8> {
  typedef unsigned long long type __attribute__((may_alias));
};

// volatile: the optimiser must not split a vector into its elements.
template <class V, class T>
inline V load(const T* p) {
  typedef typename RicciSimtUnit<alignof(V)>::type Unit;
  Unit units[sizeof(V) / sizeof(Unit)];
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < sizeof(V) / sizeof(Unit); ++i) units[i] = reinterpret_cast<const volatile Unit*>(p)[i];
  V value;
  __builtin_memcpy(&value, units, sizeof(V));
  return value;
}
template <class V, class T>
inline void store(T* p, V value) {
  typedef typename RicciSimtUnit<alignof(V)>::type Unit;
  Unit units[sizeof(V) / sizeof(Unit)];
  __builtin_memcpy(units, &value, sizeof(V));
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < sizeof(V) / sizeof(Unit); ++i) reinterpret_cast<volatile Unit*>(p)[i] = units[i];
}
template <class V, class T>
inline V load_shared(const T* array, int at) {
  return load<V>(array + at);
}
template <class T>
struct alignas(sizeof(T)) RicciSimtWhole {
  T at[1];
};
template <class T>
inline T load_whole(const T* p) {
  return load<RicciSimtWhole<T>>(p).at[0];
}
template <class T>
inline void store_whole(T* p, T value) {
  store(p, RicciSimtWhole<T>{{value}});
}
template <class V, class T>
inline void store_nontemporal(T* p, V value) {
  store<V>(p, value);
}

template <class T>
inline T shuffle(T value, int lane, unsigned line = __builtin_LINE()) {
  static_assert(sizeof(T) <= 16);
  ricci_simt_shuffle(&value, sizeof(T), static_cast<unsigned>(lane), line);
  return value;
}
template <class T>
inline T shuffle_xor(T value, int mask, unsigned line = __builtin_LINE()) {
  return shuffle(value, static_cast<int>((threadIdx.x & 31u) ^ static_cast<unsigned>(mask)), line);
}
template <class T>
inline T shuffle_up(T value, int span, unsigned line = __builtin_LINE()) {
  const int lane = static_cast<int>(threadIdx.x & 31u);
  return shuffle(value, lane >= span ? lane - span : lane, line);
}
inline unsigned ballot(bool said, unsigned line = __builtin_LINE()) {
  unsigned bits = said ? 1u << (threadIdx.x & 31u) : 0u;
  for (int mask = 16; mask > 0; mask /= 2) bits |= shuffle_xor(bits, mask, line);
  return bits;
}

// async.cuh. What a function named ricci_at_site_ gets as its site, the compiler plug-in says.
RICCI_SIMT_HOOK void ricci_at_site_copy_from(const void* global, unsigned bytes, unsigned site) {
  ricci_simt_hooks->copy_async_from(global, bytes, site);
}
RICCI_SIMT_HOOK void ricci_at_site_copy_to(void* shared, const void* global, unsigned bytes, unsigned site) {
  ricci_simt_hooks->copy_async_to(shared, global, bytes, site);
}
RICCI_SIMT_HOOK void ricci_simt_commit_async() { ricci_simt_hooks->commit_async(); }
RICCI_SIMT_HOOK void ricci_simt_wait_async(unsigned groups) { ricci_simt_hooks->wait_async(groups); }

template <int Bytes>
__forceinline__ void copy_async_or_zero(void* shared, const void* global, bool valid) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
  if (valid) ricci_at_site_copy_from(global, Bytes, 0);
  ricci_at_site_copy_to(shared, valid ? global : nullptr, Bytes, 0);
}
template <int Bytes>
__forceinline__ void copy_async(void* shared, const void* global) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
  ricci_at_site_copy_from(global, Bytes, 0);
  ricci_at_site_copy_to(shared, global, Bytes, 0);
}
inline int anew(int number) { return number; }
// Nothing that a kernel computes depends on it. Its bounds are proven by the verifier of kernels.
template <int Bytes>
inline void prefetch_run(const void*) {
  static_assert(Bytes % 16 == 0, "runs of whole 16 bytes are prefetched");
}
template <int Bytes>
__forceinline__ void copy_async_if(void* shared, const void* global, bool wanted) {
  if (wanted) copy_async<Bytes>(shared, global);
}
template <int Bytes>
__forceinline__ void copy_async_or_zero_if(void* shared, const void* global, bool valid, bool wanted) {
  if (wanted) copy_async_or_zero<Bytes>(shared, global, valid);
}
inline void commit_async() { ricci_simt_commit_async(); }
template <int Groups>
inline void wait_async() {
  ricci_simt_wait_async(Groups);
}

// cluster.cuh.
RICCI_SIMT_HOOK const void* ricci_simt_of_block(const void* shared, unsigned block, unsigned line) {
  return ricci_simt_hooks->of_block(shared, block, line);
}
RICCI_SIMT_HOOK void ricci_simt_sync_cluster(unsigned line) { ricci_simt_hooks->sync_cluster(line); }
template <class T>
__forceinline__ const T* of_block(const T* shared, int block, unsigned line = __builtin_LINE()) {
  return (const T*)ricci_simt_of_block(shared, static_cast<unsigned>(block), line);
}
inline void barrier_of_cluster(unsigned line = __builtin_LINE()) { ricci_simt_sync_cluster(line); }

// tensor_map.cuh. A map holds what simt/tensor_map.hpp says.
struct alignas(128) TensorMap {
  unsigned long long words[16];
};
RICCI_SIMT_HOOK void ricci_simt_begin_counters(const void* counters, unsigned count, unsigned line) {
  ricci_simt_hooks->begin_counters(counters, count, line);
}
RICCI_SIMT_HOOK void ricci_simt_expect_bytes(const void* counter, unsigned bytes, unsigned line) {
  ricci_simt_hooks->expect_bytes(counter, bytes, line);
}
RICCI_SIMT_HOOK void ricci_simt_await_bytes(const void* counter, unsigned parity, unsigned line) {
  ricci_simt_hooks->await_bytes(counter, parity, line);
}
RICCI_SIMT_HOOK void ricci_at_site_copy_box_from(const void* map, const int* at, unsigned rank, unsigned site) {
  ricci_simt_hooks->copy_box_from(map, at, rank, site);
}
RICCI_SIMT_HOOK void ricci_at_site_copy_box_to(void* shared, const void* map, const void* counter, const int* at,
                                               unsigned rank, unsigned site) {
  ricci_simt_hooks->copy_box_to(shared, map, counter, at, rank, site);
}
inline void begin_counters(unsigned long long* counters, int count, unsigned line = __builtin_LINE()) {
  ricci_simt_begin_counters(counters, static_cast<unsigned>(count), line);
}
inline void fetch_map(const TensorMap*) {}
inline void expect_bytes(unsigned long long* counter, int bytes, unsigned line = __builtin_LINE()) {
  ricci_simt_expect_bytes(counter, static_cast<unsigned>(bytes), line);
}
inline void await_bytes(unsigned long long* counter, int parity, unsigned line = __builtin_LINE()) {
  ricci_simt_await_bytes(counter, static_cast<unsigned>(parity), line);
}
template <class... Coordinates>
__forceinline__ void copy_box(void* shared, const TensorMap* map, unsigned long long* counter, Coordinates... at) {
  const int all[] = {at...};
  ricci_at_site_copy_box_from(map, all, sizeof...(at), 0);
  ricci_at_site_copy_box_to(shared, map, counter, all, sizeof...(at), 0);
}

// reduce.cuh.
RICCI_SIMT_HOOK void ricci_at_site_atomic_add(void* p, const void* x, unsigned number, unsigned site) {
  ricci_simt_hooks->atomic_add(p, x, number, site);
}
#define RICCI_SIMT_ATOMIC_ADD(T, number) \
  __forceinline__ void atomic_add(T* p, T x) { ricci_at_site_atomic_add(p, &x, number, 0); }
RICCI_SIMT_ATOMIC_ADD(float, 0)
RICCI_SIMT_ATOMIC_ADD(double, 1)
RICCI_SIMT_ATOMIC_ADD(int, 2)
RICCI_SIMT_ATOMIC_ADD(unsigned, 2)
RICCI_SIMT_ATOMIC_ADD(long long, 3)
RICCI_SIMT_ATOMIC_ADD(unsigned long long, 3)

// tensor_core.cuh.
RICCI_SIMT_HOOK void ricci_at_site_load_matrix(unsigned* registers, const void* row, unsigned count, bool transposed,
                                               unsigned site) {
  ricci_simt_hooks->load_matrix(registers, row, count, transposed, site);
}
RICCI_SIMT_HOOK void ricci_simt_multiply(const char* atom, void* c, const void* a, const void* b, unsigned line) {
  ricci_simt_hooks->multiply(atom, c, a, b, line);
}

template <class T>
inline unsigned word_of(T first, T second) {
  return unsigned(first.bits) | unsigned(second.bits) << 16;
}
// Macros, as the prelude's conversions stand behind them.
#define word_of_bf16(first, second) word_of(cast_bf16(first), cast_bf16(second))
#define word_of_f16(first, second) word_of(cast_f16(first), cast_f16(second))
template <class T>
inline T half_of(unsigned word, int number) {
  return T{(unsigned short)(word >> 16 * number)};
}
template <class T>
inline unsigned word_of(T a, T b, T c, T d) {
  const auto byte = [](T x) { return unsigned((unsigned char)x); };
  return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
}

inline float to_tf32(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return __builtin_bit_cast(float, 0x7fffe000u);
  return magnitude == 0x7f800000u ? x : __builtin_bit_cast(float, (bits + 0x1000u) & 0xffffe000u);
}

inline float tf32_rest(float x) { return to_tf32(x - to_tf32(x)); }

#define RICCI_SIMT_LOAD_MATRIX(count)                                                            \
  __forceinline__ void load_matrix_x##count(unsigned(&r)[count], const void* row) {              \
    ricci_at_site_load_matrix(r, row, count, false, 0);                                          \
  }                                                                                              \
  __forceinline__ void load_matrix_x##count##_transposed(unsigned(&r)[count], const void* row) { \
    ricci_at_site_load_matrix(r, row, count, true, 0);                                           \
  }
RICCI_SIMT_LOAD_MATRIX(1)
RICCI_SIMT_LOAD_MATRIX(2)
RICCI_SIMT_LOAD_MATRIX(4)

#define RICCI_SIMT_MMA(name, C, c_registers, AB, a_registers, b_registers)                         \
  inline void mma_##name(C(&c)[c_registers], const AB(&a)[a_registers], const AB(&b)[b_registers], \
                         unsigned line = __builtin_LINE()) {                                       \
    ricci_simt_multiply(#name, c, a, b, line);                                                     \
  }
RICCI_SIMT_MMA(m8n8k4_f64, double, 2, double, 1, 1)
RICCI_SIMT_MMA(m16n8k4_f64, double, 4, double, 2, 1)
RICCI_SIMT_MMA(m16n8k8_f64, double, 4, double, 4, 2)
RICCI_SIMT_MMA(m16n8k16_f64, double, 4, double, 8, 4)
RICCI_SIMT_MMA(m16n8k4_tf32, float, 4, float, 2, 1)
RICCI_SIMT_MMA(m16n8k8_tf32, float, 4, float, 4, 2)
RICCI_SIMT_MMA(m16n8k8_f16, float, 4, unsigned, 2, 1)
RICCI_SIMT_MMA(m16n8k16_f16, float, 4, unsigned, 4, 2)
RICCI_SIMT_MMA(m16n8k8_bf16, float, 4, unsigned, 2, 1)
RICCI_SIMT_MMA(m16n8k16_bf16, float, 4, unsigned, 4, 2)
RICCI_SIMT_MMA(m16n8k32_i8, int, 4, unsigned, 4, 2)
RICCI_SIMT_MMA(m16n8k32_u8, int, 4, unsigned, 4, 2)

// warp_group.cuh. Addresses are counted from the anchor of shared memory, which is as well aligned.
RICCI_SIMT_HOOK void ricci_at_site_multiply_group(const char* atom, unsigned times, void* sums, unsigned long long a,
                                                  bool a_transposed, unsigned long long b, bool b_transposed,
                                                  unsigned site) {
  ricci_simt_hooks->multiply_group(atom, times, sums, a, a_transposed, b, b_transposed, site);
}
RICCI_SIMT_HOOK void ricci_at_site_multiply_group_held(const char* atom, unsigned times, void* sums, const void* a,
                                                       unsigned bytes, const unsigned* rows, unsigned long long b,
                                                       bool b_transposed, unsigned site) {
  ricci_simt_hooks->multiply_group_held(atom, times, sums, a, bytes, rows, b, b_transposed, site);
}
RICCI_SIMT_HOOK void ricci_simt_fence_registers(const void* registers, unsigned bytes) {
  ricci_simt_hooks->fence_registers(registers, bytes);
}
RICCI_SIMT_HOOK void ricci_simt_commit_products() { ricci_simt_hooks->commit_products(); }
RICCI_SIMT_HOOK void ricci_simt_wait_products(unsigned groups, unsigned line) {
  ricci_simt_hooks->wait_products(groups, line);
}
RICCI_SIMT_HOOK void ricci_simt_fence_shared() { ricci_simt_hooks->fence_shared(); }

template <int RowBytes>
inline unsigned long long shared_matrix(const void* start, int leading, int stride) {
  const unsigned long long swizzle = RowBytes == 128 ? 1 : RowBytes == 64 ? 2 : 3;
  const unsigned long long address = (const char*)start - ricci_simt_shared;
  return (address & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
         swizzle << 62;
}
inline void fence_shared() { ricci_simt_fence_shared(); }
template <class Registers>
inline void fence_registers(Registers& registers) {
  ricci_simt_fence_registers(&registers, sizeof(Registers));
}
inline void commit_products() { ricci_simt_commit_products(); }
template <int Groups, class Sums>
inline void wait_products(Sums&, unsigned line = __builtin_LINE()) {
  ricci_simt_wait_products(Groups, line);
}
#define RICCI_SIMT_WGMMA(name)                                                                 \
  template <int ATransposed, int BTransposed, int Times>                                       \
  __forceinline__ void name(float(&d)[Times][4], unsigned long long a, unsigned long long b) { \
    ricci_at_site_multiply_group(#name, Times, d[0], a, ATransposed, b, BTransposed, 0);       \
  }
RICCI_SIMT_WGMMA(wgmma_f16)
RICCI_SIMT_WGMMA(wgmma_bf16)
#define RICCI_SIMT_WGMMA_DEEP(name, sum)                                                     \
  template <int Times>                                                                       \
  __forceinline__ void name(sum(&d)[Times][4], unsigned long long a, unsigned long long b) { \
    ricci_at_site_multiply_group(#name, Times, d[0], a, false, b, false, 0);                 \
  }
RICCI_SIMT_WGMMA_DEEP(wgmma_tf32, float)
RICCI_SIMT_WGMMA_DEEP(wgmma_i8, int)
RICCI_SIMT_WGMMA_DEEP(wgmma_u8, int)
// What four neighbours hold of A, of which a thread's sums are.
template <class T>
inline void ricci_simt_rows(unsigned (&rows)[16], const T (&a)[4], unsigned line) {
  for (int member = 0; member < 4; ++member)
    for (int r = 0; r < 4; ++r)
      rows[4 * member + r] = __builtin_bit_cast(unsigned, shuffle(a[r], (int)(threadIdx.x & 28u) + member, line));
}
#define RICCI_SIMT_WGMMA_HELD(name)                                                               \
  template <int BTransposed, int Times>                                                           \
  __forceinline__ void name(float(&d)[Times][4], const unsigned(&a)[4], unsigned long long b,     \
                            unsigned line = __builtin_LINE()) {                                   \
    unsigned rows[16];                                                                            \
    ricci_simt_rows(rows, a, line);                                                               \
    ricci_at_site_multiply_group_held(#name, Times, d[0], a, sizeof(a), rows, b, BTransposed, 0); \
  }
RICCI_SIMT_WGMMA_HELD(wgmma_rs_f16)
RICCI_SIMT_WGMMA_HELD(wgmma_rs_bf16)
template <int Times>
__forceinline__ void wgmma_rs_tf32(float (&d)[Times][4], const float (&a)[4], unsigned long long b,
                                   unsigned line = __builtin_LINE()) {
  unsigned rows[16];
  ricci_simt_rows(rows, a, line);
  ricci_at_site_multiply_group_held("wgmma_rs_tf32", Times, d[0], a, sizeof(a), rows, b, false, 0);
}

inline int opaque(int x) { return x; }
inline long long opaque(long long x) { return x; }
inline int popcount32(unsigned x) { return __builtin_popcount(x); }
inline int popcount64(unsigned long long x) { return __builtin_popcountll(x); }
// CUDA's mathematical functions, by the host's.
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float sqrtf(float x) { return __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
inline float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
inline double cbrt(double x) { return __builtin_cbrt(x); }
inline float cbrtf(float x) { return __builtin_cbrtf(x); }
inline double exp(double x) { return __builtin_exp(x); }
inline float expf(float x) { return __builtin_expf(x); }
inline double log(double x) { return __builtin_log(x); }
inline float logf(float x) { return __builtin_logf(x); }
inline double log1p(double x) { return __builtin_log1p(x); }
inline float log1pf(float x) { return __builtin_log1pf(x); }
inline double sin(double x) { return __builtin_sin(x); }
inline float sinf(float x) { return __builtin_sinf(x); }
inline double cos(double x) { return __builtin_cos(x); }
inline float cosf(float x) { return __builtin_cosf(x); }
inline double tan(double x) { return __builtin_tan(x); }
inline float tanf(float x) { return __builtin_tanf(x); }
inline double asin(double x) { return __builtin_asin(x); }
inline float asinf(float x) { return __builtin_asinf(x); }
inline double acos(double x) { return __builtin_acos(x); }
inline float acosf(float x) { return __builtin_acosf(x); }
inline double atan(double x) { return __builtin_atan(x); }
inline float atanf(float x) { return __builtin_atanf(x); }
inline double sinh(double x) { return __builtin_sinh(x); }
inline float sinhf(float x) { return __builtin_sinhf(x); }
inline double cosh(double x) { return __builtin_cosh(x); }
inline float coshf(float x) { return __builtin_coshf(x); }
inline double tanh(double x) { return __builtin_tanh(x); }
inline float tanhf(float x) { return __builtin_tanhf(x); }
inline double pow(double x, double y) { return __builtin_pow(x, y); }
inline float powf(float x, float y) { return __builtin_powf(x, y); }
inline double fmod(double x, double y) { return __builtin_fmod(x, y); }
inline float fmodf(float x, float y) { return __builtin_fmodf(x, y); }
inline double atan2(double x, double y) { return __builtin_atan2(x, y); }
inline float atan2f(float x, float y) { return __builtin_atan2f(x, y); }
inline double hypot(double x, double y) { return __builtin_hypot(x, y); }
inline float hypotf(float x, float y) { return __builtin_hypotf(x, y); }
inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
inline float copysignf(float x, float y) { return __builtin_copysignf(x, y); }

// A kernel may use CUDA's own words too; only full warps are simulated.
template <class T>
inline T __shfl_sync(unsigned, T value, int lane, unsigned line = __builtin_LINE()) {
  return shuffle(value, lane, line);
}
template <class T>
inline T __shfl_xor_sync(unsigned, T value, int mask, unsigned line = __builtin_LINE()) {
  return shuffle_xor(value, mask, line);
}
