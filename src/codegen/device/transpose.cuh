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
// P vectors of T, of which R are used, transposed in log2 P rounds: pairs of vectors interleave pieces of 1, 2, 4, ...
// elements within 16 bytes, by one instruction each, and exchange larger ones. Pairs and rounds are spelt out, as loops
// would be unrolled too late for loads to stay in the order of the rows.
template <class T, int R, int Span, int Group, int I, class V, int P>
static inline __attribute__((always_inline)) void interleave(V (&rows)[P]) {
  constexpr int N = sizeof(V) / sizeof(T), L = sizeof(V) / sizeof(rows[0][0]), W = L / N;
  typedef typename __make_integer_seq<sequence, int, L>::type all;
  if constexpr ((I & Span) == 0 && I / Span * Span < R) {
    constexpr bool alone = (I | Span) / Span * Span >= R;
    const V a = rows[I], b = alone ? a : rows[I | Span];
    if constexpr (Span < Group || !alone) rows[I] = shuffled<N, W, Group, Span, 0>(a, b, all());
    rows[I | Span] = shuffled<N, W, Group, Span, 1>(a, b, all());
  }
}
// What is interleaved comes out by numbers whose bits are reversed.
constexpr int reversed(int i, int high) {
  for (int low = 1; low < high; low *= 2, high /= 2) {
    if (((i & low) != 0) != ((i & high) != 0)) i ^= low | high;
  }
  return i;
}
template <int From, int I, class V, int P>
static inline __attribute__((always_inline)) void swap(V (&rows)[P]) {
  if constexpr (I < From) {
    const V row = rows[I];
    rows[I] = rows[From];
    rows[From] = row;
  }
}
template <class T, int R, int Span, class V, int P, int... I>
static inline __attribute__((always_inline)) void rounds(V (&rows)[P], lanes_of<I...> all) {
  constexpr int N = sizeof(V) / sizeof(T), Fits = sizeof(T) < 16 ? 16 / sizeof(T) : 1, Group = N < Fits ? N : Fits;
  if constexpr (Span < P) {
    (interleave<T, R, Span, Group, I>(rows), ...);
    rounds<T, R, 2 * Span>(rows, all);
  } else {
    (swap<reversed(I, (Group < P ? Group : P) / 2), I>(rows), ...);
  }
}
template <class T, int R, class V, int P>
static inline __attribute__((always_inline)) void transpose(V (&rows)[P]) {
  rounds<T, R, 1>(rows, typename __make_integer_seq<sequence, int, P>::type());
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
