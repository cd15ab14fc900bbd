// `ricci-bench predict`: what the model says that contractions take, on a GPU that need not be there or on this CPU,
// beside what was timed, and how long that takes to plan.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bench/benches.hpp"
#include "bench/computing.hpp"
#include "bench/results.hpp"
#include "cli/command.hpp"
#include "cli/mode.hpp"
#include "io/cases.hpp"
#include "io/timed_run.hpp"
#include "jit/cpu_target.hpp"
#include "report/progress.hpp"
#include "ricci/error.hpp"
#include "ricci/ricci.hpp"
#include "runtime/occupancy.hpp"
#include "runtime/options.hpp"

namespace ricci::tools {
namespace {

struct PredictOptions : BenchOptions {
  std::vector<std::string> files;
  std::string peers, limits, target = "sm_90", precision = "operands";
  int plans = 0;

  bool cpu() const { return target == "cpu"; }
};

/// Why the longest kernel of a plan takes what it takes, in the words of Plan::explain().
std::string reason_of(const Plan& plan, const std::string& schedule) {
  const auto text = plan.explain();
  const auto line = text.find("\n* " + schedule + ": ");
  if (line == std::string::npos) return {};
  const auto start = line + schedule.size() + 5;
  return text.substr(start, text.find(", the least predicted time", start) - start);
}

Json kernel_json(const runtime::KernelRoom& kernel, bool cpu) {
  if (cpu) return {{"schedule", kernel.schedule}, {"predicted_us", kernel.predicted_us}};
  return {{"schedule", kernel.schedule},
          {"predicted_us", kernel.predicted_us},
          {"threads", kernel.threads},
          {"registers", kernel.registers},
          {"spill_bytes", kernel.spill_bytes},
          {"shared_bytes", kernel.shared_bytes},
          {"blocks_predicted", kernel.predicted},
          {"blocks_compiled", kernel.compiled}};
}

int bench_predict(const PredictOptions& options, bool json) {
  auto cases = read_einsum_cases(options.files.front());
  select(cases, options, options.files.front());
  shrink(cases, options);
  const auto type = parse_dtype(options.dtype);
  const auto run = read_timed_run(options.limits);
  EinsumOptions einsum;
  einsum.mode = PlanMode::model;
  einsum.precision = parse_precision(options.precision);
  einsum.threads = options.thread_count();
  if (options.cpu()) {
    // What depends on a limit is not kept for later plans, which would take no time.
    if (options.plans > 0) einsum.workspace_limit = std::numeric_limits<std::int64_t>::max();
  } else {
    einsum.device = Device::gpu;
    einsum.target_sm = runtime::parse_target(options.target, "--target");
    einsum.target_limits = run.limits;
  }
  RuntimeOptions without_files;
  if (options.plans > 0) without_files.cache_dir = "off";  // choices that are found again take no time
  Runtime runtime(without_files);

  BenchResults results;
  results.copy_rate = run.limits.copy_GBs;
  results.product_rate = run.product_TFs * 1e3;
  results.set = set_name(options.files.front());
  results.dtype = einsum.precision == Precision::operands ? name(type) : name(einsum.precision);
  const bool timed_there = run.set == results.set && run.dtype == results.dtype;
  auto peers = options.peers.empty() ? Peers() : read_peers(options.peers);
  if (timed_there && options.peers.empty()) {
    for (const auto& [id, timed] : run.cases) peers[id] = timed.peers;
  }
  std::map<std::string, std::vector<double>> against;
  std::vector<double> planned, compiled;
  std::vector<double> over_timed;  // predicted, of what the same plan took on the device
  std::vector<std::string> fewer;  // whose products have room for fewer blocks than predicted
  int multiplying = 0;
  Progress progress("predict");
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const auto& c = cases[n];
    progress.share(static_cast<double>(n) / static_cast<double>(cases.size()));
    const auto spec = Spec::parse(c.spec);
    const auto plan = plan_of(runtime, c, spec, type, einsum);
    const auto& info = plan.info();
    const double operations = operations_of(plan, c, spec);
    double us = 0, longest = 0;
    std::string schedule;
    Json kernels = Json::array();
    for (const auto& kernel : runtime::rooms_of(plan)) {
      us += kernel.predicted_us;
      kernels.push_back(kernel_json(kernel, options.cpu()));
      multiplying += kernel.multiplies ? 1 : 0;
      if (kernel.multiplies && kernel.compiled < kernel.predicted) fewer.push_back(c.id);
      if (kernel.predicted_us <= longest) continue;
      longest = kernel.predicted_us;
      schedule = kernel.schedule;
    }
    const double ms = us * 1e-3;
    const auto timed = timed_there ? run.cases.find(c.id) : run.cases.end();
    const bool was_timed = timed != run.cases.end();
    // A copy of as many bytes, as of what was timed: a few megabytes take their launch, too.
    const double copy_GBs = was_timed && timed->second.copy_GBs > 0 ? timed->second.copy_GBs : run.limits.copy_GBs;
    const double fraction =
        std::max(static_cast<double>(info.compulsory_bytes) * 1e-6 / copy_GBs, operations * 1e-9 / run.product_TFs) /
        ms;
    results.fractions.push_back(fraction);
    double plan_ms = info.plan_ms;
    for (int again = 1; again < options.plans; ++again)  // beside the first plan, which holds the kernels
      plan_ms = std::min(plan_ms, plan_of(runtime, c, spec, type, einsum).info().plan_ms);
    planned.push_back(plan_ms);
    if (info.compile_ms > 0) compiled.push_back(info.compile_ms / info.steps);
    Json row = {{"id", c.id},
                {"plan", info.schedule},
                {"predicted_ms", ms},
                {"plan_ms", plan_ms},
                {"bytes", info.compulsory_bytes},
                {"flop", operations},
                {"copy_GBs", copy_GBs},
                {"fraction", fraction},
                {"reason", reason_of(plan, schedule)},
                {"steps", info.steps},
                {"workspace_bytes", info.workspace_bytes},
                {"kernels", std::move(kernels)},
                {"peers", Json::object()}};
    if (!options.cpu()) {
      row["registers"] = info.registers;
      row["spill_bytes"] = info.spill_bytes;
      row["shared_bytes"] = info.shared_bytes;
    }
    std::string note;
    if (was_timed) {
      row["timed_ms"] = timed->second.ms;
      row["timed_plan"] = timed->second.plan == info.schedule;
      if (timed->second.plan == info.schedule) {
        over_timed.push_back(ms / timed->second.ms);
        note += fmt::format("{:.2f} of what it took  ", over_timed.back());
      }
    }
    if (const auto place = peers.find(c.id); place != peers.end()) {
      for (const auto& [name, peer_ms] : place->second) {
        row["peers"][name] = peer_ms;
        against[name].push_back(peer_ms / ms);
        note += fmt::format("{:.2f} of {}  ", peer_ms / ms, name);
      }
    }
    if (!json)
      print("{:<18} {:>9.4f} ms predicted  {:.2f} of the roofline  {}{}\n", c.id, ms, fraction, note, info.schedule);
    results.rows.push_back(std::move(row));
  }
  results.bench = "contract-predicted";
  results.command =
      fmt::format("ricci-bench predict {}.csv --target {} --dtype {}", results.set, options.target, options.dtype);
  if (einsum.precision != Precision::operands)
    results.command += fmt::format(" --precision {}", name(einsum.precision));
  results.command += fmt::format(" --limits {}", options.limits);
  if (!options.peers.empty()) results.command += fmt::format(" --peers {}", options.peers);
  if (options.plans > 0) results.command += fmt::format(" --plans {}", options.plans);
  if (options.every > 1) results.command += fmt::format(" --every {}", options.every);
  if (options.most_gflop > 0) results.command += fmt::format(" --most-gflop {}", options.most_gflop);
  if (options.cpu()) results.command += fmt::format(" --threads {}", einsum.threads);
  const auto device =
      options.cpu() ? fmt::format("{} x{}", jit::host_cpu().cpu, einsum.threads) : options.target + " (no device)";
  Json result = results_json(std::move(results), options, device);
  result["predicted"] = true;
  result["limits_of"] = run.device;
  if (!over_timed.empty()) result["over_timed"] = summary(over_timed);
  if (!options.cpu()) result["fewer_blocks_than_predicted"] = fewer;
  result["plan_ms"] = summary(planned);
  if (!compiled.empty()) result["compile_ms"] = summary(compiled);
  result["speed_over"] = Json::object();
  for (auto& [name, ratios] : against) result["speed_over"][name] = summary(ratios);
  report_results(result, options, json);
  if (!json) {
    if (!options.cpu())
      print("{} of {} kernels that multiply by tiles have room for fewer blocks than predicted\n", fewer.size(),
            multiplying);
    for (const auto& id : fewer) print("  {}\n", id);
    print_summary("ms to plan", result["plan_ms"]);
    if (!compiled.empty()) print_summary("ms to compile a kernel", result["compile_ms"]);
    if (!over_timed.empty()) print_summary("predicted over timed", result["over_timed"]);
    for (const auto& [name, s] : result["speed_over"].items()) print_summary(("times " + name).c_str(), s);
  }
  return kDone;
}

}  // namespace

