// What `permute`, `einsum` and `run` share: options, the old output, the end of a run, the lines of a report.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/execution.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "report/progress.hpp"
#include "report/report.hpp"
#include "ricci/plan.hpp"

namespace ricci::tools {

/// As typed.
struct ComputationOptions {
  std::string device = "cpu", schedule, mode, precision = "operands", blas;
  std::int64_t workspace_limit = -1;
  bool verify = false;
  int repeat = 1;
};

/// The same where one file is written, `out = alpha * ... + beta * out`.
struct OutputOptions : ComputationOptions {
  std::string output, alpha = "1", beta = "0", dtype, in_dtype, order;
};

void add_device_option(Command& command, ComputationOptions& options);
void add_factor_options(Command& command, OutputOptions& options, const char* alpha_text);  ///< --alpha, --beta
void add_type_options(Command& command, OutputOptions& options, const char* dtype_text,
                      const char* in_dtype_text);                          ///< and --order
void add_schedule_options(Command& command, ComputationOptions& options);  ///< and --measure, --repeat

/// Throws ShapeError where --repeat is not a number of runs.
void check_repeat(int repeat);

/// What --in-dtype says that two opaque bytes are; `otherwise` where it says nothing. Throws ShapeError.
std::optional<DType> opaque_type(const std::string& in_dtype, std::optional<DType> otherwise = {});

/// The file that --beta adds to: it must be what will be written, of the extents and the type of `output`. Throws
/// ShapeError otherwise, and what read_npy() throws.
NpyArray read_old_output(const OutputOptions& options, const std::string& spec, const Layout& output,
                         std::optional<DType> opaque);

/// Memory for a dense tensor, with its old elements where there are some, else zeros. Touched, so that no run pays for
/// the page faults of a new buffer.
Buffer starting_with(const Layout& layout, const Buffer& old);

struct ComputationTimes {
  double plan_ms = 0, read_ms = 0, write_ms = 0;
  RunTimes run;
};

/// Writes a file, saying so.
void write_tensor(const std::string& path, const Layout& layout, const std::byte* elements, const std::string& descr,
                  Progress& progress);

/// Says that a result differs from the interpreter's. `what` and `subject` name the problem for --json, `told_by` is
/// the command that tells more, `with` what to send beside its output. Returns the exit code.
int refuse_difference(const char* what, const std::string& subject, const Plan& plan, const std::string& difference,
                      const std::string& with, const std::string& told_by, bool json);

/// GB/s of what a plan must move, GF/s of what it must compute, by its best run.
double bandwidth_GBs(const Plan& plan, const ComputationTimes& times);
double speed_GFs(const Plan& plan, const ComputationTimes& times);

/// "ready_ms" to "verified" of a report. Null where nothing was to run; GF/s only where wanted.
void add_times(Json& report, const Plan& plan, const ComputationTimes& times, bool with_flops, bool verified);
void add_copy_times(Json& report, const Plan& plan, const ComputationTimes& times);

/// The same for people, with the lines of the plan. `rates` says how fast it was.
void add_times(std::vector<std::pair<std::string, std::string>>& lines, const Plan& plan, const ComputationTimes& times,
               const std::string& rates);

}  // namespace ricci::tools
