// Kernels around the device functions that few kernels use, for the simulator and for a GPU, and what is to come out.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codegen/prelude.hpp"
#include "kernel/atoms.hpp"

namespace ricci::simt {

using kernel::Atom;
using kernel::AtomType;
using kernel::Fragment;

inline const char* register_type(AtomType type) {
  return type == AtomType::f64                             ? "f64"
         : type == AtomType::f32 || type == AtomType::tf32 ? "f32"
         : type == AtomType::i32                           ? "i32"
                                                           : "u32";
}

/// What goes in front of every kernel here: on the simulator without, on a GPU with the device's half.
inline std::string portable_part() { return std::string(codegen::prelude::kTypes) + "\n"; }
inline std::string device_part() {
  codegen::DeviceParts parts{.async = true, .tensor_core = true, .reduce = true};
  for (const auto& atom : kernel::kAtoms) parts.products.emplace(atom.name);
  return codegen::device_prelude(parts) + "\n";
}

/// One warp, one atom: `<name>(const A* a, const B* b, C* c)`, each lane's registers behind those of the lane before.
inline std::string atom_kernel(const Atom& atom) {
  const auto load = [](const char* name, const Fragment& fragment) {
    const int registers = fragment.registers();
    return fmt::format("  {0} {1}[{2}];\n  for (int i = 0; i < {2}; ++i) {1}[i] = {1}_all[{2} * threadIdx.x + i];\n",
                       register_type(fragment.type), name, registers);
  };
  return fmt::format(
      "extern \"C\" __global__ void __launch_bounds__(32) {0}(const {1}* a_all, const {1}* b_all, {2}* c_all) {{\n"
      "{3}{4}{5}  mma_{0}(c, a, b);\n  for (int i = 0; i < {6}; ++i) c_all[{6} * threadIdx.x + i] = c[i];\n}}\n",
      atom.name, register_type(atom.a.type), register_type(atom.c.type), load("a", atom.a), load("b", atom.b),
      load("c", atom.c), atom.c.registers());
}

inline std::uint16_t f16_bits(double x) {  // of values that are exact and normal in binary16, or 0
  if (x == 0) return 0;
  int exponent;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  return static_cast<std::uint16_t>((x < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                                    (static_cast<int>(std::ldexp(fraction, 11)) & 1023));
}

/// A tile, row after row, in the registers of 32 lanes. Values are exact in the element's type, but for tf32, whose
/// registers take any binary32.
inline std::vector<std::byte> pack(const Fragment& fragment, const std::vector<double>& tile) {
  const auto bytes = static_cast<std::size_t>(kernel::bits_of(fragment.type) / 8);
  std::vector<std::byte> registers(std::size_t{32} * fragment.elements() * bytes);
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < fragment.elements(); ++e) {
      const kernel::TilePlace place = fragment.at(lane, e);
      const double x = tile[std::size_t{place.row} * fragment.columns() + place.column];
      std::uint64_t bits = 0;
      switch (fragment.type) {
        case AtomType::f64:
          bits = std::bit_cast<std::uint64_t>(x);
          break;
        case AtomType::f32:
        case AtomType::tf32:
          bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
          break;
        case AtomType::f16:
          bits = f16_bits(x);
          break;
        case AtomType::bf16:
          bits = std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16;
          break;
        case AtomType::i32:
        case AtomType::i8:
        case AtomType::u8:
          bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
          break;
      }
      std::memcpy(registers.data() + (static_cast<std::size_t>(lane * fragment.elements() + e)) * bytes, &bits, bytes);
    }
  return registers;
}

/// The tile in the registers of an accumulator: f64, f32 or i32.
inline std::vector<double> unpack(const Fragment& fragment, const std::vector<std::byte>& registers) {
  std::vector<double> tile(std::size_t{fragment.rows()} * fragment.columns());
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < fragment.elements(); ++e) {
      const kernel::TilePlace place = fragment.at(lane, e);
      double& x = tile[std::size_t{place.row} * fragment.columns() + place.column];
      const auto number = static_cast<std::size_t>(lane * fragment.elements() + e);
      const auto value = [&]<class T>(T one) {
        std::memcpy(&one, registers.data() + number * sizeof(T), sizeof(T));
        return static_cast<double>(one);
      };
      x = fragment.type == AtomType::f64 ? value(0.0) : fragment.type == AtomType::f32 ? value(0.0f) : value(0);
    }
  return tile;
}