void add_bench_predict(Command& app, Session& session) {
  auto options = std::make_shared<PredictOptions>();
  Command command =
      app.add_subcommand("predict", "Predict contractions, on a GPU that need not be there or on this CPU");
  command.add_option("cases", options->files, "CSV with columns id, spec, extents (\"a=24 b=16\")")
      .required()
      .expected(1);
  command.add_option("--target", options->target, "Architecture of the GPU to make kernels for, or cpu")
      .capture_default_str();
  command.add_option("--dtype", options->dtype, "f16, bf16, f32, f64, c64 or c128; i8 or u8 with results in i32")
      .capture_default_str();
  command.add_option("--only", options->only, "Cases whose id begins with this");
  command
      .add_option("--limits", options->limits,
                  "Result of `ricci-bench contract` on the device: its copy and matrix product, for the model and as "
                  "limits; where it is of the same set and type, what was timed stands beside the predictions")
      .required();
  command.add_option("--peers", options->peers,
                     "CSV with columns id and NAME_ms: what others took on the device; else those of --limits");
  command
      .add_option("--plans", options->plans, "Plan each case that often without a cache; the least time is its plan_ms")
      .range(0, 1000);
  add_precision_option(command, options->precision);
  add_bench_every(command, *options);
  add_bench_most_gflop(command, *options);
  add_bench_threads(command, *options);
  add_bench_output(command, *options);
  command.footer(
      "Example:\n  ricci-bench predict bench/problems/tccg48.csv --limits bench/results/contract-tccg48-f64-h200.json "
      "--peers bench/peers/tccg48_f64_nvidia-h200.csv");
  run_with(command, session, options, bench_predict);
}

}  // namespace ricci::tools
