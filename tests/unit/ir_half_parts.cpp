// Partial results in parts of bf16: the sums that they are of are the same, to the last bit where f32 holds them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ir/passes/half_parts.hpp"
#include "ir/passes/products_apart.hpp"
#include "lower/lower_program.hpp"

namespace ir_half_parts_test {

using namespace ricci;

namespace {

/// The steps of a program, with its products of more than two tensors pair by pair.
ir::Sequence steps_of(const std::string& text) {
  auto sequence = ir::lower(Program::parse(text));
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    const auto steps = sequence.steps.size();
    if (auto ways = ir::products_apart(sequence, k); !ways.empty()) sequence = std::move(ways.back());
    k += sequence.steps.size() - steps;
  }
  return sequence;
}

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// What the output of a sequence is, of random inputs of a type: f32 of f32, else bf16.
std::vector<float> computed(const ir::Sequence& sequence) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<std::vector<char>> memory;
  std::vector<void*> pointers;
  std::vector<float> result;
  for (const auto& storage : sequence.storages) {
    const auto elements = static_cast<std::size_t>(storage.last + 1);
    auto& bytes = memory.emplace_back(elements * static_cast<std::size_t>(size_of(storage.type)));
    pointers.push_back(bytes.data());
    if (storage.role == ir::Role::output) {
      result.resize(elements);
      pointers.back() = result.data();
    }
    if (storage.role != ir::Role::input) continue;
    for (std::size_t k = 0; k < elements; ++k) {
      const float value = values(random);
      if (storage.type == DType::f32)
        reinterpret_cast<float*>(bytes.data())[k] = value;
      else
        reinterpret_cast<std::uint16_t*>(bytes.data())[k] = to_half(value);
    }
  }
  ir::interpret(sequence, pointers, {});
  return result;
}

std::int64_t part_extent(const ir::Sequence& sequence) {
  for (const auto& step : sequence.steps) {
    for (const auto& index : step.program.indices) {
      if (index.name == "part") return index.extent;
    }
  }
  return 0;
}

std::string text_of(const char* types, const char* declared, const char* sum) {
  return std::string("index i = 12\nindex j = 10\nindex k = 40\nindex l = 9\n") + declared +
         "output C(i, j) : " + types + "\nC(i, j) = " + sum + "\n";
}

}  // namespace

TEST_CASE("a product of two bf16 tensors is two parts, anything else three, and nothing is lost") {
  const struct {
    const char *declared, *sum;
    std::int64_t parts;
  } rows[] = {
      {"input A(i, k) : bf16\ninput D(k) : bf16\ninput B(k, j) : bf16\n", "sum(k, A(i, k) * D(k) * B(k, j))", 2},
      {"input A(i, k) : bf16\ninput D(i, k) : f32\ninput B(k, j) : bf16\n", "sum(k, A(i, k) * D(i, k) * B(k, j))", 3},
      {"input A(i, k) : bf16\ninput D(k, l) : bf16\ninput B(j, l) : bf16\n", "sum(k l, A(i, k) * D(k, l) * B(j, l))",
       3},
  };
  for (const auto& [declared, sum, parts] : rows) {
    INFO(sum);
    const auto whole = steps_of(text_of("f32", declared, sum));
    const auto made = ir::half_parts(whole);
    REQUIRE(made);
    CHECK(part_extent(*made) == parts);
    const auto names = [](const ir::Sequence& sequence) {
      std::vector<std::string> all;
      for (const auto& storage : sequence.storages) all.push_back(storage.name);
      return all;
    };
    CHECK(names(*made).size() <= names(whole).size() + 1);
    const auto want = computed(whole), found = computed(*made);
    for (std::size_t k = 0; k < want.size(); ++k) {
      INFO(k << ": " << want[k] << ", " << found[k]);
      REQUIRE(std::abs(want[k] - found[k]) <= 4e-6f);  // 120 roundings of sums below 4; a part alone is off by 1e-3
    }
  }
}

TEST_CASE("products stay whole that are exact, of other types, or used elsewhere") {
  const auto stays = [](const std::string& text) { return !ir::half_parts(steps_of(text)); };
  CHECK(stays(text_of("f32", "input A(i, k) : f32\ninput D(k) : f32\ninput B(k, j) : f32\n",
                      "sum(k, A(i, k) * D(k) * B(k, j))")));
  CHECK(stays(text_of("f64", "input A(i, k) : bf16\ninput D(k) : f64\ninput B(k, j) : bf16\n",
                      "sum(k, A(i, k) * D(k) * B(k, j))")));
  CHECK(stays(text_of("f32", "exact\ninput A(i, k) : bf16\ninput D(k) : bf16\ninput B(k, j) : bf16\n",
                      "sum(k, A(i, k) * D(k) * B(k, j))")));
  const std::string twice =
      "index i = 12\nindex j = 10\nindex k = 40\ninput A(i, k) : bf16\ninput D(k) : bf16\ninput B(k, j) : bf16\n"
      "temp T(i, k) : f32\noutput C(i, j) : f32\noutput S(i) : f32\nT(i, k) = A(i, k) * D(k)\n"
      "C(i, j) = sum(k, T(i, k) * B(k, j))\nS(i) = sum(k, T(i, k))\n";
  CHECK(stays(twice));
}

}  // namespace ir_half_parts_test
