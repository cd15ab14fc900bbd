// `ricci-bench einsum` and `contract`: einsums beside a copy of the same bytes, and a matrix product, in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <optional>
#include <random>

#include "bench/benches.hpp"
#include "bench/computing.hpp"
#include "bench/operands.hpp"
#include "cli/command.hpp"
#include "cli/mode.hpp"
#include "io/cases.hpp"
#include "ir/types.hpp"
#include "jit/cuda_driver.hpp"
#include "peers/contraction.hpp"
#include "report/progress.hpp"
#include "runtime/parallel.hpp"

namespace ricci::tools {
namespace {

struct EinsumBenchOptions : BenchOptions {
  std::vector<std::string> files;
  std::string peers, blas, precision = "operands";
  std::vector<std::string> schedules;
  int top = 1;
  std::vector<std::string> libraries = std::vector<std::string>(contraction_kinds().size());  ///< a file each, or none
  bool roofline = false;  ///< shares of what copy and matrix product allow, not of the copy alone

  EinsumOptions einsum_options() const {
    EinsumOptions einsum;
    static_cast<PlanOptions&>(einsum) = plan_options();
    einsum.precision = parse_precision(precision);
    return einsum;
  }
};

/// All elements of an einsum in double, and what the absolute values of its terms sum to, by the interpreter, from the
/// left to the right: where one element has more terms than anybody waits for.
struct Interpreted {
  std::vector<std::complex<double>> sums, magnitudes;
};

Interpreted interpreted(const EinsumCase& c, const Spec& spec, DType type) {
  const auto layout = [&](const Spec::Term& term) {
    std::vector<std::int64_t> extents;
    for (const auto& axis : term) extents.push_back(c.extents.at(axis.name));
    return Layout::row_major(DType::c128, extents);
  };
  const auto text = [](const Spec::Term& term) {
    std::string all;
    for (const auto& axis : term) all += axis.name + ' ';
    return all;
  };
  const auto answer = [&](auto&& of) {
    Spec::Term left;
    std::vector<std::complex<double>> sums;
    for (std::size_t k = 0; k < spec.operands.size(); ++k) {
      const auto& right = spec.operands[k];
      std::vector<std::complex<double>> factor(static_cast<std::size_t>(layout(right).elements()));
      for (std::size_t n = 0; n < factor.size(); ++n) factor[n] = of(value_at(type, static_cast<std::int64_t>(n)));
      // Axes that the output or what follows has.
      Spec::Term kept = spec.output;
      if (k + 1 < spec.operands.size()) {
        const auto among = [](const Spec::Term& term, const Spec::Axis& axis) {
          return std::any_of(term.begin(), term.end(), [&](const auto& other) { return other.name == axis.name; });
        };
        kept.clear();
        for (const auto& term : {left, right}) {
          for (const auto& axis : term) {
            const bool needed = among(spec.output, axis) ||
                                std::any_of(spec.operands.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                                            spec.operands.end(), [&](const auto& later) { return among(later, axis); });
            if (needed && !among(kept, axis)) kept.push_back(axis);
          }
        }
      }
      std::vector<Layout> inputs = {layout(right)};
      std::vector<const void*> pointers = {factor.data()};
      auto words = text(right) + "-> " + text(kept);
      if (k > 0) {
        inputs.insert(inputs.begin(), layout(left));
        pointers.insert(pointers.begin(), sums.data());
        words.insert(0, text(left) + ", ");
      }
      std::vector<std::complex<double>> next(static_cast<std::size_t>(layout(kept).elements()));
      Runtime::interpret_einsum(words, inputs, layout(kept), pointers, next.data());
      sums = std::move(next);
      left = std::move(kept);
    }
    return sums;
  };
  return {answer([](std::complex<double> value) { return value; }),
          answer([](std::complex<double> value) { return std::complex<double>(std::abs(value)); })};
}

/// Looks at elements of an einsum's output drawn at random: sums over all inner indices, on the host, in double.
/// Nothing where they are right, else one that is not.
std::string wrong_element(Bench& bench, const EinsumCase& c, const Spec& spec, const Loaded& loaded, DType type,
                          Precision precision) {
  const auto extent = [&](const std::string& name) { return c.extents.at(name); };
  std::vector<std::string> inner;
  for (const auto& term : spec.operands) {
    for (const auto& axis : term) {
      const auto is = [&](const Spec::Axis& other) { return other.name == axis.name; };
      const bool outer = std::any_of(spec.output.begin(), spec.output.end(), is);
      if (!outer && std::find(inner.begin(), inner.end(), axis.name) == inner.end()) inner.push_back(axis.name);
    }
  }
  // Distances of the axes in each dense tensor, and the extents of the inner ones.
  const auto distances = [&](const Spec::Term& term, const std::vector<std::string>& axes) {
    std::vector<std::int64_t> all(axes.size(), 0);
    std::int64_t distance = 1;
    for (std::size_t k = term.size(); k-- > 0;) {
      for (std::size_t q = 0; q < axes.size(); ++q) {
        if (axes[q] == term[k].name) all[q] += distance;
      }
      distance *= extent(term[k].name);
    }
    return all;
  };
  std::vector<std::string> outer;
  for (const auto& axis : spec.output) outer.push_back(axis.name);
  std::vector<std::int64_t> steps;
  double terms = 1;
  for (const auto& name : inner) {
    steps.push_back(extent(name));
    terms *= static_cast<double>(extent(name));
  }
  std::vector<std::vector<std::int64_t>> outer_distances, inner_distances;
  for (const auto& term : spec.operands) {
    outer_distances.push_back(distances(term, outer));
    inner_distances.push_back(distances(term, inner));
  }
  // Each sum rounds in the type, that of halves in f32; the result is rounded once more.
  const double in_sums = sum_roundoff(type, precision);
  const double products = static_cast<double>(spec.operands.size() - 1);
  const double bound = (2 * terms + 4) * in_sums + unit_roundoff(type) + products * product_error(precision);
  constexpr double kMostTerms = 1e8;  // a second for each element
  const auto whole = terms > kMostTerms ? interpreted(c, spec, type) : Interpreted();
  const int samples = terms > kMostTerms ? 200 : static_cast<int>(std::clamp(3e6 / terms, 4.0, 200.0));
  std::mt19937_64 random(5);
  for (int s = 0; s < samples; ++s) {
    std::vector<std::int64_t> places(spec.operands.size(), 0);  // of the element's first factors
    std::int64_t place = 0;
    for (std::size_t q = 0; q < outer.size(); ++q) {
      const auto n = extent(outer[q]);
      const auto at = s == 0 ? n - 1 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      place = place * n + at;
      for (std::size_t k = 0; k < places.size(); ++k) places[k] += at * outer_distances[k][q];
    }
    std::complex<double> sum = 0;
    double magnitude = 0;
    if (terms > kMostTerms) {
      sum = whole.sums[static_cast<std::size_t>(place)];
      magnitude = whole.magnitudes[static_cast<std::size_t>(place)].real();
    }
    std::vector<std::int64_t> at(inner.size(), 0);
    for (bool more = terms <= kMostTerms; more;) {
      std::complex<double> product = 1;
      for (const auto from : places) product *= value_at(type, from);
      sum += product;
      magnitude += std::abs(product);
      more = false;
      for (std::size_t q = inner.size(); q-- > 0 && !more;) {
        more = ++at[q] < steps[q];
        const auto by = more ? 1 : 1 - steps[q];  // back to the first
        for (std::size_t k = 0; k < places.size(); ++k) places[k] += by * inner_distances[k][q];
        if (!more) at[q] = 0;
      }
    }
    std::array<unsigned char, 16> bytes{};
    const auto result = result_type(type);
    bench.fetch(bytes.data(), static_cast<const unsigned char*>(loaded.outputs[0]) + place * size_of(result),
                size_of(result));
    const auto got = element(result, bytes.data());
    if (!(std::abs(got - sum) <= bound * magnitude * (is_complex(type) ? 2 : 1))) {
      return fmt::format("an element of the output is {} + {}i, not {} + {}i", got.real(), got.imag(), sum.real(),
                         sum.imag());
    }
  }
  return {};
}

void check_sample(Bench& bench, const EinsumCase& c, const Spec& spec, const Loaded& loaded, DType type,
                  Precision precision) {
  const auto wrong = wrong_element(bench, c, spec, loaded, type, precision);
  if (!wrong.empty()) throw InternalError(fmt::format("case {}: {}; please report it", c.id, wrong));
}

using Libraries = std::vector<std::unique_ptr<ContractionLibrary>>;

/// Of runs of one name the fastest of a few calls.
std::vector<PeerRun> fastest_ways(std::vector<PeerRun> runs, Bench& bench) {
  const auto same_name = [](const PeerRun& one, const PeerRun& other) { return one.name == other.name; };
  if (std::adjacent_find(runs.begin(), runs.end(), same_name) == runs.end()) return runs;
  std::vector<std::function<void()>> functions;
  for (const auto& run : runs) functions.push_back(run.run);
  const auto ms = bench.time(functions, 3);
  std::vector<PeerRun> kept;
  double least = 0;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const bool other = !kept.empty() && kept.back().name == runs[k].name;
    if (other && ms[k] >= least) continue;
    if (other) kept.pop_back();
    kept.push_back(std::move(runs[k]));
    least = ms[k];
  }
  return kept;
}

/// What the libraries make of a case in the memory of the plan; `refused` has what they do not compute, or not rightly.
std::vector<PeerRun> prepare_libraries(const Libraries& libraries, Bench& bench, const EinsumCase& c, const Spec& spec,
                                       const Loaded& loaded, const EinsumBenchOptions& options,
                                       std::map<std::string, std::string>& refused) {
  std::vector<PeerRun> runs;
  if (libraries.empty() || spec.operands.size() != 2) return runs;
  const auto type = parse_dtype(options.dtype);
  std::map<std::string, char> letters;
  const auto tensor = [&](const Spec::Term& term) {
    PeerContraction::Tensor made;
    for (const auto& axis : term) {
      const auto letter = letters.emplace(axis.name, static_cast<char>('a' + letters.size())).first->second;
      made.axes += letter;
      made.extents.push_back(c.extents.at(axis.name));
    }
    return made;
  };
  const auto precision = parse_precision(options.precision);
  const PeerContraction problem{.type = type,
                                .first = tensor(spec.operands[0]),
                                .second = tensor(spec.operands[1]),
                                .result = tensor(spec.output),
                                .precision = precision,
                                .threads = options.thread_count(),
                                .allocate = [&](std::int64_t bytes) { return bench.allocate(bytes); }};
  const auto& out = loaded.plan.outputs()[0];
  const auto bytes = (out.last + 1) * size_of(out.type);
  const std::vector<unsigned char> poison(static_cast<std::size_t>(bytes), 0xff);
  for (const auto& library : libraries) {
    for (auto& run : library->prepare(problem, loaded.outputs[0], loaded.inputs[0], loaded.inputs[1])) {
      if (!run.run) {
        refused[run.name] = run.refused;
        continue;
      }
      bench.upload(loaded.outputs[0], poison.data(), bytes);
      run.run();
      if (const auto wrong = wrong_element(bench, c, spec, loaded, type, precision); !wrong.empty()) {
        refused[run.name] = wrong;
        continue;
      }
      runs.push_back(std::move(run));
    }
  }
  return fastest_ways(std::move(runs), bench);
}

/// The best candidates of the longest step by prediction beside each other, and schedules that were asked for, in the
/// memory of the chosen plan: each checked, and timed in turns with the others. What the row says of them.
Json time_candidates(Bench& bench, Runtime& runtime, const EinsumCase& c, const Spec& spec, const EinsumOptions& einsum,
                     const EinsumBenchOptions& options, const Loaded& loaded) {
  const auto type = parse_dtype(options.dtype);
  auto names = options.schedules;
  std::map<std::string, double> predicted;
  // Of the step that takes longest: others copy operands, or add up parts.
  const auto candidates = loaded.plan.candidates();
  const auto longest = std::max_element(candidates.begin(), candidates.end(), [](const auto& x, const auto& y) {
    return (x.chosen ? x.predicted_us : -1) < (y.chosen ? y.predicted_us : -1);
  });
  for (const auto& candidate : candidates) {
    if (candidate.step != longest->step || candidate.written) continue;
    if (options.top > 1 && static_cast<int>(predicted.size()) < options.top) {
      predicted[candidate.name] = candidate.predicted_us;
      names.push_back(candidate.name);
    }
  }
  std::vector<std::optional<Plan>> made(names.size());
  runtime::in_parallel(names.size(), [&](std::size_t k) {
    auto named = einsum;
    named.schedule = names[k];
    made[k] = plan_of(runtime, c, spec, type, named);
  });
  auto call = loaded.call;
  for (const auto& plan : made) {
    const auto bytes = plan->info().workspace_bytes;
    if (bytes <= static_cast<std::int64_t>(call.workspace_bytes)) continue;
    call.workspace = bench.allocate(bytes);
    call.workspace_bytes = static_cast<std::size_t>(bytes);
  }
  std::vector<std::function<void()>> functions;
  for (const auto& plan : made) {
    functions.emplace_back([&loaded, &call, &plan] { (*plan)(loaded.outputs, loaded.inputs, call); });
    functions.back()();
    check_sample(bench, c, spec, loaded, type, einsum.precision);
  }
  const auto ms = bench.time(functions, options.repeat);
  Json list = Json::array();
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto& info = made[k]->info();
    list.push_back({{"plan", names[k]},
                    {"ms", ms[k]},
                    {"predicted_ms", predicted[names[k]] / 1e3},
                    {"registers", info.registers},
                    {"spill_bytes", info.spill_bytes},
                    {"shared_bytes", info.shared_bytes}});
  }
  return list;
}

