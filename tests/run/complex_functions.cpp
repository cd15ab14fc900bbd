// Functions of complex numbers in compiled programs, beside the C library's.
#include "complex_functions.hpp"

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace complex_functions_test {

using namespace ricci;

namespace {

template <class T>
void check_compiled(const char* type, const char* rounding) {
  const auto samples = test::complex_samples<T>();
  for (const auto& function : test::complex_functions()) {
    const auto text = fmt::format("{}\nindex i = {}\ninput z(i) : {}\noutput y(i) : {}\ny(i) = {}(z(i))\n", rounding,
                                  samples.size(), type, type, function.name);
    const auto plan = Runtime::global().plan_program(Program::parse(text));
    std::vector<std::complex<T>> values(samples.size());
    plan(values.data(), samples.data());
    const auto failures = test::complex_failures(function, samples, values);
    INFO(text << failures);
    CHECK(failures.empty());
  }
}

}  // namespace

TEST_CASE("compiled functions of complex numbers have C's values, branch cuts and special values") {
  for (const char* rounding : {"exact", ""}) {
    check_compiled<double>("c128", rounding);
    check_compiled<float>("c64", rounding);
  }
}

}  // namespace complex_functions_test
