// `ricci einsum`: products of .npy files, summed as index notation says, by kernels made for them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <set>

#include "cli/arrays.hpp"
#include "cli/computation.hpp"
#include "cli/einsum_oracle.hpp"
#include "cli/mode.hpp"
#include "cli/problem.hpp"
#include "cli/subcommands.hpp"
#include "ir/types.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

struct EinsumCommandOptions : OutputOptions {
  std::string spec;
  std::vector<std::string> inputs;
  std::string addend, conjugate, path = "time";
};

// What is asked, with all tensors in host memory.
struct EinsumWork {
  std::vector<NpyArray> arrays;  // and the addend behind them, where there is one
  std::vector<Layout> inputs;
  Layout output;
  Buffer c;
  Buffer old_c;  // what C held before, where it counts
  EinsumOptions einsum;
  std::optional<EinsumOracle> oracle;
};

NpyArray read_numbers(const std::string& path, std::optional<DType> opaque, Progress& progress) {
  progress.step("reading " + path);
  auto array = read_npy(path, opaque, [&](double share) { progress.share(share); });
  if (array.header.descr.ends_with("b1")) {
    throw ShapeError(
        fmt::format("{}: holds bool, which has no sums; `ricci permute SPEC {} -o out.npy --dtype u8` makes it numbers",
                    path, path));
  }
  return array;
}

EinsumWork prepare(const EinsumCommandOptions& options, Progress& progress, ComputationTimes& times) {
  EinsumWork work;
  // Refused before any work, not after the last step of it.
  const Spec spec = Spec::parse(options.spec);
  if (spec.operands.size() != options.inputs.size()) {
    throw SpecError(fmt::format("the spec has {} operand{}, {} {} given\n  {}", spec.operands.size(),
                                spec.operands.size() == 1 ? "" : "s", options.inputs.size(),
                                options.inputs.size() == 1 ? "file was" : "files were", options.spec));
  }
  check_repeat(options.repeat);
  work.einsum.device = options.device == "gpu" ? Device::gpu : Device::cpu;
  work.einsum.alpha = parse_scalar(options.alpha, "--alpha");
  work.einsum.beta = parse_scalar(options.beta, "--beta");
  work.einsum.conjugate = runtime::parse_operands(options.conjugate, options.inputs.size(), "--conj");
  work.einsum.schedule = options.schedule;
  work.einsum.mode = plan_mode(options.mode);
  work.einsum.precision = parse_precision(options.precision);
  work.einsum.workspace_limit = options.workspace_limit;
  work.einsum.path = runtime::parse_path(options.path);
  const auto opaque = opaque_type(options.in_dtype);
  OutputFile::check_tensor(options.output);
  check_device(options.device);
  if (!options.addend.empty() && work.einsum.beta == Scalar(0)) {
    throw ShapeError(fmt::format(
        "--addend: --beta is 0, so that nothing of {} would be read; say --beta 1, or leave it out", options.addend));
  }

  const double start = now_ms();
  for (const auto& path : options.inputs) {
    work.arrays.push_back(read_numbers(path, opaque, progress));
    work.inputs.push_back(work.arrays.back().layout);
  }
  work.output = einsum_output(options.spec, work.inputs);
  if (!options.dtype.empty()) work.output.type = parse_dtype(options.dtype);
  // Floats within their rounding, whatever they are computed in; integers as they wrap.
  const bool in_pairs = !is_integer(work.output.type) || work.einsum.precision == Precision::operands;
  work.oracle.emplace(options.spec, work.inputs, options.verify, in_pairs);
  bool fortran = options.order == "F";
  if (!options.addend.empty()) {
    work.arrays.push_back(read_numbers(options.addend, opaque, progress));
    work.einsum.addend = work.arrays.back().layout;
    if (work.einsum.addend->extents != work.output.extents) {
      throw ShapeError(fmt::format("--addend: {} has shape {}, the output has {}\n  {}", options.addend,
                                   shape_text(work.einsum.addend->extents), shape_text(work.output.extents),
                                   options.spec));
    }
  } else if (work.einsum.beta != Scalar(0)) {
    const bool halves = work.output.type == DType::bf16;
    NpyArray old =
        read_old_output(options, options.spec, work.output, halves ? std::optional(DType::bf16) : std::nullopt);
    fortran = is_column_major(old.layout);
    work.old_c = std::move(old.data);
  }
  times.read_ms = now_ms() - start;
  if (fortran) work.output = Layout::column_major(work.output.type, work.output.extents);
  return work;
}

