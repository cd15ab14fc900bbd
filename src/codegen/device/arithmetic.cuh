// Integers wrap: their products and sums are formed in unsigned types.
inline i8 mul(i8 x, i8 y) { return (i8)((u32)x * (u32)y); }
inline i16 mul(i16 x, i16 y) { return (i16)((u32)x * (u32)y); }
inline i32 mul(i32 x, i32 y) { return (i32)((u32)x * (u32)y); }
inline i64 mul(i64 x, i64 y) { return (i64)((u64)x * (u64)y); }
inline u8 mul(u8 x, u8 y) { return (u8)((u32)x * (u32)y); }
inline u16 mul(u16 x, u16 y) { return (u16)((u32)x * (u32)y); }
inline u32 mul(u32 x, u32 y) { return x * y; }
inline u64 mul(u64 x, u64 y) { return x * y; }
inline float mul(float x, float y) { return x * y; }
inline double mul(double x, double y) { return x * y; }
inline c64 mul(c64 x, c64 y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
inline c128 mul(c128 x, c128 y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

inline i8 add(i8 x, i8 y) { return (i8)((u32)x + (u32)y); }
inline i16 add(i16 x, i16 y) { return (i16)((u32)x + (u32)y); }
inline i32 add(i32 x, i32 y) { return (i32)((u32)x + (u32)y); }
inline i64 add(i64 x, i64 y) { return (i64)((u64)x + (u64)y); }
inline u8 add(u8 x, u8 y) { return (u8)((u32)x + (u32)y); }
inline u16 add(u16 x, u16 y) { return (u16)((u32)x + (u32)y); }
inline u32 add(u32 x, u32 y) { return x + y; }
inline u64 add(u64 x, u64 y) { return x + y; }
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
