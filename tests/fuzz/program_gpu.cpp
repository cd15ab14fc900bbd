// Random programs on a device against the interpreter. Several threads compile, since that is nearly all of the time.
#include <algorithm>
#include <thread>

#include "catch.hpp"
#include "device_memory.hpp"
#include "fuzz/kernel_case.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/error.hpp"
#include "runtime/plan_impl.hpp"

namespace program_gpu_test {

using namespace ricci;
namespace cuda = ricci::jit::cuda;

TEST_CASE("random programs on a device do what the interpreter does") {
  if (!cuda::available()) RICCI_SKIP("no GPU");
  const int ordinal = cuda::current_device();
  const auto info = cuda::device_info(ordinal);
  const auto device_model = runtime::gpu_model(info);
  const auto failure = [&](std::uint64_t seed, fuzz::Kind kind) -> std::string {
    cuda::current_device();  // the device's context, in this thread
    auto made = fuzz::kernel_case(seed, kind, device_model);
    if (!made) return {};
    try {
      const auto object = made->cubin(device_model.sm);
      const cuda::Module module(object.cubin, ordinal);
      const auto launch = kernel::launch_of(made->program, made->schedule, kernel::Target::cuda);
      const auto dynamic = static_cast<std::size_t>(launch.dynamic_shared_bytes);
      auto* const function = module.function(made->source.kernel, dynamic);
      std::vector<tests::DeviceMemory> copies;
      std::vector<void*> pointers, args;
      for (const int buffer : made->program.buffer) {
        const auto& memory = made->memory[static_cast<std::size_t>(buffer)];
        copies.emplace_back(memory.begin(), memory.bytes());
        pointers.push_back(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(copies.back().get()) +
                                                   static_cast<std::uintptr_t>(memory.origin)));
      }
      for (auto& pointer : pointers) args.push_back(&pointer);
      for (auto& value : made->values) args.push_back(value.at);
      const runtime::TensorMaps maps(launch.maps);
      runtime::TensorMaps::Encoded encoded;
      maps.encode(args.data(), ordinal, encoded);
      for (std::size_t k = 0; k < maps.count(); ++k) args.push_back(&encoded[k]);
      cuda::launch(function, static_cast<unsigned>(launch.tasks), 1, 1, static_cast<unsigned>(launch.threads), dynamic,
                   nullptr, args.data());
      for (std::size_t k = 0; k < copies.size(); ++k) {
        copies[k].copy_to_host(made->memory[static_cast<std::size_t>(made->program.buffer[k])].begin());
      }
    } catch (const CompileError& error) {
      return made->told(error.what() + error.log());
    } catch (const Error& error) {
      return made->told(error.what());
    }
    return made->verdict();
  };
  fuzz::check_seeds(700001, 500, info.name, failure, std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace program_gpu_test
