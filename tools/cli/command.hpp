// Programs of subcommands: what they take, how they run. The library that parses command lines is behind command.cpp:
// its headers alone take longer to compile than most files here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ricci::tools {

/// Exit codes.
enum ExitCode {
  kDone = 0,
  kDiffers = 1,   ///< --verify found a difference, `cache verify` a damaged entry, `doctor --require` something missing
  kRefused = 2,   ///< bad usage, or any ricci::Error
  kInternal = 3,  ///< a defect of Ricci
};

/// What the parser hands on.
struct Session {
  bool json = false;
  std::function<int()> run;  ///< the chosen subcommand; throws ricci::Error
};

/// An option or a flag of a command. Each function returns it again.
class Option {
 public:
  Option(CLI::App& app, CLI::Option& option) : app_(&app), option_(&option) {}

  Option& required();
  /// --help says what is taken where it is not given.
  Option& capture_default_str();
  /// Other words are refused.
  Option& one_of(const std::vector<std::string>& words);
  /// Takes a device: cpu or gpu, which may be called cuda too.
  Option& device();
  /// Other numbers are refused.
  Option& range(int least, int most);
  /// Words are split at these.
  Option& delimiter(char between);
  /// One word follows it each time that it is given.
  Option& one_word();
  /// So many words.
  Option& expected(int words);
  /// Refused when given twice.
  Option& once();
  /// Refused beside this option, where the command has it already.
  Option& excludes(const std::string& other);

 private:
  CLI::App* app_;
  CLI::Option* option_;
};

/// What a subcommand takes. The variables must live until it has run.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_subcommand(const std::string& name, const std::string& help);
  void require_subcommand();

  /// "--name", "-n,--name", or "name" for a positional word.
  Option add_option(const std::string& names, std::string& value, const std::string& help);
  Option add_option(const std::string& names, int& value, const std::string& help);
  Option add_option(const std::string& names, std::int64_t& value, const std::string& help);
  Option add_option(const std::string& names, double& value, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& values, const std::string& help);
  Option add_option(const std::string& names, std::vector<int>& values, const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  /// Each name with the text that it stands for in braces, unless one is given after "=".
  Option add_flag(const std::string& names, std::string& value, const std::string& help);
  /// --json, which every subcommand with a result has.
  void add_json_flag(Session& session);
  /// --device cpu|gpu|cuda
  void add_device_option(std::string& device, const std::string& help);

  void footer(const std::string& text);
  /// Called when this is the chosen subcommand.
  void callback(std::function<void()> chosen);

 private:
  CLI::App* app_;
};

/// One program: what its help says, and its subcommands.
struct CommandLine {
  std::string name, description, footer;
  std::vector<void (*)(Command& program, Session& session)> subcommands;
  /// Subcommands that are elsewhere now, and where.
  std::map<std::string, std::string> moved;
};

/// Parses the command line and runs the subcommand that it names; errors become messages and exit codes.
int run_program(const CommandLine& program, int argc, char** argv);

/// Adds --json, and calls `run` with the options when this is the chosen subcommand.
template <class Options>
void run_with(Command& command, Session& session, const std::shared_ptr<Options>& options,
              int(run)(const Options&, bool json)) {
  command.add_json_flag(session);
  command.callback(
      [options, &session, run] { session.run = [options, &session, run] { return run(*options, session.json); }; });
}

}  // namespace ricci::tools
