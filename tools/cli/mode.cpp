#include "cli/mode.hpp"

#include "ricci/error.hpp"
#include "runtime/options.hpp"

namespace ricci::tools {

void add_mode_options(Command& command, std::string& word) {
  command
      .add_flag("--measure{measure},--remeasure{remeasure},--untuned{untuned}", word,
                "Time the best candidates on the device, unless that was done before, and keep the "
                "winner for later plans; --remeasure: in any case; --untuned: choose by the model alone, "
                "whatever was measured")
      .once()
      .excludes("--schedule");
}

void add_precision_option(Command& command, std::string& word) {
  command
      .add_option("--precision", word,
                  "Of products and sums: f64, f32, i32; bf16 or f16, of which sums are in f32; tf32 (off by 2^-10) or "
                  "tf32x3 (by 2^-20) for f32 on a GPU")
      .one_of({"operands", "f64", "f32", "tf32", "tf32x3", "bf16", "f16", "i32"})
      .capture_default_str();
}

void add_workspace_option(Command& command, std::int64_t& bytes) {
  command
      .add_option("--workspace-limit", bytes,
                  "Bytes of workspace at most: steps run block by block where they need more; -1: any")
      .capture_default_str();
}

void add_blas_option(Command& command, std::string& file) {
  command.add_option("--blas", file,
                     "A library whose matrix products plans may call: with cblas_dgemm on a CPU, cuBLAS on a GPU; off: "
                     "none, whatever the environment says");
}

Runtime& runtime_with(const std::string& file, Device device) {
  if (file.empty()) return Runtime::global();
  RuntimeOptions options;
  (device == Device::gpu ? options.cublas : options.blas) = file;
  static Runtime made(options);
  return made;
}

PlanMode plan_mode(const std::string& word) {
  if (const auto mode = runtime::find_mode(word.empty() ? "estimate" : word)) return *mode;
  throw PlanError("--" + word + ": write --measure, --remeasure or --untuned without a value");
}

}  // namespace ricci::tools
