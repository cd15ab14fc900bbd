// Functions of N numbers at a time, of one as well: with the same bits in every place of a vector. Errors of up to
// three units in the last place, of exp and log of one; infinities, NaN and numbers below the normal ones have what C's
// functions give.
template <class T, int N>
struct lanes_of {
  typedef T type __attribute__((ext_vector_type(N)));
};
template <class T>
struct lanes_of<T, 1> {
  typedef T type;
};
template <class T>
struct bits_of;
template <>
struct bits_of<float> {
  typedef i32 type;
  static constexpr int mantissa = 23, bias = 127, terms = 7, log_terms = 4;
  static constexpr float round = 0x1.8p23f, log2_high = 0x1.63p-1f, log2_low = -2.12194440e-4f;
};
template <>
struct bits_of<double> {
  typedef i64 type;
  static constexpr int mantissa = 52, bias = 1023, terms = 13, log_terms = 7;
  static constexpr double round = 0x1.8p52, log2_high = 6.93147180369123816490e-01,
                          log2_low = 1.90821492927058770002e-10;
};
template <class T, int N>
struct Lanes {
  typedef bits_of<T> Bits;
  typedef typename lanes_of<T, N>::type V;
  typedef typename lanes_of<typename Bits::type, N>::type I;

  static inline __attribute__((always_inline)) V power_of_2(I n) {
    return __builtin_bit_cast(V, (I)((n + Bits::bias) << Bits::mantissa));
  }
  // e^x = 2^n (1 + rest), with |x - n log 2| of up to half of log 2.
  struct Parts {
    I n;
    V rest;
  };
  static inline __attribute__((always_inline)) Parts parts(V x) {
    constexpr double over_factorial[] = {
        1,         1,          1. / 2,      1. / 6,       1. / 24,       1. / 120,       1. / 720,
        1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800.};
    const V rounded = x * (T)1.4426950408889634 + (V)Bits::round;
    const V n = rounded - (V)Bits::round;
    const V r = x - n * Bits::log2_high - n * Bits::log2_low;
    V q = (V)(T)over_factorial[Bits::terms];
#pragma unroll
    for (int k = Bits::terms - 1; k >= 2; --k) q = q * r + (T)over_factorial[k];
    return {(I)(__builtin_bit_cast(I, rounded) - __builtin_bit_cast(I, (V)Bits::round)), r * r * q + r};
  }
  static inline __attribute__((always_inline)) V exp(V x) {
    constexpr T most = sizeof(T) == 8 ? 710 : 89, least = sizeof(T) == 8 ? -746 : -104;
    x = x > most ? (V)most : x;
    x = x < least ? (V)least : x;
    const Parts p = parts(x);
    const I half = p.n >> 1;
    return (p.rest + (T)1) * power_of_2(half) * power_of_2(p.n - half);
  }
  // log x = n log 2 + log m, with m between the square roots of a half and of 2. Of s = (m - 1) / (m + 1), log m is
  // 2 s (1 + s^2 / 3 + s^4 / 5 + ...), the last terms of which are those of FreeBSD's library, s_log.c.
  static inline __attribute__((always_inline)) V log(V x) {
    constexpr double wide[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                               2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                               1.479819860511658591e-01};
    constexpr double narrow[] = {0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841};
    constexpr T normal = sizeof(T) == 8 ? 0x1p-1022 : 0x1p-126, infinity = __builtin_inff(), nan = __builtin_nanf("");
    constexpr int up = sizeof(T) == 8 ? 54 : 25;
    const V scaled = x < normal ? x * (T)(1LL << up) : x;
    const I bits = __builtin_bit_cast(I, scaled);
    const I n = (bits - __builtin_bit_cast(I, (V)(T)0.70710678118654752)) >> Bits::mantissa;
    const V f = __builtin_bit_cast(V, (I)(bits - (n << Bits::mantissa))) - (T)1;
    const V s = f / (f + (T)2), z = s * s, half_square = (T)0.5 * f * f;
    V r = (V)(T)(sizeof(T) == 8 ? wide[6] : narrow[3]);
#pragma unroll
    for (int k = Bits::log_terms - 2; k >= 0; --k) r = r * z + (T)(sizeof(T) == 8 ? wide[k] : narrow[k & 3]);
    V count = __builtin_bit_cast(V, (I)(n + __builtin_bit_cast(I, (V)Bits::round))) - (V)Bits::round;
    count = x < normal ? count - (T)up : count;
    const V value = count * Bits::log2_high - ((half_square - (s * (half_square + z * r) + count * Bits::log2_low)) - f);
    const V outside = x == 0 ? (V)-infinity : x > 0 ? x : (V)nan;
    return x > 0 && x < infinity ? value : outside;
  }
  static inline __attribute__((always_inline)) V tanh(V x) {
    constexpr T most = sizeof(T) == 8 ? 20 : 10;
    V size = x < 0 ? -x : x;
    size = size > most ? (V)most : size;
    const Parts p = parts(size + size);
    const V power = power_of_2(p.n), less_1 = power * p.rest + (power - (T)1), value = less_1 / (less_1 + (T)2);
    return x == 0 ? x : x < 0 ? -value : value;
  }
};