// Terms of one sum: the product of the extents that the output leaves out.
double terms_of(const Spec& spec, const EinsumWork& work) {
  std::vector<int> ranks;
  for (const auto& layout : work.inputs) ranks.push_back(layout.rank());
  const Spec expanded = spec.has_ellipsis() ? spec.expand(ranks) : spec;
  std::set<std::string> seen;
  for (const auto& axis : expanded.output) seen.insert(axis.name);
  double terms = 1;
  for (std::size_t t = 0; t < expanded.operands.size(); ++t) {
    for (std::size_t k = 0; k < expanded.operands[t].size(); ++k) {
      if (!seen.insert(expanded.operands[t][k].name).second) continue;
      terms *= static_cast<double>(std::max<std::int64_t>(work.inputs[t].extents[k], 1));
    }
  }
  return terms;
}

// Compares with the interpreter: bit for bit for integers, else within the rounding errors that the sums may have. With
// M the same sum over moduli, n terms and unit roundoff u, each order of products and sums stays within about n u M,
// and products of another precision add their own error for each of them.
Comparison verify(const EinsumCommandOptions& options, const EinsumWork& work) {
  const auto pointers = [](const auto& buffers) {
    std::vector<const void*> list;
    for (const auto& buffer : buffers) list.push_back(buffer.data());
    return list;
  };
  Buffer expected = starting_with(work.output, work.old_c);
  std::vector<const void*> from;
  for (const auto& array : work.arrays) from.push_back(array.data.data());
  work.oracle->interpret(work.inputs, work.output, from, expected.data(), work.einsum);
  if (is_integer(work.output.type)) {
    return compare(work.output, work.c.data(), expected.data(), [](std::size_t) { return 0.0; });
  }
  double roundoff = 0;
  std::vector<Buffer> sizes;
  std::vector<Layout> layouts;
  for (std::size_t k = 0; k < work.inputs.size(); ++k) {
    roundoff = std::max(roundoff, sum_roundoff(work.inputs[k].type, work.einsum.precision));
    layouts.push_back(work.inputs[k]);
    layouts.back().type = DType::f64;
    sizes.emplace_back(static_cast<std::size_t>(layouts.back().elements()) * sizeof(double));
    moduli(work.inputs[k], work.arrays[k].data.data(), reinterpret_cast<double*>(sizes.back().data()));
  }
  Layout sums = work.output;
  sums.type = DType::f64;
  Buffer magnitude(static_cast<std::size_t>(sums.elements()) * sizeof(double));
  auto* const m = reinterpret_cast<double*>(magnitude.data());
  std::memset(magnitude.data(), 0, magnitude.size());
  if (work.old_c.size() > 0) moduli(work.output, work.old_c.data(), m);
  EinsumOptions plain;
  if (work.einsum.addend) {
    plain.addend = work.einsum.addend;
    plain.addend->type = DType::f64;
    sizes.emplace_back(static_cast<std::size_t>(plain.addend->elements()) * sizeof(double));
    moduli(*work.einsum.addend, work.arrays.back().data.data(), reinterpret_cast<double*>(sizes.back().data()));
  }
  plain.alpha = std::abs(work.einsum.alpha);
  plain.beta = std::abs(work.einsum.beta);
  work.oracle->interpret(layouts, sums, pointers(sizes), magnitude.data(), plain);
  constexpr double kSteps = 16, kComplex = 4;  // factors, conversions and the products; the parts of a complex product
  const double relative = kComplex * (terms_of(Spec::parse(options.spec), work) + kSteps) *
                              std::max(roundoff, sum_roundoff(work.output.type, work.einsum.precision)) +
                          2 * unit_roundoff(work.output.type) +
                          static_cast<double>(work.inputs.size() - 1) * product_error(work.einsum.precision);
  const double least =
      work.output.type == DType::f64 || work.output.type == DType::c128
          ? std::numeric_limits<double>::denorm_min()
          : (size_of(work.output.type) == 2 ? std::ldexp(1, -24) : std::numeric_limits<float>::denorm_min());
  return compare(work.output, work.c.data(), expected.data(),
                 [&](std::size_t k) { return relative * m[k] + 4 * least; });
}

