#include "io/timed_run.hpp"

#include <fmt/format.h>

#include "io/files.hpp"
#include "json/json.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

/// A member that is a number, or 0.
double number_in(const Json& object, std::string_view name) {
  return object[name].is_number() ? object[name].number() : 0;
}

std::string text_in(const Json& object, std::string_view name) {
  return object[name].is_string() ? object[name].text() : std::string();
}

}  // namespace

TimedRun read_timed_run(const std::string& file) {
  const auto read = Json::parse(read_text_file(file));
  if (!read || !read->is_object() || !(*read)["limit"].is_object() || !(*read)["limit"]["copy_GBs"].is_number() ||
      !(*read)["limit"]["gemm_TFs"].is_number())
    throw IoError(fmt::format(
        "{} is no result of `ricci-bench contract`: it names no limit of copies and matrix products", file));
  const Json& run = *read;
  const Json& limit = run["limit"];
  TimedRun made;
  made.set = text_in(run, "set");
  made.dtype = text_in(run, "dtype");
  made.device = text_in(run, "device");
  made.limits.copy_GBs = limit["copy_GBs"].number();
  made.limits.multiprocessors = static_cast<int>(number_in(limit, "multiprocessors"));
  made.limits.clock_MHz = number_in(limit, "clock_MHz");
  made.product_TFs = limit["gemm_TFs"].number();
  if (!run["cases"].is_array()) return made;
  for (const auto& one : run["cases"].elements()) {
    if (!one.is_object() || !one["id"].is_string() || !one["ms"].is_number()) continue;
    auto& timed = made.cases[one["id"].text()];
    timed.plan = text_in(one, "plan");
    timed.ms = one["ms"].number();
    timed.copy_GBs = number_in(one, "copy_GBs");
    if (!one["peers"].is_object()) continue;
    for (const auto& [name, ms] : one["peers"].items()) {
      if (ms.is_number()) timed.peers[name] = ms.number();
    }
  }
  return made;
}

}  // namespace ricci::tools
