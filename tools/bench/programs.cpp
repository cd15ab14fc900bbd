// `ricci-bench run`: programs on made-up data, beside a copy of the same bytes in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "bench/benches.hpp"
#include "bench/computing.hpp"
#include "bench/one_by_one.hpp"
#include "cli/command.hpp"
#include "cli/mode.hpp"
#include "io/cases.hpp"
#include "report/progress.hpp"

namespace ricci::tools {
namespace {

struct ProgramBenchOptions : BenchOptions {
  std::vector<std::string> files, extents;
  std::string set = "programs", product, schedule;
  std::int64_t workspace_limit = -1;
  std::vector<std::string> libraries = std::vector<std::string>(contraction_kinds().size());  ///< a file each, or none
};

int bench_run(const ProgramBenchOptions& options, bool json) {
  const auto bench = make_bench(options.gpu(), kMostCopied, options.thread_count());
  Runtime runtime;
  const auto libraries = open_contraction_libraries(options.libraries, options.gpu());
  BenchResults results;
  if (!options.product.empty()) {
    EinsumOptions einsum;
    static_cast<PlanOptions&>(einsum) = options.plan_options();
    results.product_rate = product_rate(*bench, runtime, einsum, parse_dtype(options.product), options.repeat);
    if (!json) print("matrix product: {:.1f} GF/s\n", results.product_rate);
  }
  std::map<std::string, std::vector<double>> against;
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
    auto wanted = options.plan_options();
    wanted.schedule = options.schedule;
    wanted.workspace_limit = options.workspace_limit;
    const Loaded loaded(*bench, runtime.plan_program(program, wanted));
    loaded();
    std::vector<PeerRun> others;
    std::map<std::string, std::string> refused;
    for (const auto& library : libraries) {
      auto run = one_by_one(*bench, program, loaded, *library, options.thread_count());
      if (run.run)
        others.push_back(std::move(run));
      else
        refused[run.name] = run.refused;
    }
    auto& row = time_plan(*bench, runtime, set_name(options.files[n]), loaded, options.repeat, results, others);
    std::string note;
    for (const auto& [name, why] : refused) {
      row["refused"][name] = why;
      note += fmt::format("{} refused: {}  ", name, why);
    }
    for (const auto& other : others) {
      against[other.name].push_back(row["peers"][other.name].number() / row["ms"].number());
      note += fmt::format("{:.2f} of {}  ", against[other.name].back(), other.name);
    }
    if (!json) print_row(row, note);
    bench->release_allocated();
  }
  std::string command = "ricci-bench run";
  for (const auto& file : options.files) command += " " + set_name(file) + ".ricci";
  for (const auto& word : options.extents) command += " --extent " + word;
  results.bench = "run";
  results.set = options.set;
  results.dtype = "as written";
  results.command = command + " --device " + options.device;
  if (!options.gpu()) results.command += fmt::format(" --threads {}", options.thread_count());
  if (!options.product.empty()) results.command += " --product " + options.product;
  if (!options.schedule.empty()) results.command += fmt::format(" --schedule '{}'", options.schedule);
  if (options.workspace_limit >= 0) results.command += fmt::format(" --workspace-limit {}", options.workspace_limit);
  for (std::size_t k = 0; k < options.libraries.size(); ++k) {
    if (!options.libraries[k].empty()) results.command += fmt::format(" {} LIBRARY", contraction_kinds()[k].option);
  }
  Json result = results_json(std::move(results), options, bench->device_name());
  if (!against.empty()) result["speed_over"] = Json::object();
  for (auto& [name, ratios] : against) result["speed_over"][name] = summary(ratios);
  report_results(result, options, json);
  return kDone;
}

}  // namespace

void add_bench_run(Command& app, Session& session) {
  auto options = std::make_shared<ProgramBenchOptions>();
  Command run = app.add_subcommand("run", "Time programs on made-up data, beside a copy of as many bytes");
  run.add_option("programs", options->files, "Program files").required();
  run.add_option("--extent", options->extents, "NAME=NUMBER for an extent that a program leaves open");
  run.add_option("--set", options->set, "Name of the set in the results").capture_default_str();
  run.add_option("--product", options->product,
                 "Also time a large matrix product of this type: shares of what copy and product allow");
  run.add_option("--schedule", options->schedule, "The schedule of that name, of those that `ricci explain` lists");
  add_workspace_option(run, options->workspace_limit);
  for (std::size_t k = 0; k < options->libraries.size(); ++k) {
    const auto& kind = contraction_kinds()[k];
    run.add_option(kind.option, options->libraries[k],
                   fmt::format("{}; of a program that adds products to one result, each product alone", kind.help));
  }
  add_computing(run, *options);
  run.footer("Example:\n  ricci-bench run examples/programs/grid/eq1*.ricci --extent x=1000000 --device gpu");
  run_with(run, session, options, bench_run);
}

}  // namespace ricci::tools
