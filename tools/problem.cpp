#include "problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "progress.hpp"
#include "ricci/error.hpp"
#include "text.hpp"

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

// "C", "F" or "1,3,24".
Layout layout_of(const Spec& spec, const Spec::Term& term, DType type,
                 const std::map<std::string, std::int64_t>& extents, const std::string& strides, const char* option) {
  std::vector<std::int64_t> shape;
  for (const auto& axis : term) shape.push_back(extents.at(axis.name));
  if (strides == "C") return Layout::row_major(type, shape);
  if (strides == "F") return Layout::column_major(type, shape);
  std::vector<std::int64_t> values;
  for (std::size_t begin = 0; begin <= strides.size();) {
    const std::size_t end = std::min(strides.find(',', begin), strides.size());
    values.push_back(parse_integer(std::string_view(strides).substr(begin, end - begin), option));
    begin = end + 1;
  }
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

Scalar parse_factor(const std::string& text, const char* option) {
  if (text == "any") return 2;  // neither 0 nor 1: a factor given at run time
  return parse_scalar(text, option);
}

}  // namespace

int parse_target(const std::string& text) {
  const std::string digits = text.starts_with("sm_") ? text.substr(3) : text;
  const bool good =
      !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string::npos;
  const int sm = good ? std::stoi(digits) : 0;
  if (sm < 50) throw DeviceError(fmt::format("--target: '{}' is no compute capability from 5.0; write sm_90", text));
  return sm;
}

std::map<std::string, std::int64_t> parse_extents(const Spec& spec, const std::vector<std::string>& words) {
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

void add_problem_options(CLI::App& command, ProblemOptions& options) {
  command.add_option("spec", options.spec, "Index notation, such as 'abc->cab'")->required();
  command.add_option("extents", options.extents, "Extent of each axis: a=48 b=32 c=40");
  command.add_option("--dtype", options.dtype, "Element type: i8..i64, u8..u64, f16, bf16, f32, f64, c64, c128")
      ->capture_default_str();
  command.add_option("--out-dtype", options.out_dtype, "Element type of the output, where it differs");
  command.add_option("--device", options.device, "cpu or gpu; cpu unless --target is given")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  command.add_option("--target", options.target, "GPU: make the kernel for this architecture (sm_90); needs no GPU");
  command
      .add_option("--strides-in", options.strides_in, "Strides of the input in elements (1,48,1536), or C or F order")
      ->capture_default_str();
  command.add_option("--strides-out", options.strides_out, "Strides of the output, likewise")->capture_default_str();
  command.add_option("--alpha", options.alpha, "Factor of the input: 1, or any for one given at run time")
      ->capture_default_str();
  command.add_option("--beta", options.beta, "Factor of the old output: 0, 1, or any for one given at run time")
      ->capture_default_str();
  command.add_flag("--conj", options.conjugate, "Conjugate complex elements");
  command.add_option("--schedule", options.schedule, "A candidate of `ricci explain` instead of the model's choice");
}

Plan plan_problem(const ProblemOptions& options) {
  const Spec spec = Spec::parse(options.spec);
  PermuteOptions permute;
  permute.device =
      options.device == "gpu" || (options.device.empty() && !options.target.empty()) ? Device::gpu : Device::cpu;
  if (!options.target.empty()) {
    permute.target_sm = parse_target(options.target);
    if (permute.device == Device::cpu) throw DeviceError("--target is for --device gpu");
  }
  permute.alpha = parse_factor(options.alpha, "--alpha");
  permute.beta = parse_factor(options.beta, "--beta");
  permute.conjugate = options.conjugate;
  permute.schedule = options.schedule;
  const DType type = parse_dtype(options.dtype);
  const DType out_type = options.out_dtype.empty() ? type : parse_dtype(options.out_dtype);

  const auto extents = parse_extents(spec, options.extents);
  const Layout input = layout_of(spec, spec.operands.front(), type, extents, options.strides_in, "--strides-in");
  const Layout output = layout_of(spec, spec.output, out_type, extents, options.strides_out, "--strides-out");
  Progress progress("planning and compiling");
  return Runtime::global().plan_permute(options.spec, input, output, permute);
}

std::string show_command(const std::string& spec_text, const Layout& input, const Layout& output,
                         const PermuteOptions& options) {
  const Spec spec = Spec::parse(spec_text);
  std::string command = "ricci show " + shell_quoted(spec_text);
  for (std::size_t k = 0; k < input.extents.size(); ++k) {
    command += fmt::format(" {}={}", spec.operands.front()[k].name, input.extents[k]);
  }
  command += fmt::format(" --dtype {}", name(input.type));
  if (output.type != input.type) command += fmt::format(" --out-dtype {}", name(output.type));
  if (input.strides != Layout::row_major(input.type, input.extents).strides) {
    const bool fortran = input.strides == Layout::column_major(input.type, input.extents).strides;
    command += " --strides-in " + (fortran ? "F" : fmt::format("{}", fmt::join(input.strides, ",")));
  }
  if (output.strides != Layout::row_major(output.type, output.extents).strides) {
    const bool fortran = output.strides == Layout::column_major(output.type, output.extents).strides;
    command += " --strides-out " + (fortran ? "F" : fmt::format("{}", fmt::join(output.strides, ",")));
  }
  if (options.device == Device::gpu) command += " --device gpu";
  if (options.alpha != Scalar(1)) command += options.alpha == Scalar(0) ? " --alpha 0" : " --alpha any";
  if (options.beta != Scalar(0)) command += options.beta == Scalar(1) ? " --beta 1" : " --beta any";
  if (options.conjugate && is_complex(input.type)) command += " --conj";
  if (!options.schedule.empty()) command += " --schedule " + shell_quoted(options.schedule);
  return command;
}

}  // namespace ricci::tools
