// Random chains of reductions along rows, and results of the same rows, as one kernel that reads these once, on the
// simulator: what the interpreter does statement by statement, without a fault.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "catch.hpp"
#include "fuzz/random_rows.hpp"
#include "fuzz/rounding.hpp"
#include "fuzz/seeds.hpp"
#include "fuzz/simt_sequence.hpp"
#include "ir/passes/read_once.hpp"
#include "kernel/program/rows.hpp"
#include "lower/lower_program.hpp"

namespace rows_simt_test {

using namespace ricci;

namespace {

template <class Real>
void fill(unsigned char* memory, std::size_t bytes, std::mt19937_64& random) {
  for (std::size_t at = 0; at + sizeof(Real) <= bytes; at += sizeof(Real)) {
    const auto value = static_cast<Real>(std::uniform_int_distribution<int>(-64, 64)(random)) / static_cast<Real>(32);
    std::memcpy(memory + at, &value, sizeof value);
  }
}

/// Small numbers of 8 bits, which all types hold.
void fill(DType type, unsigned char* memory, std::size_t bytes, std::mt19937_64& random) {
  switch (part_type(type)) {
    case DType::f64:
      return fill<double>(memory, bytes, random);
    case DType::f32:
      return fill<float>(memory, bytes, random);
    case DType::i32:
      return fill<std::int32_t>(memory, bytes, random);
    default:
      for (std::size_t at = 0; at + 2 <= bytes; at += 2) {
        const auto sign = static_cast<unsigned>(random() % 2) << 15, fraction = static_cast<unsigned>(random() % 128);
        const auto bits = static_cast<std::uint16_t>(sign | (type == DType::bf16 ? 0x3f00U : 0x3800U) | fraction);
        std::memcpy(memory + at, &bits, sizeof bits);
      }
  }
}

struct Counts {
  int once = 0, rows = 0;
};

void check(std::uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  const fuzz::RowsProgram rows(random);
  INFO("seed " << seed << "\n" << rows.text);
  const auto lowered = ir::lower(Program::parse(rows.text));
  const auto has_rows = [](const ir::Program& program) { return kernel::row_of(program) >= 0; };
  const auto made = ir::computed_where_read(lowered, lowered.steps.size() - 1, has_rows);
  const auto& sequence = made ? *made : lowered;
  counts.once += sequence.steps.size() == 1 && lowered.steps.size() > 1 ? 1 : 0;
  counts.rows += has_rows(sequence.steps.back().program) ? 1 : 0;

  std::vector<std::unique_ptr<fuzz::Line[]>> lines;
  std::vector<fuzz::Area> areas;
  std::vector<void*> pointers;
  for (const auto& storage : lowered.storages) {
    if (storage.role == ir::Role::workspace) break;
    const auto bytes = static_cast<std::size_t>((storage.last + 1) * size_of(storage.type));
    auto& line = lines.emplace_back(std::make_unique<fuzz::Line[]>(bytes / sizeof(fuzz::Line) + 1));
    fill(storage.type, line[0].at, bytes, random);
    areas.push_back({line[0].at, bytes, line[0].at});
    pointers.push_back(line[0].at);
  }
  pointers.resize(lowered.storages.size());
  const auto want = fuzz::expected(lowered, pointers, {});
  const auto workspace = fuzz::add_workspace(sequence, areas);
  for (const auto& step : sequence.steps) {
    const auto fault = fuzz::run_step(step, areas, {}, seed);
    if (!fault.empty()) FAIL(fault);
  }
  if (const auto text = fuzz::compare(lowered, want, pointers); !text.empty()) FAIL(text);
}

}  // namespace

TEST_CASE("random chains of reductions along rows, in one kernel, are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(910001);
  const int count = fuzz::cases(60);
  Counts counts;
  for (int n = 0; n < count; ++n) {
    try {
      check(first + static_cast<std::uint64_t>(n), counts);
    } catch (const Error& error) {
      FAIL("seed " << first + static_cast<std::uint64_t>(n) << ": " << error.what());
    }
  }
  std::printf(
      "%d random programs of rows from seed %llu on the simulator: %d of several statements in one step, %d by rows\n",
      count, static_cast<unsigned long long>(first), counts.once, counts.rows);
  if (fuzz::enough(count)) CHECK((counts.once > count / 3 && counts.rows > count / 2));
}

}  // namespace rows_simt_test
