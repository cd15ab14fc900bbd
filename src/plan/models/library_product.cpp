#include "plan/models/library_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel/atoms.hpp"
#include "plan/models/pipe_rates.hpp"

namespace ricci::plan {
namespace {

using kernel::MatrixProduct;

double up(std::int64_t value, std::int64_t unit) {
  const auto units = (value + unit - 1) / unit;
  return static_cast<double>(units * unit);
}

/// Extents and leading dimensions are ints of the libraries.
bool fits(const MatrixProduct& product) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return std::max({product.rows, product.columns, product.depth, product.first.leading, product.second.leading,
                   product.result.leading}) <= kMost;
}

std::int64_t real_bytes(DType type) { return is_complex(type) ? size_of(type) / 2 : size_of(type); }

/// What runs side by side.
double together(double compute, double memory) { return std::cbrt(std::pow(compute, 3) + std::pow(memory, 3)); }

}  // namespace

bool library_has(const MatrixProduct& product, const CpuModel& /*device*/) {
  const bool known = is_complex(product.type) || product.type == DType::f32 || product.type == DType::f64;
  return known && fits(product) && product.first.type == product.type && product.second.type == product.type &&
         product.result.type == product.type;
}

bool library_has(const MatrixProduct& product, const GpuModel& device) {
  if (library_has(product, CpuModel())) return device.library.has_value();
  const auto half = product.first.type;
  return is_half(half) && product.second.type == half && product.type == DType::f32 &&
         (product.result.type == half || product.result.type == DType::f32) && fits(product);
}

double library_us(const MatrixProduct& product, const CpuModel& device, std::vector<TimePart>& parts) {
  // Fitted to OpenBLAS 0.3 on two threads of an AMD EPYC, squares and thin matrices, f32 and f64: what a sum costs
  // beside its products, in products; what an element costs that is packed, in cycles; a call of a batch; of the
  // library's kernels the tile.
  constexpr double kSum = 12, kPacked = 2, kCallUs = 0.1;
  constexpr std::int64_t kTile = 8;
  const double threads = device.threads;
  const double real = is_complex(product.type) ? 4 : 1;
  const auto lanes = static_cast<double>(std::min(device.vector_bytes, device.datapath_bytes)) /
                     static_cast<double>(real_bytes(product.type));
  // Two fused multiply-adds a cycle, of which kernels reach nine tenths where none was measured.
  const double usual = 0.9 * 2 * 2 * lanes * threads * device.cycles_per_us() * 1e-3;
  const double measured = device.library ? device.library->rate(product.type) : 0;
  const double flops_per_us = 1e3 * (measured > 0 ? measured : usual);
  const auto count = static_cast<double>(product.products());
  const double sums = up(product.rows, kTile) * up(product.columns, kTile);
  const double packed = static_cast<double>(product.depth) * static_cast<double>(product.rows + product.columns);
  const double compute = count * (2 * real * sums * (static_cast<double>(product.depth) + kSum) / flops_per_us +
                                  packed * real * kPacked / threads / device.cycles_per_us());
  const double bytes = product.bytes();
  const double rate = device.thread_GBs(false, 20) * threads;
  const double memory = device.beyond_caches(bytes) ? bytes / rate * 1e-3 : 0;
  const double calls = 1 + kCallUs * count;
  parts.push_back({"products", compute});
  parts.push_back({"memory", memory});
  parts.push_back({"calls", calls});
  return together(compute, memory) + calls;
}

double library_us(const MatrixProduct& product, const GpuModel& device, std::vector<TimePart>& parts) {
  // cuBLAS on an H200: 0.9 of what the pipe does in large products of any type; blocks of 64 x 64 at least, of which a
  // multiprocessor has two; 2.5 us from one kernel to the next.
  constexpr double kReached = 0.9, kStartUs = 2.5;
  constexpr std::int64_t kBlock = 64, kDeep = 16, kBlocksAtOnce = 2;
  const auto element = product.first.type;
  const kernel::Atom* best = nullptr;
  for (const auto& atom : kernel::kAtoms) {
    if (device.sm < atom.sm || (atom.warps > 1 && device.sm >= 100)) continue;
    const bool same = element == DType::f64 || element == DType::c128 ? atom.a.type == kernel::AtomType::f64
                      : element == DType::f16                         ? atom.a.type == kernel::AtomType::f16
                      : element == DType::bf16                        ? atom.a.type == kernel::AtomType::bf16
                      : product.precision == Precision::tf32          ? atom.a.type == kernel::AtomType::tf32
                                                                      : false;
    if (!same) continue;
    if (best == nullptr || pipe_rate(device.sm, &atom, product.type, 1) > pipe_rate(device.sm, best, product.type, 1))
      best = &atom;
  }
  const double rate = kReached * pipe_rate(device.sm, best, product.type, 1) * device.clock_MHz;  // of one, a us
  const auto count = static_cast<double>(product.products());
  const double blocks = count * up(product.rows, kBlock) * up(product.columns, kBlock) / (kBlock * kBlock);
  const double each = kBlock * kBlock * up(product.depth, kDeep) / rate;
  // Few blocks share their sums' depth among several; else the last ones leave multiprocessors idle.
  const double busy = device.multiprocessors;
  const double rounds = blocks < busy ? blocks / busy : std::ceil(blocks / (busy * kBlocksAtOnce)) * kBlocksAtOnce;
  const double compute = each * std::max(rounds, blocks / busy) + (blocks < busy ? each / 4 : 0);
  const double memory = product.bytes() / (device.copy_rate_GBs() * 1e3);
  double launches = 1;  // one index of the batch is a stride of its own
  for (const auto& loop : product.batch) launches *= static_cast<double>(loop.extent);
  if (!product.batch.empty()) {
    std::int64_t longest = 1;
    for (const auto& loop : product.batch) longest = std::max(longest, loop.extent);
    launches /= static_cast<double>(longest);
  }
  parts.push_back({"products", compute});
  parts.push_back({"memory", memory});
  parts.push_back({"calls", kStartUs * launches});
  return together(compute, memory) + kStartUs * launches;
}

}  // namespace ricci::plan
