#include "runtime/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "ir/workspace.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/error.hpp"
#include "runtime/host_memory.hpp"

namespace ricci::runtime {
namespace {

namespace cuda = jit::cuda;

// 0x3f3f...: 0.75 as f32, 0.0005 as f64, 1.8 as f16, small integers. Zeros would make devices look faster, since they
// draw less power, and random bytes hold NaNs and denormals, which are slow.
constexpr unsigned char kFill = 0x3f;
constexpr std::int64_t kAligned = 256;
// Short kernels are repeated until the overhead of the clock, and of starting on an idle GPU, is negligible.
constexpr double kSampleUs = 100, kGpuSampleUs = 1000;
constexpr int kMostRuns = 1000;   // of one sample
constexpr int kMostUpdates = 16;  // the same where a kernel works on its own results, which must stay ordinary

/// Memory of one buffer and the pointer to its element 0, which may lie outside of it.
class DeviceBuffer {
 public:
  DeviceBuffer(const ir::Buffer& buffer, Device device) : device_(device) {
    const auto size = size_of(buffer.type);
    const auto first = buffer.first * size, last = (buffer.last + 1) * size;
    const auto below = (first >= 0 ? first : first - kAligned + 1) / kAligned * kAligned;  // rounded down
    bytes_ = static_cast<std::size_t>(std::max<std::int64_t>(last - below, 1));
    if (device == Device::gpu) {
      gpu_ = static_cast<std::byte*>(cuda::allocate(bytes_));
    } else {
      cpu_ = allocate_host(bytes_);
      if (!cpu_) throw DeviceError(fmt::format("no memory to measure in: {} bytes for {}", bytes_, buffer.name));
    }
    element0_ = (device == Device::gpu ? gpu_ : cpu_.get()) - below;
    fill();
  }
  ~DeviceBuffer() { cuda::release(gpu_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void fill() {
    if (device_ == Device::gpu) {
      cuda::fill_bytes(gpu_, kFill, bytes_);
    } else {
      std::memset(cpu_.get(), kFill, bytes_);
    }
  }
  void* element0() const noexcept { return element0_; }

 private:
  Device device_;
  std::size_t bytes_ = 0;
  HostMemory cpu_;
  std::byte* gpu_ = nullptr;
  std::byte* element0_ = nullptr;
};

/// Whether the host has this much memory: with overcommit, writing to memory that is not there kills the process.
void check_memory(const ir::Program& program, std::int64_t workspace_bytes) {
  std::int64_t needed = workspace_bytes;
  for (const auto& buffer : program.buffers) needed += (buffer.last - buffer.first + 1) * size_of(buffer.type);
  std::ifstream file("/proc/meminfo");
  std::int64_t available_KB = 0;
  for (std::string word; file >> word;) {
    if (word == "MemAvailable:" && file >> available_KB) break;
  }
  if (available_KB > 0 && needed / 1024 > available_KB) {
    throw DeviceError(
        fmt::format("measuring needs {} MB beside the tensors themselves, and {} MB of memory are "
                    "available; plan in estimate mode",
                    needed >> 20, available_KB >> 10));
  }
}

class Track {
 public:
  /// program: of all entrants.
  Track(const Plan::Impl& plan, const ir::Program& program, std::int64_t workspace_bytes) {
    if (plan.target.device == Device::cpu) check_memory(program, workspace_bytes);
    runner_.target = plan.target;
    runner_.threads = plan.threads;
    runner_.pool = plan.pool;
    runner_.executor = plan.executor;
    if (plan.target.device == Device::gpu) {
      stream_ = std::make_unique<cuda::OwnedStream>();
      before_ = std::make_unique<cuda::Event>();
      after_ = std::make_unique<cuda::Event>();
    }
    for (const auto& buffer : program.buffers) {
      buffers_.push_back(std::make_unique<DeviceBuffer>(buffer, plan.target.device));
      storages_.push_back(buffers_.back()->element0());
    }
    if (workspace_bytes > 0) {
      workspace_ = std::make_unique<DeviceBuffer>(
          ir::Buffer{"the workspace", DType::u8, true, 0, workspace_bytes - 1, kAligned}, plan.target.device);
    }
    for (const auto& node : program.nodes) {
      if (node.kind == ir::NodeKind::load && program.buffers[static_cast<std::size_t>(node.source)].written) {
        updates_.push_back(static_cast<std::size_t>(node.source));
      }
    }
    bytes_.resize(program.params.size());
    for (std::size_t k = 0; k < program.params.size(); ++k) {
      encode_factor(1, program.params[k].type, bytes_[k].at);
      params_.push_back(bytes_[k].at);
    }
    if (stream_) cuda::synchronize();  // the buffers are filled in another stream
  }

  /// Microseconds per run, over `runs` runs.
  double sample(Entrant& entrant, int runs) {
    if (!updates_.empty()) {
      for (const auto k : updates_) buffers_[k]->fill();
      if (stream_) cuda::synchronize();
    }
    const auto& sequence = entrant.sequence;
    const auto layout = ir::workspace_layout(sequence);
    storages_.resize(buffers_.size());
    for (auto k = buffers_.size(); k < sequence.storages.size(); ++k) {
      const auto& storage = sequence.storages[k];
      storages_.push_back(static_cast<std::byte*>(workspace_->element0()) + layout.offset[k] -
                          storage.first * size_of(storage.type));
    }
    std::swap(runner_.steps, entrant.steps);
    const double us = stream_ ? run_gpu(runs) : run_cpu(runs);
    std::swap(runner_.steps, entrant.steps);
    return us / runs;
  }

  int most_runs() const noexcept { return updates_.empty() ? kMostRuns : kMostUpdates; }

 private:
  double run_cpu(int runs) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < runs; ++k) runner_.run(storages_.data(), params_.data(), -1, nullptr);
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  }
  double run_gpu(int runs) {
    before_->record(stream_->get());
    for (int k = 0; k < runs; ++k)
      runner_.run(storages_.data(), params_.data(), runner_.target.ordinal, stream_->get());
    after_->record(stream_->get());
    after_->wait();
    return 1e3 * cuda::Event::ms_between(*before_, *after_);
  }

