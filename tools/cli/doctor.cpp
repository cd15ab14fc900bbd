// `ricci doctor`: which compilers, devices and directories were found.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cache/admin.hpp"
#include "cli/subcommands.hpp"
#include "jit/cuda_driver.hpp"
#include "report/progress.hpp"
#include "report/report.hpp"
#include "ricci/runtime.hpp"

namespace ricci::tools {
namespace {

const char* word(DoctorLine::State state) {
  switch (state) {
    case DoctorLine::State::ok:
      return "ok";
    case DoctorLine::State::missing:
      return "missing";
    case DoctorLine::State::broken:
      return "broken";
  }
  return "?";
}

// Whether everything that a device needs was found.
bool works(const std::vector<DoctorLine>& lines, const std::string& device) {
  const auto ok = [&](const std::string& subject) {
    return std::any_of(lines.begin(), lines.end(), [&](const DoctorLine& line) {
      return line.subject.starts_with(subject) && line.state == DoctorLine::State::ok;
    });
  };
  return device == "cpu" ? ok("clang") : ok("nvrtc") && ok("driver") && ok("device");
}

struct DoctorOptions {
  std::vector<std::string> required;
  bool measure = false;
};

// Every device that there is; what is said of them afterwards holds the result.
void measure_devices() {
  Progress progress("measuring the memory of the host");
  PlanOptions options;
  Runtime::global().measure_device(options);
  options.device = Device::gpu;
  for (options.gpu = 0; options.gpu < jit::cuda::device_count(); ++options.gpu) {
    progress.step(fmt::format("measuring the memory of device {}", options.gpu));
    Runtime::global().measure_device(options);
  }
}

int run(const DoctorOptions& options, bool json) {
  const auto& required = options.required;
  if (options.measure) {
    cache::check_writable(cache::Config::from_environment());
    measure_devices();
  }
  const auto lines = doctor();
  std::vector<std::string> missing;
  for (const auto& device : required) {
    if (!works(lines, device)) missing.push_back(device);
  }
  if (json) {
    Json array = Json::array();
    for (const auto& line : lines) {
      array.push_back({{"subject", line.subject}, {"state", word(line.state)}, {"text", line.text}});
    }
    print_json({{"found", array}, {"required", required}, {"missing", missing}});
  } else {
    std::size_t width = 0;
    for (const auto& line : lines) width = std::max(width, line.subject.size());
    for (const auto& line : lines) print("{:<7}  {:<{}}  {}\n", word(line.state), line.subject, width, line.text);
  }
  for (const auto& device : missing) print_error("ricci: {} is required, and does not work here\n", device);
  return missing.empty() ? kDone : kDiffers;
}

}  // namespace

void add_doctor(Command& app, Session& session) {
  auto options = std::make_shared<DoctorOptions>();
  Command command = app.add_subcommand("doctor", "Say which compilers, devices and directories were found");
  command.add_option("--require", options->required, "Exit with 1 unless these work: cpu, gpu, or cpu,gpu")
      .delimiter(',')
      .one_of({"cpu", "gpu"});
  command.add_flag("--measure", options->measure,
                   "First measure what the memory of each device does and what a CPU computes, and keep it for the "
                   "model of every later plan");
  command.footer(
      "Examples:\n"
      "  ricci doctor\n"
      "  ricci doctor --measure\n"
      "  ricci doctor --require cpu,gpu       in a script, before work that needs both");
  run_with(command, session, options, run);
}

}  // namespace ricci::tools
