// Words and figures of the command line: what is printed can be read back, and what cannot be read is refused by name.
#include "report/text.hpp"

#include "catch.hpp"
#include "ricci/error.hpp"

namespace tool_text_test {

using namespace ricci;
using namespace ricci::tools;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("factors", "[text]") {
  CHECK(parse_scalar("2", "--alpha") == Scalar(2));
  CHECK(parse_scalar("-0.5", "--alpha") == Scalar(-0.5));
  CHECK(parse_scalar("+3", "--alpha") == Scalar(3));
  CHECK(parse_scalar("1e-3", "--alpha") == Scalar(1e-3));
  CHECK(parse_scalar("2i", "--alpha") == Scalar(0, 2));
  CHECK(parse_scalar("-1.5j", "--alpha") == Scalar(0, -1.5));
  CHECK(parse_scalar("1-0.5i", "--alpha") == Scalar(1, -0.5));
  CHECK(parse_scalar("-1e2+1e-2j", "--alpha") == Scalar(-100, 0.01));
  for (const char* text : {"", " 1", "1 ", "one", "1+", "1+2", "1+-2i", "+-1", "i2", "1,5", "2ii", "0x10"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_scalar(text, "--alpha"), ShapeError);
  }
  CHECK_THROWS_WITH(parse_scalar("two", "--beta"), ContainsSubstring("--beta: 'two' is no number"));
  for (const Scalar value : {Scalar(1), Scalar(-0.1), Scalar(0, 3), Scalar(2.5, -1e-9), Scalar(1e300, 1)}) {
    CHECK(parse_scalar(scalar_text(value), "") == value);
  }
}

TEST_CASE("whole numbers", "[text]") {
  CHECK(parse_integer("-42", "x") == -42);
  CHECK(parse_integer("9223372036854775807", "x") == INT64_MAX);
  CHECK_THROWS_WITH(parse_integer("9223372036854775808", "axis a"),
                    ContainsSubstring("axis a: '9223372036854775808' does"));
  for (const char* text : {"", "4.0", "4x", " 4", "+4", "1e3"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_integer(text, "x"), ShapeError);
  }
}

TEST_CASE("figures", "[text]") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(987) == "987 B");
  CHECK(bytes_text(61440) == "61.4 kB");
  CHECK(bytes_text(1.97e9) == "1.97 GB");
  CHECK(bytes_text(3e15) == "3e+03 TB");
  CHECK(ms_text(0) == "0 ms");
  CHECK(ms_text(-1) == "0 ms");
  CHECK(ms_text(0.0042) == "0.00420 ms");
  CHECK(ms_text(3.214) == "3.21 ms");
  CHECK(ms_text(31.26) == "31.3 ms");
  CHECK(ms_text(1250) == "1250 ms");
  CHECK(shape_text({}) == "()");
  CHECK(shape_text({7}) == "(7,)");
  CHECK(shape_text({2, 3}) == "(2, 3)");
}

TEST_CASE("words for a shell", "[text]") {
  CHECK(shell_quoted("a=48") == "a=48");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("abc->cab") == "'abc->cab'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  CHECK(shell_quoted("$(x)") == "'$(x)'");
}

}  // namespace tool_text_test
