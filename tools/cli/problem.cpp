#include "cli/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/command.hpp"
#include "cli/mode.hpp"
#include "io/files.hpp"
#include "io/timed_run.hpp"
#include "report/progress.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

using Axis = Spec::Axis;

// Every place of a spec, first the operands.
std::vector<const Axis*> all_axes(const Spec& spec) {
  std::vector<const Axis*> axes;
  for (const auto& term : spec.operands) {
    for (const auto& axis : term) axes.push_back(&axis);
  }
  for (const auto& axis : spec.output) axes.push_back(&axis);
  return axes;
}

std::vector<std::string> axis_names(const Spec& spec) {
  std::vector<std::string> names;
  for (const Axis* axis : all_axes(spec)) {
    if (std::find(names.begin(), names.end(), axis->name) == names.end()) names.push_back(axis->name);
  }
  return names;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// One word for each of `count` things: `usual` where nothing is said, one word for all, or as many as there are.
std::vector<std::string> one_each(const std::string& text, char separator, std::size_t count, const char* usual,
                                  const char* option) {
  if (text.empty()) return std::vector<std::string>(count, usual);
  auto words = split(text, separator);
  if (words.size() == 1) words.resize(count, words.front());
  if (words.size() != count) {
    throw ShapeError(
        fmt::format("{}: {} given for {} tensors; give one for all, or one for each", option, words.size(), count));
  }
  return words;
}

// "C", "F" or "1,3,24".
Layout layout_of(const Spec& spec, const Spec::Term& term, DType type,
                 const std::map<std::string, std::int64_t>& extents, const std::string& strides, const char* option) {
  std::vector<std::int64_t> shape;
  for (const auto& axis : term) shape.push_back(extents.at(axis.name));
  if (strides == "C") return Layout::row_major(type, shape);
  if (strides == "F") return Layout::column_major(type, shape);
  std::vector<std::int64_t> values;
  for (const auto& word : split(strides, ',')) values.push_back(parse_integer(word, option));
  if (values.size() != term.size()) {
    throw ShapeError(fmt::format("{}: {} strides for {} axes; give one per axis, in elements, or C or F\n{}", option,
                                 values.size(), term.size(), spec.caret([&] {
                                   std::vector<const Axis*> axes;
                                   for (const auto& axis : term) axes.push_back(&axis);
                                   return axes;
                                 }())));
  }
  return Layout::strided(type, shape, values);
}

PlanOptions plan_options(const ProblemOptions& options) {
  PlanOptions plan;
  plan.device =
      options.device == "gpu" || (options.device.empty() && !options.target.empty()) ? Device::gpu : Device::cpu;
  if (!options.target.empty()) {
    plan.target_sm = runtime::parse_target(options.target, "--target");
    if (plan.device == Device::cpu) throw DeviceError("--target is for --device gpu");
  }
  if (!options.limits.empty()) {
    if (options.target.empty())
      throw DeviceError("--limits is for --target; of a GPU that is there the model knows its own");
    plan.target_limits = read_timed_run(options.limits).limits;
  }
  plan.schedule = options.schedule;
  plan.mode = plan_mode(options.mode);
  plan.precision = parse_precision(options.precision);
  plan.workspace_limit = options.workspace_limit;
  return plan;
}

Plan plan_file(const ProblemOptions& options) {
  const std::pair<const std::string*, const char*> of_specs[] = {
      {&options.dtype, "--dtype"},           {&options.out_dtype, "--out-dtype"},
      {&options.strides_in, "--strides-in"}, {&options.strides_out, "--strides-out"},
      {&options.align, "--align"},           {&options.conjugate, "--conj"}};
  for (const auto& [text, option] : of_specs) {
    if (!text->empty()) {
      throw SpecError(fmt::format("{} is for index notation; {} says itself what it computes", option, options.what));
    }
  }
  auto extents = options.extents;
  extents.insert(extents.end(), options.more_extents.begin(), options.more_extents.end());
  const Program program = read_program(options.what, extents);
  check_extents(options.what, program);
  Progress progress("planning and compiling");
  const auto plan = plan_options(options);
  return runtime_with(options.blas, plan.device).plan_program(program, plan);
}

}  // namespace

