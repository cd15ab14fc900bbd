// `ricci run`: a program's statements on .npy files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "cli/arrays.hpp"
#include "cli/computation.hpp"
#include "cli/mode.hpp"
#include "cli/problem.hpp"
#include "cli/program_tensors.hpp"
#include "cli/subcommands.hpp"
#include "frontend/problem.hpp"
#include "ir/types.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

struct RunCommandOptions : ComputationOptions {
  std::string file;
  std::vector<std::string> words, outputs, extents;
  double tolerance = -1;
  int threads = 0;
};

struct RunWork {
  std::optional<Program> program;
  std::vector<CallerTensor> tensors;  // those that are the caller's
  std::vector<Scalar> params;
};

std::pair<std::string, std::string> parse_word(const std::string& word, const char* form) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ShapeError(fmt::format("'{}' says nothing; write {}", word, form));
  return {word.substr(0, equals), word.substr(equals + 1)};
}

std::string names_text(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// A parameter's value, which its type must hold: refused before anything is read.
void check_value(const ParamInfo& param, const std::string& text, Scalar value) {
  const auto what = "parameter " + param.name;
  if (!is_integer(param.type)) return ir::check_range(what, value, param.type);
  if (value.imag() != 0 || value.real() != std::floor(value.real())) {
    throw ShapeError(fmt::format("{} = {} is not a whole number, but it is {}", what, text, name(param.type)));
  }
  ir::check_range(what, value, param.type);
  constexpr double kExact = 9007199254740992.0;  // 2^53: values are f64 on their way
  if (std::fabs(value.real()) >= kExact) {
    throw ShapeError(fmt::format("{} = {} is not below 2^53, where whole numbers are exact", what, text));
  }
}

// What the command line gives: files of tensors, values of parameters.
struct Given {
  std::map<std::string, std::string> files, results;
  std::map<std::string, Scalar> params;
};

Given read_words(const RunCommandOptions& options, const Program& program) {
  Given given;
  std::map<std::string, TensorInfo> tensors;
  std::vector<std::string> names, written;
  for (const auto& info : program.tensors()) {
    if (!is_callers(info)) continue;
    tensors.emplace(info.name, info);
    if (is_read(info)) names.push_back(info.name);
    if (is_written(info)) written.push_back(info.name);
  }
  for (const auto& param : program.params()) names.push_back(param.name);
  for (const auto& word : options.words) {
    const auto [name, value] = parse_word(word, "name=file.npy or parameter=0.5");
    const auto params = program.params();
    const auto param = std::find_if(params.begin(), params.end(), [&, n = name](const auto& p) { return p.name == n; });
    const bool is_param = param != params.end();
    const auto place = tensors.find(name);
    if (!is_param && (place == tensors.end() || !is_read(place->second))) {
      throw SpecError(
          fmt::format("{}: {} is no input and no parameter; there are {}{}", options.file, name, names_text(names),
                      place == tensors.end() ? "" : fmt::format(" (its result is written with -o {}=...)", name)));
    }
    const bool fresh = is_param ? given.params.emplace(name, parse_scalar(value, name)).second
                                : given.files.emplace(name, value).second;
    if (is_param) check_value(*param, value, given.params.at(name));
    if (!fresh) throw ShapeError(fmt::format("{} is given twice", name));
  }
  for (const auto& word : options.outputs) {
    const auto [name, path] = parse_word(word, "-o name=file.npy");
    const auto place = tensors.find(name);
    if (place == tensors.end() || !is_written(place->second)) {
      throw SpecError(fmt::format("-o {}: no result is called {}; there are {}", word, name, names_text(written)));
    }
    OutputFile::check_tensor(path);
    for (const auto& [other, taken] : given.results) {
      if (OutputFile::same(path, taken)) {
        throw ShapeError(
            fmt::format("-o {}: {} is written to that file already; give each result one of its own", word, other));
      }
    }
    if (!given.results.emplace(name, path).second) throw ShapeError(fmt::format("-o {}: is given twice", name));
  }
  for (const auto& [name, info] : tensors) {
    if (is_read(info) && !given.files.contains(name)) {
      throw ShapeError(fmt::format("{}: {} needs a file; add {}=FILE.npy", options.file, name, name));
    }
  }
  for (const auto& param : program.params()) {
    if (!given.params.contains(param.name)) {
      throw ShapeError(fmt::format("{}: parameter {} needs a value; add {}=...", options.file, param.name, param.name));
    }
  }
  return given;
}

RunWork prepare(const RunCommandOptions& options, Progress& progress, ComputationTimes& times) {
  RunWork work;
  check_repeat(options.repeat);
  work.program = read_program(options.file, options.extents);
  Program& program = *work.program;
  const Given given = read_words(options, program);
  check_device(options.device);
  const double start = now_ms();
  std::map<std::string, NpyArray> arrays;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& info : program.tensors()) {
    if (!is_callers(info) || !is_read(info)) continue;
    const auto& path = given.files.at(info.name);
    progress.step("reading " + path);
    const bool half = size_of(info.type) == 2;
    auto array =
        read_npy(path, half ? std::optional(info.type) : std::nullopt, [&](double share) { progress.share(share); });
    if (array.layout.type != info.type) {
      throw ShapeError(
          fmt::format("{} holds {}, and {} says that {} is {}; convert it, as in `ricci permute 'i->i' {} -o "
                      "out.npy --dtype {}`",
                      path, name(array.layout.type), options.file, info.name, name(info.type), path, name(info.type)));
    }
    auto shape = array.header.shape;
    if (in_parts(info)) {
      if (shape.empty() || shape.front() != info.components) {
        throw ShapeError(fmt::format("{} has shape {}; {} has {} components, one after the other along the first axis",
                                     path, shape_text(shape), info.name, info.components));
      }
      shape.erase(shape.begin());
    }
    shapes.emplace(info.name, std::move(shape));
    arrays.emplace(info.name, std::move(array));
  }
  try {
    program.bind(shapes);
  } catch (const ShapeError& error) {
    throw ShapeError(fmt::format("{}: {}", options.file, error.what()));
  }
  check_extents(options.file, program);
  times.read_ms = now_ms() - start;
  for (const auto& info : program.tensors()) {
    if (!is_callers(info)) continue;
    CallerTensor tensor = allocate(info);
    if (const auto place = arrays.find(info.name); place != arrays.end()) {
      tensor.read_from = given.files.at(info.name);
      fill(tensor, place->second);
    }
    if (const auto place = given.results.find(info.name); place != given.results.end()) tensor.write_to = place->second;
    work.tensors.push_back(std::move(tensor));
  }
  for (const auto& param : program.params()) work.params.push_back(given.params.at(param.name));
  return work;
}

