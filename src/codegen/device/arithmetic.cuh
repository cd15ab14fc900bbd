// Integers wrap: their products and sums are formed in unsigned types.
template <class T>
struct unsigned_of { typedef u32 type; };
template <> struct unsigned_of<i64> { typedef u64 type; };
template <> struct unsigned_of<u64> { typedef u64 type; };

template <class T>
inline T mul(T x, T y) { return (T)((typename unsigned_of<T>::type)x * (typename unsigned_of<T>::type)y); }
inline float mul(float x, float y) { return x * y; }
inline double mul(double x, double y) { return x * y; }
inline c64 mul(c64 x, c64 y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
inline c128 mul(c128 x, c128 y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

template <class T>
inline T add(T x, T y) { return (T)((typename unsigned_of<T>::type)x + (typename unsigned_of<T>::type)y); }
inline float add(float x, float y) { return x + y; }
inline double add(double x, double y) { return x + y; }
inline c64 add(c64 x, c64 y) { return {x.re + y.re, x.im + y.im}; }
inline c128 add(c128 x, c128 y) { return {x.re + y.re, x.im + y.im}; }

inline c64 conj(c64 x) { return {x.re, -x.im}; }
inline c128 conj(c128 x) { return {x.re, -x.im}; }

template <class T>
inline bool is_zero(T x) { return x == 0; }
inline bool is_zero(c64 x) { return x.re == 0 && x.im == 0; }
inline bool is_zero(c128 x) { return x.re == 0 && x.im == 0; }

// A BLAS factor: 0 * x is 0 even where x is NaN or infinite.
template <class T>
inline T scale(T factor, T x) { return is_zero(factor) ? T{} : mul(factor, x); }
