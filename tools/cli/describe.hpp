// What a program says of itself: completion in shells and a manual page, made of the tables that its parser has.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ricci::tools {

/// A script that bash sources: completes subcommands, options, their choices, and files.
std::string bash_completion(const CLI::App& app);

/// The same for zsh, as the file _<program> of a folder in its fpath.
std::string zsh_completion(const CLI::App& app);

/// The manual page, section 1, as troff. `version` stands in its last line.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace ricci::tools
