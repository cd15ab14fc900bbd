// Schedules taken from the tuning store, measured into it, and what happens to entries that are not valid.
#include "runtime/tuning.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "cache/format.hpp"
#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "lower/einsum.hpp"
#include "ricci/ricci.hpp"
#include "runtime/runtime_impl.hpp"

namespace runtime_tuning_test {

namespace {

using namespace ricci;
namespace fs = std::filesystem;

const Layout kLayout = Layout::row_major(DType::f32, {48, 40, 56});
constexpr const char* kSpec = "abc->cba";
constexpr int kThreads = 2;

RuntimeOptions options_of(const std::string& cache_dir, int threads = kThreads) {
  RuntimeOptions options;
  options.cache_dir = cache_dir;
  options.threads = threads;
  return options;
}

/// A cache directory of the test's own.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("ricci-tuning-test-" + std::to_string(::getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  Runtime runtime() const { return Runtime(options_of(path.string())); }
  cache::Config config() const {
    cache::Config config;
    config.root = path;
    return config;
  }
};

Plan planned(Runtime& runtime, PlanMode mode = PlanMode::estimate) {
  PermuteOptions options;
  options.mode = mode;
  options.measured = 3;
  return runtime.plan_permute(kSpec, kLayout, options);
}

/// The program as its plans have it, and the key under which it is tuned.
ir::Program canonical_program() {
  const ir::EinsumProblem problem{
      Spec::parse(kSpec), {kLayout},        ir::permuted_row_major(Spec::parse(kSpec), kLayout),
      ir::Factor::one,    ir::Factor::zero, {false}};
  auto program = ir::lower(problem);
  for (auto& buffer : program.buffers) buffer.alignment = size_of(buffer.type);
  return ir::canonicalise(program);
}

runtime::Target cpu_target() { return runtime::target_of(PlanOptions{}); }

cache::Entry entry_for(const std::string& winner) {
  const auto program = canonical_program();
  const auto key = runtime::tuning_key(ir::print(program), cpu_target(), kThreads);
  return runtime::tuning_entry(key, program, cpu_target(), kThreads, {{{winner, 1.5, 15}}});
}

std::string first_word(const Plan& plan) { return plan.info().schedule.substr(0, plan.info().schedule.find(':')); }

bool right(const Plan& plan) {
  const auto count = static_cast<std::size_t>(kLayout.elements());
  std::vector<float> a(count), b(count, -1), expected(count, -2);
  std::iota(a.begin(), a.end(), 0.0f);
  plan(b.data(), a.data());
  Runtime::interpret_permute(kSpec, kLayout, plan.output_layout(), a.data(), expected.data());
  return b == expected;
}

}  // namespace

TEST_CASE("a plan takes what the store says, whatever the model does") {
  const Folder folder;
  auto first = folder.runtime();
  const auto estimated = planned(first);
  CHECK(estimated.info().choice == "estimated");
  const auto names = estimated.candidates();
  REQUIRE(names.size() > 1);
  const auto competes = [](const CandidateInfo& c) { return !c.written; };
  const auto winner = std::find_if(names.rbegin(), names.rend(), competes)->name;
  REQUIRE(first_word(estimated) != winner);
  cache::Store(folder.config()).put(entry_for(winner));

  auto second = folder.runtime();
  const auto tuned = planned(second);
  CHECK(tuned.info().choice == "tuned");
  CHECK(first_word(tuned) == winner);
  CHECK(tuned.explain().find(", the fastest when this problem was measured on this device\n") != std::string::npos);
  CHECK(right(tuned));
  CHECK(planned(second, PlanMode::measure).info().choice == "tuned");

  const auto model = planned(second, PlanMode::model);
  CHECK(model.info().choice == "estimated");
  CHECK(model.key() == estimated.key());
  PermuteOptions named;
  named.schedule = names.front().name;
  CHECK(second.plan_permute(kSpec, kLayout, named).info().choice == "named");
  // Another number of threads is another problem.
  PermuteOptions alone;
  alone.threads = 1;
  CHECK(second.plan_permute(kSpec, kLayout, alone).info().choice == "estimated");
}

TEST_CASE("what the model chose is kept, and taken by the next process") {
  const Folder folder;
  auto first = folder.runtime();
  const auto estimated = planned(first);
  const auto program = canonical_program();
  const auto list = plan::candidates(program, runtime::cpu_model(cpu_target().cpu, kThreads));
  const auto key = runtime::choice_key(ir::print(program), cpu_target(),
                                       plan::print(runtime::cpu_model(cpu_target().cpu, kThreads)));
  const auto found = [&] {
    cache::Store store(folder.config());
    return runtime::find_choice(store, key, program, kernel::Target::cpu);
  };
  const auto kept = found();
  REQUIRE(kept);
  CHECK(kept->name == first_word(estimated));
  CHECK(kernel::print(*kept) == kernel::print(list.front().schedule));

  // What stands there is what is taken: it is not searched for again.
  const auto& other = list[1].schedule;
  cache::Store(folder.config()).put(runtime::choice_entry(key, program, other));
  auto second = folder.runtime();
  const auto taken = planned(second);
  CHECK(taken.info().choice == "estimated");
  CHECK(first_word(taken) == other.name);
  CHECK(right(taken));

  // What is not a schedule of this program is searched for again, and replaced.
  auto broken = other;
  broken.directives = kernel::parse_directives("order; write");  // of no element
  auto nonsense = runtime::choice_entry(key, program, other);
  nonsense.source = "no schedule\n";
  for (const auto& entry : {runtime::choice_entry(key, program, broken), nonsense}) {
    cache::Store(folder.config()).put(entry);
    auto third = folder.runtime();
    CHECK(planned(third).key() == estimated.key());
    REQUIRE(found());
    CHECK(found()->name == kept->name);
  }
}

