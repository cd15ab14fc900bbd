#include "plan/models/device_model.hpp"

#include <fmt/format.h>

namespace ricci::plan {

GpuModel GpuModel::of_capability(int sm) {
  GpuModel device;
  device.sm = sm;
  // Shared memory limits by compute capability (CUDA C++ Programming Guide, technical specifications).
  const std::int64_t kilobytes = sm >= 100              ? 227
                                 : sm >= 90             ? 227
                                 : sm == 80 || sm == 87 ? 163
                                 : sm >= 86             ? 99
                                 : sm >= 75             ? 64
                                                        : 96;
  device.shared_bytes_per_block = kilobytes * 1024;
  device.shared_bytes_per_multiprocessor = (kilobytes + 1) * 1024;
  if (sm == 75) device.threads_per_multiprocessor = 1024;
  if (sm == 86 || sm == 89 || sm >= 120) device.threads_per_multiprocessor = 1536;
  return device;
}

std::string print(const GpuModel& device) {
  const auto& [sm, multiprocessors, block, multiprocessor, threads, clock, copy] = device;
  return fmt::format(
      "sm_{}, {} multiprocessors of {} threads, {} B and {} B of shared memory, {} MHz, copies at {} GB/s\n", sm,
      multiprocessors, threads, block, multiprocessor, clock, copy);
}

std::string print(const CpuModel& device) {
  const auto& [vector, datapath, l1, l2, cache, threads, copy, streaming, rows, apart, clock] = device;
  return fmt::format(
      "{} B vectors by {} B, {} threads, caches of {} B, {} B, {} B, copies at {} and {} GB/s, rows {} times, apart {} "
      "times, "
      "{} MHz\n",
      vector, datapath, threads, l1, l2, cache, copy, streaming, rows, apart, clock);
}

}  // namespace ricci::plan
