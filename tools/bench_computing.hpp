// `ricci bench einsum` and `ricci bench run`.
#pragma once

#include "command.hpp"

namespace ricci::tools {

void add_bench_computing(CLI::App& bench, Session& session);

}  // namespace ricci::tools
