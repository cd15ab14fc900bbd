// Which schedules of contractions a CPU gets, by its vectors and by the units that compute them.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/composite.hpp"
#include "lower/einsum.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_blocks.hpp"
#include "plan/enumerate/copied_contractions.hpp"
#include "plan/enumerate/matrix_copies.hpp"
#include "plan/enumerate/plain.hpp"
#include "plan/models/cost_contraction_cpu.hpp"
#include "plan/models/cost_cpu.hpp"
#include "plan/models/least_product_cpu.hpp"
#include "plan/models/result_runs.hpp"
#include "plan/plan.hpp"
#include "ricci/ricci.hpp"

namespace plan_contraction_cpu_test {

using namespace ricci;
using tests::contraction;
using tests::with_units;

namespace {

std::int64_t layout_size(const Layout& layout) {
  std::int64_t size = 1;
  for (const auto extent : layout.extents) size *= extent;
  return size;
}

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("vectors that units compute by halves take twice the time, and may be halves where an index ends with one") {
  const auto wide = with_units(64), narrow = with_units(32);
  const auto whole = contraction("ab,bc->ac", {{960, 960}, {960, 960}, {960, 960}}, DType::f64);
  const auto best = [](const ir::Program& program, const plan::CpuModel& device) {
    return plan::contraction_candidates(program, device).front();
  };
  CHECK(best(whole, narrow).predicted_us > 1.7 * best(whole, wide).predicted_us);
  CHECK_FALSE(has(best(whole, narrow).schedule.name, "lanes"));

  const auto half = contraction("dac,bcd->ba", {{180, 180, 180}, {170, 180, 180}, {170, 180}}, DType::f64);
  INFO(best(half, narrow).schedule.name);
  CHECK(has(best(half, narrow).schedule.name, " lanes 4"));
  for (const auto& candidate : plan::contraction_candidates(half, wide))
    CHECK_FALSE(has(candidate.schedule.name, "lanes"));
}

TEST_CASE("vectors run along an operand's neighbours where the result's lie across the other one") {
  const std::vector<std::vector<std::int64_t>> extents = {{144, 120, 144}, {144, 24}, {120, 24, 144}};
  const auto real = plan::contraction_candidates(contraction("acd,db->cba", extents, DType::f64), with_units(32));
  REQUIRE_FALSE(real.empty());
  INFO(real.front().schedule.name);
  CHECK(has(real.front().schedule.name, "vectors along"));
  // Complex numbers are written by vectors alone.
  const auto pairs = plan::contraction_candidates(contraction("acd,db->cba", extents, DType::c128), with_units(32));
  REQUIRE_FALSE(pairs.empty());
  for (const auto& candidate : pairs) CHECK_FALSE(has(candidate.schedule.name, "vectors along"));
}

TEST_CASE("rows of which tiles leave a rest are packed, or read in place by tiles that leave none") {
  plan::CpuModel device;
  device.vector_bytes = device.datapath_bytes = 16;
  const auto program = contraction("ca,bc->ab", {{693, 8}, {7, 693}, {8, 7}}, DType::i32);
  int across = 0;
  for (const auto& candidate : plan::contraction_candidates(program, device)) {
    INFO(candidate.schedule.name);
    across += has(candidate.schedule.name, "vectors along") ? 1 : 0;
    CHECK_NOTHROW(kernel::expand(kernel::build(program, candidate.schedule, kernel::Target::cpu)));
  }
  CHECK(across > 0);
}

TEST_CASE("rows that go on in memory are read in place, and their results leave by whole lines") {
  const std::vector<std::vector<std::int64_t>> extents = {{72, 72, 72, 72}, {72, 24}, {72, 24, 72, 72}};
  const auto best = plan::contraction_candidates(contraction("dabe,ec->dcba", extents, DType::f64), with_units(64), 1);
  REQUIRE(best.size() == 1);
  const auto& schedule = best.front().schedule;
  INFO(schedule.name);
  CHECK(schedule.name.starts_with("gett 8x24 depth 72 vectors along"));
  CHECK(schedule.name.ends_with("packed B"));
  const auto is_nontemporal = [](const kernel::Directive& d) { return d.kind == kernel::Directive::Kind::nontemporal; };
  CHECK(std::any_of(schedule.directives.begin(), schedule.directives.end(), is_nontemporal));
  // Rows of 560 bytes begin inside of lines.
  const auto odd = contraction("dabe,ec->dcba", {{71, 70, 99, 70}, {70, 24}, {71, 24, 99, 70}}, DType::f64);
  for (const auto& each : plan::contraction_candidates(odd, with_units(64), 1000)) {
    if (!has(each.schedule.name, "vectors along")) continue;
    INFO(each.schedule.name);
    CHECK(std::none_of(each.schedule.directives.begin(), each.schedule.directives.end(), is_nontemporal));
  }
}

TEST_CASE("runs that end inside of lines, and that only the next task goes on with, leave through scratch memory") {
  const auto words = [&](const std::string& spec, const std::vector<std::vector<std::int64_t>>& extents, DType type) {
    auto device = with_units(64);
    device.threads = 2;
    device.l1_bytes = 48 * 1024;
    device.l2_bytes = 2 * 1024 * 1024;
    std::string text;
    for (const auto& d : plan::best_candidate(contraction(spec, extents, type), device).schedule.directives) {
      using Kind = kernel::Directive::Kind;
      if (d.kind == Kind::store || d.kind == Kind::carry || d.kind == Kind::nontemporal || d.kind == Kind::prefetch)
        text += print(d) + "; ";
    }
    return text;
  };
  const auto extents = [](std::int64_t a) -> std::vector<std::vector<std::int64_t>> {
    return {{28, a, 28, 28, 43}, {28, 21}, {43, 28, 21, 28, a}};
  };
  CHECK(words("dabfe,fc->edcba", extents(43), DType::f64) == "store scratch f2; carry c; ");
  // Whole lines need no waiting; complex numbers, and results that stay in caches, are written as ever.
  CHECK(words("dabfe,fc->edcba", extents(40), DType::f64) == "nontemporal; ");
  CHECK(words("dabfe,fc->edcba", extents(43), DType::c128).find("store scratch") == std::string::npos);
  CHECK(
      words("dabfe,fc->edcba", {{4, 43, 5, 28, 43}, {28, 21}, {43, 4, 21, 5, 43}}, DType::f64).find("store scratch") ==
      std::string::npos);
  // Rows that the next tile of the task goes on with.
  CHECK(words("dacfe,fb->edcba", {{28, 43, 28, 28, 43}, {28, 21}, {43, 28, 28, 21, 43}}, DType::f64)
            .find("store scratch") == std::string::npos);
}

TEST_CASE("neighbours whose number is no multiple of the lanes are read in place, the last vector in part") {
  // TAL-SH's 3204th in parts: an operand of 241 MB that would be packed for rows of 28.
  const std::vector<std::vector<std::int64_t>> extents = {{7, 28, 28, 28, 28}, {7, 7, 28, 28, 28, 28}, {7, 28, 28}};
  const auto list = plan::contraction_candidates(contraction("gfbed,cgfeda->cba", extents, DType::f64), with_units(32));
  REQUIRE_FALSE(list.empty());
  INFO(list.front().schedule.name);
  CHECK(has(list.front().schedule.name, "x28 "));
  // Nothing is read past an operand's end: complex numbers and indices without such a divisor are packed.
  const std::vector<std::vector<std::int64_t>> prime = {{7, 28, 28, 28, 28}, {7, 7, 28, 28, 28, 67}, {7, 28, 67}};
  for (const auto& packed :
       {contraction("gfbed,cgfeda->cba", extents, DType::c128), contraction("gfbed,cgfeda->cba", prime, DType::f64)}) {
    const auto others = plan::contraction_candidates(packed, with_units(32));
    REQUIRE_FALSE(others.empty());
    for (const auto& each : others) {
      INFO(each.schedule.name);
      CHECK_FALSE(has(each.schedule.name, "x28 "));
      CHECK_FALSE(has(each.schedule.name, "x67 "));
    }
  }
}

TEST_CASE("a matrix whose elements are used once or a few times is read where it lies, by few streams") {
  for (const int threads : {1, 2, 8}) {
    auto device = with_units(64);
    device.threads = threads;
    const auto best = [&](const std::string& spec, const std::vector<std::vector<std::int64_t>>& extents) {
      return plan::best_candidate(contraction(spec, extents, DType::f64), device).schedule.name;
    };
    CHECK(has(best("ki,k->i", {{4096, 4096}, {4096}, {4096}}), "depth 8"));
    // Of eight threads memory is the limit either way.
    if (threads < 8) CHECK_FALSE(has(best("ki,k->i", {{4096, 4096}, {4096}, {4096}}), "packed A"));
    // Few columns, which the result has as neighbours, as rows.
    const auto skinny = best("ki,kn->in", {{4096, 4096}, {4096, 3}, {4096, 3}});
    INFO(skinny);
    CHECK(has(skinny, "depth 8"));
    CHECK_FALSE(has(skinny, "packed A B"));
    CHECK(has(skinny, " copied C"));
    // Rows along which both sums and neighbours go are as many streams, each read from end to end by one task.
    CHECK(best("ik,kn->in", {{4096, 4096}, {4096, 4}, {4096, 4}}) == "gett 8x4 depth 256 lanes 4");
    CHECK(has(best("ik,kn->in", {{4093, 4096}, {4096, 4}, {4093, 4}}), "plain"));
    // Sums of a prime number of terms end with the index nowhere else: one stream, by a plain schedule.
    CHECK(has(best("ki,k->i", {{4093, 4096}, {4093}, {4096}}), "plain"));
  }
}

TEST_CASE("vectors of sums from memory do not gather from rows side by side, also from short ones") {
  const auto best = [](const char* spec, const std::vector<std::vector<std::int64_t>>& extents) {
    return plan::best_candidate(contraction(spec, extents, DType::f64), with_units(32)).schedule.name;
  };
  CHECK(best("abc,abc->ac", {{50000, 16, 4}, {50000, 16, 4}, {50000, 4}}) == "plain c v4");
  CHECK(has(best("ab,ab->a", {{1000000, 3}, {1000000, 3}, {1000000}}), "plain row b2"));
}

TEST_CASE("a sum goes along the neighbours of the operand that is far larger than the other") {
  // Neighbours of the small operand lie along d, those of the large one along f.
  const auto program =
      contraction("gfed,acbgdef->cba", {{18, 18, 18, 18}, {8, 8, 8, 18, 18, 18, 18}, {8, 8, 8}}, DType::f64);
  const auto best = plan::contraction_candidates(program, with_units(32), 1).front();
  INFO(best.schedule.name);
  // 324 terms are neighbours in memory: all 18 of the two fastest indices each.
  CHECK(has(best.schedule.name, "depth 324 "));
  const auto single = [](const kernel::Directive& each) {
    return each.kind == kernel::Directive::Kind::tile && each.sizes == std::vector<std::int64_t>{1};
  };
  const auto& directives = best.schedule.directives;
  CHECK(std::count_if(directives.begin(), directives.end(), single) == 2);
}

TEST_CASE("tiles of a short sum go on with the result's rows one after the other") {
  const auto last_is_of_columns = [](std::int64_t depth) {
    const auto program = contraction("cged,bafg->fedcba",
                                     {{17, depth, 17, 21}, {17, 21, 17, depth}, {17, 17, 21, 17, 17, 21}}, DType::f32);
    const auto best = plan::contraction_candidates(program, with_units(32), 1).front();
    INFO(best.schedule.name);
    std::string innermost, lane;
    for (const auto& directive : best.schedule.directives) {
      for (const auto& [word, names] : directive.loops) {
        if (word == "serial") innermost = names.back();
        if (word == "columns") lane = names.back();
      }
    }
    return innermost == lane + "1";
  };
  CHECK(last_is_of_columns(21));
  CHECK_FALSE(last_is_of_columns(210));
}

TEST_CASE("long runs have fewer tasks where each packs much anew, and the same sums") {
  auto device = with_units(32);
  const auto tasks = [&](std::int64_t n) {
    const auto program = contraction("fdea,cebf->dcba", {{n, n, n, n}, {n, n, n, n}, {n, n, n, n}}, DType::f64);
    return plan::contraction_candidates(program, device, 1).front();
  };
  device.threads = 1;
  const auto alone = tasks(31);
  device.threads = 2;
  const auto both = tasks(31);
  INFO(both.schedule.name);
  CHECK(both.traffic.tiles == 4);
  const auto depth = [](const std::string& name) { return name.substr(name.find("depth"), 9); };
  CHECK(depth(both.schedule.name) == depth(alone.schedule.name));
  CHECK(tasks(17).traffic.tiles > 4);
}

TEST_CASE("an index of both operands and the result has the lanes, of complex numbers too") {
  for (const auto type : {DType::f64, DType::c64, DType::c128}) {
    const auto program = contraction("ikb,kjb->ijb", {{24, 24, 500}, {24, 24, 500}, {24, 24, 500}}, type);
    const auto list = plan::contraction_candidates(program, with_units(64));
    INFO(name(type));
    REQUIRE_FALSE(list.empty());
    CHECK(std::all_of(list.begin(), list.end(),
                      [](const plan::Candidate& candidate) { return has(candidate.schedule.name, "batched "); }));
  }
}

TEST_CASE("results whose neighbours are of a short batch, or of a product of little, are no plain loops") {
  // Scores of attention with the heads last: written lane by lane, or as matrices that are copied.
  const auto scores = contraction("bqhd,bkhd->bkqh", {{4, 256, 8, 64}, {4, 256, 8, 64}, {4, 256, 256, 8}}, DType::f32);
  const auto triangle = contraction("ikc,jkc->ijc", {{96, 96, 32}, {96, 96, 32}, {96, 96, 32}}, DType::f32);
  for (const auto& program : {scores, triangle}) {
    const auto best = plan::best_candidate(program, with_units(32));
    INFO(best.schedule.name);
    CHECK(has(best.schedule.name, "gett"));
    CHECK(best.predicted_us * 2 < plan::plain_candidates(program, with_units(32), 1).front().predicted_us);
  }
}

TEST_CASE("complex numbers of any vectors and of two sizes, and results without neighbours, have register tiles") {
  const auto program = [](DType first, DType second, DType result, std::vector<std::int64_t> strides) {
    ir::EinsumProblem problem;
    problem.spec = Spec::parse("ab,bc->ac");
    problem.inputs = {Layout::row_major(first, {300, 310}), Layout::row_major(second, {310, 320})};
    problem.output = Layout::row_major(result, {300, 320});
    if (!strides.empty()) problem.output.strides = std::move(strides);
    return ir::canonicalise(ir::lower(problem));
  };
  using enum DType;
  const ir::Program programs[] = {
      program(c64, c64, c64, {}),        program(c128, c128, c128, {}),    program(c64, c128, c128, {}),
      program(c128, c64, c128, {}),      program(f64, f64, f64, {640, 2}), program(f32, f32, f32, {3, 910}),
      program(i32, i32, i32, {2000, 5}), program(f32, f64, f64, {2, 650}),
  };
  for (const auto& each : programs) {
    for (const int bytes : {16, 32, 64}) {
      plan::CpuModel device;
      device.vector_bytes = device.datapath_bytes = bytes;
      INFO(ir::print(each) << "vectors of " << bytes << " bytes");
      const auto list = plan::contraction_candidates(each, device);
      REQUIRE_FALSE(list.empty());
      for (const auto& candidate : list) kernel::verify(candidate.schedule, each, {});
      CHECK(plan::best_candidate(each, device).schedule.name == list.front().schedule.name);
    }
  }
  // Complex results are written by vectors alone.
  CHECK(plan::contraction_candidates(program(c128, c128, c128, {640, 2}), with_units(64)).empty());
}

TEST_CASE("sums of several products, of third factors and of a tensor with itself are not by plain loops") {
  RuntimeOptions runtime_options;
  runtime_options.cache_dir = "off";
  Runtime runtime(runtime_options);
  const std::string declared =
      "index i j = 200\nindex k = 200\ninput A(i, k) : {}; input w(k) : {}; input B(k, j) : {}; input M(i, j) : {}; "
      "output C(i, j) : {}\nC(i, j) = ";
  for (const auto* value :
       {"sum(k, A(i, k) * A(j, k))", "sum(k, A(i, k) * w(k) * B(k, j))", "sum(k, A(i, k) * w(k) * A(j, k))",
        "sum(k, M(i, j) * A(i, k) * B(k, j))", "sum(k, (A(i, k) - w(k)) * B(k, j))",
        "2 * sum(k, A(i, k) * B(k, j)) - sum(k, 3 * A(j, k) * B(k, i)) + M(i, j)"}) {
    for (const auto type : {DType::f64, DType::c64, DType::i32}) {
      auto text = declared;
      for (auto place = text.find("{}"); place != std::string::npos; place = text.find("{}"))
        text.replace(place, 2, name(type));
      const auto plan = runtime.plan_program(Program::parse(text + value), PlanOptions());
      INFO(name(type) << " " << value << "\n" << plan.explain());
      CHECK(has(plan.info().schedule, "gett"));
      CHECK_FALSE(has(plan.info().schedule, "plain register tile"));
    }
  }
}

TEST_CASE("tensors are copied in front of a product where that is predicted to save much, for any number of threads") {
  // Neighbours in memory of the first operand are 150 KB apart, in runs of a single element.
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("ab,bc->ac");
  problem.inputs = {Layout::row_major(DType::f64, {2000, 400}), Layout::row_major(DType::f64, {400, 2000})};
  problem.inputs[0].strides = {19001, 17 * 19001 * 120};
  problem.output = Layout::row_major(DType::f64, {2000, 2000});
  const auto strided = ir::canonicalise(ir::lower(problem));
  const auto dense = contraction("ab,bc->ac", {{2000, 400}, {400, 2000}, {2000, 2000}}, DType::f64);
  const auto copied = [](const plan::Candidate& candidate) { return has(candidate.schedule.name, " copied "); };
  for (const int threads : {1, 2, 8}) {
    auto device = with_units(64);
    device.threads = threads;
    const auto list = plan::candidates(strided, device);
    INFO(list.front().schedule.name);
    CHECK(list.front().schedule.name == plan::best_candidate(strided, device).schedule.name);
    CHECK(std::any_of(list.begin(), list.end(), copied));
    for (const auto& candidate : list) {
      if (!copied(candidate)) continue;
      kernel::verify(candidate.schedule, strided, {});
      CHECK(candidate.workspace_bytes >= 8 * 400 * 2000);
    }
    CHECK_FALSE(copied(plan::candidates(dense, device).front()));
  }
}

TEST_CASE("tasks are as large as threads share evenly") {
  using plan::gett::even_share;
  CHECK(even_share(17, 5, 1, 2) == 4);    // 9 and 8 of 17 in place of 10 and 7
  CHECK(even_share(17, 9, 1, 2) == 9);    // no way is better
  CHECK(even_share(59, 12, 1, 2) == 10);  // six tasks of five
  CHECK(even_share(17, 5, 4, 2) == 5);    // as many of each task for either thread
  CHECK(even_share(17, 5, 1, 1) == 5);
  CHECK(even_share(17, 17, 1, 2) == 17);  // one task: not cut
  CHECK(even_share(10, 4, 3, 2) == 4);    // six of four tiles, three of two: 16 and 14

  // Of seven tasks of nine values one thread had four.
  auto device = with_units(64);
  device.threads = 2;
  const auto program = contraction("ceda,dbe->cba", {{63, 63, 63, 63}, {63, 63, 63}, {63, 63, 63}}, DType::f64);
  const auto best = plan::best_candidate(program, device);
  INFO(kernel::print(best.schedule.directives));
  CHECK(best.traffic.tiles % 2 == 0);
}

TEST_CASE("a register tile may have a fastest index of eight vectors as a whole") {
  const auto widest = [](std::int64_t extent) {
    const auto program = contraction("ab,bc->ac", {{3000, 60}, {60, extent}, {3000, extent}}, DType::f64);
    const auto list = plan::contraction_candidates(program, with_units(64), 1000);
    return std::any_of(list.begin(), list.end(), [](const auto& each) { return has(each.schedule.name, "3x64 "); });
  };
  CHECK(widest(63));
  CHECK_FALSE(widest(128));  // in two tiles others do as well
}

TEST_CASE("one load comes in a cycle where units compute lines whole") {
  const auto program = contraction("be,dcea->dcba", {{63, 63}, {63, 63, 63, 63}, {63, 63, 63, 63}}, DType::f64);
  std::string note;
  for (const auto& each : plan::contraction_candidates(program, with_units(64), 1000))
    if (each.schedule.name == "gett 9x16 depth 63 packed B A") note = each.note;
  CHECK(has(note, "takes 10.7 cycles, its multiply-adds 9.0"));
}

TEST_CASE("operands that lie as they would be packed are read in place") {
  auto device = with_units(64);
  device.threads = 2;
  device.l1_bytes = 48 * 1024;  // a panel of 64 columns beside the rows
  const auto best = [&](const std::string& spec, const std::vector<std::vector<std::int64_t>>& extents, DType type) {
    return plan::best_candidate(contraction(spec, extents, type), device).schedule.name;
  };
  // Rows of 63 terms, one behind the other.
  CHECK(has(best("ae,dcbe->dcba", {{63, 63}, {63, 63, 63, 63}, {63, 63, 63, 63}}, DType::f64), "depth 63 packed B"));
  // Each term goes on with the columns of the one before.
  CHECK(best("be,dcea->dcba", {{59, 68}, {59, 59, 68, 68}, {59, 59, 59, 68}}, DType::f32) ==
        "gett 5x68 depth 68 packed B");
  CHECK(best("be,edca->dcba", {{59, 68}, {68, 59, 59, 68}, {59, 59, 59, 68}}, DType::f32) !=
        "gett 5x68 depth 68 packed B");
}

TEST_CASE("rows whose neighbours are not the next terms of the sum are packed, as no stream of them comes by itself") {
  auto device = with_units(64);
  device.threads = 2;
  device.l2_bytes = 2 << 20;
  device.clock_MHz = device.clock_alone_MHz = 2100;
  const auto best = [&](const std::string& spec) {
    const auto program = contraction(spec, {{180, 180, 180}, {170, 180, 180}, {170, 180}}, DType::f64);
    return plan::contraction_candidates(program, device, 1).front().schedule.name;
  };
  CHECK(best("dac,bcd->ba") == "gett 5x40 depth 300 packed A B");
  // The same with the neighbours of both operands along one index.
  CHECK(best("dac,bdc->ba") == "gett 5x40 depth 180 packed B");
}

TEST_CASE("tiles of columns go on in the result where all of these are neighbours there") {
  using namespace plan::gett;
  Blocking b;
  b.lanes = 16;
  b.depth = {{.extent = 21, .in_rows = 1, .in_columns = 6069, .tile = 21}};
  b.rows = {{.extent = 357, .in_rows = 21, .in_result = 6069, .tile = 6, .block = 6, .task = 90}};
  b.columns = {{.extent = 6069, .in_columns = 1, .in_result = 1, .tile = 64, .block = 6080, .task = 6080}};
  Problem problem;
  problem.size = 4;
  problem.far_result = true;
  const plan::CpuModel device;
  CHECK(followed_in_result(b, problem, device) == &b.columns.back());
  problem.nontemporal = true;  // whole lines
  CHECK(followed_in_result(b, problem, device) == nullptr);
  b.columns.back().tile = 72;  // four lines and a half
  CHECK(followed_in_result(b, problem, device) == &b.columns.back());
  problem.nontemporal = false;
  b.columns.back().run_in_result = 21;
  CHECK(followed_in_result(b, problem, device) == nullptr);
}

TEST_CASE("vectors run on into another column where they end in the middle of one") {
  auto device = with_units(64);
  device.threads = 2;
  // CCSD(T) of the TCCG benchmark, smaller: vectors of 16 along 21, of which three values of c go on at once.
  const auto program =
      contraction("bgfd,caeg->fedcba", {{17, 21, 17, 21}, {17, 21, 17, 21}, {17, 17, 21, 17, 17, 21}}, DType::f32);
  const auto best = plan::best_candidate(program, device).schedule;
  INFO(kernel::print(best.directives));
  CHECK(has(best.name, "x63 "));
  CHECK(has(kernel::print(best.directives), " lanes 16 over 2"));
  for (const auto& each : plan::contraction_candidates(program, device)) kernel::verify(each.schedule, program, {});
  const auto even = contraction("ab,bcd->dac", {{48, 24}, {24, 64, 40}, {40, 48, 64}}, DType::f32);
  CHECK_FALSE(has(kernel::print(plan::best_candidate(even, device).schedule.directives), " over "));
}

TEST_CASE("axes are joined where register tiles of each leave much over") {
  auto device = with_units(32);
  device.threads = 2;
  const auto name = [&](const ir::Program& program) { return plan::best_candidate(program, device).schedule.name; };
  // CCSD of the TCCG benchmark, smaller: vectors of 16 along 29.
  const std::vector<std::vector<std::int64_t>> extents = {{29, 29, 33, 33}, {33, 29, 29, 33}, {29, 29, 33, 33}};
  CHECK(has(name(contraction("cfae,edfb->dcba", extents, DType::f32)), " joined "));
  CHECK(has(name(contraction("cfae,edfb->dcba", extents, DType::f64)), " joined "));
  for (const auto type : {DType::c64, DType::f64}) {
    const auto program = contraction("cfae,edfb->dcba", extents, type);
    for (const auto& each : plan::contraction_candidates(program, device)) kernel::verify(each.schedule, program, {});
  }
  // TAL-SH's 472nd: rows and columns joined, and register tiles of one row.
  const std::vector<std::vector<std::int64_t>> all = {{19, 19}, {19, 19, 19, 19}, {19, 19, 19, 19, 19, 19}};
  const auto outer = contraction("fa,dbce->fedcba", all, DType::f64);
  for (const auto& each : plan::contraction_candidates(outer, device)) {
    (void)kernel::expand(kernel::build(outer, each.schedule, kernel::Target::cpu));
    kernel::verify(each.schedule, outer, kernel::Target::cpu);
  }
  // Whole vectors leave nothing over.
  const std::vector<std::vector<std::int64_t>> even = {{32, 32, 32, 32}, {32, 32, 32, 32}, {32, 32, 32, 32}};
  CHECK_FALSE(has(name(contraction("cfae,edfb->dcba", even, DType::f32)), " joined "));
}

TEST_CASE("pairs of tensors are copied around long products, and one at a time where that is enough") {
  auto device = with_units(32);
  device.threads = 2;
  const auto copies = [&](const ir::Program& program) {
    std::string names;
    for (const auto& each : plan::best_candidate(program, device).schedule.directives) {
      if (each.kind == kernel::Directive::Kind::copy) names += each.subject;
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  // TAL-SH's 8697th, smaller: short extents of everything.
  CHECK(copies(contraction("cdgalkji,fhbelkij->hgfedcba",
                           {{5, 5, 5, 5, 6, 6, 6, 6}, {5, 5, 5, 5, 6, 6, 6, 6}, {5, 5, 5, 5, 5, 5, 5, 5}},
                           DType::f64)) == "BC");
  // Its 2931st, smaller, of f32: all three leave a product of matrices.
  const auto program =
      contraction("iadch,giehbf->gfedcba", {{6, 9, 9, 9, 9}, {6, 6, 9, 9, 9, 9}, {6, 9, 9, 9, 9, 9, 9}}, DType::f32);
  CHECK(copies(program) == "ABC");
  const auto composite = kernel::composite_of(program, plan::best_candidate(program, device).schedule);
  CHECK(composite.canonical(composite.product).program.indices.size() == 3);
  // A batch of products whose neighbours in memory are of the batch: three copies leave matrices, which are used often
  // enough only where they are large, and the batch is slow of what needs none.
  const auto batch = [&](const char* spec, std::int64_t n, std::int64_t count, bool first) {
    const auto of_one = first ? std::vector{count, n, n} : std::vector{n, n, count};
    return copies(contraction(spec, {of_one, of_one, of_one}, DType::f64));
  };
  CHECK(batch("akc,kbc->abc", 128, 100, false) == "ABC");
  CHECK(batch("akc,kbc->abc", 24, 4000, false).empty());
  CHECK(batch("cak,ckb->cab", 128, 100, true).empty());
  // Two, where the result is one already, although a plain schedule would take them as they lie.
  const auto of_operands = contraction("akc,kbc->cab", {{30, 30, 2000}, {30, 30, 2000}, {2000, 30, 30}}, DType::f64);
  CHECK(copies(of_operands) == "AB");
  // Copies cannot pay where each element is used for a few products alone.
  CHECK(copies(contraction("ab,bc->ac", {{4000, 8}, {8, 4000}, {4000, 4000}}, DType::f32)).empty());
}

TEST_CASE("every pair of copies around a product gives its sums") {
  const std::string spec = "eafd,dbfc->bcae";
  const std::vector<std::vector<std::int64_t>> extents = {{9, 6, 5, 7}, {7, 4, 5, 11}, {4, 11, 6, 9}};
  const auto program = contraction(spec, extents, DType::f64);
  std::vector<Layout> layouts;
  for (const auto& each : extents) layouts.push_back(Layout::row_major(DType::f64, each));
  const std::vector<Layout> inputs(layouts.begin(), layouts.begin() + 2);
  std::array<std::vector<double>, 2> values;
  std::mt19937 random(3);
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::int64_t n = layout_size(inputs[k]); n > 0; --n)
      values[k].push_back(static_cast<double>(random() % 9) - 4);
  }
  const std::vector<const void*> operands = {values[0].data(), values[1].data()};
  std::vector<double> wanted(static_cast<std::size_t>(layout_size(layouts[2])), 0.0);
  Runtime::interpret_einsum(spec, inputs, layouts[2], operands, wanted.data());

  const auto of = kernel::contraction_of(program);
  REQUIRE(of);
  const plan::MatrixCopies matrices(program, *of);
  RuntimeOptions runtime_options;
  runtime_options.cache_dir = "off";
  Runtime runtime(runtime_options);
  constexpr int kA = plan::MatrixCopies::kFirst, kB = plan::MatrixCopies::kSecond, kC = plan::MatrixCopies::kResult;
  int tried = 0;
  for (const auto& [one, other] : {std::pair(kA, kB), {kA, kC}, {kB, kC}, {kC, kB}}) {
    for (const auto& first : matrices.orders(one)) {
      for (const auto& second : matrices.orders(other)) {
        const auto list = plan::copied_candidates(program, with_units(32), {first, second}, 1);
        REQUIRE(list.size() == 1);
        INFO(list.front().schedule.name);
        kernel::verify(list.front().schedule, program, {});
        if (++tried % 3 != 0) continue;  // kernels are compiled
        EinsumOptions options;
        options.schedule = kernel::print(list.front().schedule.directives);
        std::vector<double> got(wanted.size(), -1.0);
        const auto plan = runtime.plan_einsum(spec, inputs, layouts[2], options);
        CHECK(plan.info().steps == 3);
        plan(std::vector<void*>{got.data()}, operands);
        CHECK(got == wanted);
      }
    }
  }
  CHECK(tried >= 12);
}

TEST_CASE("the best of random contractions on a CPU is the first of the list") {
  std::mt19937_64 random(26);
  const auto draw = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::int64_t kExtents[] = {1, 2, 3, 5, 8, 13, 16, 24, 31, 48, 72, 100};
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128, DType::i32};
  for (int k = 0; k < 60; ++k) {
    const auto program = tests::random_contraction(random, kExtents, kTypes);
    auto device = with_units(draw(2) == 0 ? 32 : 64);
    device.vector_bytes = draw(3) == 0 ? 32 : 64;
    device.threads = 1 << draw(4);
    INFO(ir::print(program));
    const auto best = plan::best_candidate(program, device), first = plan::candidates(program, device).front();
    CHECK(best.schedule.name == first.schedule.name);
    CHECK(best.schedule.directives == first.schedule.directives);
    CHECK(best.predicted_us == first.predicted_us);
  }
}

TEST_CASE("no product, and no copy, is predicted to take less than what is known before there are schedules") {
  std::mt19937_64 random(27);
  const auto draw = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::int64_t kExtents[] = {1, 2, 3, 5, 8, 13, 16, 24, 31, 48, 72, 100, 210};
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128};
  for (int k = 0; k < 200; ++k) {
    auto device = with_units(draw(2) == 0 ? 32 : 64);
    device.vector_bytes = 16 << draw(3);
    device.threads = 1 << draw(4);
    device.l2_bytes = 1 << (18 + draw(4));
    const auto program = tests::random_contraction(random, kExtents, kTypes);
    INFO(ir::print(program));
    if (const auto c = kernel::contraction_of(program); c && c->indices(kernel::Role::batch).empty()) {
      const auto extent = [&](kernel::Role role) { return c->extent(program, role); };
      const auto least = plan::least_product_us(extent(kernel::Role::rows), extent(kernel::Role::columns),
                                                extent(kernel::Role::depth), c->type, device);
      for (const auto& candidate : plan::contraction_candidates(program, device)) {
        INFO(candidate.schedule.name);
        CHECK(least <= candidate.predicted_us);
      }
    }
    const auto type = kTypes[draw(std::size(kTypes))];
    const std::vector<std::int64_t> extents = {kExtents[draw(13)], kExtents[draw(13)], kExtents[draw(13)]};
    const ir::EinsumProblem copy{Spec::parse("abc->cab"),
                                 {Layout::row_major(type, extents)},
                                 Layout::row_major(type, {extents[2], extents[0], extents[1]})};
    const double bytes = 2.0 * static_cast<double>(extents[0] * extents[1] * extents[2] * size_of(type));
    CHECK(plan::least_copy_us(bytes, device) <=
          plan::best_candidate(ir::canonicalise(ir::lower(copy)), device).predicted_us);
  }
}

}  // namespace plan_contraction_cpu_test
