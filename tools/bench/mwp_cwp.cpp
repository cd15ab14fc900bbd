// The model's parameters. The paper measures delta and mem_baselat on each device and fits shmem_lat and cycles_ac to
// mispredictions; for what came after Pascal cuTT keeps Pascal's, and so does this. Nearly all schedules of a
// permutation have more warps and requests than memory has room for, MWP is MWP_peak then, and in
//
//   cycles_mem = 2 mem_lat MLP N_warp / MWP_peak = 2 MLP N_warp Bytes_req N_SM Freq / mem_BW
//
// the latency, and with it delta, cancels out. Fitting the other two as the paper does, to those schedules of an H200
// in bench/results/fit that candidates() still makes, found nothing that chooses better.
#include "bench/mwp_cwp.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernel/permute/moves.hpp"
#include "plan/models/traffic.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci::tools {

namespace {

constexpr double kCacheHit = 0.2;           // cache_hit, the paper's for all permutations
constexpr double kTransactionBytes = 128;   // TranSize
constexpr int kSampledWarps = 10;           // as many as the paper takes positions to count transactions at
constexpr std::int64_t kSharedBytes = 128;  // of a wavefront of shared memory

/// Instructions that access memory, of all warps over a whole tile: elements of a vector that are not neighbours there
/// are one each.
double requests(const kernel::ThreadMapping& mapping, const ir::Affine& affine) {
  if (mapping.digits.empty()) return 1;
  const auto& first = mapping.digits.front();
  const auto apart = affine.coefficient[static_cast<std::size_t>(first.index)] * first.step;
  return static_cast<double>(plan::Warps(mapping).count() * mapping.rows * (std::abs(apart) <= 1 ? 1 : mapping.vector));
}

}  // namespace

MwpCwpDevice MwpCwpDevice::of(const plan::GpuModel& gpu) {
  MwpCwpDevice device;
  if (gpu.sm < 50) {
    device = {.departure_delay = 14, .memory_latency = 358, .shared_latency = 11, .iteration_cycles = 50};
  } else if (gpu.sm < 60) {
    device = {.departure_delay = 2.5, .memory_latency = 385, .shared_latency = 1, .iteration_cycles = 220};
  } else {
    device = {.departure_delay = 2.8, .memory_latency = 485, .shared_latency = 1, .iteration_cycles = 260};
  }
  // The paper's mem_BW is what the memory could do at most; this is what a copy gets of it, which predicts times better
  // and leaves their order as it is wherever MWP is MWP_peak.
  device.bytes_per_cycle = gpu.copy_rate_GBs() * 1e3 / (gpu.multiprocessors * gpu.clock_MHz);
  return device;
}

double mwp_cwp_cycles(const MwpCwpKernel& kernel, const MwpCwpDevice& device) {
  // Equation (13): lines that are written in part are read first.
  const double per_request = (kernel.load_transactions + kernel.store_transactions * (1 + kernel.partial_share)) /
                             (kernel.loads + kernel.stores);
  const double latency = device.memory_latency + (per_request - 1) * device.departure_delay;
  // Bytes_req, and MWP_peak = mem_BW / (N_SM * Freq * Bytes_req / mem_lat).
  const double request_bytes = (per_request * (1 - kCacheHit) + kCacheHit) * kTransactionBytes;
  const double mwp_peak = device.bytes_per_cycle * latency / request_bytes;
  const double mwp_memory = latency / device.departure_delay;
  const double mwp = std::min({mwp_memory * kernel.mlp, mwp_peak, kernel.active_warps});
  const double memory = 2 * latency * kernel.mlp * kernel.warps / mwp;  // equation (11)
  const double shared = 2 * kernel.shared_transactions * device.shared_latency * kernel.mlp;
  return (memory + shared + device.iteration_cycles) * kernel.iterations;  // equation (10)
}

MwpCwp::MwpCwp(const ir::Program& program, const plan::GpuModel& gpu)
    : program_(program), sides_(program), device_(gpu) {}

std::optional<MwpCwpKernel> MwpCwp::kernel(const plan::Candidate& candidate) const {
  const auto& traffic = candidate.traffic;
  if (sides_.load < 0 || !kernel::has_write(candidate.schedule.directives)) return std::nullopt;
  const auto moves = kernel::moves_of(program_, candidate.schedule.directives);
  const auto& read_mapping = moves.stage ? moves.stage->mapping : moves.mapping;
  const auto& read_offset = program_.nodes[static_cast<std::size_t>(sides_.load)].offset;
  const auto& write_offset = program_.statement().offset;
  const double tiles_per_block = moves.tiles_per_block();
  MwpCwpKernel kernel;
  kernel.loads = tiles_per_block * requests(read_mapping, read_offset);
  kernel.stores = tiles_per_block * requests(moves.mapping, write_offset);
  kernel.load_transactions =
      tiles_per_block * plan::lines_of_mapping(read_mapping, read_offset, sides_.read_bytes(), kSampledWarps);
  kernel.store_transactions =
      tiles_per_block * plan::lines_of_mapping(moves.mapping, write_offset, sides_.write_bytes(), kSampledWarps);
  kernel.partial_share = traffic.write.partial_sectors / traffic.write.sectors;
  const int warps = (moves.threads + 31) / 32;
  kernel.warps = warps;
  // The paper's average over whole and cut tiles: ours have so much less to do on average.
  const auto tile_points = static_cast<double>(moves.tile_points());
  const auto tiles = static_cast<double>(traffic.tiles);
  const double whole = static_cast<double>(program_.points()) / (tile_points * tiles);
  const double accesses = kernel.loads + kernel.stores;
  kernel.mlp = whole * accesses / (2 * kernel.warps);
  if (moves.stage && moves.stage->memory == kernel::StageMemory::shared) {
    // Layouts that were not searched count as free of conflicts, as the paper's Tiled algorithm is.
    const double least = 2 * tile_points * static_cast<double>(sides_.read_bytes()) / kSharedBytes;
    kernel.shared_transactions = (traffic.ideal_wavefronts > 0 ? traffic.bank_wavefronts : least) / accesses;
  }
  kernel.active_warps = traffic.occupancy * device_.threads_per_multiprocessor / 32;
  kernel.iterations = std::max(tiles / (device_.multiprocessors * tiles_per_block), 1.0);
  return kernel;
}

std::optional<double> MwpCwp::us(const plan::Candidate& candidate) const {
  const auto counted = kernel(candidate);
  if (!counted) return std::nullopt;
  return mwp_cwp_cycles(*counted, MwpCwpDevice::of(device_)) / device_.clock_MHz;
}

std::optional<double> mwp_cwp_us(const Plan& plan) {
  const auto& impl = plan.impl();
  if (plan.device() == Device::cpu || impl.steps.size() != 1) return std::nullopt;
  const auto& step = impl.steps.front();
  const auto list = impl.candidates(step, step.schedule.name);
  return MwpCwp(step.program, impl.gpu_model()).us(plan::choose(list, step.schedule.name));
}

}  // namespace ricci::tools
