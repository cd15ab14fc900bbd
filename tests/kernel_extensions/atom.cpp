// An atom from outside of src/kernel: products of signed bytes, half as deep as those of the table.
#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "kernel/extensions.hpp"
#include "ricci/error.hpp"
#include "simt/contraction_case.hpp"

using namespace ricci;
using kernel::AtomType;

namespace {

/// PTX: "Matrix fragments for mma.m16n8k16 with .s8 type". Four neighbours along k are one register.
constexpr kernel::Fragment kA = kernel::atoms::of_a(AtomType::i8, 16, 16, 8, 4, {{{0, 1}, {0, 2}, {8, 0}}});
constexpr kernel::Fragment kB = kernel::atoms::of_b(AtomType::i8, 16, 4, 4, {{{1, 0}, {2, 0}}});
const kernel::AddedAtom kBytes = {{"m16n8k16_i8", 16, 8, 16, 80, kA, kB, kernel::atoms::of_c(AtomType::i32, 16)},
                                  "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"};

const bool kAdded = (kernel::add(kBytes), true);

simt::ContractionCase made() {
  return {simt::problem_of("ad,bd->ab", {{'a', 70}, {'b', 40}, {'d', 48}}, {DType::i8, DType::i8, DType::i32}),
          kernel::parse_directives(
              "tile a:32; tile b:16; order task a0 sum b0; stage A at b0 async a b pad 16; stage B at b0 async c b pad "
              "16; atom m16n8k16_i8 rows a columns c depth b warps 2x1 runs 1x1x4; pipeline b0 2")};
}

}  // namespace

TEST_CASE("an atom from outside multiplies on the kernel interpreter and the simulator") {
  REQUIRE(kAdded);
  CHECK(kernel::find_atom("m16n8k16_i8")->k == 16);
  auto kernel = made();
  INFO(kernel.source.text);
  CHECK(kernel.source.text.find("mma_m16n8k16_i8(") != std::string::npos);
  bool same = false;
  kernel.interpreted(1, same);
  CHECK(same);
  for (const std::uint64_t seed : {0, 1, 2}) CHECK(kernel.wrong(seed).empty());
}

TEST_CASE("the instruction of an atom from outside compiles") {
  if (jit::cuda_compiler_version().empty()) {
    WARN("[SKIP] no NVRTC");
    return;
  }
  const auto kernel = made();
  jit::CudaCompileOptions options;
  options.sm = 90;
  INFO(kernel.full());
  CHECK(jit::compile_cuda(kernel.full(), "contraction", options).registers > 0);
}

TEST_CASE("atoms that do not hold their elements once are refused, and names that are taken") {
  CHECK_THROWS_AS(kernel::add(kBytes), InternalError);
  auto known = kBytes;
  known.atom.name = "m16n8k32_i8";
  CHECK_THROWS_AS(kernel::add(known), InternalError);
  auto twice = kBytes;
  twice.atom.name = "m16n8k16_twice";
  twice.atom.a = kernel::atoms::of_a(AtomType::i8, 16, 16, 8, 4, {{{0, 1}, {0, 2}, {0, 2}}});
  CHECK_THROWS_AS(kernel::add(twice), InternalError);
}
