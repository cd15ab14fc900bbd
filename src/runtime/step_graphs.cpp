#include "runtime/step_graphs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci::runtime {
namespace {

using jit::cuda::KernelGraph;

constexpr std::size_t kMostStreams = 16;

/// Bytes that a step reaches in one storage.
struct Reach {
  int storage = -1;
  bool workspace = false, written = false;
  std::int64_t first = 0, end = 0;  ///< of the workspace
};

std::vector<Reach> reached(const Plan::Impl& plan, const Plan::Impl::Step& step) {
  std::vector<Reach> all;
  for (std::size_t k = 0; k < step.storage.size(); ++k) {
    const auto number = static_cast<std::size_t>(step.storage[k]);
    const auto offset = plan.workspace_offsets[number];
    const auto& check = plan.storages[number];
    all.push_back({step.storage[k], offset >= 0, step.program.buffers[k].written, offset + check.first_byte,
                   offset + check.end_byte});
  }
  return all;
}

/// Tensors of the caller do not overlap where one is written; those of the workspace may, one behind the other.
bool conflict(const std::vector<Reach>& earlier, const std::vector<Reach>& later) {
  for (const auto& a : earlier) {
    for (const auto& b : later) {
      if (!a.written && !b.written) continue;
      const bool same = a.storage == b.storage;
      if (same || (a.workspace && b.workspace && a.first < b.end && b.first < a.end)) return true;
    }
  }
  return false;
}

}  // namespace

StepGraphs::StepGraphs(const Plan::Impl& plan) : plan_(plan) {
  streams_.reserve(kMostStreams);
  std::vector<std::vector<Reach>> reach;
  for (const auto& step : plan.steps) reach.push_back(reached(plan, step));
  // Per step: the last launch of each earlier one. That of the block before stands for all blocks before it, as a step
  // writes in every block what it wrote in the one before, or the same tensor.
  std::vector<int> latest(plan.steps.size(), -1);
  plan.for_each_launch([&](std::size_t step, const ir::BlockValues& block) {
    Launch launch{step, block, {}};
    for (std::size_t k = 0; k < latest.size(); ++k) {
      if (latest[k] >= 0 && conflict(reach[k], reach[step])) launch.after.push_back(latest[k]);
    }
    latest[step] = static_cast<int>(launches_.size());
    launches_.push_back(std::move(launch));
    return true;
  });
}

StepGraphs::OfStream* StepGraphs::known_stream(int ordinal, jit::cuda::Stream stream) {
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const auto& one) { return one.ordinal == ordinal && one.stream == stream; });
  if (found != streams_.end()) return &*found;
  if (streams_.size() < kMostStreams) {
    auto& one = streams_.emplace_back();
    one.ordinal = ordinal;
    one.stream = stream;
  }
  return nullptr;
}

bool StepGraphs::launch(void* const* storage, void* const* param, int ordinal, jit::cuda::Stream stream) {
  // A second thread on the same plan rather launches its kernels than waits.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || refused_ || jit::cuda::is_captured(stream)) return false;
  auto* const mine = known_stream(ordinal, stream);
  if (mine == nullptr) return false;
  try {
    prepare(*mine, storage, param);
  } catch (const DeviceError& error) {
    refused_ = true;
    if (log_enabled(LogTopic::execute)) log_line(LogTopic::execute, error.what());
    return false;
  }
  mine->graph->launch(stream);
  return true;
}

void StepGraphs::prepare(OfStream& mine, void* const* storage, void* const* param) {
  std::array<void*, Plan::Impl::kMaxArguments> args;
  std::vector<KernelGraph::Kernel> kernels;
  std::deque<std::vector<void*>> args_of, bases_of;
  std::array<void*, Plan::Impl::kMaxArguments> changed_bases;
  std::deque<TensorMaps::Encoded> maps_of;
  TensorMaps::Encoded changed_maps;
  const bool first = mine.graph == nullptr;
  if (first) kernels.reserve(launches_.size());
  auto* known = mine.arguments.data();
  for (std::size_t k = 0; k < launches_.size(); ++k) {
    const auto& step = plan_.steps[launches_[k].step];
    const auto& kernel = *step.kernel();
    std::size_t count = 0;
    bool changed = false;
    const auto take = [&](const void* value, std::size_t bytes) {
      args[count++] = const_cast<void*>(value);
      if (first) {
        const auto* const from = static_cast<const unsigned char*>(value);
        mine.arguments.insert(mine.arguments.end(), from, from + bytes);
        return;
      }
      if (std::memcmp(known, value, bytes) != 0) {
        changed = true;
        std::memcpy(known, value, bytes);
      }
      known += bytes;
    };
    void** const bases = first ? bases_of.emplace_back(step.storage.size()).data() : changed_bases.data();
    for (const auto n : step.storage) {
      auto& base = bases[count];
      base = static_cast<char*>(storage[n]) + ir::shift_of(step.advance, launches_[k].block, count);
      take(static_cast<const void*>(&base), sizeof(base));
    }
    for (const auto n : step.parameter) {
      take(param[n], static_cast<std::size_t>(size_of(plan_.sources[static_cast<std::size_t>(n)].type)));
    }
    TensorMaps::Encoded& maps = first ? maps_of.emplace_back() : changed_maps;
    if (kernel.maps) {
      kernel.maps->encode(args.data(), mine.ordinal, maps);
      for (std::size_t m = 0; m < kernel.maps->count(); ++m) take(&maps[m], sizeof(maps[m]));
    }
    if (!first && !changed) continue;
    KernelGraph::Kernel node;
    node.function = kernel.loaded->gpu->on(mine.ordinal);
    node.blocks = kernel.blocks;
    node.threads = kernel.threads;
    node.dynamic_shared = kernel.dynamic_shared;
    if (first) {
      node.args = args_of.emplace_back(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(count)).data();
      node.after = launches_[k].after;
      kernels.push_back(std::move(node));
    } else {
      node.args = args.data();
      mine.graph->update(k, node);
    }
  }
  if (first) mine.graph = std::make_unique<KernelGraph>(kernels, mine.ordinal);
}

}  // namespace ricci::runtime
