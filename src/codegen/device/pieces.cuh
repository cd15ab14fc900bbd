// Pieces of vectors.
template <int... I>
struct lane_numbers {};
template <class T, T... I>
struct sequence {
  typedef lane_numbers<I...> type;
};
template <int First, class V, int... I>
static inline __attribute__((always_inline)) auto neighbours(V a, V b, lane_numbers<I...>) {
  return __builtin_shufflevector(a, b, (First + I)...);
}
template <class V>
static inline __attribute__((always_inline)) auto join(V a, V b) {
  return neighbours<0>(a, b, typename __make_integer_seq<sequence, int, 2 * sizeof(V) / sizeof(a[0])>::type());
}
// C elements from element F on.
template <class T, int F, int C, class V>
static inline __attribute__((always_inline)) auto part_of(V v) {
  constexpr int W = sizeof(T) / sizeof(v[0]);
  return neighbours<F * W>(v, v, typename __make_integer_seq<sequence, int, C * W>::type());
}

// The first C lanes of a vector; what is not read is 0.
template <class V, int C, class T>
inline V load_part(const T* from) {
  V value = {};
  __builtin_memcpy(&value, from, C * sizeof(T));
  return value;
}
template <int C, class T, class V>
inline void store_part(T* to, V value) { __builtin_memcpy(to, &value, C * sizeof(T)); }
