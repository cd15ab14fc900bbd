// JSON values: built, changed, written, read again.
#include "json/json.hpp"

#include "catch.hpp"
#include "ricci/error.hpp"

namespace json_test {

using ricci::Json;

TEST_CASE("JSON values are what they were made of") {
  Json row = {{"id", "x"},    {"ms", 1.5},     {"calls", 7}, {"bytes", std::uint64_t{1} << 63},
              {"gpu", false}, {"peer", Json()}};
  CHECK(row.dump() == R"({"id":"x","ms":1.5,"calls":7,"bytes":9223372036854775808,"gpu":false,"peer":null})");
  row["peers"]["b"] = 2;
  row["peers"]["a"] = {{"ms", 3}};
  row["shape"] = std::vector<std::int64_t>{2, 3};
  row["names"] = {"p", "q"};
  row["value"] = Json{1.0, -2.0};
  row["ms"] = 4;
  CHECK(row["peers"].dump() == R"({"b":2,"a":{"ms":3}})");  // in the order in which they came
  CHECK(row["shape"].dump() == "[2,3]");
  CHECK(row["names"].dump() == R"(["p","q"])");  // pairs make an object only where a list of pairs is meant
  CHECK(row["value"].dump() == "[1.0,-2.0]");
  CHECK(row["ms"].number() == 4);
  CHECK(row.contains("peers"));
  CHECK_FALSE(row.contains("others"));
  CHECK(row.items().front().first == "id");

  Json list = Json::array();
  list.push_back({{"k", 1}});
  list.push_back("text");
  CHECK(list.dump() == R"([{"k":1},"text"])");
  CHECK(list.size() == 2);
  list.back() = 5;
  CHECK(list.elements()[1] == 5);
  CHECK_THROWS_AS(Json::array().back(), ricci::InternalError);
  CHECK(Json::array().dump() == "[]");
  CHECK(Json::object().dump() == "{}");
  CHECK(Json{{"a", {{"b", 1}}}}.dump(2) == "{\n  \"a\": {\n    \"b\": 1\n  }\n}");
}

TEST_CASE("JSON values are read as what they are") {
  const Json row = {{"n", 3}, {"x", 0.5}, {"s", "text"}, {"large", 1e300}};
  CHECK(row["n"].integer_or(0) == 3);
  CHECK(row["x"].integer_or(7) == 0);
  CHECK(row["s"].integer_or(7) == 7);
  CHECK(row["large"].integer_or(7) == 7);
  CHECK(row["missing"].is_null());
  CHECK(row["missing"].text_or("?") == "?");
  CHECK(row["s"].text_or("?") == "text");
  CHECK(row["n"] == 3.0);
  CHECK_FALSE(row["n"] == row["x"]);
  CHECK_THROWS_AS(row["n"].text(), ricci::InternalError);
  CHECK_THROWS_AS(row["s"].number(), ricci::InternalError);
  CHECK_THROWS_AS(row["s"].elements(), ricci::InternalError);
  CHECK_THROWS_AS(row["s"]["member"], ricci::InternalError);
}

TEST_CASE("JSON text is read again, and refused when it is none") {
  const Json row = {{"a", {1, -2, 2.5, true, "x\"\n\\"}}, {"b", {{"c", Json()}, {"d", Json::array()}}}};
  const auto read = Json::parse(row.dump());
  REQUIRE(read);
  CHECK(*read == row);
  CHECK(read->dump() == row.dump());
  CHECK(Json("\xff"
             "a")
            .dump() ==
        "\"\xEF\xBF\xBD"
        "a\"");  // no UTF-8
  for (const char* text : {"", "{", "{\"a\":}", "nothing", "[1,]", "{\"a\":1} more"}) CHECK_FALSE(Json::parse(text));
  CHECK(Json::parse(std::string(60, '[') + std::string(60, ']')));
  CHECK_FALSE(Json::parse(std::string(100, '[') + std::string(100, ']')));
}

}  // namespace json_test