void print_report(const EinsumCommandOptions& options, const EinsumWork& work, const Plan& plan,
                  const ComputationTimes& times, const Comparison& comparison, bool json) {
  const std::string show = show_command(options.spec, work.inputs, work.output, work.einsum);
  if (json) {
    Json inputs = Json::array();
    for (std::size_t k = 0; k < work.inputs.size(); ++k) {
      inputs.push_back(tensor_json(options.inputs[k], work.arrays[k].header.descr, work.inputs[k]));
    }
    Json object = {{"spec", options.spec},
                   {"inputs", inputs},
                   {"output", tensor_json(options.output, npy_descr(work.output.type), work.output)},
                   {"plan", plan_json(plan)},
                   {"path", explain_path(options.spec, work.inputs, work.einsum)}};
    if (work.einsum.addend)
      object["addend"] = tensor_json(options.addend, work.arrays.back().header.descr, *work.einsum.addend);
    add_times(object, plan, times, true, options.verify);
    object["show"] = show;
    if (options.verify) object["largest_relative_difference"] = comparison.largest;
    add_copy_times(object, plan, times);
    print_json(object);
    return;
  }
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::size_t k = 0; k < work.inputs.size(); ++k) {
    lines.emplace_back("in", tensor_text(options.inputs[k], work.inputs[k]));
  }
  if (work.einsum.addend) lines.emplace_back("addend", tensor_text(options.addend, *work.einsum.addend));
  lines.emplace_back("out", tensor_text(options.output, work.output));
  add_times(lines, plan, times,
            fmt::format("{:.3g} GF/s, {:.3g} GB/s", speed_GFs(plan, times), bandwidth_GBs(plan, times)));
  if (options.verify) lines.emplace_back("verified", verified_text(comparison.largest));
  lines.emplace_back("file", plan.cache_path().empty() ? "not on disk" : plan.cache_path());
  if (!show.empty()) lines.emplace_back("source", show);
  print_lines(lines);
}

int run(const EinsumCommandOptions& options, bool json) {
  Progress progress("starting");
  ComputationTimes times;
  EinsumWork work = prepare(options, progress, times);

  progress.step("planning and compiling");
  double start = now_ms();
  const Plan plan =
      runtime_with(options.blas, work.einsum.device).plan_einsum(options.spec, work.inputs, work.output, work.einsum);
  times.plan_ms = now_ms() - start;

  work.c = starting_with(work.output, work.old_c);
  Execution execution;
  execution.outputs = {{work.c.data(), work.c.size(), 0}};
  for (auto& array : work.arrays) execution.inputs.push_back({array.data.data(), array.data.size(), 0});
  execution.old_values_count = work.old_c.size() > 0;
  progress.step("running");
  times.run = execute(plan, execution, options.repeat, [&](double share) { progress.share(share); });
  Comparison comparison;
  if (options.verify) {
    progress.step("verifying");
    comparison = verify(options, work);
    if (comparison.difference) {
      return refuse_difference("spec", options.spec, plan, *comparison.difference, "",
                               show_command(options.spec, work.inputs, work.output, work.einsum), json);
    }
  }
  start = now_ms();
  write_tensor(options.output, work.output, work.c.data(), {}, progress);
  times.write_ms = now_ms() - start;
  print_report(options, work, plan, times, comparison, json);
  return kDone;
}

}  // namespace

void add_einsum(Command& app, Session& session) {
  auto options = std::make_shared<EinsumCommandOptions>();
  Command command =
      app.add_subcommand("einsum", "Multiply and sum .npy files: out = alpha * sum(op(a) * op(b) * ...) + beta * out");
  command.add_option("spec", options->spec, "Index notation, such as 'ab,bc->ac'").required();
  command.add_option("in", options->inputs, "Tensors to read (.npy), one per operand").required();
  command.add_option("-o,--output", options->output, "File to write (.npy)").required();
  add_device_option(command, *options);
  add_factor_options(command, *options, "Factor of the products: 2, -0.5, 1-2i");
  command.add_option("--addend", options->addend,
                     "A file (.npy) of the output's shape that --beta adds, in place of the output file");
  command.add_flag("--conj{all}", options->conjugate, "Conjugate all operands, or these: --conj=1,3");
  add_type_options(command, *options, "Element type of the output; if left out, that of NumPy's result",
                   "What two opaque bytes ('<V2') in the inputs are: bf16");
  command.add_flag("--verify", options->verify,
                   "Compare with the interpreter before writing: integers bit for bit, floats within their rounding");
  command.add_option("--path", options->path, "With three operands and more: least time, fewest flops, or least memory")
      .one_of({"time", "flops", "memory"})
      .capture_default_str();
  add_precision_option(command, options->precision);
  add_workspace_option(command, options->workspace_limit);
  add_schedule_options(command, *options);
  add_blas_option(command, options->blas);
  command.footer(
      "Examples:\n"
      "  ricci einsum 'ab,bc->ac' a.npy b.npy -o c.npy\n"
      "  ricci einsum 'labi,kjcl->kjicba' a.npy b.npy -o c.npy --verify --repeat 10\n"
      "  ricci einsum 'pq,pi,qj->ij' h.npy c.npy c.npy -o mo.npy --conj=2\n"
      "  ricci einsum '...ij->...' a.npy -o sums.npy --device gpu\n"
      "The run is timed without reading, writing and copying to and from a device.");
  run_with(command, session, options, run);
}

}  // namespace ricci::tools
