// Functions of complex numbers as CUDA text on the simulator: what the interpreter has, within its rounding.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "complex_functions.hpp"
#include "ir/passes/canonical.hpp"
#include "lower/lower_program.hpp"
#include "plan/plan.hpp"
#include "ricci/program.hpp"
#include "simt/emitted.hpp"

namespace test_complex {

using namespace ricci;

namespace {

template <class T>
using Values = std::vector<std::complex<T>>;

struct Line {
  alignas(256) unsigned char at[256];
};

/// Interprets or simulates `text`, a program of one kernel, whose storages all begin with `given`.
template <class T>
Values<T> run(const std::string& text, const std::vector<Values<T>>& given, bool simulate) {
  const auto sequence = ir::lower(Program::parse(text));
  REQUIRE(sequence.steps.size() == 1);
  std::vector<std::unique_ptr<Line[]>> memory;
  std::vector<void*> storages;
  const std::size_t lines = given[0].size() * sizeof(std::complex<T>) / sizeof(Line) + 1;
  for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
    memory.push_back(std::make_unique<Line[]>(lines));
    storages.push_back(memory.back()[0].at);
    const auto& values = given[k % given.size()];
    std::copy(values.begin(), values.end(), static_cast<std::complex<T>*>(storages.back()));
  }
  if (!simulate) {
    ir::interpret(sequence, storages, {});
  } else {
    const auto& step = sequence.steps.front();
    const auto program = ir::canonicalise(step.program);
    const auto schedule = plan::candidates(program, plan::GpuModel::of_capability(90)).front().schedule;
    const auto source = codegen::emit(program, schedule, kernel::Target::cuda, {"sm_90", "", ""});
    std::vector<void*> pointers, args;
    std::vector<simt::Buffer> buffers;
    for (std::size_t b = 0; b < program.buffer.size(); ++b) {
      const auto storage = static_cast<std::size_t>(step.storage[static_cast<std::size_t>(program.buffer[b])]);
      pointers.push_back(storages[storage]);
      buffers.push_back({memory[storage][0].at, lines * sizeof(Line), program.buffers[b].written});
    }
    for (auto& pointer : pointers) args.push_back(&pointer);
    const auto report = simt::run(simt::launch_of(source, program, schedule), args.data(), buffers, {});
    if (!report.clean()) FAIL(ir::print(program) << source.text << report.text());
  }
  const auto output = std::find_if(sequence.storages.begin(), sequence.storages.end(),
                                   [](const ir::Storage& storage) { return storage.role == ir::Role::output; });
  const auto* values =
      static_cast<const std::complex<T>*>(storages[static_cast<std::size_t>(output - sequence.storages.begin())]);
  return {values, values + given[0].size()};
}

template <class T>
void check(const char* type, const char* function, T tolerance) {
  const auto text = std::string("index i = 24\ninput z(i) : ") + type + "; input w(i) : " + type +
                    "; output y(i) : " + type + "\ny(i) = " + function + "\n";
  INFO(text);
  std::mt19937 random(7);
  std::uniform_real_distribution<T> part(-2, 2);
  std::vector<Values<T>> given(3, Values<T>(24));
  for (auto& values : given) {
    for (auto& value : values) value = {part(random), part(random)};
  }
  const auto want = run<T>(text, given, false), got = run<T>(text, given, true);
  for (std::size_t i = 0; i < want.size(); ++i) {
    CHECK(std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
  }
}

template <class T>
void check_samples(const char* type) {
  const auto samples = test::complex_samples<T>();
  for (const auto& function : test::complex_functions()) {
    const auto text = fmt::format("index i = {}\ninput z(i) : {}\noutput y(i) : {}\ny(i) = {}(z(i))\n", samples.size(),
                                  type, type, function.name);
    const auto failures = test::complex_failures(function, samples, run<T>(text, {samples}, true));
    INFO(text << failures);
    CHECK(failures.empty());
  }
}

}  // namespace

TEST_CASE("functions of complex numbers on the simulator") {
  for (const char* function : {"abs(z(i)) + real(w(i)) - imag(z(i))",
                               "exp(z(i))",
                               "log(z(i))",
                               "sqrt(z(i))",
                               "rsqrt(z(i))",
                               "sin(z(i))",
                               "cos(z(i))",
                               "tan(z(i))",
                               "asin(z(i))",
                               "acos(w(i))",
                               "atan(z(i))",
                               "cbrt(w(i))",
                               "select(z(i) == w(i), z(i), 2i)",
                               "select(z(i) != 2, w(i), z(i))",
                               "sinh(z(i))",
                               "cosh(z(i))",
                               "tanh(z(i))",
                               "pow(z(i), w(i))",
                               "conj(exp(w(i)))*z(i)",
                               "atan2(imag(z(i)), real(z(i))) + hypot(real(w(i)), imag(w(i)))",
                               "mod(real(z(i)), 0.75)"}) {
    check<double>("c128", function, 1e-13);
    check<float>("c64", function, 2e-5f);
  }
}

TEST_CASE("simulated functions of complex numbers have C's values, branch cuts and special values") {
  check_samples<double>("c128");
  check_samples<float>("c64");
}

}  // namespace test_complex
