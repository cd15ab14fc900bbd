// Slices: steps carried out block by block compute what they did, with workspace of one block.
#include "ir/passes/slice.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ir/passes/shorten.hpp"
#include "lower/lower_program.hpp"
#include "ricci/error.hpp"

namespace ir_slice_test {

using namespace ricci;

namespace {

ir::Sequence lowered(const std::string& text) { return ir::lower(Program::parse(text)); }

/// Of small whole numbers, of which every sum is exact: what is in the tensors after a run, and nothing of workspace.
std::vector<std::vector<double>> computed(const ir::Sequence& sequence) {
  std::vector<std::vector<double>> memory;
  std::vector<void*> pointers;
  for (const auto& storage : sequence.storages) {
    auto& values = memory.emplace_back(static_cast<std::size_t>(storage.last + 1), -1e6);
    for (std::size_t k = 0; k < values.size() && storage.role != ir::Role::workspace; ++k)
      values[k] = static_cast<double>((7 * k + memory.size()) % 5) - 2;
    pointers.push_back(values.data());
  }
  ir::interpret(sequence, pointers, {});
  std::vector<std::vector<double>> tensors;
  for (std::size_t k = 0; k < memory.size(); ++k) {
    if (sequence.storages[k].role != ir::Role::workspace) tensors.push_back(std::move(memory[k]));
  }
  return tensors;
}

int storage_named(const ir::Sequence& sequence, const std::string& name) {
  for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
    if (sequence.storages[k].name == name) return static_cast<int>(k);
  }
  FAIL("no storage " << name);
  return -1;
}

/// Of the first step that writes the storage.
int index_named(const ir::Sequence& sequence, int storage, const std::string& name) {
  for (const auto& step : sequence.steps) {
    for (std::size_t b = 0; b < step.storage.size(); ++b) {
      if (step.storage[b] != storage || !step.program.buffers[b].written) continue;
      for (const int q : ir::slice_indices(sequence, storage)) {
        if (step.program.indices[static_cast<std::size_t>(q)].name == name) return q;
      }
      return -1;
    }
  }
  return -1;
}

std::optional<ir::Sequence> sliced(const ir::Sequence& sequence, const std::string& tensor, const std::string& index,
                                   std::int64_t block) {
  const int storage = storage_named(sequence, tensor);
  const int q = index_named(sequence, storage, index);
  if (q < 0) return std::nullopt;
  return ir::sliced(sequence, storage, q, block);
}

const std::string kAttention =
    "index b = 3; index h = 2; index q = 6; index k = 5; index d = 4\n"
    "input Q(b, h, q, d) : f64; input K(b, h, k, d) : f64; input V(b, h, k, d) : f64\n"
    "temp S(b, h, q, k) : f64; temp M(b, h, q) : f64; temp P(b, h, q, k) : f64; output O(b, h, q, d) : f64\n"
    "S(b, h, q, k) = sum(d, Q(b, h, q, d) * K(b, h, k, d))\n"
    "M(b, h, q) = maximum(k, S(b, h, q, k))\n"
    "P(b, h, q, k) = S(b, h, q, k) - M(b, h, q)\n"
    "O(b, h, q, d) = sum(k, P(b, h, q, k) * V(b, h, k, d))\n";
const std::string kEnergy =
    "index i j = 6; index a c = 4; index p = 3\n"
    "input B(p, i, a) : f64; input e(i) : f64; temp V(i, a, j, c) : f64; output E() : f64\n"
    "V(i, a, j, c) = sum(p, B(p, i, a) * B(p, j, c))\n"
    "E() = sum(i a j c, V(i, a, j, c) * (2 * V(i, a, j, c) - V(i, c, j, a)) * (e(i) + e(j)))\n";
const std::string kRows =
    "index i j = 6; index k = 2\n"
    "input x(i, k) : f64; input y(j, k) : f64; input v(j) : f64; temp D(i, j) : f64; inout z(i) : f64\n"
    "D(i, j) = sum(k, (x(i, k) - y(j, k)) * (x(i, k) - y(j, k)))\n"
    "z(i) += 3 * sum(j, D(i, j) * v(j))\n";
const std::string kBetween =
    "index i j k = 6\n"
    "input A(i, k) : f64; input B(k, j) : f64; temp T(i, j) : f64; temp U(k, j) : f64; output R(i, j) : f64; output "
    "S(j) : f64\n"
    "T(i, j) = sum(k, A(i, k) * B(k, j))\n"
    "U(k, j) = sum(i, A(i, k) * B(i, j))\n"
    "S(j) = sum(i, T(i, j))\n"
    "R(i, j) = sum(k, T(i, k) * U(k, j))\n";

}  // namespace

