#include "cli/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <functional>
#include <sstream>
#include <vector>

namespace ricci::tools {
namespace {

/// A program or subcommand, and the words that lead there.
struct Command {
  const CLI::App* app;
  std::string path;
};

std::vector<Command> commands_of(const CLI::App& program) {
  std::vector<Command> list;
  const std::function<void(const CLI::App&, const std::string&)> add = [&](const CLI::App& app,
                                                                           const std::string& path) {
    list.push_back({&app, path});
    for (const auto* inner : app.get_subcommands(nullptr)) add(*inner, path + " " + inner->get_name());
  };
  add(program, program.get_name());
  return list;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> list;
  for (const auto* option : app.get_options()) {
    if (option->nonpositional()) list.push_back(option);
  }
  return list;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// The words that an option's value must be one of: "{cpu,gpu}" in the name of its type.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const auto type = option.get_type_name();
  const auto open = type.find('{'), close = type.find('}', open);
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos) return words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* inner : app.get_subcommands(nullptr)) names.push_back(inner->get_name());
  return names;
}

/// A function's name for a program's: ricci-bench is _ricci_bench.
std::string function_of(const CLI::App& program) {
  auto name = "_" + program.get_name();
  for (auto& c : name) c = c == '-' ? '_' : c;
  return name;
}

/// case labels of all subcommands' paths: "ricci cache"|"ricci cache ls"|...
std::string paths_pattern(const std::vector<Command>& commands) {
  std::vector<std::string> quoted;
  for (const auto& command : commands) {
    if (command.path.find(' ') != std::string::npos) quoted.push_back('"' + command.path + '"');
  }
  return fmt::format("{}", fmt::join(quoted, "|"));
}

/// Text inside of single quotes in a shell.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

/// A description inside of zsh's [...] and after its colons.
std::string plain(std::string text) {
  for (auto& c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\n') c = c == '[' ? '(' : c == ']' ? ')' : c == ':' ? ',' : ' ';
  }
  return text;
}

/// Text as troff prints it.
std::string troff(const std::string& text) {
  std::string made;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) made += "\\&";
    line_start = c == '\n';
    made += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
  }
  return made;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const auto commands = commands_of(app);
  const auto function = function_of(app);
  std::string text = fmt::format("# Completion of {} in bash, written by `{} completion bash`.\n{}() {{\n",
                                 app.get_name(), app.get_name(), function);
  text += fmt::format(
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\" path={} words=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$path ${{COMP_WORDS[i]}}\" in\n"
      "      {}) path+=\" ${{COMP_WORDS[i]}}\" ;;\n"
      "    esac\n"
      "  done\n",
      app.get_name(), paths_pattern(commands));
  text += "  case \"$path $prev\" in\n";
  for (const auto& command : commands) {
    for (const auto* option : options_of(*command.app)) {
      const auto choices = choices_of(*option);
      if (choices.empty()) continue;
      std::vector<std::string> labels;
      for (const auto& name : names_of(*option)) labels.push_back(fmt::format("\"{} {}\"", command.path, name));
      text += fmt::format("    {}) words=\"{}\" ;;\n", fmt::join(labels, "|"), fmt::join(choices, " "));
    }
  }
  text +=
      "  esac\n"
      "  if [[ -z $words ]]; then\n"
      "    case \"$path\" in\n";
  for (const auto& command : commands) {
    auto words = subcommands_of(*command.app);
    for (const auto* option : options_of(*command.app)) {
      for (const auto& name : names_of(*option)) words.push_back(name);
    }
    text += fmt::format("      \"{}\") words=\"{}\" ;;\n", command.path, fmt::join(words, " "));
  }
  text += fmt::format(
      "    esac\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "}}\n"
      "complete -o default -F {} {}\n",
      function, app.get_name());
  return text;
}

std::string zsh_completion(const CLI::App& app) {
  const auto commands = commands_of(app);
  const auto function = function_of(app);
  std::string text = fmt::format(
      "#compdef {}\n# Completion of {} in zsh, written by `{} completion zsh`.\n{}() {{\n"
      "  local at={} i\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    case \"$at ${{words[i]}}\" in\n"
      "      {}) at+=\" ${{words[i]}}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$at\" in\n",
      app.get_name(), app.get_name(), app.get_name(), function, app.get_name(), paths_pattern(commands));
  for (const auto& command : commands) {
    text += fmt::format("    \"{}\")\n", command.path);
    const auto inner = command.app->get_subcommands(nullptr);
    if (!inner.empty()) {
      text += "      local -a commands=(\n";
      for (const auto* one : inner) {
        text += fmt::format("        {}\n", quoted(one->get_name() + ":" + plain(one->get_description())));
      }
      text += "      )\n      _describe command commands\n";
    }
    text += "      _arguments";
    for (const auto* option : options_of(*command.app)) {
      for (const auto& name : names_of(*option)) {
        auto spec = fmt::format("{}[{}]", name, plain(option->get_description()));
        if (takes_value(*option)) {
          const auto choices = choices_of(*option);
          spec += choices.empty() ? std::string(":value:_files") : fmt::format(":value:({})", fmt::join(choices, " "));
        }
        text += " \\\n        " + quoted(spec);
      }
    }
    if (inner.empty()) text += " \\\n        '*:file:_files'";
    text += "\n      ;;\n";
  }
  // As a file of fpath it is the function's body that is run first.
  text += fmt::format("  esac\n}}\n{} \"$@\"\n", function);
  return text;
}

std::string manual_page(const CLI::App& app, const std::string& version) {
  const auto& name = app.get_name();
  std::string upper = name;
  for (auto& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  std::string text =
      fmt::format(".\\\" Written by `{} manual`.\n.TH {} 1 \"\" \"{} {}\"\n", name, upper, name, version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", troff(name), troff(app.get_description()));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n.I command\n.RI [ options ]\n.br\n.B {} help\n.RI [ command ]\n",
                      troff(name), troff(name));
  const auto list_options = [&](const CLI::App& one) {
    for (const auto* option : one.get_options()) {
      const bool positional = !option->nonpositional();
      std::vector<std::string> names;
      for (const auto& word : positional ? std::vector{option->get_name(true)} : names_of(*option)) {
        names.push_back("\\fB" + troff(word) + "\\fR");
      }
      const auto choices = choices_of(*option);
      text += fmt::format(".TP\n{}{}\n{}", fmt::join(names, ", "),
                          positional || !takes_value(*option) ? ""
                          : choices.empty()                   ? " \\fIvalue\\fR"
                                                              : fmt::format(" {}", fmt::join(choices, "|")),
                          troff(option->get_description()));
      const auto usual = option->get_default_str();
      if (!usual.empty()) text += fmt::format(" [{}]", troff(usual));
      text += "\n";
    }
  };
  text += ".SH COMMANDS\n";
  for (const auto& command : commands_of(app)) {
    if (command.app == &app) continue;
    text += fmt::format(".SS {}\n{}\n", troff(command.path), troff(command.app->get_description()));
    list_options(*command.app);
    if (const auto footer = command.app->get_footer(); !footer.empty()) {
      text += fmt::format(".PP\n.nf\n{}\n.fi\n", troff(footer));
    }
  }
  text += ".SH OPTIONS\n";
  list_options(app);
  text += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", troff(app.get_footer()));
  return text;
}

}  // namespace ricci::tools