  struct alignas(16) ParamBytes {
    unsigned char at[16];
  };

  Plan::Impl runner_;  // of one entrant's steps
  std::unique_ptr<cuda::OwnedStream> stream_;
  std::unique_ptr<cuda::Event> before_, after_;
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
  std::unique_ptr<DeviceBuffer> workspace_;
  std::vector<void*> storages_, params_;
  std::vector<ParamBytes> bytes_;
  std::vector<std::size_t> updates_;  // buffers that are read and written
};

}  // namespace

std::vector<plan::Timing> time_steps(const Plan::Impl& plan, const ir::Program& program,
                                     std::vector<Entrant> entrants) {
  std::unique_ptr<cuda::OnDevice> on_device;
  if (plan.target.device == Device::gpu) on_device = std::make_unique<cuda::OnDevice>(plan.target.ordinal);
  std::int64_t workspace_bytes = 0;
  for (const auto& entrant : entrants) workspace_bytes = std::max(workspace_bytes, entrant.sequence.workspace_bytes());
  Track track(plan, program, workspace_bytes);
  std::vector<int> runs(entrants.size(), 0);
  const double sample_us = on_device ? kGpuSampleUs : kSampleUs;
  return plan::time_candidates(entrants.size(), [&](std::size_t k) {
    if (runs[k] > 0) return track.sample(entrants[k], runs[k]);
    const double us = track.sample(entrants[k], 1);
    runs[k] = static_cast<int>(std::clamp(sample_us / std::max(us, 1e-3), 1.0, 1.0 * track.most_runs()));
    return runs[k] == 1 ? us
                        : track.sample(entrants[k], runs[k]);  // short kernels: the first run includes loading the code
  });
}

}  // namespace ricci::runtime