/// Operands of one atom, and the result of a plain triple loop.
struct AtomCase {
  std::vector<double> a, b, c, expected;
  std::vector<double> bound;  ///< how far each element of a result may be from `expected`
};

/// `exact`: small integers, whose sums no rounding touches.
inline AtomCase atom_case(const Atom& atom, bool exact, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto integer = [&](int low, int high) {
    return static_cast<double>(std::uniform_int_distribution<int>(low, high)(random));
  };
  const auto element = [&](AtomType type) {
    switch (type) {
      case AtomType::u8:
        return integer(0, 255);
      case AtomType::i8:
        return integer(-128, 127);
      case AtomType::i32:
        return integer(-(1 << 28), 1 << 28);
      case AtomType::bf16:
        return exact ? integer(-12, 12) : integer(-128, 128) / 128;
      case AtomType::f16:
        return exact ? integer(-12, 12) : integer(-1024, 1024) / 1024;
      case AtomType::f32:
      case AtomType::tf32:
        return exact ? integer(-12, 12)
                     : static_cast<double>(std::uniform_real_distribution<float>(-1.0f, 1.0f)(random));
      case AtomType::f64:
        break;
    }
    return exact ? integer(-12, 12) : std::uniform_real_distribution<double>(-1.0, 1.0)(random);
  };
  const auto fill = [&](const Fragment& fragment) {
    std::vector<double> tile(std::size_t{fragment.rows()} * fragment.columns());
    for (double& x : tile) x = element(fragment.type);
    return tile;
  };
  AtomCase made;
  made.a = fill(atom.a);
  made.b = fill(atom.b);
  made.c = fill(atom.c);
  // The lower bits of tf32 operands are dropped.
  const auto taken = [](AtomType type, double x) {
    if (type != AtomType::tf32) return x;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    return static_cast<double>(std::bit_cast<float>(bits & 0xffffe000u));
  };
  // Each of k + 1 additions may round at the size of the largest partial sum, and a tensor core may cut instead.
  const double unit = atom.c.type == AtomType::f64 ? std::ldexp(1.0, -53) : std::ldexp(1.0, -23);
  for (int m = 0; m < atom.m; ++m)
    for (int n = 0; n < atom.n; ++n) {
      const auto at = static_cast<std::size_t>(m * atom.n + n);
      double sum = made.c[at], size = std::fabs(sum);
      for (int k = 0; k < atom.k; ++k) {
        const double x = taken(atom.a.type, made.a[static_cast<std::size_t>(m * atom.k + k)]);
        const double y = taken(atom.b.type, made.b[static_cast<std::size_t>(k * atom.n + n)]);
        sum = std::fma(x, y, sum);
        size += std::fabs(x * y);
      }
      made.expected.push_back(sum);
      made.bound.push_back(exact || atom.c.type == AtomType::i32 ? 0.0 : (atom.k + 1) * unit * size);
    }
  return made;
}

