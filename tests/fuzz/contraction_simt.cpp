// Random contractions in random axis orders, scheduled by a candidate for a GPU drawn at random: on the simulator the
// interpreter's values, without a fault.
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/random_gpu_contraction.hpp"
#include "fuzz/random_problem.hpp"
#include "kernel/atom_types.hpp"
#include "plan/enumerate/contraction.hpp"
#include "ricci/error.hpp"
#include "simt/contraction_case.hpp"

using namespace ricci;

TEST_CASE("random contractions on the simulator are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(510001);
  const int count = fuzz::cases(100);
  int run = 0, vectors = 0, halves = 0, bytes = 0, tf32 = 0, matrices = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const auto d = fuzz::gpu_contraction(random);
    std::string what = "seed " + std::to_string(seed) + ": " + d.text();
    try {
      auto program = d.program();
      program.precision = kernel::effective_precision(program, static_cast<Precision>(seed % 3), d.sm);
      const auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(d.sm));
      if (list.empty()) continue;
      const auto& schedule = list[seed % 2 == 0 ? 0 : random() % list.size()].schedule;
      what += "\n" + ir::print(program) + kernel::print(schedule.directives);
      simt::ContractionCase kernel(program, schedule.directives);
      const auto wrong = kernel.wrong(seed);
      if (!wrong.empty()) FAIL(what << kernel.source.text << wrong);
      ++run;
      const auto has = [&](const char* word) { return kernel.source.text.find(word) != std::string::npos ? 1 : 0; };
      halves += has("mma_m16n8k16_");
      bytes += has("mma_m16n8k32_");
      tf32 += has("m16n8k8_tf32(");
      matrices += has("load_matrix_");
      vectors += has("<16>(");
    } catch (const CompileError& error) {
      FAIL(what << error.what() << error.log());
    } catch (const Error& error) {
      FAIL(what << error.what());
    }
  }
  std::printf(
      "%d of %d random contractions from seed %llu on the simulator, %d of them copied by 16 bytes; %d of halves, "
      "%d of bytes and %d in tf32 on tensor cores, %d of them by matrix loads\n",
      run, count, static_cast<unsigned long long>(first), vectors, halves, bytes, tf32, matrices);
  if (fuzz::enough(count)) CHECK(run > count / 2);
}

TEST_CASE("random contractions by warp groups are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(520001);
  const int count = (fuzz::cases(100) + 3) / 4;
  int run = 0, lines = 0, along_sides = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const auto d = fuzz::group_contraction(random);
    std::string what = "seed " + std::to_string(seed) + ": " + d.text();
    try {
      const auto program = d.program();
      auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(90));
      std::erase_if(list, [](const auto& candidate) { return !candidate.schedule.name.starts_with("wgmma_"); });
      if (list.empty()) continue;
      const auto& schedule = list[random() % list.size()].schedule;
      what += "\n" + ir::print(program) + kernel::print(schedule.directives);
      simt::ContractionCase kernel(program, schedule.directives);
      const auto wrong = kernel.wrong(seed);
      if (!wrong.empty()) FAIL(what << kernel.source.text << wrong);
      ++run;
      lines += kernel.source.text.find("line_part") != std::string::npos ? 1 : 0;
      along_sides += kernel.source.text.find("<0, 0>(") == std::string::npos ? 1 : 0;
    } catch (const CompileError& error) {
      FAIL(what << error.what() << error.log());
    } catch (const Error& error) {
      FAIL(what << error.what());
    }
  }
  std::printf("%d of %d random contractions from seed %llu by warp groups, %d along a side, %d written by lines\n", run,
              count, static_cast<unsigned long long>(first), along_sides, lines);
  if (fuzz::enough(fuzz::cases(100))) CHECK(run > count / 4);
}

TEST_CASE("random batches of contractions side by side are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(530001);
  const int count = (fuzz::cases(100) + 1) / 2;
  int run = 0, lanes = 0, products_of_warps = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const auto d = fuzz::batch_contraction(random);
    std::string what = "seed " + std::to_string(seed) + ": " + d.text();
    try {
      const auto program = d.program();
      auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(d.sm));
      std::erase_if(
          list, [](const auto& candidate) { return candidate.schedule.name.find(" beside ") == std::string::npos; });
      if (list.empty()) continue;
      const auto& schedule = list[random() % list.size()].schedule;
      what += "\n" + ir::print(program) + kernel::print(schedule.directives);
      simt::ContractionCase kernel(program, schedule.directives);
      const auto wrong = kernel.wrong(seed);
      if (!wrong.empty()) FAIL(what << kernel.source.text << wrong);
      ++run;
      ++(schedule.name.starts_with("fma_batch") ? lanes : products_of_warps);
    } catch (const CompileError& error) {
      FAIL(what << error.what() << error.log());
    } catch (const Error& error) {
      FAIL(what << error.what());
    }
  }
  std::printf("%d of %d random batches from seed %llu side by side, %d by lanes and %d by warps\n", run, count,
              static_cast<unsigned long long>(first), lanes, products_of_warps);
  if (fuzz::enough(fuzz::cases(100))) CHECK((lanes > count / 10 && products_of_warps > count / 10));
}
