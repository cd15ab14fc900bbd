// What numbers are added and multiplied in: integers wrap, in unsigned types.
template <class T>
struct computed_in { typedef u32 type; };
template <> struct computed_in<i64> { typedef u64 type; };
template <> struct computed_in<u64> { typedef u64 type; };
template <> struct computed_in<float> { typedef float type; };
template <> struct computed_in<double> { typedef double type; };

template <class T>
inline T mul(T x, T y) { return (T)((typename computed_in<T>::type)x * (typename computed_in<T>::type)y); }
template <class T>
inline complex<T> mul(complex<T> x, complex<T> y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

template <class T>
inline T add(T x, T y) { return (T)((typename computed_in<T>::type)x + (typename computed_in<T>::type)y); }
template <class T>
inline complex<T> add(complex<T> x, complex<T> y) { return {x.re + y.re, x.im + y.im}; }

// sum + x * y, each part by two fused operations.
template <class T>
inline complex<T> add_product(complex<T> sum, complex<T> x, complex<T> y) {
  return {sum.re + x.re * y.re - x.im * y.im, sum.im + x.re * y.im + x.im * y.re};
}

template <class T>
inline complex<T> conj(complex<T> x) { return {x.re, -x.im}; }

template <class T>
inline bool is_zero(T x) { return x == 0; }
template <class T>
inline bool is_zero(complex<T> x) { return x.re == 0 && x.im == 0; }

// A BLAS factor: 0 * x is 0 even where x is NaN or infinite.
template <class T>
inline T scale(T factor, T x) { return is_zero(factor) ? T{} : mul(factor, x); }
