// Functions of complex numbers in programs, as the interpreter has them, beside the C library's.
#include "catch.hpp"
#include "complex_functions.hpp"
#include "lower/lower_program.hpp"
#include "ricci/program.hpp"

namespace program_complex_test {

using namespace ricci;

namespace {

template <class T>
void check_interpreted(const char* type) {
  const auto samples = test::complex_samples<T>();
  for (const auto& function : test::complex_functions()) {
    const auto program =
        Program::parse(fmt::format("exact\nindex i = {}\ninput z(i) : {}\noutput y(i) : {}\ny(i) = {}(z(i))\n",
                                   samples.size(), type, type, function.name));
    auto inputs = samples;
    std::vector<std::complex<T>> values(samples.size());
    const auto sequence = ir::lower(program);
    std::vector<void*> storages;
    for (const auto& storage : sequence.storages) {
      storages.push_back(storage.role == ir::Role::output ? static_cast<void*>(values.data()) : inputs.data());
    }
    ir::interpret(sequence, storages, {});
    const auto failures = test::complex_failures(function, samples, values);
    INFO(failures);
    CHECK(failures.empty());
  }
}

}  // namespace

TEST_CASE("functions of complex numbers have C's values, branch cuts and special values") {
  check_interpreted<double>("c128");
  check_interpreted<float>("c64");
}

}  // namespace program_complex_test
