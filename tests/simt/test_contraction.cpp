// Contractions for a GPU, scheduled by directives that a person wrote: executed on the simulator without a fault, equal
// to the interpreter, and with the traffic that their layouts promise.
#include "catch.hpp"
#include "kernel/atom_types.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/mapped_contractions.hpp"
#include "ricci/error.hpp"
#include "simt/written_contractions.hpp"

namespace test_contraction {

using namespace ricci;

namespace {

kernel::Directives tf32_directives(const std::string& start) {
  return kernel::parse_directives(start + "atom m16n8k8_tf32 rows a columns c depth b warps 1x1");
}

/// Of a list, the schedules whose blocks make several tiles in turns.
std::vector<plan::Candidate> in_turns(std::vector<plan::Candidate> list) {
  std::erase_if(list, [](const auto& one) { return one.counts->turns == 1; });
  return list;
}

/// That a planned kernel whose blocks make tiles in turns has as many tiles as planned, and the interpreter's results.
void check_turns(const ir::Canonical& program, const plan::Candidate& candidate, std::uint64_t seed) {
  INFO(kernel::print(candidate.schedule));
  simt::ContractionCase kernel(program, candidate.schedule.directives);
  CHECK(kernel.launch.tasks * static_cast<std::int64_t>(candidate.counts->turns) ==
        static_cast<std::int64_t>(candidate.counts->blocks));
  CHECK(kernel.wrong(seed).empty());
}

}  // namespace

TEST_CASE("contractions by directives are the interpreter's, and both machines count the same") {
  int number = 0;
  for (const auto& c : simt::written_contractions()) {
    INFO(c.spec << "\n" << c.directives);
    const auto written = kernel::parse_directives(c.directives);
    CHECK(kernel::parse_directives(kernel::print(written)) == written);
    auto kernel = c.made();
    INFO(kernel.source.text);
    // One set of numbers: what the program makes of them takes longest.
    bool same = false;
    const auto counts = kernel.interpreted(1, same);
    CHECK(same);
    simt::Report report;
    for (const auto order : {simt::Order::forward, ++number % 2 == 0 ? simt::Order::random : simt::Order::reverse})
      REQUIRE(kernel.wrong(1, order, &report).empty());
    // The host's compiler moves complex numbers by their halves, and joins the two branches of a guarded store. What a
    // tensor map writes to shared memory is no access of threads, which are what the interpreter counts.
    const std::string_view directives = c.directives;
    if (is_complex(c.types[0]) || directives.find(" shared ") != std::string_view::npos ||
        directives.find(" maps ") != std::string_view::npos)
      continue;
    const auto shared = counts.read_from(kernel::Space::shared).units + counts.written_to(kernel::Space::shared).units;
    CHECK(static_cast<std::uint64_t>(shared) == report.shared.wavefronts);
    const auto sectors = counts.written_to(kernel::Space::global).units;
    CHECK(static_cast<std::uint64_t>(sectors) == report.written.sectors);
  }
}

TEST_CASE("copies of a round stand between the steps of the one before, where a thread has many") {
  const auto between_steps = [](std::string_view name, const char* pipeline) {
    for (const auto& c : simt::written_contractions()) {
      if (std::string_view(c.directives).find(name) == std::string_view::npos) continue;
      if (std::string_view(c.directives).ends_with(pipeline))
        return c.made().source.text.find("free_place") != std::string::npos;
    }
    FAIL("no contraction of " << name);
    return false;
  };
  CHECK(between_steps("tile a:32; tile c:16; tile b:24;", "pipeline b0 4 prefetch"));
  CHECK(between_steps("tile b:32; tile d:16; tile c:24;", "pipeline c0 3 prefetch"));
  CHECK_FALSE(between_steps("tile a:64; tile c:32; tile b:16;", "pipeline b0 3 prefetch"));  // 12 copies in two steps
  CHECK_FALSE(between_steps("tile a:32; tile c:16; tile b:8;", "pipeline b0 2 prefetch"));   // two places
}

TEST_CASE("elements that pass registers are loaded together, and are the interpreter's") {
  // 96 elements of two bytes a thread, one by one, of which 48 are under way at a time.
  for (const auto type : {DType::bf16, DType::f16}) {
    for (const auto& extents : {std::map<char, std::int64_t>{{'a', 187}, {'b', 117}, {'c', 29}},
                                std::map<char, std::int64_t>{{'a', 192}, {'b', 133}, {'c', 32}}}) {
      const auto program = ir::canonicalise(ir::lower(simt::problem_of("ab,bc->ac", extents, {type})));
      const auto atom = type == DType::bf16 ? "m16n8k16_bf16" : "m16n8k16_f16";
      simt::ContractionCase made(
          program,
          kernel::parse_directives(fmt::format(
              "tile a:96; tile c:16; tile b:32; order task a0 c0 sum b0; stage A at b0 async a b pad 8; stage B at b0 "
              "async b c pad 8; atom {} rows a columns c depth b warps 1x1 runs 1x1x2; pipeline b0 3",
              atom)));
      INFO(made.source.text);
      CHECK(made.source.text.find("A_run[48]") != std::string::npos);
      CHECK(made.wrong(1).empty());
    }
  }
}

TEST_CASE("a tile that fits its layout moves whole sectors and meets no bank conflict") {
  auto kernel = simt::written_contractions()[0].made();
  simt::Report counts;
  REQUIRE(kernel.wrong(1, &counts).empty());
  CHECK(counts.shared.wavefronts == counts.shared.ideal);
  CHECK(counts.read.sectors == counts.read.ideal);
  CHECK(counts.written.sectors == counts.written.distinct);

  auto halves = simt::written_contractions()[6].made();
  CHECK(halves.source.text.find("load_matrix_x4(") != std::string::npos);
  CHECK(halves.source.text.find("load_matrix_x2_transposed(") != std::string::npos);
  REQUIRE(halves.wrong(1, &counts).empty());
  CHECK(counts.shared.wavefronts == counts.shared.ideal);
  CHECK(counts.written.sectors == counts.written.distinct);
}

TEST_CASE("planned tiles in turns are the interpreter's, without a fault") {
  struct Case {
    const char* spec;
    std::map<char, std::int64_t> extents;
  };
  const Case kCases[] = {{"ab,cb->ac", {{'a', 1152}, {'b', 64}, {'c', 64}}},
                         {"ab,cb->ac", {{'a', 1152}, {'b', 40}, {'c', 112}}},
                         {"ba,cb->ca", {{'a', 1024}, {'b', 96}, {'c', 48}}},
                         {"abc,db->adc", {{'a', 3}, {'b', 64}, {'c', 384}, {'d', 72}}}};
  auto device = plan::GpuModel::of_capability(90);
  device.multiprocessors = 1;
  int number = 0, maps = 0;
  for (const auto type : {DType::bf16, DType::f16}) {
    for (const auto& c : kCases) {
      const auto program = ir::canonicalise(ir::lower(simt::problem_of(c.spec, c.extents, {type})));
      const auto list = plan::with_maps(program, device, in_turns(plan::contraction_candidates(program, device)));
      INFO(c.spec);
      CHECK(!list.empty());
      for (std::size_t k = 0; k < std::min<std::size_t>(list.size(), 4); ++k) {
        maps += kernel::has_maps(list[k].schedule.directives);
        check_turns(program, list[k], static_cast<std::uint64_t>(number++));
      }
    }
  }
  CHECK(maps > 0);
}

TEST_CASE("planned few tiles in turns are the interpreter's, without a fault") {
  struct Case {
    DType type;
    std::map<char, std::int64_t> extents;
  };
  // Sums of one round whose results are most of the bytes, as in coupled-cluster triples.
  const Case kCases[] = {
      {DType::f32, {{'a', 24}, {'b', 8}, {'c', 8}, {'d', 96}, {'g', 24}}},
      {DType::f64, {{'a', 23}, {'b', 9}, {'c', 8}, {'d', 60}, {'g', 15}}},
      {DType::bf16, {{'a', 24}, {'b', 16}, {'c', 12}, {'d', 96}, {'g', 32}}},
  };
  auto device = plan::GpuModel::of_capability(90);
  device.multiprocessors = 1;
  for (const auto& c : kCases) {
    const auto program = ir::canonicalise(ir::lower(simt::problem_of("gda,gcb->dcba", c.extents, {c.type})));
    const auto list = in_turns(plan::contraction_candidates(program, device));
    INFO(ir::print(program));
    CHECK(!list.empty());
    for (std::size_t k = 0; k < std::min<std::size_t>(list.size(), 3); ++k) {
      CHECK(list[k].counts->turns >= 3);
      check_turns(program, list[k], k);
    }
  }
}

TEST_CASE("planned tiles in turns of multiply-adds that wait for memory are the interpreter's") {
  auto device = plan::GpuModel::of_capability(90);
  device.multiprocessors = 1;
  device.copy_GBs = 12;
  for (const std::int64_t depth : {96, 100}) {
    const auto problem =
        simt::problem_of("acd,db->cba", {{'a', 192}, {'b', 24}, {'c', 24}, {'d', depth}}, {DType::f32});
    const auto program = ir::canonicalise(ir::lower(problem));
    const auto best = plan::best_contraction(program, device)->whole();
    INFO(best.schedule.name);
    CHECK(best.schedule.name.find(" turns ") != std::string::npos);
    CHECK(best.counts->rounds > 1);
    simt::ContractionCase kernel(program, best.schedule.directives);
    INFO(kernel.source.text);
    CHECK(kernel.launch.tasks < static_cast<std::int64_t>(best.counts->blocks));
    CHECK(kernel.wrong(1).empty());
  }
}

TEST_CASE("products in tf32, and in two parts of it, stay within their bounds") {
  const auto problem = simt::problem_of("ad,db->ab", {{'a', 40}, {'b', 24}, {'d', 72}}, {DType::f32});
  const std::string start =
      "tile a:16; tile b:8; order task a0 sum b0; stage A at b0 async a b pad 4; stage B at b0 async b c pad 8;";
  const auto made_in = [&](Precision precision, const std::string& atom) {
    auto program = ir::canonicalise(ir::lower(problem));
    program.precision = kernel::effective_precision(program, precision, 80);
    CHECK(program.precision == precision);
    return simt::ContractionCase(program,
                                 kernel::parse_directives(start + atom + " rows a columns c depth b warps 1x1"));
  };
  const auto f32 = made_in(Precision::operands, "atom fma"), tf32 = made_in(Precision::tf32, "atom m16n8k8_tf32");
  auto parts = kernel::parse_directives(start + "atom m16n8k8_tf32 rows a columns c depth b warps 1x1 parts 2");
  CHECK(kernel::parse_directives(kernel::print(parts)) == parts);
  auto program = tf32.program;
  CHECK_THROWS_AS(simt::ContractionCase(f32.program, parts), PlanError);
  program.precision = Precision::tf32x3;
  const simt::ContractionCase tf32x3(program, parts);
  CHECK_THROWS_AS(simt::ContractionCase(program, tf32_directives(start)), PlanError);
  CHECK(ir::print(f32.program) != ir::print(tf32.program));
  CHECK(ir::print(tf32x3.program) != ir::print(tf32.program));

  // Sums of 72 terms in f32, each rounded.
  const double sums = 72 * 0x1p-24;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto error = tf32.largest_error(seed), error_x3 = tf32x3.largest_error(seed), plain = f32.largest_error(seed);
    INFO(plain << " " << error_x3 << " " << error);
    CHECK(plain <= sums);
    CHECK(error_x3 <= product_error(Precision::tf32x3) + 3 * sums);
    CHECK(error_x3 <= 4 * plain);  // as f32
    CHECK(error <= product_error(Precision::tf32) + sums);
    CHECK(error > 16 * plain);  // the parts are what brings the bits back
  }
  // Whole numbers of few bits are exact in tf32: the same on the simulator.
  auto whole = tf32, whole_x3 = tf32x3;
  CHECK(whole.wrong(1).empty());
  CHECK(whole_x3.wrong(1).empty());
}

