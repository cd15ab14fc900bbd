// The subcommands of `ricci`, one file each.
#pragma once

#include "cli/command.hpp"

namespace ricci::tools {

void add_permute(Command& app, Session& session);
void add_einsum(Command& app, Session& session);
void add_run(Command& app, Session& session);
void add_show(Command& app, Session& session);
void add_explain(Command& app, Session& session);
void add_tune(Command& app, Session& session);
void add_cache(Command& app, Session& session);
void add_doctor(Command& app, Session& session);
void add_version(Command& app, Session& session);

}  // namespace ricci::tools
