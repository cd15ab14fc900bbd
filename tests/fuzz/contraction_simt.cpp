// Random contractions in random axis orders, scheduled by a candidate for a GPU drawn at random: on the simulator the
// interpreter's values, without a fault.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "fuzz/random_gpu_contraction.hpp"
#include "fuzz/random_problem.hpp"
#include "kernel/atom_types.hpp"
#include "kernel/contraction.hpp"
#include "kernel/directives.hpp"
#include "kernel/expand.hpp"
#include "kernel/schedule.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/mapped_contractions.hpp"
#include "plan/enumerate/plain.hpp"
#include "ricci/error.hpp"
#include "simt/contraction_case.hpp"

namespace contraction_simt_test {

using namespace ricci;

namespace {

struct Chosen {
  ir::Canonical program;
  kernel::Schedule schedule;
};

std::optional<Chosen> one_of(ir::Canonical program, const std::vector<plan::Candidate>& list, std::size_t number) {
  if (list.empty()) return {};
  return Chosen{std::move(program), list[number % list.size()].schedule};
}

/// A contraction that blocks of clusters may share, of which one in four is for warp groups.
auto draw_for_clusters(std::mt19937_64& random) {
  return random() % 4 == 0 ? fuzz::group_contraction(random) : fuzz::gpu_contraction(random);
}

/// Its candidates in clusters.
std::vector<plan::Candidate> of_clusters(const ir::Program& program) {
  auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(90));
  std::erase_if(list,
                [](const auto& candidate) { return candidate.schedule.name.find(" cluster ") == std::string::npos; });
  return list;
}

/// Runs a schedule for each of `count` seeds on the simulator, and fails unless it gives the interpreter's values
/// without a fault. `draw` makes a contraction, `choose` a program and a schedule of it, where there is one; `seen` is
/// shown what ran and its source. Returns how many ran.
template <class Draw, class Choose, class Seen>
int run_on_simulator(std::uint64_t first, int count, Draw draw, Choose choose, Seen seen) {
  int run = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const auto d = draw(random);
    std::string what = "seed " + std::to_string(seed) + ": " + d.text();
    try {
      const std::optional<Chosen> chosen = choose(d, seed, random);
      if (!chosen) continue;
      const auto& [program, schedule] = *chosen;
      what += "\n" + ir::print(program) + kernel::print(schedule.directives);
      simt::ContractionCase kernel(program, schedule.directives);
      const auto wrong = kernel.wrong(seed);
      if (!wrong.empty()) FAIL(what << kernel.source.text << wrong);
      ++run;
      seen(schedule, kernel.source.text);
    } catch (const CompileError& error) {
      FAIL(what << error.what() << error.log());
    } catch (const Error& error) {
      FAIL(what << error.what());
    }
  }
  return run;
}

constexpr int kCases = 30;  // of each kind or a part of it: one takes half a second

int has(const std::string& text, const char* word) { return text.find(word) != std::string::npos ? 1 : 0; }

}  // namespace

TEST_CASE("random contractions on the simulator are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(510001);
  const int count = fuzz::cases(kCases);
  int vectors = 0, halves = 0, bytes = 0, tf32 = 0, matrices = 0, relaid = 0, rounded = 0;
  const int run = run_on_simulator(
      first, count, [](auto& random) { return fuzz::gpu_contraction(random); },
      [&](const auto& d, std::uint64_t seed, auto& random) -> std::optional<Chosen> {
        constexpr Precision kWords[] = {Precision::operands, Precision::tf32, Precision::tf32x3, Precision::bf16,
                                        Precision::f16,      Precision::f64,  Precision::f32};
        const auto precision = kWords[seed % std::size(kWords)];
        auto program = d.program(precision);
        rounded += ir::print(program).find("f32(bf16(") != std::string::npos ? 1 : 0;
        program.precision = kernel::effective_precision(program, precision, d.sm);
        const auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(d.sm));
        return one_of(std::move(program), list, seed % 2 == 0 ? 0 : random());
      },
      [&](const kernel::Schedule& schedule, const std::string& text) {
        relaid += has(schedule.name, " via shared");
        halves += has(text, "mma_m16n8k16_");
        bytes += has(text, "mma_m16n8k32_");
        tf32 += has(text, "m16n8k8_tf32(");
        matrices += has(text, "load_matrix_");
        vectors += has(text, "<16>(");
      });
  std::printf(
      "%d of %d random contractions from seed %llu on the simulator, %d of them copied by 16 bytes; %d of halves, "
      "%d of bytes and %d in tf32 on tensor cores, %d of them by matrix loads; results of %d through shared memory; "
      "%d with factors rounded to bf16\n",
      run, count, static_cast<unsigned long long>(first), vectors, halves, bytes, tf32, matrices, relaid, rounded);
  if (fuzz::enough(count)) CHECK((run > count / 2 && relaid > count / 50 && rounded > count / 50));
}

