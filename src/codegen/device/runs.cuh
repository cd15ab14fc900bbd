// Runs of neighbours on a CPU. Loops over elements would be unrolled before they are vectorised, and stay scalar.
template <int N, class T>
static inline __attribute__((always_inline)) void copy_run(T* to, const T* from) {
  constexpr i64 bytes = N * sizeof(T), lines = bytes > 256 ? bytes / 64 * 64 : 0;
  for (i64 i = 0; i < lines; i += 64) __builtin_memcpy_inline((char*)to + i, (const char*)from + i, 64);
  if constexpr (bytes > lines) __builtin_memcpy_inline((char*)to + lines, (const char*)from + lines, bytes - lines);
}

// By ordinary stores that do not cross lines, but for the ends.
template <int N, class T>
static inline __attribute__((always_inline)) void write_lines(T* to, const T* from) {
  constexpr i64 bytes = N * sizeof(T);
  if constexpr (bytes <= 128) {
    __builtin_memcpy_inline(to, from, bytes);
  } else {
    __builtin_memcpy_inline(to, from, 64);
#pragma clang loop unroll_count(4)
    for (i64 at = 64 - (i64)((u64)to % 64); at + 64 <= bytes; at += 64) {
      __builtin_memcpy_inline((char*)to + at, (const char*)from + at, 64);
    }
    __builtin_memcpy_inline((char*)to + bytes - 64, (const char*)from + bytes - 64, 64);
  }
}

template <int N, class T>
static inline __attribute__((always_inline)) void write_powers(T* to, const T* from, i64 count) {
  if (count & N) __builtin_memcpy(to, from, N * sizeof(T)), to += N, from += N;
  if constexpr (N > 1) write_powers<N / 2>(to, from, count);
}

// Part of a line; where vectors are lines, of which a whole one is read, by a masked store. Masks over bytes are
// several times slower on some processors, so that words are what elements are made of.
template <class V, class T>
static inline __attribute__((always_inline)) void write_part(T* to, const T* from, i64 count) {
#ifdef __AVX512BW__
  if constexpr (sizeof(V) == 64) {
    typedef char bytes __attribute__((vector_size(64)));
    typedef short shorts __attribute__((vector_size(64)));
    typedef int ints __attribute__((vector_size(64)));
    typedef long long longs __attribute__((vector_size(64)));
    typedef longs longs_in_memory __attribute__((aligned(1), may_alias));
    const longs line = *(const longs_in_memory*)from;
    constexpr int size = sizeof(T) > 8 ? 8 : sizeof(T), words = 64 / size;
    if (count <= 0) return;
    const u64 left = words - sizeof(T) / size * count;
    if constexpr (size == 1) __builtin_ia32_storedquqi512_mask((bytes*)to, (bytes)line, ~0ull >> left);
    if constexpr (size == 2) __builtin_ia32_storedquhi512_mask((shorts*)to, (shorts)line, ~0u >> left);
    if constexpr (size == 4) __builtin_ia32_storedqusi512_mask((int*)to, (ints)line, (u16)(0xffffu >> left));
    if constexpr (size == 8) __builtin_ia32_storedqudi512_mask((long long*)to, (longs)line, (u8)(0xffu >> left));
    return;
  }
#endif
  write_powers<64 / sizeof(T) / 2>(to, from, count);
}

// A whole line, of which the first n elements wait, as the task before left them.
template <class V, class T>
static inline __attribute__((always_inline)) void complete(T* to, const T* from, const T* waiting, i64 n) {
  typedef V in_memory __attribute__((aligned(sizeof(T)), may_alias));
  constexpr int lanes = sizeof(V) / sizeof(V{}[0]), of_element = sizeof(T) / sizeof(V{}[0]),
                vector = lanes / of_element;
  typedef decltype(V{} < V{}) numbers;
  numbers number;
#pragma unroll
  for (int k = 0; k < lanes; ++k) number[k] = k;
#pragma unroll
  for (int v = 0; v < 64 / (int)sizeof(T); v += vector) {
    const V held = *(const V*)(waiting + v), more = *(const in_memory*)(from + v);
    __builtin_nontemporal_store(number < (numbers)(of_element * (n - v)) ? held : more, (V*)(to + v));
  }
}

