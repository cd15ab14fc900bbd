// Dispatch rules from outside of src/kernel: a CPU packs whole rows and prefetches what follows them; on a GPU each
// warp copies a row of its own.
#include <cstring>

#include "catch.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/object_loader.hpp"
#include "kernel/expand.hpp"
#include "kernel/extensions.hpp"
#include "ricci/error.hpp"
#include "runtime/plan_impl.hpp"
#include "simt/contraction_case.hpp"

using namespace ricci;
using kernel::Affine;
using kernel::Body;
using kernel::Copy;
using kernel::Kernel;

namespace {

/// Whether a copy moves rows: its last digit lies along both sides, a multiple of `unit` elements of one type, and all
/// of them exist.
bool moves_rows(const Kernel& kernel, const Copy& copy, std::int64_t unit) {
  const auto& row = copy.digits.back();
  const auto steps = [&](const kernel::Access& side) { return side.index.front().coefficient(row.var); };
  return copy.when.empty() && steps(copy.to) == 1 && steps(copy.from) == 1 && row.extent % unit == 0 &&
         kernel.array(copy.to.array).type == kernel.array(copy.from.array).type;
}

std::int64_t lanes_of(const Kernel& kernel, const Copy& copy) {
  return kernel.vector_bytes / size_of(kernel.array(copy.to.array).type);
}

const kernel::CopyRule kPrefetchedRows = {
    "prefetched rows", kernel::Target::cpu,
    [](const Kernel& kernel, const Copy& copy) { return moves_rows(kernel, copy, lanes_of(kernel, copy)); },
    [](Kernel& kernel, const Copy& copy, const kernel::Mover&) {
      const auto& row = copy.digits.back();
      kernel::CopyRow all{with(copy.to, row.var, 0),
                          with(copy.from, row.var, 0),
                          row.extent,
                          static_cast<int>(lanes_of(kernel, copy)),
                          true,
                          false};
      Body body{{std::move(all)}};
      for (std::size_t k = copy.digits.size() - 1; k-- > 0;)
        body = {kernel::loop_over(copy.digits[k].var, kernel::Bind::serial, std::move(body))};
      return body;
    }};

const kernel::CopyRule kRowsOfWarps = {
    "rows of warps", kernel::Target::cuda,
    [](const Kernel& kernel, const Copy& copy) {
      return !copy.async && copy.digits.size() == 2 && moves_rows(kernel, copy, 32);
    },
    [](Kernel& kernel, const Copy& copy, const kernel::Mover& thread) {
      const auto& [rows, row] = std::pair(copy.digits[0], copy.digits[1]);
      const auto warp = kernel.add_var("row_warp", thread.count / 32), lane = kernel.add_var("row_lane", 32);
      const auto part = kernel.add_var("part", row.extent / 32);
      const auto element = Affine::of(lane) + Affine::of(part, 32);
      Body body{{kernel::Store{with(copy.to, row.var, element), kernel::load_of(kernel.array(copy.from.array).type,
                                                                                with(copy.from, row.var, element))}}};
      body = {kernel::loop_over(part, kernel::Bind::unroll, std::move(body))};
      kernel::Loop of_warp{rows.var, kernel::Bind::any, {}, std::move(body)};
      of_warp.first = Affine::of(warp);
      of_warp.step = thread.count / 32;
      return Body{{kernel::Section{"rows of warps",
                                   {{kernel::Let{warp, thread.number, 32, 0}},
                                    {kernel::Let{lane, thread.number, 1, 32}},
                                    {std::move(of_warp)}}}}};
    }};

const bool kAdded = (kernel::add(kPrefetchedRows), kernel::add(kRowsOfWarps), true);

}  // namespace

TEST_CASE("rules stand in the keys of kernels, each name once") {
  REQUIRE(kAdded);
  CHECK(kernel::added_rules() == "rules prefetched rows, rows of warps\n");
  CHECK_THROWS_AS(kernel::add(kPrefetchedRows), InternalError);
}

TEST_CASE("a CPU packs by a rule from outside where the layouts are its own") {
  const auto program =
      ir::canonicalise(ir::lower(simt::problem_of("ad,db->ab", {{'a', 40}, {'b', 64}, {'d', 24}}, {DType::f64})));
  // Rows of B lie along its packed array's, those of A across.
  const auto directives = kernel::parse_directives(
      "tile a:4; tile c:32; order task c0 serial a0; stage B at c0 scratch b c; stage A at a0 scratch b a;"
      "atom fma rows a columns c depth b lanes 8");
  const auto tiles = kernel::build(program, *kernel::contraction_of(program), directives, kernel::Target::cpu);
  const auto tree = kernel::expand(tiles);
  const auto source = codegen::print_cpp(tree, "contraction");
  INFO(source.text);
  CHECK(source.text.find("copy_row<f64x8, true, false>(B_packed") != std::string::npos);
  CHECK(source.text.find("copy_row<f64x8, true, false>(A_packed") == std::string::npos);

  std::mt19937_64 random(1);
  std::vector<simt::Area> areas;
  for (const auto& buffer : program.buffers) {
    areas.emplace_back(static_cast<std::size_t>((buffer.last + 1) * size_of(buffer.type)));
    areas.back().fill(buffer.type, random);
  }
  auto compiled = areas, wanted = areas;
  const auto pointers = [](std::vector<simt::Area>& of) {
    std::vector<void*> list;
    for (auto& area : of) list.push_back(area.begin());
    return list;
  };
  ir::interpret(program, pointers(wanted), {});
  kernel::execute(tree, pointers(areas), {});

  jit::CpuCompileOptions options;
  options.target = jit::host_cpu();
  const auto text = codegen::portable_prelude(program) + source.portable + source.text;
  const auto object = jit::load_object(jit::compile_cpu(text, "contraction", options).bytes);
  const auto run = reinterpret_cast<void (*)(void* const*, long long, long long, char*)>(object->symbol("contraction"));
  simt::Area scratch(static_cast<std::size_t>(tree.bytes_of(kernel::Space::scratch)));
  run(pointers(compiled).data(), 0, tree.tasks(), reinterpret_cast<char*>(scratch.begin()));
  for (std::size_t b = 0; b < areas.size(); ++b) {
    CHECK(std::memcmp(areas[b].begin(), wanted[b].begin(), areas[b].bytes) == 0);
    CHECK(std::memcmp(compiled[b].begin(), wanted[b].begin(), areas[b].bytes) == 0);
  }
}

TEST_CASE("a GPU copies by a rule from outside where the layouts are its own") {
  const auto problem = simt::problem_of("ad,db->ab", {{'a', 64}, {'b', 96}, {'d', 40}}, {DType::f32});
  for (const char* stages : {"stage A at b0 shared b a pad 4; stage B at b0 shared b c pad 4;",
                             "stage A at b0 shared b a pad 4; stage B at b0 shared b c pad 4; pipeline b0 2;"}) {
    const std::string text(stages);
    const auto pipeline = text.find(" pipeline");
    simt::ContractionCase kernel(
        problem,
        kernel::parse_directives("tile a:32; tile c:32; tile b:8; order task a0 c0 sum b0;" + text.substr(0, pipeline) +
                                 "atom fma rows a columns c depth b warps 1x2 runs 4x4x1;" +
                                 (pipeline == std::string::npos ? "" : text.substr(pipeline))));
    INFO(kernel.source.text);
    CHECK(kernel.source.text.find("// rows of warps") != std::string::npos);
    bool same = false;
    kernel.interpreted(1, same);
    CHECK(same);
    for (const std::uint64_t seed : {0, 1, 2}) CHECK(kernel.wrong(seed).empty());
  }
}
