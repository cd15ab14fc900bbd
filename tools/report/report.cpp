#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "report/text.hpp"

namespace ricci::tools {

double now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

Json plan_json(const Plan& plan) {
  const PlanInfo& info = plan.info();
  return {{"kernel", info.kernel},
          {"schedule", info.schedule},
          {"device", name(plan.device())},
          {"choice", info.choice},
          {"origin", info.origin},
          {"plan_ms", info.plan_ms},
          {"generate_ms", info.generate_ms},
          {"compile_ms", info.compile_ms},
          {"load_ms", info.load_ms},
          {"measure_ms", info.measure_ms},
          {"registers", info.registers},
          {"spill_bytes", info.spill_bytes},
          {"shared_bytes", info.shared_bytes},
          {"compulsory_bytes", info.compulsory_bytes},
          {"workspace_bytes", info.workspace_bytes},
          {"flops", info.flops},
          {"steps", info.steps},
          {"cache_path", plan.cache_path()}};
}

std::string origin_text(const PlanInfo& info) {
  const double total_ms = info.plan_ms + info.generate_ms + info.compile_ms + info.load_ms;
  if (info.origin == "none") return "nothing to run";
  if (info.origin != "compiled") return fmt::format("from {} in {}", info.origin, ms_text(total_ms));
  return fmt::format("compiled in {} (plan {}, source {}, compiler {}, load {})", ms_text(total_ms),
                     ms_text(info.plan_ms), ms_text(info.generate_ms), ms_text(info.compile_ms), ms_text(info.load_ms));
}

std::string choice_text(const PlanInfo& info) {
  if (info.choice.empty()) return "none";
  return info.measure_ms > 0 ? fmt::format("{} in {}", info.choice, ms_text(info.measure_ms)) : info.choice;
}

std::vector<std::pair<std::string, std::string>> plan_lines(const Plan& plan) {
  const PlanInfo& info = plan.info();
  std::vector<std::pair<std::string, std::string>> lines = {
      {"kernel", info.kernel.empty() ? "none" : info.kernel},
      {"plan", info.schedule},
      {"choice", choice_text(info)},
      {"origin", origin_text(info)},
  };
  if (plan.device() == Device::gpu && info.origin != "none") {
    lines.emplace_back("uses", fmt::format("{} registers, {} spilled, {} of shared memory", info.registers,
                                           bytes_text(info.spill_bytes), bytes_text(info.shared_bytes)));
  }
  lines.emplace_back("traffic", fmt::format("{} at least", bytes_text(static_cast<double>(info.compulsory_bytes))));
  if (info.workspace_bytes > 0) {
    lines.emplace_back("workspace", bytes_text(static_cast<double>(info.workspace_bytes)));
  }
  lines.emplace_back("file", plan.cache_path().empty() ? "not on disk" : plan.cache_path());
  return lines;
}

void print_lines(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::size_t width = 0;
  for (const auto& [word, text] : lines) width = std::max(width, word.size());
  for (const auto& [word, text] : lines) print("{:<{}}  {}\n", word, width, text);
}

void print_json(const Json& json) { print("{}\n", json.dump(2)); }

}  // namespace ricci::tools