TEST_CASE("random reductions of terms of two operands on the simulator are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(517001);
  const int count = fuzz::cases(kCases);
  int extrema = 0, shared = 0;
  const int run = run_on_simulator(
      first, count, [](auto& random) { return fuzz::term_contraction(random); },
      [](const auto& d, std::uint64_t seed, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        const auto model = plan::GpuModel::of_capability(d.sm);
        auto list = plan::contraction_candidates(program, model);
        if (seed % 4 == 0) list = plan::with_maps(program, model, std::move(list));
        return one_of(std::move(program), list, seed % 3 == 0 ? 0 : random());
      },
      [&](const kernel::Schedule& schedule, const std::string& text) {
        extrema += has(text, " = least(") | has(text, " = greatest(");
        shared += has(schedule.name, " cluster ");
      });
  std::printf("%d of %d random reductions of terms from seed %llu on the simulator, %d of extrema, %d in clusters\n",
              run, count, static_cast<unsigned long long>(first), extrema, shared);
  if (fuzz::enough(count)) CHECK((run > count / 4 && extrema > count / 30));
}

TEST_CASE("random contractions of complex numbers in three real products are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(515001);
  const int count = (fuzz::cases(kCases) + 1) / 2;
  int in_clusters = 0;
  const int run = run_on_simulator(
      first, count,
      [](auto& random) {
        auto d = fuzz::gpu_contraction(random);
        d.bytes.reset();
        for (auto* layout : {&d.problem.inputs[0], &d.problem.output}) layout->type = DType::c128;
        if (random() % 4 != 0) d.problem.inputs[1].type = DType::c128;
        return d;
      },
      [](const auto& d, std::uint64_t, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(d.sm));
        std::erase_if(list, [](const auto& candidate) { return candidate.schedule.name.starts_with("fma"); });
        for (auto& candidate : list) {
          for (auto& directive : candidate.schedule.directives) {
            if (directive.kind == kernel::Directive::Kind::atom) directive.products = 3;
          }
        }
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule& schedule, const std::string&) { in_clusters += has(schedule.name, " cluster "); });
  std::printf("%d of %d random contractions from seed %llu in three real products, %d of them in clusters\n", run,
              count, static_cast<unsigned long long>(first), in_clusters);
  if (fuzz::enough(count)) CHECK(run > count / 4);
}

TEST_CASE("random contractions staged by tensor maps are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(530001);
  const int count = (fuzz::cases(kCases) + 1) / 2;
  int groups = 0, dimensions = 0, beside = 0;
  const int run = run_on_simulator(
      first, count,
      [](auto& random) { return random() % 2 == 0 ? fuzz::gpu_contraction(random) : fuzz::group_contraction(random); },
      [](const auto& d, std::uint64_t seed, auto& random) -> std::optional<Chosen> {
        // Neighbours in units of 16 bytes.
        auto extents = d.extents;
        for (auto& [letter, extent] : extents) {
          if (extent > 4) extent = (extent + 7) / 8 * 8;
        }
        const auto& of = d.problem;
        auto program = ir::canonicalise(
            ir::lower(simt::problem_of(d.spec, extents, {of.inputs[0].type, of.inputs[1].type, of.output.type})));
        const auto model = plan::GpuModel::of_capability(90);
        auto list = plan::contraction_candidates(program, model);
        const auto by_warps = [](const auto& candidate) { return !candidate.schedule.name.starts_with("wgmma_"); };
        if (seed % 2 == 0 && !std::all_of(list.begin(), list.end(), by_warps)) std::erase_if(list, by_warps);
        list = plan::with_maps(program, model, std::move(list));
        std::erase_if(list, [](const auto& candidate) { return !kernel::has_maps(candidate.schedule.directives); });
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule&, const std::string& text) {
        groups += has(text, "wgmma_");
        beside += has(text, "copy_async");
        dimensions += has(text, "TensorMap");
      });
  std::printf(
      "%d of %d random contractions from seed %llu by tensor maps, %d by warp groups, %d beside copies of threads\n",
      run, count, static_cast<unsigned long long>(first), groups, beside);
  CHECK(dimensions == run);
  if (fuzz::enough(count)) CHECK((run > count / 10 && groups > 0));
}

