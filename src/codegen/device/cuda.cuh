// One access of a whole vector; V is T or vec<T, N>.
template <class V, class T>
inline V load(const T* p) { return *reinterpret_cast<const V*>(p); }
template <class V, class T>
inline void store(T* p, V v) { *reinterpret_cast<V*>(p) = v; }
// The same where nothing reads it soon: of the lines of the second cache it is the first to go.
template <class V, class T>
inline void store_nontemporal(T* p, V v) {
  if constexpr (sizeof(V) == 16) __stcs((float4*)p, __builtin_bit_cast(float4, v));
  if constexpr (sizeof(V) == 8) __stcs((float2*)p, __builtin_bit_cast(float2, v));
  if constexpr (sizeof(V) == 4) __stcs((u32*)p, __builtin_bit_cast(u32, v));
}
// The same of one element of 16 bytes, which would be two accesses otherwise.
template <class T>
inline T load_whole(const T* p) { return load<vec<T, 1>>(p).at[0]; }
template <class T>
inline void store_whole(T* p, T v) { store(p, vec<T, 1>{{v}}); }
// Elements of shared memory by one instruction, which is said: NVRTC takes a vector for an access of each element, and
// joins them again for a quarter of the time of its optimiser where a kernel reads many.
inline void read_shared(f32 (&to)[2], u32 from) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "r"(from) : "memory");
}
inline void read_shared(f32 (&to)[4], u32 from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]) : "r"(from) : "memory");
}
// From the element `at` of an array on, by its address in 32 bits.
template <class V, class T>
inline V load_shared(const T* array, int at) {
  V v;
  read_shared(v.at, (u32)__cvta_generic_to_shared(array) + (u32)sizeof(T) * (u32)at);
  return v;
}

// The value of another lane of the warp; all lanes must call it.
template <class T>
inline T shuffle(T value, int lane) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  union {
    u32 word[kWords];
    T value;
  } held = {};
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

// A binary32 rounded to the upper 19 bits, which tensor cores read of it: to nearest, halves away from zero.
inline f32 to_tf32(f32 x) {
  u32 bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __builtin_bit_cast(f32, bits & 0xffffe000u);
}
inline f32 tf32_rest(f32 x) { return to_tf32(x - to_tf32(x)); }

inline int popcount32(u32 x) { return __popc((int)x); }
inline int popcount64(u64 x) { return __popcll((long long)x); }

// The same number, of which compilers know nothing. Where quotients are taken of a loop's rounds, NVRTC 13.0 computes
// with 16 bits and moves constants out of what wraps around: 32 * ((round + 4) % 3) - 32 became 65504 in place of -32.
inline int opaque(int x) {
  asm("" : "+r"(x));
  return x;
}
inline i64 opaque(i64 x) {
  asm("" : "+l"(x));
  return x;
}
