// Plans of several kernels on a device, launched as graphs: the bits of single launches, whatever changes between
// calls.
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"
#include "device_memory.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;
namespace cuda = ricci::jit::cuda;

namespace {

/// f64 numbers on the host and on the device.
class Numbers {
 public:
  explicit Numbers(std::int64_t elements) : host_(static_cast<std::size_t>(elements)), memory_(8 * host_.size()) {}
  void fill(std::mt19937& random) {
    std::uniform_real_distribution<double> value(-1, 1);
    for (auto& one : host_) one = value(random);
    cuda::copy_to_device(memory_.get(), host_.data(), 8 * host_.size());
  }
  const std::vector<double>& read() {
    memory_.copy_to_host(host_.data());
    return host_;
  }
  void* get() const { return memory_.get(); }

 private:
  std::vector<double> host_;
  tests::DeviceMemory memory_;
};

Plan network(Runtime& runtime, const char* spec, const std::vector<Layout>& inputs) {
  EinsumOptions options;
  options.device = Device::gpu;
  options.alpha = 2;  // of each call
  return runtime.plan_einsum(spec, inputs, einsum_output(spec, inputs), options);
}

}  // namespace

TEST_CASE("graphs of a plan's kernels give the bits of single launches") {
  if (!cuda::available()) RICCI_SKIP("no GPU");
  RuntimeOptions options;
  options.graph_kernels = 0;
  Runtime single(options);
  options.graph_kernels = 2;
  Runtime together(options);
  const struct {
    const char* spec;
    std::vector<std::vector<std::int64_t>> extents;
  } networks[] = {
      {"ab,bc,cd,de->ae", {{70, 50}, {50, 90}, {90, 33}, {33, 64}}},
      // Two halves that need nothing of each other.
      {"ab,bc,cd,de,fg,gh,hi,ie->af", {{96, 64}, {64, 80}, {80, 96}, {96, 72}, {64, 96}, {96, 80}, {80, 64}, {64, 72}}},
      {"abcd,ap,bq,cr,ds->pqrs", {{14, 15, 16, 17}, {14, 15}, {15, 14}, {16, 18}, {17, 16}}},
  };
  std::mt19937 random(20261126);
  for (const auto& [spec, extents] : networks) {
    INFO(spec);
    std::vector<Layout> layouts;
    for (const auto& of_one : extents) layouts.push_back(Layout::row_major(DType::f64, of_one));
    const auto apart = network(single, spec, layouts), graph = network(together, spec, layouts);
    REQUIRE(apart.info().steps > 1);
    REQUIRE(apart.info().steps == graph.info().steps);
    const auto elements = einsum_output(spec, layouts).elements();
    // Two sets of operands, two results and two streams, in all orders.
    std::vector<std::unique_ptr<Numbers>> operands[2];
    for (auto& set : operands) {
      for (const auto& layout : layouts) set.push_back(std::make_unique<Numbers>(layout.elements()));
    }
    Numbers want(elements), to[2] = {Numbers(elements), Numbers(elements)};
    const cuda::OwnedStream streams[2];
    for (int k = 0; k < 24; ++k) {
      auto& from = operands[k / 2 % 2];
      std::vector<const void*> pointers;
      for (auto& operand : from) {
        if (k % 5 != 4) operand->fill(random);  // else the numbers of before: the call reads what is there
        pointers.push_back(operand->get());
      }
      Call call;
      call.alpha = k / 3 % 2 == 0 ? 1.5 : -0.25;
      apart(std::vector<void*>{want.get()}, pointers, call);
      cuda::synchronize();
      auto& result = to[k / 4 % 2];
      call.stream = streams[k / 8 % 2].get();
      graph(std::vector<void*>{result.get()}, pointers, call);
      cuda::synchronize();
      CHECK(result.read() == want.read());
    }
  }
}
