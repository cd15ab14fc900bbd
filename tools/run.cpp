// `ricci run`: a program's statements on .npy files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "arrays.hpp"
#include "command.hpp"
#include "execution.hpp"
#include "ir/interpret_value.hpp"
#include "npy.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "ricci/error.hpp"
#include "text.hpp"

namespace ricci::tools {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> words, outputs, extents;
  std::string device = "cpu", schedule;
  double tolerance = -1;
  bool verify = false;
  int repeat = 1, threads = 0;
};

// One tensor of the program, with the memory of all of its buffers: one after the other, `part_bytes` apart.
struct CallerTensor {
  TensorInfo info;
  Layout part;  // of one buffer
  Buffer memory;
  std::size_t part_bytes = 0;
  std::ptrdiff_t origin_bytes = 0;  // of element (0, 0, ...) in its buffer
  std::string read_from, write_to;
};

struct Work {
  std::optional<Program> program;
  std::vector<CallerTensor> tensors;  // those that are the caller's
  std::vector<Scalar> params;
};

struct Times {
  double plan_ms = 0, read_ms = 0, write_ms = 0;
  RunTimes run;
};

bool is_callers(const TensorInfo& info) { return info.role != TensorRole::local && info.role != TensorRole::temp; }
bool is_read(const TensorInfo& info) { return info.role == TensorRole::input || info.role == TensorRole::inout; }
bool is_written(const TensorInfo& info) { return info.role == TensorRole::output || info.role == TensorRole::inout; }
// One array per stored component, each of them (points).
bool in_parts(const TensorInfo& info) { return info.on_grid && info.shape.size() == 1; }

std::pair<std::string, std::string> parse_word(const std::string& word, const char* form) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ShapeError(fmt::format("'{}' says nothing; write {}", word, form));
  return {word.substr(0, equals), word.substr(equals + 1)};
}

