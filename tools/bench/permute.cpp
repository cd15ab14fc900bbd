// `ricci-bench permute`: the cases of a set, each beside a copy of the same size in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "bench/baselines.hpp"
#include "bench/benches.hpp"
#include "bench/loops.hpp"
#include "bench/models.hpp"
#include "bench/mwp_cwp.hpp"
#include "bench/results.hpp"
#include "bench/sample.hpp"
#include "cli/command.hpp"
#include "cli/mode.hpp"
#include "io/cases.hpp"
#include "peers/library.hpp"
#include "report/progress.hpp"
#include "ricci/ricci.hpp"
#include "runtime/parallel.hpp"

namespace ricci::tools {
namespace {

struct PermuteBenchOptions : BenchOptions {
  PermuteBenchOptions() { repeat = 11; }
  std::string file, peers;
  std::vector<std::string> libraries = std::vector<std::string>(peer_kinds().size());  ///< a file of each kind, or none
  std::vector<std::string> beside;                                                     ///< names of candidates
  int top = 1;
};

/// The chosen plan, then the best others by prediction, `top` in all.
std::vector<Plan> candidate_plans(Runtime& runtime, const PermuteCase& c, const Layout& input,
                                  const PermuteOptions& permute, const Plan& chosen, int top) {
  std::vector<std::string> names;
  if (top > 1) {
    for (const auto& candidate : chosen.candidates()) names.push_back(candidate.name);
    if (static_cast<int>(names.size()) > top) names.resize(static_cast<std::size_t>(top));
  }
  std::vector<std::optional<Plan>> made(names.size());
  runtime::in_parallel(names.size(), [&](std::size_t k) {
    auto options = permute;
    options.schedule = names[k];
    made[k] = runtime.plan_permute(c.spec, input, options);
  });
  std::vector<Plan> plans{chosen};
  for (const auto& plan : made) {
    if (plan->key() != chosen.key()) plans.push_back(*plan);
  }
  return plans;
}

/// Plans of a permutation as they were timed, and what the models predict of them, each with the layout that it has.
std::vector<TimedCandidate> beside_predictions(const std::vector<Plan>& plans, const std::vector<double>& ms) {
  std::vector<TimedCandidate> timed(plans.size());
  runtime::in_parallel(plans.size(), [&](std::size_t k) {
    const auto all = plans[k].candidates();
    const auto own = std::find_if(all.begin(), all.end(), [](const CandidateInfo& c) { return c.chosen; });
    timed[k] = {plans[k].info().schedule, ms[k + 1], own != all.end() ? own->predicted_us : 0,
                mwp_cwp_us(plans[k]).value_or(0)};
  });
  return timed;
}

/// The libraries that are named. Throws PlanError for one whose tensors are on another device.
std::vector<std::unique_ptr<PeerLibrary>> open_permutation_libraries(const PermuteBenchOptions& options) {
  std::vector<std::unique_ptr<PeerLibrary>> libraries;
  for (std::size_t k = 0; k < options.libraries.size(); ++k) {
    const auto& kind = peer_kinds()[k];
    if (options.libraries[k].empty()) continue;
    const auto device = options.gpu() ? Device::gpu : Device::cpu;
    if (kind.device != device) {
      throw PlanError(fmt::format("{}: {} permutes tensors of the {}; take --device {}", kind.option, kind.title,
                                  kind.device == Device::gpu ? "GPU" : "CPU", name(kind.device)));
    }
    libraries.push_back(kind.open(options.libraries[k]));
  }
  return libraries;
}

/// What the libraries make of a case, each result compared with Ricci's, which the bench's output holds.
std::vector<PeerRun> prepare_peers(const std::vector<std::unique_ptr<PeerLibrary>>& libraries, Bench& bench,
                                   const PermuteCase& c, const PeerProblem& problem, std::int64_t bytes) {
  std::vector<PeerRun> runs;
  if (libraries.empty()) return runs;
  const auto* const output = bench.fetch_output(bytes);
  const std::vector<unsigned char> own(output, output + bytes);
  for (const auto& library : libraries) {
    for (auto& run : library->prepare(problem, bench.output(), bench.input())) runs.push_back(std::move(run));
  }
  for (const auto& peer : runs) {
    if (!peer.run) continue;
    bench.poison(bytes);
    peer.run();
    check_equal(bench, c, problem.type, peer.name, own);
  }
  return runs;
}

int bench_permute(const PermuteBenchOptions& options, bool json) {
  const auto libraries = open_permutation_libraries(options);
  auto cases = read_permute_cases(options.file);
  select(cases, options, options.file);
  const auto type = parse_dtype(options.dtype);
  const bool gpu = options.gpu();
  const int threads = options.thread_count();
  std::int64_t most = 0;
  for (const auto& c : cases) most = std::max(most, Layout::row_major(type, c.extents).elements() * size_of(type));
  const auto bench = make_bench(gpu, most, threads);
  Runtime runtime;
  PermuteOptions permute;
  static_cast<PlanOptions&>(permute) = options.plan_options();

  BenchResults results;
  std::map<std::string, std::vector<double>> gains, peer_fractions;  // over each peer; its share of the copy
  std::vector<double> losses, shares, launches;
  ModelComparison models;
  const auto peers = options.peers.empty() ? Peers() : read_peers(options.peers);
  Progress progress("bench");
  if (!json) print("{:<28} {:>9} {:>9} {:>8} {:>9}  {}\n", "case", "ms", "GB/s", "of copy", "compile", "plan");
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const auto& c = cases[n];
    progress.share(static_cast<double>(n) / static_cast<double>(cases.size()));
    const auto input = Layout::row_major(type, c.extents);
    const auto bytes = input.elements() * size_of(type);
    permute.schedule.clear();
    const Plan chosen = runtime.plan_permute(c.spec, input, permute);
    auto plans = candidate_plans(runtime, c, input, permute, chosen, options.top);
    // Beside what was measured, what the model would have taken.
    const bool estimated = chosen.info().choice == "estimated";
    std::size_t model = 0;
    if (!estimated) {
      auto predicted = permute;
      predicted.schedule = chosen.candidates().front().name;
      const Plan plan = runtime.plan_permute(c.spec, input, predicted);
      while (model < plans.size() && plans[model].key() != plan.key()) ++model;
      if (model == plans.size()) plans.push_back(plan);
    }
    bench->poison(bytes);
    chosen(bench->output(), bench->input());
    check_sample(*bench, c, type);
    const auto view = view_of(c);
    const auto from_libraries = prepare_peers(libraries, *bench, c, {type, c.extents, view.order, threads}, bytes);
    const Plan copy_plan = gpu ? gpu_copy(runtime, type, input.elements())
                               : runtime.plan_permute("a->a", Layout::row_major(type, {input.elements()}), permute);
    std::vector<std::function<void()>> functions{[&] { bench->copy(bytes); }};
    for (const auto& plan : plans) functions.emplace_back([&bench, &plan] { plan(bench->output(), bench->input()); });
    std::vector<std::string> others;  // in the order of their functions
    if (!gpu) {
      others.emplace_back("blocked loops");
      functions.emplace_back([&] {
        blocked_loops(bench->output(), bench->input(), size_of(type), view.extents, view.to, view.from, threads);
      });
    }
    std::vector<Plan> beside;
    for (const auto& schedule : options.beside) {
      auto asked = permute;
      asked.schedule = baseline_schedule(schedule, chosen).value_or(schedule);
      beside.push_back(runtime.plan_permute(c.spec, input, asked));
    }
    for (std::size_t k = 0; k < beside.size(); ++k) {
      others.push_back(options.beside[k]);
      functions.emplace_back([&bench, &plan = beside[k]] { plan(bench->output(), bench->input()); });
    }
    for (const auto& peer : from_libraries) {
      if (!peer.run) continue;
      others.push_back(peer.name);
      functions.push_back(peer.run);
    }
    functions.emplace_back([&] { copy_plan(bench->output(), bench->input()); });
    const auto copied = functions.size() - 1;
    const int calls = bench->calls(2 * bytes);
    const auto nothing = calls > 1 ? bench->nothing() : std::function<void()>();
    if (nothing) functions.push_back(nothing);
    const auto ms = bench->time(functions, options.repeat, calls);
    const double copy_ms = std::min(ms.front(), ms[copied]);
    const double own_ms = ms[1];
    const auto best =
        std::min_element(ms.begin() + 1, ms.begin() + 1 + static_cast<std::ptrdiff_t>(plans.size())) - ms.begin();
    const double rate = 2.0 * static_cast<double>(bytes) / own_ms * 1e-6;
    results.copy_rate = std::max(results.copy_rate, 2.0 * static_cast<double>(bytes) / copy_ms * 1e-6);
    results.fractions.push_back(copy_ms / own_ms);
    Json row = {{"id", c.id},
                {"plan", chosen.info().schedule},
                {"choice", chosen.info().choice},
                {"ms", own_ms},
                {"bytes", 2 * bytes},
                {"flop", 0},
                {"fraction", copy_ms / own_ms},
                {"plan_ms", chosen.info().plan_ms},
                {"compile_ms", chosen.info().compile_ms},
                {"peers", {{"copy", copy_ms}}}};
    const auto add_peer = [&](const std::string& peer, double theirs) {
      row["peers"][peer] = theirs;
      gains[peer].push_back(theirs / own_ms);
      peer_fractions[peer].push_back(copy_ms / theirs);
    };
    for (std::size_t k = 0; k < others.size(); ++k) add_peer(others[k], ms[plans.size() + 1 + k]);
    if (const auto place = peers.find(c.id); place != peers.end()) {
      // What was timed just now counts, not what a file says of the same peer.
      for (const auto& [peer, theirs] : place->second) {
        if (!row["peers"].contains(peer)) add_peer(peer, theirs);
      }
    }
    std::string note;
    if (calls > 1) row["calls"] = calls;
    if (nothing) {
      row["launch_ms"] = ms.back();
      launches.push_back(own_ms / ms.back());
      note = fmt::format("   {:.2f} us a call, copy {:.2f}, empty kernel {:.2f}", 1e3 * own_ms, 1e3 * copy_ms,
                         1e3 * ms.back());
    }
    for (const auto& peer : from_libraries) {
      if (peer.run) continue;
      row["refused"][peer.name] = peer.refused;
      note += fmt::format("   {} refused: {}", peer.name, peer.refused);
    }
    if (!estimated) {
      row["estimate"] = {{"plan", plans[model].info().schedule}, {"ms", ms[model + 1]}};
      shares.push_back(own_ms / ms[model + 1]);
      if (model != 0)
        note += fmt::format("   estimate {:.2f}: {}", copy_ms / ms[model + 1], plans[model].info().schedule);
    }
    if (options.top > 1) {
      row["best"] = {{"plan", plans[static_cast<std::size_t>(best - 1)].info().schedule},
                     {"ms", ms[static_cast<std::size_t>(best)]}};
      losses.push_back(ms[static_cast<std::size_t>(best)] / own_ms);
      Json all = Json::array();
      for (std::size_t k = 0; k < plans.size(); ++k)
        all.push_back({{"plan", plans[k].info().schedule}, {"ms", ms[k + 1]}});
      row["timed"] = std::move(all);
      if (gpu) models.add(beside_predictions(plans, ms), model, row);
      if (best != 1)
        note += fmt::format("   best {:.2f}: {}", copy_ms / ms[static_cast<std::size_t>(best)],
                            plans[static_cast<std::size_t>(best - 1)].info().schedule);
    }
    if (!json) {
      print("{:<28} {:>9.4g} {:>9.0f} {:>8.3f} {:>6.0f} ms  {}{}\n", c.id, own_ms, rate, copy_ms / own_ms,
            chosen.info().compile_ms, chosen.info().schedule, note);
    }
    results.rows.push_back(std::move(row));
  }
  results.bench = "permute";
  results.set = set_name(options.file);
  results.dtype = name(type);
  results.command =
      fmt::format("ricci-bench permute {}.csv --device {} --dtype {}", results.set, options.device, options.dtype);
  for (const auto& schedule : options.beside) results.command += fmt::format(" --beside '{}'", schedule);
  if (options.top > 1) results.command += fmt::format(" --top {}", options.top);
  for (std::size_t k = 0; k < options.libraries.size(); ++k) {
    if (!options.libraries[k].empty()) results.command += fmt::format(" {} LIBRARY", peer_kinds()[k].option);
  }
  if (!options.peers.empty()) results.command += " --peers " + set_name(options.peers) + ".csv";
  if (options.every > 1) results.command += fmt::format(" --every {}", options.every);
  if (!options.mode.empty()) results.command += " --" + options.mode;
  const double copy_rate = results.copy_rate;
  Json result = results_json(std::move(results), options, bench->device_name());
  const auto key = [](const char* prefix, std::string peer) {
    std::replace(peer.begin(), peer.end(), ' ', '_');
    return prefix + peer;
  };
  for (const auto& [peer, values] : gains) {
    result[key("over_", peer)] = summary(values);
    result[key("fraction_", peer)] = summary(peer_fractions[peer]);
  }
  if (!losses.empty()) result["of_best_timed"] = summary(losses);
  if (!shares.empty()) result["estimate_of_measured"] = summary(shares);
  if (!launches.empty()) result["over_launch"] = summary(launches);
  models.report(result);
  report_results(result, options, json);
  if (!json) {
    for (const auto& [peer, values] : gains) {
      print_summary((peer + "'s share").c_str(), result[key("fraction_", peer)]);
      print_summary(("times " + peer).c_str(), result[key("over_", peer)]);
    }
    if (result.contains("of_best_timed")) print_summary("best timed over chosen", result["of_best_timed"]);
    if (result.contains("estimate_of_measured"))
      print_summary("estimate over measured", result["estimate_of_measured"]);
    if (result.contains("over_launch")) print_summary("of an empty kernel", result["over_launch"]);
    ModelComparison::print_report(result);
    print("copy                         {:.0f} GB/s at best, {} on {}\n", copy_rate, name(type), bench->device_name());
  }
  return kDone;
}

}  // namespace