// The arrays of a call, in its order: those that are written, and those that are only read.
Execution execution_of(RunWork& work, const Plan& plan) {
  Execution execution;
  std::map<std::string, HostArray> arrays;
  for (auto& tensor : work.tensors) {
    for (std::size_t k = 0; k < tensor.info.buffers.size(); ++k) {
      arrays[tensor.info.buffers[k]] = {tensor.memory.data() + k * tensor.part_bytes, tensor.part_bytes,
                                        tensor.origin_bytes};
    }
    execution.old_values_count |= tensor.info.role == TensorRole::inout;
  }
  for (const auto& argument : plan.outputs()) execution.outputs.push_back(arrays.at(argument.name));
  for (const auto& argument : plan.inputs()) execution.inputs.push_back(arrays.at(argument.name));
  execution.params = work.params;
  return execution;
}

struct Verified {
  std::optional<std::string> difference;
  double largest = 0;
};

// Compares with the interpreter: integers bit for bit, floats within a tolerance relative to the tensor's largest
// value.
Verified verify(const RunCommandOptions& options, RunWork& work, const Plan& plan, const std::vector<Buffer>& before) {
  Verified verified;
  const auto precision = parse_precision(options.precision);
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
  std::vector<Buffer> copies;
  std::map<std::string, std::byte*> arrays;
  for (std::size_t t = 0; t < work.tensors.size(); ++t) {
    auto& tensor = work.tensors[t];
    std::byte* base = tensor.memory.data();
    if (is_written(tensor.info)) {
      copies.emplace_back(tensor.memory.size());
      std::memcpy(copies.back().data(), before[t].data(), tensor.memory.size());
      base = copies.back().data();
    }
    for (std::size_t k = 0; k < tensor.info.buffers.size(); ++k) {
      arrays[tensor.info.buffers[k]] = part_begin(tensor, base, k);
    }
  }
  for (const auto& argument : plan.outputs()) outputs.push_back(arrays.at(argument.name));
  for (const auto& argument : plan.inputs()) inputs.push_back(arrays.at(argument.name));
  Runtime::interpret_program(*work.program, outputs, inputs, work.params, precision);
  std::size_t copy = 0;
  for (const auto& tensor : work.tensors) {
    if (!is_written(tensor.info)) continue;
    const auto& expected = copies[copy++];
    const auto layout = Layout::row_major(tensor.info.type, tensor.info.shape);
    for (std::size_t k = 0; k < tensor.info.buffers.size(); ++k) {
      const Buffer got = dense(tensor, tensor.memory.data(), k), right = dense(tensor, expected.data(), k);
      double most = 0;
      std::vector<double> sizes(static_cast<std::size_t>(layout.elements()));
      moduli(layout, right.data(), sizes.data());
      for (const auto size : sizes) most = std::isfinite(size) ? std::max(most, size) : most;
      const double relative = options.tolerance >= 0
                                  ? options.tolerance
                                  : 2048 * std::max(unit_roundoff(layout.type), sum_roundoff(layout.type, precision)) +
                                        2 * product_error(precision);
      const auto comparison = compare(layout, got.data(), right.data(), [&](std::size_t) { return relative * most; });
      verified.largest = std::max(verified.largest, comparison.largest);
      if (comparison.difference && !verified.difference) {
        verified.difference = fmt::format("{}: {}", tensor.info.buffers[k], *comparison.difference);
      }
    }
  }
  return verified;
}

