// How schedules are chosen, as an option that many subcommands have.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "ricci/runtime.hpp"

namespace ricci::tools {

/// Adds --measure, --remeasure and --untuned, of which at most one is given, and none beside an option --schedule that
/// the command has already. `word` is the one, without dashes, or left empty.
void add_mode_options(Command& command, std::string& word);

/// Adds --precision: one of name(Precision)'s words.
void add_precision_option(Command& command, std::string& word);
/// Adds --workspace-limit.
void add_workspace_option(Command& command, std::int64_t& bytes);

/// Adds --blas: the file of a library of matrix products that plans may call.
void add_blas_option(Command& command, std::string& file);

/// The process's runtime, or, where a file is given, one whose plans for a device may call that: a BLAS on a CPU,
/// cuBLAS on a GPU. One file for each process. Throws DeviceError where it is no such library.
Runtime& runtime_with(const std::string& file, Device device);

/// The mode that they stand for.
PlanMode plan_mode(const std::string& word);

}  // namespace ricci::tools
