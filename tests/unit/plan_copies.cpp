// Which operands of a contraction on a GPU are copied into another order first.
#include "runtime/copies.hpp"

#include "catch.hpp"
#include "contraction_program.hpp"
#include "kernel/schedule.hpp"
#include "plan/enumerate/contraction.hpp"
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
  CHECK(predictions.us(copied.steps) <= predictions.us(sequence.steps));
}

// Warp groups read bytes along the depth alone, of both operands; rows of 376 are whole lines of no copy.
TEST_CASE("both operands of a product of bytes are copied for warp groups, each once") {
  runtime::Predictions predictions(plan::GpuModel::of_capability(90), Precision::i32);
  for (const auto type : {DType::i8, DType::u8}) {
    const auto program =
        tests::contraction("da,db->ab", {{2048, 2048}, {2048, 2048}, {2048, 2048}}, type, Precision::i32);
    const auto copied = runtime::with_copies(ir::sequence_of(program), predictions, -1);
    REQUIRE(copied.steps.size() == 3);
    const auto name = plan::best_contraction(copied.steps.back().program, predictions.device())->whole().schedule.name;
    CHECK(name.starts_with(type == DType::i8 ? "wgmma_i8" : "wgmma_u8"));
    const auto ragged =
        tests::contraction("da,cdb->cba", {{376, 384}, {376, 376, 384}, {376, 384, 384}}, type, Precision::i32);
    CHECK(runtime::with_copies(ir::sequence_of(ragged), predictions, -1).steps.size() <= 3);
  }
}

// Elements of two bytes in rows of an odd number of them are copied one by one, unless rows begin where maps can.
TEST_CASE("copies in half types have rows that tensor maps read") {
  const auto device = plan::GpuModel::of_capability(90);
  for (const auto type : {DType::bf16, DType::f16}) {
    const auto program = tests::contraction("ad,bd->ab", {{2000, 2001}, {2000, 2001}, {2000, 2000}}, type);
    runtime::Predictions predictions(device, Precision::operands);
    const auto copied = runtime::with_copies(ir::sequence_of(program), predictions, -1);
    REQUIRE(copied.steps.size() == 3);
    const auto& product = copied.steps.back().program;
    for (const auto& node : product.nodes) {
      if (node.kind != ir::NodeKind::load) continue;
      for (const auto stride : node.offset.coefficient) CHECK((stride <= 1 || stride * size_of(type) % 16 == 0));
    }
    CHECK(kernel::has_maps(plan::best_contraction(product, device)->whole().schedule.directives));
  }
}

// Of 2064 = 16 * 129 terms, too.
TEST_CASE("rounds of warp groups have whole rows, of which the last one may be a part") {
  for (const auto type : {DType::bf16, DType::f16}) {
    const auto program = tests::contraction("ab,cb->ac", {{2048, 2064}, {2048, 2064}, {2048, 2048}}, type);
    const auto text =
        kernel::print(plan::best_contraction(program, plan::GpuModel::of_capability(90))->whole().schedule);
    INFO(text);
    CHECK(text.find("tile b:64") != std::string::npos);
  }
}

}  // namespace plan_copies_test
