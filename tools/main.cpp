// The command line `ricci`: one subcommand per file; here they meet, and errors become exit codes.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "command.hpp"
#include "report.hpp"
#include "ricci/error.hpp"
#include "ricci/version.hpp"

namespace ricci::tools {

void add_json_flag(CLI::App& app, Session& session) {
  app.add_flag("--json", session.json, "Print one JSON object instead of text");
}

void add_device_option(CLI::App& app, std::string& device, const std::string& text) {
  app.add_option("--device", device, text)->check(CLI::IsMember({"cpu", "gpu"}))->capture_default_str();
}

namespace {

int report_error(const Session& session, const char* type, const std::string& text, int code) {
  if (session.json) print_json({{"error", {{"type", type}, {"text", text}}}});
  print_error("ricci: {}\n", text);
  return code;
}

// What the parser says, without its class names, and where to read on.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = "ricci";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return fmt::format("{}; see {} --help", error.what(), command);
}

int run(int argc, char** argv) {
  CLI::App app("Tensor index notation to kernels at run time.", "ricci");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ricci " RICCI_VERSION);
  app.get_formatter()->column_width(36);
  app.footer(
      "Examples:\n"
      "  ricci permute in.npy out.npy 'abc->cab'          permute a tensor with a kernel made for it\n"
      "  ricci einsum 'ab,bc->ac' a.npy b.npy -o c.npy    multiply and sum tensors\n"
      "  ricci run mp2.ricci v=v.npy eo=eo.npy ev=ev.npy  run a program of such statements\n"
      "  ricci show 'abc->cab' a=48 b=32 c=40             read a kernel\n"
      "  ricci explain 'abc->cab' a=48 b=32 c=40          what else was considered\n"
      "  ricci tune cases.csv                             measure the best kernels for a list of problems\n"
      "  ricci cache ls                                   the kernels on disk\n"
      "  ricci doctor                                     which compilers and devices were found\n\n"
      "Exit codes: 0 done, 1 a check failed, 2 refused (bad input, usage, files, devices), 3 a defect of Ricci.");
  Session session;
  add_permute(app, session);
  add_einsum(app, session);
  add_run(app, session);
  add_show(app, session);
  add_explain(app, session);
  add_bench(app, session);
  add_tune(app, session);
  add_cache(app, session);
  add_doctor(app, session);
  add_version(app, session);

  // The parser takes words from the last to the first. A spec of rank 0, "->", must not be taken for an option.
  std::vector<std::string> words(argv + 1, argv + argc);
  for (auto& word : words) {
    if (word.starts_with("->")) word.insert(0, " ");
  }
  const auto is_first = [&](const CLI::App* command) { return command->get_name() == words.front(); };
  if (!words.empty() && !words.front().starts_with("-") && app.get_subcommands(is_first).empty()) {
    return report_error(session, "usage", fmt::format("no subcommand '{}'; see ricci --help", words.front()), kRefused);
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    for (const auto& word : words) session.json |= word == "--json";
    return report_error(session, "usage", usage_text(app, error), kRefused);
  }

  try {
    const int code = session.run();
    // A failed write is remembered by the stream, and so by its last flush.
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
      throw IoError(std::string("standard output cannot be written: ") + std::strerror(errno));
    }
    return code;
  } catch (const Error& error) {
    return report_error(session, name(error.code()), error.what(),
                        error.code() == ErrorCode::internal ? kInternal : kRefused);
  } catch (const std::bad_alloc&) {
    return report_error(session, "io", "out of memory", kRefused);
  } catch (const std::exception& error) {
    return report_error(session, "internal", fmt::format("{}; this is a defect, please report it", error.what()),
                        kInternal);
  }
}

}  // namespace
}  // namespace ricci::tools

int main(int argc, char** argv) {
  // A file that grows past its limit is an error of write(), with a message, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  return ricci::tools::run(argc, argv);
}