bool names_program(const std::string& word) {
  std::error_code error;
  return word.find("->") == std::string::npos && (word.ends_with(".ricci") || std::filesystem::exists(word, error));
}

Program read_program(const std::string& path, const std::vector<std::string>& extents) {
  const auto text = read_text_file(path);
  // The same type again, with the file in front of line and column.
  try {
    Program program = Program::parse(text);
    for (const auto& word : extents) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0) {
        throw ShapeError(fmt::format("'{}' is no extent; write index=extent, such as p=24", word));
      }
      const auto index = word.substr(0, equals);
      program.set_extent(index, parse_integer(std::string_view(word).substr(equals + 1), "index " + index));
    }
    return program;
  } catch (const SpecError& error) {
    throw SpecError(fmt::format("{}: {}", path, error.what()));
  } catch (const ShapeError& error) {
    throw ShapeError(fmt::format("{}: {}", path, error.what()));
  }
}

void check_extents(const std::string& path, const Program& program) {
  const auto open = program.open_extents();
  if (open.empty()) return;
  throw ShapeError(fmt::format("{}: no extent for {} {}; add --extent {}=...", path,
                               open.size() == 1 ? "index" : "indices", fmt::join(open, ", "),
                               fmt::join(open, "=... --extent ")));
}

bool is_permutation(const Spec& spec) {
  if (spec.operands.size() != 1 || spec.implicit_output || spec.has_ellipsis()) return false;
  std::set<std::string> in, out;
  for (const auto& axis : spec.operands.front()) in.insert(axis.name);
  for (const auto& axis : spec.output) out.insert(axis.name);
  return in == out && in.size() == spec.operands.front().size() && out.size() == spec.output.size();
}

std::map<std::string, std::int64_t> parse_extents(const Spec& spec, const std::vector<std::string>& words) {
  if (spec.has_ellipsis()) {
    throw SpecError(fmt::format("an ellipsis stands for axes that only tensors tell; name them here\n  {}", spec.text));
  }
  const auto names = axis_names(spec);
  std::map<std::string, std::int64_t> extents;
  for (const auto& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ShapeError(fmt::format("'{}' is no extent; write axis=extent, such as {}=48", word,
                                   names.empty() ? "a" : names.front()));
    }
    const std::string axis = word.substr(0, equals);
    if (std::find(names.begin(), names.end(), axis) == names.end()) {
      throw SpecError(fmt::format("axis {} of '{}' is not an axis of the spec{}\n{}", axis, word,
                                  names.empty() ? "" : fmt::format("; it has {}", fmt::join(names, ", ")),
                                  spec.caret(all_axes(spec))));
    }
    const std::int64_t extent = parse_integer(std::string_view(word).substr(equals + 1), fmt::format("axis {}", axis));
    const auto places = [&] {
      std::vector<const Axis*> axes;
      for (const Axis* place : all_axes(spec)) {
        if (place->name == axis) axes.push_back(place);
      }
      return axes;
    };
    if (extent < 0) {
      throw ShapeError(
          fmt::format("axis {} has extent {}; extents start at 0\n{}", axis, extent, spec.caret(places())));
    }
    const auto [old, fresh] = extents.emplace(axis, extent);
    if (!fresh && old->second != extent) {
      throw ShapeError(
          fmt::format("axis {} is given two extents, {} and {}\n{}", axis, old->second, extent, spec.caret(places())));
    }
  }
  std::vector<std::string> missing;
  std::vector<const Axis*> places;
  for (const Axis* axis : all_axes(spec)) {
    if (extents.contains(axis->name)) continue;
    if (std::find(missing.begin(), missing.end(), axis->name) == missing.end()) {
      missing.push_back(axis->name);
      places.push_back(axis);
    }
  }
  if (!missing.empty()) {
    throw ShapeError(fmt::format("no extent for {} {}; add {}=...\n{}", missing.size() == 1 ? "axis" : "axes",
                                 fmt::join(missing, ", "), fmt::join(missing, "=... "), spec.caret(places)));
  }
  return extents;
}