/// A launch of one warp: its kernel takes the buffers in order, the last one for the result.
struct OneWarp {
  std::string text, name;
  std::vector<std::string> types;
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::byte>& out() { return buffers.back(); }
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline OneWarp atom_launch(const Atom& atom, const AtomCase& given) {
  const std::string in = std::string("const ") + register_type(atom.a.type) + "*";
  return {atom_kernel(atom),
          std::string(atom.name),
          {in, in, std::string(register_type(atom.c.type)) + "*"},
          {pack(atom.a, given.a), pack(atom.b, given.b), pack(atom.c, given.c)}};
}

/// A tile of A or B loaded from shared memory by load_matrix. Its rows are an odd number of 16 bytes apart: no bank
/// conflicts. Not transposed: what the four members of a group hold lies side by side; else what groups hold.
struct MatrixLoad {
  OneWarp launch;
  std::vector<std::byte> expected;
};
inline MatrixLoad matrix_load(const Fragment& fragment, bool transposed, std::uint64_t seed) {
  const int bytes = kernel::bits_of(fragment.type) / 8;
  const bool along_rows = (fragment.at(1, 0).column != 0) != transposed;  // what lies side by side is a row of the tile
  const int lines = along_rows ? fragment.rows() : fragment.columns(),
            length = along_rows ? fragment.columns() : fragment.rows();
  const int pitch = (length * bytes / 16 | 1) * 16;
  const auto offset = [&](kernel::TilePlace place) {
    return along_rows ? place.row * pitch + place.column * bytes : place.column * pitch + place.row * bytes;
  };
  std::mt19937_64 random(seed);
  std::vector<std::byte> tile(static_cast<std::size_t>(lines * pitch));
  for (std::byte& x : tile) x = static_cast<std::byte>(random());
  std::vector<std::int32_t> rows;
  for (int lane = 0; lane < 32; ++lane) rows.push_back(offset(fragment.matrix_row(lane, transposed)));
  MatrixLoad made;
  made.expected.resize(static_cast<std::size_t>(32 * fragment.elements() * bytes));
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < fragment.elements(); ++e)
      std::memcpy(made.expected.data() + (lane * fragment.elements() + e) * bytes,
                  tile.data() + offset(fragment.at(lane, e)), static_cast<std::size_t>(bytes));
  made.launch.name = "load_fragment";
  made.launch.text = fmt::format(
      R"(extern "C" __global__ void __launch_bounds__(32) load_fragment(const u32* tile_all, const i32* row, u32* out) {{
  static __shared__ __align__(16) u32 tile[{0}];
  for (int i = threadIdx.x; i < {0}; i += 32) tile[i] = tile_all[i];
  __syncwarp();
  u32 r[{1}];
  load_matrix_x{1}{2}(r, tile + row[threadIdx.x] / 4);
  for (int i = 0; i < {1}; ++i) out[{1} * threadIdx.x + i] = r[i];
}}
)",
      tile.size() / 4, fragment.registers(), transposed ? "_transposed" : "");
  made.launch.types = {"const u32*", "const i32*", "u32*"};
  made.launch.buffers = {tile, bytes_of(rows), std::vector<std::byte>(made.expected.size())};
  return made;
}

/// Rounds 96 numbers to tf32 and splits them: for each the nearest one, and that of what it leaves.
inline std::vector<float> numbers_to_round() {
  std::vector<float> x;
  for (const std::uint32_t bits : {0u, 0x80000000u, 0x3f800000u, 0x3f800fffu, 0x3f801000u, 0x3f801001u, 0x3f802fffu,
                                   0x3f803000u, 0xbf801000u, 0x7f7fefffu, 0x7f7ff000u, 0x7f7fffffu, 0x7f800000u,
                                   0xff800000u, 0x7fc00000u, 0x00000fffu, 0x00001000u, 0x807fffffu, 0x00800fffu})
    x.push_back(std::bit_cast<float>(bits));
  std::mt19937_64 random(3);
  while (x.size() < 96) x.push_back(std::uniform_real_distribution<float>(-8.0f, 8.0f)(random));
  return x;
}
inline OneWarp rounding_launch() {
  return {R"(extern "C" __global__ void __launch_bounds__(32) round_numbers(const f32* x, u32* out) {
  for (int i = threadIdx.x; i < 96; i += 32) {
    out[2 * i] = __builtin_bit_cast(u32, to_tf32(x[i]));
    out[2 * i + 1] = __builtin_bit_cast(u32, tf32_rest(x[i]));
  }
}
)",
          "round_numbers",
          {"const f32*", "u32*"},
          {bytes_of(numbers_to_round()), std::vector<std::byte>(std::size_t{2 * 96 * 4})}};
}
/// To nearest, halves away from zero, by arithmetic: what is kept of x in tf32.
inline float rounded_to_tf32(float x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), -126) - 10);
  const double rounded = std::copysign(std::floor(std::fabs(static_cast<double>(x)) / unit + 0.5) * unit, x);
  return static_cast<float>(rounded);
}

