// Functions of N numbers at a time, of one as well: with the same bits in every place of a vector. Errors of up to
// three units in the last place, of exp and log of one; infinities, NaN, zeros and numbers below the normal ones have
// what C's functions give. Polynomials and constants of f64 are those of FreeBSD's library (k_sin.c, k_cos.c,
// e_rem_pio2.c, s_atan.c, e_asin.c, s_cbrt.c) where nothing else is said; f32 has most functions by way of f64.
template <class T, int N>
struct lanes_of {
  typedef T type __attribute__((ext_vector_type(N)));
};
template <class T>
struct lanes_of<T, 1> {
  typedef T type;
};
template <class T>
struct layout_of;
template <>
struct layout_of<float> {
  typedef i32 type;
  static constexpr int mantissa = 23, bias = 127, terms = 7, log_terms = 4;
  static constexpr float round = 0x1.8p23f, log2_high = 0x1.63p-1f, log2_low = -2.12194440e-4f;
};
template <>
struct layout_of<double> {
  typedef i64 type;
  static constexpr int mantissa = 52, bias = 1023, terms = 13, log_terms = 7;
  static constexpr double round = 0x1.8p52, log2_high = 6.93147180369123816490e-01,
                          log2_low = 1.90821492927058770002e-10;
};
template <class T, int N>
struct Lanes {
  typedef layout_of<T> Bits;
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
  // e^x / 2^less.
  static inline __attribute__((always_inline)) V scaled_exp(V x, int less) {
    constexpr T most = sizeof(T) == 8 ? 711 : 90, least = sizeof(T) == 8 ? -746 : -104;
    x = x > most ? (V)most : x;
    x = x < least ? (V)least : x;
    const Parts p = parts(x);
    const I half = p.n >> 1;
    return (p.rest + (T)1) * power_of_2(half) * power_of_2(p.n - half - less);
  }
  static inline __attribute__((always_inline)) V exp(V x) { return scaled_exp(x, 0); }
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

  // ---- by way of f64

  typedef Lanes<double, N> Wide;
  static inline __attribute__((always_inline)) typename Wide::V wide(V x) {
    if constexpr (N == 1) {
      return x;
    } else {
      return __builtin_convertvector(x, typename Wide::V);
    }
  }
  static inline __attribute__((always_inline)) V narrow(typename Wide::V x) {
    if constexpr (N == 1) {
      return (V)x;
    } else {
      return __builtin_convertvector(x, V);
    }
  }
  static constexpr bool by_f64 = sizeof(T) == 4;

  static inline __attribute__((always_inline)) V absolute(V x) {
    return __builtin_bit_cast(V, (I)(__builtin_bit_cast(I, x) & ~(__builtin_bit_cast(I, (V)(T)-0.0))));
  }
  static inline __attribute__((always_inline)) auto has_sign(V x) { return __builtin_bit_cast(I, x) < 0; }
  static inline __attribute__((always_inline)) V with_sign(V value, V of) {
    const I sign = __builtin_bit_cast(I, of) & __builtin_bit_cast(I, (V)(T)-0.0);
    return __builtin_bit_cast(V, (I)(__builtin_bit_cast(I, value) | sign));
  }