TEST_CASE("random contractions by warp groups are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(520001);
  const int count = (fuzz::cases(kCases) + 3) / 4;
  int lines = 0, along_sides = 0;
  const int run = run_on_simulator(
      first, count, [](auto& random) { return fuzz::group_contraction(random); },
      [](auto d, std::uint64_t seed, auto& random) -> std::optional<Chosen> {
        // Now and then of wider operands, which staging rounds to the atom's type.
        const auto half = d.problem.inputs.front().type;
        for (std::size_t k = 0; k < seed % 3; ++k) d.problem.inputs[k].type = DType::f32;
        auto program = d.program(half == DType::f16 ? Precision::f16 : Precision::bf16);
        auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(90));
        std::erase_if(list, [](const auto& candidate) { return !candidate.schedule.name.starts_with("wgmma_"); });
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule&, const std::string& text) {
        lines += has(text, "line_part");
        along_sides += 1 - has(text, "<0, 0>(");
      });
  std::printf("%d of %d random contractions from seed %llu by warp groups, %d along a side, %d written by lines\n", run,
              count, static_cast<unsigned long long>(first), along_sides, lines);
  if (fuzz::enough(fuzz::cases(kCases))) CHECK(run > count / 4);
}

TEST_CASE("random contractions of bytes by warp groups are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(527001);
  const int count = (fuzz::cases(kCases) + 3) / 4;
  int mapped = 0, without_signs = 0;
  const int run = run_on_simulator(
      first, count, [](auto& random) { return fuzz::byte_contraction(random); },
      [](const auto& d, std::uint64_t seed, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        const auto model = plan::GpuModel::of_capability(90);
        auto list = plan::contraction_candidates(program, model);
        std::erase_if(list, [](const auto& candidate) { return !candidate.schedule.name.starts_with("wgmma_"); });
        const auto by_copies = [](const auto& one) { return !kernel::has_maps(one.schedule.directives); };
        if (seed % 2 == 0) list = plan::with_maps(program, model, std::move(list));
        if (!std::all_of(list.begin(), list.end(), by_copies)) std::erase_if(list, by_copies);
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule& schedule, const std::string& text) {
        mapped += kernel::has_maps(schedule.directives);
        without_signs += has(text, "wgmma_u8(");
      });
  std::printf(
      "%d of %d random contractions from seed %llu of bytes by warp groups, %d by tensor maps, %d without signs\n", run,
      count, static_cast<unsigned long long>(first), mapped, without_signs);
  if (fuzz::enough(run)) CHECK((run > count / 4 && mapped > 0 && without_signs > 0));
}

TEST_CASE("random contractions in tf32 by warp groups are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(525001);
  const int count = (fuzz::cases(kCases) + 3) / 4;
  int staged = 0, lines = 0, held = 0;
  const int run = run_on_simulator(
      first, count, [](auto& random) { return fuzz::tf32_contraction(random); },
      [](const auto& d, std::uint64_t seed, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        program.precision = kernel::effective_precision(program, Precision::tf32, 90);
        // Operands that a copy has rounded, and those that blocks round.
        for (std::size_t k = 0; k < program.buffers.size(); ++k)
          program.buffers[k].tf32 = !program.buffers[k].written && (seed >> k) % 4 != 0;
        auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(90));
        std::erase_if(list, [](const auto& candidate) { return !candidate.schedule.name.starts_with("wgmma_"); });
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule&, const std::string& text) {
        staged += has(text, "to_tf32(");
        lines += has(text, "line_part") + has(text, "strip_part");
        held += has(text, "wgmma_rs_tf32(");
      });
  std::printf(
      "%d of %d random contractions from seed %llu in tf32 by warp groups, %d rounded by blocks, %d by lines, %d with "
      "a "
      "factor in registers\n",
      run, count, static_cast<unsigned long long>(first), staged, lines, held);
  if (fuzz::enough(fuzz::cases(kCases))) CHECK((run > count / 4 && staged > count / 20 && held > count / 20));
}

