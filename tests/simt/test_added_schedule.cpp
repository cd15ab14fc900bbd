// The worked example of docs/schedules.md: a family of schedules in one file, which no emitter knows of. It is emitted
// for both languages and gives the interpreter's numbers.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "ir/builder.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/object_loader.hpp"
#include "simt/emitted.hpp"

using namespace ricci;

namespace {

/// C[a, b] += sum_k A[a, k] B[k, b], of odd extents.
ir::Program contraction(std::int64_t a, std::int64_t b, std::int64_t k) {
  ir::Builder builder;
  auto& program = builder.program;
  program.exact = false;
  program.indices = {{"a", a}, {"b", b}, {"k", k}};
  program.buffers = {{"A", DType::f64, false, 0, a * k - 1, 16},
                     {"B", DType::f64, false, 0, k * b - 1, 16},
                     {"C", DType::f64, true, 0, a * b - 1, 16}};
  const auto product =
      builder.op(ir::OpCode::mul, DType::f64, builder.load(0, {{k, 0, 1}, 0}), builder.load(1, {{0, 1, b}, 0}));
  const ir::Affine to{{b, 1, 0}, 0};
  builder.store(
      2, to,
      builder.op(ir::OpCode::add, DType::f64, builder.load(2, to), builder.reduce(ir::OpCode::add, product, {2})));
  return builder.finish();
}

/// "Columns": a block is one column of threads along the output's slowest index; each thread computes a row of four
/// neighbours along the fastest, whose loads of A are one. All that the family is stands in this function.
kernel::Schedule columns(int threads) {
  kernel::Schedule schedule;
  schedule.name = "columns";
  schedule.directives =
      kernel::parse_directives(fmt::format("tile a:{0}; tile b:4; order task a0 b0 thread a; threads {0}", threads));
  return schedule;
}

struct Memory {
  std::vector<double> a, b, c;
  explicit Memory(const ir::Program& program) {
    std::size_t k = 0;
    for (auto* tensor : {&a, &b, &c}) {
      tensor->resize(static_cast<std::size_t>(program.buffers[k++].last + 1));
      for (std::size_t i = 0; i < tensor->size(); ++i) (*tensor)[i] = static_cast<double>(i * 37 % 101) / 50 - 1;
    }
  }
  std::vector<void*> pointers() { return {a.data(), b.data(), c.data()}; }
};

void check_close(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::fabs(got[i] - want[i]));
  CHECK(worst < 1e-13);  // 19 terms of magnitude 1
}

}  // namespace

TEST_CASE("a schedule that no emitter knows runs on the simulator") {
  const auto program = contraction(37, 30, 19);
  const auto schedule = columns(32);
  Memory memory(program), want(program);
  ir::interpret(program, want.pointers(), {});

  const auto source = codegen::emit(program, schedule, kernel::Target::cuda, {"sm_90", "", ""});
  INFO(source.text);
  auto pointers = memory.pointers();
  void* args[] = {&pointers[0], &pointers[1], &pointers[2]};
  const simt::Buffer buffers[] = {{memory.a.data(), memory.a.size() * 8, false},
                                  {memory.b.data(), memory.b.size() * 8, false},
                                  {memory.c.data(), memory.c.size() * 8, true}};
  const auto report = simt::run(simt::launch_of(source, program, schedule), args, buffers);
  if (!report.clean()) FAIL(report.text());
  check_close(memory.c, want.c);
}

TEST_CASE("a schedule that no emitter knows runs on the CPU") {
  const auto program = contraction(37, 30, 19);
  // On a CPU the four neighbours are one vector, and two rows share their loads of B.
  kernel::Schedule schedule;
  schedule.name = "columns";
  schedule.directives = kernel::parse_directives("tile a:8:2; tile b:4:4; order task a0 b0 serial a1 b1; lanes b 4");
  Memory memory(program), want(program);
  ir::interpret(program, want.pointers(), {});

  const auto source = codegen::emit(program, schedule, kernel::Target::cpu, {"host", "", ""});
  INFO(source.text);
  jit::CpuCompileOptions options;
  options.target = jit::host_cpu();
  const auto object = jit::load_object(jit::compile_cpu(source.full(), source.kernel, options).bytes);
  const auto function = reinterpret_cast<void (*)(void* const*, long long, long long)>(object->symbol(source.kernel));
  REQUIRE(function != nullptr);
  const auto pointers = memory.pointers();
  function(pointers.data(), 0, kernel::launch_of(program, schedule, kernel::Target::cpu).tasks);
  check_close(memory.c, want.c);
}