TEST_CASE("complex products in tf32 stay within the bounds of their real ones") {
  const auto problem = simt::problem_of("ad,db->ab", {{'a', 40}, {'b', 24}, {'d', 72}}, {DType::c64});
  const std::string start =
      "tile a:32; tile c:16; tile b:8; order task a0 c0 sum b0; stage A at b0 async a b pad 2;"
      "stage B at b0 async b c pad 2;";
  const auto made_in = [&](Precision precision, const std::string& atom, const std::string& end) {
    auto program = ir::canonicalise(ir::lower(problem));
    program.precision = kernel::effective_precision(program, precision, 80);
    return simt::ContractionCase(
        program,
        kernel::parse_directives(start + atom + " rows a columns c depth b warps 1x2 " + end + "; pipeline b0 2"));
  };
  for (const std::string runs : {"runs 1x1x1", "runs 2x1x2"}) {
    const auto f32 = made_in(Precision::operands, "atom fma", runs);
    const auto tf32 = made_in(Precision::tf32, "atom m16n8k8_tf32", runs);
    const auto tf32x3 = made_in(Precision::tf32x3, "atom m16n8k8_tf32", runs + " parts 2");
    // Sums of 72 terms in each part, of two products each.
    const double sums = 2 * 72 * 0x1p-24;
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto error = tf32.largest_error(seed), error_x3 = tf32x3.largest_error(seed),
                 plain = f32.largest_error(seed);
      INFO(plain << " " << error_x3 << " " << error);
      CHECK(plain <= sums);
      CHECK(error_x3 <= 2 * product_error(Precision::tf32x3) + 3 * sums);
      CHECK(error_x3 <= 4 * plain);
      CHECK(error <= 2 * product_error(Precision::tf32) + sums);
      CHECK(error > 16 * plain);
    }
    auto whole = tf32, whole_x3 = tf32x3;
    CHECK(whole.wrong(1).empty());
    CHECK(whole_x3.wrong(1).empty());
  }
}

