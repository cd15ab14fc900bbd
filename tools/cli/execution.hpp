// A plan run over tensors in host memory, on the CPU or through a device, and timed.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "ricci/plan.hpp"

namespace ricci::tools {

/// One array of a call, in host memory.
struct HostArray {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
  std::ptrdiff_t origin_bytes = 0;  ///< of element (0, 0, ...) from `memory`
};

/// What a plan is to run on: arrays in the order of Plan::outputs() and Plan::inputs().
struct Execution {
  std::vector<HostArray> outputs, inputs;
  std::vector<Scalar> params;
  bool old_values_count = false;  ///< of the outputs: repetitions then write elsewhere
};

struct RunTimes {
  double to_device_ms = 0, to_host_ms = 0;
  std::vector<double> runs_ms;  ///< in order
  double best_ms() const;
  double median_ms() const;
};

/// Runs it `repeat` times; the outputs are those of the first run. The workspace is made once, outside of the times.
/// `share` is called with the share of them that is done: between runs, and while a CPU works on one.
RunTimes execute(const Plan& plan, const Execution& execution, int repeat,
                 const std::function<void(double)>& share = {});

}  // namespace ricci::tools
