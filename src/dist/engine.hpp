// StarPU and MPI of this process, and what makes ranks act alike.
#pragma once

#include <starpu_mpi.h>

#include <functional>
#include <mutex>
#include <vector>

#include "ricci/dist.hpp"

namespace ricci::inline v1::dist {

/// What has to outlive its tasks: a call's codelets, arguments and buffers.
struct Schedule;

struct Engine::Impl {
  EngineOptions options;
  int rank = 0, size = 1;
  MPI_Comm control = MPI_COMM_NULL;  ///< of the calling threads
  MPI_Comm tiles = MPI_COMM_NULL;    ///< of StarPU's
  MPI_Comm node = MPI_COMM_NULL;     ///< ranks that share this machine's memory
  int node_rank = 0, node_size = 1;
  int workers = 1;
  bool started = false;  ///< StarPU is ours to end
  std::int64_t next_tag = 0;
  std::vector<std::shared_ptr<const Schedule>> running;  ///< since the last wait

  explicit Impl(const EngineOptions& options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Does `work` on each rank; what it throws on any of them, an error of the same type is thrown on all.
  void together(const std::function<void()>& work) const;
  void wait();
  /// Numbers that no message of this engine had before, the same on all ranks.
  std::int64_t tags(std::int64_t count);
};

/// What a task threw: kept, the first alone, until an engine waits.
void keep_failure() noexcept;
/// Throws it.
void throw_failure();

}  // namespace ricci::inline v1::dist
