// NVRTC in process, without a GPU.
#include <elf.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "ricci/error.hpp"

namespace jit_cuda_compiler_test {

using Catch::Matchers::ContainsSubstring;
using ricci::jit::compile_cuda;
using ricci::jit::CudaCompileOptions;
using ricci::jit::CudaObject;

namespace {

const std::string kTranspose = R"(extern "C" __global__ void __launch_bounds__(256)
transpose(const unsigned long long* __restrict__ a, unsigned long long* __restrict__ b) {
  __shared__ unsigned long long tile[32][33];
  const unsigned lane = threadIdx.x & 31, row = threadIdx.x >> 5;
  const unsigned i = blockIdx.x / 40 * 32, j = blockIdx.x % 40 * 32;
#pragma unroll
  for (int r = 0; r < 32; r += 8) tile[row + r][lane] = a[(i + row + r) * 1280 + j + lane];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 32; r += 8) b[(j + row + r) * 1280 + i + lane] = tile[lane][row + r];
}
)";

bool holds(const std::vector<std::byte>& bytes, const std::string& text) {
  return ::memmem(bytes.data(), bytes.size(), text.data(), text.size()) != nullptr;
}

CudaCompileOptions for_sm(int sm) {
  CudaCompileOptions options;
  options.sm = sm;
  return options;
}

template <typename Error>
Error error_of(const std::string& source, const std::string& name, const CudaCompileOptions& options) {
  try {
    compile_cuda(source, name, options);
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no error came of " + name);
}

}  // namespace

