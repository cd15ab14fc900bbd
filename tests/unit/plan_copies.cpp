// Which operands of a contraction on a GPU are copied into another order first.
#include "runtime/copies.hpp"

#include "catch.hpp"
#include "contraction_program.hpp"
#include "plan/models/device_model.hpp"

namespace plan_copies_test {

using namespace ricci;

// Rows of 23 are no whole lines: a copy of the second operand's is one whatever it saves, while the first one's is
// priced with it.
TEST_CASE("an operand is copied once where both are priced together") {
  auto program =
      tests::contraction("gac,fgbed->fedcba", {{23, 23, 23}, {8, 23, 23, 23, 23}, {8, 23, 23, 23, 23, 23}}, DType::f32);
  program.precision = Precision::tf32;
  runtime::Predictions predictions(plan::GpuModel::of_capability(90), Precision::tf32);
  const auto sequence = ir::sequence_of(program);
  const auto copied = runtime::with_copies(sequence, predictions, -1);
  CHECK(copied.steps.size() <= 3);
  CHECK(predictions.us(copied) <= predictions.us(sequence));
}

}  // namespace plan_copies_test
