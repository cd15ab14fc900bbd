template <class T>
inline T sub(T x, T y) { return (T)((typename computed_in<T>::type)x - (typename computed_in<T>::type)y); }
template <class T>
inline complex<T> sub(complex<T> x, complex<T> y) { return {x.re - y.re, x.im - y.im}; }

template <class T>
inline T neg(T x) { return sub((T)0, x); }
inline float neg(float x) { return -x; }
inline double neg(double x) { return -x; }
template <class T>
inline complex<T> neg(complex<T> x) { return {-x.re, -x.im}; }

// Towards zero; x / 0 is 0, and the one quotient that overflows wraps.
template <class T>
inline T divide(T x, T y) { return y == 0 ? (T)0 : (T)-1 < (T)0 && y == (T)-1 ? neg(x) : (T)(x / y); }
inline float divide(float x, float y) { return x / y; }
inline double divide(double x, double y) { return x / y; }
template <class T>
inline complex<T> divide(complex<T> x, complex<T> y) {
  const complex<T> p = mul(x, conj(y));
  const T size = y.re * y.re + y.im * y.im;
  return {p.re / size, p.im / size};
}
template <class T>
inline T remainder_of(T x, T y) { return y == 0 || ((T)-1 < (T)0 && y == (T)-1) ? (T)0 : (T)(x % y); }

template <class T>
inline T minimum(T x, T y) { return y < x ? y : x; }
template <class T>
inline T maximum(T x, T y) { return x < y ? y : x; }
// Where x is no NaN, and either of two zeros will do.
template <class T>
inline T least(T x, T y) { return minimum(x, y); }
template <class T>
inline T greatest(T x, T y) { return maximum(x, y); }
#ifdef __CUDA_ARCH__
inline float least(float x, float y) { return fminf(x, y); }
inline float greatest(float x, float y) { return fmaxf(x, y); }
#endif
inline float power_of_two(float x) {
#ifdef __CUDA_ARCH__
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return __builtin_exp2f(x);
#endif
}
template <class T>
inline T absolute(T x) { return x < 0 ? neg(x) : x; }
inline float absolute(float x) { return __builtin_bit_cast(float, __builtin_bit_cast(u32, x) & 0x7fffffffu); }
inline double absolute(double x) { return __builtin_bit_cast(double, __builtin_bit_cast(u64, x) & 0x7fffffffffffffffull); }
template <class T>
inline T sign(T x) { return (T)((x > 0) - (x < 0)); }

// A binary32 rounded to its upper 19 bits: to nearest, halves away from zero.
inline float nearest_tf32(float x) {
  const u32 bits = __builtin_bit_cast(u32, x);
  return (bits & 0x7fffffffu) > 0x7f800000u ? x : __builtin_bit_cast(float, (bits + 0x1000u) & 0xffffe000u);
}
inline float nearest_tf32_rest(float x) { return nearest_tf32(x - nearest_tf32(x)); }

template <class T>
inline T shift_left(T x, T n) {
  return (u64)n >= 8 * sizeof(T) ? (T)0 : (T)((typename computed_in<T>::type)x << n);
}
template <class T>
inline T shift_right(T x, T n) { return (u64)n >= 8 * sizeof(T) ? (T)0 : (T)(x >> n); }

inline float infinity_f32() { return __builtin_bit_cast(float, 0x7f800000u); }
inline double infinity_f64() { return infinity_f32(); }
inline float nan_f32() { return __builtin_bit_cast(float, 0x7fc00000u); }
inline double nan_f64() { return nan_f32(); }