std::string names_text(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// What the command line gives: files of tensors, values of parameters.
struct Given {
  std::map<std::string, std::string> files, results;
  std::map<std::string, Scalar> params;
};

Given read_words(const Options& options, const Program& program) {
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
    const bool is_param =
        std::any_of(params.begin(), params.end(), [&, n = name](const auto& p) { return p.name == n; });
    const auto place = tensors.find(name);
    if (!is_param && (place == tensors.end() || !is_read(place->second))) {
      throw SpecError(
          fmt::format("{}: {} is no input and no parameter; there are {}{}", options.file, name, names_text(names),
                      place == tensors.end() ? "" : fmt::format(" (its result is written with -o {}=...)", name)));
    }
    const bool fresh = is_param ? given.params.emplace(name, parse_scalar(value, name)).second
                                : given.files.emplace(name, value).second;
    if (!fresh) throw ShapeError(fmt::format("{} is given twice", name));
  }
  for (const auto& word : options.outputs) {
    const auto [name, path] = parse_word(word, "-o name=file.npy");
    const auto place = tensors.find(name);
    if (place == tensors.end() || !is_written(place->second)) {
      throw SpecError(fmt::format("-o {}: no result is called {}; there are {}", word, name, names_text(written)));
    }
    OutputFile::check(path);
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

// Copies between two layouts of the same elements.
void rearrange(const Layout& from_layout, const void* from, const Layout& to_layout, void* to) {
  std::string axes;
  for (int k = 0; k < from_layout.rank(); ++k) axes += fmt::format("{}x{}", k == 0 ? "" : " ", k);
  const std::string spec = from_layout.rank() < 2 ? (axes.empty() ? "->" : "x->x") : axes + " -> " + axes;
  Runtime::global().plan_permute(spec, from_layout, to_layout)(to, from);
}

// Memory for a tensor whose extents are known, zeros.
void allocate(CallerTensor& tensor) {
  const auto& info = tensor.info;
  tensor.part = Layout::strided(info.type, info.shape, info.strides);
  std::int64_t first = 0, last = 0;
  for (std::size_t k = 0; k < info.shape.size(); ++k) {
    const auto reach = (info.shape[k] - 1) * info.strides[k];
    (reach < 0 ? first : last) += reach;
  }
  const bool empty = tensor.part.elements() == 0;
  tensor.part_bytes = empty ? 0 : static_cast<std::size_t>((last - first + 1) * size_of(info.type));
  tensor.part_bytes = (tensor.part_bytes + 63) / 64 * 64;  // every part as aligned as the whole
  tensor.origin_bytes = empty ? 0 : -first * size_of(info.type);
  tensor.memory = Buffer(tensor.part_bytes * std::max<std::size_t>(info.buffers.size(), 1));
  std::memset(tensor.memory.data(), 0, tensor.memory.size());
}

// Elements of the file that is part `k` of a tensor of parts; the whole file otherwise.
struct FilePart {
  Layout layout;
  const std::byte* data;
};

FilePart file_part(const CallerTensor& tensor, const NpyArray& array, std::size_t k) {
  if (!in_parts(tensor.info)) return {array.layout, array.data.data()};
  FilePart part{array.layout, array.data.data()};
  part.data += static_cast<std::int64_t>(k) * part.layout.strides.front() * size_of(part.layout.type);
  part.layout.extents.erase(part.layout.extents.begin());
  part.layout.strides.erase(part.layout.strides.begin());
  return part;
}

Work prepare(const Options& options, Progress& progress, Times& times) {
  Work work;
  if (options.repeat < 1) throw ShapeError("--repeat: at least 1");
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
          fmt::format("{} holds {}, and {} says that {} is {}; convert it, as in `ricci permute {} out.npy "
                      "'i->i' --dtype {}`",
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
    CallerTensor tensor;
    tensor.info = info;
    allocate(tensor);
    if (const auto place = arrays.find(info.name); place != arrays.end()) {
      tensor.read_from = given.files.at(info.name);
      for (std::size_t k = 0; k < info.buffers.size(); ++k) {
        const auto part = file_part(tensor, place->second, k);
        if (part.layout.elements() == 0) continue;
        std::byte* const to = tensor.memory.data() + k * tensor.part_bytes + tensor.origin_bytes;
        if (part.layout.strides == tensor.part.strides &&
            tensor.part.strides == Layout::row_major(info.type, info.shape).strides) {
          std::memcpy(to, part.data, static_cast<std::size_t>(part.layout.elements() * size_of(info.type)));
        } else {
          rearrange(part.layout, part.data, tensor.part, to);
        }
      }
    }
    if (const auto place = given.results.find(info.name); place != given.results.end()) tensor.write_to = place->second;
    work.tensors.push_back(std::move(tensor));
  }
  for (const auto& param : program.params()) work.params.push_back(given.params.at(param.name));
  return work;
}

// The arrays of a call, in its order: those that are written, and those that are only read.
Execution execution_of(Work& work, const Plan& plan) {
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

// Of one part of a tensor, in C order.
Buffer dense(const CallerTensor& tensor, const std::byte* memory, std::size_t k) {
  const auto rows = Layout::row_major(tensor.info.type, tensor.info.shape);
  Buffer buffer(static_cast<std::size_t>(rows.elements() * size_of(rows.type)));
  const std::byte* const from = memory + k * tensor.part_bytes + tensor.origin_bytes;
  if (rows.elements() == 0) return buffer;
  if (rows.strides == tensor.part.strides) {
    std::memcpy(buffer.data(), from, buffer.size());
  } else {
    rearrange(tensor.part, from, rows, buffer.data());
  }
  return buffer;
}

struct Verified {
  std::optional<std::string> difference;
  double largest = 0;
};

// Compares with the interpreter: integers bit for bit, floats within a tolerance relative to the tensor's largest
// value.
Verified verify(const Options& options, Work& work, const Plan& plan, const std::vector<Buffer>& before) {
  Verified verified;
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
      arrays[tensor.info.buffers[k]] = base + k * tensor.part_bytes + tensor.origin_bytes;
    }
  }
  for (const auto& argument : plan.outputs()) outputs.push_back(arrays.at(argument.name));
  for (const auto& argument : plan.inputs()) inputs.push_back(arrays.at(argument.name));
  Runtime::interpret_program(*work.program, outputs, inputs, work.params);
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
      const double relative = options.tolerance >= 0 ? options.tolerance : 2048 * unit_roundoff(layout.type);
      const auto comparison = compare(layout, got.data(), right.data(), [&](std::size_t) { return relative * most; });
      verified.largest = std::max(verified.largest, comparison.largest);
      if (comparison.difference && !verified.difference) {
        verified.difference = fmt::format("{}: {}", tensor.info.buffers[k], *comparison.difference);
      }
    }
  }
  return verified;
}

