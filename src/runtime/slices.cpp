#include "runtime/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/passes/slice.hpp"
#include "ir/passes/step_piece.hpp"
#include "ir/workspace.hpp"
#include "runtime/predictions.hpp"

namespace ricci::runtime {
namespace {

/// Storages of the workspace, the largest first.
std::vector<int> largest(const ir::Sequence& sequence, std::size_t most) {
  std::vector<int> list;
  for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
    if (sequence.storages[k].role == ir::Role::workspace) list.push_back(static_cast<int>(k));
  }
  std::stable_sort(list.begin(), list.end(), [&](int x, int y) {
    return ir::bytes_of(sequence.storages[ir::at(x)]) > ir::bytes_of(sequence.storages[ir::at(y)]);
  });
  if (list.size() > most) list.resize(most);
  return list;
}

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d * d != n) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

std::int64_t extent_of(const ir::Sequence& sequence, int storage, int index) {
  for (const auto& step : sequence.steps) {
    for (std::size_t b = 0; b < step.storage.size(); ++b) {
      if (step.storage[b] == storage && step.program.buffers[b].written)
        return step.program.indices[ir::at(index)].extent;
    }
  }
  return 1;
}

/// The sequence sliced along an index by the largest block that keeps the limit: one that divides the extent, or one of
/// whole vectors where such a one is much smaller. By blocks of 1 where none keeps it.
std::optional<ir::Sequence> by_largest_block(const ir::Sequence& sequence, int storage, int index, std::int64_t limit) {
  const auto extent = extent_of(sequence, storage, index);
  const auto by = [&](std::int64_t block) { return ir::sliced(sequence, storage, index, block); };
  auto best = by(1);
  if (!best || !best->fits(limit)) return best;
  const auto blocks = divisors(extent);
  std::size_t low = 0, high = blocks.size() - 1;  // the extent itself is no block
  while (high - low > 1) {
    const auto middle = (low + high) / 2;
    auto one = by(blocks[middle]);
    if (one && one->fits(limit)) {
      best = std::move(one);
      low = middle;
    } else {
      high = middle;
    }
  }
  constexpr std::int64_t kVector = 16;  // elements
  for (const std::int64_t eighths : {7, 6, 5, 4, 3, 2}) {
    const auto block = blocks[high] * eighths / 8 / kVector * kVector;
    if (2 * block < 3 * blocks[low]) break;
    auto one = by(block);
    if (one && one->fits(limit)) return one;
  }
  return best;
}

/// Ways to keep the limit: slices along one index, or along several where blocks of one value of it are too large.
void add_ways(const ir::Sequence& now, std::int64_t limit, int depth, std::vector<ir::Sequence>& ways) {
  constexpr int kMostSlices = 4;
  constexpr std::size_t kMostStorages = 3, kMostWays = 16;
  for (const int storage : largest(now, kMostStorages)) {
    for (const int index : ir::slice_indices(now, storage)) {
      auto one = by_largest_block(now, storage, index, limit);
      if (ways.size() >= kMostWays || !one || one->workspace_bytes() >= now.workspace_bytes()) continue;
      if (!one->fits(limit)) {
        if (depth < kMostSlices) add_ways(*one, limit, depth + 1, ways);
        continue;
      }
      const auto same = [&](const ir::Sequence& other) {
        return other.steps.size() == one->steps.size() && blocks_of(other) == blocks_of(*one) &&
               other.workspace_bytes() == one->workspace_bytes();
      };
      if (std::none_of(ways.begin(), ways.end(), same)) ways.push_back(std::move(*one));
    }
  }
}

}  // namespace

std::int64_t blocks_of(const ir::Sequence& sequence) {
  std::int64_t blocks = 0;
  for (const auto& slice : sequence.slices) blocks += slice.blocks();
  return blocks;
}

double predicted_us(const ir::Sequence& sequence, const StepTime& us_of) {
  double us = 0;
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    const auto* const slice = sequence.slice_of(k);
    const auto& program = sequence.steps[k].program;
    if (has_points(program)) us += us_of(program) * static_cast<double>(slice == nullptr ? 1 : slice->blocks());
  }
  return us;
}

std::vector<ir::Sequence> sliced_to_fit(const ir::Sequence& sequence, std::int64_t limit, const StepTime& us_of) {
  if (sequence.fits(limit)) return {sequence};
  std::vector<ir::Sequence> ways;
  add_ways(sequence, limit, 1, ways);
  if (ways.size() < 2) return ways;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t k = 0; k < ways.size(); ++k) order.emplace_back(predicted_us(ways[k], us_of), k);
  std::sort(order.begin(), order.end());
  std::vector<ir::Sequence> sorted;
  for (const auto& [us, k] : order) sorted.push_back(std::move(ways[k]));
  return sorted;
}

namespace {

using Advance = std::vector<std::int64_t>;  ///< per loop

/// A run of steps as a sequence of its own, and where its storages are in the whole one.
class Run {
 public:
  Run(const ir::Sequence& whole, std::size_t first, std::size_t last) : whole_(whole), first_(first), last_(last) {
    sequence.params = whole.params;
    for (auto k = first; k < last; ++k) {
      auto step = whole.steps[k];
      for (std::size_t b = 0; b < step.storage.size(); ++b) {
        Advance advance;
        for (const auto& loop : step.advance) advance.push_back(loop[b]);
        if (advance.empty()) advance.resize(loops().size());
        step.storage[b] = place(step.storage[b], std::move(advance), step.program.buffers[b]);
      }
      step.advance.clear();
      sequence.steps.push_back(std::move(step));
    }
    ir::verify_storages(sequence);
  }

