#include "plan/models/step_rates.hpp"

#include <algorithm>

#include "plan/models/pipe_rates.hpp"

namespace ricci::plan {
namespace {

constexpr double kNest = 8;  // products of many factors take operands from caches, not from registers
// Share of the arithmetic's peak that large products have: bench/results/contract-*.
constexpr double kReached = 0.75;

std::int64_t part_bytes(DType type) { return is_complex(type) ? size_of(type) / 2 : size_of(type); }

/// A tensor-core product of elements as wide; null: fused multiply-adds.
const kernel::Atom* atom_of(const GpuModel& device, DType type) {
  for (const auto& atom : kernel::kAtoms) {
    if (part_bytes(type) != 4 && device.sm >= atom.sm && kernel::bits_of(atom.a.type) == 8 * part_bytes(type))
      return &atom;
  }
  return nullptr;
}

}  // namespace

StepRates step_rates(const GpuModel& device, DType type) {
  StepRates rates;
  // A product of complex numbers is four of reals, which are what is counted.
  const double parts = is_complex(type) ? 4 : 1;
  const auto flops = [&](const kernel::Atom* atom) {
    return kReached * 2 * parts * pipe_rate(device.sm, atom, type, 1) * device.multiprocessors * device.clock_MHz;
  };
  rates.flops_per_us = flops(atom_of(device, type));
  rates.bytes_per_us = device.copy_rate_GBs() * 1e3;
  rates.start_us = 2.5;  // between two kernels of a stream: 2.9 us back to back on an H200, of which some overlaps
  // A term waits for its loads, some 20 cycles where several are under way.
  rates.nest_flops_per_us = flops(nullptr) / kNest;
  rates.term_us = 20 / device.clock_MHz;
  return rates;
}

StepRates step_rates(const CpuModel& device, DType type) {
  constexpr double kUsualGBs = 20;
  const auto lanes = std::min(device.vector_bytes, device.datapath_bytes) /
                     std::max<std::int64_t>(part_bytes(type), 4);  // halves are summed in f32
  StepRates rates;
  rates.flops_per_us =
      kReached * 2 * 2 * static_cast<double>(lanes) * device.threads * device.cycles_per_us();  // two units
  rates.bytes_per_us = device.thread_GBs(false, kUsualGBs) * device.threads * 1e3;
  rates.start_us = 0.04;  // small kernels run on one thread: ricci-bench-latency
  rates.nest_flops_per_us = rates.flops_per_us / kNest;
  return rates;
}

}  // namespace ricci::plan
