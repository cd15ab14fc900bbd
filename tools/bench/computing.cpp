#include "bench/computing.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "bench/operands.hpp"
#include "cli/command.hpp"
#include "peers/blas.hpp"

namespace ricci::tools {

Loaded::Loaded(Bench& bench, Plan made) : plan(std::move(made)) {
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

Json& time_plan(Bench& bench, Runtime& runtime, const std::string& id, const Loaded& loaded, int repeat,
                BenchResults& results, const std::vector<PeerRun>& others, const std::optional<PeerRun>& by_model) {
  const auto& info = loaded.plan.info();
  const auto copied = std::clamp<std::int64_t>(info.compulsory_bytes / 2, 1 << 20, kMostCopied);
  std::vector<std::function<void()>> functions{[&] { loaded(); }, [&] { bench.copy(copied); }};
  std::optional<Plan> copy;
  if (loaded.plan.device() == Device::gpu) {
    copy = gpu_copy(runtime, DType::f64, copied / 8);
    functions.emplace_back([&] { (*copy)(bench.output(), bench.input()); });
  }
  const auto own = static_cast<std::ptrdiff_t>(functions.size());
  for (const auto& other : others) functions.push_back(other.run);
  if (by_model) functions.push_back(by_model->run);
  const auto ms = bench.time(functions, repeat);
  const double rate = 2.0 * static_cast<double>(copied) / *std::min_element(ms.begin() + 1, ms.begin() + own) * 1e-6;
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
  for (std::size_t k = 0; k < others.size(); ++k) row["peers"][others[k].name] = ms[static_cast<std::size_t>(own) + k];
  if (by_model) row["model_ms"] = ms.back();
  results.rows.push_back(std::move(row));
  return results.rows.back();
}

double product_rate(Bench& bench, Runtime& runtime, EinsumOptions einsum, DType type, int repeat,
                    const std::string& blas) {
  const bool gpu = einsum.device == Device::gpu;
  const std::int64_t n = gpu ? 8192 : 2048;
  einsum.mode = PlanMode::model;
  const auto square = Layout::row_major(type, {n, n});
  const std::vector<Layout> inputs{square, square};
  const Loaded own(bench, runtime.plan_einsum("ab,bc->ac", inputs, einsum));
  std::vector<std::function<void()>> functions{[&] { own(); }};
  if (!blas.empty() && gpu) {
    functions.push_back(open_cublas_product(blas, type, einsum.precision, n, own.inputs[0], own.inputs[1],
                                            bench.allocate(n * n * size_of(type))));
  } else if (!blas.empty()) {
    functions.push_back(open_blas_product(blas, type, n));
  }
  const auto ms = bench.time(functions, repeat);
  const double flops = own.plan.info().flops;
  bench.release_allocated();
  return flops / *std::min_element(ms.begin(), ms.end()) * 1e-6;
}

void print_row(const Json& row, const std::string& note) {
  print("{:<28} {:>9.4f} {:>9.0f} {:>8.3f} {:>9.1f} {:>6.0f} ms  {}{}\n", row["id"].text(), row["ms"].number(),
        row["GBs"].number(), row["fraction"].number(), row["GFs"].number(), row["compile_ms"].number(), note,
        row["plan"].text().substr(0, 100));
}

void print_head() {
  print("{:<28} {:>9} {:>9} {:>8} {:>9} {:>9}  {}\n", "case", "ms", "GB/s", "share", "GF/s", "compile", "plan");
}

void add_computing(Command& command, BenchOptions& options) {
  command.add_device_option(options.device, "cpu or gpu");
  add_bench_repeat(command, options);
  add_bench_threads(command, options);
  add_bench_output(command, options);
}

}  // namespace ricci::tools