TEST_CASE("intermediates hold one block of a slice") {
  const struct {
    const std::string& text;
    const char *tensor, *index;
    std::int64_t block;
    std::size_t steps;
    std::vector<std::pair<const char*, std::int64_t>> elements;
  } rows[] = {
      {kAttention, "S", "b", 1, 4, {{"S", 60}, {"P", 60}, {"M", 12}}},
      {kAttention, "S", "h", 1, 4, {{"S", 90}, {"P", 90}, {"M", 18}}},
      {kAttention, "S", "q", 2, 4, {{"S", 60}, {"P", 60}, {"M", 12}}},
      {kAttention, "S", "q", 4, 4, {{"S", 120}, {"P", 120}, {"M", 24}}},  // blocks of 0 .. 3 and 2 .. 5
      {kEnergy, "V", "i", 2, 2, {{"V", 192}}},
      {kEnergy, "V", "j", 3, 2, {{"V", 288}}},
      {kRows, "D", "i", 3, 2, {{"D", 18}}},
      {kRows, "D", "j", 2, 2, {{"D", 12}}},
      {kBetween, "T", "i", 2, 3, {{"T", 12}, {"U", 36}}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text, row.tensor, row.index, row.block);
    const auto whole = lowered(row.text);
    const auto made = sliced(whole, row.tensor, row.index, row.block);
    REQUIRE(made);
    REQUIRE(made->slices.size() == 1);
    CHECK(made->slices[0].last - made->slices[0].first == row.steps);
    for (const auto& [name, elements] : row.elements) {
      CHECK(made->storages[static_cast<std::size_t>(storage_named(*made, name))].last + 1 == elements);
    }
    CHECK(computed(*made) == computed(whole));
  }
}

TEST_CASE("what needs more than its block is not sliced") {
  const auto attention = lowered(kAttention);
  CHECK_FALSE(sliced(attention, "S", "k", 1));  // P needs the maximum over all
  const auto energy = lowered(kEnergy);
  CHECK_FALSE(sliced(energy, "V", "a", 2));  // V(i, c, j, a) is in another block
  CHECK_FALSE(sliced(energy, "V", "i", 4));  // the second block would add what the first one did
  CHECK_FALSE(sliced(lowered(kRows), "D", "j", 4));
  CHECK_FALSE(sliced(lowered(kRows), "D", "i", 5));  // z adds to what was there
  CHECK_FALSE(sliced(lowered("exact\n" + kRows), "D", "j", 2));
  CHECK(sliced(lowered("exact\n" + kRows), "D", "i", 2));
  const std::string declared = "index i j k = 4\ninput A(i, j) : f64; temp T(i, j) : f64; output R(i, j) : f64\n";
  CHECK_FALSE(sliced(lowered(declared + "T(i, j) = A(i, j) + i\nR(i, j) = 2 * T(i, j)"), "T", "i", 2));
  CHECK_FALSE(sliced(lowered(declared + "T(i, j) = A(i, j)\nR(i, j) = sum(k, diag(T(k, k))) + A(i, j)"), "T", "i", 2));
  CHECK_FALSE(sliced(lowered(declared + "T(i, j) = A(i, j)\nR(i, j) = scan(sum, j, T(i, j))"), "T", "i", 2));
}

