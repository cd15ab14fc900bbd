// `ricci tune`: measures the cases of a set into the tuning store.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/admin.hpp"
#include "cli/subcommands.hpp"
#include "io/cases.hpp"
#include "report/progress.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"
#include "ricci/spec.hpp"

namespace ricci::tools {
namespace {

struct TuneOptions {
  std::string file, device = "cpu", dtype = "f64", only;
  int threads = 0, candidates = PlanOptions{}.measured;
  bool remeasure = false;
};

/// One line of the file, whatever it is of.
struct Case {
  std::string id;
  double bytes = 0;  ///< of all tensors: what measuring takes time for
  std::function<Plan(const PlanOptions&)> plan;
};

double bytes_of(const std::vector<Layout>& layouts) {
  double bytes = 0;
  for (const auto& layout : layouts) bytes += static_cast<double>(layout.elements() * size_of(layout.type));
  return bytes;
}

std::vector<Case> read_cases(const TuneOptions& options) {
  const auto type = parse_dtype(options.dtype);
  std::vector<Case> cases;
  if (kind_of_cases(options.file) == CaseKind::permutations) {
    for (auto& c : read_permute_cases(options.file)) {
      const auto input = Layout::row_major(type, c.extents);
      cases.push_back({c.id, 2 * bytes_of({input}), [spec = c.spec, input](const PlanOptions& how) {
                         PermuteOptions permute;
                         static_cast<PlanOptions&>(permute) = how;
                         return Runtime::global().plan_permute(spec, input, permute);
                       }});
    }
  } else {
    for (auto& c : read_einsum_cases(options.file)) {
      std::vector<Layout> inputs;
      for (const auto& term : Spec::parse(c.spec).operands) {
        std::vector<std::int64_t> extents;
        for (const auto& axis : term) extents.push_back(c.extents.at(axis.name));
        inputs.push_back(Layout::row_major(type, extents));
      }
      cases.push_back({c.id, bytes_of(inputs), [spec = c.spec, inputs](const PlanOptions& how) {
                         EinsumOptions einsum;
                         static_cast<PlanOptions&>(einsum) = how;
                         return Runtime::global().plan_einsum(spec, inputs, einsum);
                       }});
    }
  }
  std::erase_if(cases, [&](const Case& c) { return !c.id.starts_with(options.only); });
  if (cases.empty()) throw IoError(fmt::format("{} has no case that begins with \"{}\"", options.file, options.only));
  return cases;
}

// The first interrupt ends the work after the case that is being measured; the second one ends the process.
volatile std::sig_atomic_t interrupted = 0;
void interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

/// What became of one case.
struct Outcome {
  std::string state;        ///< "measured", "there" or "failed"
  std::string text;         ///< schedules, or the error
  double us = 0, gain = 0;  ///< of the winners; over the model's choices
};

Outcome outcome_of(const Plan& plan) {
  Outcome outcome;
  const auto& info = plan.info();
  outcome.state = info.choice.find("measured") != std::string::npos ? "measured" : "there";
  outcome.text = info.schedule;
  double model_us = 0;
  int step = -1;
  for (const auto& candidate : plan.candidates()) {
    if (candidate.step != step) model_us += candidate.measured_us;  // the first of each is the model's choice
    step = candidate.step;
    if (candidate.chosen) outcome.us += candidate.measured_us;
  }
  if (outcome.us > 0) outcome.gain = model_us / outcome.us;
  return outcome;
}

Outcome tune(const Case& c, const PlanOptions& how) {
  try {
    return outcome_of(c.plan(how));
  } catch (const Error& error) {
    return {"failed", error.what()};
  }
}

int run(const TuneOptions& options, bool json) {
  const auto cases = read_cases(options);
  cache::check_writable(cache::Config::from_environment());
  PlanOptions how;
  how.device = options.device == "gpu" ? Device::gpu : Device::cpu;
  how.threads = options.threads;
  how.measured = options.candidates;
  how.mode = options.remeasure ? PlanMode::remeasure : PlanMode::measure;
  interrupted = 0;
  if (std::signal(SIGINT, interrupt) == SIG_IGN) std::signal(SIGINT, SIG_IGN);

  double total = 0, passed = 0, spent_bytes = 0, spent_ms = 0;
  for (const auto& c : cases) total += c.bytes;
  Json rows = Json::array();
  int measured = 0, there = 0, failed = 0, timed = 0;
  double logs = 0;
  {
    Progress progress("tuning");
    if (!json) print("{:<28} {:<9} {:>10} {:>10}  {}\n", "case", "", "time", "over model", "plan");
    for (const auto& c : cases) {
      if (interrupted) break;
      const double start = now_ms();
      const auto outcome = tune(c, how);
      measured += outcome.state == "measured";
      there += outcome.state == "there";
      failed += outcome.state == "failed";
      if (outcome.gain > 0) {
        logs += std::log(outcome.gain);
        ++timed;
      }
      passed += c.bytes;
      if (outcome.state == "measured") {
        spent_bytes += c.bytes;
        spent_ms += now_ms() - start;
      }
      progress.share(passed / total);
      if (spent_bytes > 0) progress.left_ms(spent_ms / spent_bytes * (total - passed));
      if (!json) {
        const bool has_time = outcome.us > 0;
        progress.pause([&] {
          print("{:<28} {:<9} {:>10} {:>10}  {}\n", c.id, outcome.state, has_time ? ms_text(outcome.us * 1e-3) : "-",
                has_time ? fmt::format("{:.2f}x", outcome.gain) : "-", outcome.text);
          std::fflush(stdout);
        });
      }
      Json row = {{"id", c.id}, {"state", outcome.state}};
      row[outcome.state == "failed" ? "error" : "plan"] = outcome.text;
      if (outcome.us > 0) {
        row["ms"] = outcome.us * 1e-3;
        row["over_model"] = outcome.gain;
      }
      rows.push_back(std::move(row));
    }
  }
  const auto left = cases.size() - rows.size();
  // Of those that were timed, now or earlier.
  const double gain = std::exp(logs / std::max(timed, 1));
  if (json) {
    print_json({{"file", options.file},
                {"cases", std::move(rows)},
                {"measured", measured},
                {"there", there},
                {"failed", failed},
                {"left", left},
                {"over_model_geomean", timed > 0 ? Json(gain) : Json()}});
  } else {
    print("\n{} measured, {} there already, {} failed, {} left{}\n", measured, there, failed, left,
          timed > 0 ? fmt::format("; {:.3f} times as fast as the model's choices (geometric mean)", gain)
                    : std::string("; nothing was timed"));
    if (left > 0) print("stopped; the same command goes on with those that are left\n");
  }
  if (left > 0) {
    std::fflush(stdout);
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  return failed > 0 ? kDiffers : kDone;
}

}  // namespace

void add_tune(Command& app, Session& session) {
  auto options = std::make_shared<TuneOptions>();
  Command command = app.add_subcommand(
      "tune", "Time the best candidates of each case on the device and keep the winners for every later plan");
  command
      .add_option("cases", options->file,
                  "CSV with columns id, dims, perm (fastest axis first), or id, spec, extents (\"a=24 b=16\")")
      .required();
  command.add_device_option(options->device, "cpu or gpu");
  command.add_option("--dtype", options->dtype, "Element type").capture_default_str();
  command.add_option("--threads", options->threads, "CPU threads; 0: all. What is measured counts for plans of as many")
      .capture_default_str();
  command.add_option("--only", options->only, "Cases whose id begins with this");
  command.add_option("--candidates", options->candidates, "So many of the best by the model are timed")
      .range(1, 1000)
      .capture_default_str();
  command.add_flag("--remeasure", options->remeasure, "Also cases that were measured before");
  command.footer(
      "Examples:\n"
      "  ricci tune bench/problems/ttc57.csv --dtype f32\n"
      "  ricci tune cases.csv --device gpu --candidates 16 --remeasure\n"
      "An interrupt (Ctrl-C) ends it after the case at hand, a second one at once; the same command goes on later.");
  run_with(command, session, options, run);
}

}  // namespace ricci::tools
