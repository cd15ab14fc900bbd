// A plan: one problem, decided and compiled, ready to run any number of times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci {
inline namespace v1 {

/// Where a plan runs.
enum class Device { cpu, gpu };
const char* name(Device device) noexcept;  ///< "cpu", "gpu"

/// What may differ from one execution of a plan to the next.
struct Call {
  /// Factors of `B = alpha * op(A)[perm] + beta * B`; left out: those the plan was made with. A plan made with alpha =
  /// 1 (or beta = 0) has no multiplication (no read of B) in its kernel and refuses other values with PlanError. As in
  /// BLAS a factor 0 means that its operand does not count, whatever it holds.
  std::optional<Scalar> alpha, beta;
  /// GPU: the caller's CUstream / cudaStream_t; null is the default stream. The call returns before the kernel ends.
  void* stream = nullptr;
};

/// How a plan came to be, in numbers: for logs, benches and `explain`.
struct PlanInfo {
  std::string kernel;      ///< name of the generated function
  std::string schedule;    ///< one line: family, tile, threads, accesses
  std::string origin;      ///< "memory", "disk" or "compiled"; "none" when there is nothing to run
  double plan_ms = 0;      ///< choice of the schedule
  double generate_ms = 0;  ///< source text; 0 on a hit
  double compile_ms = 0;   ///< compiler; 0 on a hit
  double load_ms = 0;      ///< code made executable
  int registers = 0, spill_bytes = 0, shared_bytes = 0;  ///< GPU kernels, from the compiler
  std::int64_t compulsory_bytes = 0;                     ///< each element read once and written once
  std::int64_t workspace_bytes = 0;
};

/// One schedule that the planner considered.
struct CandidateInfo {
  std::string name;         ///< what PermuteOptions::schedule takes
  double predicted_us = 0;  ///< by the model
};

/// Immutable and cheap to copy; safe to execute from any number of threads at once. Keeps its kernel loaded.
class Plan {
 public:
  /// Runs `outputs[0] = alpha * op(inputs[0])... + beta * outputs[0]`. Parses, hashes, looks up and allocates nothing.
  /// CPU plans return when the result is written. Pointers are to element (0, 0, ...) of each layout.
  /// Throws ShapeError when buffers overlap or break the promised alignment, PlanError for factors it was not made for,
  /// DeviceError for a pointer that the plan's device cannot reach or a failed launch; before anything is written.
  void operator()(void* output, const void* input, const Call& call = {}) const;

  Device device() const noexcept;
  const PlanInfo& info() const noexcept;
  const Layout& output_layout() const noexcept;

  const std::string& source() const;              ///< generated text, as compiled
  std::string program() const;                    ///< the canonical program, in text form
  std::string passes() const;                     ///< the program after each pass
  std::string explain() const;                    ///< every candidate with predicted traffic, and why one was taken
  std::vector<CandidateInfo> candidates() const;  ///< best prediction first
  std::string assembly() const;                   ///< CPU assembly or SASS; empty where no tool can print it
  std::string key() const;                        ///< the cache key: all that decides the kernel
  std::string cache_path() const;                 ///< file of the stored kernel; empty when it is not on disk

  struct Impl;
  explicit Plan(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace v1
}  // namespace ricci