#define RICCI_NEED_NVRTC() \
  if (ricci::jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC")

TEST_CASE("a tile transpose becomes a CUBIN with ptxas' figures") {
  RICCI_NEED_NVRTC();
  std::vector<std::byte> previous;
  for (const int sm : {80, 90}) {
    const CudaObject object = compile_cuda(kTranspose, "transpose", for_sm(sm));
    INFO("sm_" << sm << "\n" << object.log);
    REQUIRE(object.cubin.size() > sizeof(Elf64_Ehdr));
    Elf64_Ehdr header;
    std::memcpy(&header, object.cubin.data(), sizeof header);
    CHECK(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0);
    CHECK(header.e_machine == EM_CUDA);
    CHECK(holds(object.cubin, ".text.transpose"));
    CHECK(object.static_shared_bytes == 32 * 33 * 8);
    CHECK(object.registers >= 8);
    CHECK(object.registers <= 64);
    CHECK(object.spill_bytes == 0);
    CHECK(object.ms > 0);
    CHECK(object.log.find("Compile time") == std::string::npos);
    CHECK(object.cubin != previous);
    previous = object.cubin;
  }
}

TEST_CASE("spills are counted") {
  RICCI_NEED_NVRTC();
  std::string source = "extern \"C\" __global__ void k(double* a, int n) {\n  double x[64];\n";
  source += "#pragma unroll\n  for (int i = 0; i < 64; ++i) x[i] = a[i * n];\n";
  source +=
      "#pragma unroll\n  for (int i = 0; i < 64; ++i)\n#pragma unroll\n    for (int j = 0; j < 64; ++j) x[i] += x[j] * "
      "x[i];\n";
  source += "#pragma unroll\n  for (int i = 0; i < 64; ++i) a[i * n] = x[i];\n}\n";
  CudaCompileOptions options;
  CHECK(compile_cuda(source, "k", options).spill_bytes == 0);
  options.extra = {"--maxrregcount=32"};
  const CudaObject tight = compile_cuda(source, "k", options);
  INFO(tight.log);
  CHECK(tight.registers <= 32);
  CHECK(tight.spill_bytes >= 64);
}

TEST_CASE("of several kernels the largest figures are kept") {
  RICCI_NEED_NVRTC();
  const CudaObject object = compile_cuda(
      "extern \"C\" __global__ void big(float* a) { __shared__ float s[512]; s[threadIdx.x] = a[threadIdx.x]; "
      "__syncthreads(); a[threadIdx.x] = s[511 - threadIdx.x]; }\n"
      "extern \"C\" __global__ void small(float* a) { a[0] = 1; }\n",
      "both", {});
  CHECK(object.static_shared_bytes == 2048);
  CHECK(holds(object.cubin, ".text.big"));
  CHECK(holds(object.cubin, ".text.small"));
}

TEST_CASE("contract decides whether products are fused into sums") {
  RICCI_NEED_NVRTC();
  const std::string source = "extern \"C\" __global__ void k(double* a) { a[0] = a[1] * a[2] + a[3]; }\n";
  CudaCompileOptions options;
  const CudaObject fused = compile_cuda(source, "k", options);
  options.contract = false;
  const CudaObject apart = compile_cuda(source, "k", options);
  CHECK(fused.cubin != apart.cubin);
  CHECK_THAT(ricci::jit::cuda_flags_text(options), ContainsSubstring("--fmad=false") && ContainsSubstring("sm_90"));
  CHECK_THAT(ricci::jit::cuda_flags_text({}), ContainsSubstring("--fmad=true"));
}

TEST_CASE("the same source gives the same bytes and the same log") {
  RICCI_NEED_NVRTC();
  const CudaObject first = compile_cuda(kTranspose, "transpose", {}),
                   second = compile_cuda(kTranspose, "transpose", {});
  CHECK(first.cubin == second.cubin);
  CHECK(first.log == second.log);
}

TEST_CASE("a bad source is refused with its line") {
  RICCI_NEED_NVRTC();
  const std::string source = "extern \"C\" __global__ void k(float* a) {\n  a[0] = 1;\n  a[1] = undeclared_name;\n}\n";
  const auto error = error_of<ricci::CompileError>(source, "bad", {});
  CHECK(error.code() == ricci::ErrorCode::compile);
  CHECK_THAT(error.what(), ContainsSubstring("bad.cu(3)") && ContainsSubstring("3 |   a[1] = undeclared_name;") &&
                               ContainsSubstring("the kernel bad for sm_90"));
  CHECK(error.source() == source);
  CHECK_THAT(error.log(), ContainsSubstring("undeclared_name"));
}

TEST_CASE("many errors are cut short in the text and whole in the log") {
  RICCI_NEED_NVRTC();
  std::string source;
  for (int i = 0; i < 8; ++i) source += "int v" + std::to_string(i) + " = missing" + std::to_string(i) + ";\n";
  const auto error = error_of<ricci::CompileError>(source, "many", {});
  CHECK_THAT(error.what(),
             ContainsSubstring("missing2") && !ContainsSubstring("missing3") && ContainsSubstring("and 5 more"));
  CHECK_THAT(error.log(), ContainsSubstring("missing7"));
}

TEST_CASE("what ptxas refuses is an error too") {
  RICCI_NEED_NVRTC();
  const auto error = error_of<ricci::CompileError>(
      "extern \"C\" __global__ void k(int* a) { __shared__ int s[16384]; s[threadIdx.x] = a[0]; __syncthreads(); a[1] "
      "= s[a[2]]; }\n",
      "wide", {});
  CHECK_THAT(error.what(), ContainsSubstring("wide for sm_90") && ContainsSubstring("shared"));
  CHECK_THAT(error.what(), ContainsSubstring("65536") || ContainsSubstring("0x10000"));
}

TEST_CASE("headers, unknown options and unknown architectures are named") {
  RICCI_NEED_NVRTC();
  CHECK_THAT(error_of<ricci::CompileError>("#include <no_such_header.h>\n", "header", {}).what(),
             ContainsSubstring("no_such_header.h"));
  CudaCompileOptions options;
  options.extra = {"--no-such-option"};
  CHECK_THAT(error_of<ricci::CompileError>(kTranspose, "option", options).what(),
             ContainsSubstring("--no-such-option"));
  CHECK_THAT(error_of<ricci::PlanError>(kTranspose, "old", for_sm(35)).what(),
             ContainsSubstring("sm_35") && ContainsSubstring("sm_90"));
  CHECK(!compile_cuda(kTranspose, "transpose", {}).cubin.empty());  // none of it is remembered
}

TEST_CASE("threads compile in parallel") {
  RICCI_NEED_NVRTC();
  const auto source = [](int i) {
    return "extern \"C\" __global__ void kernel_" + std::to_string(i) + "(int* a) { a[threadIdx.x] = a[threadIdx.x + " +
           std::to_string(i + 1) + "] * " + std::to_string(i + 3) + "; }\n";
  };
  constexpr int kThreads = 4;
  std::vector<CudaObject> apart(kThreads), together(kThreads);
  std::vector<int> refused(kThreads, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3; ++round) together[i] = compile_cuda(source(i), "kernel", {});
      try {
        compile_cuda("error here;\n", "broken_" + std::to_string(i), {});
      } catch (const ricci::CompileError& error) {
        refused[i] = std::strstr(error.what(), ("broken_" + std::to_string(i) + ".cu(1)").c_str()) != nullptr;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i) {
    apart[i] = compile_cuda(source(i), "kernel", {});
    CHECK(together[i].cubin == apart[i].cubin);
    CHECK(holds(together[i].cubin, ".text.kernel_" + std::to_string(i)));
    CHECK(refused[i] == 1);
  }
}

}  // namespace jit_cuda_compiler_test