void add_bench_permute(Command& app, Session& session) {
  auto options = std::make_shared<PermuteBenchOptions>();
  Command command = app.add_subcommand("permute", "Time permutations beside a copy of the same size");
  command.add_option("cases", options->file, "CSV with columns id, dims, perm (fastest axis first)").required();
  command.add_device_option(options->device, "cpu or gpu");
  command.add_option("--dtype", options->dtype, "Element type").capture_default_str();
  command.add_option("--only", options->only, "Cases whose id begins with this");
  add_bench_repeat(command, *options);
  add_bench_every(command, *options);
  command.add_option("--top", options->top, "Also time this many candidates, and say what the best would give")
      .range(1, 1000)
      .capture_default_str();
  command.add_option("--beside", options->beside,
                     "Also time this candidate of each case, or the baseline `scattering` or `algorithm 1`");
  for (std::size_t k = 0; k < peer_kinds().size(); ++k) {
    command.add_option(peer_kinds()[k].option, options->libraries[k], peer_kinds()[k].help);
  }
  command.add_option("--peers", options->peers,
                     "CSV with columns id and NAME_ms: what others took on this device, unless they are timed now");
  add_mode_options(command, options->mode);
  add_bench_threads(command, *options);
  add_bench_output(command, *options);
  command.footer(
      "Example:\n  ricci-bench permute bench/problems/ttc57.csv --device gpu --dtype f32 --output ttc57-f32.json");
  run_with(command, session, options, bench_permute);
}

}  // namespace ricci::tools
