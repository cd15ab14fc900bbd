// Scans, compactions and sums over long indices, as plans run them: tile by tile, on one thread and on two.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/split.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/object_loader.hpp"
#include "lower/lower_program.hpp"
#include "plan/plan.hpp"
#include "ricci/ricci.hpp"

namespace long_loops_test {

using namespace ricci;

namespace {

/// Memory of a plan's arguments, filled with small whole numbers: exact in every order of additions, unless asked for
/// `rough` ones.
struct Arrays {
  Arrays(std::span<const Argument> list, bool rough) {
    std::mt19937 random(11);
    for (const auto& argument : list) {
      auto& bytes = memory.emplace_back(static_cast<std::size_t>((argument.last + 1) * size_of(argument.type)));
      const auto put = [&](auto zero) {
        for (std::size_t i = 0; i < bytes.size() / sizeof zero; ++i) {
          const double number = rough ? static_cast<double>(random()) / 1e9 : static_cast<double>(random() % 3);
          const auto value = static_cast<decltype(zero)>(number);
          std::memcpy(bytes.data() + i * sizeof zero, &value, sizeof zero);
        }
      };
      if (argument.type == DType::f32) put(0.0f);
      if (argument.type == DType::f64) put(0.0);
      if (argument.type == DType::i32) put(std::int32_t{0});
      if (argument.type == DType::i64) put(std::int64_t{0});
      pointers.push_back(bytes.data());
    }
  }
  std::vector<std::vector<char>> memory;
  std::vector<void*> pointers;
};

std::vector<std::vector<char>> executed(const Program& program, int threads, bool rough) {
  RuntimeOptions options;
  options.threads = threads;
  Runtime runtime(options);
  const auto plan = runtime.plan_program(program);
  Arrays outputs(plan.outputs(), rough), inputs(plan.inputs(), rough);
  plan(outputs.pointers, std::vector<const void*>(inputs.pointers.begin(), inputs.pointers.end()), Call{});
  return outputs.memory;
}

std::vector<std::vector<char>> interpreted(const Program& program) {
  Runtime runtime;
  const auto plan = runtime.plan_program(program);
  Arrays outputs(plan.outputs(), false), inputs(plan.inputs(), false);
  Runtime::interpret_program(program, outputs.pointers,
                             std::vector<const void*>(inputs.pointers.begin(), inputs.pointers.end()));
  return outputs.memory;
}

/// The same through the steps of a cut sequence, whatever this machine's plans would do.
std::vector<std::vector<char>> cut_and_executed(const Program& program) {
  ir::SplitLimits limits;
  limits.workers = 4;
  limits.parts = 64;
  limits.least = 1024;
  limits.lanes_bytes = 256;
  const auto sequence = ir::split_long(ir::lower(program), limits);
  CHECK(sequence.steps.size() >= 2);
  Runtime runtime;
  const auto plan = runtime.plan_program(program);
  Arrays outputs(plan.outputs(), false), inputs(plan.inputs(), false);
  std::vector<std::vector<char>> workspace;
  std::vector<void*> storages;
  std::size_t output = 0, input = 0;
  for (const auto& storage : sequence.storages) {
    if (storage.role == ir::Role::workspace) {
      workspace.emplace_back(static_cast<std::size_t>((storage.last + 1) * size_of(storage.type)), '\x5a');
      storages.push_back(workspace.back().data());
    } else {
      storages.push_back(storage.role == ir::Role::output ? outputs.pointers[output++] : inputs.pointers[input++]);
    }
  }
  jit::CpuCompileOptions options;
  options.target = jit::host_cpu();
  plan::CpuModel device_model;
  device_model.vector_bytes = options.target.vector_bytes;
  for (const auto& step : sequence.steps) {
    const auto canonical = ir::canonicalise(step.program);
    const auto schedule = plan::candidates(canonical, device_model).front().schedule;
    const auto source = codegen::emit(canonical, schedule, kernel::Target::cpu, {});
    INFO(source.text);
    const auto object = jit::load_object(jit::compile_cpu(source.full(), source.kernel, options).bytes);
    std::vector<void*> arguments;
    for (const int buffer : canonical.buffer) {
      arguments.push_back(storages[static_cast<std::size_t>(step.storage[static_cast<std::size_t>(buffer)])]);
    }
    const auto kernel = reinterpret_cast<void (*)(void* const*, long long, long long)>(object->symbol(source.kernel));
    REQUIRE(kernel != nullptr);
    kernel(arguments.data(), 0, kernel::launch_of(canonical, schedule, kernel::Target::cpu).tasks);
  }
  return outputs.memory;
}

Program parsed(const std::string& text) { return Program::parse(text); }

}  // namespace

TEST_CASE("long loops give the interpreter's bits on one thread and on two") {
  // Every program in every type, with the lengths in turns.
  std::size_t turn = 0;
  for (const std::string type : {"i32", "i64", "f32", "f64"}) {
    for (std::size_t which = 0; which < 5; ++which) {
      const long length = std::array{40000L, 65536L, 100003L}[turn++ % 3];
      const auto index = "index i = " + std::to_string(length) + "\n";
      const std::string programs[] = {
          index + "input x(i) : " + type + "\noutput y(i+1) : " + type + "\ny(i) = exclusive_scan(sum, i, x(i))\n",
          index + "input x(i) : " + type + "\noutput y(i) : " + type + "\ny(i) = scan(max, i, x(i) * 2)\n",
          index + "index p = 3\ninput x(p, i) : " + type + "\noutput y(p, i) : " + type +
              "\ny(p, i) = scan(sum, i, x(p, i))\n",
          index + "input x(i) : " + type + "\ninput z(i) : " + type + "\noutput s() : " + type +
              "\ns() = sum(i, x(i) * z(i))\n",
          index + "input x(i) : " + type + "\noutput s() : " + type + "\ns() = maximum(i, x(i))\n",
      };
      INFO(programs[which]);
      const auto program = parsed(programs[which]);
      const auto wanted = interpreted(program);
      CHECK(executed(program, 2, false) == wanted);
      CHECK(executed(program, 1, false) == wanted);
      CHECK(cut_and_executed(program) == wanted);
    }
  }
}

TEST_CASE("a long compaction keeps the order") {
  const auto program = parsed(
      "index i = 100003\nindex p = 2\nindex n = 300000\ninput x(p, i) : i32\ninput first(p) : i64\noutput y(n) : i64\n"
      "y(first(p)) = compact(i, x(p, i) == 2, i + p * 100003)\n");
  RuntimeOptions options;
  options.threads = 2;
  Runtime runtime(options);
  const auto plan = runtime.plan_program(program);
  Arrays outputs(plan.outputs(), false), inputs(plan.inputs(), false), wanted(plan.outputs(), false);
  const std::int64_t first[] = {0, 150000};
  std::memcpy(inputs.pointers[1], first, sizeof first);
  const std::vector<const void*> from(inputs.pointers.begin(), inputs.pointers.end());
  Runtime::interpret_program(program, wanted.pointers, from);
  plan(outputs.pointers, from, Call{});
  CHECK(outputs.memory == wanted.memory);
}

TEST_CASE("rounded sums and scans do not depend on the number of threads") {
  for (const std::string type : {"f32", "f64"}) {
    const auto index = std::string("index i = 100003\ninput x(i) : ") + type;
    const auto scan = parsed(index + "\noutput y(i+1) : " + type + "\ny(i) = exclusive_scan(sum, i, x(i))\n");
    const auto sum = parsed(index + "\noutput s() : " + type + "\ns() = sum(i, x(i) * x(i))\n");
    CHECK(executed(scan, 1, true) == executed(scan, 2, true));
    CHECK(executed(sum, 1, true) == executed(sum, 2, true));
  }
}

TEST_CASE("products with a vector have the same bits on any number of threads") {
  struct Case {
    int terms;
    std::size_t steps;  ///< rows where the first cache holds the vector, else lanes of vectors, then sums of these
  };
  for (const std::string type : {"f32", "f64"}) {
    for (const auto& [terms, steps] : {Case{1003, 1}, Case{16411, 2}}) {
      const auto program =
          parsed(fmt::format("index i = 301; index k = {}\ninput A(i, k) : {}\ninput x(k) : {}\noutput y(i) : {}\n"
                             "y(i) = sum(k, A(i, k) * x(k))\n",
                             terms, type, type, type));
      Runtime runtime;
      CHECK(runtime.plan_program(program).info().steps == steps);
      CHECK(executed(program, 1, false) == interpreted(program));
      const auto alone = executed(program, 1, true);
      for (int threads = 2; threads <= 8; ++threads) CHECK(executed(program, threads, true) == alone);
    }
  }
}

TEST_CASE("products with a few vectors have the same bits on any number of threads, whichever way the matrix lies") {
  for (const std::string type : {"f32", "f64"}) {
    for (const std::string matrix : {"A(k, i)", "A(i, k)"}) {
      for (const int terms : {1024, 1002, 1009}) {
        const auto program = parsed(fmt::format(
            "index i = 840; index k = {}; index n = 3\ninput {} : {}\ninput x(k, n) : {}\noutput y(i, n) : {}\n"
            "y(i, n) = sum(k, {} * x(k, n))\n",
            terms, matrix, type, type, type, matrix));
        CHECK(executed(program, 1, false) == interpreted(program));
        const auto alone = executed(program, 1, true);
        for (int threads = 2; threads <= 8; ++threads) CHECK(executed(program, threads, true) == alone);
      }
    }
  }
}

TEST_CASE("few results of long sums of products have the same bits on any number of threads") {
  for (const std::string type : {"f32", "f64"}) {
    for (const std::string b : {"B(j, k)", "B(k, j)"}) {
      const auto program =
          parsed("index i = 5; index j = 9; index k = 70001\ninput A(i, k) : " + type + "\ninput " + b + " : " + type +
                 "\noutput C(i, j) : " + type + "\nC(i, j) = sum(k, A(i, k) * " + b + ")\n");
      Runtime runtime;
      CHECK(runtime.plan_program(program).info().steps >= 2);  // parts of the sums, then these
      CHECK(executed(program, 1, false) == interpreted(program));
      const auto alone = executed(program, 1, true);
      for (int threads = 2; threads <= 8; ++threads) CHECK(executed(program, threads, true) == alone);
    }
  }
}

TEST_CASE("an exact program keeps its long sums whole, and a plan shows what was cut") {
  const std::string text = "index i = 100003\ninput x(i) : f64\noutput s() : f64\n";
  Runtime runtime;
  const auto whole = runtime.plan_program(parsed("exact\n" + text + "s() = sum(i, x(i))\n"));
  CHECK(whole.info().steps == 1);
  CHECK(whole.info().workspace_bytes == 0);
  const auto tiles = runtime.plan_program(parsed(text + "s() = sum(i, x(i))\n"));
  CHECK(tiles.info().steps >= 2);
  CHECK(tiles.info().workspace_bytes > 0);
  CHECK(tiles.passes().find("before long loops are cut into tiles") != std::string::npos);
}

TEST_CASE("counts beyond 2^32 are whole") {
  // Of 80,000 * 70,000 pairs of numbers, those that agree in the last bit: 2.8e9. As i32 counts of rows, summed in i64;
  // then as offsets; then in one sum.
  const auto rows = parsed(
      "index i = 80000; index j = 70000\ninput x(i) : u64; input y(j) : u64\n"
      "output counts(i) : i32; output total() : i64; output twice() : i64; output offset(i+1) : i64\n"
      "counts(i) = sum(j, guard(popcount(and(xor(x(i), y(j)), 1)) == 0, cast(i32, 1)))\n"
      "total() = sum(i, cast(i64, counts(i)))\n"
      "twice() = sum(i j, guard(popcount(and(xor(x(i), y(j)), 1)) <= 1, cast(i64, 1)))\n"
      "offset(i) = exclusive_scan(sum, i, 3 * cast(i64, counts(i)))\n");
  std::vector<std::uint64_t> x(80000), y(70000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i;
  for (std::size_t j = 0; j < y.size(); ++j) y[j] = 3 * j;
  std::vector<std::int32_t> counts(x.size());
  std::vector<std::int64_t> offset(x.size() + 1);
  std::int64_t total = 0, twice = 0;
  Runtime runtime;
  const auto plan = runtime.plan_program(rows);
  void* const outputs[] = {counts.data(), &total, &twice, offset.data()};
  const void* const inputs[] = {x.data(), y.data()};
  plan(outputs, inputs, Call{});
  CHECK(counts[79999] == 35000);
  CHECK(total == 2'800'000'000);
  CHECK(twice == 5'600'000'000);
  CHECK(offset[40000] == 4'200'000'000);
  CHECK(offset[80000] == 8'400'000'000);
}

}  // namespace long_loops_test