TEST_CASE("random contractions whose sums threads of a group share are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(550001);
  const int count = (fuzz::cases(kCases) + 1) / 2;
  int crossed = 0, results = 0;
  const int run = run_on_simulator(
      first, count, [](auto& random) { return fuzz::few_results(random); },
      [](const auto& d, std::uint64_t seed, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        auto list = plan::plain_candidates(program, plan::GpuModel::of_capability(90), 1000);
        const auto says = [](const plan::Candidate& candidate, const char* word) {
          return candidate.schedule.name.find(word) != std::string::npos;
        };
        std::erase_if(list, [&](const auto& candidate) { return !says(candidate, " cooperative "); });
        for (const char* word : {seed % 2 == 0 ? " over " : " register ", " register "}) {
          if (std::any_of(list.begin(), list.end(), [&](const auto& candidate) { return says(candidate, word); }))
            std::erase_if(list, [&](const auto& candidate) { return !says(candidate, word); });
        }
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule& schedule, const std::string&) {
        crossed += has(schedule.name, " over ");
        results += has(schedule.name, " register ");
      });
  std::printf(
      "%d of %d random contractions from seed %llu with sums of groups, %d along two indices, %d with several results "
      "of a thread\n",
      run, count, static_cast<unsigned long long>(first), crossed, results);
  if (fuzz::enough(fuzz::cases(kCases))) CHECK((run > count / 2 && crossed > count / 40 && results > count / 5));
}

TEST_CASE("random einsums whose threads have neighbours are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(570001);
  const int count = 2 * fuzz::cases(kCases);
  int read = 0, written = 0, sides = 0;
  const int run = run_on_simulator(
      first, count,
      [](auto& random) {
        fuzz::GpuContraction d;
        const char* const specs[] = {"ab,ba->ab", "abc,cab->bac", "ab,b->ab", "cab->ab", "ab,cba->ab", "acb->ba"};
        d.spec = specs[random() % std::size(specs)];
        for (const char index : {'a', 'b', 'c'}) d.extents[index] = static_cast<std::int64_t>(2 + random() % 20) * 2;
        const DType types[] = {DType::f64, DType::f32, DType::bf16, DType::f16, DType::c64};
        const auto type = types[random() % std::size(types)];
        d.problem = simt::problem_of(d.spec, d.extents, {type}, random() % 4 == 0 ? 8 : 256);
        return d;
      },
      [](const auto& d, std::uint64_t, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        auto list = plan::plain_candidates(program, plan::GpuModel::of_capability(90), 1000);
        std::erase_if(list,
                      [](const auto& one) { return one.schedule.name.find(" neighbours ") == std::string::npos; });
        if (list.empty()) return std::nullopt;
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule& schedule, const std::string& text) {
        read += has(text, "load<vec<");
        written += has(text, " result;");
        const auto named = schedule.name.substr(schedule.name.find(" neighbours ") + 12);
        sides += named.find(' ') != std::string::npos;
      });
  std::printf(
      "%d of %d random einsums from seed %llu by threads with neighbours, %d read by vectors, %d written by such, %d "
      "along two sides\n",
      run, count, static_cast<unsigned long long>(first), read, written, sides);
  if (fuzz::enough(fuzz::cases(kCases)))
    CHECK((run > count / 3 && read > count / 4 && written > count / 4 && sides > count / 10));
}

