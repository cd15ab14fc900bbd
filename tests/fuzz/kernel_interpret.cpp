// Random contractions with random directives: built, expanded, verified and executed by the kernel interpreter, equal
// to the program's interpreter at every stage.
#include <cstdio>

#include "catch.hpp"
#include "fuzz/random_contraction.hpp"
#include "fuzz/random_problem.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/print.hpp"
#include "kernel/schedule.hpp"
#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace kernel_interpret_test {

using namespace ricci;

namespace {

/// What failed; nothing where nothing did. Counts the cases that are contractions.
std::string failure(std::uint64_t seed, int& contractions, int& dots) {
  constexpr int kVectorBytes[] = {16, 32, 64};
  const auto vector_bytes = kVectorBytes[seed % 3];
  auto made = fuzz::random_contraction(seed, vector_bytes, 3000);
  if (!made) return {};
  ++contractions;
  dots += made->directives.back().subject == "dot" ? 1 : 0;
  std::string shown;
  try {
    const auto want = made->einsum.expected();
    const auto before = made->einsum.tensors.back();
    const auto tiles =
        kernel::build(made->program, made->contraction, made->directives, kernel::Target::cpu, vector_bytes);
    shown = kernel::print(tiles);
    kernel::verify({{}, made->directives}, made->program, kernel::Target::cpu);
    kernel::execute(tiles, made->pointers(), made->params());
    auto difference = made->einsum.difference(want, before);
    if (!difference.empty()) return made->text() + shown + difference;
    made->einsum.tensors.back() = before;
    const auto kernel = kernel::expand(tiles);
    shown += kernel::print(kernel);
    kernel::verify(kernel);
    kernel::execute(kernel, made->pointers(), made->params());
    difference = made->einsum.difference(want, before);
    if (!difference.empty()) return made->text() + shown + "expanded: " + difference;
  } catch (const Error& error) {
    return made->text() + shown + error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("kernels of random contractions do what the interpreter does, before and after expand") {
  const auto first = fuzz::first_seed(500001);
  const int count = fuzz::cases(1500);
  int contractions = 0, dots = 0, failed = 0;
  for (int k = 0; k < count && failed < 3; ++k) {
    const auto text = failure(first + static_cast<std::uint64_t>(k), contractions, dots);
    if (text.empty()) continue;
    ++failed;
    UNSCOPED_INFO("seed " << first + static_cast<std::uint64_t>(k) << ": " << text);
  }
  CHECK(failed == 0);
  std::printf("%d contractions, %d of them by dot products, of %d random einsums from seed %llu\n", contractions, dots,
              count, static_cast<unsigned long long>(first));
  if (fuzz::enough(count)) CHECK(contractions > count / 10);
}

}  // namespace kernel_interpret_test
