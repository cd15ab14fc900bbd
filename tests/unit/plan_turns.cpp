// Contractions in half types whose one operand is small: blocks make several tiles in turns where that is predicted to
// pay.
#include <string>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "kernel/schedule.hpp"
#include "plan/enumerate/contraction.hpp"

namespace plan_turns_test {

using namespace ricci;

TEST_CASE("a small operand stays while blocks make tiles of the other one in turns") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto turns = [&](const char* spec, const std::vector<std::vector<std::int64_t>>& extents, DType type) {
    auto best = plan::best_contraction(tests::contraction(spec, extents, type), device);
    best->whole();
    const auto text = kernel::print(best->schedule);
    INFO(text);
    CHECK((text.find(" serial ") != std::string::npos) == (best->counts->turns > 1));
    return best->counts->turns;
  };
  for (const auto type : {DType::bf16, DType::f16}) {
    CHECK(turns("ab,cb->ac", {{592704, 96}, {96, 96}, {592704, 96}}, type) > 1);
    CHECK(turns("abc,db->adc", {{84, 96, 8064}, {84, 96}, {84, 84, 8064}}, type) > 1);
  }
  // Products of wider types take too long, no blocks make whole tiles of a prime number, or there are few of them.
  CHECK(turns("ab,cb->ac", {{592704, 96}, {96, 96}, {592704, 96}}, DType::f32) == 1);
  CHECK(turns("ab,cb->ac", {{592693, 96}, {96, 96}, {592693, 96}}, DType::bf16) == 1);
  CHECK(turns("ab,cb->ac", {{1024, 96}, {96, 96}, {1024, 96}}, DType::bf16) == 1);
}

}  // namespace plan_turns_test
