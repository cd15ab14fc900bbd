// A contraction's kernel on a GPU, as NVRTC compiles it.
#pragma once

#include "device_memory.hpp"
#include "jit/cuda_compiler.hpp"
#include "runtime/tensor_maps.hpp"
#include "simt/contraction_case.hpp"

namespace ricci::simt {

/// What is wrong with a run on device 0; empty where nothing is. Whole numbers of few bits: every order of the sums
/// gives the same. Throws CompileError, DeviceError.
///   sm  compute capability, times ten
inline std::string wrong_on_gpu(const ContractionCase& of, std::uint64_t seed, int sm) {
  auto areas = tensors_of(of.program, seed);
  std::vector<tests::DeviceMemory> memory;
  for (auto& area : areas) memory.emplace_back(area.begin(), area.bytes);
  auto values = parameters_of_two(of.program);
  std::vector<void*> begins, arguments, wanted;
  for (const auto& each : memory) begins.push_back(each.get());
  for (auto& begin : begins) arguments.push_back(&begin);
  for (auto& value : values) arguments.push_back(value.at);
  const runtime::TensorMaps maps(of.launch.maps);
  runtime::TensorMaps::Encoded encoded;
  maps.encode(arguments.data(), 0, encoded);
  for (std::size_t k = 0; k < maps.count(); ++k) arguments.push_back(&encoded[k]);
  jit::CudaCompileOptions options;
  options.sm = sm;
  const jit::cuda::Module module(jit::compile_cuda(of.full(), "contraction", options).cubin, 0);
  const auto shared = static_cast<std::size_t>(of.launch.dynamic_shared_bytes);
  jit::cuda::launch(module.function("contraction", shared), static_cast<unsigned>(of.launch.tasks), 1, 1,
                    static_cast<unsigned>(of.launch.threads), static_cast<unsigned>(shared), nullptr, arguments.data());
  for (auto& area : areas) wanted.push_back(area.begin());
  ir::interpret(with_rounding(of.program), wanted, std::vector<Scalar>(of.program.params.size(), 2.0));
  for (std::size_t b = 0; b < areas.size(); ++b) {
    Area got(areas[b].bytes);
    memory[b].copy_to_host(got.begin());
    if (std::memcmp(got.begin(), areas[b].begin(), areas[b].bytes) != 0)
      return fmt::format("buffer {} differs", of.program.buffers[b].name);
  }
  return {};
}

}  // namespace ricci::simt
