// P vectors of T, of which R are used, transposed in log2 P rounds: pairs of vectors interleave pieces of 1, 2, 4, ...
// elements within 16 bytes, by one instruction each, and exchange larger ones.
template <int... I>
struct lanes_of {};
template <class T, T... I>
struct sequence {
  typedef lanes_of<I...> type;
};
constexpr int place_of(int j, int n, int group, int span, int high) {
  return span < group
             ? j - j % group + j % group / span / 2 * span + j % span + j % group / span % 2 * n + high * group / 2
             : (j & ~span) + ((j & span) != 0 ? n : 0) + high * span;
}
template <int N, int W, int Group, int Span, int High, class V, int... I>
static inline __attribute__((always_inline)) V shuffled(V a, V b, lanes_of<I...>) {
  return __builtin_shufflevector(a, b, (W * place_of(I / W, N, Group, Span, High) + I % W)...);
}
template <class T, int R, int Span = 1, class V, int P>
static inline __attribute__((always_inline)) void transpose(V (&rows)[P]) {
  constexpr int N = sizeof(V) / sizeof(T), L = sizeof(V) / sizeof(rows[0][0]), W = L / N;
  constexpr int Fits = sizeof(T) < 16 ? 16 / sizeof(T) : 1, Group = N < Fits ? N : Fits;
  if constexpr (Span < P) {
    typedef typename __make_integer_seq<sequence, int, L>::type all;
#pragma unroll
    for (int i = 0; i < P; ++i) {
      if ((i & Span) != 0 || i / Span * Span >= R) continue;
      const bool alone = (i | Span) / Span * Span >= R;
      const V a = rows[i], b = alone ? a : rows[i | Span];
      if (Span < Group || !alone) rows[i] = shuffled<N, W, Group, Span, 0>(a, b, all());
      rows[i | Span] = shuffled<N, W, Group, Span, 1>(a, b, all());
    }
    transpose<T, R, 2 * Span>(rows);
  } else {
// What is interleaved comes out by numbers whose bits are reversed.
#pragma unroll
    for (int i = 0; i < P; ++i) {
      int from = i;
      for (int low = 1, high = (Group < P ? Group : P) / 2; low < high; low *= 2, high /= 2) {
        if (((i & low) != 0) != ((i & high) != 0)) from ^= low | high;
      }
      if (i >= from) continue;
      const V row = rows[i];
      rows[i] = rows[from];
      rows[from] = row;
    }
  }
}

template <class V, int... I>
static inline __attribute__((always_inline)) auto join(V a, V b, lanes_of<I...>) {
  return __builtin_shufflevector(a, b, I...);
}
template <class V>
static inline __attribute__((always_inline)) auto join(V a, V b) {
  return join(a, b, typename __make_integer_seq<sequence, int, 2 * sizeof(V) / sizeof(a[0])>::type());
}

// C elements from element F on.
template <int First, class V, int... I>
static inline __attribute__((always_inline)) auto part_of(V v, lanes_of<I...>) {
  return __builtin_shufflevector(v, v, (First + I)...);
}
template <class T, int F, int C, class V>
static inline __attribute__((always_inline)) auto part_of(V v) {
  constexpr int W = sizeof(T) / sizeof(v[0]);
  return part_of<F * W>(v, typename __make_integer_seq<sequence, int, C * W>::type());
}
