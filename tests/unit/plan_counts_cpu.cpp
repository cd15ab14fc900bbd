// What models of kernels for a CPU count is what these do: multiply-adds, what is packed, read, staged and written, as
// the kernel interpreter counts them of candidates for random problems.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/seeds.hpp"
#include "ir/program.hpp"
#include "kernel/build.hpp"
#include "kernel/contraction.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/permute/cpu_stage.hpp"
#include "kernel/print.hpp"
#include "kernel/schedule.hpp"
#include "lower/lower_program.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/plain.hpp"
#include "plan/models/cost_cpu.hpp"
#include "plan/plan.hpp"

namespace plan_counts_cpu_test {

using namespace ricci;
using kernel::Counts;
using kernel::Kernel;

namespace {

/// Memory of a program's buffers, all zeros.
class Buffers {
 public:
  explicit Buffers(const ir::Program& program) {
    for (const auto& buffer : program.buffers) {
      const auto size = size_of(buffer.type);
      memory_.emplace_back(static_cast<std::size_t>((buffer.last - buffer.first + 1) * size));
      element_0_.push_back(memory_.back().data() - buffer.first * size);
    }
  }
  const std::vector<void*>& element_0() const { return element_0_; }

 private:
  std::vector<std::vector<char>> memory_;
  std::vector<void*> element_0_;
};

/// The arrays of a product on a CPU: of the operands that move with its rows and its columns, where they lie and where
/// they are packed, which is -1 where they are read in place.
struct Product {
  int rows = -1, columns = -1, packed_rows = -1, packed_columns = -1, accumulator = -1;
};

void find_products(const kernel::Body& body, std::map<int, int>& packed_from, std::vector<Product>& products) {
  for (const auto& statement : body) {
    if (const auto* loop = std::get_if<kernel::Loop>(&statement.node)) find_products(loop->body, packed_from, products);
    if (const auto* section = std::get_if<kernel::Section>(&statement.node))
      find_products(section->body, packed_from, products);
    if (const auto* copy = std::get_if<kernel::Copy>(&statement.node)) packed_from[copy->to.array] = copy->from.array;
    const auto* mma = std::get_if<kernel::Mma>(&statement.node);
    if (mma == nullptr) continue;
    Product product{mma->a.array, mma->b.array, -1, -1, mma->accumulator};
    const auto origin = [&](int& array, int& packed) {
      if (const auto found = packed_from.find(array); found != packed_from.end()) {
        packed = array;
        array = found->second;
      }
    };
    origin(product.rows, product.packed_rows);
    origin(product.columns, product.packed_columns);
    products.push_back(product);
  }
}

/// The array that register tiles write: the result, or one that gathers its lines.
int written_by_tiles(const kernel::Body& body) {
  int array = -1;
  for (const auto& statement : body) {
    if (const auto* flush = std::get_if<kernel::Flush>(&statement.node)) array = flush->to.array;
    kernel::for_each_body(statement,
                          [&](const kernel::Body& inner) { array = std::max(array, written_by_tiles(inner)); });
  }
  return array;
}

/// Names what differs: "results written 12, model 14\n".
class Comparison {
 public:
  void operator()(const char* what, double counted, double model) {
    // Of averages products differ from counts in their last bits.
    if (std::abs(counted - model) > 1e-9 * model) text += fmt::format("{} {}, model {}\n", what, counted, model);
  }
  void at_most(const char* what, double counted, double model) {
    if (counted > model * (1 + 1e-9)) text += fmt::format("{} {}, model at most {}\n", what, counted, model);
  }
  std::string text;
};

double elements(const Counts::Moved& moved, DType type) {
  return static_cast<double>(moved.bytes) / static_cast<double>(size_of(type));
}

double whole(std::int64_t number) { return static_cast<double>(number); }

/// A candidate's kernel, executed.
struct Executed {
  Kernel tiles;  ///< before expand()
  std::vector<Product> products;
  std::vector<std::int64_t> lanes;  ///< of the products' sums
  bool joined;
  Counts counts;

