#include "bench/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "bench/loops.hpp"
#include "io/buffer.hpp"
#include "jit/cpu_target.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "report/report.hpp"
#include "report/statistics.hpp"

namespace ricci::tools {
namespace {

namespace cuda = ricci::jit::cuda;

class CpuBench : public Bench {
 public:
  CpuBench(std::int64_t bytes, int threads)
      : a_(static_cast<std::size_t>(bytes)), b_(static_cast<std::size_t>(bytes)), threads_(threads) {
    for (std::int64_t k = 0; k < bytes; k += kPatternBytes) {
      std::memcpy(a_.data() + k, pattern_.data(), static_cast<std::size_t>(std::min(kPatternBytes, bytes - k)));
    }
    std::memset(b_.data(), 1, b_.size());
  }
  std::string device_name() const override { return fmt::format("{} x{}", jit::host_cpu().cpu, threads_); }
  std::vector<double> time(const std::vector<std::function<void()>>& functions, int repeat, int least) override {
    // A clock takes tens of nanoseconds to read, and what ran before leaves the caches to itself: short calls are timed
    // many at a time, after one that is not.
    constexpr double kSampleMs = 1;
    constexpr int kTrials = 3;
    constexpr double kMostCalls = 10000;
    // Threads of a peer's OpenMP spin for some 6 ms when its call is over, on the processors that the next peer runs
    // on.
    constexpr std::chrono::milliseconds kRest{15};
    std::vector<std::vector<double>> times(functions.size());
    std::vector<int> calls(functions.size());
    for (std::size_t k = 0; k < functions.size(); ++k) {
      functions[k]();
      double each = kSampleMs;
      for (int trial = 0; trial < kTrials; ++trial) {
        const double start = now_ms();
        functions[k]();
        const double taken = now_ms() - start;
        each = std::min(each, taken);
        if (taken >= kSampleMs) break;
      }
      calls[k] = static_cast<int>(std::clamp(kSampleMs / std::max(each, 1e-6), 1.0, kMostCalls));
      calls[k] = std::max(calls[k], least);
    }
    for (int r = 0; r < repeat; ++r) {
      for (std::size_t k = 0; k < functions.size(); ++k) {
        if (calls[k] > 1) functions[k]();
        const double start = now_ms();
        for (int n = 0; n < calls[k]; ++n) functions[k]();
        times[k].push_back((now_ms() - start) / calls[k]);
        if (calls[k] == 1) std::this_thread::sleep_for(kRest);
      }
    }
    std::vector<double> medians;
    for (auto& values : times) medians.push_back(median(std::move(values)));
    return medians;
  }
  std::function<void()> nothing() override { return {}; }
  void copy(std::int64_t bytes) override { streaming_copy(b_.data(), a_.data(), bytes, threads_); }
  void* input() override { return a_.data(); }
  void* output() override { return b_.data(); }
  const unsigned char* fetch_output(std::int64_t) override { return reinterpret_cast<const unsigned char*>(b_.data()); }
  void* allocate(std::int64_t bytes) override {
    more_.emplace_back(static_cast<std::size_t>(bytes));
    return more_.back().data();
  }
  void release_allocated() override { more_.clear(); }
  void upload(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void fetch(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void poison(std::int64_t bytes) override { std::memset(b_.data(), 0x5a, static_cast<std::size_t>(bytes)); }

  std::int64_t cache_bytes() const override { return 0; }  // time() finds how many calls a clock needs

 private:
  Buffer a_, b_;
  std::vector<Buffer> more_;
  int threads_;
};

class GpuBench : public Bench {
 public:
  explicit GpuBench(std::int64_t bytes) : info_(cuda::device_info(cuda::current_device())) {
    a_ = static_cast<unsigned char*>(cuda::allocate(static_cast<std::size_t>(bytes)));
    b_ = static_cast<unsigned char*>(cuda::allocate(static_cast<std::size_t>(bytes)));
    for (std::int64_t k = 0; k < bytes; k += kPatternBytes) {
      cuda::copy_to_device(a_ + k, pattern_.data(), static_cast<std::size_t>(std::min(kPatternBytes, bytes - k)));
    }
  }
  ~GpuBench() override {
    release_allocated();
    cuda::release(a_);
    cuda::release(b_);
  }
  std::string device_name() const override { return info_.name; }
  std::vector<double> time(const std::vector<std::function<void()>>& functions, int repeat, int calls) override {
    std::vector<std::vector<double>> times(functions.size());
    for (const auto& function : functions) function();
    cuda::synchronize();
    std::vector<std::unique_ptr<cuda::Event>> events;
    for (std::size_t k = 0; k < 2 * functions.size(); ++k) events.push_back(std::make_unique<cuda::Event>());
    // A tenth of a millisecond.
    const auto busy = kernel("busy", "for (const long long end = clock64() + 200000; clock64() < end;) ;");
    for (int r = 0; r < repeat; ++r) {
      // The device works until all is queued: else the first of them would be timed with its launch by the host.
      cuda::launch(busy, 1, 1, 1, 32, 0, nullptr, nullptr);
      for (std::size_t k = 0; k < functions.size(); ++k) {
        events[2 * k]->record(nullptr);
        for (int c = 0; c < calls; ++c) functions[k]();
        events[2 * k + 1]->record(nullptr);
      }
      cuda::synchronize();
      for (std::size_t k = 0; k < functions.size(); ++k)
        times[k].push_back(cuda::Event::ms_between(*events[2 * k], *events[2 * k + 1]) / calls);
    }
    std::vector<double> medians;
    for (auto& values : times) medians.push_back(median(std::move(values)));
    return medians;
  }
  std::function<void()> nothing() override {
    return [kernel = kernel("nothing", "")] { cuda::launch(kernel, 1, 1, 1, 32, 0, nullptr, nullptr); };
  }
  void copy(std::int64_t bytes) override { cuda::copy_on_device(b_, a_, static_cast<std::size_t>(bytes), nullptr); }
  void* input() override { return a_; }
  void* output() override { return b_; }
  const unsigned char* fetch_output(std::int64_t bytes) override {
    host_.resize(static_cast<std::size_t>(bytes));
    cuda::copy_to_host(host_.data(), b_, host_.size());
    return host_.data();
  }
  void* allocate(std::int64_t bytes) override {
    more_.push_back(cuda::allocate(static_cast<std::size_t>(bytes)));
    return more_.back();
  }
  void release_allocated() override {
    for (void* memory : more_) cuda::release(memory);
    more_.clear();
  }
  void upload(void* to, const void* from, std::int64_t bytes) override {
    cuda::copy_to_device(to, from, static_cast<std::size_t>(bytes));
  }
  void fetch(void* to, const void* from, std::int64_t bytes) override {
    cuda::copy_to_host(to, from, static_cast<std::size_t>(bytes));
  }
  void poison(std::int64_t bytes) override { cuda::fill_bytes(b_, 0x5a, static_cast<std::size_t>(bytes)); }

  std::int64_t cache_bytes() const override { return info_.l2_bytes; }

 private:
  /// A kernel without arguments.
  void* kernel(const std::string& name, const std::string& body) {
    auto& module = modules_[name];
    if (!module) {
      jit::CudaCompileOptions options;
      options.sm = info_.sm;
      const auto source = fmt::format("extern \"C\" __global__ void {}() {{ {} }}\n", name, body);
      const auto object = jit::compile_cuda(source, name, options);
      module = std::make_unique<cuda::Module>(object.cubin, info_.ordinal);
    }
    return module->function(name, 0);
  }

  cuda::DeviceInfo info_;
  std::map<std::string, std::unique_ptr<cuda::Module>> modules_;
  unsigned char *a_ = nullptr, *b_ = nullptr;
  std::vector<unsigned char> host_;
  std::vector<void*> more_;
};

}  // namespace

Bench::Bench() : pattern_(static_cast<std::size_t>(kPatternBytes)) {
  std::mt19937_64 random(7);
  for (std::size_t k = 0; k + 8 <= pattern_.size(); k += 8) {
    const auto value = random();
    std::memcpy(pattern_.data() + k, &value, 8);
  }
}

std::unique_ptr<Bench> make_bench(bool gpu, std::int64_t bytes, int threads) {
  if (gpu) return std::make_unique<GpuBench>(bytes);
  return std::make_unique<CpuBench>(bytes, threads);
}

}  // namespace ricci::tools
