#include "runtime/occupancy.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "kernel/schedule.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci::runtime {
namespace {

int warps_of(const KernelRoom& kernel) { return (kernel.threads + 31) / 32; }

/// As the driver counts (cudaOccMaxActiveBlocksPerMultiprocessor of cuda_occupancy.h), from sm_80 on.
int resident_blocks(const KernelRoom& kernel, const plan::GpuModel& device) {
  constexpr int kMostBlocks = 32, kParts = 4, kRegistersOfPart = 16384, kUnit = 256, kSharedUnit = 128;
  const int warps = warps_of(kernel);
  const int registers = (32 * kernel.registers + kUnit - 1) / kUnit * kUnit;  // of a warp
  const auto shared = (kernel.shared_bytes + plan::kReservedBytes + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  const int by_registers =
      registers == 0 ? std::numeric_limits<int>::max() : kRegistersOfPart / registers * kParts / warps;
  return std::min({kMostBlocks, device.threads_per_multiprocessor / (32 * warps), by_registers,
                   static_cast<int>(device.shared_bytes_per_multiprocessor / shared)});
}

}  // namespace

std::vector<KernelRoom> rooms_of(const Plan& plan) {
  const auto& impl = plan.impl();
  const bool gpu = plan.device() == Device::gpu;
  std::vector<KernelRoom> rooms;
  for (const auto& step : impl.steps) {
    const auto* kernel = step.kernel();
    if (kernel == nullptr) continue;
    const auto& planned = step.planned();
    const auto list = impl.candidates(planned, planned.schedule.name);
    const auto& chosen = plan::choose(list, planned.schedule.name);
    KernelRoom room;
    room.schedule = step.schedule.name;
    room.predicted_us = chosen.predicted_us;
    for (const auto& part : chosen.parts) {
      if (step.whole && part.what == std::string_view("copies")) room.predicted_us -= part.us;  // kernels of their own
    }
    room.multiplies = kernel::has_atom(step.schedule.directives);
    if (gpu) {
      const auto device = impl.gpu_model();
      room.threads = static_cast<int>(kernel->threads);
      room.registers = kernel->loaded->registers;
      room.spill_bytes = kernel->loaded->spill_bytes;
      room.shared_bytes = static_cast<int>(kernel->shared);
      room.predicted = chosen.counts
                           ? chosen.counts->resident
                           : chosen.traffic.occupancy * device.threads_per_multiprocessor / (32.0 * warps_of(room));
      room.compiled = resident_blocks(room, device);
    }
    rooms.push_back(std::move(room));
  }
  return rooms;
}

}  // namespace ricci::runtime