  Executed(const ir::Program& program, const kernel::Schedule& schedule)
      : tiles(kernel::build(program, schedule, kernel::Target::cpu)),
        joined(schedule.name.find("joined") != std::string::npos) {
    std::map<int, int> packed_from;
    find_products(tiles.body, packed_from, products);
    const auto tree = kernel::expand(tiles);
    for (const auto& product : products) lanes.push_back(tree.array(product.accumulator).lanes);
    counts = kernel::execute(tree, Buffers(program).element_0(), std::vector<Scalar>(program.params.size()));
  }
  const Counts::Sides& moved(int array) const { return counts.arrays[static_cast<std::size_t>(array)]; }
  DType type(int array) const { return tiles.array(array).type; }
};

/// Nothing where nothing differs.
std::string told(const Comparison& same, const ir::Program& program, const plan::Candidate& candidate,
                 const Executed& run) {
  if (same.text.empty()) return {};
  return same.text + ir::print(program) + candidate.schedule.name + "\n" + kernel::print(candidate.schedule) +
         kernel::print(run.tiles);
}

/// What products read of an operand, and what is packed of it.
///   loads  of each round
///   terms  of a sum, without those past the end of an index
void compare(Comparison& same, const Executed& run, const plan::CpuContractionCounts& model,
             const plan::CpuContractionCounts::Operand& operand, int array, int packed, double loads, double terms) {
  const auto all = model.batch * operand.elements;
  const auto& place = run.moved(packed >= 0 ? packed : array).read;
  same("loads by products", whole(place.accesses), model.batch * model.tiles * model.rounds * loads);
  same("packed operands", packed >= 0 ? 1 : 0, operand.packed > 0 ? 1 : 0);
  if (packed < 0) return same("elements read in place", elements(place, run.type(array)), all * operand.passes);
  const double read = elements(run.moved(array).read, run.type(array));
  // Of joined indices the last vector of a tile begins earlier, so that it is whole.
  if (run.joined) {
    same.at_most("elements packed", all * operand.packed, read);
    same.at_most("elements read to be packed", read, 2 * all * operand.packed);
  } else {
    same("elements read to be packed", read, all * operand.packed);
  }
  // Sums go on past the end of an index with zeros, and pieces of joined indices are written by whole vectors.
  const double written = elements(run.moved(packed).written, run.type(packed)),
               wanted = all * operand.packed / terms * model.parts * model.rounds;
  if (run.joined) return same.at_most("elements packed", wanted, written);
  // Those zeros may be whole vectors where their index ends in a part of one.
  const double zeros = wanted - all * operand.packed;
  if (zeros < 0.5) return same("elements packed", written, wanted);
  same.at_most("elements packed", wanted, written);
  same.at_most("zeros packed", written - all * operand.packed, zeros * whole(run.lanes.front()));
}

std::string difference(const ir::Program& program, const plan::Candidate& candidate) {
  const Executed run(program, candidate.schedule);
  const auto contraction = *kernel::contraction_of(program);
  REQUIRE(run.products.size() == 1);
  const auto& product = run.products.front();
  const auto& model = candidate.products.front();
  const double lanes = whole(run.lanes.front()), terms = whole(contraction.extent(program, kernel::Role::depth));
  const bool is_sum = !contraction.indices(kernel::Role::depth).empty(),
             complex = is_complex(run.type(product.accumulator));
  Comparison same;
  same("tasks", whole(run.counts.tasks), whole(candidate.traffic.tiles));
  compare(same, run, model, model.rows, product.rows, product.packed_rows, model.sums, terms);
  compare(same, run, model, model.columns, product.columns, product.packed_columns, model.vectors, terms);

  const int result = program.statement().buffer;
  const auto& [read, written] = run.moved(result);
  // Lines of the result may leave from another array, where tiles write it.
  const auto stores = run.moved(written_by_tiles(run.tiles.body)).written.accesses;
  const auto type = run.type(result);
  const double results = model.batch * model.results, tiles = model.batch * model.tiles;
  same("results written", elements(written, type), results * model.parts);
  same("results read", elements(read, type), results * (model.parts - 1));
  // What is past the end of an index is not stored, and results across the lanes may be transposed. No vectors hold
  // halves: of these the model counts as many stores as of other types.
  const double of_vector = is_half(type) ? lanes : std::ceil(model.pieces);
  same.at_most("stores", whole(stores), tiles * model.stores * of_vector);
  const bool ragged = tiles * model.tile_rows * model.tile_columns > results * model.parts;
  const bool across = candidate.schedule.name.find("vectors along") != std::string::npos;
  if (!ragged && !across && !is_half(type) && model.pieces == 1) same("stores", whole(stores), tiles * model.stores);
  // One addition makes a sum of complex numbers, and one adds to what earlier parts have written.
  const double stored = whole(written.accesses - written.vectors) + whole(written.vectors) * lanes;
  same("operations", whole(run.counts.flops),
       tiles * model.rounds * model.sums * model.vectors * lanes * (is_sum ? 2 : 1) +
           stored * ((complex ? 1 : 0) + (model.parts - 1) / model.parts));
  return told(same, program, candidate, run);
}

/// Of a group, whose products have operands of their own.
std::string group_difference(const ir::Program& program, const plan::Candidate& candidate) {
  const Executed run(program, candidate.schedule);
  const auto group = *kernel::group_of(program);
  REQUIRE(run.products.size() == candidate.products.size());
  Comparison same;
  double operations = 0;
  for (std::size_t k = 0; k < candidate.products.size(); ++k) {
    const auto& model = candidate.products[k];
    const auto& factor = program.nodes[static_cast<std::size_t>(group.products[k].first.load)];
    const auto found = std::find_if(run.products.begin(), run.products.end(), [&](const Product& product) {
      return product.rows == factor.source || product.columns == factor.source;
    });
    REQUIRE(found != run.products.end());
    const double terms = whole(group.products[k].extent(program, kernel::Role::depth));
    compare(same, run, model, model.rows, found->rows, found->packed_rows, model.sums, terms);
    compare(same, run, model, model.columns, found->columns, found->packed_columns, model.vectors, terms);
    operations += 2 * model.tiles * model.rounds * model.sums * model.vectors * whole(run.lanes.front());
  }
  same("tasks", whole(run.counts.tasks), whole(candidate.traffic.tiles));
  same.at_most("multiply-adds", operations, whole(run.counts.flops));
  return told(same, program, candidate, run);
}

/// With few bytes of each, so that small problems have several blocks and tasks.
plan::CpuModel small_device(std::mt19937_64& random) {
  plan::CpuModel device;
  device.vector_bytes = random() % 4 == 0 ? 32 : 64;
  device.l1_bytes = std::int64_t{1024} << random() % 4;
  device.l2_bytes = device.l1_bytes * 4;
  device.cache_bytes = device.l2_bytes * 8;
  device.threads = 1 << random() % 4;
  return device;
}

/// How often each kind of a case has come.
class Seen {
 public:
  void add(const std::string& kind, bool is_so) { times_[kind] += is_so ? 1 : 0; }
  void check() const {
    for (const auto& [kind, times] : times_) {
      INFO(kind);
      CHECK(times > 0);
    }
  }