/// Sums of all threads in memory by atomic additions, one of each type.
inline OneWarp reduce_launch() {
  return {R"(extern "C" __global__ void __launch_bounds__(32) reduce(const i32* x, f64* out) {
  static __shared__ f32 sum_f32;
  static __shared__ f64 sum_f64;
  static __shared__ i32 sum_i32;
  static __shared__ u32 sum_u32;
  static __shared__ i64 sum_i64;
  static __shared__ u64 sum_u64;
  const int t = threadIdx.x;
  if (t == 0) sum_f32 = 0.5f, sum_f64 = 0.25, sum_i32 = 1, sum_u32 = 2, sum_i64 = -1, sum_u64 = 3;
  __syncwarp();
  atomic_add(&sum_f32, (f32)x[t]);
  atomic_add(&sum_f64, (f64)x[t]);
  atomic_add(&sum_i32, x[t]);
  atomic_add(&sum_u32, (u32)x[t]);
  atomic_add(&sum_i64, (i64)x[t] << 32);
  atomic_add(&sum_u64, (u64)(i64)x[t]);
  __syncwarp();
  if (t != 31) return;
  out[0] = sum_f32, out[1] = sum_f64, out[2] = sum_i32, out[3] = sum_u32, out[4] = sum_i64, out[5] = sum_u64;
  atomic_add(out + 6, 1.5);
}
)",
          "reduce",
          {"const i32*", "f64*"},
          {bytes_of([] {
             std::vector<std::int32_t> x;
             for (int i = 0; i < 32; ++i) x.push_back(7 * i - 100);
             return x;
           }()),
           std::vector<std::byte>(std::size_t{7 * 8})}};
}
inline std::vector<double> reduced() {
  const std::int64_t sum = 7 * 496 - 3200;  // 272
  return {sum + 0.5, sum + 0.25, sum + 1.0, sum + 2.0, static_cast<double>((sum << 32) - 1), sum + 3.0, 1.5};
}

/// C[m][n] = sum over k of A[m][k] * B[k][n]; 64 divides m and n. Tiles of 64 x 64 x 16 come by asynchronous copies
/// into one of two stages while the other is multiplied; the last one is filled up with zeros. Launch: grid of
/// m / 64 x n / 64, 128 threads. Needs sm_90.
inline std::string gemm_kernel() {
  return R"(extern "C" __global__ void __launch_bounds__(128, 2)
gemm(const f64* __restrict__ A, const f64* __restrict__ B, f64* C, int n, int k) {
  static __shared__ __align__(16) f64 As[2][64][20];  // rows 20 apart: no two lanes of a half-warp in one bank
  static __shared__ __align__(16) f64 Bs[2][16][68];
  const int t = threadIdx.x;
  const int m0 = 64 * blockIdx.x, n0 = 64 * blockIdx.y;
  const int warp_m = t / 64 * 32, warp_n = t / 32 % 2 * 32, group = t % 32 / 4, member = t % 4;
  const auto stage = [&](int s, int k0) {
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int am = t / 8 + 16 * u, ak = 2 * (t % 8);
      copy_async_or_zero<16>(&As[s][am][ak], A + (m0 + am) * k + k0 + ak, k0 + ak < k);
      const int bk = t / 32 + 4 * u, bn = 2 * (t % 32);
      copy_async_or_zero<16>(&Bs[s][bk][bn], B + (k0 + bk) * n + n0 + bn, k0 + bk < k);
    }
  };
  f64 c[2][4][4] = {};
  stage(0, 0);
  commit_async();
  for (int k0 = 0; k0 < k; k0 += 16) {
    const int s = k0 / 16 % 2;
    if (k0 + 16 < k) stage(1 - s, k0 + 16);
    commit_async();
    wait_async<1>();
    __syncthreads();
    #pragma unroll
    for (int kk = 0; kk < 16; kk += 8) {
      f64 a[2][4], b[4][2];
      #pragma unroll
      for (int i = 0; i < 2; ++i)
        #pragma unroll
        for (int e = 0; e < 4; ++e) a[i][e] = As[s][warp_m + 16 * i + group + e % 2 * 8][kk + member + e / 2 * 4];
      #pragma unroll
      for (int j = 0; j < 4; ++j)
        #pragma unroll
        for (int e = 0; e < 2; ++e) b[j][e] = Bs[s][kk + member + 4 * e][warp_n + 8 * j + group];
      #pragma unroll
      for (int i = 0; i < 2; ++i)
        #pragma unroll
        for (int j = 0; j < 4; ++j) mma_m16n8k8_f64(c[i][j], a[i], b[j]);
    }
    __syncthreads();
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      #pragma unroll
      for (int e = 0; e < 2; ++e)
        store(C + (m0 + warp_m + 16 * i + group + 8 * e) * n + n0 + warp_n + 8 * j + 2 * member,
              vec<f64, 2>{{c[i][j][2 * e], c[i][j][2 * e + 1]}});
}
)";
}

}  // namespace ricci::simt