void add_problem_options(Command& command, ProblemOptions& options) {
  command.add_option("spec", options.what, "Index notation, such as 'abc->cab' or 'ab,bc->ac', or a program's file")
      .required();
  command.add_option("extents", options.extents, "Extent of each axis: a=48 b=32 c=40");
  command.add_option("--extent", options.more_extents, "The same: --extent p=24").one_word();
  command.add_option(
      "--dtype", options.dtype,
      "Element type (f64): i8..i64, u8..u64, f16, bf16, f32, f64, c64, c128; or one per operand: f64,c128");
  command.add_option("--out-dtype", options.out_dtype, "Element type of the output, where it differs");
  command.add_option("--device", options.device, "cpu or gpu; cpu unless --target is given").device();
  command.add_option("--target", options.target, "GPU: make the kernel for this architecture (sm_90); needs no GPU");
  command.add_option(
      "--limits", options.limits,
      "With --target: a result of `ricci-bench` on the GPU that is meant, whose copy rate the model takes");
  command.add_option("--strides-in", options.strides_in,
                     "Strides of the input in elements (1,48,1536), or C or F order; or one per operand: 'C;1,48'");
  command.add_option("--strides-out", options.strides_out, "Strides of the output, likewise");
  command.add_option("--align", options.align,
                     "Bytes by which pointers are divisible (16); or one per operand and one for the output: 16,8,16");
  command.add_option("--alpha", options.alpha, "Factor of the input: 1, or any for one given at run time")
      .capture_default_str();
  command.add_option("--beta", options.beta, "Factor of the old output: 0, 1, or any for one given at run time")
      .capture_default_str();
  command.add_flag("--conj{all}", options.conjugate,
                   "Conjugate complex elements, of all operands or of these: --conj=1,2");
  command.add_option("--path", options.path, "With three operands and more: least time, fewest flops, or least memory")
      .one_of({"time", "flops", "memory"})
      .capture_default_str();
  add_precision_option(command, options.precision);
  add_workspace_option(command, options.workspace_limit);
  command.add_option("--schedule", options.schedule, "A candidate of `ricci explain` instead of the model's choice");
  add_mode_options(command, options.mode);
  add_blas_option(command, options.blas);
}

Plan plan_problem(const ProblemOptions& options) {
  if (names_program(options.what)) return plan_file(options);
  const Spec spec = Spec::parse(options.what);
  const auto operands = spec.operands.size();
  EinsumOptions einsum;
  static_cast<PlanOptions&>(einsum) = plan_options(options);
  einsum.alpha = runtime::parse_factor(options.alpha, "--alpha");
  einsum.beta = runtime::parse_factor(options.beta, "--beta");
  einsum.conjugate = runtime::parse_operands(options.conjugate, operands, "--conj");
  einsum.path = runtime::parse_path(options.path);

  auto words = options.extents;
  words.insert(words.end(), options.more_extents.begin(), options.more_extents.end());
  const auto extents = parse_extents(spec, words);
  const auto types = one_each(options.dtype, ',', operands, "f64", "--dtype");
  const auto strides = one_each(options.strides_in, ';', operands, "C", "--strides-in");
  const auto alignments = one_each(options.align, ',', operands + 1, "16", "--align");
  std::vector<Layout> inputs;
  for (std::size_t k = 0; k < operands; ++k) {
    inputs.push_back(layout_of(spec, spec.operands[k], parse_dtype(types[k]), extents, strides[k], "--strides-in"));
    inputs.back().alignment = parse_integer(alignments[k], "--align");
  }
  const DType out_type =
      options.out_dtype.empty() ? einsum_output(options.what, inputs).type : parse_dtype(options.out_dtype);
  Layout output = layout_of(spec, spec.output, out_type, extents,
                            options.strides_out.empty() ? "C" : options.strides_out, "--strides-out");
  output.alignment = parse_integer(alignments.back(), "--align");
  Progress progress("planning and compiling");
  if (!is_permutation(spec))
    return runtime_with(options.blas, einsum.device).plan_einsum(options.what, inputs, output, einsum);
  PermuteOptions permute;
  static_cast<PlanOptions&>(permute) = einsum;
  permute.alpha = einsum.alpha;
  permute.beta = einsum.beta;
  permute.conjugate = !einsum.conjugate.empty() && einsum.conjugate.front();
  return Runtime::global().plan_permute(options.what, inputs.front(), output, permute);
}

