// Joined indices on a CPU: what schedules may say of them, and faults planted into such kernels.
#include <string>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "kernel/build.hpp"
#include "kernel/expand.hpp"
#include "kernel_places.hpp"

namespace kernel_joined_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// C[c][d][a][e] = sum A[a][b][c] B[b][d][e], of rows a and c and columns d and e.
ir::Program several_axes() {
  return tests::contraction("akc,kij->ciaj", {{5, 9, 3}, {9, 5, 11}, {3, 5, 5, 11}}, DType::f64);
}
const char* const kJoined =
    "join ac a c; join de d e; tile ac:4; tile de:16; order task ac0 de0; stage A at de0 scratch b ac;"
    "stage B at de0 scratch b de; atom fma rows ac columns de depth b lanes 8";
Kernel built(const char* directives) {
  const auto program = several_axes();
  return build(program, *contraction_of(program), parse_directives(directives), Target::cpu);
}
Kernel cpu_joined_tiles() { return built(kJoined); }
Kernel cpu_joined() { return expand(cpu_joined_tiles()); }
bool writes_some_lanes(const Statement& s) {
  const auto* store = std::get_if<Store>(&s.node);
  return store != nullptr && store->to.until;
}

const Fault kFaults[] = {
    {"lanes of a run past its end", cpu_joined,
     [](Kernel& k) {
       auto& until = *get<Store>(k, writes_some_lanes).to.until;
       until = until + Affine(1);
     },
     "may reach element"},
    {"lanes of a run before its begin", cpu_joined,
     [](Kernel& k) {
       auto& since =
           *get<Store>(k, [](const Statement& s) { return std::get<Store>(s.node).to.since.has_value(); }).to.since;
       since = since - Affine(200);
     },
     "before the first one"},
    {"some lanes of a register", cpu_joined, [](Kernel& k) { get<Store>(k, store_to(k, "sum")).to.until = Affine(3); },
     "has some lanes of no vector in memory"},
    {"a quotient of joined indices that is not named", cpu_joined_tiles,
     [](Kernel& k) { get<Flush>(k).quotients.pop_back(); }, "names what is not known there"},
};

}  // namespace

TEST_CASE("faults of joined indices on a CPU are found by name") {
  check_sound({cpu_joined_tiles, cpu_joined});
  check_faults(kFaults);
}

TEST_CASE("a prefetch of a single result of joined indices names them") {
  auto kernel =
      expand(built("join ac a c; join de d e; order serial ac de b; stage A at de scratch b; stage B at de scratch b;"
                   "prefetch; atom fma lanes 1"));
  CHECK(get<Prefetch>(kernel).quotients.empty());
  CHECK_NOTHROW(verify(kernel));
}

TEST_CASE("joined indices on a CPU are those of one role, staged, and of one product") {
  CHECK_NOTHROW(verify(cpu_joined()));
  const auto refused = [](const std::string& directives, const char* part) {
    CHECK_THROWS_WITH(built(directives.c_str()), Catch::Matchers::ContainsSubstring(part));
  };
  refused("join cd c d; order task a", "d and c are not of the same tensors");
  refused(
      "join ac a c; join de d e; tile ac:4; tile de:16; order task ac0 de0; stage A at de0 scratch b ac;"
      "atom fma rows ac columns de depth b lanes 8",
      "indices of B are joined, so it must be staged");
  refused("join ac a c; tile a:3; order task a0", "it is a part of ac");
}

}  // namespace kernel_joined_test
