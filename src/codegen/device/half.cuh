inline float float_of(u32 bits) { return __builtin_bit_cast(float, bits); }
inline u32 bits_of(float x) { return __builtin_bit_cast(u32, x); }

// On a GPU these are instructions, of which a NaN comes out with bits of its own.

// binary16 to binary32: exact.
inline float widen(f16 x) {
#ifdef __CUDA_ARCH__
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#else
  const u32 magnitude = x.bits & 0x7fffu;
  const u32 sign = (u32)(x.bits & 0x8000u) << 16;
  const u32 bits = magnitude >= 0x7c00u ? 0x7f800000u | magnitude << 13
                                        : bits_of(float_of(magnitude << 13) * float_of(0x77800000u));  // * 2^112
  return float_of(sign | bits);
#endif
}

inline float widen(bf16 x) { return float_of((u32)x.bits << 16); }

// binary32 to binary16, to nearest even.
inline f16 narrow_f16(float x) {
#ifdef __CUDA_ARCH__
  f16 nearest;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(nearest.bits) : "f"(x));
  return nearest;
#else
  const u32 sign = bits_of(x) >> 16 & 0x8000u;
  const u32 magnitude = bits_of(x) & 0x7fffffffu;
  if (magnitude >= 0x47800000u) return f16{(u16)(sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u))};
  if (magnitude < 0x38800000u) return f16{(u16)(sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u))};
  return f16{(u16)(sign | (magnitude + 0xc8000fffu + (magnitude >> 13 & 1u)) >> 13)};
#endif
}

// Without a branch, of which a kernel would have one to each result.
inline bf16 narrow_bf16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  bf16 nearest;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(nearest.bits) : "f"(x));
  return nearest;
#else
  const u32 bits = bits_of(x);
  const u32 nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return bf16{(u16)(x != x ? (bits >> 16 & 0x8000u) | 0x7fc0u : nearest)};
#endif
}

// binary64 to binary32 rounded to odd: rounding that once more to a half type is one correct rounding.
inline float round_to_odd(double x) {
  const float nearest = (float)x;
  if ((double)nearest == x || x != x) return nearest;
  const bool away = (nearest < 0 ? -(double)nearest : (double)nearest) > (x < 0 ? -x : x);
  return float_of((bits_of(nearest) - (away ? 1u : 0u)) | 1u);
}
