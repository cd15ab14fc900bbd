// `ricci bench sweep`.
#pragma once

#include "command.hpp"

namespace ricci::tools {

void add_bench_sweep(CLI::App& bench, Session& session);

}  // namespace ricci::tools
