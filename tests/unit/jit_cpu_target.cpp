// The processor that kernels are made for.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "jit/cpu_target.hpp"
#include "ricci/error.hpp"

namespace jit_cpu_target_test {

using namespace ricci;
using jit::CpuTarget;

namespace {

CpuTarget with_isa(const char* isa) {
  setenv("RICCI_CPU_ISA", isa, 1);
  const CpuTarget target = jit::host_cpu();
  unsetenv("RICCI_CPU_ISA");
  return target;
}

/// What the kernel says of the first processor, as " flag flag ... ".
std::string kernel_flags() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("flags", 0) == 0) return line.substr(line.find(':') + 1) + " ";
  return {};
}

}  // namespace

TEST_CASE("target: text for keys", "[jit]") {
  CHECK(CpuTarget{"x86-64-v3", {}, 32}.text() == "x86-64-v3");
  CHECK(CpuTarget{"x86-64-v4", {"+avx512vbmi", "+gfni"}, 64}.text() == "x86-64-v4+avx512vbmi+gfni");
}

TEST_CASE("target: the host agrees with the kernel", "[jit]") {
  const CpuTarget host = jit::host_cpu();
  CHECK(std::is_sorted(host.features.begin(), host.features.end()));
  CHECK(jit::host_cpu() == host);
#if defined(__x86_64__)
  const std::string flags = kernel_flags();
  REQUIRE_FALSE(flags.empty());
  const auto has = [&](const std::string& flag) { return flags.find(" " + flag + " ") != std::string::npos; };
  const bool v3 = has("avx2") && has("fma") && has("f16c") && has("bmi1") && has("bmi2") && has("movbe") && has("abm");
  const bool v4 = v3 && has("avx512f") && has("avx512bw") && has("avx512cd") && has("avx512dq") && has("avx512vl");
  CHECK((host.vector_bytes == 64) == v4);
  CHECK((host.cpu == "x86-64-v4") == v4);
  CHECK((host.cpu == "x86-64-v3") == (v3 && !v4));
  const auto feature = [&](const char* name) {
    return std::find(host.features.begin(), host.features.end(), name) != host.features.end();
  };
  CHECK(feature("+gfni") == has("gfni"));
  if (v4) {
    CHECK(feature("+avx512vbmi") == has("avx512vbmi"));
    CHECK(feature("+avx512vnni") == has("avx512_vnni"));
    CHECK(feature("+avx512bf16") == has("avx512_bf16"));
    CHECK(feature("+avx512fp16") == has("avx512_fp16"));
  }
  CHECK_FALSE(feature("+avx"));  // each level's own features stay out of the list
#endif
}

#if defined(__x86_64__)
TEST_CASE("target: RICCI_CPU_ISA lowers and never raises", "[jit]") {
  const CpuTarget host = jit::host_cpu();
  CHECK(with_isa("plain") == CpuTarget{"x86-64", {}, 16});
  const CpuTarget avx2 = with_isa("avx2"), avx512 = with_isa("avx512");
  CHECK(avx2.vector_bytes == std::min(host.vector_bytes, 32));
  CHECK(avx512.vector_bytes == host.vector_bytes);
  if (host.vector_bytes >= 32) CHECK(avx2 == CpuTarget{"x86-64-v3", {}, 32});
  if (host.vector_bytes >= 64) CHECK(avx512 == CpuTarget{"x86-64-v4", {}, 64});
  CHECK(with_isa("") == host);
  CHECK_THROWS_AS(with_isa("sse9"), PlanError);
  unsetenv("RICCI_CPU_ISA");
}
#endif

}  // namespace jit_cpu_target_test