// All results or none: files appear when the last one is written. What is not a regular file (a pipe) is written last.
void write_results(const RunWork& work, Progress& progress) {
  std::vector<const CallerTensor*> written;
  for (const auto& tensor : work.tensors) {
    if (!tensor.write_to.empty()) written.push_back(&tensor);
  }
  std::stable_partition(written.begin(), written.end(),
                        [](const auto* tensor) { return !OutputFile::is_direct(tensor->write_to); });
  std::vector<std::unique_ptr<OutputFile>> files;
  for (const auto* tensor : written) {
    auto shape = tensor->info.shape;
    const auto parts = tensor->info.buffers.size();
    if (in_parts(tensor->info)) shape.insert(shape.begin(), static_cast<std::int64_t>(parts));
    const auto layout = Layout::row_major(tensor->info.type, shape);
    Buffer all(static_cast<std::size_t>(layout.elements() * size_of(layout.type)));
    for (std::size_t k = 0; k < parts; ++k) {
      const Buffer one = dense(*tensor, tensor->memory.data(), k);
      std::memcpy(all.data() + k * one.size(), one.data(), one.size());
    }
    progress.step("writing " + tensor->write_to);
    files.push_back(stage_npy(tensor->write_to, layout, all.data(), {}, [&](double share) { progress.share(share); }));
  }
  OutputFile::commit_together(files);
}

void print_report(const RunCommandOptions& options, const RunWork& work, const Plan& plan,
                  const ComputationTimes& times, const Verified& verified, bool json) {
  if (json) {
    Json inputs = Json::array(), outputs = Json::array();
    for (const auto& tensor : work.tensors) {
      Json one = {{"name", tensor.info.name}, {"dtype", name(tensor.info.type)}, {"shape", tensor.info.shape}};
      if (is_read(tensor.info)) {
        one["path"] = tensor.read_from;
        inputs.push_back(one);
      }
      if (!is_written(tensor.info)) continue;
      one["path"] = tensor.write_to.empty() ? Json() : Json(tensor.write_to);
      if (is_small(tensor)) {
        Json values = Json::array();
        for (const auto value : values_of(tensor)) {
          if (is_complex(tensor.info.type)) {
            values.push_back(Json{value.real(), value.imag()});
          } else {
            values.push_back(value.real());
          }
        }
        one["values"] = std::move(values);
      }
      outputs.push_back(std::move(one));
    }
    Json object = {{"program", work.program->name()},
                   {"file", options.file},
                   {"inputs", inputs},
                   {"outputs", outputs},
                   {"plan", plan_json(plan)}};
    add_times(object, plan, times, true, options.verify);
    if (options.verify) object["largest_relative_difference"] = verified.largest;
    add_copy_times(object, plan, times);
    print_json(object);
    return;
  }
  std::vector<std::pair<std::string, std::string>> lines = {{"program", work.program->name()}};
  for (const auto& tensor : work.tensors) {
    const auto text = [&](const std::string& path) {
      return fmt::format("{} = {}  {} {}", tensor.info.name, path, name(tensor.info.type),
                         shape_text(tensor.info.shape));
    };
    if (is_read(tensor.info)) lines.emplace_back("in", text(tensor.read_from));
    if (!is_written(tensor.info)) continue;
    if (is_small(tensor)) lines.emplace_back("result", fmt::format("{} = {}", tensor.info.name, value_text(tensor)));
    if (!tensor.write_to.empty()) {
      lines.emplace_back("out", text(tensor.write_to));
    } else if (!is_small(tensor)) {
      lines.emplace_back("out",
                         fmt::format("{} is not written; add -o {}=FILE.npy", tensor.info.name, tensor.info.name));
    }
  }
  std::string rates = fmt::format("{:.3g} GB/s", bandwidth_GBs(plan, times));
  if (plan.info().flops > 0) rates += fmt::format(", {:.3g} GF/s", speed_GFs(plan, times));
  add_times(lines, plan, times, rates);
  if (options.verify) lines.emplace_back("verified", verified_text(verified.largest));
  print_lines(lines);
}