struct NoneAhead {
  template <int Lines>
  void prefetch() {}
};
struct NoneBeside {
  void two_lines() {}
};

// By nontemporal stores of whole lines, while at least `Lines` lines are prefetched; parts of lines at the ends by
// ordinary ones, unless an earlier task has begun such a line (waiting), or a later one goes on with it.
template <class V, int Lines, class T, class Ahead, class Beside>
static inline __attribute__((always_inline)) void write_run(T* to, const T* from, i64 count, Ahead&& ahead,
                                                            Beside&& beside, T* waiting = nullptr, bool begun = false,
                                                            bool goes_on = false) {
  typedef V in_memory __attribute__((aligned(sizeof(T)), may_alias));
  constexpr i64 line = 64 / sizeof(T), vector = sizeof(V) / sizeof(T);
  if constexpr (sizeof(T) >= 8) {
    // Complex numbers may be aligned to half their size: then no line begins with one.
    if ((u64)to % sizeof(T) != 0) {
      for (i64 i = 0; i < count; ++i) to[i] = from[i];
      return;
    }
  }
  i64 i = 0;
  if ((u64)to % 64 != 0) {
    const i64 room = line - (u64)to % 64 / sizeof(T);
    i = room < count ? room : count;
    if (begun) {
      complete<V>(to - (line - room), from - (line - room), waiting, line - room);
    } else {
      write_part<V>(to, from, i);
    }
  }
  const i64 before = i;
#pragma clang loop unroll(disable)
  for (; i + 2 * line <= count; i += 2 * line) {
#pragma unroll
    for (i64 n = 0; n < 2 * line; n += vector) {
      __builtin_nontemporal_store(*(const in_memory*)(from + i + n), (V*)(to + i + n));
    }
    ahead.template prefetch<2>();
    beside.two_lines();
  }
  if (i + line <= count) {
#pragma unroll
    for (i64 n = 0; n < line; n += vector) {
      __builtin_nontemporal_store(*(const in_memory*)(from + i + n), (V*)(to + i + n));
    }
    ahead.template prefetch<1>();
    i += line;
  }
  if (i < count && goes_on) {
    __builtin_memcpy_inline(waiting, from + i, 64);
  } else if (i < count) {
    write_part<V>(to + i, from + i, count - i);
  }
  for (i64 lines = (i - before) / line; lines < Lines; ++lines) ahead.template prefetch<1>();
}

// Storing part of a line reads the line first.
template <class T>
static inline __attribute__((always_inline)) void prefetch_ends(const T* run, i64 count) {
  if ((u64)run % 64 != 0) __builtin_prefetch(run, 1, 3);
  if ((u64)(run + count) % 64 != 0) __builtin_prefetch(run + count - 1, 1, 3);
}

// Rows of `Bytes` bytes that later tasks read, prefetched line by line; or those of this task's rounds, from the second
// on, and then of the first one of the next task.
static const int one_round[] = {0};
template <const auto& Rows, int Bytes, class T, const auto& Rounds = one_round>
struct RowsAhead {
  static constexpr u64 rows = sizeof(Rows) / sizeof(Rows[0]), rounds = sizeof(Rounds) / sizeof(Rounds[0]);
  const T *from, *next;
  u64 round = rounds > 1 ? 1 : 0, row = 0, at = 0, end = 0;
  RowsAhead(const T* from, const T* next = nullptr) : from(from), next(next) {}
  template <int Lines>
  inline __attribute__((always_inline)) void prefetch() {
#pragma unroll
    for (int n = 0; n < Lines; ++n) {
      if (at >= end) {
        if (row == rows) {
          if (round % rounds == 0) return;
          ++round, row = 0;
        }
        const u64 first = (u64)((round < rounds ? from + Rounds[round] : next) + Rows[row++]);
        at = first & -64, end = first + Bytes;
      }
      __builtin_prefetch((const void*)at, 0, 2);
      at += 64;
    }
  }
};
