// What the benches share: options, the copy that is a device's limit, results for people and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.hpp"
#include "cli/command.hpp"
#include "io/cases.hpp"
#include "report/report.hpp"
#include "report/statistics.hpp"
#include "ricci/runtime.hpp"

namespace ricci::tools {

/// As typed.
struct BenchOptions {
  std::string device = "cpu", dtype = "f64", only, output, commit, mode;
  int repeat = 7, threads = 0, every = 1;
  double most_gflop = 0;  ///< 0: cases as they are

  bool gpu() const { return device == "gpu"; }
  int thread_count() const;          ///< all where 0 was asked for
  PlanOptions plan_options() const;  ///< device, threads and mode
};

void add_bench_repeat(Command& command, BenchOptions& options);
void add_bench_every(Command& command, BenchOptions& options);
void add_bench_most_gflop(Command& command, BenchOptions& options);
void add_bench_threads(Command& command, BenchOptions& options);
/// --output and --commit
void add_bench_output(Command& command, BenchOptions& options);

[[noreturn]] void throw_no_case(const std::string& file, const std::string& only);

/// Keeps the cases whose id begins with --only, and the first of every --every of them. Throws IoError, naming the
/// file, where there is none.
template <class Case>
void select(std::vector<Case>& cases, const BenchOptions& options, const std::string& file) {
  std::erase_if(cases, [&](const Case& c) { return !options.only.empty() && !c.id.starts_with(options.only); });
  if (cases.empty()) throw_no_case(file, options.only);
  std::erase_if(cases, [&, k = 0](const Case&) mutable { return k++ % options.every != 0; });
}
/// Makes the extents of cases with more operations than --most-gflop smaller.
void shrink(std::vector<EinsumCase>& cases, const BenchOptions& options);
/// A GPU's copy beside the driver's: a kernel that reads and writes 16 bytes a thread. The faster counts.
Plan gpu_copy(Runtime& runtime, DType type, std::int64_t elements);

/// What one bench found.
struct BenchResults {
  std::string bench, set, dtype, command;
  Json rows = Json::array();
  std::vector<double> fractions;  ///< of the copy, or of the roofline of copy and matrix product
  double copy_rate = 0;           ///< GB/s, of the fastest copy
  double product_rate = 0;        ///< GF/s, of a large matrix product; 0 where the copy alone is the limit
};

/// As bench/results keeps it; more may be added.
Json results_json(BenchResults results, const BenchOptions& options, const std::string& device);

/// Writes the results as JSON where a file is named, and prints them: as JSON, or the share of the copy. Throws
/// IoError.
void report_results(const Json& result, const BenchOptions& options, bool json);

}  // namespace ricci::tools
