// Random sums of products of more than two tensors, of a tensor with itself and of several products, and of tensors
// read in windows, as the steps that a GPU has for them, on the simulator: the interpreter's bits, of numbers that no
// order of a sum rounds, without a fault.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_products.hpp"
#include "fuzz/random_windows.hpp"
#include "fuzz/simt_sequence.hpp"
#include "ir/passes/distinct_factors.hpp"
#include "ir/passes/half_parts.hpp"
#include "ir/passes/masked_factors.hpp"
#include "ir/passes/products_apart.hpp"
#include "ir/passes/simpler_products.hpp"
#include "ir/passes/sums_apart.hpp"
#include "lower/lower_program.hpp"
#include "runtime/repeated_steps.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/sequences.hpp"
#include "runtime/windows.hpp"

namespace products_simt_test {

using namespace ricci;

namespace {

/// The program's text, or one that adds its value to what the output holds.
std::string text_of(const fuzz::Products& products, std::mt19937_64& random) {
  auto text = products.text;
  if (random() % 3 != 0) return text;
  text.replace(text.find("output C"), std::strlen("output"), "inout");
  const auto value = text.rfind("C(i, j) = ");
  return text.replace(value, std::strlen("C(i, j) ="), random() % 2 == 0 ? "C(i, j) +=" : "C(i, j) -=");
}

/// What a plan has, or all sums and products apart whatever they are predicted to take.
ir::Sequence steps_of(const ir::Sequence& lowered, bool planned) {
  Plan::Impl plan;
  PlanOptions options;
  options.device = Device::gpu;
  options.target_sm = 90;
  plan.target = runtime::target_of(options);
  runtime::Predictions predictions(plan.gpu_model(), Precision::operands);
  auto sequence = ir::distinct_factors(lowered);
  if (planned) {
    auto made = runtime::steps_instead(sequence, plan, &predictions);
    return made ? std::move(*made) : sequence;
  }
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    const auto behind = sequence.steps.size() - k - 1;
    if (auto masked = ir::masked_factors(sequence, k)) {
      sequence = std::move(*masked);
      k = sequence.steps.size() - behind - 1;
    }
    if (auto sums = ir::sums_apart(sequence, k)) {
      sequence = std::move(*sums);
      --k;
      continue;
    }
    if (auto ways = ir::products_apart(sequence, k); !ways.empty()) sequence = std::move(ways.back());
    k = sequence.steps.size() - behind - 1;
  }
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    const auto behind = sequence.steps.size() - k - 1;
    if (auto ways = runtime::windows_reordered(sequence, k, -1); !ways.empty()) sequence = std::move(ways.back());
    k = sequence.steps.size() - behind - 1;
  }
  for (const auto& in_other_types : {ir::simpler_products, ir::half_parts})
    if (auto other = in_other_types(sequence)) sequence = std::move(*other);
  return runtime::without_repeats(std::move(sequence), predictions, -1);
}

template <class Function>
Function of_type(DType type, Function f32, Function i32, Function f64, Function bf16) {
  if (type == DType::bf16) return bf16;
  return part_type(type) == DType::f32 ? f32 : type == DType::i32 ? i32 : f64;
}

/// Zeros of either sign are the same number.
template <class Real>
bool same(const unsigned char* x, const unsigned char* y, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(Real)) {
    Real of_x, of_y;
    std::memcpy(&of_x, x + at, sizeof of_x);
    std::memcpy(&of_y, y + at, sizeof of_y);
    if (of_x != of_y) return false;
  }
  return true;
}

/// Products of two factors have nine significant bits, more than a bf16; sums are exact in f32. What sums are
/// multiplied with is whole.
template <std::size_t Numbers>
void fill_halves(std::vector<unsigned char>& memory, std::mt19937_64& random) {
  constexpr std::uint16_t kNumbers[] = {0, 0x3f80, 0xbf80, 0x3f88, 0xbf88};  // 0, 1, -1, 17/16, -17/16
  for (std::size_t at = 0; at + sizeof(std::uint16_t) <= memory.size(); at += sizeof(std::uint16_t))
    std::memcpy(&memory[at], &kNumbers[random() % Numbers], sizeof(std::uint16_t));
}

template <class Real>
void fill(std::vector<unsigned char>& memory, std::mt19937_64& random) {
  for (std::size_t at = 0; at + sizeof(Real) <= memory.size(); at += sizeof(Real)) {
    const auto value = static_cast<Real>(static_cast<int>(random() % 3) - 1);
    std::memcpy(&memory[at], &value, sizeof value);
  }
}

struct Counts {
  int apart = 0, in_place = 0, in_parts = 0;
};

std::string random_products(std::mt19937_64& random) {
  constexpr int kLongest = 60, kShortest = 6;
  const fuzz::Products products(random, kLongest, kShortest, random() % 2 == 0, true);
  return text_of(products, random);
}

std::string random_windows(std::mt19937_64& random) { return fuzz::Windows(random).text; }

