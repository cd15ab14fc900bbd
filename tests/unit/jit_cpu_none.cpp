// Built without the CPU back end: everything that needs Clang says so, and says how to get it.
#include "catch.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/object_loader.hpp"
#include "ricci/error.hpp"

using namespace ricci;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("compiler: absent by configuration", "[jit]") {
  CHECK(jit::cpu_compiler_version().empty());
  const std::string source = "extern \"C\" int answer() { return 42; }";
  CHECK_THROWS_AS(jit::compile_cpu(source, "answer", jit::CpuCompileOptions{jit::host_cpu()}), PlanError);
  CHECK_THROWS_WITH(jit::compile_cpu(source, "answer", jit::CpuCompileOptions{jit::host_cpu()}),
                    ContainsSubstring("-DRICCI_CPU=ON"));
  CHECK_THROWS_AS(jit::assemble_cpu(source, "answer", jit::CpuCompileOptions{jit::host_cpu()}), PlanError);
}
