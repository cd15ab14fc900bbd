// `ricci permute`: one .npy file into another, by a kernel made for it.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arrays.hpp"
#include "cli/computation.hpp"
#include "cli/mode.hpp"
#include "cli/problem.hpp"
#include "cli/subcommands.hpp"
#include "frontend/problem.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"

namespace ricci::tools {
namespace {

struct PermuteCommandOptions : OutputOptions {
  std::string input, spec, third, hint;
  bool conjugate = false;
};

// The words in the order of every subcommand: the spec, the input, the output, which -o may name. Once they were the
// input, the output and the spec: that is understood, and said.
PermuteCommandOptions in_order(PermuteCommandOptions options) {
  const auto is_spec = [](const std::string& word) { return word.find("->") != std::string::npos; };
  const auto is_file = [](const std::string& word) { return word.ends_with(".npy") || std::filesystem::exists(word); };
  const bool turned = !is_spec(options.spec) && (is_spec(options.third) || is_file(options.spec));
  if (turned && !options.third.empty() && options.output.empty()) {
    const std::string input = options.spec, output = options.input;
    options.spec = options.third;
    options.input = input;
    options.output = output;
    options.hint = fmt::format("hint: the spec stands first: `ricci permute {} {} -o {}`\n", shell_quoted(options.spec),
                               shell_quoted(input), shell_quoted(output));
    return options;
  }
  if (!options.third.empty() && !options.output.empty()) {
    throw ShapeError(fmt::format("two outputs are named, {} and {}; give one", options.third, options.output));
  }
  if (options.output.empty()) options.output = options.third;
  if (options.output.empty()) throw ShapeError("no output is named; add -o FILE.npy");
  return options;
}

// What is asked, with both tensors in host memory.
struct PermuteWork {
  NpyArray a;
  Layout output;
  Buffer b;
  Buffer old_b;       // what B held before, where it counts
  std::string descr;  // of the output file
  PermuteOptions permute;
};

PermuteWork prepare(const PermuteCommandOptions& options, Progress& progress, ComputationTimes& times) {
  PermuteWork work;
  work.permute.device = options.device == "gpu" ? Device::gpu : Device::cpu;
  work.permute.alpha = parse_scalar(options.alpha, "--alpha");
  work.permute.beta = parse_scalar(options.beta, "--beta");
  work.permute.conjugate = options.conjugate;
  work.permute.schedule = options.schedule;
  work.permute.mode = plan_mode(options.mode);
  const auto wanted = options.dtype.empty() ? std::nullopt : std::optional(parse_dtype(options.dtype));
  const auto opaque = opaque_type(options.in_dtype, wanted == DType::bf16 ? wanted : std::nullopt);
  check_repeat(options.repeat);
  // Refused before any work, not after the last step of it.
  Spec::parse(options.spec);
  OutputFile::check_tensor(options.output);
  check_device(options.device);

  double start = now_ms();
  progress.step("reading " + options.input);
  work.a = read_npy(options.input, opaque, [&](double share) { progress.share(share); });
  times.read_ms = now_ms() - start;

  const Layout& a = work.a.layout;
  const bool factors = work.permute.alpha != Scalar(1) || work.permute.beta != Scalar(0);
  if (work.a.header.descr.ends_with("b1") && !wanted) {
    if (factors)
      throw ShapeError(options.input + ": factors have no meaning for bool; say --dtype u8 to compute with bytes");
    work.descr = "|b1";
  }
  work.output = ir::permuted_row_major(Spec::parse(options.spec), a);  // also refuses a wrong spec
  work.output.type = wanted.value_or(a.type);
  bool fortran = options.order == "F";
  if (work.permute.beta != Scalar(0)) {
    const bool halves = options.dtype == "bf16" || a.type == DType::bf16;
    NpyArray old =
        read_old_output(options, options.spec, work.output, halves ? std::optional(DType::bf16) : std::nullopt);
    fortran = is_column_major(old.layout);
    work.old_b = std::move(old.data);
  }
  if (fortran) work.output = Layout::column_major(work.output.type, work.output.extents);
  return work;
}

// The interpreter's answer, compared byte by byte: nothing if equal, else what differs.
std::optional<std::string> difference(const PermuteCommandOptions& options, const PermuteWork& work) {
  Buffer expected = starting_with(work.output, work.old_b);
  Runtime::interpret_permute(options.spec, work.a.layout, work.output, work.a.data.data(), expected.data(),
                             work.permute.alpha, work.permute.beta, work.permute.conjugate);
  return compare(work.output, work.b.data(), expected.data(), [](std::size_t) { return 0.0; }).difference;
}

std::string show_text(const PermuteCommandOptions& options, const PermuteWork& work) {
  EinsumOptions einsum;
  static_cast<PlanOptions&>(einsum) = work.permute;
  einsum.alpha = work.permute.alpha;
  einsum.beta = work.permute.beta;
  einsum.conjugate = {work.permute.conjugate};
  return show_command(options.spec, {work.a.layout}, work.output, einsum);
}

void print_report(const PermuteCommandOptions& options, const PermuteWork& work, const Plan& plan,
                  const ComputationTimes& times, bool json) {
  const std::string show = show_text(options, work);
  const std::string descr = work.descr.empty() ? npy_descr(work.output.type) : work.descr;
  if (json) {
    Json object = {{"spec", options.spec},
                   {"input", tensor_json(options.input, work.a.header.descr, work.a.layout)},
                   {"output", tensor_json(options.output, descr, work.output)},
                   {"plan", plan_json(plan)}};
    add_times(object, plan, times, false, options.verify);
    object["show"] = show;
    add_copy_times(object, plan, times);
    print_json(object);
    return;
  }
  std::vector<std::pair<std::string, std::string>> lines = {{"in", tensor_text(options.input, work.a.layout)},
                                                            {"out", tensor_text(options.output, work.output)}};
  if (work.a.header.big_endian) lines.front().second += " (big-endian, swapped; the output is little-endian)";
  add_times(lines, plan, times, fmt::format("{:.3g} GB/s", bandwidth_GBs(plan, times)));
  if (options.verify) lines.emplace_back("verified", "equal to the interpreter's result, bit for bit");
  lines.emplace_back("file", plan.cache_path().empty() ? "not on disk" : plan.cache_path());
  lines.emplace_back("source", show);
  print_lines(lines);
}

int run(const PermuteCommandOptions& given, bool json) {
  const PermuteCommandOptions options = in_order(given);
  Progress progress("starting");
  ComputationTimes times;
  PermuteWork work = prepare(options, progress, times);

  progress.step("planning and compiling");
  double start = now_ms();
  const Plan plan = Runtime::global().plan_permute(options.spec, work.a.layout, work.output, work.permute);
  times.plan_ms = now_ms() - start;

  work.b = starting_with(work.output, work.old_b);
  progress.step("running");
  Execution execution;
  execution.outputs = {{work.b.data(), work.b.size(), 0}};
  execution.inputs = {{work.a.data.data(), work.a.data.size(), 0}};
  execution.old_values_count = work.old_b.size() > 0;
  times.run = execute(plan, execution, options.repeat, [&](double share) { progress.share(share); });
  if (options.verify) {
    progress.step("verifying");
    if (const auto text = difference(options, work)) {
      return refuse_difference("spec", options.spec, plan, *text, "", show_text(options, work), json);
    }
  }
  start = now_ms();
  write_tensor(options.output, work.output, work.b.data(), work.descr, progress);
  times.write_ms = now_ms() - start;
  print_report(options, work, plan, times, json);
  if (!options.hint.empty()) print_error("{}", options.hint);
  return kDone;
}

}  // namespace

void add_permute(Command& app, Session& session) {
  auto options = std::make_shared<PermuteCommandOptions>();
  Command command =
      app.add_subcommand("permute", "Permute the axes of a .npy file: out = alpha * op(in)[perm] + beta * out");
  command.add_option("spec", options->spec, "Index notation, such as 'abc->cab'").required();
  command.add_option("in", options->input, "Tensor to read (.npy)").required();
  command.add_option("out", options->third, "File to write (.npy), as -o");
  command.add_option("-o,--output", options->output, "File to write (.npy); may be the one that is read");
  add_device_option(command, *options);
  add_factor_options(command, *options, "Factor of the input: 2, -0.5, 1-2i");
  command.add_flag("--conj", options->conjugate, "Conjugate complex elements");
  add_type_options(command, *options, "Element type of the output; that of the input if left out",
                   "What two opaque bytes ('<V2') in the input are: bf16");
  command.add_flag("--verify", options->verify, "Compare with the interpreter, bit for bit, before writing");
  add_schedule_options(command, *options);
  command.footer(
      "Examples:\n"
      "  ricci permute 'abc->cab' in.npy -o out.npy\n"
      "  ricci permute 'occ vir aux -> aux occ vir' in.npy -o out.npy --verify --repeat 10\n"
      "  ricci permute 'ij->ji' in.npy -o out.npy --alpha 0.5 --beta 1        add to what out.npy holds\n"
      "  ricci permute 'abcd->dbca' half.npy -o wide.npy --in-dtype bf16 --dtype f32 --device gpu\n"
      "The run is timed without reading, writing and copying to and from a device.");
  run_with(command, session, options, run);
}

}  // namespace ricci::tools
