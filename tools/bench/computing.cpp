// `ricci-bench einsum` and `ricci-bench run`: what computes, beside a copy of the same bytes in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>

#include "bench/benches.hpp"
#include "bench/results.hpp"
#include "cli/command.hpp"
#include "cli/mode.hpp"
#include "io/cases.hpp"
#include "peers/blas.hpp"
#include "report/progress.hpp"
#include "ricci/ricci.hpp"
#include "runtime/parallel.hpp"

namespace ricci::tools {
namespace {

struct Options : BenchOptions {
  std::vector<std::string> files, extents;
  std::string peers, set = "programs", blas;
  std::vector<std::string> schedules;
  int top = 1;
  bool roofline = false;  ///< shares of what copy and matrix product allow, not of the copy alone
};

/// Element k of every float tensor: eighths between 1/2 and 3/2, so that products are exact and no sum vanishes.
double value_at(std::int64_t k) { return 0.5 + static_cast<double>((k * 7919 + 13) % 1024) / 1024; }

template <class T>
void fill(std::vector<unsigned char>& bytes, std::int64_t elements, double (*value)(std::int64_t)) {
  for (std::int64_t k = 0; k < elements; ++k) {
    const auto x = static_cast<T>(value(k));
    std::memcpy(bytes.data() + k * static_cast<std::int64_t>(sizeof(T)), &x, sizeof x);
  }
}

/// What one argument holds at first.
std::vector<unsigned char> contents(DType type, std::int64_t elements) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(elements * size_of(type)));
  if (type == DType::f32 || type == DType::c64) {
    fill<float>(bytes, elements * (type == DType::c64 ? 2 : 1), value_at);
  } else if (type == DType::f64 || type == DType::c128) {
    fill<double>(bytes, elements * (type == DType::c128 ? 2 : 1), value_at);
  } else if (size_of(type) == 8 || type == DType::f16 || type == DType::bf16) {
    std::mt19937_64 random(3);
    for (std::size_t k = 0; k + 2 <= bytes.size(); k += 2) {
      const auto word = static_cast<std::uint16_t>(0x3c00u + random() % 256);  // near 1 in either half type
      std::memcpy(bytes.data() + k, &word, 2);
    }
  } else {
    for (std::size_t k = 0; k < bytes.size(); k += static_cast<std::size_t>(size_of(type))) {
      bytes[k] = static_cast<unsigned char>(k % 7);
    }
  }
  return bytes;
}

/// A plan with memory of its own on the bench's device.
struct Loaded {
  Plan plan;
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
  Call call;
  std::vector<Scalar> params;

  Loaded(Bench& bench, Plan made) : plan(std::move(made)) {
    const auto place = [&](const Argument& argument) {
      const auto elements = argument.last - argument.first + 1;
      auto* memory =
          static_cast<unsigned char*>(bench.allocate(std::max<std::int64_t>(elements, 1) * size_of(argument.type)));
      if (elements > 0) {
        const auto bytes = contents(argument.type, elements);
        bench.upload(memory, bytes.data(), static_cast<std::int64_t>(bytes.size()));
      }
      return memory - argument.first * size_of(argument.type);
    };
    for (const auto& argument : plan.outputs()) outputs.push_back(place(argument));
    for (const auto& argument : plan.inputs()) inputs.push_back(place(argument));
    params.assign(plan.params().size(), Scalar(1));
    call.params = params;
    if (plan.info().workspace_bytes > 0) {
      call.workspace = bench.allocate(plan.info().workspace_bytes);
      call.workspace_bytes = static_cast<std::size_t>(plan.info().workspace_bytes);
    }
  }
  void operator()() const { plan(outputs, inputs, call); }
};

constexpr std::int64_t kMostCopied = 512 << 20;

