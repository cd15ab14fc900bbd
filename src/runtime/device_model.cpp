#include "runtime/device_model.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "ricci/error.hpp"
#include "runtime/host_copy.hpp"
#include "runtime/host_memory.hpp"
#include "runtime/host_multiply.hpp"
#include "runtime/thread_pool.hpp"
#include "runtime/tuning.hpp"

namespace ricci::runtime {
namespace {

namespace cuda = jit::cuda;
using plan::MeasuredMemory;
using plan::MemoryRates;

constexpr std::int64_t kLeastBytes = 64 << 20, kMostBytes = 128 << 20;  // of each of two buffers
constexpr int kSamples = 4;  // of each rate, the first of which finds caches and translations as they are

std::string measured_memory_key(const Target& target) {
  const int processors = static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  return fmt::format("ricci device_model 2\ndevice {}\n", device_kind(target, processors));
}

double GBs_of(double bytes, double us) { return bytes / std::max(us, 1e-3) * 1e-3; }

/// Pages of 4096 bytes, of each of which a line is read: more than any processor keeps translations of, and as many
/// lines as a second cache holds.
constexpr std::int64_t kPages = 8192, kPageBytes = 4096;

/// Memory in pages of that size, whatever the system gives to large tensors.
HostMemory small_pages(std::int64_t bytes) {
  HostMemory memory(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, static_cast<std::size_t>(bytes))));
  if (memory) (void)::madvise(memory.get(), static_cast<std::size_t>(bytes), MADV_NOHUGEPAGE);
  return memory;
}

class HostBench {
 public:
  HostBench(std::int64_t bytes, int vector_bytes)
      : bytes_(bytes),
        vector_bytes_(vector_bytes),
        a_(allocate_host(static_cast<std::size_t>(bytes))),
        b_(allocate_host(static_cast<std::size_t>(bytes))),
        small_(small_pages(kPages * kPageBytes)) {
    if (!a_ || !b_ || !small_)
      throw DeviceError(fmt::format("no memory to measure in: two buffers of {} bytes", bytes));
    std::memset(small_.get(), 0x3f, static_cast<std::size_t>(kPages * kPageBytes));
    std::memset(a_.get(), 0x3f, static_cast<std::size_t>(bytes));
    std::memset(b_.get(), 0x3f, static_cast<std::size_t>(bytes));
  }

  /// By all threads of a pool, of one run each.
  MemoryRates rates(ThreadPool& pool) {
    const auto timed_us = [&](auto part) {
      struct Context {
        HostBench* bench;
        int threads;
        decltype(part) run;
      } context{this, pool.threads(), part};
      const auto start = std::chrono::steady_clock::now();
      pool.run(
          pool.threads(),
          [](void* given, int task) {
            const auto& c = *static_cast<Context*>(given);
            const auto first = c.bench->place(task, c.threads), last = c.bench->place(task + 1, c.threads);
            c.run(c.bench->b_.get() + first, c.bench->a_.get() + first, last - first);
          },
          &context);
      return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    };
    const auto bytes = static_cast<double>(bytes_);
    MemoryRates rates;
    rates.threads = pool.threads();
    rates.copy_GBs =
        GBs_of(2 * bytes, timed_us([](void* to, const void* from, std::int64_t n) { copy_cached(to, from, n); }));
    rates.streaming_GBs =
        GBs_of(2 * bytes, timed_us([](void* to, const void* from, std::int64_t n) { copy_streaming(to, from, n); }));
    const auto reading = [&](std::uint64_t (*read)(const void*, std::int64_t)) {
      return GBs_of(bytes, timed_us([read](void*, const void* from, std::int64_t n) {
                      const auto sum = read(from, n);
                      asm volatile("" : : "r"(sum));  // keeps the reads from being optimised away
                    }));
    };
    rates.read_GBs = reading(read_all);
    rates.ahead_GBs = reading(read_ahead);
    rates.rows_GBs = reading(read_rows);
    rates.write_GBs = GBs_of(bytes, timed_us([](void* to, const void*, std::int64_t n) { write_streaming(to, n); }));
    rates.apart_GBs = GBs_of(bytes, timed_us([](void* to, const void*, std::int64_t n) { write_apart(to, n); }));
    rates.multiply_GFs = multiply_GFs(pool);
    const double dense = line_ns(pool, a_.get(), read_dense);
    rates.page_ns = std::max(line_ns(pool, a_.get(), read_pages) - dense, 0.0);
    rates.small_page_ns = std::max(line_ns(pool, small_.get(), read_pages) - dense, 0.0);
    return rates;
  }

 private:
  /// Microseconds of each thread's fastest run, while the others do the same. Each looks at its own time, as one that
  /// waits for a processor would hold up all.
  template <class Run>
  static std::vector<double> each_least_us(ThreadPool& pool, const Run& run) {
    struct Context {
      const Run& run;
      std::vector<double> us;
    } context{run, std::vector<double>(static_cast<std::size_t>(pool.threads()), 0.0)};
    constexpr int kShortSamples = 8;
    for (int k = 0; k < kShortSamples; ++k) {
      pool.run(
          pool.threads(),
          [](void* given, int task) {
            auto& c = *static_cast<Context*>(given);
            auto& least = c.us[static_cast<std::size_t>(task)];
            const auto start = std::chrono::steady_clock::now();
            c.run();
            const std::chrono::duration<double, std::micro> us = std::chrono::steady_clock::now() - start;
            least = least == 0 ? us.count() : std::min(least, us.count());
          },
          &context);
    }
    return std::move(context.us);
  }

