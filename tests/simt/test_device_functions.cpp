// The text that runs on the simulator is what NVRTC takes, and becomes the instructions that it is meant to.
#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "ricci/error.hpp"
#include "simt/tensor_core_kernels.hpp"

namespace test_device_functions {

using namespace ricci::simt;

namespace {

ricci::jit::CudaObject compile(const std::string& text, int sm) {
  ricci::jit::CudaCompileOptions options;
  options.sm = sm;
  return ricci::jit::compile_cuda(portable_part() + device_part() + text, "device functions", options);
}

// How many instructions of that name there are; nothing where there is no disassembler.
void check_instructions(const ricci::jit::CudaObject& object, const std::string& name, int least) {
  const std::string sass = ricci::jit::disassemble_cubin(object.cubin);
  if (sass.empty()) return;
  int count = 0;
  for (std::size_t at = 0; (at = sass.find(name, at)) != std::string::npos; at += name.size()) ++count;
  INFO(name << "\n" << sass);
  CHECK(count >= least);
}

}  // namespace

#define RICCI_NEED_NVRTC() \
  if (ricci::jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC")

TEST_CASE("a kernel gets the parts that it asks for") {
  using namespace ricci::codegen;
  CHECK(device_prelude({}) == prelude::kCuda);
  CHECK(device_prelude({.tensor_core = true}) == std::string(prelude::kCuda) + "\n" + prelude::kTensorCore);
  const std::string all = device_prelude({.async = true, .tensor_core = true, .reduce = true});
  for (const char* part : {prelude::kCuda, prelude::kAsync, prelude::kTensorCore, prelude::kReduce})
    CHECK_THAT(all, Catch::Matchers::ContainsSubstring(part));
}

TEST_CASE("vectors of 16 bytes move through shared memory in one instruction") {
  RICCI_NEED_NVRTC();
  const auto object = compile(R"(extern "C" __global__ void turn(const f64* A, f64* B) {
  static __shared__ vec<f64, 2> tile[64];
  store(&tile[threadIdx.x].at[0], load<vec<f64, 2>>(A + 2 * threadIdx.x));
  __syncthreads();
  store(B + 2 * threadIdx.x, load<vec<f64, 2>>(&tile[63 - threadIdx.x].at[0]));
}
)",
                              80);
  for (const char* name : {"LDG.E.128", "STS.128", "LDS.128", "STG.E.128"}) check_instructions(object, name, 1);
}

TEST_CASE("every atom compiles where it exists") {
  RICCI_NEED_NVRTC();
  for (const int sm : {80, 90, 100}) {
    std::string all;
    int f64 = 0;
    for (const Atom& atom : ricci::kernel::kAtoms) {
      INFO(atom.name << " on sm_" << sm);
      if (sm < atom.sm) {
        CHECK_THROWS_AS(compile(atom_kernel(atom), sm), ricci::CompileError);
        continue;
      }
      all += atom_kernel(atom);
      f64 += atom.c.type == AtomType::f64;
    }
    const auto object = compile(all, sm);
    CHECK(object.spill_bytes == 0);
    check_instructions(object, "DMMA.", f64);
    check_instructions(object, "HMMA.", 6);
    check_instructions(object, "IMMA.", 2);
  }
}

TEST_CASE("matrix loads, conversions and sums compile") {
  RICCI_NEED_NVRTC();
  for (const int sm : {80, 90, 100}) {
    std::string all = rounding_launch().text + reduce_launch().text;
    int loads = 0;
    for (const char* name : {"m16n8k4_tf32", "m16n8k8_bf16", "m16n8k16_f16"})
      for (const bool transposed : {false, true}) {
        std::string text = matrix_load(ricci::kernel::find_atom(name)->b, transposed, 1).launch.text;
        text.replace(text.find("load_fragment("), 13, fmt::format("load{}", loads++));
        all += text;
        text = matrix_load(ricci::kernel::find_atom(name)->a, transposed, 1).launch.text;
        text.replace(text.find("load_fragment("), 13, fmt::format("load{}", loads++));
        all += text;
      }
    const auto object = compile(all, sm);
    check_instructions(object, "LDSM", loads);
    check_instructions(object, "ATOM", 6);
  }
}

TEST_CASE("a product staged by asynchronous copies compiles without spills") {
  RICCI_NEED_NVRTC();
  for (const int sm : {90, 100}) {
    const auto object = compile(gemm_kernel(), sm);
    INFO("sm_" << sm << "\n" << object.log << object.registers);
    CHECK(object.spill_bytes == 0);
    CHECK(object.static_shared_bytes == 2 * (64 * 20 + 16 * 68) * 8);
    CHECK(object.registers <= 160);
    check_instructions(object, "LDGSTS", 8);
    check_instructions(object, "DMMA", 16);
  }
}

}  // namespace test_device_functions
