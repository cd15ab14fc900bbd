template <class T>
inline float cast_f32(T x) { return (float)x; }
inline float cast_f32(f16 x) { return widen(x); }
inline float cast_f32(bf16 x) { return widen(x); }

template <class T>
inline double cast_f64(T x) { return (double)x; }
inline double cast_f64(f16 x) { return widen(x); }
inline double cast_f64(bf16 x) { return widen(x); }

inline f16 cast_f16(double x) { return narrow_f16(round_to_odd(x)); }
inline f16 cast_f16(float x) { return narrow_f16(x); }
inline f16 cast_f16(bf16 x) { return narrow_f16(widen(x)); }

inline bf16 cast_bf16(double x) { return narrow_bf16(round_to_odd(x)); }
inline bf16 cast_bf16(float x) { return narrow_bf16(x); }
inline bf16 cast_bf16(f16 x) { return narrow_bf16(widen(x)); }

inline c64 cast_c64(c64 x) { return x; }
inline c64 cast_c64(c128 x) { return {(float)x.re, (float)x.im}; }
template <class T>
inline c64 cast_c64(T x) { return {cast_f32(x), 0.0f}; }

inline c128 cast_c128(c128 x) { return x; }
inline c128 cast_c128(c64 x) { return {x.re, x.im}; }
template <class T>
inline c128 cast_c128(T x) { return {cast_f64(x), 0.0}; }
