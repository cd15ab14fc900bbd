#include "fuzz/kernel_case.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "ricci/error.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci::fuzz {
namespace {

/// The statements' loops have points; sums may be empty.
bool runs(const ir::Program& program) {
  const auto free = program.free_indices();
  for (std::size_t q = 0; q < free.size(); ++q) {
    if (free[q] && program.indices[q].extent == 0) return false;
  }
  return true;
}

template <class Model>
std::optional<KernelCase> make(std::uint64_t seed, Kind kind, const Model& device_model, const ProgramLimits& limits,
                               kernel::Target target) {
  KernelCase made;
  made.random = random_program(seed, kind, limits);
  if (!runs(made.random.program)) return std::nullopt;
  made.expectation = expect(made.random);
  made.program = ir::canonicalise(made.random.program);
  const auto list = plan::candidates(made.program, device_model);
  made.schedule = list[seed % 3 == 0 ? 0 : static_cast<std::size_t>(seed / 3) % list.size()].schedule;
  try {
    kernel::verify(made.schedule, made.program, target);
    made.source = codegen::emit(made.program, made.schedule, target, {"", "", ""});
  } catch (const Error& error) {
    throw InternalError(made.told(error.what()));
  }
  made.memory = made.random.memory;
  made.values.resize(made.program.params.size());
  for (std::size_t k = 0; k < made.values.size(); ++k) {
    runtime::encode_factor(made.random.params[static_cast<std::size_t>(made.program.param[k])],
                           made.program.params[k].type, made.values[k].at);
  }
  return made;
}

}  // namespace

std::string KernelCase::told(const std::string& what) const {
  return fmt::format("{}canonical:\n{}schedule {}\n{}{}{}\n", random.text(), ir::print(program), schedule.name,
                     kernel::print(schedule), source.text, what);
}

jit::CudaObject KernelCase::cubin(int sm) const {
  jit::CudaCompileOptions options;
  options.sm = sm;
  options.contract = !program.exact;
  return jit::compile_cuda(source.full(), source.kernel, options);
}

std::string KernelCase::verdict() {
  const auto text = difference(random, expectation, memory);
  return text.empty() ? text : told(text);
}

std::optional<KernelCase> kernel_case(std::uint64_t seed, Kind kind, const plan::CpuModel& device_model,
                                      const ProgramLimits& limits) {
  return make(seed, kind, device_model, limits, kernel::Target::cpu);
}

std::optional<KernelCase> kernel_case(std::uint64_t seed, Kind kind, const plan::GpuModel& device_model,
                                      const ProgramLimits& limits) {
  return make(seed, kind, device_model, limits, kernel::Target::cuda);
}

void check_seeds(std::uint64_t seed, int count, const std::string& where,
                 const std::function<std::string(std::uint64_t, Kind)>& failure, unsigned threads) {
  constexpr const char* kNames[] = {"sums of products", "grid program", "motif", "fields"};
  constexpr int kKinds = 4, kShown = 3;
  const auto first = first_seed(seed);
  const int each = cases(count);
  std::atomic<int> next{0};
  std::mutex mutex;
  std::string failures;
  int failed = 0;
  const auto work = [&] {
    for (int k; (k = next++) < kKinds * each;) {
      const auto number = first + static_cast<std::uint64_t>(k / kKinds);
      std::string text;
      try {
        text = failure(number, static_cast<Kind>(k % kKinds));
      } catch (const Error& error) {
        text = error.what();
      }
      const std::lock_guard lock(mutex);
      if (text.empty() || ++failed > kShown) continue;
      failures += fmt::format("seed {}, {}: {}\n", number, kNames[k % kKinds], text);
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned k = 1; k < threads; ++k) helpers.emplace_back(work);
  work();
  for (auto& helper : helpers) helper.join();
  std::printf("%d random programs of each kind from seed %llu, %s\n", each, static_cast<unsigned long long>(first),
              where.c_str());
  INFO(failures);
  CHECK(failed == 0);
  REQUIRE(each > 0);
}

}  // namespace ricci::fuzz