TEST_CASE("random contractions whose joined sums lie where tables say are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(560001);
  const int count = (fuzz::cases(kCases) + 1) / 2;
  int tables = 0, ragged = 0, vectors = 0;
  const auto pick = [](std::mt19937_64& random, std::initializer_list<int> of) {
    return of.begin()[random() % of.size()];
  };
  const int run = run_on_simulator(
      first, count,
      [&](auto& random) {
        fuzz::GpuContraction d;
        std::string a = "acde", b = "bcde";
        d.extents = {{'a', pick(random, {17, 33, 50})}, {'b', pick(random, {9, 19, 34})}};
        for (const char summed : {'c', 'd', 'e'}) d.extents[summed] = pick(random, {3, 4, 5, 6, 7, 8, 9});
        std::shuffle(a.begin(), a.end(), random);
        std::shuffle(b.begin(), b.end(), random);
        d.spec = a + "," + b + "->ab";
        d.problem = simt::problem_of(d.spec, d.extents, {DType::f64, DType::f64, DType::f64});
        return d;
      },
      [&](const auto& d, std::uint64_t, auto& random) -> std::optional<Chosen> {
        Chosen made{d.program(), {}};
        const auto contraction = kernel::contraction_of(made.program);
        std::vector<std::string> rows, columns, summed;
        for (std::size_t q = 0; q < made.program.indices.size(); ++q) {
          const auto role = contraction->role[q];
          (role == kernel::Role::rows      ? rows
           : role == kernel::Role::columns ? columns
                                           : summed)
              .push_back(made.program.indices[q].name);
        }
        if (rows.size() != 1 || columns.size() != 1 || summed.size() < 2) return {};
        std::shuffle(summed.begin(), summed.end(), random);
        std::string joined, text = "join ";
        for (const auto& name : summed) joined += name;
        text += joined;
        for (const auto& name : summed) text += " " + name;
        text += " table";
        const auto& [row, column] = std::pair(rows.front(), columns.front());
        const int warps = pick(random, {1, 2});
        text += "\ntile " + row + ":" + std::to_string(16 * warps) + "\ntile " + column + ":" +
                std::to_string(pick(random, {8, 16})) + "\ntile " + joined + ":" +
                std::to_string(pick(random, {8, 16, 24})) + "\norder task " + row + "0 " + column + "0 sum " + joined +
                "0\n";
        for (const auto& [factor, side] :
             {std::pair(contraction->first, row), std::pair(contraction->second, column)}) {
          const auto& load = made.program.nodes[static_cast<std::size_t>(factor.load)];
          const auto order = random() % 2 == 0 ? joined + " " + side : side + " " + joined;
          text += "stage " + made.program.buffers[static_cast<std::size_t>(load.source)].name + " at " + joined +
                  "0 async pad " + std::to_string(pick(random, {2, 4, 8})) + " " + order + "\n";
        }
        text += "atom m16n8k8_f64 rows " + row + " columns " + column + " depth " + joined + " warps " +
                std::to_string(warps) + "x1 runs 1x1x1\npipeline " + joined + "0 " +
                std::to_string(pick(random, {2, 3})) + "\n";
        made.schedule.directives = kernel::parse_directives(text);
        return made;
      },
      [&](const kernel::Schedule&, const std::string& text) {
        tables += has(text, "_places[");  // unless all rounds are copied ahead
        ragged += has(text, "_or_zero");
        vectors += has(text, "<16>(");
      });
  std::printf("%d of %d random contractions from seed %llu, %d by tables of places, %d with ends, %d with vectors\n",
              run, count, static_cast<unsigned long long>(first), tables, ragged, vectors);
  if (fuzz::enough(count))
    CHECK((run > count / 2 && tables > run - run / 10 && ragged > count / 4 && vectors > count / 12));
}

TEST_CASE("random contractions whose operands lie in orders of their own are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(570001);
  const int count = fuzz::cases(kCases);
  int ragged = 0, prefetched = 0, clusters = 0;
  const int run = run_on_simulator(
      first, count,
      [](auto& random) {
        // The last index of either operand is another one of the sum.
        constexpr std::int64_t kSummed[] = {4, 6, 8, 10, 12, 18, 26}, kSides[] = {5, 8, 17, 33, 50};
        fuzz::GpuContraction d;
        std::string a = "aef", b = "bdf";
        for (const char side : {'a', 'b'}) d.extents[side] = kSides[random() % std::size(kSides)];
        for (const char summed : {'d', 'e', 'f'}) d.extents[summed] = kSummed[random() % std::size(kSummed)];
        if (random() % 2 == 0) d.extents['f'] = 2 + static_cast<std::int64_t>(random() % 4);
        std::shuffle(a.begin(), a.end(), random);
        std::shuffle(b.begin(), b.end(), random);
        d.spec = a + "d," + b + "e->" + (random() % 2 == 0 ? "ab" : "ba");
        d.problem = simt::problem_of(d.spec, d.extents, {DType::f64, DType::f64, DType::f64});
        return d;
      },
      [](const auto& d, std::uint64_t, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(90));
        std::erase_if(list,
                      [](const auto& candidate) { return candidate.schedule.name.find(" by ") == std::string::npos; });
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule& schedule, const std::string& text) {
        clusters += has(schedule.name, " cluster ");
        prefetched += has(schedule.name, " prefetch");
        ragged += has(text, "_or_zero");
      });
  std::printf(
      "%d of %d random contractions from seed %llu in orders of their own, %d with ends, %d with fragments read ahead, "
      "%d in clusters\n",
      run, count, static_cast<unsigned long long>(first), ragged, prefetched, clusters);
  if (fuzz::enough(count)) CHECK((run > count / 2 && ragged > count / 4 && clusters > count / 10));
}

