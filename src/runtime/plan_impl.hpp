// What a plan holds. Built by Runtime, executed by Plan.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ir/problem.hpp"
#include "plan/plan.hpp"
#include "ricci/plan.hpp"
#include "ricci/runtime.hpp"
#include "runtime/kernel.hpp"
#include "runtime/thread_pool.hpp"

namespace ricci {
inline namespace v1 {

/// One buffer as the call checks it.
struct BufferCheck {
  std::int64_t first_byte = 0, end_byte = 0;  ///< reach of the accesses around the base pointer
  std::int64_t alignment = 1;                 ///< bytes
  std::int64_t element_bytes = 1;
};

struct Plan::Impl {
  ir::PermuteProblem problem;
  Scalar alpha = 1, beta = 0;
  ir::Program program;  ///< canonical
  plan::Candidate chosen;
  runtime::Target target;
  std::shared_ptr<const runtime::Kernel> kernel;  ///< null when there is nothing to run
  std::shared_ptr<runtime::ThreadPool> pool;
  Executor executor;
  std::string device_text, cache_root;
  PlanInfo info;

  // Ready for the call.
  BufferCheck input, output;
  std::int64_t lattice_bytes = 1;  ///< every address of either buffer is its base plus a multiple of this
  std::int64_t tiles = 0;
  int tasks = 1;  ///< CPU: parts of the tile range
  unsigned blocks = 0;
  std::size_t dynamic_shared = 0;

  std::vector<plan::Candidate> candidates() const;
  void check_call(const void* out, const void* in) const;
  void run_cpu(void* out, const void* in, void* const* params) const;
  void run_gpu(void* out, const void* in, void* const* params, void* stream) const;
};

}  // namespace v1

namespace runtime {

/// A factor as the kernel takes it: `type`'s bytes. Checked before by ir::check_factor.
void encode_factor(Scalar value, DType type, unsigned char (&bytes)[16]);

plan::GpuFigures gpu_figures(const jit::cuda::DeviceInfo& info);
plan::CpuFigures cpu_figures(const jit::CpuTarget& cpu, int threads);

}  // namespace runtime
}  // namespace ricci
