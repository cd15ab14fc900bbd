#include "bench/results.hpp"

#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "cli/mode.hpp"
#include "ricci/error.hpp"
#include "runtime/thread_pool.hpp"

namespace ricci::tools {
namespace {

// "2026-11-21", UTC.
std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

void write_results(const Json& result, const std::string& file) {
  if (file.empty()) return;
  std::ofstream out(file);
  out << result.dump(1) << '\n';
  if (!out.flush()) throw IoError(fmt::format("cannot write {}", file));
}

}  // namespace

int BenchOptions::thread_count() const { return threads > 0 ? threads : runtime::default_threads(); }

PlanOptions BenchOptions::plan_options() const {
  PlanOptions plan;
  plan.device = gpu() ? Device::gpu : Device::cpu;
  plan.threads = thread_count();
  plan.mode = plan_mode(mode);
  return plan;
}

void add_bench_repeat(Command& command, BenchOptions& options) {
  command.add_option("--repeat", options.repeat, "Timed runs of each case; the median counts")
      .range(1, 10000)
      .capture_default_str();
}

void add_bench_every(Command& command, BenchOptions& options) {
  command.add_option("--every", options.every, "Of these, the first of every so many")
      .range(1, 1000)
      .capture_default_str();
}

void add_bench_most_gflop(Command& command, BenchOptions& options) {
  command
      .add_option("--most-gflop", options.most_gflop,
                  "Make the extents of larger cases smaller, all by one factor, down to so many GFLOP (0: as they are)")
      .capture_default_str();
}

void add_bench_threads(Command& command, BenchOptions& options) {
  command.add_option("--threads", options.threads, "CPU threads; 0: all").capture_default_str();
}

void add_bench_output(Command& command, BenchOptions& options) {
  command.add_option("--output", options.output, "Write the results as JSON to this file");
  command.add_option("--commit", options.commit, "Commit to name in the results");
}

void throw_no_case(const std::string& file, const std::string& only) {
  throw IoError(fmt::format("{} has no case that begins with \"{}\"", file, only));
}

void shrink(std::vector<EinsumCase>& cases, const BenchOptions& options) {
  if (options.most_gflop <= 0) return;
  for (auto& c : cases) shrink(c, options.most_gflop * 1e9);
}

Plan gpu_copy(Runtime& runtime, DType type, std::int64_t elements) {
  PermuteOptions whole;
  whole.device = Device::gpu;
  return runtime.plan_permute("a->a", Layout::row_major(type, {elements}), whole);
}

Json results_json(BenchResults results, const BenchOptions& options, const std::string& device) {
  Json limit = {{"copy_GBs", results.copy_rate}};
  if (results.product_rate > 0) limit["gemm_TFs"] = results.product_rate * 1e-3;
  return {{"bench", results.bench},
          {"set", results.set},
          {"dtype", results.dtype},
          {"device", device},
          {"date", today()},
          {"commit", options.commit},
          {"command", results.command},
          {"fraction_of", results.product_rate > 0 ? "roofline" : "copy"},
          {"limit", std::move(limit)},
          {"cases", std::move(results.rows)},
          {"summary", summary(results.fractions)}};
}

void report_results(const Json& result, const BenchOptions& options, bool json) {
  write_results(result, options.output);
  if (json) {
    print_json(result);
  } else {
    print("\n");
    print_summary(result["fraction_of"].text() == "roofline" ? "share of the roofline" : "share of the copy",
                  result["summary"]);
  }
}

}  // namespace ricci::tools