TEST_CASE("a slice along two indices has two loops") {
  for (const auto& [text, tensor, first, second] : {std::tuple{kAttention, "S", "b", "h"},
                                                    {kAttention, "S", "b", "q"},
                                                    {kEnergy, "V", "i", "j"},
                                                    {kRows, "D", "j", "i"}}) {
    CAPTURE(text, tensor, first, second);
    const auto whole = lowered(text);
    const auto once = sliced(whole, tensor, first, 1);
    REQUIRE(once);
    const auto twice = sliced(*once, tensor, second, 2);
    REQUIRE(twice);
    REQUIRE(twice->slices.size() == 1);
    CHECK(twice->slices[0].loops.size() == 2);
    CHECK(twice->workspace_bytes() <= once->workspace_bytes());
    CHECK(computed(*twice) == computed(whole));
  }
}

TEST_CASE("every slice that is made computes what the whole does") {
  int made = 0;
  for (const auto& text : {kAttention, kEnergy, kRows, kBetween}) {
    const auto whole = lowered(text);
    const auto want = computed(whole);
    for (std::size_t k = 0; k < whole.storages.size(); ++k) {
      if (whole.storages[k].role != ir::Role::workspace) continue;
      for (const int q : ir::slice_indices(whole, static_cast<int>(k))) {
        for (std::int64_t block = 1; block <= 6; ++block) {
          for (const double share : {0.0, 0.25, 2.0}) {
            const auto one = ir::sliced(whole, static_cast<int>(k), q, block, share);
            if (!one) continue;
            ++made;
            CAPTURE(text, whole.storages[k].name, q, block, share);
            CHECK(computed(*one) == want);
          }
        }
      }
    }
  }
  CHECK(made > 100);
}

TEST_CASE("slices are verified") {
  const auto right = *sliced(lowered(kRows), "D", "i", 2);
  const auto broken = [&](const auto& change) {
    auto one = right;
    change(one);
    CHECK_THROWS_AS(ir::verify(one), InternalError);
  };
  CHECK_NOTHROW(ir::verify(right));
  broken([](ir::Sequence& one) { one.slices.clear(); });
  broken([](ir::Sequence& one) { one.slices[0].last = 9; });
  broken([](ir::Sequence& one) { one.slices[0].first = one.slices[0].last; });
  broken([](ir::Sequence& one) { one.slices.push_back(one.slices[0]); });
  broken([](ir::Sequence& one) { one.slices[0].loops.clear(); });
  broken([](ir::Sequence& one) { one.slices[0].loops[0].block = 0; });
  broken([](ir::Sequence& one) { one.slices[0].loops[0].extent = 8; });  // beyond the tensors
  broken([](ir::Sequence& one) { one.steps[0].advance[0].pop_back(); });
  broken([](ir::Sequence& one) { one.steps[0].advance.emplace_back(one.steps[0].storage.size()); });
  broken([](ir::Sequence& one) { one.steps[0].program.buffers[0].alignment = 1024; });
}

TEST_CASE("what a slice reads and what comes out of it is in workspace for all of its blocks") {
  const auto whole = lowered(
      "index i j = 64\ninput A(i, j) : f64; temp B(j) : f64; temp T(i, j) : f64; temp U(i, j) : f64; output R(i) : "
      "f64\n"
      "B(j) = sum(i, A(i, j))\nT(i, j) = A(i, j) + B(j)\nU(i, j) = T(i, j) * A(j, i)\nR(i) = sum(j, U(i, j) * T(i, "
      "j))");
  const auto made = sliced(whole, "T", "i", 8);
  REQUIRE(made);
  CHECK(made->workspace_bytes() >= 64 * 8 + 2 * 64 * 8 * 8);  // B, T and U
  CHECK(made->workspace_bytes() < whole.workspace_bytes() / 4);
}

}  // namespace ir_slice_test