  // Sine and cosine of x = n pi / 2 + y + rest, and n, of up to a million for both.
  struct Turns {
    I n;
    V sine, cosine;
  };
  static constexpr T farthest = 1e6;
  static inline __attribute__((always_inline)) Turns turns(V x) {
    // Products with n are exact: the parts of pi / 2 have 33 bits each.
    constexpr double first = 1.57079632673412561417e+00, second = 6.07710050630396597660e-11,
                     third = 2.02226624871116645580e-21, last = 8.47842766036889956997e-32;
    const V rounded = x * (T)6.36619772367581382433e-01 + (V)Bits::round;
    const V n = rounded - (V)Bits::round;
    const V a = x - n * (T)first;
    const V w = n * (T)second, b = a - w, of_b = (a - b) - w;
    const V v = n * (T)third, c = b - v, of_c = (b - c) - v;
    const V tail = of_b + (of_c - n * (T)last);
    const V y = c + tail, rest = (c - y) + tail, z = y * y;
    const V s = (T)8.33333333332248946124e-03 +
                z * ((T)-1.98412698298579493134e-04 +
                     z * ((T)2.75573137070700676789e-06 +
                          z * ((T)-2.50507602534068634195e-08 + z * (T)1.58969099521155010221e-10)));
    const V cube = z * y, sine = y - ((z * ((T)0.5 * rest - cube * s) - rest) - cube * (T)-1.66666666666666324348e-01);
    const V k = z * ((T)4.16666666666666019037e-02 +
                     z * ((T)-1.38888888888741095749e-03 +
                          z * ((T)2.48015872894767294178e-05 +
                               z * ((T)-2.75573143513906633035e-07 +
                                    z * ((T)2.08757232129817482790e-09 + z * (T)-1.13596475577881948265e-11)))));
    const V half = (T)0.5 * z, less = (T)1 - half;
    return {__builtin_bit_cast(I, rounded), sine, less + ((((T)1 - less) - half) + (z * k - y * rest))};
  }
  static inline __attribute__((always_inline)) V sine_of(const Turns& at, int quarters) {
    const I n = at.n + quarters;
    const V value = (n & 1) != 0 ? at.cosine : at.sine;
    return (n & 2) != 0 ? -value : value;
  }
  // What lies beyond has a reduction of all its bits: one by one, as C's function has it.
  template <class One>
  static inline __attribute__((always_inline)) V or_far(V x, V near, One one) {
    if constexpr (N == 1) {
      return x > farthest || x < -farthest ? one(x) : near;
    } else {
      const auto far = (x > farthest) | (x < -farthest);
      if (__builtin_expect(__builtin_reduce_or(far) != 0, 0)) {
        for (int k = 0; k < N; ++k) {
          if (far[k] != 0) near[k] = one(x[k]);
        }
      }
      return near;
    }
  }
  static inline __attribute__((always_inline)) V sin(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::sin(wide(x)));
    } else {
      const V value = x == 0 ? x : sine_of(turns(x), 0);
      return or_far(x, value, [](T far) { return __builtin_sin(far); });
    }
  }
  static inline __attribute__((always_inline)) V cos(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::cos(wide(x)));
    } else {
      return or_far(x, sine_of(turns(x), 1), [](T far) { return __builtin_cos(far); });
    }
  }
  static inline __attribute__((always_inline)) V tan(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::tan(wide(x)));
    } else {
      const Turns at = turns(x);
      const V value = x == 0 ? x : sine_of(at, 0) / sine_of(at, 1);
      return or_far(x, value, [](T far) { return __builtin_tan(far); });
    }
  }

  static inline __attribute__((always_inline)) V sinh(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::sinh(wide(x)));
    } else {
      constexpr T most = 22;  // beyond which e^-x is nothing beside e^x
      const V size = absolute(x);
      const Parts p = parts(size > most ? (V)most : size);
      const V power = power_of_2(p.n), less_1 = power * p.rest + (power - (T)1);
      const V value = size > most ? scaled_exp(size, 1) : (T)0.5 * (less_1 + less_1 / (less_1 + (T)1));
      return x == x ? with_sign(value, x) : x;
    }
  }
  static inline __attribute__((always_inline)) V cosh(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::cosh(wide(x)));
    } else {
      const V half = scaled_exp(absolute(x), 1);
      return half + (T)0.25 / half;
    }
  }

  static inline __attribute__((always_inline)) V atan(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::atan(wide(x)));
    } else {
      const V size = absolute(x);
      // atan of size is that of a quotient from 0, a half, 1, 1.5 or infinity on.
      V over = (V)(T)-1, under = size, high = (V)(T)1.57079632679489655800e+00, low = (V)(T)6.12323399573676603587e-17;
      const auto below = [&](T most, V o, V u, T h, T l) __attribute__((always_inline)) {
        over = size < most ? o : over;
        under = size < most ? u : under;
        high = size < most ? (V)h : high;
        low = size < most ? (V)l : low;
      };
      below(2.4375, size - (T)1.5, (T)1 + (T)1.5 * size, 9.82793723247329054082e-01, 1.39033110312309984516e-17);
      below(1.1875, size - (T)1, size + (T)1, 7.85398163397448278999e-01, 3.06161699786838301793e-17);
      below(0.6875, (T)2 * size - (T)1, size + (T)2, 4.63647609000806093515e-01, 2.26987774529616870924e-17);
      below(0.4375, size, (V)(T)1, 0, 0);
      const V t = over / under, z = t * t, w = z * z;
      const V odd = z * ((T)3.33333333333329318027e-01 +
                         w * ((T)1.42857142725034663711e-01 +
                              w * ((T)9.09088713343650656196e-02 +
                                   w * ((T)6.66107313738753120669e-02 +
                                        w * ((T)4.97687799461593236017e-02 + w * (T)1.62858201153657823623e-02)))));
      const V even = w * ((T)-1.99999999998764832476e-01 +
                          w * ((T)-1.11111104054623557880e-01 +
                               w * ((T)-7.69187620504482999495e-02 +
                                    w * ((T)-5.83357013379057348645e-02 + w * (T)-3.65315727442169155270e-02))));
      const V value = high - ((t * (odd + even) - low) - t);
      return x == 0 ? x : with_sign(value, x);
    }
  }
  static inline __attribute__((always_inline)) V atan2(V y, V x) {
    if constexpr (by_f64) {
      return narrow(Wide::atan2(wide(y), wide(x)));
    } else {
      const V over = absolute(y), under = absolute(x);
      constexpr T infinity = __builtin_inff();
      V ratio = over / under;
      ratio = over == 0 ? (x == x ? (V)(T)0 : x) : ratio;
      ratio = ((over == infinity) & (under == infinity)) ? (V)(T)1 : ratio;
      const V angle = atan(ratio);
      const V left = (T)3.1415926535897931160e+00 - (angle - (T)1.2246467991473531772e-16);
      return with_sign(has_sign(x) ? left : angle, y);
    }
  }
  // asin of x is x + x r of x^2, and by the half angle pi / 2 - 2 (s + s r) of s^2 = (1 - |x|) / 2.
  struct Arc {
    V z, r;
  };
  static inline __attribute__((always_inline)) Arc arc(V x, V size) {
    const V z = size < (T)0.5 ? x * x : ((T)1 - size) * (T)0.5;
    const V p = z * ((T)1.66666666666666657415e-01 +
                     z * ((T)-3.25565818622400915405e-01 +
                          z * ((T)2.01212532134862925881e-01 +
                               z * ((T)-4.00555345006794114027e-02 +
                                    z * ((T)7.91534994289814532176e-04 + z * (T)3.47933107596021167570e-05)))));
    const V q = (T)1 + z * ((T)-2.40339491173441421878e+00 +
                            z * ((T)2.02094576023350569471e+00 +
                                 z * ((T)-6.88283971605453293030e-01 + z * (T)7.70381505559019352791e-02)));
    return {z, p / q};
  }
  static constexpr T quarter_turn = 1.57079632679489655800e+00, of_quarter = 6.12323399573676603587e-17;
  static inline __attribute__((always_inline)) V asin(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::asin(wide(x)));
    } else {
      const V size = absolute(x);
      const Arc a = arc(x, size);
      const V s = root(a.z), far = quarter_turn - ((T)2 * (s + s * a.r) - of_quarter);
      return x == x ? with_sign(size < (T)0.5 ? size + size * a.r : far, x) : x;
    }
  }
  static inline __attribute__((always_inline)) V acos(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::acos(wide(x)));
    } else {
      const V size = absolute(x);
      const Arc a = arc(x, size);
      const V s = root(a.z), near = quarter_turn - (x - (of_quarter - x * a.r));
      const V far = (T)2 * (s + s * a.r), left = (T)2 * (quarter_turn - (s + (s * a.r - of_quarter)));
      return size < (T)0.5 ? near : x < 0 ? left : far;
    }
  }
  static inline __attribute__((always_inline)) V root(V x) {
    if constexpr (N == 1) {
      return __builtin_sqrt(x);
    } else {
      return __builtin_elementwise_sqrt(x);
    }
  }

  static inline __attribute__((always_inline)) V cbrt(V x) {
    if constexpr (by_f64) {
      return narrow(Wide::cbrt(wide(x)));
    } else {
      constexpr T infinity = __builtin_inff();
      const V size = absolute(x), scaled = size < (T)0x1p-1022 ? size * (T)0x1p54 : size;
      // The upper word's third, to 5 bits, then 23, then all.
      const I word = __builtin_bit_cast(I, scaled) >> 32, zero = __builtin_bit_cast(I, (V)Bits::round);
      const V third = (__builtin_bit_cast(V, (I)(word + zero)) - (V)Bits::round) * (T)(1. / 3) + (T)715094163;
      V t = __builtin_bit_cast(V, (I)((__builtin_bit_cast(I, (V)(third + (V)Bits::round)) - zero) << 32));
      V r = (t * t) * (t / scaled);
      t = t * (((T)1.87595182427177009643 + r * ((T)-1.88497979543377169875 + r * (T)1.621429720105354466140)) +
               ((r * r) * r) * ((T)-0.758397934778766047437 + r * (T)0.145996192886612446982));
      t = __builtin_bit_cast(V, (I)((__builtin_bit_cast(I, t) + 0x80000000LL) & ~0x3fffffffLL));
      r = scaled / (t * t);
      t = t + t * ((r - t) / (t + t + r));
      t = size < (T)0x1p-1022 ? t * (T)0x1p-18 : t;
      return ((x != 0) & (size < infinity)) ? with_sign(t, x) : x;
    }
  }
  static inline __attribute__((always_inline)) V hypot(V x, V y) {
    if constexpr (by_f64) {
      return narrow(Wide::hypot(wide(x), wide(y)));
    } else {
      constexpr T infinity = __builtin_inff();
      x = absolute(x);
      y = absolute(y);
      const V most = x < y ? y : x;
      const auto large = most > (T)0x1p500, small = most < (T)0x1p-450;
      const V by = large ? (V)(T)0x1p-600 : small ? (V)(T)0x1p600 : (V)(T)1;
      const V back = large ? (V)(T)0x1p600 : small ? (V)(T)0x1p-600 : (V)(T)1;
      const V a = x * by, b = y * by, value = root(a * a + b * b) * back;
      return ((x == infinity) | (y == infinity)) ? (V)infinity : value;
    }
  }

  // log x and what its rounding leaves of it: of s = (m - 1) / (m + 1) by 2 s + s^3 (2 / 3 + 2 s^2 / 5 + ...), the
  // first two terms in two numbers each.
  struct Sum {
    V high, low;
  };
  static inline __attribute__((always_inline)) V fused(V x, V y, V z) {
    if constexpr (N == 1) {
      return __builtin_fma(x, y, z);
    } else {
      return __builtin_elementwise_fma(x, y, z);
    }
  }
  static inline __attribute__((always_inline)) Sum log_in_two(V x) {
    const V scaled = x < (T)0x1p-1022 ? x * (T)0x1p54 : x;
    const I bits = __builtin_bit_cast(I, scaled);
    const I n = (bits - __builtin_bit_cast(I, (V)(T)0.70710678118654752)) >> Bits::mantissa;
    V count = __builtin_bit_cast(V, (I)(n + __builtin_bit_cast(I, (V)Bits::round))) - (V)Bits::round;
    count = x < (T)0x1p-1022 ? count - (T)54 : count;
    const V f = __builtin_bit_cast(V, (I)(bits - (n << Bits::mantissa))) - (T)1;
    const V d = f + (T)2, of_d = f - (d - (T)2);
    const V s = f / d, of_s = (fused(-s, d, f) - s * of_d) / d;
    const V z = s * s, of_z = fused(s, s, -z) + (s + s) * of_s;
    V q = (V)(T)(2. / 25);
#pragma unroll
    for (int k = 23; k >= 5; k -= 2) q = q * z + (T)(2. / k);
    constexpr double third = 2. / 3, of_third = 3.700743415417188e-17;
    const V u = third * z, of_u = fused((V)(T)third, z, -u) + ((T)third * of_z + (T)of_third * z);
    const V more = z * z * q, w = u + more, of_w = ((u - w) + more) + of_u;
    const V p = s * w, of_p = fused(s, w, -p) + (s * of_w + of_s * w);
    const V twice = s + s, r = twice + p, of_r = ((twice - r) + p) + ((of_s + of_s) + of_p);
    const V whole = count * (T)Bits::log2_high, high = whole + r;
    const V low = ((whole - high) + r) + (of_r + count * (T)Bits::log2_low), sum = high + low;
    return {sum, (high - sum) + low};
  }
  static inline __attribute__((always_inline)) V whole_part(V x) {
    if constexpr (N == 1) {
      return __builtin_trunc(x);
    } else {
      return __builtin_elementwise_trunc(x);
    }
  }
  static inline __attribute__((always_inline)) V pow(V x, V y) {
    if constexpr (by_f64) {
      return narrow(Wide::power(wide(x), wide(y), [](typename Wide::V size) __attribute__((always_inline)) {
        return typename Wide::Sum{Wide::log(size), (typename Wide::V)0.0};
      }));
    } else {
      return power(x, y, [](V size) __attribute__((always_inline)) {
        constexpr T infinity = __builtin_inff();
        const Sum sum = log_in_two(size);
        const auto inside = (size > 0) & (size < infinity);
        return Sum{inside ? sum.high : log(size), inside ? sum.low : (V)(T)0};
      });
    }
  }
  template <class Log>
  static inline __attribute__((always_inline)) V power(V x, V y, Log log_of) {
    constexpr T infinity = __builtin_inff(), nan = __builtin_nanf("");
    const V size = absolute(x);
    const Sum l = log_of(size);
    const V high = y * l.high, low = fused(y, l.high, -high) + y * l.low;
    const V first = exp(high);
    V value = ((high < (T)800) & (high > (T)-800)) ? first + first * low : first;
    value = high == high ? value : high;
    value = ((size == 1) & (absolute(y) == infinity)) ? (V)(T)1 : value;
    const V half = y * (T)0.5;
    const auto whole = whole_part(y) == y;
    const auto odd = whole & (whole_part(half) != half);
    value = (has_sign(x) & odd) ? -value : value;
    value = ((x < 0) & (x > -infinity) & ~whole) ? (V)nan : value;
    return ((x == 1) | (y == 0)) ? (V)(T)1 : value;
  }
};
