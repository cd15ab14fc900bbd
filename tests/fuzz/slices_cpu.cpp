// Random programs in slices: by the interpreter, as passes make them, and by plans of the CPU whose workspace is
// limited, to the bits of the whole program for any number of threads.
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fuzz/random_chain.hpp"
#include "fuzz/seeds.hpp"
#include "lower/lower_program.hpp"
#include "ricci/ricci.hpp"

namespace slices_cpu_test {

using namespace ricci;

namespace {

using Memory = std::vector<std::vector<double>>;

Memory memory_of(const ir::Sequence& sequence, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Memory memory;
  for (const auto& storage : sequence.storages) {
    if (storage.role == ir::Role::workspace) continue;
    auto& values = memory.emplace_back(static_cast<std::size_t>(storage.last + 1));
    for (auto& value : values) value = static_cast<double>(random() % 3) - 1;
  }
  return memory;
}

void interpret(const ir::Sequence& sequence, Memory& memory) {
  Memory workspace;
  std::vector<void*> pointers;
  std::size_t tensor = 0;
  for (const auto& storage : sequence.storages) {
    if (storage.role != ir::Role::workspace) {
      pointers.push_back(memory[tensor++].data());
      continue;
    }
    pointers.push_back(workspace.emplace_back(static_cast<std::size_t>(storage.last + 1), 7e77).data());
  }
  ir::interpret(sequence, pointers, {});
}

struct Counts {
  int sliced = 0, nested = 0, planned = 0;
};

void check(Runtime& runtime, std::uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  const fuzz::Chain chain(random);
  INFO("seed " << seed << "\n" << chain.text);
  const auto program = Program::parse(chain.text);
  const auto whole = ir::lower(program);
  const auto before = memory_of(whole, seed);
  auto want = before;
  interpret(whole, want);
  const auto sliced = fuzz::in_slices(whole, random);
  counts.sliced += sliced.slices.empty() ? 0 : 1;
  for (const auto& slice : sliced.slices) counts.nested += slice.loops.size() > 1 ? 1 : 0;
  auto got = before;
  interpret(sliced, got);
  CHECK(got == want);

  PlanOptions options;
  options.workspace_limit = whole.workspace_bytes() * static_cast<std::int64_t>(1 + random() % 3) / 4;
  for (const int threads : {1, 2, 8}) {
    options.threads = threads;
    std::optional<Plan> plan;
    try {
      plan = runtime.plan_program(program, options);
    } catch (const PlanError& error) {
      CHECK(std::string(error.what()).find("the limit is") != std::string::npos);
      return;
    }
    counts.planned += threads == 1 && plan->explain().find("slice: ") != std::string::npos ? 1 : 0;
    CHECK(plan->info().workspace_bytes <= options.workspace_limit);
    auto tensors = before;
    std::vector<void*> outputs;
    std::vector<const void*> inputs;
    std::size_t tensor = 0;
    for (const auto& storage : whole.storages) {
      if (storage.role == ir::Role::workspace) continue;
      auto* const data = tensors[tensor++].data();
      if (storage.role == ir::Role::output) {
        outputs.push_back(data);
      } else {
        inputs.push_back(data);
      }
    }
    (*plan)(outputs, inputs);
    if (tensors != want) FAIL("threads " << threads << "\n" << plan->explain() << plan->program());
  }
}

}  // namespace

TEST_CASE("random programs in slices compute what they do whole") {
  const auto first = fuzz::first_seed(770001);
  const int count = fuzz::cases(40);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 8;
  Runtime runtime(options);
  Counts counts;
  for (int k = 0; k < count; ++k) check(runtime, first + static_cast<std::uint64_t>(k), counts);
  std::printf("%d random programs from seed %llu: %d sliced, %d along several indices, %d by a limit\n", count,
              static_cast<unsigned long long>(first), counts.sliced, counts.nested, counts.planned);
  if (!fuzz::enough(count)) return;
  CHECK(counts.sliced > count / 4);
  CHECK(counts.nested > 0);
  CHECK(counts.planned > 0);
}

}  // namespace slices_cpu_test