int run(const RunCommandOptions& options, bool json) {
  Progress progress("starting");
  ComputationTimes times;
  RunWork work = prepare(options, progress, times);

  progress.step("planning and compiling");
  const double start = now_ms();
  PlanOptions where;
  where.device = options.device == "gpu" ? Device::gpu : Device::cpu;
  where.schedule = options.schedule;
  where.mode = plan_mode(options.mode);
  where.precision = parse_precision(options.precision);
  where.threads = options.threads;
  where.workspace_limit = options.workspace_limit;
  const Plan plan = runtime_with(options.blas, where.device).plan_program(*work.program, where);
  times.plan_ms = now_ms() - start;

  std::vector<Buffer> before;
  if (options.verify) {
    for (const auto& tensor : work.tensors) {
      before.emplace_back(is_written(tensor.info) ? tensor.memory.size() : 0);
      if (is_written(tensor.info)) std::memcpy(before.back().data(), tensor.memory.data(), tensor.memory.size());
    }
  }
  progress.step("running");
  times.run = execute(plan, execution_of(work, plan), options.repeat, [&](double share) { progress.share(share); });
  Verified verified;
  if (options.verify) {
    progress.step("verifying");
    verified = verify(options, work, plan, before);
    if (verified.difference) {
      return refuse_difference("file", options.file, plan, *verified.difference, "the program and ",
                               "ricci show " + shell_quoted(options.file), json);
    }
  }
  const double writing = now_ms();
  write_results(work, progress);
  times.write_ms = now_ms() - writing;
  print_report(options, work, plan, times, verified, json);
  return kDone;
}

}  // namespace

void add_run(Command& app, Session& session) {
  auto options = std::make_shared<RunCommandOptions>();
  Command command = app.add_subcommand("run", "Run a program's statements on .npy files");
  command.add_option("program", options->file, "The program's file").required();
  command.add_option("given", options->words, "Files of the inputs and values of the parameters: A=a.npy dt=0.5");
  command.add_option("-o,--output", options->outputs, "File for a result: -o C=c.npy; may be repeated").one_word();
  command.add_option("--extent", options->extents, "Extent of an index that no input tells: --extent p=24").one_word();
  add_device_option(command, *options);
  command.add_option("--threads", options->threads, "CPU threads; 0: all").capture_default_str();
  command.add_flag("--verify", options->verify,
                   "Compare with the interpreter before writing: integers bit for bit, floats within --tolerance");
  command.add_option("--tolerance", options->tolerance,
                     "What --verify allows, relative to the largest value of a result; 2^-42 for f64, 2^-13 for f32");
  add_precision_option(command, options->precision);
  add_workspace_option(command, options->workspace_limit);
  add_schedule_options(command, *options);
  add_blas_option(command, options->blas);
  command.footer(
      "Examples:\n"
      "  ricci run mp2.ricci v=v.npy eo=eo.npy ev=ev.npy\n"
      "  ricci run eq05.ricci alpha=alpha.npy K=K.npy db=db.npy -o dg=dg.npy --verify\n"
      "Tensors on a grid have shape (components, points), the components in the order of their sorted multi-indices; "
      "with\n"
      "the layout blocked(n) shape (points / n, components, n). Results without -o are computed and not written.");
  run_with(command, session, options, run);
}

}  // namespace ricci::tools