TEST_CASE("a winner's schedule is kept with its name") {
  const Folder folder;
  auto first = folder.runtime();
  const auto measured = planned(first, PlanMode::measure);
  const auto program = canonical_program();
  const auto key = runtime::tuning_key(ir::print(program), cpu_target(), kThreads);
  cache::Store store(folder.config());
  const auto tuning = runtime::find_tuning(store, key);
  REQUIRE(tuning);
  const auto kept = runtime::named_schedule(tuning->winner().name, tuning->schedule, program, kernel::Target::cpu);
  REQUIRE(kept);
  CHECK(kept->name == first_word(measured));
  auto second = folder.runtime();
  CHECK(planned(second).key() == measured.key());
  CHECK(planned(second).info().choice == "tuned");
}

TEST_CASE("a stored schedule in a word that directives had once is none") {
  const auto program = canonical_program();
  const auto moves = [&](const std::string& memory) {
    const auto list = plan::candidates(program, plan::GpuModel::of_capability(90));
    const auto warp = std::find_if(list.begin(), list.end(), [](const plan::Candidate& candidate) {
      return candidate.schedule.name.starts_with("warp ");
    });
    REQUIRE(warp != list.end());
    auto text = kernel::print(warp->schedule);
    const std::string word = "stage A registers ";
    const auto place = text.find(word);
    REQUIRE(place != std::string::npos);
    text.replace(place, word.size(), "stage A " + memory + " ");
    return runtime::named_schedule(warp->schedule.name, text, program, kernel::Target::cuda);
  };
  CHECK(moves("registers"));
  CHECK_FALSE(moves("warp"));
}

TEST_CASE("an entry that names no schedule of the problem is passed over and measured again") {
  const Folder folder;
  cache::Store(folder.config()).put(entry_for("loops from another time"));
  auto runtime = folder.runtime();
  CHECK(planned(runtime).info().choice == "estimated");
  const auto measured = planned(runtime, PlanMode::measure);
  CHECK(measured.info().choice == "measured");
  CHECK(measured.info().measure_ms > 0);
  CHECK(right(measured));
  auto next = folder.runtime();
  const auto tuned = planned(next);
  CHECK(tuned.info().choice == "tuned");
  CHECK(tuned.key() == measured.key());
}

TEST_CASE("a text that is no tuning is passed over") {
  const Folder folder;
  auto entry = entry_for("x");
  entry.source = "nothing that was measured\n";
  cache::Store(folder.config()).put(entry);
  auto runtime = folder.runtime();
  CHECK(planned(runtime).info().choice == "estimated");
  CHECK(planned(runtime, PlanMode::measure).info().choice == "measured");
}

TEST_CASE("a file that is damaged anywhere is no entry, and is made again") {
  const Folder folder;
  auto first = folder.runtime();
  const auto measured = planned(first, PlanMode::measure);
  const auto key = runtime::tuning_key(ir::print(canonical_program()), cpu_target(), kThreads);
  const auto file = folder.path / cache::EntryName::of(key).path();
  REQUIRE(fs::exists(file));
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto write = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  };
  for (std::size_t place = 0; place < whole.size(); place += 37) {
    auto damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 4);
    write(damaged);
    auto runtime = folder.runtime();
    REQUIRE(planned(runtime).info().choice == "estimated");
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{63}, whole.size() - 1}) {
    write(whole.substr(0, size));
    auto runtime = folder.runtime();
    REQUIRE(planned(runtime).info().choice == "estimated");
  }
  auto last = folder.runtime();
  CHECK(planned(last, PlanMode::measure).info().choice == "measured");
  auto next = folder.runtime();
  CHECK(planned(next).info().choice == "tuned");
}

TEST_CASE("remeasuring measures again, without a directory for the process alone") {
  Runtime runtime(options_of("off"));
  CHECK(planned(runtime, PlanMode::measure).info().choice == "measured");
  CHECK(planned(runtime, PlanMode::measure).info().choice == "tuned");
  CHECK(planned(runtime, PlanMode::remeasure).info().choice == "measured");
  Runtime other(options_of("off"));
  CHECK(planned(other).info().choice == "estimated");
}

TEST_CASE("every kernel of a plan is measured, with old values and parameters") {
  const Folder folder;
  auto runtime = folder.runtime();
  EinsumOptions options;
  options.mode = PlanMode::measure;
  options.measured = 2;
  options.alpha = 3;
  options.beta = 0.5;
  const std::vector<Layout> inputs = {Layout::row_major(DType::f64, {20, 30}), Layout::row_major(DType::f64, {30, 10}),
                                      Layout::row_major(DType::f64, {10, 25})};
  const auto plan = runtime.plan_einsum("ab,bc,cd->ad", inputs, options);
  REQUIRE(plan.info().steps == 2);
  CHECK(plan.info().choice == "measured; measured");
  options.mode = PlanMode::estimate;
  CHECK(runtime.plan_einsum("ab,bc,cd->ad", inputs, options).info().choice == "tuned; tuned");

  const auto program =
      Program::parse("index i = 4000\nparam dt : f64\ninput x(i) : f64\ninout s(i) : f64\ns(i) *= dt * x(i)\n");
  PlanOptions measure;
  measure.mode = PlanMode::measure;
  CHECK(runtime.plan_program(program, measure).info().choice == "measured");
}

TEST_CASE("nothing can be measured without a device") {
  Runtime runtime(options_of("off", 1));
  PermuteOptions options;
  options.device = Device::gpu;
  options.target_sm = 90;
  options.mode = PlanMode::measure;
  CHECK_THROWS_AS(runtime.plan_permute(kSpec, kLayout, options), PlanError);
}

}  // namespace runtime_tuning_test
