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
template <int N, int W, int Group, int Span, class V, class All>
static inline __attribute__((always_inline)) void interleave(V& a, V& b, bool alone, All all) {
  const V x = a, y = alone ? a : b;
  if (Span < Group || !alone) a = shuffled<N, W, Group, Span, 0>(x, y, all);
  b = shuffled<N, W, Group, Span, 1>(x, y, all);
}
// What is interleaved comes out by numbers whose bits are reversed.
constexpr int reversed(int i, int high) {
  for (int low = 1; low < high; low *= 2, high /= 2) {
    if (((i & low) != 0) != ((i & high) != 0)) i ^= low | high;
  }
  return i;
}
// P vectors of T, of which R are used, transposed in log2 P rounds: pairs of vectors interleave pieces of 1, 2, 4, ...
// elements within 16 bytes, by one instruction each, and exchange larger ones. Pairs are spelt out, as loops would be
// unrolled too late for loads to stay in the order of the rows; by one function a round, as each takes its time to
// compile.
template <class T, int R, int Span, class V, int P, class All, int... I>
static inline __attribute__((always_inline)) void rounds(V (&rows)[P], All all, lanes_of<I...> numbers) {
  constexpr int N = sizeof(V) / sizeof(T), W = sizeof(T) / sizeof(rows[0][0]);
  constexpr int Fits = sizeof(T) < 16 ? 16 / sizeof(T) : 1, Group = N < Fits ? N : Fits;
  if constexpr (Span < P) {
    (((I & Span) == 0 && I / Span * Span < R
          ? interleave<N, W, Group, Span>(rows[I], rows[I | Span], (I | Span) / Span * Span >= R, all)
          : void()),
     ...);
    rounds<T, R, 2 * Span>(rows, all, numbers);
  } else {
    const V all_rows[P] = {rows[reversed(I, (Group < P ? Group : P) / 2)]...};
    ((rows[I] = all_rows[I]), ...);
  }
}
template <class T, int R, class V, int P>
static inline __attribute__((always_inline)) void transpose(V (&rows)[P]) {
  rounds<T, R, 1>(rows, typename __make_integer_seq<sequence, int, sizeof(V) / sizeof(rows[0][0])>::type(),
                  typename __make_integer_seq<sequence, int, P>::type());
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
