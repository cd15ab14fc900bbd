// Every schedule that the planner proposes, as text from the emitter: runs without a fault, gives the interpreter's
// bits, and moves what the traffic model predicts.
#include <cstring>
#include <random>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/permute/moves.hpp"
#include "lower/einsum.hpp"
#include "plan/plan.hpp"
#include "simt/emitted.hpp"

namespace test_emitted {

using namespace ricci;

namespace {

struct Case {
  const char* spec;
  DType input, output;
  std::vector<std::int64_t> extents;  // of the input
  ir::Factor alpha = ir::Factor::one, beta = ir::Factor::zero;
};

// 32-byte aligned storage of a tensor without gaps.
struct Tensor {
  Tensor(DType type, std::int64_t elements)
      : bytes(static_cast<std::size_t>(elements * size_of(type))), memory((bytes + 31) / 32 + 1) {}
  struct alignas(32) Sector {
    unsigned char at[32] = {};
  };
  std::size_t bytes;
  std::vector<Sector> memory;
  unsigned char* begin() { return memory.data()->at; }

  // Small whole numbers: exact in every type and in every order of operations.
  void fill(DType type, std::mt19937& random) {
    std::uniform_int_distribution<int> digits(0, 9);
    const auto put = [&](auto zero) {
      for (std::size_t i = 0; i < bytes / sizeof zero; ++i) {
        const auto value = static_cast<decltype(zero)>(digits(random));
        std::memcpy(begin() + i * sizeof zero, &value, sizeof zero);
      }
    };
    switch (type) {
      case DType::f32:
      case DType::c64:
        return put(0.0f);
      case DType::f64:
      case DType::c128:
        return put(0.0);
      case DType::f16:
        for (std::size_t i = 0; i < bytes / 2; ++i) {
          const auto half = static_cast<std::uint16_t>(0x3c00 + digits(random) * 0x20);
          std::memcpy(begin() + 2 * i, &half, 2);
        }
        return;
      case DType::bf16:
        for (std::size_t i = 0; i < bytes / 2; ++i) {
          const auto half = static_cast<std::uint16_t>(0x3f80 + digits(random));
          std::memcpy(begin() + 2 * i, &half, 2);
        }
        return;
      default:
        for (std::size_t i = 0; i < bytes; ++i) begin()[i] = static_cast<unsigned char>(random());
    }
  }
};

// The value of a run-time factor, in the memory that a kernel's argument points to.
struct FactorBytes {
  alignas(16) unsigned char at[16] = {};
  FactorBytes(DType type, double value) {
    switch (type) {
      case DType::f32:
      case DType::c64: {
        const auto narrow = static_cast<float>(value);
        std::memcpy(at, &narrow, sizeof narrow);
        break;
      }
      case DType::f64:
      case DType::c128:
        std::memcpy(at, &value, sizeof value);
        break;
      default: {
        const auto whole = static_cast<std::int64_t>(value);  // little endian: the low bytes are the narrow value
        std::memcpy(at, &whole, sizeof whole);
      }
    }
  }
};

// The planner counts whole tiles, also at ragged edges, from a sample of warps; the simulator counts what was executed.
void check_model(const plan::Candidate& candidate, const kernel::Moves& moves, const simt::Report& report,
                 bool reads_input_alone, bool ragged, bool computes_complex) {
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  const plan::Traffic& traffic = candidate.traffic;
  // The model's sectors are those of the tiles; what a skewed tile reads twice is in its price.
  const auto& skew = moves.skew;
  const double tile =
      skew.on() ? count(static_cast<std::uint64_t>(moves.tile[static_cast<std::size_t>(skew.index)])) : 1;
  const double lead = skew.on() ? (tile + skew.elements - 1) / tile : 1;
  if (reads_input_alone) CHECK(count(report.read.per_block) <= 1.2 * lead * traffic.read.sectors + 1);
  CHECK(count(report.written.per_block) <= 1.2 * traffic.write.sectors + 1);
  if (traffic.ideal_wavefronts == 0) return;  // not staged, or too far down the list
  const double predicted = traffic.bank_wavefronts * static_cast<double>(traffic.tiles);
  // The simulator's compiler moves the parts of a complex number one by one, at twice the distance.
  const double parts = computes_complex && moves.stage->mapping.vector == 1 ? 2 : 1;
  CHECK(count(report.shared.wavefronts) <= 1.05 * parts * predicted + 20);
  if (!ragged) CHECK(count(report.shared.wavefronts) >= 0.95 * predicted - 20);
}

void run_candidates(const Case& c, simt::Order order) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(c.spec);
  auto input = Layout::row_major(c.input, c.extents);
  problem.output = ir::permuted_row_major(problem.spec, input);
  problem.output.type = c.output;
  input.alignment = problem.output.alignment = 32;
  problem.inputs = {input};
  problem.alpha = c.alpha;
  problem.beta = c.beta;
  const ir::Program program = ir::canonicalise(ir::lower(problem));