TEST_CASE("precision is what a kernel on a GPU can make of it") {
  const auto program = [](DType type) {
    return ir::canonicalise(ir::lower(simt::problem_of("ad,db->ab", {{'a', 8}, {'b', 8}, {'d', 8}}, {type})));
  };
  CHECK(kernel::effective_precision(program(DType::f32), Precision::tf32x3, 90) == Precision::tf32x3);
  CHECK(kernel::effective_precision(program(DType::f32), Precision::tf32x3, 75) == Precision::operands);
  CHECK(kernel::effective_precision(program(DType::f32), Precision::tf32, 0) == Precision::operands);
  CHECK(kernel::effective_precision(program(DType::f64), Precision::tf32, 90) == Precision::operands);
  CHECK(kernel::effective_precision(program(DType::c64), Precision::tf32, 90) == Precision::tf32);
  CHECK(kernel::effective_precision(program(DType::c128), Precision::tf32, 90) == Precision::operands);
  CHECK(parse_precision("tf32x3") == Precision::tf32x3);
  CHECK_THROWS_AS(parse_precision("tf16"), PlanError);
}

TEST_CASE("directives that a GPU cannot follow are refused") {
  const auto refused = [](const char* directives, const char* part) {
    auto c = simt::written_contractions()[0];
    c.directives = directives;
    try {
      c.made();
    } catch (const PlanError& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(part) != std::string::npos);
      return;
    }
    FAIL(directives << " was taken");
  };
  const std::string start = "tile a:64; tile c:32; tile b:16; order task a0 c0 sum b0;";
  const std::string stages = "stage A at b0 async a b; stage B at b0 async b c;";
  refused(("join ab a b;" + start).c_str(), "b and a are not of the same tensors");
  refused(("join aa a;" + start).c_str(), "there is nothing to join");
  refused(("join aa a a;" + start).c_str(), "a is a part of what is joined already");
  refused(("join a a c;" + start).c_str(), "an index has that name");
  refused(("join xy x y;" + start).c_str(), "no index of this program is x");
  refused(("tile a:64; join ac a c;" + start).c_str(), "a is tiled on its own");
  refused((start + stages + "atom m16n8k9_f64 rows a columns c depth b warps 2x1").c_str(), "there is no atom");
  refused((start + stages + "atom m16n8k16_f16 rows a columns c depth b warps 1x1 runs 1x1x2").c_str(),
          "sums in f32, and those of the program are in f64");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b").c_str(), "warps are missing");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b warps 2").c_str(), "rows x columns");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 3x1x1").c_str(), "runs of 3");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b warps 1x1 products 3").c_str(),
          "3 real products make one of c128");
  refused((start + "atom m16n8k8_f64 rows a columns c depth b warps 1x1").c_str(), "is not staged");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b warps 1x1; pipeline a0 3").c_str(),
          "no loop that runs in order");
  refused(
      "tile a:64; tile c:32; tile b:12; order task a0 c0 sum b0; stage A at b0 async a b; stage B at b0 async b c;"
      "atom m16n8k8_f64 rows a columns c depth b warps 1x1",
      "a depth of 12");
  const std::string atom = "atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x2;";
  const auto of_order = [&](const std::string& order, const char* part) {
    refused(("tile a:64; tile c:32; tile b:16:8; " + order + "; " + stages + atom).c_str(), part);
  };
  of_order("order task a0 cluster c0 sum b0 b1", "c0 is not summed over");
  refused((start + stages + atom + "store atomic").c_str(), "is set, and not added to");
  refused(
      "tile b:16; order task b0; stage A at b0 async a b; stage B at b0 async b c; atom fma rows a columns c depth b "
      "warps 1x1",
      "b0 is summed over");
  of_order("order task a0 c0 sum b0 cluster b1", "one loop, inside of all tasks");
  of_order("order task a0 c0 serial b0 cluster b1", "one loop, inside of all tasks");
  refused(
      ("tile a:64; tile c:32; tile b:16:8; order task a0 c0 cluster b0 serial b1; stage A at b1 async a b; stage B at "
       "b1 async b c;" +
       atom)
          .c_str(),
      "the sum comes in several parts");
  refused(("tile b:7; order cluster b0; " + stages + atom).c_str(), "a cluster of 10 blocks");
  of_order("order task a0 c0 last 2 sum b0 b1", "the last tiles are those of a cluster's blocks");
  of_order("order task a0 c0 cluster b0 last two sum b1", "a number of tiles");
  of_order("order task a0 c0 cluster b0 last sum b1", "a number of tiles");
  const auto of_last = [&](const std::string& order, const char* part) {
    refused(
        ("tile a:64; tile c:32; tile b:32:16; " + order + "; stage A at b1 async a b; stage B at b1 async b c;" + atom)
            .c_str(),
        part);
  };
  of_last("order task a0 c0 cluster b0 last 6 sum b1", "the last 6 of 6 tiles");
  of_last("order task a0 c0 cluster b0 last 3 sum b1", "3 tiles of one block each are no clusters of 2");
  refused(("tile a:64; tile c:32; tile b:32; order task a0 c0 cluster b0 last 2; stage A at b0 async a b;"
           "stage B at b0 async b c;" +
           atom)
              .c_str(),
          "not the first of three levels of b");
  of_last("order task a0 c0 cluster b0 last 2; stage A at b0 async a b1 b; stage B at b0 async b1 b c",
          "parts of sums have a loop over their rounds");
  refused(("tile a:64; tile c:32; tile b:32:16; order task a0 c0 cluster b0 last 2 sum b1; stage A at b1 async a b;"
           "stage B at b1 async b c;" +
           atom + "pipeline b1 3")
              .c_str(),
          "a pipeline of 3 rounds at once for a sum of 2");
  refused((start + stages + "store shared;" + atom).c_str(), "it stands behind the atom");
  refused((start + stages + atom + "store global").c_str(), "shared, scratch or atomic is expected there");
  refused((start + stages + atom + "pipeline b0 3 ahead").c_str(), "\"prefetch\" is expected there");
  refused((start + stages + atom + "pipeline b0 1 prefetch").c_str(), "two stages at least");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b warps 4x2 runs 1x1x2; pipeline b0 2 prefetch")
              .c_str(),
          "2 products of a warp in a step");
  auto rounded = simt::written_contractions()[0];
  rounded.types = {DType::f32};
  const auto ahead =
      start + stages + "atom m16n8k8_tf32 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b0 2 prefetch";
  rounded.directives = ahead.c_str();
  CHECK_THROWS_AS(rounded.made(), PlanError);
  auto c = simt::written_contractions()[0];
  c.beta = ir::Factor::any;
  const auto text = start + stages + atom + "store shared";
  c.directives = text.c_str();
  CHECK_THROWS_AS(c.made(), PlanError);
}

}  // namespace test_contraction
