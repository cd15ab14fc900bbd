// `ricci permute`: one .npy file into another, by a kernel made for it.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "command.hpp"
#include "execution.hpp"
#include "ir/problem.hpp"
#include "npy.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"
#include "text.hpp"

namespace ricci::tools {
namespace {

struct Options {
  std::string input, output, spec;
  std::string device = "cpu", alpha = "1", beta = "0", dtype, in_dtype, order, schedule;
  bool conjugate = false, verify = false;
  int repeat = 1;
};

// What is asked, with both tensors in host memory.
struct Work {
  NpyArray a;
  Layout output;
  Buffer b;
  Buffer old_b;       // what B held before, where it counts
  std::string descr;  // of the output file
  PermuteOptions permute;
};

struct Times {
  double plan_ms = 0, read_ms = 0, write_ms = 0;
  RunTimes run;
};

// The old output, where beta makes it count: it must be what will be written.
NpyArray read_old_output(const Options& options, const Work& work, const std::vector<std::int64_t>& extents) {
  const bool opaque = options.dtype == "bf16" || work.a.layout.type == DType::bf16;
  NpyArray old = read_npy(options.output, opaque ? std::optional(DType::bf16) : std::nullopt);
  const auto& header = old.header;
  if (header.shape != extents) {
    throw ShapeError(fmt::format("--beta: {} has shape {}, the output has {}\n  {}", options.output,
                                 shape_text(header.shape), shape_text(extents), options.spec));
  }
  if (header.type != work.output.type) {
    throw ShapeError(fmt::format("--beta: {} holds {}, the output is {}; say --dtype {} to keep its type",
                                 options.output, name(header.type), name(work.output.type), name(header.type)));
  }
  if (!options.order.empty() && (options.order == "F") != is_column_major(old.layout)) {
    throw ShapeError(fmt::format("--beta: {} is in {} order; leave --order out", options.output,
                                 is_column_major(old.layout) ? "F" : "C"));
  }
  return old;
}

Work prepare(const Options& options, Progress& progress, Times& times) {
  Work work;
  work.permute.device = options.device == "gpu" ? Device::gpu : Device::cpu;
  work.permute.alpha = parse_scalar(options.alpha, "--alpha");
  work.permute.beta = parse_scalar(options.beta, "--beta");
  work.permute.conjugate = options.conjugate;
  work.permute.schedule = options.schedule;
  const auto wanted = options.dtype.empty() ? std::nullopt : std::optional(parse_dtype(options.dtype));
  std::optional<DType> opaque = wanted == DType::bf16 ? wanted : std::nullopt;
  if (!options.in_dtype.empty()) {
    opaque = parse_dtype(options.in_dtype);
    if (size_of(*opaque) != 2) {
      throw ShapeError("--in-dtype: says what two opaque bytes ('<V2') are: bf16, f16, i16 or u16");
    }
  }
  if (options.repeat < 1) throw ShapeError("--repeat: at least 1");
  // Refused before any work, not after the last step of it.
  Spec::parse(options.spec);
  OutputFile::check(options.output);
  check_device(options.device);

  double start = now_ms();
  progress.step("reading " + options.input);
  work.a = read_npy(options.input, opaque, [&](double share) { progress.share(share); });
  times.read_ms = now_ms() - start;

  const Layout& a = work.a.layout;
  work.output.type = wanted.value_or(a.type);
  const bool factors = work.permute.alpha != Scalar(1) || work.permute.beta != Scalar(0);
  if (work.a.header.descr.ends_with("b1") && !wanted) {
    if (factors)
      throw ShapeError(options.input + ": factors have no meaning for bool; say --dtype u8 to compute with bytes");
    work.descr = "|b1";
  }
  const auto extents = ir::permuted_row_major(Spec::parse(options.spec), a).extents;  // also refuses a wrong spec
  bool fortran = options.order == "F";
  if (work.permute.beta != Scalar(0)) {
    NpyArray old = read_old_output(options, work, extents);
    fortran = is_column_major(old.layout);
    work.old_b = std::move(old.data);
  }
  work.output =
      fortran ? Layout::column_major(work.output.type, extents) : Layout::row_major(work.output.type, extents);
  return work;
}

// The interpreter's answer, compared byte by byte: nothing if equal, else what differs.
std::optional<std::string> difference(const Options& options, const Work& work) {
  Buffer expected(work.b.size());
  if (work.old_b.size() > 0) {
    std::memcpy(expected.data(), work.old_b.data(), expected.size());
  } else {
    std::memset(expected.data(), 0, expected.size());
  }
  Runtime::interpret_permute(options.spec, work.a.layout, work.output, work.a.data.data(), expected.data(),
                             work.permute.alpha, work.permute.beta, work.permute.conjugate);
  return compare(work.output, work.b.data(), expected.data(), [](std::size_t) { return 0.0; }).difference;
}

std::string show_text(const Options& options, const Work& work) {
  EinsumOptions einsum;
  static_cast<PlanOptions&>(einsum) = work.permute;
  einsum.alpha = work.permute.alpha;
  einsum.beta = work.permute.beta;
  einsum.conjugate = {work.permute.conjugate};
  return show_command(options.spec, {work.a.layout}, work.output, einsum);
}

void print_report(const Options& options, const Work& work, const Plan& plan, const Times& times, bool json) {
  const PlanInfo& info = plan.info();
  const double gbs = static_cast<double>(info.compulsory_bytes) / times.run.best_ms() / 1e6;
  const std::string show = show_text(options, work);
  const std::string descr = work.descr.empty() ? npy_descr(work.output.type) : work.descr;
  if (json) {
    Json object = {{"spec", options.spec},
                   {"input", tensor_json(options.input, work.a.header.descr, work.a.layout)},
                   {"output", tensor_json(options.output, descr, work.output)},
                   {"plan", plan_json(plan)},
                   {"ready_ms", times.plan_ms},
                   {"runs", times.run.runs_ms.size()},
                   {"first_ms", times.run.runs_ms.front()},
                   {"best_ms", times.run.best_ms()},
                   {"median_ms", times.run.median_ms()},
                   {"GBs", info.origin == "none" ? Json() : Json(gbs)},
                   {"read_ms", times.read_ms},
                   {"write_ms", times.write_ms},
                   {"verified", options.verify ? Json(true) : Json()},
                   {"show", show}};
    if (plan.device() == Device::gpu) {
      object["to_device_ms"] = times.run.to_device_ms;
      object["to_host_ms"] = times.run.to_host_ms;
    }
    print_json(object);
    return;
  }
  std::vector<std::pair<std::string, std::string>> lines = {{"in", tensor_text(options.input, work.a.layout)},
                                                            {"out", tensor_text(options.output, work.output)}};
  if (work.a.header.big_endian) lines.front().second += " (big-endian, swapped; the output is little-endian)";
  auto more = plan_lines(plan);
  for (auto& line : more) {
    if (line.first != "file" && line.first != "traffic") lines.push_back(std::move(line));
  }
  lines.emplace_back("ready", fmt::format("{} after the call", ms_text(times.plan_ms)));
  if (info.origin != "none") {
    std::string run = fmt::format("{}, {:.3g} GB/s", ms_text(times.run.best_ms()), gbs);
    if (times.run.runs_ms.size() > 1) {
      run += fmt::format("  (best of {}; first {}, median {})", times.run.runs_ms.size(),
                         ms_text(times.run.runs_ms.front()), ms_text(times.run.median_ms()));
    }
    lines.emplace_back("run", run);
  }
  if (plan.device() == Device::gpu) {
    lines.emplace_back("copies", fmt::format("to the device {}, back {}", ms_text(times.run.to_device_ms),
                                             ms_text(times.run.to_host_ms)));
  }
  if (options.verify) lines.emplace_back("verified", "equal to the interpreter's result, bit for bit");
  lines.emplace_back("file", plan.cache_path().empty() ? "not on disk" : plan.cache_path());
  lines.emplace_back("source", show);
  print_lines(lines);
}

int run(const Options& options, bool json) {
  Progress progress("starting");
  Times times;
  Work work = prepare(options, progress, times);

  progress.step("planning and compiling");
  double start = now_ms();
  const Plan plan = Runtime::global().plan_permute(options.spec, work.a.layout, work.output, work.permute);
  times.plan_ms = now_ms() - start;

  // Memory is touched first, so that the run does not pay for the page faults of a new buffer.
  work.b = Buffer(static_cast<std::size_t>(work.output.elements() * size_of(work.output.type)));
  if (work.old_b.size() > 0) {
    std::memcpy(work.b.data(), work.old_b.data(), work.b.size());
  } else {
    std::memset(work.b.data(), 0, work.b.size());
  }
  progress.step("running");
  Execution execution;
  execution.outputs = {{work.b.data(), work.b.size(), 0}};
  execution.inputs = {{work.a.data.data(), work.a.data.size(), 0}};
  execution.old_values_count = work.old_b.size() > 0;
  times.run = execute(plan, execution, options.repeat);
  if (options.verify) {
    progress.step("verifying");
    if (const auto text = difference(options, work)) {
      if (json) print_json({{"spec", options.spec}, {"plan", plan_json(plan)}, {"verified", false}, {"text", *text}});
      print_error("ricci: {}\nnothing was written; please report this with the output of\n  {} --source --key\n", *text,
                  show_text(options, work));
      return kDiffers;
    }
  }
  progress.step("writing " + options.output);
  start = now_ms();
  write_npy(options.output, work.output, work.b.data(), work.descr, [&](double share) { progress.share(share); });
  times.write_ms = now_ms() - start;
  print_report(options, work, plan, times, json);
  return kDone;
}

}  // namespace

void add_permute(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("permute", "Permute the axes of a .npy file: out = alpha * op(in)[perm] + beta * out");
  command->add_option("in", options->input, "Tensor to read (.npy)")->required();
  command->add_option("out", options->output, "File to write (.npy); may be the one that is read")->required();
  command->add_option("spec", options->spec, "Index notation, such as 'abc->cab'")->required();
  command->add_option("--device", options->device, "Where to run: cpu or gpu")
      ->check(CLI::IsMember({"cpu", "gpu"}))
      ->capture_default_str();
  command->add_option("--alpha", options->alpha, "Factor of the input: 2, -0.5, 1-2i")->capture_default_str();
  command->add_option("--beta", options->beta, "Factor of what the output file holds; 0 does not read it")
      ->capture_default_str();
  command->add_flag("--conj", options->conjugate, "Conjugate complex elements");
  command->add_option("--dtype", options->dtype, "Element type of the output; that of the input if left out");
  command->add_option("--in-dtype", options->in_dtype, "What two opaque bytes ('<V2') in the input are: bf16");
  command->add_option("--order", options->order, "Order of the output: C (last axis contiguous) or F (first)")
      ->check(CLI::IsMember({"C", "F"}));
  command->add_flag("--verify", options->verify, "Compare with the interpreter, bit for bit, before writing");
  command->add_option("--schedule", options->schedule, "A candidate of `ricci explain` instead of the model's choice");
  command->add_option("--repeat", options->repeat, "Run this many times, and report the best")->capture_default_str();
  add_json_flag(*command, session);
  command->footer(
      "Examples:\n"
      "  ricci permute in.npy out.npy 'abc->cab'\n"
      "  ricci permute in.npy out.npy 'occ vir aux -> aux occ vir' --verify --repeat 10\n"
      "  ricci permute in.npy out.npy 'ij->ji' --alpha 0.5 --beta 1        add to what out.npy holds\n"
      "  ricci permute half.npy wide.npy 'abcd->dbca' --in-dtype bf16 --dtype f32 --device gpu\n"
      "The run is timed without reading, writing and copying to and from a device.");
  command->callback([options, &session] { session.run = [options, &session] { return run(*options, session.json); }; });
}

}  // namespace ricci::tools
