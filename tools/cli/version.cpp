#include "ricci/version.hpp"

#include <fmt/format.h>

#include "cli/subcommands.hpp"
#include "report/report.hpp"

namespace ricci::tools {

void add_version(Command& app, Session& session) {
  Command command = app.add_subcommand("version", "Print the version");
  command.add_json_flag(session);
  command.footer("Example:\n  ricci version --json");
  command.callback([&session] {
    session.run = [&session] {
      if (session.json) {
        print_json({{"version", RICCI_VERSION},
                    {"major", RICCI_VERSION_MAJOR},
                    {"minor", RICCI_VERSION_MINOR},
                    {"patch", RICCI_VERSION_PATCH}});
      } else {
        print("ricci {}\n", RICCI_VERSION);
      }
      return kDone;
    };
  });
}

}  // namespace ricci::tools