/// What the model alone would have chosen for a problem whose plans were measured, in the memory of the chosen plan:
/// checked. Nothing where that is the chosen plan.
std::optional<PeerRun> model_plan(Bench& bench, Runtime& runtime, const EinsumCase& c, const Spec& spec,
                                  EinsumOptions einsum, DType type, const Loaded& loaded) {
  einsum.mode = PlanMode::model;
  const Plan plan = plan_of(runtime, c, spec, type, einsum);
  if (plan.key() == loaded.plan.key()) return std::nullopt;
  auto call = loaded.call;
  if (const auto bytes = plan.info().workspace_bytes; bytes > static_cast<std::int64_t>(call.workspace_bytes)) {
    call.workspace = bench.allocate(bytes);
    call.workspace_bytes = static_cast<std::size_t>(bytes);
  }
  PeerRun run{"by the model", [&loaded, plan, call] { plan(loaded.outputs, loaded.inputs, call); }, {}};
  run.run();
  check_sample(bench, c, spec, loaded, type, einsum.precision);
  return run;
}

int bench_einsum(const EinsumBenchOptions& options, bool json) {
  auto cases = read_einsum_cases(options.files.front());
  select(cases, options, options.files.front());
  shrink(cases, options);
  const auto type = parse_dtype(options.dtype);
  if (is_integer(type) && result_type(type) == type)
    throw ShapeError("einsums are timed in f16, bf16, f32, f64, c64, c128, i8 and u8; --dtype names one");
  const auto peers = options.peers.empty() ? Peers() : read_peers(options.peers);
  const auto libraries = open_contraction_libraries(options.libraries, options.gpu());
  const auto bench = make_bench(options.gpu(), kMostCopied, options.thread_count());
  Runtime runtime;
  const auto einsum = options.einsum_options();

  BenchResults results;
  // A GPU that is warm keeps its clock; that of a CPU changes in seconds, by what others do on it: its product is timed
  // in turns with each case, as the copy is.
  const bool product_once = options.roofline && options.gpu();
  if (product_once) {
    results.product_rate = product_rate(*bench, runtime, einsum, type, options.repeat, options.blas);
    if (!json) print("matrix product: {:.1f} GF/s\n", results.product_rate);
  }
  std::map<std::string, std::vector<double>> against;
  std::vector<double> shares;  // of a measured plan's time over that of the model's
  const bool measures = !options.mode.empty() && plan_mode(options.mode) != PlanMode::model;
  Progress progress("bench");
  if (!json) print_head();
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const auto& c = cases[n];
    progress.share(static_cast<double>(n) / static_cast<double>(cases.size()));
    const auto spec = Spec::parse(c.spec);
    Loaded loaded(*bench, plan_of(runtime, c, spec, type, einsum));
    loaded.operations = operations_of(loaded.plan, c, spec);
    loaded();
    check_sample(*bench, c, spec, loaded, type, einsum.precision);
    std::map<std::string, std::string> refused;
    const auto others = prepare_libraries(libraries, *bench, c, spec, loaded, options, refused);
    std::optional<PeerRun> by_model;
    if (measures) by_model = model_plan(*bench, runtime, c, spec, einsum, type, loaded);
    LargeProduct product;
    if (options.roofline && !product_once) {
      const std::int64_t rows = is_complex(type) ? 1290 : 2048;  // 17 GFLOP
      product = large_product(*bench, runtime, einsum, type, rows, options.blas);
    }
    auto& row = time_plan(*bench, runtime, c.id, loaded, options.repeat, results, others, by_model, product);
    std::string note;
    if (measures) {
      if (!by_model) row["model_ms"] = row["ms"].number();  // a copy: the row grows
      shares.push_back(row["ms"].number() / row["model_ms"].number());
      note += fmt::format("the model's plan {:.2f} of it  ", shares.back());
    }
    for (const auto& [name, why] : refused) {
      row["refused"][name] = why;
      note += fmt::format("{} refused: {}  ", name, why);
    }
    const auto compare = [&](const std::string& name) {
      against[name].push_back(row["peers"][name].number() / row["ms"].number());
      note += fmt::format("{:.2f} of {}  ", against[name].back(), name);
    };
    for (const auto& other : others) compare(other.name);
    if (const auto place = peers.find(c.id); place != peers.end()) {
      // What was timed just now counts, not what a file says of the same peer.
      for (const auto& [name, ms] : place->second) {
        if (row["peers"].contains(name)) continue;
        row["peers"][name] = ms;
        compare(name);
      }
    }
    if (const auto listed = row["peers"].items(); listed.size() > 1) {
      const auto best = std::min_element(listed.begin(), listed.end(), [](const auto& x, const auto& y) {
        return x.second.number() < y.second.number();
      });
      against["the fastest of them"].push_back(best->second.number() / row["ms"].number());
    }
    if (!json) print_row(row, note);
    if (options.top > 1 || !options.schedules.empty()) {
      row["candidates"] = time_candidates(*bench, runtime, c, spec, einsum, options, loaded);
      for (const auto& each : row["candidates"].elements()) {
        if (json) break;
        print("    {:>9.4f} ms, {:>9.4f} predicted, {:>9.1f} GF/s, {:>3} registers, {:>4} B spilled  {}\n",
              each["ms"].number(), each["predicted_ms"].number(), row["flop"].number() / each["ms"].number() * 1e-6,
              each["registers"].integer_or(0), each["spill_bytes"].integer_or(0), each["plan"].text());
      }
    }
    bench->release_allocated();
  }
  results.bench = options.roofline ? "contract" : "einsum";
  results.set = set_name(options.files.front());
  const bool tf32 = einsum.precision == Precision::tf32 || einsum.precision == Precision::tf32x3;  // of f32 alone
  results.dtype = einsum.precision == Precision::operands ? std::string(name(type))
                  : tf32                                  ? std::string(name(einsum.precision))
                                                          : fmt::format("{} in {}", name(type), name(einsum.precision));
  results.command =
      fmt::format("ricci-bench {} {}.csv --device {} --dtype {}{}", results.bench, results.set, options.device,
                  options.dtype, options.gpu() ? "" : fmt::format(" --threads {}", options.thread_count()));
  if (einsum.precision != Precision::operands)
    results.command += fmt::format(" --precision {}", name(einsum.precision));
  if (!options.blas.empty()) results.command += " --blas LIBRARY";
  for (std::size_t k = 0; k < options.libraries.size(); ++k) {
    if (!options.libraries[k].empty()) results.command += fmt::format(" {} LIBRARY", contraction_kinds()[k].option);
  }
  if (options.most_gflop > 0) results.command += fmt::format(" --most-gflop {}", options.most_gflop);
  if (!options.peers.empty()) results.command += " --peers " + set_name(options.peers) + ".csv";
  if (options.every > 1) results.command += fmt::format(" --every {}", options.every);
  if (options.top > 1) results.command += fmt::format(" --top {}", options.top);
  for (const auto& schedule : options.schedules) results.command += fmt::format(" --schedule \"{}\"", schedule);
  if (!options.mode.empty()) results.command += fmt::format(" --{}", options.mode);
  Json result = results_json(std::move(results), options, bench->device_name());
  if (options.gpu()) {
    const auto device = jit::cuda::device_info(jit::cuda::current_device());
    result["limit"]["multiprocessors"] = device.multiprocessors;
    result["limit"]["clock_MHz"] = device.clock_khz * 1e-3;
  }
  result["speed_over"] = Json::object();
  for (auto& [name, ratios] : against) result["speed_over"][name] = summary(ratios);
  if (!shares.empty()) result["estimate_of_measured"] = summary(shares);
  report_results(result, options, json);
  if (!json) {
    for (const auto& [name, s] : result["speed_over"].items()) print_summary(("times " + name).c_str(), s);
    if (!shares.empty()) print_summary("estimate over measured", result["estimate_of_measured"]);
  }
  return kDone;
}