TEST_CASE("random batches of contractions side by side are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(530001);
  const int count = (fuzz::cases(kCases) + 1) / 2;
  int lanes = 0, products_of_warps = 0;
  const int run = run_on_simulator(
      first, count, [](auto& random) { return fuzz::batch_contraction(random); },
      [](const auto& d, std::uint64_t, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(d.sm));
        std::erase_if(
            list, [](const auto& candidate) { return candidate.schedule.name.find(" beside ") == std::string::npos; });
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule& schedule, const std::string&) {
        ++(schedule.name.starts_with("fma_batch") ? lanes : products_of_warps);
      });
  std::printf("%d of %d random batches from seed %llu side by side, %d by lanes and %d by warps\n", run, count,
              static_cast<unsigned long long>(first), lanes, products_of_warps);
  if (fuzz::enough(fuzz::cases(kCases))) CHECK((lanes > count / 10 && products_of_warps > count / 10));
}

TEST_CASE("random contractions whose sums the blocks of a cluster share are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(540001);
  const int count = (fuzz::cases(kCases) + 3) / 4;
  int of_groups = 0, of_eight = 0;
  const int run = run_on_simulator(
      first, count, draw_for_clusters,
      [](const auto& d, std::uint64_t, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        const auto list = of_clusters(program);
        return one_of(std::move(program), list, random());
      },
      [&](const kernel::Schedule& schedule, const std::string&) {
        of_groups += schedule.name.starts_with("wgmma_") ? 1 : 0;
        of_eight += has(schedule.name, " cluster 8");
      });
  std::printf(
      "%d of %d random contractions from seed %llu in clusters, %d of them of eight blocks, %d by warp groups\n", run,
      count, static_cast<unsigned long long>(first), of_eight, of_groups);
  if (fuzz::enough(fuzz::cases(kCases))) CHECK(run > count / 8);
}

TEST_CASE("random contractions whose last tiles have their sums in parts are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(550001);
  const int count = fuzz::cases(kCases);
  int of_groups = 0, several_loops = 0;
  const int run = run_on_simulator(
      first, count, draw_for_clusters,
      [](const auto& d, std::uint64_t, auto& random) -> std::optional<Chosen> {
        auto program = d.program();
        const auto list = of_clusters(program);
        // Of all numbers of last tiles that candidates take with few stages one at random: the first that fits.
        constexpr std::size_t kMostTiles = 39;
        std::vector<std::size_t> order(list.size() * kMostTiles);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (const auto number : order) {
          auto schedule = list[number / kMostTiles].schedule;
          const auto tiles = number % kMostTiles + 1;
          for (auto& directive : schedule.directives) {
            if (directive.kind == kernel::Directive::Kind::pipeline)
              directive.sizes = {2 + static_cast<int>(tiles % 2)};
            if (directive.kind != kernel::Directive::Kind::order) continue;
            const auto cluster = std::find_if(directive.loops.begin(), directive.loops.end(),
                                              [](const auto& group) { return group.first == "cluster"; });
            directive.loops.insert(cluster + 1, {"last", {std::to_string(tiles)}});
          }
          try {
            kernel::expand(kernel::build(program, schedule, kernel::Target::cuda));
            return Chosen{std::move(program), std::move(schedule)};
          } catch (const PlanError&) {  // not so many
          }
        }
        return {};
      },
      [&](const kernel::Schedule& schedule, const std::string& text) {
        of_groups += schedule.name.starts_with("wgmma_") ? 1 : 0;
        several_loops += has(text, "int chunk ");
      });
  std::printf(
      "%d of %d random contractions from seed %llu with last tiles in parts, %d by warp groups, %d of sums in several "
      "loops\n",
      run, count, static_cast<unsigned long long>(first), of_groups, several_loops);
  if (fuzz::enough(fuzz::cases(kCases))) CHECK(run > count / 8);
}

}  // namespace contraction_simt_test
