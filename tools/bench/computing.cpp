#include "bench/computing.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "bench/operands.hpp"
#include "cli/command.hpp"
#include "peers/blas.hpp"

namespace ricci::tools {

Loaded::Loaded(Bench& bench, Plan made) : plan(std::move(made)), operations(plan.info().flops) {
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

Plan plan_of(Runtime& runtime, const EinsumCase& c, const Spec& spec, DType type, const EinsumOptions& einsum) {
  const auto inputs = operand_layouts(c, spec, type);
  if (result_type(type) == type) return runtime.plan_einsum(c.spec, inputs, einsum);
  return runtime.plan_einsum(c.spec, inputs, result_layout(c, spec, type), einsum);
}

double operations_of(const Plan& plan, const EinsumCase& c, const Spec& spec) {
  if (plan.info().flops > 0 || spec.operands.size() != 2) return plan.info().flops;
  double terms = 1;
  for (const auto& [axis, extent] : c.extents) terms *= static_cast<double>(extent);
  return 2 * terms;
}

double LargeProduct::rate(std::span<const double> ms) const {
  return flops / *std::min_element(ms.begin(), ms.end()) * 1e-6;
}

LargeProduct large_product(Bench& bench, Runtime& runtime, EinsumOptions einsum, DType type, std::int64_t n,
                           const std::string& blas) {
  einsum.mode = PlanMode::model;
  const EinsumCase square{"", "ab,bc->ac", {{"a", n}, {"b", n}, {"c", n}}};
  const auto own = std::make_shared<Loaded>(bench, plan_of(runtime, square, Spec::parse(square.spec), type, einsum));
  LargeProduct product{.ways = {[own] { (*own)(); }},
                       .flops = operations_of(own->plan, square, Spec::parse(square.spec))};
  if (!blas.empty() && einsum.device == Device::gpu) {
    product.ways.push_back(open_cublas_product(blas, type, einsum.precision, n, own->inputs[0], own->inputs[1],
                                               bench.allocate(n * n * size_of(type))));
  } else if (!blas.empty()) {
    product.ways.push_back(open_blas_product(blas, type, n));
  }
  return product;
}

double product_rate(Bench& bench, Runtime& runtime, const EinsumOptions& einsum, DType type, int repeat,
                    const std::string& blas) {
  const auto product = large_product(bench, runtime, einsum, type, einsum.device == Device::gpu ? 8192 : 2048, blas);
  const auto rate = product.rate(bench.time(product.ways, repeat));
  bench.release_allocated();
  return rate;
}

Json& time_plan(Bench& bench, Runtime& runtime, const std::string& id, const Loaded& loaded, int repeat,
                BenchResults& results, const std::vector<PeerRun>& others, const std::optional<PeerRun>& by_model,
                const LargeProduct& product) {
  const auto& info = loaded.plan.info();
  const auto copied = std::clamp<std::int64_t>(info.compulsory_bytes / 2, 1 << 20, kMostCopied);
  std::vector<std::function<void()>> functions{[&] { loaded(); }, [&] { bench.copy(copied); }};
  std::optional<Plan> copy;
  if (loaded.plan.device() == Device::gpu) {
    copy = gpu_copy(runtime, DType::f64, copied / 8);
    functions.emplace_back([&] { (*copy)(bench.output(), bench.input()); });
  }
  const auto copies = functions.size() - 1;
  functions.insert(functions.end(), product.ways.begin(), product.ways.end());
  const auto own = functions.size();
  for (const auto& other : others) functions.push_back(other.run);
  if (by_model) functions.push_back(by_model->run);
  const auto ms = bench.time(functions, repeat);
  const auto of = std::span(ms).subspan(1, copies);
  const double rate = 2.0 * static_cast<double>(copied) / *std::min_element(of.begin(), of.end()) * 1e-6;
  results.copy_rate = std::max(results.copy_rate, rate);
  double multiplied = results.product_rate;  // GF/s
  if (!product.ways.empty()) {
    multiplied = product.rate(std::span(ms).subspan(1 + copies, product.ways.size()));
    results.product_rate = std::max(results.product_rate, multiplied);
  }
  const double of_copy = static_cast<double>(info.compulsory_bytes) / ms[0] * 1e-6 / rate;
  const double of_product = multiplied > 0 ? loaded.operations / ms[0] * 1e-6 / multiplied : 0;
  const double fraction = std::max(of_copy, of_product);
  results.fractions.push_back(fraction);
  Json row = {{"id", id},
              {"plan", info.schedule},
              {"ms", ms[0]},
              {"bytes", info.compulsory_bytes},
              {"flop", loaded.operations},
              {"fraction", fraction},
              {"GBs", static_cast<double>(info.compulsory_bytes) / ms[0] * 1e-6},
              {"GFs", loaded.operations / ms[0] * 1e-6},
              {"copy_GBs", rate},
              {"steps", info.steps},
              {"workspace_bytes", info.workspace_bytes},
              {"plan_ms", info.plan_ms},
              {"compile_ms", info.compile_ms},
              {"peers", Json::object()}};
  if (multiplied > 0) row["product_GFs"] = multiplied;
  for (std::size_t k = 0; k < others.size(); ++k) row["peers"][others[k].name] = ms[own + k];
  if (by_model) row["model_ms"] = ms.back();
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

void add_computing(Command& command, BenchOptions& options) {
  command.add_device_option(options.device, "cpu or gpu");
  add_bench_repeat(command, options);
  add_bench_threads(command, options);
  add_bench_output(command, options);
}

}  // namespace ricci::tools
