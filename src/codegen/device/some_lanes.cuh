// Lanes from `since` on and below `until`, no others: what is not read is 0.
struct SomeLanes {
  int since, until;
  inline __attribute__((always_inline)) SomeLanes(i64 first, i64 end, int lanes)
      : since(first < 0 ? 0 : first > lanes ? lanes : first), until(end < since ? since : end > lanes ? lanes : end) {}
  inline __attribute__((always_inline)) u32 mask() const { return (1u << until) - (1u << since); }
};
#if defined(__AVX512VL__) && defined(__AVX512BW__) && __has_builtin(__builtin_ia32_loadupd512_mask)
#define RICCI_MASKED 1
typedef double doubles512 __attribute__((vector_size(64)));
typedef double doubles256 __attribute__((vector_size(32)));
typedef float floats512 __attribute__((vector_size(64)));
typedef float floats256 __attribute__((vector_size(32)));
typedef short shorts256 __attribute__((vector_size(32)));
#endif
template <class V, class T>
inline __attribute__((always_inline)) V load_lanes(const T* from, i64 since, i64 until) {
  const SomeLanes lanes(since, until, sizeof(V) / sizeof(T));
#ifdef RICCI_MASKED
  if constexpr (sizeof(V) == 64 && sizeof(T) == 8)
    return (V)__builtin_ia32_loadupd512_mask((const double*)from, (doubles512)V{}, lanes.mask());
  if constexpr (sizeof(V) == 64 && sizeof(T) == 4)
    return (V)__builtin_ia32_loadups512_mask((const float*)from, (floats512)V{}, lanes.mask());
  if constexpr (sizeof(V) == 32 && sizeof(T) == 8)
    return (V)__builtin_ia32_loadupd256_mask((const doubles256*)from, (doubles256)V{}, lanes.mask());
  if constexpr (sizeof(V) == 32 && sizeof(T) == 4)
    return (V)__builtin_ia32_loadups256_mask((const floats256*)from, (floats256)V{}, lanes.mask());
  if constexpr (sizeof(V) == 32 && sizeof(T) == 2)
    return (V)__builtin_ia32_loaddquhi256_mask((const shorts256*)from, (shorts256)V{}, lanes.mask());
#endif
  V value = {};
  for (int lane = lanes.since; lane < lanes.until; ++lane)
    __builtin_memcpy((char*)&value + lane * sizeof(T), from + lane, sizeof(T));
  return value;
}
template <class V, class T>
inline __attribute__((always_inline)) void store_lanes(T* to, V value, i64 since, i64 until) {
  const SomeLanes lanes(since, until, sizeof(V) / sizeof(T));
#ifdef RICCI_MASKED
  if constexpr (sizeof(V) == 64 && sizeof(T) == 8)
    return __builtin_ia32_storeupd512_mask((double*)to, (doubles512)value, lanes.mask());
  if constexpr (sizeof(V) == 64 && sizeof(T) == 4)
    return __builtin_ia32_storeups512_mask((float*)to, (floats512)value, lanes.mask());
  if constexpr (sizeof(V) == 32 && sizeof(T) == 8)
    return __builtin_ia32_storeupd256_mask((doubles256*)to, (doubles256)value, lanes.mask());
  if constexpr (sizeof(V) == 32 && sizeof(T) == 4)
    return __builtin_ia32_storeups256_mask((floats256*)to, (floats256)value, lanes.mask());
  if constexpr (sizeof(V) == 32 && sizeof(T) == 2)
    return __builtin_ia32_storedquhi256_mask((shorts256*)to, (shorts256)value, lanes.mask());
#endif
  for (int lane = lanes.since; lane < lanes.until; ++lane)
    __builtin_memcpy(to + lane, (const char*)&value + lane * sizeof(T), sizeof(T));
}