void write_results(const Work& work, Progress& progress) {
  for (const auto& tensor : work.tensors) {
    if (tensor.write_to.empty()) continue;
    progress.step("writing " + tensor.write_to);
    auto shape = tensor.info.shape;
    const auto parts = tensor.info.buffers.size();
    if (in_parts(tensor.info)) shape.insert(shape.begin(), static_cast<std::int64_t>(parts));
    const auto layout = Layout::row_major(tensor.info.type, shape);
    Buffer all(static_cast<std::size_t>(layout.elements() * size_of(layout.type)));
    for (std::size_t k = 0; k < parts; ++k) {
      const Buffer one = dense(tensor, tensor.memory.data(), k);
      std::memcpy(all.data() + k * one.size(), one.data(), one.size());
    }
    write_npy(tensor.write_to, layout, all.data(), {}, [&](double share) { progress.share(share); });
  }
}

// The elements of a small result, for the report.
constexpr std::size_t kPrinted = 4;

std::vector<Scalar> values_of(const CallerTensor& tensor) {
  std::vector<Scalar> values;
  const Buffer elements = dense(tensor, tensor.memory.data(), 0);
  const auto bytes = static_cast<std::size_t>(size_of(tensor.info.type));
  for (std::size_t k = 0; k + bytes <= elements.size() && tensor.part.elements() > 0; k += bytes) {
    const auto value = ir::oracle::load(elements.data() + k, tensor.info.type);
    const bool is_signed = tensor.info.type <= DType::i64;
    if (is_integer(tensor.info.type)) {
      values.emplace_back(is_signed ? static_cast<double>(static_cast<std::int64_t>(value.integer))
                                    : static_cast<double>(value.integer));
    } else {
      values.emplace_back(value.re, value.im);
    }
  }
  return values;
}

bool is_small(const CallerTensor& tensor) {
  return tensor.info.buffers.size() == 1 && tensor.part.elements() > 0 &&
         static_cast<std::size_t>(tensor.part.elements()) <= kPrinted;
}

std::string value_text(const CallerTensor& tensor) {
  std::string text;
  for (const auto value : values_of(tensor)) {
    text += text.empty() ? "" : ", ";
    text += is_complex(tensor.info.type)   ? fmt::format("{:.15g}{:+.15g}i", value.real(), value.imag())
            : is_integer(tensor.info.type) ? fmt::format("{:.0f}", value.real())
                                           : fmt::format("{:.15g}", value.real());
  }
  return text;
}

void print_report(const Options& options, const Work& work, const Plan& plan, const Times& times,
                  const Verified& verified, bool json) {
  const PlanInfo& info = plan.info();
  const double gbs = static_cast<double>(info.compulsory_bytes) / times.run.best_ms() / 1e6;
  const double gfs = info.flops / times.run.best_ms() / 1e6;
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
                   {"plan", plan_json(plan)},
                   {"ready_ms", times.plan_ms},
                   {"runs", times.run.runs_ms.size()},
                   {"first_ms", times.run.runs_ms.front()},
                   {"best_ms", times.run.best_ms()},
                   {"median_ms", times.run.median_ms()},
                   {"GBs", info.steps == 0 ? Json() : Json(gbs)},
                   {"GFs", info.steps == 0 ? Json() : Json(gfs)},
                   {"read_ms", times.read_ms},
                   {"write_ms", times.write_ms},
                   {"verified", options.verify ? Json(true) : Json()}};
    if (options.verify) object["largest_relative_difference"] = verified.largest;
    if (plan.device() == Device::gpu) {
      object["to_device_ms"] = times.run.to_device_ms;
      object["to_host_ms"] = times.run.to_host_ms;
    }
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
  for (auto& line : plan_lines(plan)) {
    if (line.first != "file" && line.first != "traffic") lines.push_back(std::move(line));
  }
  lines.emplace_back("ready", fmt::format("{} after the call", ms_text(times.plan_ms)));
  if (info.steps > 0) {
    std::string run = fmt::format("{}, {:.3g} GB/s", ms_text(times.run.best_ms()), gbs);
    if (info.flops > 0) run += fmt::format(", {:.3g} GF/s", gfs);
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
  if (options.verify) lines.emplace_back("verified", verified_text(verified.largest));
  print_lines(lines);
}

