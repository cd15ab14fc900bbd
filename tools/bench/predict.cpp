// `ricci-bench predict`: what the model says that contractions take on a GPU, without one, beside what others took
// there.
#include <fmt/format.h>

#include <algorithm>

#include "bench/benches.hpp"
#include "bench/results.hpp"
#include "cli/command.hpp"
#include "cli/mode.hpp"
#include "io/cases.hpp"
#include "io/files.hpp"
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
};

/// What a device was measured to do.
struct Limits {
  double copy_GBs = 0, product_TFs = 0;
};

Limits read_limits(const std::string& file) {
  const auto run = Json::parse(read_text_file(file));
  if (!run || !run->is_object() || !(*run)["limit"].is_object() || !(*run)["limit"]["copy_GBs"].is_number() ||
      !(*run)["limit"]["gemm_TFs"].is_number())
    throw IoError(fmt::format(
        "{} is no result of `ricci-bench contract`: it names no limit of copies and matrix products", file));
  return {(*run)["limit"]["copy_GBs"].number(), (*run)["limit"]["gemm_TFs"].number()};
}

/// Why the longest kernel of a plan takes what it takes, in the words of Plan::explain().
std::string reason_of(const Plan& plan, const std::string& schedule) {
  const auto text = plan.explain();
  const auto line = text.find("\n* " + schedule + ": ");
  if (line == std::string::npos) return {};
  const auto start = line + schedule.size() + 5;
  return text.substr(start, text.find(", the least predicted time", start) - start);
}

Json kernel_json(const runtime::KernelRoom& kernel) {
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
  const auto type = parse_dtype(options.dtype);
  const auto peers = options.peers.empty() ? Peers() : read_peers(options.peers);
  const auto limits = read_limits(options.limits);
  EinsumOptions einsum;
  einsum.device = Device::gpu;
  einsum.target_sm = runtime::parse_target(options.target, "--target");
  einsum.mode = PlanMode::model;
  einsum.precision = parse_precision(options.precision);
  RuntimeOptions without_files;
  if (options.plans > 0) without_files.cache_dir = "off";  // choices that are found again take no time
  Runtime runtime(without_files);

  BenchResults results;
  results.copy_rate = limits.copy_GBs;
  results.product_rate = limits.product_TFs * 1e3;
  std::map<std::string, std::vector<double>> against;
  std::vector<double> planned, compiled;
  std::vector<std::string> fewer;  // whose products have room for fewer blocks than predicted
  int multiplying = 0;
  Progress progress("predict");
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const auto& c = cases[n];
    progress.share(static_cast<double>(n) / static_cast<double>(cases.size()));
    const auto spec = Spec::parse(c.spec);
    const auto inputs = operand_layouts(c, spec, type);
    const auto plan = runtime.plan_einsum(c.spec, inputs, einsum);
    const auto& info = plan.info();
    double us = 0, longest = 0;
    std::string schedule;
    Json kernels = Json::array();
    for (const auto& kernel : runtime::rooms_of(plan)) {
      us += kernel.predicted_us;
      kernels.push_back(kernel_json(kernel));
      multiplying += kernel.multiplies ? 1 : 0;
      if (kernel.multiplies && kernel.compiled < kernel.predicted) fewer.push_back(c.id);
      if (kernel.predicted_us <= longest) continue;
      longest = kernel.predicted_us;
      schedule = kernel.schedule;
    }
    const double ms = us * 1e-3;
    const double fraction = std::max(static_cast<double>(info.compulsory_bytes) * 1e-6 / limits.copy_GBs,
                                     info.flops * 1e-9 / limits.product_TFs) /
                            ms;
    results.fractions.push_back(fraction);
    double plan_ms = info.plan_ms;
    for (int again = 1; again < options.plans; ++again)  // beside the first plan, which holds the kernels
      plan_ms = std::min(plan_ms, runtime.plan_einsum(c.spec, inputs, einsum).info().plan_ms);
    planned.push_back(plan_ms);
    if (info.compile_ms > 0) compiled.push_back(info.compile_ms / info.steps);
    Json row = {{"id", c.id},
                {"plan", info.schedule},
                {"predicted_ms", ms},
                {"plan_ms", plan_ms},
                {"bytes", info.compulsory_bytes},
                {"flop", info.flops},
                {"fraction", fraction},
                {"reason", reason_of(plan, schedule)},
                {"steps", info.steps},
                {"workspace_bytes", info.workspace_bytes},
                {"registers", info.registers},
                {"spill_bytes", info.spill_bytes},
                {"shared_bytes", info.shared_bytes},
                {"kernels", std::move(kernels)},
                {"peers", Json::object()}};
    std::string note;
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
  results.set = set_name(options.files.front());
  results.dtype = einsum.precision == Precision::operands ? name(type) : name(einsum.precision);
  results.command =
      fmt::format("ricci-bench predict {}.csv --target {} --dtype {}", results.set, options.target, options.dtype);
  if (einsum.precision != Precision::operands)
    results.command += fmt::format(" --precision {}", name(einsum.precision));
  results.command += fmt::format(" --limits {}", options.limits);
  if (!options.peers.empty()) results.command += fmt::format(" --peers {}", options.peers);
  if (options.plans > 0) results.command += fmt::format(" --plans {}", options.plans);
  if (options.every > 1) results.command += fmt::format(" --every {}", options.every);
  Json result = results_json(std::move(results), options, options.target + " (no device)");
  result["predicted"] = true;
  result["fewer_blocks_than_predicted"] = fewer;
  result["plan_ms"] = summary(planned);
  if (!compiled.empty()) result["compile_ms"] = summary(compiled);
  result["speed_over"] = Json::object();
  for (auto& [name, ratios] : against) result["speed_over"][name] = summary(ratios);
  report_results(result, options, json);
  if (!json) {
    print("{} of {} kernels that multiply by tiles have room for fewer blocks than predicted\n", fewer.size(),
          multiplying);
    for (const auto& id : fewer) print("  {}\n", id);
    print_summary("ms to plan", result["plan_ms"]);
    if (!compiled.empty()) print_summary("ms to compile a kernel", result["compile_ms"]);
    for (const auto& [name, s] : result["speed_over"].items()) print_summary(("times " + name).c_str(), s);
  }
  return kDone;
}

}  // namespace

void add_bench_predict(Command& app, Session& session) {
  auto options = std::make_shared<PredictOptions>();
  Command command = app.add_subcommand("predict", "Predict contractions on a GPU; needs none");
  command.add_option("cases", options->files, "CSV with columns id, spec, extents (\"a=24 b=16\")")
      .required()
      .expected(1);
  command.add_option("--target", options->target, "Architecture to make kernels for").capture_default_str();
  command.add_option("--dtype", options->dtype, "f16, bf16, f32, f64, c64 or c128").capture_default_str();
  command.add_option("--only", options->only, "Cases whose id begins with this");
  command
      .add_option("--limits", options->limits,
                  "Result of `ricci-bench contract` on the device: its copy and matrix product")
      .required();
  command.add_option("--peers", options->peers, "CSV with columns id and NAME_ms: what others took on the device");
  command
      .add_option("--plans", options->plans, "Plan each case that often without a cache; the least time is its plan_ms")
      .range(0, 1000);
  add_precision_option(command, options->precision);
  add_bench_every(command, *options);
  add_bench_output(command, *options);
  command.footer(
      "Example:\n  ricci-bench predict bench/problems/tccg48.csv --limits bench/results/contract-tccg48-f64-h200.json "
      "--peers bench/peers/tccg48_f64_nvidia-h200.csv");
  run_with(command, session, options, bench_predict);
}

}  // namespace ricci::tools
