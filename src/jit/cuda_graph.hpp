// Kernels that are launched together: a CUDA graph. One launch takes the host a few microseconds, whatever the number
// of kernels, and the device goes from one to the next without asking anybody.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "jit/cuda_driver.hpp"

namespace ricci::jit::cuda {

/// Whether the driver has graphs, those of CUDA 12 or newer. Needs a device, as what follows.
bool has_graphs();

/// Whether work that is given to the stream is written down rather than run, or nobody may ask.
bool is_captured(Stream stream);

/// Not thread-safe. Destroying it waits for nothing, and what is launched still runs.
class KernelGraph {
 public:
  struct Kernel {
    void* function = nullptr;  ///< of Module::function, on the graph's device
    unsigned blocks = 1, threads = 1;
    std::size_t dynamic_shared = 0;  ///< bytes
    void** args = nullptr;           ///< as cuLaunchKernel takes them; copied
    std::vector<int> after;          ///< earlier kernels that must have ended
  };
  /// Throws DeviceError.
  KernelGraph(std::span<const Kernel> kernels, int ordinal);
  ~KernelGraph();
  KernelGraph(const KernelGraph&) = delete;
  KernelGraph& operator=(const KernelGraph&) = delete;

  /// Other arguments for one of the kernels, from the next launch on: `kernel.after` is not looked at. Throws
  /// DeviceError.
  void update(std::size_t number, const Kernel& kernel);
  /// Launches of one graph run one after the other, on whatever streams. Throws DeviceError.
  void launch(Stream stream);

 private:
  void destroy() noexcept;
  int ordinal_;
  void* graph_ = nullptr;
  void* executable_ = nullptr;
  std::vector<void*> nodes_;
};

}  // namespace ricci::jit::cuda
