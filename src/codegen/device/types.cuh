typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

struct f16 { u16 bits; };
struct bf16 { u16 bits; };
template <class T>
struct complex { T re, im; };
typedef complex<float> c64;
typedef complex<double> c128;

// N consecutive elements, loaded and stored in one access.
template <class T, int N>
struct alignas(sizeof(T) * N) vec { T at[N]; };

// Spreads the rows of a tile over the banks of shared memory: bits of the row are mixed into bits of the column.
template <int Shift, int Mask, int Unit>
inline int swizzle(int address) { return address ^ ((address >> Shift & Mask) << Unit); }
