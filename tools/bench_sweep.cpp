// `ricci bench sweep`: the permutations of a set at one size after the other, each beside a copy of as many bytes.
#include "bench_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench_device.hpp"
#include "bench_results.hpp"
#include "cache/config.hpp"
#include "cases.hpp"
#include "mode.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "ricci/error.hpp"
#include "ricci/ricci.hpp"
#include "sample.hpp"
#include "statistics.hpp"
#include "text.hpp"

namespace ricci::tools {
namespace {

struct Options : BenchOptions {
  std::string file;
  std::vector<std::string> sizes = {"1M", "4M", "16M", "64M", "256M", "1G"};
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

int bench_sweep(const Options& options, bool json) {
  auto cases = read_permute_cases(options.file);
  select(cases, options, options.file);
  std::erase_if(cases, [](const PermuteCase& c) { return c.extents.empty(); });
  if (cases.empty()) throw IoError(fmt::format("{} has no case with an axis", options.file));
  const auto type = parse_dtype(options.dtype);
  const auto sizes = parse_sizes(options.sizes);
  const auto bench = make_bench(options.gpu(), sizes.back(), options.thread_count());
  Runtime runtime;
  PermuteOptions permute;
  static_cast<PlanOptions&>(permute) = options.plan_options();

  BenchResults results;
  Json table = Json::array();
  Progress progress("bench");
  if (!json) print("{:>10} {:<20} {:>10} {:>9} {:>8}  {}\n", "size", "case", "ms", "GB/s", "of copy", "plan");
  double passed = 0;
  for (const auto size : sizes) {
    std::vector<double> rates, copies;
    for (const auto& original : cases) {
      progress.share(passed++ / static_cast<double>(cases.size() * sizes.size()));
      const auto c = scaled(original, size / size_of(type));
      const auto input = Layout::row_major(type, c.extents);
      const auto bytes = input.elements() * size_of(type);
      const Plan plan = runtime.plan_permute(c.spec, input, permute);
      bench->poison(bytes);
      plan(bench->output(), bench->input());
      check_sample(*bench, c, type);
      const Plan copy_plan = options.gpu()
                                 ? gpu_copy(runtime, type, input.elements())
                                 : runtime.plan_permute("a->a", Layout::row_major(type, {input.elements()}), permute);
      const auto ms = bench->time({[&] { bench->copy(bytes); }, [&] { plan(bench->output(), bench->input()); },
                                   [&] { copy_plan(bench->output(), bench->input()); }},
                                  options.repeat, bench->calls(2 * bytes));
      const double copy_ms = std::min(ms.front(), ms.back());
      const double moved_MB = 2e-6 * static_cast<double>(bytes);
      rates.push_back(moved_MB / ms[1]);
      copies.push_back(moved_MB / copy_ms);
      results.copy_rate = std::max(results.copy_rate, copies.back());
      results.fractions.push_back(copy_ms / ms[1]);
      results.rows.push_back({{"id", c.id},
                              {"size", size},
                              {"extents", c.extents},
                              {"plan", plan.info().schedule},
                              {"choice", plan.info().choice},
                              {"ms", ms[1]},
                              {"bytes", 2 * bytes},
                              {"flop", 0},
                              {"fraction", copy_ms / ms[1]},
                              {"peers", {{"copy", copy_ms}}}});
      if (!json) {
        progress.pause([&] {
          print("{:>10} {:<20} {:>10.4f} {:>9.0f} {:>8.3f}  {}\n", bytes_text(static_cast<double>(bytes)), c.id, ms[1],
                rates.back(), copy_ms / ms[1], plan.info().schedule);
        });
      }
    }
    table.push_back({{"size", size},
                     {"copy_GBs", median(copies)},
                     {"min_GBs", *std::min_element(rates.begin(), rates.end())},
                     {"median_GBs", median(rates)},
                     {"max_GBs", *std::max_element(rates.begin(), rates.end())}});
  }
  results.bench = "sweep";
  results.set = set_name(options.file);
  results.dtype = name(type);
  results.command = fmt::format("ricci bench sweep {}.csv --device {} --dtype {}{}", results.set, options.device,
                                options.dtype, options.every > 1 ? fmt::format(" --every {}", options.every) : "");
  Json result = results_json(std::move(results), options, bench->device_name());
  result["sizes"] = table;
  report_results(result, options, json);
  if (!json) {
    for (const auto& row : table) {
      print("{:>10}   copy {:>6.0f} GB/s   median {:>6.0f}   worst {:>6.0f}   best {:>6.0f}\n",
            bytes_text(row["size"].get<double>()), row["copy_GBs"].get<double>(), row["median_GBs"].get<double>(),
            row["min_GBs"].get<double>(), row["max_GBs"].get<double>());
    }
  }
  return kDone;
}

}  // namespace

void add_bench_sweep(CLI::App& bench, Session& session) {
  auto options = std::make_shared<Options>();
  CLI::App* command = bench.add_subcommand("sweep", "Time permutations at one size after the other, beside a copy");
  command
      ->add_option("cases", options->file,
                   "CSV with columns id, dims, perm (fastest axis first); extents are scaled alike to each size")
      ->required();
  command->add_option("--sizes", options->sizes, "Bytes of the tensor: 1M,4M,16M,64M,256M,1G")->delimiter(',');
  add_device_option(*command, options->device, "cpu or gpu");
  command->add_option("--dtype", options->dtype, "Element type")->capture_default_str();
  command->add_option("--only", options->only, "Cases whose id begins with this");
  add_bench_every(*command, *options);
  add_bench_repeat(*command, *options);
  add_mode_options(*command, options->mode);
  add_bench_output(*command, *options);
  command->footer(
      "Example:\n  ricci bench sweep bench/problems/ttc57.csv --every 8 --dtype f32 --output sweep-ttc57-f32.json");
  run_with(*command, session, options, bench_sweep);
}

}  // namespace ricci::tools
