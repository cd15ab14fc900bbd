// Start and end of StarPU and MPI, errors that all ranks throw, and waiting.
#include "dist/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include "ricci/error.hpp"

namespace ricci::inline v1::dist {
namespace {

/// Numbers of messages of a program's own are below.
constexpr std::int64_t kFirstTag = std::int64_t{1} << 40;

std::atomic<bool> g_engine{false};  ///< one lives

std::mutex g_failure_mutex;
std::exception_ptr g_failure;

[[noreturn]] void throw_error(ErrorCode code, const std::string& text) {
  switch (code) {
    case ErrorCode::spec:
      throw SpecError(text);
    case ErrorCode::shape:
      throw ShapeError(text);
    case ErrorCode::plan:
      throw PlanError(text);
    case ErrorCode::compile:
      throw CompileError(text, {}, {});
    case ErrorCode::device:
      throw DeviceError(text);
    case ErrorCode::cache:
      throw CacheError(text);
    case ErrorCode::io:
      throw IoError(text);
    case ErrorCode::internal:
      break;
  }
  throw InternalError(text);
}

/// MPI, once for the process: it cannot be started again, so that it ends with the process.
void start_mpi() {
  int running = 0, level = 0;
  MPI_Initialized(&running);
  if (running == 0) {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    std::atexit([] {
      int ended = 0;
      MPI_Finalized(&ended);
      if (ended == 0) MPI_Finalize();
    });
  }
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    throw PlanError(
        "MPI was initialised for fewer threads than Ricci and StarPU need: call MPI_Init_thread() with "
        "MPI_THREAD_MULTIPLE, or leave it to the engine");
  }
}

}  // namespace

void keep_failure() noexcept {
  const std::lock_guard lock(g_failure_mutex);
  if (!g_failure) g_failure = std::current_exception();
}

void throw_failure() {
  const std::lock_guard lock(g_failure_mutex);
  if (g_failure) std::rethrow_exception(std::exchange(g_failure, nullptr));
}

Engine::Impl::Impl(const EngineOptions& how) : options(how) {
  start_mpi();
  const auto& comm = options.comm != nullptr ? *static_cast<const MPI_Comm*>(options.comm) : MPI_COMM_WORLD;
  if (g_engine.exchange(true)) throw PlanError("there is an engine already: a process has one at a time");
  try {
    started = starpu_is_initialized() == 0;
    int among = 0;
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &among);
    if (started && among == MPI_UNEQUAL) {
      throw PlanError(
          "the engine's communicator leaves ranks out: StarPU-MPI starts and ends on all ranks of MPI_COMM_WORLD; "
          "start "
          "it before the engine for this");
    }
    MPI_Comm_dup(comm, &control);
    MPI_Comm_dup(comm, &tiles);
    MPI_Comm_rank(control, &rank);
    MPI_Comm_size(control, &size);
    MPI_Comm_split_type(control, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    if (started) {
      starpu_conf conf;
      starpu_conf_init(&conf);
      if (options.workers > 0) conf.ncpus = options.workers;
      // A processor for MPI's thread, unless the number of workers was said or there is no second one.
      if (conf.ncpus == -1 && std::thread::hardware_concurrency() > 1) conf.reserve_ncpus = 1;
      conf.will_use_mpi = 1;
      // The first start on a machine measures its buses and writes what it finds: ranks that do it at once spoil it.
      int status = 0;
      if (node_rank == 0) status = starpu_init(&conf);
      MPI_Barrier(node);
      if (node_rank > 0) status = starpu_init(&conf);
      together([&] {
        if (status != 0) throw DeviceError(fmt::format("StarPU does not start on rank {}: status {}", rank, status));
      });
      starpu_mpi_init_comm(nullptr, nullptr, 0, tiles);
    }
    workers = static_cast<int>(starpu_cpu_worker_get_count());
    together([&] {
      if (workers == 0) {
        throw DeviceError(fmt::format("StarPU has no CPU worker on rank {}: is STARPU_NCPU 0?", rank));
      }
    });
  } catch (...) {
    g_engine = false;
    throw;
  }
}

Engine::Impl::~Impl() {
  starpu_mpi_wait_for_all(tiles);
  running.clear();
  if (started) {
    starpu_mpi_shutdown();
    starpu_shutdown();
    MPI_Comm_free(&tiles);  // a StarPU that goes on goes on listening to it
  }
  MPI_Comm_free(&node);
  MPI_Comm_free(&control);
  g_engine = false;
}

void Engine::Impl::together(const std::function<void()>& work) const {
  int code = -1;
  std::string text;
  std::exception_ptr own;
  try {
    work();
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
    text = error.what();
    own = std::current_exception();
  } catch (const std::exception& error) {
    code = static_cast<int>(ErrorCode::internal);
    text = fmt::format("rank {}: {}", rank, error.what());
  } catch (...) {
    code = static_cast<int>(ErrorCode::internal);
    text = fmt::format("rank {}: an exception of unknown type", rank);
  }
  const int failed = code < 0 ? size : rank;
  int first = size;
  MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, control);
  if (first == size) return;
  int head[2] = {code, static_cast<int>(text.size())};
  MPI_Bcast(head, 2, MPI_INT, first, control);
  text.resize(static_cast<std::size_t>(head[1]));
  MPI_Bcast(text.data(), head[1], MPI_CHAR, first, control);
  if (rank == first && own) std::rethrow_exception(own);  // with its place and its log
  throw_error(static_cast<ErrorCode>(head[0]), text);
}

void Engine::Impl::wait() {
  starpu_mpi_wait_for_all(tiles);
  running.clear();
  together(throw_failure);
}

std::int64_t Engine::Impl::tags(std::int64_t count) {
  next_tag += count;
  return kFirstTag + next_tag - count;
}

Engine::Engine(const EngineOptions& options) : impl_(std::make_shared<Impl>(options)) {}
int Engine::rank() const noexcept { return impl_->rank; }
int Engine::size() const noexcept { return impl_->size; }
void Engine::wait() { impl_->wait(); }

Grid Engine::grid(std::vector<int> extents, GridOptions options) const {
  int known = options.replicas, open = 0;
  for (const int extent : extents) {
    if (extent < 0 || (extent == 0 && open++ > 0)) throw ShapeError("a grid has extents from 1, at most one of them 0");
    if (extent > 0) known *= extent;
  }
  if (options.replicas < 1) throw ShapeError("a grid has one replica or more");
  for (int& extent : extents) {
    if (extent == 0) extent = std::max(1, size() / known);
  }
  return {std::move(extents), options.replicas};
}

}  // namespace ricci::inline v1::dist
