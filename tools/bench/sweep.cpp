// `ricci-bench sweep`: the permutations of a set at one size after the other, or with one number of threads after the
// other, each beside a copy of as many bytes.
#include "bench/benches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/device.hpp"
#include "bench/results.hpp"
#include "bench/sample.hpp"
#include "cache/config.hpp"
#include "cli/mode.hpp"
#include "io/cases.hpp"
#include "report/progress.hpp"
#include "report/report.hpp"
#include "report/statistics.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"
#include "ricci/ricci.hpp"

namespace ricci::tools {
namespace {

struct SweepOptions : BenchOptions {
  std::string file;
  std::vector<std::string> sizes = {"1M", "4M", "16M", "64M", "256M", "1G"};
  std::vector<int> thread_counts = {0};
};

/// What stays the same for all cases in turn.
struct Round {
  std::int64_t size;  ///< bytes of the tensor
  int threads;        ///< of a CPU; 0: all
};

std::vector<std::int64_t> parse_sizes(const std::vector<std::string>& words) {
  std::vector<std::int64_t> sizes;
  for (const auto& word : words) {
    const auto bytes = cache::parse_bytes(word);
    if (!bytes || *bytes == 0) {
      throw ShapeError(fmt::format("--sizes: '{}' is no number of bytes; write 1048576, 512K, 256M or 2G", word));
    }
    sizes.push_back(static_cast<std::int64_t>(*bytes));
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// The case with its extents scaled alike, none to 0, so that the tensor has about as many elements.
PermuteCase scaled(PermuteCase c, std::int64_t elements) {
  double volume = 1;
  for (const auto n : c.extents) volume *= static_cast<double>(n);
  const double factor = std::pow(static_cast<double>(elements) / volume, 1.0 / static_cast<double>(c.extents.size()));
  for (auto& n : c.extents) n = std::max<std::int64_t>(std::llround(static_cast<double>(n) * factor), 1);
  // Rounding short axes misses the size by far: the longest one makes up for it.
  auto& longest = *std::max_element(c.extents.begin(), c.extents.end());
  std::int64_t others = 1;
  for (const auto& n : c.extents) others *= &n == &longest ? 1 : n;
  longest = std::max<std::int64_t>(elements / others, 1);
  return c;
}

/// The largest size comes last.
std::vector<Round> rounds_of(const SweepOptions& options) {
  const auto sizes = parse_sizes(options.sizes);
  std::vector<Round> rounds;
  for (const int threads : options.thread_counts) {
    for (const auto size : sizes) rounds.push_back({size, threads});
  }
  return rounds;
}

/// Bandwidths of the cases of one round, in GB/s.
struct Rates {
  std::vector<double> cases, copies;
};

/// One case of a round, timed beside a copy of as many bytes: its row, and its bandwidths among those of the round.
Json timed(Bench& bench, Runtime& runtime, const PermuteCase& c, const Round& round, const BenchOptions& options,
           Rates& rates) {
  const auto type = parse_dtype(options.dtype);
  PermuteOptions permute;
  static_cast<PlanOptions&>(permute) = options.plan_options();
  const auto input = Layout::row_major(type, c.extents);
  const auto bytes = input.elements() * size_of(type);
  const Plan plan = runtime.plan_permute(c.spec, input, permute);
  bench.poison(bytes);
  plan(bench.output(), bench.input());
  check_sample(bench, c, type);
  const Plan copy_plan = options.gpu()
                             ? gpu_copy(runtime, type, input.elements())
                             : runtime.plan_permute("a->a", Layout::row_major(type, {input.elements()}), permute);
  const auto ms = bench.time({[&] { bench.copy(bytes); }, [&] { plan(bench.output(), bench.input()); },
                              [&] { copy_plan(bench.output(), bench.input()); }},
                             options.repeat, bench.calls(2 * bytes));
  const double copy_ms = std::min(ms.front(), ms.back());
  const double moved_MB = 2e-6 * static_cast<double>(bytes);
  rates.cases.push_back(moved_MB / ms[1]);
  rates.copies.push_back(moved_MB / copy_ms);
  Json row = {{"id", c.id},
              {"size", round.size},
              {"extents", c.extents},
              {"plan", plan.info().schedule},
              {"choice", plan.info().choice},
              {"ms", ms[1]},
              {"bytes", 2 * bytes},
              {"flop", 0},
              {"fraction", copy_ms / ms[1]},
              {"peers", {{"copy", copy_ms}}}};
  if (!options.gpu()) row["threads"] = options.thread_count();
  return row;
}

std::string round_text(const Json& row) {
  const auto size = bytes_text(row["size"].number());
  return row.contains("threads") ? fmt::format("{} x{}", size, row["threads"].integer_or(0)) : size;
}

int bench_sweep(const SweepOptions& options, bool json) {
  auto cases = read_permute_cases(options.file);
  select(cases, options, options.file);
  std::erase_if(cases, [](const PermuteCase& c) { return c.extents.empty(); });
  if (cases.empty()) throw IoError(fmt::format("{} has no case with an axis", options.file));
  const auto type = parse_dtype(options.dtype);
  const auto rounds = rounds_of(options);
  std::unique_ptr<Bench> bench;
  Runtime runtime;

  BenchResults results;
  Json table = Json::array();
  Progress progress("bench");
  if (!json) print("{:>12} {:<20} {:>10} {:>9} {:>8}  {}\n", "size", "case", "ms", "GB/s", "of copy", "plan");
  double passed = 0;
  BenchOptions of_round = options;
  for (const auto& round : rounds) {
    // Each thread touches its part of the tensors first, so other threads have others.
    if (!bench || of_round.threads != round.threads) {
      of_round.threads = round.threads;
      bench.reset();
      bench = make_bench(options.gpu(), rounds.back().size, of_round.thread_count());
    }
    Rates rates;
    for (const auto& original : cases) {
      progress.share(passed++ / static_cast<double>(cases.size() * rounds.size()));
      const auto row = timed(*bench, runtime, scaled(original, round.size / size_of(type)), round, of_round, rates);
      results.copy_rate = std::max(results.copy_rate, rates.copies.back());
      results.fractions.push_back(row["fraction"].number());
      if (!json) {
        progress.pause([&] {
          print("{:>12} {:<20} {:>10.4f} {:>9.0f} {:>8.3f}  {}\n", round_text(row), original.id, row["ms"].number(),
                rates.cases.back(), results.fractions.back(), row["plan"].text());
        });
      }
      results.rows.push_back(row);
    }
    table.push_back({{"size", round.size},
                     {"copy_GBs", median(rates.copies)},
                     {"min_GBs", *std::min_element(rates.cases.begin(), rates.cases.end())},
                     {"median_GBs", median(rates.cases)},
                     {"max_GBs", *std::max_element(rates.cases.begin(), rates.cases.end())}});
    if (!options.gpu()) table.back()["threads"] = of_round.thread_count();
  }
  results.bench = "sweep";
  results.set = set_name(options.file);
  results.dtype = name(type);
  results.command =
      fmt::format("ricci-bench sweep {}.csv --device {} --dtype {}", results.set, options.device, options.dtype);
  if (options.sizes != SweepOptions().sizes)
    results.command += fmt::format(" --sizes {}", fmt::join(options.sizes, ","));
  if (options.thread_counts != SweepOptions().thread_counts)
    results.command += fmt::format(" --threads {}", fmt::join(options.thread_counts, ","));
  if (options.every > 1) results.command += fmt::format(" --every {}", options.every);
  if (!options.mode.empty()) results.command += fmt::format(" --{}", options.mode);
  Json result = results_json(std::move(results), options, bench->device_name());
  result["rounds"] = table;
  report_results(result, options, json);
  if (!json) {
    for (const auto& row : table.elements()) {
      print("{:>12}   copy {:>6.0f} GB/s   median {:>6.0f}   worst {:>6.0f}   best {:>6.0f}\n", round_text(row),
            row["copy_GBs"].number(), row["median_GBs"].number(), row["min_GBs"].number(), row["max_GBs"].number());
    }
  }
  return kDone;
}

}  // namespace

void add_bench_sweep(Command& app, Session& session) {
  auto options = std::make_shared<SweepOptions>();
  Command command =
      app.add_subcommand("sweep", "Time permutations at one size, or with one number of threads, after the other");
  command
      .add_option("cases", options->file,
                  "CSV with columns id, dims, perm (fastest axis first); extents are scaled alike to each size")
      .required();
  command.add_option("--sizes", options->sizes, "Bytes of the tensor: 1M,4M,16M,64M,256M,1G").delimiter(',');
  command.add_option("--threads", options->thread_counts, "CPU threads, such as 1,2,4,8,16; 0: all")
      .delimiter(',')
      .range(0, 1024)
      .capture_default_str();
  command.add_device_option(options->device, "cpu or gpu");
  command.add_option("--dtype", options->dtype, "Element type").capture_default_str();
  command.add_option("--only", options->only, "Cases whose id begins with this");
  add_bench_every(command, *options);
  add_bench_repeat(command, *options);
  add_mode_options(command, options->mode);
  add_bench_output(command, *options);
  command.footer(
      "Example:\n  ricci-bench sweep bench/problems/ttc57.csv --every 8 --dtype f32 --output sweep-ttc57-f32.json");
  run_with(command, session, options, bench_sweep);
}

}  // namespace ricci::tools
