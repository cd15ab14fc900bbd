// The subcommands of `ricci-bench`.
#pragma once

#include "cli/command.hpp"

namespace ricci::tools {

void add_bench_permute(Command& app, Session& session);
void add_bench_sweep(Command& app, Session& session);
void add_bench_einsum(Command& app, Session& session);
void add_bench_contract(Command& app, Session& session);
void add_bench_predict(Command& app, Session& session);
void add_bench_run(Command& app, Session& session);

}  // namespace ricci::tools
