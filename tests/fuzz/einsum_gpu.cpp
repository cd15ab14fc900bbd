// Random einsums through Runtime on a device, within the bound of their arithmetic. Kernels are compiled by several
// threads ahead of the runs, since compiling is nearly all of the time.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "catch.hpp"
#include "fuzz/on_device.hpp"
#include "fuzz/random_einsum.hpp"
#include "fuzz/random_problem.hpp"
#include "jit/cuda_driver.hpp"

namespace einsum_gpu_test {

using namespace ricci;
namespace cuda = ricci::jit::cuda;

namespace {

/// What went wrong, or nothing.
std::string failure(Runtime& runtime, fuzz::RandomEinsum& e) {
  const auto want = e.expected();
  const auto before = e.tensors.back();
  const auto plan =
      runtime.plan_einsum(e.problem.spec.text, e.problem.inputs, e.problem.output, e.options(Device::gpu));
  fuzz::run_on_device(plan, e);
  const auto difference = e.difference(want, before);
  return difference.empty() ? difference : difference + "\n" + plan.program() + plan.source();
}

}  // namespace

TEST_CASE("random einsums on a device are the interpreter's within their bound") {
  if (!cuda::available()) RICCI_SKIP("no GPU");
  Runtime runtime;
  const auto first = fuzz::first_seed(500001);
  const int count = fuzz::cases(2000);
  std::atomic<int> next{0}, run{0};
  std::mutex mutex;
  std::string failures;
  const auto work = [&] {
    cuda::current_device();
    for (int k; (k = next++) < count;) {
      auto e = fuzz::random_einsum(first + static_cast<std::uint64_t>(k));
      std::string text;
      try {
        text = failure(runtime, e);
      } catch (const std::exception& error) {
        text = error.what();
      }
      if (text.empty()) {
        ++run;
        continue;
      }
      const std::lock_guard lock(mutex);
      if (failures.size() < 20000) failures += e.text() + "\n" + text + "\n";
    }
  };
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < std::max(1u, std::thread::hardware_concurrency()); ++k) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  std::printf("%d random einsums from seed %llu on %s\n", run.load(), static_cast<unsigned long long>(first),
              cuda::device_info(cuda::current_device()).name.c_str());
  INFO(failures);
  REQUIRE(run == count);
}

}  // namespace einsum_gpu_test
