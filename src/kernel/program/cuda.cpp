// A program as a kernel for a GPU: a point, or a register tile of points, for each thread or group of threads.
#include <algorithm>

#include "kernel/arguments.hpp"
#include "kernel/program/point.hpp"
#include "kernel/program/rows.hpp"
#include "kernel/program/targets.hpp"
#include "kernel/program/tasks.hpp"

namespace ricci::kernel {
namespace {

class Workers {
 public:
  Workers(const ir::Program& program, const ProgramLoops& loops)
      : program_(program), loops_(loops), kernel_(kernel_of(program, Target::cuda)) {
    kernel_.threads = loops.threads;
    block_.register_tile = loops.register_tile;
    block_.apart.assign(program.indices.size(), 1);
    block_.ragged.assign(program.indices.size(), false);
    block_.cooperative_threads = loops.cooperative_threads;
    block_.members = loops.members;
    block_.items_per_thread = loops.items_per_thread;
    if (loops.row < 0) return;
    const auto row = static_cast<std::size_t>(loops.row);
    block_.shared_row.push_back(loops.row);
    block_.apart[row] = loops.cooperative_threads;
    block_.ragged[row] = program.indices[row].extent % loops.cooperative_threads != 0;
    block_.row_results = loops.row_results;
    if (loops.row_lanes > 1) block_.shared_row.push_back(static_cast<int>(program.indices.size()) - 1);
  }

  Kernel build() {
    add_indices();
    std::vector<Var> own;
    for (std::size_t q = 0; q < program_.indices.size(); ++q)
      own.push_back(loops_.tile[q] == 1 ? block_.vars[q].value : -1);
    const auto tasks = tasks_of(kernel_, program_, loops_, own);
    auto inside = body_.collect([&] { add_threads(tasks.number); });
    kernel_.body = within(tasks, std::move(inside));
    return std::move(kernel_);
  }

 private:
  /// Values of an index that all workers together reach, also past its end.
  std::int64_t reached(std::size_t q) const {
    const auto extent = program_.indices[q].extent, tile = loops_.tile[q];
    return free_[q] ? (extent + tile - 1) / tile * tile : extent;
  }

  /// Neighbours along a row, which a thread has from its first one on.
  bool is_row_lane(std::size_t q) const { return loops_.row_lanes > 1 && q + 1 == program_.indices.size(); }

  void add_indices() {
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      const auto& index = program_.indices[q];
      IndexVars vars;
      vars.value = kernel_.add_var(index.name, std::max<std::int64_t>(reached(q), 1));
      if (block_.register_tile[q] > 1) {
        vars.place = kernel_.add_var("u" + index.name, block_.register_tile[q]);
        vars.inside = kernel_.add_var(index.name + "_at", index.extent);
      }
      if (is_row_lane(q)) vars.value = -1;
      block_.vars.push_back(vars);
    }
  }

  /// The thread's number as that of a worker and, where several share a point, as a member of it.
  void add_threads(const std::vector<Affine>& tile_number) {
    const auto shared = loops_.cooperative_threads;
    const bool alone = shared == 1, all = !alone && shared == loops_.threads;
    int digits = 0;
    const auto digit = [&](const char* name, int extent) {
      const auto var = kernel_.add_var(name, extent);
      body_.open(Loop{.var = var, .bind = Bind::thread, .body = {}});
      ++digits;
      return var;
    };
    if (!all) worker_ = digit("t", loops_.threads / shared);
    if (!alone) block_.member = digit("member", shared);
    if (all) worker_ = block_.member;
    if (loops_.row >= 0) block_.vars[static_cast<std::size_t>(loops_.row)].value = block_.member;
    add_point(tile_number);
    body_.close(digits);
  }

  void add_point(const std::vector<Affine>& tile_number) {
    // Cooperative threads leave together, so no barrier or shuffle waits for a missing one.
    int opened = 0;
    const auto require = [&](std::vector<Condition> when) {
      if (when.empty()) return;
      body_.open(If{std::move(when), {}, {}});
      ++opened;
    };
    const auto positions = loops_.positions();
    if (positions < loops_.workers()) require({{Affine::of(worker_), positions}});
    std::vector<Condition> inside;
    std::vector<Affine> thread(program_.indices.size());
    std::int64_t below = 1;
    for (const auto index : loops_.inner) {
      const auto q = static_cast<std::size_t>(index);
      const auto count = loops_.positions(q);
      if (count == 1) continue;
      thread[q] = digit(q, below, positions);
      below *= count;
    }
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      if (!free_[q]) continue;
      const auto extent = program_.indices[q].extent, tile = loops_.tile[q];
      const auto values = block_.register_tile[q];
      const bool neighbours = loops_.neighbours[q];
      block_.apart[q] = neighbours ? 1 : tile / values;
      const auto var = block_.vars[q].value;
      if (tile == 1 && extent > 1) continue;  // the task's own number
      body_.add(Let{var, tile * tile_number[q] + (neighbours ? values : 1) * thread[q]});
      if (extent % tile == 0) continue;
      block_.ragged[q] = values > 1 && (!neighbours || extent % values != 0);
      inside.push_back({Affine::of(var), extent});
    }
    require(std::move(inside));
    PointBuilder(kernel_, body_, program_, block_).build();
    body_.close(opened);
  }

  /// Of the worker's number: a variable of its own, where it is more than the number itself.
  Affine digit(std::size_t q, std::int64_t below, std::int64_t positions) {
    const auto count = loops_.positions(q);
    const bool last = below * count == positions;  // workers beyond have no point
    if (below == 1 && last && positions == loops_.workers()) return Affine::of(worker_);
    const auto& name = program_.indices[q].name;
    const auto workers = loops_.workers();
    const auto var = kernel_.add_var("t" + name, last ? (workers + below - 1) / below : count);
    body_.add(Let{var, Affine::of(worker_), below, last ? 0 : count});
    return Affine::of(var);
  }

  const ir::Program& program_;
  const ProgramLoops& loops_;
  Kernel kernel_;
  BodyWriter body_;
  PointBlock block_;
  std::vector<bool> free_ = program_.free_indices();
  Var worker_ = -1;
};

}  // namespace

Kernel build_cuda(const ir::Program& program, const ProgramLoops& loops) {
  if (loops.row < 0) return Workers(program, loops).build();
  const auto rows = along_row(program, loops.row, loops.row_lanes);
  auto of_rows = loops;
  if (loops.row_lanes > 1) {
    of_rows.tile.push_back(loops.row_lanes);
    of_rows.register_tile.push_back(loops.row_lanes);
    of_rows.neighbours.push_back(true);
  }
  return Workers(rows, of_rows).build();
}

}  // namespace ricci::kernel
