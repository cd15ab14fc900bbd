// Random contractions with random directives, compiled and run on this processor (RICCI_CPU_ISA lowers it): within the
// bound of their arithmetic, and not a byte beside the output. Scratch memory is filled with NaN: what nothing has
// written must not reach a result.
#include <cstdio>
#include <cstring>

#include "catch.hpp"
#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "fuzz/random_contraction.hpp"
#include "fuzz/random_problem.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/object_loader.hpp"
#include "kernel/print.hpp"
#include "ricci/error.hpp"
#include "runtime/plan_impl.hpp"

namespace kernel_cpu_test {

using namespace ricci;

namespace {

struct alignas(16) Parameter {
  unsigned char at[16] = {};
};
struct alignas(64) Line {
  unsigned char at[64];
};

struct Counts {
  int contractions = 0, pairs = 0, over = 0;  ///< by vectors of complex numbers, and over two columns
};

std::string failure(std::uint64_t seed, Counts& counts) {
  jit::CpuCompileOptions options;
  options.target = jit::host_cpu();
  const int vector_bytes = options.target.vector_bytes;
  auto made = fuzz::random_contraction(seed, vector_bytes, 6000);
  if (!made) return {};
  ++counts.contractions;
  counts.over += made->directives.back().over > 1 ? 1 : 0;
  std::string shown;
  try {
    const auto want = made->einsum.expected();
    const auto before = made->einsum.tensors.back();
    const auto kernel = kernel::expand(
        kernel::build(made->program, made->contraction, made->directives, kernel::Target::cpu, vector_bytes));
    const auto source = codegen::print_cpp(kernel, "contraction");
    const auto full = codegen::portable_prelude(made->program) + source.portable + source.text;
    counts.pairs += source.text.find("times_i(") != std::string::npos ? 1 : 0;
    shown = kernel::print(kernel) + source.portable + source.text;
    options.contract = made->program.exact ? jit::Contract::off : jit::Contract::on;
    const auto object = jit::load_object(jit::compile_cpu(full, "contraction", options).bytes);
    const auto run =
        reinterpret_cast<void (*)(void* const*, long long, long long, char*)>(object->symbol("contraction"));

    auto args = made->pointers();
    const auto values = made->params();
    std::vector<Parameter> params(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      runtime::encode_factor(values[k], kernel.params[k].type, params[k].at);
      args.push_back(params[k].at);
    }
    const auto bytes = static_cast<std::size_t>(kernel.bytes_of(kernel::Space::scratch));
    std::vector<Line> scratch(bytes / sizeof(Line) + 1);
    std::memset(scratch.data(), 0xff, scratch.size() * sizeof(Line));
    const auto tasks = kernel.tasks(), cut = static_cast<std::int64_t>(seed % 5) * tasks / 4;
    run(args.data(), cut, tasks, reinterpret_cast<char*>(scratch.data()));
    run(args.data(), 0, cut, reinterpret_cast<char*>(scratch.data()));
    for (std::size_t k = bytes; k < scratch.size() * sizeof(Line); ++k) {
      if (scratch[k / sizeof(Line)].at[k % sizeof(Line)] != 0xff)
        return made->text() + shown + "memory behind the scratch arrays was written";
    }
    const auto difference = made->einsum.difference(want, before);
    if (!difference.empty()) return made->text() + shown + difference;
  } catch (const CompileError& error) {
    return made->text() + shown + error.what() + error.log();
  } catch (const Error& error) {
    return made->text() + shown + error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("compiled kernels of random contractions are the interpreter's within their bound") {
  const auto first = fuzz::first_seed(600001);
  const int count = fuzz::cases(150);
  int failed = 0;
  Counts counts;
  for (int k = 0; k < count && failed < 3; ++k) {
    const auto text = failure(first + static_cast<std::uint64_t>(k), counts);
    if (text.empty()) continue;
    ++failed;
    UNSCOPED_INFO("seed " << first + static_cast<std::uint64_t>(k) << ": " << text);
  }
  CHECK(failed == 0);
  std::printf(
      "%d contractions (%d by vectors of complex numbers, %d by vectors over two columns) of %d random einsums "
      "from seed %llu on %s\n",
      counts.contractions, counts.pairs, counts.over, count, static_cast<unsigned long long>(first),
      jit::host_cpu().text().c_str());
  if (fuzz::enough(count)) {
    CHECK(counts.contractions > count / 10);
    if (count >= 1000) CHECK(counts.pairs > 0);  // one in a hundred
    if (count >= 5000) CHECK(counts.over > 0);   // one in five hundred
  }
}

}  // namespace kernel_cpu_test