int run(const Options& options, bool json) {
  Progress progress("starting");
  Times times;
  Work work = prepare(options, progress, times);

  progress.step("planning and compiling");
  const double start = now_ms();
  PlanOptions where;
  where.device = options.device == "gpu" ? Device::gpu : Device::cpu;
  where.schedule = options.schedule;
  where.threads = options.threads;
  const Plan plan = Runtime::global().plan_program(*work.program, where);
  times.plan_ms = now_ms() - start;

  std::vector<Buffer> before;
  if (options.verify) {
    for (const auto& tensor : work.tensors) {
      before.emplace_back(is_written(tensor.info) ? tensor.memory.size() : 0);
      if (is_written(tensor.info)) std::memcpy(before.back().data(), tensor.memory.data(), tensor.memory.size());
    }
  }
  progress.step("running");
  times.run = execute(plan, execution_of(work, plan), options.repeat);
  Verified verified;
  if (options.verify) {
    progress.step("verifying");
    verified = verify(options, work, plan, before);
    if (verified.difference) {
      if (json)
        print_json(
            {{"file", options.file}, {"plan", plan_json(plan)}, {"verified", false}, {"text", *verified.difference}});
      print_error(
          "ricci: {}\nnothing was written; please report this with the program and the output of\n  ricci show {} "
          "--source --key\n",
          *verified.difference, shell_quoted(options.file));
      return kDiffers;
    }
  }
  const double writing = now_ms();
  write_results(work, progress);
  times.write_ms = now_ms() - writing;
  print_report(options, work, plan, times, verified, json);
  return kDone;
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "Run a program's statements on .npy files");
  command->add_option("program", options->file, "The program's file")->required();
  command->add_option("given", options->words, "Files of the inputs and values of the parameters: A=a.npy dt=0.5");
  command->add_option("-o,--output", options->outputs, "File for a result: -o C=c.npy; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--extent", options->extents, "Extent of an index that no input tells: --extent p=24")
      ->allow_extra_args(false);
  command->add_option("--device", options->device, "Where to run: cpu or gpu")
      ->check(CLI::IsMember({"cpu", "gpu"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "CPU threads; 0: all")->capture_default_str();
  command->add_flag("--verify", options->verify,
                    "Compare with the interpreter before writing: integers bit for bit, floats within --tolerance");
  command->add_option("--tolerance", options->tolerance,
                      "What --verify allows, relative to the largest value of a result; 2^-42 for f64, 2^-13 for f32");
  command->add_option("--schedule", options->schedule, "A candidate of `ricci explain` instead of the model's choice");
  command->add_option("--repeat", options->repeat, "Run this many times, and report the best")->capture_default_str();
  add_json_flag(*command, session);
  command->footer(
      "Examples:\n"
      "  ricci run mp2.ricci v=v.npy eo=eo.npy ev=ev.npy\n"
      "  ricci run eq05.ricci alpha=alpha.npy K=K.npy db=db.npy -o dg=dg.npy --verify\n"
      "Tensors on a grid have shape (components, points), the components in the order of their sorted multi-indices; "
      "with\n"
      "the layout blocked(n) shape (points / n, components, n). Results without -o are computed and not written.");
  command->callback([options, &session] { session.run = [options, &session] { return run(*options, session.json); }; });
}

}  // namespace ricci::tools
