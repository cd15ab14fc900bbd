// Logging: one line per event, enabled by topic.
#pragma once

#include <functional>
#include <string_view>

namespace ricci {
inline namespace v1 {

/// Topics of RICCI_LOG, a comma list ("ir,plan"), "all", or nothing for warnings alone.
enum class LogTopic : unsigned {
  warning = 1,   ///< something was given up that the caller may want to know; always on
  ir = 2,        ///< the program after every pass
  plan = 4,      ///< candidates and the choice
  compile = 8,   ///< compilers opened, sources compiled, milliseconds
  cache = 16,    ///< hits, misses, stores, evictions
  execute = 32,  ///< each launch
};

/// Receives each line without a newline. Called from any thread, one line at a time.
using LogSink = std::function<void(LogTopic, std::string_view line)>;

/// Replaces the sink (stderr by default); an empty function restores the default. Thread-safe.
void set_log_sink(LogSink sink);

/// Replaces the set of topics that RICCI_LOG gave: a sum of LogTopic values. Thread-safe.
void set_log_topics(unsigned topics);

bool log_enabled(LogTopic topic) noexcept;
void log_line(LogTopic topic, std::string_view line);

}  // namespace v1
}  // namespace ricci