 private:
  std::map<std::string, int> times_;
};

/// Elements that move together into an array, from row to row; 0: they move otherwise.
std::int64_t rows_in_array(const Kernel& kernel, const kernel::Body& body) {
  std::int64_t length = 0;
  for (const auto& statement : body) {
    if (const auto* loop = std::get_if<kernel::Loop>(&statement.node))
      length = std::max(length, rows_in_array(kernel, loop->body));
    if (const auto* section = std::get_if<kernel::Section>(&statement.node))
      length = std::max(length, rows_in_array(kernel, section->body));
    const auto* run = std::get_if<kernel::CopyRun>(&statement.node);
    if (run != nullptr && kernel.array(run->to.array).space == kernel::Space::scratch) length = run->count;
  }
  return length;
}

/// Of a copy.
std::string move_difference(const ir::Program& program, const plan::Candidate& candidate, Seen& seen) {
  const auto moves = kernel::moves_of(program, candidate.schedule.directives);
  const plan::Sides sides(program);
  const auto model = plan::counts_of(sides, moves);
  const Executed run(program, candidate.schedule);
  const auto& statement = program.statement();
  const double points = whole(program.points());
  Comparison same;
  same("tasks", whole(run.counts.tasks), whole(candidate.traffic.tiles));
  const auto& written = run.moved(statement.buffer).written;
  const bool in_array = moves.stage && moves.stage->memory == kernel::StageMemory::shared;
  const double in_blocks = model.tiles * model.along * model.across;
  // Blocks that add to the output do not overlap: their ends go point by point.
  const bool adds = whole(run.moved(statement.buffer).read.accesses) > 0;
  const auto moved = [&](const char* what, double counted, double wanted) {
    adds ? same.at_most(what, counted, wanted) : same(what, counted, wanted);
  };
  moved("results written", elements(written, run.type(statement.buffer)),
        points * (in_array ? model.tiles : in_blocks));
  same("bytes of results", whole(candidate.traffic.write.bytes), points * whole(size_of(run.type(statement.buffer))));
  if (sides.load >= 0) {
    const auto& load = program.nodes[static_cast<std::size_t>(sides.load)];
    double distinct = 1;
    for (std::size_t q = 0; q < program.indices.size(); ++q)
      distinct *= load.offset.coefficient[q] != 0 ? whole(program.indices[q].extent) : 1;
    same("bytes of operands", whole(candidate.traffic.read.bytes), distinct * whole(size_of(load.type)));
    const auto& read = run.moved(load.source).read;
    // Where vectors hold several rows each, and a block has fewer, it reads some again, which are in the first cache
    // then.
    double loaded = 1;
    if (in_array && model.vectors > 1) {
      const auto block = kernel::transpose_block(moves);
      loaded = whole(std::int64_t{block.vectors()} * block.row_packing) / model.rows;
    }
    moved("elements read", elements(read, load.type), points * in_blocks * loaded);
    if (moves.stage && !adds) same("loads", whole(read.accesses), points * in_blocks * loaded / model.columns);
    const auto& kept = run.counts.written_to(kernel::Space::scratch);
    const double row = whole(rows_in_array(run.tiles, run.tiles.body));
    same.at_most("elements of a row", row, model.run);
    same("elements kept", elements(kept, load.type), in_array ? points * in_blocks : 0);
  }
  seen.add("in registers", moves.stage && !in_array);
  seen.add("in an array", in_array);
  seen.add("blocks in an array", in_array && model.vectors > 1);
  seen.add("rows in an array", model.run > 1);
  seen.add("tiles that overlap", model.tiles > 1);
  seen.add("blocks that overlap along", model.along > 1);
  seen.add("blocks that overlap across", model.across > 1);
  return told(same, program, candidate, run);
}

}  // namespace

TEST_CASE("what the model counts of a contraction on a CPU is what its kernel does") {
  constexpr std::int64_t kExtents[] = {1, 2, 3, 4, 5, 8, 11, 13, 16, 24, 31};
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128, DType::i32, DType::bf16, DType::i8};
  // Kinds that are rare among random ones: lanes of both operands, several tasks of rows, results across, joined
  // indices.
  struct Rare {
    const char *word, *spec;
    std::vector<std::vector<std::int64_t>> extents;
  };
  const Rare kRare[] = {
      {"batched", "ikb,kjb->ijb", {{16, 6, 70}, {6, 17, 70}, {16, 17, 70}}},
      {"packed", "ac,cb->ab", {{170, 300}, {300, 25}, {170, 25}}},
      {"vectors along", "acd,db->cba", {{20, 9, 40}, {40, 19}, {9, 19, 20}}},
      {"joined", "cfae,edfb->dcba", {{3, 4, 9, 5}, {5, 3, 4, 9}, {3, 3, 9, 9}}},
  };
  Seen seen;
  std::size_t compared = 0;
  const auto count = static_cast<std::size_t>(fuzz::cases(450));
  for (std::size_t k = 0; k < count; ++k) {
    std::mt19937_64 random(fuzz::first_seed(1) + k);  // which schedules others have does not matter
    const bool rare = k < std::min(4 * std::size(kRare), count / 3);
    const auto& [word, spec, extents] = kRare[k % std::size(kRare)];
    const auto program = rare ? tests::contraction(spec, extents, kTypes[k % std::size(kTypes)])
                              : tests::random_contraction(random, kExtents, kTypes);
    double points = 1;
    for (const auto& index : program.indices) points *= static_cast<double>(index.extent);
    if (!rare && points > 100'000) continue;
    const auto list = plan::contraction_candidates(program, small_device(random), 1000);
    if (list.empty()) continue;
    const auto rarest = std::find_if(list.begin(), list.end(), [&](const plan::Candidate& each) {
      return rare && each.schedule.name.find(word) != std::string::npos;
    });
    const auto& candidate = rarest != list.end() ? *rarest : list[static_cast<std::size_t>(random() % list.size())];
    const auto text = difference(program, candidate);
    INFO(text);
    CHECK(text.empty());
    ++compared;
    const auto& model = candidate.products.front();
    for (const char* kind : {"outer", "batched", " along", "vectors along", "joined", "wide", "lanes"})
      seen.add(kind, candidate.schedule.name.find(kind) != std::string::npos);
    seen.add("sums in parts", model.parts > 1);
    seen.add("a batch", model.batch > 1);
    seen.add("rows packed several times", model.rows.packed > 1);
    seen.add("columns packed several times", model.columns.packed > 1);
    seen.add("rows in place", model.rows.packed == 0);
    seen.add("columns in place", model.columns.packed == 0);
    seen.add("several pieces", model.pieces > 1);
  }
  CHECK(compared >= count * 2 / 5);
  if (fuzz::enough(static_cast<std::int64_t>(count))) seen.check();
}

TEST_CASE("what the model counts of a group of contractions on a CPU is what its kernel does") {
  std::mt19937_64 random(3);
  Seen seen;
  const int count = std::max(fuzz::cases(48) / 3, 1);  // each is as long as several of the others
  for (int k = 0; k < count; ++k) {
    std::array<std::uint64_t, 5> extents = {9, 9, 30, 20, 20};
    for (auto& extent : extents) extent = 2 + random() % extent;
    const auto text = fmt::format(
        "index a = {}\nindex b = {}\nindex c = {}\nindex k = {}\nindex l = {}\n"
        "input A(a, b, k) : f64\ninput B(k, c) : f64\ninput E(l, a) : f64\ninput F(c, b, l) : f64\n"
        "input G(b, a, l) : f64\ninput H(l, c) : f64\noutput y(a, b, c) : f64\n"
        "y(a, b, c) = sum(k, A(a, b, k) * B(k, c)) - sum(l, E(l, a) * F(c, b, l)) + sum(l, G(b, a, l) * H(l, c))\n",
        extents[0], extents[1], 7 + extents[2], extents[3], k % 8 == 0 ? 700 : extents[4]);
    const ir::Program program = ir::canonicalise(ir::lower(Program::parse(text)).steps.front().program);
    const auto list = plan::group_candidates(program, small_device(random));
    REQUIRE_FALSE(list.empty());
    const auto& candidate = list[static_cast<std::size_t>(random() % list.size())];
    const auto differs = group_difference(program, candidate);
    INFO(differs);
    CHECK(differs.empty());
    for (const auto& model : candidate.products) {
      seen.add("sums in parts", model.parts > 1);
      seen.add("several tasks", model.rows.packed > 1 || model.columns.packed > 1);
      seen.add("in place", model.rows.packed == 0 || model.columns.packed == 0);
    }
  }
  if (fuzz::enough(std::int64_t{3} * count)) seen.check();
}

TEST_CASE("what the model counts of a permutation on a CPU is what its kernel does") {
  std::mt19937_64 random(4);
  Seen seen;
  int compared = 0;
  const int count = fuzz::cases(300);
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed) {
    const auto problem = fuzz::random_problem(seed, {4000, 8}).problem();
    const ir::Program program = ir::canonicalise(ir::lower(problem));
    if (program.points() == 0 || !plan::is_copy(program)) continue;
    auto device = small_device(random);
    if (random() % 4 == 0) device.vector_bytes = 16;
    const auto list = plan::candidates(program, device);
    const auto& candidate = list[static_cast<std::size_t>(random() % list.size())];
    const bool moves = std::any_of(candidate.schedule.directives.begin(), candidate.schedule.directives.end(),
                                   [](const kernel::Directive& d) { return d.kind == kernel::Directive::Kind::write; });
    if (!moves) continue;
    const auto differs = move_difference(program, candidate, seen);
    INFO("seed " << seed << "\n" << differs);
    CHECK(differs.empty());
    ++compared;
  }
  CHECK(compared > count * 2 / 5);
  if (fuzz::enough(count)) seen.check();
}

}  // namespace plan_counts_cpu_test
