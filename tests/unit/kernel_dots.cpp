// Dot products of a CPU's vectors: the rules of their atom, sums of extreme bytes, and where plans choose them.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/verify.hpp"
#include "lower/lower_program.hpp"
#include "plan/plan.hpp"
#include "ricci/error.hpp"

namespace kernel_dots_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// C(i, j) = sum(k, A(i, k) * B(j, k)), in `sum`.
ir::Program program_of(const std::string& a, const std::string& b, const std::string& sum, int extent = 32,
                       int depth = 20) {
  const auto of = [&](const std::string& factor) {
    return sum == "f32" ? factor : "cast(" + sum + ", " + factor + ")";
  };
  const auto text = "index i = " + std::to_string(extent) + "\nindex j = " + std::to_string(extent) +
                    "\nindex k = " + std::to_string(depth) + "\ninput A(i, k) : " + a + "\ninput B(j, k) : " + b +
                    "\noutput C(i, j) : " + sum + "\nC(i, j) = sum(k, " + of("A(i, k)") + " * " + of("B(j, k)") + ")\n";
  return ir::canonicalise(ir::lower(Program::parse(text)).steps.at(0).program);
}

std::string fault(const ir::Program& program, const std::string& directives) {
  try {
    (void)build(program, contraction_of(program).value(), parse_directives(directives), Target::cpu);
  } catch (const PlanError& error) {
    return error.what();
  }
  return {};
}

const std::string kPairs = "tile a:4; tile c:16; tile b:8:2; order task a0 c0 serial b0;";
const std::string kA = "stage A at b0 scratch b1 a b;", kB = "stage B at b0 scratch b1 c b;";
const std::string kTurned =
    "tile c:5; tile a:16; tile b:12:4; order task a0 c0 serial b0; stage B at b0 scratch b1 c b;"
    "stage A at b0 scratch b1 a b; atom dot rows c columns a depth b1 b lanes 16";
const std::string kAtom = "atom dot rows a columns c depth b1 b lanes 16";

}  // namespace

TEST_CASE("an atom of dot products takes groups of terms that are packed side by side") {
  using Catch::Matchers::ContainsSubstring;
  const auto bf16 = program_of("bf16", "bf16", "f32");
  CHECK(fault(bf16, kPairs + kA + kB + kAtom).empty());
  CHECK_THAT(fault(program_of("f16", "f16", "f32"), kPairs + kA + kB + kAtom),
             ContainsSubstring("no dot products of f16 and f16 in f32"));
  CHECK_THAT(fault(program_of("u8", "u8", "i32"), kPairs + kA + kB + kAtom),
             ContainsSubstring("no dot products of u8 and u8 in i32"));
  CHECK_THAT(fault(program_of("bf16", "bf16", "f32", 32, 16), kPairs + kB + kAtom),
             ContainsSubstring("A must be staged"));
  CHECK_THAT(fault(bf16, "tile a:4; tile c:16; tile b:8:4; order task a0 c0 serial b0;" + kA + kB + kAtom),
             ContainsSubstring("the last of the depth are 2 terms"));
  CHECK_THAT(fault(bf16, kPairs + kA + "stage B at b0 scratch b1 b c;" + kAtom),
             ContainsSubstring("b has to be the last dimension of B_packed"));
  CHECK_THAT(fault(bf16, kPairs + kA + kB + "atom dot rows a columns c depth b1 b lanes 1"),
             ContainsSubstring("dot products are by vectors"));
  CHECK_THAT(fault(bf16, kPairs + kA + "stage B at b0 scratch c b1 b;" + kAtom),
             ContainsSubstring("lanes are neighbours along c"));
  CHECK_THAT(fault(program_of("i8", "i8", "i32"), kPairs + kA + kB + kAtom),
             ContainsSubstring("the last of the depth are 4 terms"));
}

TEST_CASE("sums of bytes are exact, whatever their signs and wherever the depth ends") {
  const auto check = [](auto first, const char* type, int depth) {
    using A = decltype(first);
    const bool turned = type == std::string("u8");  // of canonical programs i8 is the first operand
    constexpr int kExtent = 32;
    const auto program = program_of(type, "i8", "i32", kExtent, depth);
    std::vector<A> a(static_cast<std::size_t>(kExtent * depth));
    std::vector<std::int8_t> b(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      a[k] = static_cast<A>(k % 3 == 0 ? 128 : 37 * k);
      b[k] = static_cast<std::int8_t>(k % 5 == 0 ? -128 : 91 * k);
    }
    const auto kernel = expand(build(
        program, contraction_of(program).value(),
        parse_directives(turned ? kTurned
                                : "tile a:5; tile c:16; tile b:12:4; order task a0 c0 serial b0;" + kA + kB + kAtom),
        Target::cpu));
    std::vector<std::int32_t> c(kExtent * kExtent, -1);
    std::vector<void*> buffers = {a.data(), b.data(), c.data()};
    if (turned) std::swap(buffers[0], buffers[1]);
    execute(kernel, buffers, {});
    for (int i = 0; i < kExtent; ++i) {
      for (int j = 0; j < kExtent; ++j) {
        std::int32_t sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += a[static_cast<std::size_t>(i * depth + k)] * b[static_cast<std::size_t>(j * depth + k)];
        REQUIRE(c[static_cast<std::size_t>(i * kExtent + j)] == sum);
      }
    }
  };
  for (const int depth : {12, 13, 22, 31}) {
    check(std::int8_t{}, "i8", depth);
    check(std::uint8_t{}, "u8", depth);
  }
}

TEST_CASE("plans multiply by dot products where a processor has them for the types") {
  const auto first = [](const ir::Program& program, const plan::CpuModel& device) {
    return plan::candidates(program, device).front().schedule.name;
  };
  plan::CpuModel device, none;
  device.vector_bytes = none.vector_bytes = 64;
  device.dots_bf16 = device.dots_i8 = true;
  for (const auto& [a, b, sum] : {std::array{"bf16", "bf16", "f32"}, {"i8", "i8", "i32"}}) {
    const auto program = program_of(a, b, sum, 512, 512);
    CHECK(first(program, device).starts_with("gett dot "));
    CHECK_FALSE(first(program, none).starts_with("gett dot "));
  }
  CHECK_FALSE(first(program_of("f16", "f16", "f32", 512, 512), device).starts_with("gett dot "));
  CHECK_FALSE(first(program_of("u8", "u8", "i32", 512, 512), device).starts_with("gett dot "));
  CHECK_FALSE(first(program_of("bf16", "bf16", "f32", 512, 4), device).starts_with("gett dot "));
}

}  // namespace kernel_dots_test
