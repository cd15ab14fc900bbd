// Random permutations through Runtime on a device, bit for bit against the interpreter. Kernels are compiled by several
// threads ahead of the runs, since compiling is nearly all of the time.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "catch.hpp"
#include "device_memory.hpp"
#include "fuzz/random_problem.hpp"
#include "ir/passes/canonical.hpp"
#include "jit/cuda_driver.hpp"
#include "plan/plan.hpp"
#include "ricci/ricci.hpp"
#include "runtime/plan_impl.hpp"

namespace permute_gpu_test {

using namespace ricci;
namespace cuda = ricci::jit::cuda;

namespace {

std::string some_schedule(const fuzz::RandomProblem& p, const plan::GpuModel& device_model) {
  if (p.seed % 3 == 0) return {};
  const auto program = ir::canonicalise(ir::lower(p.problem()));
  if (program.points() == 0) return {};
  const auto list = plan::candidates(program, device_model);
  return list[static_cast<std::size_t>(p.seed / 3) % list.size()].schedule.name;
}

}  // namespace

TEST_CASE("random permutations on a device equal the interpreter's bits") {
  if (!cuda::available()) RICCI_SKIP("no GPU");
  Runtime runtime;
  const auto first = fuzz::first_seed(200001);
  const int count = fuzz::cases(2000);
  const auto device_model = runtime::gpu_model(cuda::device_info(cuda::current_device()));
  std::atomic<int> next{0}, run{0};
  std::mutex mutex;
  std::string failures;
  const auto work = [&] {
    cuda::current_device();
    for (int k; (k = next++) < count;) {
      auto p = fuzz::random_problem(first + static_cast<std::uint64_t>(k));
      std::string problem = p.text();
      try {
        PermuteOptions options;
        options.device = Device::gpu;
        options.alpha = p.alpha;
        options.beta = p.beta;
        options.conjugate = p.conjugate;
        options.schedule = some_schedule(p, device_model);
        problem += "\nschedule " + options.schedule;
        const auto plan = runtime.plan_permute(p.spec, p.input, p.output, options);
        const auto want = fuzz::expected(p);
        const tests::DeviceMemory a(p.a.begin(), p.a.bytes()), b(p.b.begin(), p.b.bytes());
        plan(b.get() + p.b.origin(), a.get() + p.a.origin());
        b.copy_to_host(p.b.begin());
        if (!fuzz::holds(p, want)) throw std::runtime_error("differs from the interpreter\n" + plan.source());
        ++run;
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        if (failures.size() < 20000) failures += problem + "\n" + error.what() + "\n";
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < std::max(1u, std::thread::hardware_concurrency()); ++k) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  std::printf("%d random permutations from seed %llu on %s\n", run.load(), static_cast<unsigned long long>(first),
              cuda::device_info(cuda::current_device()).name.c_str());
  INFO(failures);
  REQUIRE(run == count);
}

}  // namespace permute_gpu_test