  /// Of all threads together.
  double multiply_GFs(ThreadPool& pool) const {
    constexpr std::int64_t kRounds = 100'000;
    const double operations = multiply_add(vector_bytes_, 1) * kRounds;
    double rate = 0;
    for (const auto us : each_least_us(pool, [this] { (void)multiply_add(vector_bytes_, kRounds); }))
      rate += operations / us * 1e-3;
    return rate;
  }

  /// For each line, on average. All threads read the same lines, each into its own caches.
  static double line_ns(ThreadPool& pool, const std::byte* from, std::uint64_t (*read)(const void*, std::int64_t)) {
    double all_us = 0;
    const auto run = [from, read] {
      const auto sum = read(from, kPages);
      asm volatile("" : : "r"(sum));  // keeps the reads from being optimised away
    };
    for (const auto us : each_least_us(pool, run)) all_us += us;
    return 1e3 * all_us / pool.threads() / kPages;
  }

  std::int64_t place(int task, int threads) const { return bytes_ / 4096 * task / threads * 4096; }

  std::int64_t bytes_;
  int vector_bytes_;
  HostMemory a_, b_, small_;
};

MeasuredMemory measure_cpu(const Target& target, int threads) {
  const auto l3_bytes = static_cast<std::int64_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L));
  HostBench bench(std::clamp(4 * l3_bytes, kLeastBytes, kMostBytes), target.cpu.vector_bytes);
  std::vector<std::unique_ptr<ThreadPool>> pools;
  for (int n = 1; n < threads; n *= 2) pools.push_back(std::make_unique<ThreadPool>(n));
  pools.push_back(std::make_unique<ThreadPool>(threads));
  // One sample of everything after the other: what disturbs all samples of a rate side by side is seldom there so long.
  MeasuredMemory measured;
  for (int k = 0; k < kSamples; ++k) {
    MeasuredMemory once;
    for (const auto& pool : pools) once.rates.push_back(bench.rates(*pool));
    measured = plan::better_of(once, measured);
  }
  return measured;
}

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : pointer_(cuda::allocate(bytes)) {}
  ~DeviceMemory() { cuda::release(pointer_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* get() const noexcept { return pointer_; }

 private:
  void* pointer_;
};

MeasuredMemory measure_gpu(const Target& target) {
  const cuda::OnDevice on_device(target.ordinal);
  constexpr auto kBytes = static_cast<std::size_t>(kMostBytes);
  const DeviceMemory a(kBytes), b(kBytes);
  cuda::fill_bytes(a.get(), 0x3f, kBytes);
  cuda::synchronize();
  const cuda::OwnedStream stream;
  cuda::Event before, after;
  const auto run_us = [&] {
    before.record(stream.get());
    cuda::copy_on_device(b.get(), a.get(), kBytes, stream.get());
    after.record(stream.get());
    after.wait();
    return 1e3 * cuda::Event::ms_between(before, after);
  };
  MemoryRates rates;
  double least = run_us();
  for (int k = 1; k < kSamples; ++k) least = std::min(least, run_us());
  rates.copy_GBs = GBs_of(2.0 * kBytes, least);
  return {{rates}};
}

}  // namespace

std::shared_ptr<const MeasuredMemory> find_measured_memory(cache::Store& store, const Target& target) {
  const auto entry = store.find(measured_memory_key(target));
  auto measured = entry ? plan::parse_measured_memory(entry->source) : std::nullopt;
  return measured ? std::make_shared<const MeasuredMemory>(std::move(*measured)) : nullptr;
}

std::shared_ptr<const MeasuredMemory> measure_memory(cache::Store& store, const Target& target, int threads) {
  auto measured = target.device == Device::cpu ? measure_cpu(target, std::max(threads, 1)) : measure_gpu(target);
  if (const auto before = find_measured_memory(store, target)) measured = plan::better_of(measured, *before);
  cache::Entry entry;
  entry.key = measured_memory_key(target);
  entry.source = plan::print(measured);
  entry.metadata = R"({"device_model":"memory rates"})";
  store.put(entry);
  return std::make_shared<const MeasuredMemory>(
      *plan::parse_measured_memory(entry.source));  // as later processes read it
}

std::string library_key(const ProductLibrary& library, const Target& target, int threads) {
  return fmt::format("ricci library_model 1\ndevice {}\nlibrary {}\n", device_kind(target, threads),
                     library.identity());
}

std::optional<plan::LibraryModel> find_library_model(cache::Store& store, const std::string& key) {
  const auto entry = store.find(key);
  return entry ? plan::parse_library_model(entry->source) : std::nullopt;
}

plan::LibraryModel measure_library(cache::Store& store, const std::string& key, const ProductLibrary& library,
                                   int threads) {
  const auto rate = [&](DType type) { return product_GFs(library, type, threads); };
  cache::Entry entry;
  entry.key = key;
  entry.source = plan::print_rates({rate(DType::f32), rate(DType::f64), rate(DType::c64), rate(DType::c128)});
  entry.metadata = R"({"device_model":"rates of a library"})";
  store.put(entry);
  return *plan::parse_library_model(entry.source);  // as later processes read it
}

}  // namespace ricci::runtime
