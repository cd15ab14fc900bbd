// GPU plans of several kernels as CUDA graphs: one launch for all, and kernels that need nothing of each other at once.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ir/sequence.hpp"
#include "jit/cuda_graph.hpp"
#include "ricci/plan.hpp"

namespace ricci::runtime {

/// The graphs of one plan. Thread-safe.
///
/// A graph's launches run one after the other, so each stream that calls come on has one of its own. It is made by the
/// stream's second call, as plans that are called once do not earn what it takes (tens of microseconds), and gets new
/// arguments where they differ from the call before.
class StepGraphs {
 public:
  /// The plan's steps are generated kernels, all of them.
  explicit StepGraphs(const Plan::Impl& plan);

  /// Launches all steps as Plan::Impl::run() would. False where nothing was launched, as this call is to be one of
  /// single launches: the first of its stream, one that is being captured, or one more stream than there are graphs
  /// for.
  bool launch(void* const* storage, void* const* param, int ordinal, jit::cuda::Stream stream);

 private:
  struct OfStream {
    int ordinal = -1;
    jit::cuda::Stream stream = nullptr;
    std::unique_ptr<jit::cuda::KernelGraph> graph;  ///< from the second call on
    std::vector<unsigned char> arguments;           ///< of the last launch
  };
  /// The stream's graph, or the place for it; null on its first call, and where there are too many.
  OfStream* known_stream(int ordinal, jit::cuda::Stream stream);
  /// Makes the graph, or gives its kernels the arguments that have changed.
  void prepare(OfStream& mine, void* const* storage, void* const* param);

  /// A kernel of the graph: a step, in a block of its slice where it is in one.
  struct Launch {
    std::size_t step = 0;
    ir::BlockValues block;
    std::vector<int> after;  ///< earlier ones whose results it needs or whose operands it writes
  };

  const Plan::Impl& plan_;
  std::vector<Launch> launches_;
  bool refused_ = false;  ///< the driver makes none
  std::mutex mutex_;
  std::vector<OfStream> streams_;
};

}  // namespace ricci::runtime
