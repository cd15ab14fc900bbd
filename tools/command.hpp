// The subcommands: each adds itself to the parser and says how it runs.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <memory>
#include <string>

namespace ricci::tools {

/// Exit codes of `ricci`.
enum ExitCode {
  kDone = 0,
  kDiffers = 1,   ///< --verify found a difference, `cache verify` a damaged entry, `doctor --require` something missing
  kRefused = 2,   ///< bad usage, or any ricci::Error
  kInternal = 3,  ///< a defect of Ricci
};

/// What the parser hands to main.
struct Session {
  bool json = false;
  std::function<int()> run;  ///< the chosen subcommand; throws ricci::Error
};

void add_permute(CLI::App& app, Session& session);
void add_einsum(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_tune(CLI::App& app, Session& session);
void add_cache(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_version(CLI::App& app, Session& session);

/// The flag that every subcommand has.
void add_json_flag(CLI::App& app, Session& session);

/// --device cpu|gpu, with `text` as its help.
void add_device_option(CLI::App& app, std::string& device, const std::string& text);

/// Adds --json, and calls `run` with the options when this is the chosen subcommand.
template <class Options>
void run_with(CLI::App& app, Session& session, const std::shared_ptr<Options>& options,
              int (*run)(const Options&, bool json)) {
  add_json_flag(app, session);
  app.callback(
      [options, &session, run] { session.run = [options, &session, run] { return run(*options, session.json); }; });
}

}  // namespace ricci::tools
