// One access of a whole vector; V is T or vec<T, N>.
template <class V, class T>
inline V load(const T* p) { return *reinterpret_cast<const V*>(p); }
template <class V, class T>
inline void store(T* p, V v) { *reinterpret_cast<V*>(p) = v; }

// The value that another lane of the warp holds; every lane takes part.
template <class T>
inline T shuffle(T value, int lane) {
  if constexpr (sizeof(T) <= 4) {
    u32 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = __shfl_sync(0xffffffffu, bits, lane);
    __builtin_memcpy(&value, &bits, sizeof(T));
  } else {
    u32 bits[sizeof(T) / 4];
    __builtin_memcpy(bits, &value, sizeof(T));
    for (u32& word : bits) word = __shfl_sync(0xffffffffu, word, lane);
    __builtin_memcpy(&value, bits, sizeof(T));
  }
  return value;
}
template <class T>
inline T shuffle_xor(T value, int mask) { return shuffle(value, (int)((threadIdx.x & 31u) ^ (u32)mask)); }
