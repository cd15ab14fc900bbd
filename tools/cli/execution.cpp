#include "cli/execution.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "io/buffer.hpp"
#include "jit/cuda_driver.hpp"
#include "report/report.hpp"
#include "report/statistics.hpp"

namespace ricci::tools {
namespace {

namespace cuda = jit::cuda;

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes)
      : pointer_(static_cast<std::byte*>(cuda::allocate(std::max<std::size_t>(bytes, 1)))) {}
  ~DeviceMemory() { cuda::release(pointer_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  std::byte* get() const noexcept { return pointer_; }

 private:
  std::byte* pointer_;
};

struct Pointers {
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
};

using Shares = std::function<void(double)>;

// Nothing is said of a single run: a device tells nothing between its beginning and its end.
void tell(const Shares& share, int done, int repeat) {
  if (share && repeat > 1) share(static_cast<double>(done) / repeat);
}

RunTimes on_cpu(const Plan& plan, const Execution& execution, int repeat, const Shares& share) {
  Pointers first;
  for (const auto& array : execution.outputs) first.outputs.push_back(array.memory + array.origin_bytes);
  for (const auto& array : execution.inputs) first.inputs.push_back(array.memory + array.origin_bytes);
  Pointers again = first;
  std::vector<Buffer> scratch;  // repetitions must not add to the results again
  if (repeat > 1 && execution.old_values_count) {
    again.outputs.clear();
    for (const auto& array : execution.outputs) {
      scratch.emplace_back(array.bytes);
      std::memset(scratch.back().data(), 0, array.bytes);
      again.outputs.push_back(scratch.back().data() + array.origin_bytes);
    }
  }
  constexpr std::size_t kAlignment = 256;
  const auto workspace_bytes = static_cast<std::size_t>(plan.info().workspace_bytes);
  Buffer workspace(workspace_bytes > 0 ? workspace_bytes + kAlignment : 0);
  Call call;
  call.params = execution.params;
  int done = 0;
  if (share) call.progress = [&](double part) { share((done + part) / repeat); };
  if (workspace_bytes > 0) {
    std::memset(workspace.data(), 0, workspace.size());
    void* aligned = workspace.data();
    std::size_t space = workspace.size();
    call.workspace = std::align(kAlignment, workspace_bytes, aligned, space);
    call.workspace_bytes = workspace_bytes;
  }
  RunTimes times;
  for (; done < repeat; ++done) {
    const auto& pointers = done == 0 ? first : again;
    const double start = now_ms();
    plan(pointers.outputs, pointers.inputs, call);
    times.runs_ms.push_back(now_ms() - start);
  }
  return times;
}

RunTimes on_gpu(const Plan& plan, const Execution& execution, int repeat, const Shares& share) {
  RunTimes times;
  std::vector<std::unique_ptr<DeviceMemory>> memory, scratch;
  Pointers first;
  double start = now_ms();
  for (const auto& array : execution.outputs) {
    memory.push_back(std::make_unique<DeviceMemory>(array.bytes));
    if (array.bytes > 0) cuda::copy_to_device(memory.back()->get(), array.memory, array.bytes);
    first.outputs.push_back(memory.back()->get() + array.origin_bytes);
  }
  for (const auto& array : execution.inputs) {
    memory.push_back(std::make_unique<DeviceMemory>(array.bytes));
    if (array.bytes > 0) cuda::copy_to_device(memory.back()->get(), array.memory, array.bytes);
    first.inputs.push_back(memory.back()->get() + array.origin_bytes);
  }
  cuda::synchronize();
  times.to_device_ms = now_ms() - start;
  Pointers again = first;
  if (repeat > 1 && execution.old_values_count) {
    again.outputs.clear();
    for (const auto& array : execution.outputs) {
      scratch.push_back(std::make_unique<DeviceMemory>(array.bytes));
      again.outputs.push_back(scratch.back()->get() + array.origin_bytes);
    }
  }
  const DeviceMemory workspace(static_cast<std::size_t>(plan.info().workspace_bytes));
  Call call;
  call.params = execution.params;
  if (plan.info().workspace_bytes > 0) {
    call.workspace = workspace.get();
    call.workspace_bytes = static_cast<std::size_t>(plan.info().workspace_bytes);
  }
  cuda::Event before, after;
  for (int k = 0; k < repeat; ++k) {
    const auto& pointers = k == 0 ? first : again;
    before.record(nullptr);
    plan(pointers.outputs, pointers.inputs, call);
    after.record(nullptr);
    after.wait();
    times.runs_ms.push_back(cuda::Event::ms_between(before, after));
    tell(share, k + 1, repeat);
  }
  start = now_ms();
  for (std::size_t k = 0; k < execution.outputs.size(); ++k) {
    const auto& array = execution.outputs[k];
    if (array.bytes > 0) cuda::copy_to_host(array.memory, memory[k]->get(), array.bytes);
  }
  times.to_host_ms = now_ms() - start;
  return times;
}

}  // namespace

double RunTimes::best_ms() const { return *std::min_element(runs_ms.begin(), runs_ms.end()); }

double RunTimes::median_ms() const { return median(runs_ms); }

RunTimes execute(const Plan& plan, const Execution& execution, int repeat, const Shares& share) {
  return plan.device() == Device::gpu ? on_gpu(plan, execution, repeat, share) : on_cpu(plan, execution, repeat, share);
}

}  // namespace ricci::tools