/// Times one plan beside a copy of as many bytes as it must move, at most kMostCopied; the row in the results.
Json& time_plan(Bench& bench, Runtime& runtime, const std::string& id, const Loaded& loaded, int repeat,
                BenchResults& results) {
  const auto& info = loaded.plan.info();
  const auto copied = std::clamp<std::int64_t>(info.compulsory_bytes / 2, 1 << 20, kMostCopied);
  std::vector<std::function<void()>> functions{[&] { loaded(); }, [&] { bench.copy(copied); }};
  std::optional<Plan> copy;
  if (loaded.plan.device() == Device::gpu) {
    copy = gpu_copy(runtime, DType::f64, copied / 8);
    functions.emplace_back([&] { (*copy)(bench.output(), bench.input()); });
  }
  const auto ms = bench.time(functions, repeat);
  const double rate = 2.0 * static_cast<double>(copied) / *std::min_element(ms.begin() + 1, ms.end()) * 1e-6;
  results.copy_rate = std::max(results.copy_rate, rate);
  const double of_copy = static_cast<double>(info.compulsory_bytes) / ms[0] * 1e-6 / rate;
  const double of_product = results.product_rate > 0 ? info.flops / ms[0] * 1e-6 / results.product_rate : 0;
  const double fraction = std::max(of_copy, of_product);
  results.fractions.push_back(fraction);
  Json row = {{"id", id},
              {"plan", info.schedule},
              {"ms", ms[0]},
              {"bytes", info.compulsory_bytes},
              {"flop", info.flops},
              {"fraction", fraction},
              {"GBs", static_cast<double>(info.compulsory_bytes) / ms[0] * 1e-6},
              {"GFs", info.flops / ms[0] * 1e-6},
              {"steps", info.steps},
              {"workspace_bytes", info.workspace_bytes},
              {"plan_ms", info.plan_ms},
              {"compile_ms", info.compile_ms},
              {"peers", Json::object()}};
  results.rows.push_back(std::move(row));
  return results.rows.back();
}

void print_row(const Json& row, const std::string& note) {
  print("{:<28} {:>9.4f} {:>9.0f} {:>8.3f} {:>9.1f} {:>6.0f} ms  {}{}\n", row["id"].text(), row["ms"].number(),
        row["GBs"].number(), row["fraction"].number(), row["GFs"].number(), row["compile_ms"].number(), note,
        row["plan"].text().substr(0, 100));
}

void print_head() {
  print("{:<28} {:>9} {:>9} {:>8} {:>9} {:>9}  {}\n", "case", "ms", "GB/s", "share", "GF/s", "compile", "plan");
}

/// Looks at elements of an einsum's output drawn at random: sums over all inner indices, on the host, in double.
void check_sample(Bench& bench, const EinsumCase& c, const Spec& spec, const Loaded& loaded, DType type) {
  const auto extent = [&](const std::string& name) { return c.extents.at(name); };
  std::vector<std::string> inner;
  for (const auto& term : spec.operands) {
    for (const auto& axis : term) {
      const auto is = [&](const Spec::Axis& other) { return other.name == axis.name; };
      const bool outer = std::any_of(spec.output.begin(), spec.output.end(), is);
      if (!outer && std::find(inner.begin(), inner.end(), axis.name) == inner.end()) inner.push_back(axis.name);
    }
  }
  std::mt19937_64 random(5);
  const auto offset = [&](const Spec::Term& term, const std::map<std::string, std::int64_t>& at) {
    std::int64_t place = 0;
    for (const auto& axis : term) place = place * extent(axis.name) + at.at(axis.name);
    return place;
  };
  double terms = 1;
  for (const auto& name : inner) terms *= static_cast<double>(extent(name));
  const int samples = static_cast<int>(std::clamp(3e6 / terms, 4.0, 200.0));
  for (int s = 0; s < samples; ++s) {
    std::map<std::string, std::int64_t> at;
    for (const auto& axis : spec.output) {
      const auto n = extent(axis.name);
      at[axis.name] = s == 0 ? n - 1 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    }
    for (const auto& name : inner) at[name] = 0;
    double sum = 0;
    for (bool more = true; more;) {
      double product = 1;
      for (const auto& term : spec.operands) product *= value_at(offset(term, at));
      sum += product;
      more = false;
      for (auto name = inner.rbegin(); name != inner.rend() && !more; ++name) {
        more = ++at[*name] < extent(*name);
        if (!more) at[*name] = 0;
      }
    }
    double got = 0;
    const auto* from = static_cast<const unsigned char*>(loaded.outputs[0]) + offset(spec.output, at) * size_of(type);
    if (type == DType::f64) {
      bench.fetch(&got, from, 8);
    } else {
      float narrow = 0;
      bench.fetch(&narrow, from, 4);
      got = narrow;
    }
    const double unit = type == DType::f64 ? 1.2e-16 : 6e-8;
    if (!(std::fabs(got - sum) <= (2 * terms + 4) * unit * sum)) {
      throw InternalError(
          fmt::format("case {}: an element of the output is {}, not {}; please report it", c.id, got, sum));
    }
  }
}

