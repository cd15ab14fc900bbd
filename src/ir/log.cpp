#include "ricci/log.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

namespace ricci {
inline namespace v1 {
namespace {

unsigned topics_from_environment() {
  const char* text = std::getenv("RICCI_LOG");
  unsigned topics = static_cast<unsigned>(LogTopic::warning);
  if (text == nullptr) return topics;
  static constexpr std::pair<std::string_view, LogTopic> kWords[] = {
      {"ir", LogTopic::ir},       {"plan", LogTopic::plan},       {"compile", LogTopic::compile},
      {"cache", LogTopic::cache}, {"execute", LogTopic::execute},
  };
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const auto word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    bool known = word.empty() || word == "warning";
    for (const auto& [name, topic] : kWords) {
      if (word == name || word == "all") {
        topics |= static_cast<unsigned>(topic);
        known = true;
      }
    }
    if (!known) {
      std::fprintf(stderr, "ricci: RICCI_LOG: no topic \"%.*s\"; there are ir, plan, compile, cache, execute, all\n",
                   static_cast<int>(word.size()), word.data());
    }
  }
  return topics;
}

std::atomic<unsigned>& topics() {
  static std::atomic<unsigned> value{topics_from_environment()};
  return value;
}

struct Sink {
  std::mutex mutex;
  LogSink function;
};

// Never destroyed: destructors of other objects may still log.
Sink& sink() {
  static auto* value = new Sink;
  return *value;
}

const char* word(LogTopic topic) {
  switch (topic) {
    case LogTopic::warning:
      return "warning";
    case LogTopic::ir:
      return "ir";
    case LogTopic::plan:
      return "plan";
    case LogTopic::compile:
      return "compile";
    case LogTopic::cache:
      return "cache";
    case LogTopic::execute:
      return "execute";
  }
  return "?";
}

}  // namespace

void set_log_sink(LogSink function) {
  const std::lock_guard lock(sink().mutex);
  sink().function = std::move(function);
}

void set_log_topics(unsigned value) { topics() = value | static_cast<unsigned>(LogTopic::warning); }

bool log_enabled(LogTopic topic) noexcept { return (topics() & static_cast<unsigned>(topic)) != 0; }

void log_line(LogTopic topic, std::string_view line) {
  if (!log_enabled(topic)) return;
  const std::lock_guard lock(sink().mutex);
  if (sink().function) {
    sink().function(topic, line);
    return;
  }
  std::string text = std::string("ricci,") + word(topic) + ',';
  text.append(line);
  text.push_back('\n');
  std::fwrite(text.data(), 1, text.size(), stderr);  // one write, so that lines of several threads stay whole
}

}  // namespace v1
}  // namespace ricci
