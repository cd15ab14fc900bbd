// The log: topics from RICCI_LOG, sinks, lines of many threads. CTest runs this with RICCI_LOG=plan,nonsense.
#include "ricci/log.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "catch.hpp"

namespace log_test {

using namespace ricci;

namespace {

/// What a function writes to stderr.
template <class F>
std::string stderr_of(F function) {
  char path[] = "/tmp/ricci-log-XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0);
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  dup2(file, STDERR_FILENO);
  function();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  close(file);
  std::ifstream stream(path);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::remove(path);
  return text;
}

constexpr LogTopic kAll[] = {LogTopic::warning, LogTopic::ir,    LogTopic::plan,
                             LogTopic::compile, LogTopic::cache, LogTopic::execute};

}  // namespace

// First, since the environment is read once.
TEST_CASE("RICCI_LOG chooses topics, and a word that it does not know is named") {
  REQUIRE(std::string(std::getenv("RICCI_LOG")) == "plan,nonsense");
  CHECK(stderr_of([] { CHECK(log_enabled(LogTopic::plan)); }) ==
        "ricci: RICCI_LOG: no topic \"nonsense\"; there are ir, plan, compile, cache, execute, all\n");
  CHECK(log_enabled(LogTopic::warning));
  CHECK_FALSE(log_enabled(LogTopic::ir));
  CHECK_FALSE(log_enabled(LogTopic::cache));
}

TEST_CASE("a program chooses topics; warnings stay on") {
  set_log_topics(static_cast<unsigned>(LogTopic::ir) | static_cast<unsigned>(LogTopic::cache));
  for (const auto topic : kAll) {
    const bool on = topic == LogTopic::warning || topic == LogTopic::ir || topic == LogTopic::cache;
    CHECK(log_enabled(topic) == on);
  }
  set_log_topics(0);
  CHECK(log_enabled(LogTopic::warning));
  CHECK_FALSE(log_enabled(LogTopic::ir));
}

TEST_CASE("lines go to stderr with their topic, and only those that are on") {
  set_log_topics(static_cast<unsigned>(LogTopic::execute));
  CHECK(stderr_of([] {
          log_line(LogTopic::execute, "one");
          log_line(LogTopic::plan, "two");
          log_line(LogTopic::warning, "three");
        }) == "ricci,execute,one\nricci,warning,three\n");
  set_log_topics(0);
}

TEST_CASE("a sink takes the place of stderr until it is taken back") {
  std::vector<std::string> lines;
  set_log_sink([&](LogTopic topic, std::string_view line) {
    lines.push_back((topic == LogTopic::warning ? "warning: " : "other: ") + std::string(line));
  });
  CHECK(stderr_of([] {
          log_line(LogTopic::warning, "heard");
          log_line(LogTopic::ir, "off");
        }).empty());
  set_log_sink({});
  CHECK(lines == std::vector<std::string>{"warning: heard"});
  CHECK(stderr_of([] { log_line(LogTopic::warning, "again"); }) == "ricci,warning,again\n");
}

TEST_CASE("a sink sees one line at a time") {
  int inside = 0, most = 0, lines = 0;
  set_log_sink([&](LogTopic, std::string_view) {
    most = std::max(most, ++inside);
    std::this_thread::yield();
    --inside;
    ++lines;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int k = 0; k < 200; ++k) log_line(LogTopic::warning, "x");
    });
  }
  for (auto& thread : threads) thread.join();
  set_log_sink({});
  CHECK(lines == 800);
  CHECK(most == 1);
}

}  // namespace log_test
