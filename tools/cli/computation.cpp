#include "cli/computation.hpp"

#include <cstring>

#include "cli/arrays.hpp"
#include "cli/mode.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {

void add_device_option(Command& command, ComputationOptions& options) {
  command.add_device_option(options.device, "Where to run: cpu or gpu");
}

void add_factor_options(Command& command, OutputOptions& options, const char* alpha_text) {
  command.add_option("--alpha", options.alpha, alpha_text).capture_default_str();
  command.add_option("--beta", options.beta, "Factor of what the output file holds; 0 does not read it")
      .capture_default_str();
}

void add_type_options(Command& command, OutputOptions& options, const char* dtype_text, const char* in_dtype_text) {
  command.add_option("--dtype", options.dtype, dtype_text);
  command.add_option("--in-dtype", options.in_dtype, in_dtype_text);
  command.add_option("--order", options.order, "Order of the output: C (last axis contiguous) or F (first)")
      .one_of({"C", "F"});
}

void add_schedule_options(Command& command, ComputationOptions& options) {
  command.add_option("--schedule", options.schedule, "A candidate of `ricci explain` instead of the model's choice");
  add_mode_options(command, options.mode);
  command.add_option("--repeat", options.repeat, "Run this many times, and report the best").capture_default_str();
}

void check_repeat(int repeat) {
  if (repeat < 1) throw ShapeError("--repeat: at least 1");
}

std::optional<DType> opaque_type(const std::string& in_dtype, std::optional<DType> otherwise) {
  if (in_dtype.empty()) return otherwise;
  const auto type = parse_dtype(in_dtype);
  if (size_of(type) != 2) {
    throw ShapeError("--in-dtype: says what two opaque bytes ('<V2') are: bf16, f16, i16 or u16");
  }
  return type;
}

NpyArray read_old_output(const OutputOptions& options, const std::string& spec, const Layout& output,
                         std::optional<DType> opaque) {
  NpyArray old = read_npy(options.output, opaque);
  const auto& header = old.header;
  if (header.shape != output.extents) {
    throw ShapeError(fmt::format("--beta: {} has shape {}, the output has {}\n  {}", options.output,
                                 shape_text(header.shape), shape_text(output.extents), spec));
  }
  if (header.type != output.type) {
    throw ShapeError(fmt::format("--beta: {} holds {}, the output is {}; say --dtype {} to keep its type",
                                 options.output, name(header.type), name(output.type), name(header.type)));
  }
  const char* const order = is_column_major(old.layout) ? "F" : "C";
  if (!options.order.empty() && options.order != order) {
    throw ShapeError(fmt::format("--beta: {} is in {} order; leave --order out", options.output, order));
  }
  return old;
}

Buffer starting_with(const Layout& layout, const Buffer& old) {
  Buffer buffer(static_cast<std::size_t>(layout.elements() * size_of(layout.type)));
  if (old.size() > 0) {
    std::memcpy(buffer.data(), old.data(), buffer.size());
  } else {
    std::memset(buffer.data(), 0, buffer.size());
  }
  return buffer;
}

void write_tensor(const std::string& path, const Layout& layout, const std::byte* elements, const std::string& descr,
                  Progress& progress) {
  progress.step("writing " + path);
  write_npy(path, layout, elements, descr, [&](double share) { progress.share(share); });
}

int refuse_difference(const char* what, const std::string& subject, const Plan& plan, const std::string& difference,
                      const std::string& with, const std::string& told_by, bool json) {
  if (json) print_json({{what, subject}, {"plan", plan_json(plan)}, {"verified", false}, {"text", difference}});
  print_error("ricci: {}\nnothing was written; please report this with {}the output of\n  {} --source --key\n",
              difference, with, told_by);
  return kDiffers;
}

double bandwidth_GBs(const Plan& plan, const ComputationTimes& times) {
  return static_cast<double>(plan.info().compulsory_bytes) / times.run.best_ms() / 1e6;
}

double speed_GFs(const Plan& plan, const ComputationTimes& times) {
  return plan.info().flops / times.run.best_ms() / 1e6;
}

void add_times(Json& report, const Plan& plan, const ComputationTimes& times, bool with_flops, bool verified) {
  const bool ran = plan.info().steps > 0;
  report["ready_ms"] = times.plan_ms;
  report["runs"] = times.run.runs_ms.size();
  report["first_ms"] = times.run.runs_ms.front();
  report["best_ms"] = times.run.best_ms();
  report["median_ms"] = times.run.median_ms();
  report["GBs"] = ran ? Json(bandwidth_GBs(plan, times)) : Json();
  if (with_flops) report["GFs"] = ran ? Json(speed_GFs(plan, times)) : Json();
  report["read_ms"] = times.read_ms;
  report["write_ms"] = times.write_ms;
  report["verified"] = verified ? Json(true) : Json();
}

void add_copy_times(Json& report, const Plan& plan, const ComputationTimes& times) {
  if (plan.device() != Device::gpu) return;
  report["to_device_ms"] = times.run.to_device_ms;
  report["to_host_ms"] = times.run.to_host_ms;
}

void add_times(std::vector<std::pair<std::string, std::string>>& lines, const Plan& plan, const ComputationTimes& times,
               const std::string& rates) {
  for (auto& line : plan_lines(plan)) {
    if (line.first != "file" && line.first != "traffic") lines.push_back(std::move(line));
  }
  lines.emplace_back("ready", fmt::format("{} after the call", ms_text(times.plan_ms)));
  if (plan.info().steps > 0) {
    std::string run = fmt::format("{}, {}", ms_text(times.run.best_ms()), rates);
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
}

}  // namespace ricci::tools
