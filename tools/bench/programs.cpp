// `ricci-bench run`: programs on made-up data, beside a copy of the same bytes in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bench/benches.hpp"
#include "bench/computing.hpp"
#include "cli/command.hpp"
#include "io/cases.hpp"
#include "report/progress.hpp"

namespace ricci::tools {
namespace {

struct ProgramBenchOptions : BenchOptions {
  std::vector<std::string> files, extents;
  std::string set = "programs";
};

int bench_run(const ProgramBenchOptions& options, bool json) {
  const auto bench = make_bench(options.gpu(), kMostCopied, options.thread_count());
  Runtime runtime;
  BenchResults results;
  Progress progress("bench");
  if (!json) print_head();
  for (std::size_t n = 0; n < options.files.size(); ++n) {
    progress.share(static_cast<double>(n) / static_cast<double>(options.files.size()));
    std::ifstream in(options.files[n]);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw IoError(fmt::format("cannot read {}", options.files[n]));
    auto program = Program::parse(text.str());
    for (const auto& word : options.extents) {
      const auto equals = word.find('=');
      if (equals == std::string::npos) throw ShapeError(fmt::format("'{}' gives no extent; write name=number", word));
      const auto known = program.open_extents();
      const auto index = word.substr(0, equals);
      if (std::find(known.begin(), known.end(), index) == known.end()) continue;  // of another file
      program.set_extent(index, std::atoll(word.c_str() + equals + 1));
    }
    const Loaded loaded(*bench, runtime.plan_program(program, options.plan_options()));
    loaded();
    const auto& row = time_plan(*bench, runtime, set_name(options.files[n]), loaded, options.repeat, results);
    if (!json) print_row(row, "");
    bench->release_allocated();
  }
  std::string command = "ricci-bench run";
  for (const auto& file : options.files) command += " " + set_name(file) + ".ricci";
  for (const auto& word : options.extents) command += " --extent " + word;
  results.bench = "run";
  results.set = options.set;
  results.dtype = "as written";
  results.command = command + " --device " + options.device;
  report_results(results_json(std::move(results), options, bench->device_name()), options, json);
  return kDone;
}

}  // namespace

void add_bench_run(Command& app, Session& session) {
  auto options = std::make_shared<ProgramBenchOptions>();
  Command run = app.add_subcommand("run", "Time programs on made-up data, beside a copy of as many bytes");
  run.add_option("programs", options->files, "Program files").required();
  run.add_option("--extent", options->extents, "NAME=NUMBER for an extent that a program leaves open");
  run.add_option("--set", options->set, "Name of the set in the results").capture_default_str();
  add_computing(run, *options);
  run.footer("Example:\n  ricci-bench run examples/programs/grid/eq1*.ricci --extent x=1000000 --device gpu");
  run_with(run, session, options, bench_run);
}

}  // namespace ricci::tools