std::string show_command(const std::string& spec_text, const std::vector<Layout>& inputs, const Layout& output,
                         const EinsumOptions& options) {
  const Spec spec = Spec::parse(spec_text);
  if (spec.has_ellipsis() || options.addend) return {};
  std::string command = "ricci show " + shell_quoted(spec_text);
  std::set<std::string> said;
  std::vector<std::string> types, strides;
  bool any_strides = false;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    for (std::size_t k = 0; k < inputs[t].extents.size(); ++k) {
      const auto& axis = spec.operands[t][k].name;
      if (said.insert(axis).second) command += fmt::format(" {}={}", axis, inputs[t].extents[k]);
    }
    types.emplace_back(name(inputs[t].type));
    const bool rows = inputs[t].strides == Layout::row_major(inputs[t].type, inputs[t].extents).strides;
    const bool columns = inputs[t].strides == Layout::column_major(inputs[t].type, inputs[t].extents).strides;
    strides.push_back(rows ? "C" : columns ? "F" : fmt::format("{}", fmt::join(inputs[t].strides, ",")));
    any_strides |= !rows;
  }
  const bool one_type = std::set<std::string>(types.begin(), types.end()).size() == 1;
  command += fmt::format(" --dtype {}", one_type ? types.front() : fmt::format("{}", fmt::join(types, ",")));
  if (output.type != einsum_output(spec_text, inputs).type)
    command += fmt::format(" --out-dtype {}", name(output.type));
  if (any_strides) command += " --strides-in " + shell_quoted(fmt::format("{}", fmt::join(strides, ";")));
  if (output.strides != Layout::row_major(output.type, output.extents).strides) {
    const bool fortran = output.strides == Layout::column_major(output.type, output.extents).strides;
    command += " --strides-out " + (fortran ? "F" : fmt::format("{}", fmt::join(output.strides, ",")));
  }
  if (options.device == Device::gpu) command += " --device gpu";
  if (options.alpha != Scalar(1)) command += options.alpha == Scalar(0) ? " --alpha 0" : " --alpha any";
  if (options.beta != Scalar(0)) command += options.beta == Scalar(1) ? " --beta 1" : " --beta any";
  std::vector<std::size_t> conjugated;
  for (std::size_t k = 0; k < options.conjugate.size() && k < inputs.size(); ++k) {
    if (options.conjugate[k] && is_complex(inputs[k].type)) conjugated.push_back(k + 1);
  }
  if (conjugated.size() == inputs.size() && !conjugated.empty()) {
    command += " --conj";
  } else if (!conjugated.empty()) {
    command += fmt::format(" --conj={}", fmt::join(conjugated, ","));
  }
  if (options.path != EinsumOptions::Path::time)
    command += options.path == EinsumOptions::Path::memory ? " --path memory" : " --path flops";
  if (options.precision != Precision::operands) command += fmt::format(" --precision {}", name(options.precision));
  if (!options.schedule.empty()) command += " --schedule " + shell_quoted(options.schedule);
  return command;
}

}  // namespace ricci::tools