void add_einsums(Command& app, Session& session, bool roofline) {
  auto options = std::make_shared<EinsumBenchOptions>();
  options->roofline = roofline;
  Command einsum = roofline
                       ? app.add_subcommand("contract", "Time contractions beside what memory and arithmetic allow")
                       : app.add_subcommand("einsum", "Time einsums, beside what others took");
  einsum.add_option("cases", options->files, "CSV with columns id, spec, extents (\"a=24 b=16\")")
      .required()
      .expected(1);
  einsum.add_option("--dtype", options->dtype, "f16, bf16, f32, f64, c64 or c128; i8 or u8 with results in i32")
      .capture_default_str();
  einsum.add_option("--only", options->only, "Cases whose id begins with this");
  einsum.add_option("--peers", options->peers, "CSV with columns id and NAME_ms: what others took on this device");
  add_bench_most_gflop(einsum, *options);
  einsum.add_option("--top", options->top, "Also time this many candidates, each beside its prediction")
      .range(1, 100)
      .capture_default_str();
  einsum.add_option("--schedule", options->schedules,
                    "Also time this schedule: a candidate's name, or directives with semicolons between them");
  add_precision_option(einsum, options->precision);
  add_bench_every(einsum, *options);
  add_mode_options(einsum, options->mode);
  add_computing(einsum, *options);
  if (roofline) {
    for (std::size_t k = 0; k < options->libraries.size(); ++k)
      einsum.add_option(contraction_kinds()[k].option, options->libraries[k], contraction_kinds()[k].help);
    einsum.add_option("--blas", options->blas,
                      "A library whose matrix product is a limit too: with cblas_dgemm on a CPU, cuBLAS on a GPU");
  }
  einsum.footer(
      fmt::format("Example:\n  ricci-bench {} bench/problems/tccg48.csv --device gpu --peers "
                  "bench/peers/tccg48_f64_nvidia-h200.csv",
                  roofline ? "contract" : "einsum"));
  run_with(einsum, session, options, bench_einsum);
}

}  // namespace

void add_bench_einsum(Command& app, Session& session) { add_einsums(app, session, false); }
void add_bench_contract(Command& app, Session& session) { add_einsums(app, session, true); }

}  // namespace ricci::tools
