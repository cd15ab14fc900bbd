#include "cli/command.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/describe.hpp"
#include "frontend/excerpt.hpp"
#include "report/report.hpp"
#include "ricci/error.hpp"
#include "ricci/version.hpp"

namespace ricci::tools {

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option& Option::device() {
  // The check that is added first is made last: what `cuda` becomes is looked at.
  one_of({"cpu", "gpu"});
  option_->transform(CLI::Validator(
      [](std::string& word) {
        if (word == "cuda") word = "gpu";
        return std::string();
      },
      std::string()));
  return *this;
}

Option& Option::range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}

Option& Option::one_word() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::expected(int words) {
  option_->expected(words);
  return *this;
}

Option& Option::once() {
  option_->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  return *this;
}

Option& Option::excludes(const std::string& other) {
  if (auto* found = app_->get_option_no_throw(other)) option_->excludes(found);
  return *this;
}

Command Command::add_subcommand(const std::string& name, const std::string& help) {
  return Command(*app_->add_subcommand(name, help));
}

void Command::require_subcommand() { app_->require_subcommand(1); }

Option Command::add_option(const std::string& names, std::string& value, const std::string& help) {
  return {*app_, *app_->add_option(names, value, help)};
}

Option Command::add_option(const std::string& names, int& value, const std::string& help) {
  return {*app_, *app_->add_option(names, value, help)};
}

Option Command::add_option(const std::string& names, std::int64_t& value, const std::string& help) {
  return {*app_, *app_->add_option(names, value, help)};
}

Option Command::add_option(const std::string& names, double& value, const std::string& help) {
  return {*app_, *app_->add_option(names, value, help)};
}

Option Command::add_option(const std::string& names, std::vector<std::string>& values, const std::string& help) {
  return {*app_, *app_->add_option(names, values, help)};
}

Option Command::add_option(const std::string& names, std::vector<int>& values, const std::string& help) {
  return {*app_, *app_->add_option(names, values, help)};
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return {*app_, *app_->add_flag(names, value, help)};
}

Option Command::add_flag(const std::string& names, std::string& value, const std::string& help) {
  return {*app_, *app_->add_flag(names, value, help)};
}

void Command::add_json_flag(Session& session) {
  add_flag("--json", session.json, "Print one JSON object instead of text");
}

void Command::add_device_option(std::string& device, const std::string& help) {
  add_option("--device", device, help).device().capture_default_str();
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> chosen) { app_->callback(std::move(chosen)); }

namespace {

// The help of the subcommand that words lead to. Throws what an unknown word does elsewhere.
std::string help_of(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* at = &program;
  std::string path = program.get_name();
  for (const auto& word : words) {
    const auto found = at->get_subcommands([&](const CLI::App* inner) { return inner->get_name() == word; });
    if (found.empty()) throw CLI::ValidationError(fmt::format("no subcommand '{}'", word));
    at = found.front();
    path += " " + word;
  }
  return at->get_formatter()->make_help(at, path, CLI::AppFormatMode::Normal);
}

// What a program says of itself.
void add_descriptions(CLI::App& app, Session& session) {
  CLI::App* help = app.add_subcommand("help", "Print what `--help` of a subcommand prints");
  auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("command", *words, "Words of the subcommand; none: the program's own help");
  help->callback([&app, &session, words] {
    const std::string text = help_of(app, *words);
    session.run = [text] {
      print("{}", text);
      return static_cast<int>(kDone);
    };
  });
  CLI::App* completion = app.add_subcommand("completion", "Print a script that completes words in a shell");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  completion->footer(
      fmt::format("Examples:\n"
                  "  source <({0} completion bash)\n"
                  "  {0} completion zsh > ~/.zfunc/_{0}                 with fpath=(~/.zfunc $fpath) before compinit\n"
                  "An installation has both where the shells look for them.",
                  app.get_name()));
  completion->callback([&app, &session, shell] {
    session.run = [&app, shell] {
      print("{}", *shell == "bash" ? bash_completion(app) : zsh_completion(app));
      return static_cast<int>(kDone);
    };
  });
  CLI::App* manual = app.add_subcommand("manual", "Print the manual page, for man");
  manual->footer(fmt::format("Example:\n  {} manual | man -l -", app.get_name()));
  manual->callback([&app, &session] {
    session.run = [&app] {
      print("{}", manual_page(app, RICCI_VERSION));
      return static_cast<int>(kDone);
    };
  });
}

int report_error(const CommandLine& program, const Session& session, const char* type, const std::string& whole,
                 int code) {
  constexpr std::size_t kLongestText = 6000;  // what is quoted in it is a user's, of any length
  const auto text = shortened(whole, kLongestText);
  if (session.json) print_json({{"error", {{"type", type}, {"text", text}}}});
  print_error("{}: {}\n", program.name, text);
  return code;
}

// What the parser says, without its class names, and where to read on.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return fmt::format("{}; see {} --help", error.what(), command);
}

}  // namespace

int run_program(const CommandLine& program, int argc, char** argv) {
  // A file that grows past its limit is an error of write(), with a message, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app(program.description, program.name);
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", program.name + " " RICCI_VERSION);
  app.get_formatter()->column_width(36);
  app.footer(
      program.footer +
      "\n\nExit codes: 0 done, 1 a check failed, 2 refused (bad input, usage, files, devices), 3 a defect of Ricci.");
  Session session;
  Command root(app);
  for (const auto add : program.subcommands) add(root, session);
  add_descriptions(app, session);

  // The parser takes words from the last to the first. A spec of rank 0, "->", must not be taken for an option.
  std::vector<std::string> words(argv + 1, argv + argc);
  for (auto& word : words) {
    if (word.starts_with("->")) word.insert(0, " ");
  }
  const auto is_first = [&](const CLI::App* command) { return command->get_name() == words.front(); };
  if (!words.empty() && !words.front().starts_with("-") && app.get_subcommands(is_first).empty()) {
    const auto moved = program.moved.find(words.front());
    const auto where = moved == program.moved.end() ? "see " + program.name + " --help" : moved->second;
    for (const auto& word : words) session.json |= word == "--json";
    return report_error(program, session, "usage", fmt::format("no subcommand '{}'; {}", words.front(), where),
                        kRefused);
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    for (const auto& word : words) session.json |= word == "--json";
    return report_error(program, session, "usage", usage_text(app, error), kRefused);
  }

  try {
    const int code = session.run();
    // A failed write is remembered by the stream, and so by its last flush.
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
      throw IoError(std::string("standard output cannot be written: ") + std::strerror(errno));
    }
    return code;
  } catch (const Error& error) {
    return report_error(program, session, name(error.code()), error.what(),
                        error.code() == ErrorCode::internal ? kInternal : kRefused);
  } catch (const std::bad_alloc&) {
    return report_error(program, session, "io", "out of memory", kRefused);
  } catch (const std::exception& error) {
    return report_error(program, session, "internal",
                        fmt::format("{}; this is a defect, please report it", error.what()), kInternal);
  }
}

}  // namespace ricci::tools