  ir::Sequence sequence;

  /// Bytes of the whole's workspace that are none of this run's own.
  std::int64_t bytes_beside() const {
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < whole_.storages.size(); ++k) {
      if (whole_.storages[k].role == ir::Role::workspace && !is_own(static_cast<int>(k)))
        bytes += ir::bytes_of(whole_.storages[k]);
    }
    return bytes;
  }

  /// The steps of a sequence that was made of this one, behind those of another whole one.
  void append(const ir::Sequence& made, ir::Sequence& to) const {
    std::vector<std::pair<int, Advance>> origin;
    for (const auto& storage : made.storages) {
      const auto known = named_.find(storage.name);
      if (known != named_.end()) {
        origin.push_back(known->second);
        continue;
      }
      origin.emplace_back(static_cast<int>(to.storages.size()), Advance(loops().size()));
      auto added = storage;
      added.name = ir::fresh_name(to, added.name);
      to.storages.push_back(std::move(added));
    }
    const auto first = to.steps.size();
    for (auto step : made.steps) {
      step.advance.assign(loops().size(), {});
      for (auto& storage : step.storage) {
        const auto& [number, advance] = origin[ir::at(storage)];
        for (std::size_t l = 0; l < advance.size(); ++l) step.advance[l].push_back(advance[l]);
        storage = number;
      }
      to.steps.push_back(std::move(step));
    }
    if (!loops().empty()) to.slices.push_back({first, to.steps.size(), loops()});
  }

 private:
  const std::vector<ir::BlockLoop>& loops() const {
    static const std::vector<ir::BlockLoop> none;
    const auto* const slice = whole_.slice_of(first_);
    return slice == nullptr ? none : slice->loops;
  }
  bool is_own(int storage) const {
    if (whole_.storages[ir::at(storage)].role != ir::Role::workspace) return false;
    bool used = false;
    for (std::size_t k = 0; k < whole_.steps.size(); ++k) {
      const auto& step = whole_.steps[k];
      for (std::size_t b = 0; b < step.storage.size(); ++b) {
        if (step.storage[b] != storage) continue;
        if (k < first_ || k >= last_) return false;
        for (const auto& loop : step.advance) {
          if (loop[b] != 0) return false;
        }
        used = true;
      }
    }
    return used;
  }

  int place(int storage, Advance advance, const ir::Buffer& buffer) {
    const auto [known, fresh] = places_.try_emplace({storage, advance}, static_cast<int>(sequence.storages.size()));
    if (fresh) {
      auto declared = whole_.storages[ir::at(storage)];
      declared.name = ir::fresh_name(sequence, declared.name);
      if (!is_own(storage)) declared.role = ir::Role::input;
      for (std::size_t l = 0; l < advance.size(); ++l) {
        const auto& loop = loops()[l];
        for (const auto value : {loop.block, loop.extent - loop.block}) {
          const auto bytes = advance[l] * value * size_of(declared.type);
          while (declared.alignment > 1 && bytes % declared.alignment != 0) declared.alignment /= 2;
        }
      }
      named_.emplace(declared.name, std::pair(storage, std::move(advance)));
      sequence.storages.push_back(std::move(declared));
    }
    auto& declared = sequence.storages[ir::at(known->second)];
    if (buffer.written && declared.role == ir::Role::input) declared.role = ir::Role::output;
    return known->second;
  }

  const ir::Sequence& whole_;
  std::size_t first_, last_;
  std::map<std::pair<int, Advance>, int> places_;
  std::map<std::string, std::pair<int, Advance>> named_;
};

}  // namespace

ir::Sequence in_runs(const ir::Sequence& sequence, std::int64_t limit,
                     const std::function<ir::Sequence(ir::Sequence run, std::int64_t limit)>& instead) {
  ir::Sequence made;
  made.storages = sequence.storages;
  made.params = sequence.params;
  for (std::size_t k = 0; k < sequence.steps.size();) {
    const auto* const slice = sequence.slice_of(k);
    auto last = slice != nullptr ? slice->last : k;
    while (slice == nullptr && last < sequence.steps.size() && sequence.slice_of(last) == nullptr) ++last;
    const Run run(sequence, k, last);
    const auto room = limit < 0 ? limit : std::max(limit - run.bytes_beside(), run.sequence.workspace_bytes());
    run.append(instead(run.sequence, room), made);
    k = last;
  }
  ir::verify(made);
  return made.fits(limit) ? made : sequence;
}

std::string slices_text(const ir::Sequence& sequence) {
  std::string text;
  for (const auto& slice : sequence.slices) {
    text +=
        fmt::format("slice: steps {} to {} run for each of {} blocks:", slice.first + 1, slice.last, slice.blocks());
    const char* separator = " ";
    for (const auto& loop : slice.loops) {
      text += fmt::format("{}{} of the {} values of {}", separator, loop.block, loop.extent, loop.name);
      separator = ", ";
    }
    text += "\n";
  }
  return text;
}

}  // namespace ricci::runtime
