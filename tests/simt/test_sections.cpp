// Groups of contractions on a GPU as they are planned: executed on the simulator without a fault, equal to the
// interpreter.
#include <algorithm>
#include <string>

#include "catch.hpp"
#include "lower/lower_program.hpp"
#include "plan/enumerate/contraction.hpp"
#include "ricci/program.hpp"
#include "simt/contraction_case.hpp"

namespace test_sections {

using namespace ricci;

namespace {

/// Eight products of CCSD(T)'s triples: holes i, j and k each beside the two others.
std::string triples(const std::string& extents) {
  return extents +
         "input t(p, q, q, l) : f64\ninput v(l, q, p, p) : f64\ninput s(p, p, q, d) : f64\ninput w(q, q, p, d) : f64\n"
         "inout t3(a, b, c, i, j, k) : f64\n"
         "t3(a, b, c, i, j, k) -= sum(l, t(i+0, b+0, a+0, l) * v(l, c+0, j+0, k+0))\n"
         "t3(a, b, c, i, j, k) += sum(l, t(j+0, b+0, a+0, l) * v(l, c+0, i+0, k+0))\n"
         "t3(a, b, c, i, j, k) -= sum(l, t(k+0, b+0, a+0, l) * v(l, c+0, i+0, j+0))\n"
         "t3(a, b, c, i, j, k) -= sum(l, t(j+0, c+0, b+0, l) * v(l, a+0, i+0, k+0))\n"
         "t3(a, b, c, i, j, k) -= sum(d, s(j+0, i+0, a+0, d) * w(b+0, c+0, k+0, d))\n"
         "t3(a, b, c, i, j, k) += sum(d, s(k+0, i+0, b+0, d) * w(a+0, c+0, j+0, d))\n"
         "t3(a, b, c, i, j, k) += sum(d, s(k+0, j+0, a+0, d) * w(b+0, c+0, i+0, d))\n"
         "t3(a, b, c, i, j, k) += sum(d, s(k+0, j+0, c+0, d) * w(a+0, b+0, i+0, d))\n";
}

/// Whole tiles; tiles, chunks and rounds that are not full; indices shorter than a tile may be.
const std::string kExtents[] = {
    "index i j k = 8\nindex a b c = 4\nindex l d = 8\nindex p = 8\nindex q = 4\n",
    "index i = 9\nindex j = 7\nindex k = 6\nindex a = 3\nindex b = 5\nindex c = 2\nindex l = 12\nindex d = 20\n"
    "index p = 9\nindex q = 5\n",
    "index i j k = 5\nindex a b c = 3\nindex l = 3\nindex d = 32\nindex p = 5\nindex q = 4\n",
};

ir::Canonical program_of(const std::string& text) {
  return ir::canonicalise(ir::lower(Program::parse(text)).steps.front().program);
}

}  // namespace

TEST_CASE("planned groups of products are the interpreter's") {
  std::uint64_t seed = 0;
  for (const auto& extents : kExtents) {
    INFO(extents);
    const auto program = program_of(triples(extents));
    const auto list = plan::group_candidates(program, plan::GpuModel{});
    REQUIRE(!list.empty());
    for (const auto& candidate : list) {
      INFO(candidate.schedule.name << "\n" << kernel::print(candidate.schedule));
      simt::ContractionCase kernel(program, candidate.schedule.directives);
      // Two holes are on different sides of all products but those of the third: sums change lanes once.
      const auto changes = std::count_if(kernel.tree.arrays.begin(), kernel.tree.arrays.end(),
                                         [](const kernel::Array& array) { return array.name == "exchanged"; });
      CHECK(changes == 1);
      for (const auto order : {simt::Order::forward, simt::Order::reverse, simt::Order::random})
        REQUIRE(kernel.wrong(++seed, order).empty());
      // Of the copies, that which is gathered along its own side writes with conflicts.
      simt::Report report;
      REQUIRE(kernel.wrong(++seed, &report).empty());
      CHECK(static_cast<double>(report.shared.wavefronts) <= 1.6 * static_cast<double>(report.shared.ideal));
    }
  }
}

}  // namespace test_sections