/// The steps on the simulator, with memory of tensors as the interpreter found it.
void compare(const ir::Sequence& lowered, const ir::Sequence& sequence, std::mt19937_64& random, std::uint64_t seed) {
  const auto is_workspace = [](const ir::Storage& storage) { return storage.role == ir::Role::workspace; };
  const auto tensors = static_cast<std::size_t>(
      std::find_if(lowered.storages.begin(), lowered.storages.end(), is_workspace) - lowered.storages.begin());
  std::vector<std::vector<unsigned char>> memory;
  for (const auto& storage : lowered.storages) {
    auto& bytes = memory.emplace_back(static_cast<std::size_t>((storage.last + 1) * size_of(storage.type)));
    of_type(storage.type, &fill<float>, &fill<std::int32_t>, &fill<double>,
            storage.name.size() > 1 ? &fill_halves<5> : &fill_halves<3>)(bytes, random);
  }
  auto want = memory;
  std::vector<void*> pointers;
  for (auto& bytes : want) pointers.push_back(bytes.data());
  ir::interpret(lowered, pointers, {});

  std::vector<std::unique_ptr<fuzz::Line[]>> lines;
  std::vector<fuzz::Area> areas;
  for (std::size_t k = 0; k < tensors; ++k) {
    const auto& bytes = memory[k];
    auto& line = lines.emplace_back(std::make_unique<fuzz::Line[]>(bytes.size() / sizeof(fuzz::Line) + 1));
    std::memcpy(line[0].at, bytes.data(), bytes.size());
    areas.push_back({line[0].at, bytes.size(), line[0].at});
  }
  const auto workspace = fuzz::add_workspace(sequence, areas);
  for (const auto& step : sequence.steps) {
    const auto fault = fuzz::run_step(step, areas, {}, seed);
    if (!fault.empty()) FAIL(fault);
  }
  for (std::size_t k = 0; k < tensors; ++k) {
    INFO(lowered.storages[k].name);
    const auto is_same =
        of_type(lowered.storages[k].type, &same<float>, &same<std::int32_t>, &same<double>, &same<std::uint16_t>);
    REQUIRE(is_same(areas[k].begin, want[k].data(), want[k].size()));
  }
}

void check(std::uint64_t seed, std::string (*text_of)(std::mt19937_64&), Counts& counts) {
  std::mt19937_64 random(seed);
  const auto text = text_of(random);
  INFO("seed " << seed << "\n" << text);
  const auto lowered = ir::lower(Program::parse(text));
  const auto sequence = steps_of(lowered, random() % 2 == 0);
  const auto is_workspace = [](const ir::Storage& storage) { return storage.role == ir::Role::workspace; };
  counts.apart += sequence.steps.size() > lowered.steps.size() ? 1 : 0;
  const bool no_more = std::none_of(sequence.storages.begin(), sequence.storages.end(), is_workspace);
  counts.in_parts += std::any_of(sequence.storages.begin(), sequence.storages.end(),
                                 [](const ir::Storage& storage) { return storage.name.starts_with("parts"); });
  counts.in_place += no_more && sequence.steps.size() > lowered.steps.size() ? 1 : 0;

  compare(lowered, sequence, random, seed);
}

Counts check_all(std::uint64_t first, int count, std::string (*text_of)(std::mt19937_64&)) {
  Counts counts;
  for (int n = 0; n < count; ++n) {
    const auto seed = first + static_cast<std::uint64_t>(n);
    try {
      check(seed, text_of, counts);
    } catch (const Error& error) {
      FAIL("seed " << seed << ": " << error.what());
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("random sums of products as a GPU's steps are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(890001);
  const int count = fuzz::cases(30);
  const auto counts = check_all(first, count, &random_products);
  std::printf(
      "%d random sums of products from seed %llu on the simulator: %d in more steps, %d of them in place, "
      "%d with parts of bf16\n",
      count, static_cast<unsigned long long>(first), counts.apart, counts.in_place, counts.in_parts);
  if (fuzz::enough(count)) CHECK((counts.apart > count / 6 && counts.in_place > 0));
  constexpr int kMany = 200;
  if (count >= kMany) CHECK(counts.in_parts > 0);
}

TEST_CASE("a sum over an index that one factor alone has is the interpreter's by every candidate") {
  const struct {
    const char *type, *first, *second;
  } rows[] = {{"bf16", "p, i, k", "j, k"}, {"bf16", "i, k, p", "k, j"}, {"bf16", "i, p, k", "j, k"},
              {"f64", "p, i, k", "k, j"},  {"f32", "k, p, i", "j, k"},  {"c64", "p, k, i", "k, j"}};
  const auto first = fuzz::first_seed(895001);
  for (const auto& [type, a, b] : rows) {
    const auto text = fmt::format(
        "index i = 64\nindex j = 72\nindex k = 64\nindex p = 2\ninput A({}) : {}\ninput B({}) : {}\n"
        "output C(i, j) : {}\nC(i, j) = sum(p k, A({}) * B({}))\n",
        a, type, b, type, std::string(type) == "bf16" ? "f32" : type, a, b);
    INFO(text);
    const auto lowered = ir::lower(Program::parse(text));
    const auto program = ir::canonicalise(lowered.steps.at(0).program);
    const auto count = plan::candidates(program, plan::GpuModel::of_capability(90)).size();
    CHECK(count > 10);
    std::mt19937_64 random(first);
    const auto every = std::max<std::size_t>(count / static_cast<std::size_t>(fuzz::cases(8)), 1);
    for (std::size_t k = first % every; k < count; k += every) compare(lowered, lowered, random, 3 * k + 1);
  }
}

TEST_CASE("random programs that read in windows as a GPU's steps are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(895001);
  const int count = fuzz::cases(30);
  const auto counts = check_all(first, count, &random_windows);
  std::printf("%d random programs that read in windows from seed %llu on the simulator: %d in more steps\n", count,
              static_cast<unsigned long long>(first), counts.apart);
}

}  // namespace products_simt_test