  std::mt19937 random(7);
  Tensor a(c.input, input.elements()), before(c.output, problem.output.elements());
  a.fill(c.input, random);
  before.fill(c.output, random);
  const std::vector<double> factors = {3, 2};
  Tensor expected = before;
  {
    std::vector<Scalar> values;
    for (std::size_t i = 0; i < program.params.size(); ++i) values.emplace_back(factors[i]);
    ir::interpret(program, {a.begin(), expected.begin()}, values);
  }
  std::vector<FactorBytes> params;
  for (std::size_t i = 0; i < program.params.size(); ++i) params.emplace_back(program.params[i].type, factors[i]);

  // The best, and some of the others: candidates differ little down the list, from which fuzz.permute_simt draws, too.
  constexpr std::size_t kBest = 8, kStep = 25;
  const auto candidates = plan::candidates(program, plan::GpuModel::of_capability(90));
  for (std::size_t i = 0; i < candidates.size(); i += i < kBest ? 1 : kStep) {
    const plan::Candidate& candidate = candidates[i];
    const kernel::Moves moves = kernel::moves_of(program, candidate.schedule.directives);
    const codegen::Source source = codegen::emit(program, candidate.schedule, kernel::Target::cuda, {});

    Tensor b = before;
    void *a_begin = a.begin(), *b_begin = b.begin();
    std::vector<void*> arguments = {static_cast<void*>(&a_begin), static_cast<void*>(&b_begin)};
    for (FactorBytes& param : params) arguments.push_back(param.at);
    const simt::Buffer buffers[] = {{a.begin(), a.bytes, false}, {b.begin(), b.bytes, true}};
    simt::Options options;
    options.order = order;
    // A skewed tile reads its lead twice, and vectors at its ends take in what they then drop: poison, if it were used.
    const bool skewed = moves.skew.on();
    options.check_uninitialised = !skewed;
    const simt::Report report =
        simt::run(simt::launch_of(source, program, candidate.schedule), arguments.data(), buffers, options);

    INFO(c.spec << " " << name(c.input) << ", candidate " << candidate.schedule.name);
    INFO(report.text());
    INFO(source.text);
    REQUIRE(report.clean());
    REQUIRE(std::memcmp(b.begin(), expected.begin(), b.bytes) == 0);
    CHECK(report.written.bytes == b.bytes);
    const auto read_once = a.bytes + (c.beta == ir::Factor::zero ? 0 : b.bytes);
    CHECK(report.read.bytes >= read_once);
    CHECK(report.read.bytes <= (skewed ? 2 : 1) * read_once);
    CHECK(report.written.distinct == (b.bytes + 31) / 32);
    bool ragged = false;
    for (std::size_t q = 0; q < program.indices.size(); ++q)
      ragged = ragged || program.indices[q].extent % moves.tile[q] != 0;
    check_model(candidate, moves, report, c.beta == ir::Factor::zero, ragged,
                c.alpha != ir::Factor::one && is_complex(c.input));
  }
}

}  // namespace

TEST_CASE("planned kernels run on the simulator and give the interpreter's bits") {
  using enum DType;
  const Case cases[] = {
      {"->", f64, f64, {}},
      {"a->a", f32, f32, {1000}},
      {"ab->ba", f64, f64, {64, 96}},
      {"ab->ba", f64, f64, {67, 41}},
      {"ab->ba", c128, c128, {33, 35}},
      {"ab->ba", c64, c64, {64, 64}},
      {"ab->ba", f32, f32, {128, 68}},
      {"ab->ba", u8, u8, {130, 70}},
      {"ab->ba", i16, i16, {64, 128}},
      {"abc->cab", f32, f32, {13, 7, 64}},
      {"abc->acb", f64, f64, {5, 31, 33}},
      {"abc->bac", f64, f64, {5, 31, 36}},
      {"abcd->dcba", f64, f64, {9, 8, 7, 6}},
      {"abcd->cdab", f64, f64, {3, 17, 4, 20}},
      {"abcdef->fbdace", f32, f32, {3, 4, 5, 2, 6, 7}},
      {"abcdef->aebfcd", i64, i64, {3, 4, 5, 2, 6, 7}},
      {"ab->ba", f64, f64, {2, 900}},
      {"ab->ba", f32, f32, {900, 3}},
      {"abc->cba", u8, u8, {4, 30, 4}},
      {"ab->ba", f64, f64, {40, 50}, ir::Factor::any, ir::Factor::any},
      {"abc->bca", c64, c64, {6, 10, 12}, ir::Factor::any, ir::Factor::any},
      {"abc->bca", i32, i32, {6, 10, 12}, ir::Factor::any, ir::Factor::one},
      {"abc->cab", f16, f32, {6, 10, 12}},
      {"abc->cab", f64, bf16, {6, 10, 12}, ir::Factor::any, ir::Factor::any},
      {"ab->ba", f32, f64, {45, 46}},
  };
  int which = 0;
  for (const Case& c : cases)
    run_candidates(c, std::vector{simt::Order::forward, simt::Order::reverse, simt::Order::random}[which++ % 3]);
}

}  // namespace test_emitted