/// The best candidates by prediction beside each other, and schedules that were asked for, in the memory of the chosen
/// plan: each checked, and timed in turns with the others. What the row says of them.
Json time_candidates(Bench& bench, Runtime& runtime, const EinsumCase& c, const Spec& spec,
                     const std::vector<Layout>& inputs, const EinsumOptions& einsum, const Options& options,
                     const Loaded& loaded) {
  auto names = options.schedules;
  std::map<std::string, double> predicted;
  for (const auto& candidate : loaded.plan.candidates()) {
    if (candidate.step != 0 || candidate.written) continue;
    if (options.top > 1 && static_cast<int>(predicted.size()) < options.top) {
      predicted[candidate.name] = candidate.predicted_us;
      names.push_back(candidate.name);
    }
  }
  std::vector<std::optional<Plan>> made(names.size());
  runtime::in_parallel(names.size(), [&](std::size_t k) {
    auto named = einsum;
    named.schedule = names[k];
    made[k] = runtime.plan_einsum(c.spec, inputs, named);
  });
  std::vector<std::function<void()>> functions;
  for (const auto& plan : made) {
    functions.emplace_back([&loaded, &plan] { (*plan)(loaded.outputs, loaded.inputs, loaded.call); });
    functions.back()();
    check_sample(bench, c, spec, loaded, parse_dtype(options.dtype));
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

/// GF/s of a large matrix product on the bench's device: the faster of Ricci's own, measured, and a BLAS library's.
double product_rate(Bench& bench, Runtime& runtime, const Options& options, DType type) {
  const std::int64_t n = options.gpu() ? 8192 : 2048;
  EinsumOptions einsum;
  static_cast<PlanOptions&>(einsum) = options.plan_options();
  const auto square = Layout::row_major(type, {n, n});
  const std::vector<Layout> inputs{square, square};
  const Loaded own(bench, runtime.plan_einsum("ab,bc->ac", inputs, einsum));
  std::vector<std::function<void()>> functions{[&] { own(); }};
  if (!options.blas.empty()) functions.push_back(open_blas_product(options.blas, type, n));
  const auto ms = bench.time(functions, options.repeat);
  bench.release_allocated();
  return 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) /
         *std::min_element(ms.begin(), ms.end()) * 1e-6;
}

int bench_einsum(const Options& options, bool json) {
  auto cases = read_einsum_cases(options.files.front());
  select(cases, options, options.files.front());
  const auto type = parse_dtype(options.dtype);
  if (type != DType::f64 && type != DType::f32) throw ShapeError("bench einsum takes --dtype f64 or f32");
  const auto peers = options.peers.empty() ? Peers() : read_peers(options.peers);
  const auto bench = make_bench(options.gpu(), kMostCopied, options.thread_count());
  Runtime runtime;
  EinsumOptions einsum;
  static_cast<PlanOptions&>(einsum) = options.plan_options();

  BenchResults results;
  if (options.roofline) {
    results.product_rate = product_rate(*bench, runtime, options, type);
    if (!json) print("matrix product: {:.1f} GF/s\n", results.product_rate);
  }
  std::map<std::string, std::vector<double>> against;
  Progress progress("bench");
  if (!json) print_head();
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const auto& c = cases[n];
    progress.share(static_cast<double>(n) / static_cast<double>(cases.size()));
    const auto spec = Spec::parse(c.spec);
    std::vector<Layout> inputs;
    for (const auto& term : spec.operands) {
      std::vector<std::int64_t> extents;
      for (const auto& axis : term) extents.push_back(c.extents.at(axis.name));
      inputs.push_back(Layout::row_major(type, std::move(extents)));
    }
    const Loaded loaded(*bench, runtime.plan_einsum(c.spec, inputs, einsum));
    loaded();
    check_sample(*bench, c, spec, loaded, type);
    auto& row = time_plan(*bench, runtime, c.id, loaded, options.repeat, results);
    std::string note;
    if (const auto place = peers.find(c.id); place != peers.end()) {
      for (const auto& [name, ms] : place->second) {
        row["peers"][name] = ms;
        against[name].push_back(ms / row["ms"].number());
        note += fmt::format("{:.2f} of {}  ", against[name].back(), name);
      }
    }
    if (!json) print_row(row, note);
    if (options.top > 1 || !options.schedules.empty()) {
      row["candidates"] = time_candidates(*bench, runtime, c, spec, inputs, einsum, options, loaded);
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
  results.dtype = name(type);
  results.command =
      fmt::format("ricci-bench {} {}.csv --device {} --dtype {}{}", results.bench, results.set, options.device,
                  options.dtype, options.gpu() ? "" : fmt::format(" --threads {}", options.thread_count()));
  if (options.every > 1) results.command += fmt::format(" --every {}", options.every);
  if (options.top > 1) results.command += fmt::format(" --top {}", options.top);
  for (const auto& schedule : options.schedules) results.command += fmt::format(" --schedule \"{}\"", schedule);
  if (!options.mode.empty()) results.command += fmt::format(" --{}", options.mode);
  Json result = results_json(std::move(results), options, bench->device_name());
  result["speed_over"] = Json::object();
  for (auto& [name, ratios] : against) result["speed_over"][name] = summary(ratios);
  report_results(result, options, json);
  if (!json) {
    for (const auto& [name, s] : result["speed_over"].items()) print_summary(("times " + name).c_str(), s);
  }
  return kDone;
}

int bench_run(const Options& options, bool json) {
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

void add_common(Command& command, Options& options) {
  command.add_device_option(options.device, "cpu or gpu");
  add_bench_repeat(command, options);
  add_bench_threads(command, options);
  add_bench_output(command, options);
}

}  // namespace

namespace {

void add_einsums(Command& app, Session& session, bool roofline) {
  auto options = std::make_shared<Options>();
  options->roofline = roofline;
  Command einsum = roofline
                       ? app.add_subcommand("contract", "Time contractions beside what memory and arithmetic allow")
                       : app.add_subcommand("einsum", "Time einsums, beside what others took");
  einsum.add_option("cases", options->files, "CSV with columns id, spec, extents (\"a=24 b=16\")")
      .required()
      .expected(1);
  einsum.add_option("--dtype", options->dtype, "f64 or f32").capture_default_str();
  einsum.add_option("--only", options->only, "Cases whose id begins with this");
  einsum.add_option("--peers", options->peers, "CSV with columns id and NAME_ms: what others took on this device");
  einsum.add_option("--top", options->top, "Also time this many candidates, each beside its prediction")
      .range(1, 100)
      .capture_default_str();
  einsum.add_option("--schedule", options->schedules,
                    "Also time this schedule: a candidate's name, or directives with semicolons between them");
  add_bench_every(einsum, *options);
  add_mode_options(einsum, options->mode);
  add_common(einsum, *options);
  if (roofline) {
    einsum.add_option("--blas", options->blas, "A BLAS library whose matrix product is a limit too (CPU)");
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

void add_bench_run(Command& app, Session& session) {
  auto options = std::make_shared<Options>();
  Command run = app.add_subcommand("run", "Time programs on made-up data, beside a copy of as many bytes");
  run.add_option("programs", options->files, "Program files").required();
  run.add_option("--extent", options->extents, "NAME=NUMBER for an extent that a program leaves open");
  run.add_option("--set", options->set, "Name of the set in the results").capture_default_str();
  add_common(run, *options);
  run.footer("Example:\n  ricci-bench run examples/programs/grid/eq1*.ricci --extent x=1000000 --device gpu");
  run_with(run, session, options, bench_run);
}

}  // namespace ricci::tools
