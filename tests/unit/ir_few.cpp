// Lists that keep a few values in place, and more of them in memory of their own.
#include "ir/few.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ir/builder.hpp"

namespace ir_few_test {

using namespace ricci;
using ir::Few;

TEST_CASE("short lists have the values of a vector, whatever their length") {
  for (const std::size_t count : {0U, 1U, 3U, 4U, 5U, 8U, 9U, 100U}) {
    INFO(count << " values");
    std::vector<int> expected(count);
    std::iota(expected.begin(), expected.end(), 7);
    const auto same = [&](const Few<int, 4>& list) {
      return list.size() == count && std::equal(list.begin(), list.end(), expected.begin(), expected.end());
    };
    Few<int, 4> list;
    for (const int value : expected) list.push_back(value);
    CHECK(same(list));
    auto copy = list;
    CHECK((same(copy) && copy == list));
    auto moved = std::move(copy);
    CHECK(same(moved));
    copy = moved;  // of what was moved from
    CHECK(same(copy));
    copy.resize(count + 6, -1);
    CHECK((copy.size() == count + 6 && copy.back() == -1 && list < copy));
    copy.resize(count);
    CHECK(same(copy));
    copy.assign(2, 5);
    CHECK(copy == Few<int, 4>{5, 5});
    copy = std::move(moved);
    CHECK(same(copy));
  }
}

TEST_CASE("loads are one where their coefficients are, however many of them are written") {
  ir::Builder b;
  for (int q = 0; q < 20; ++q) b.program.indices.push_back({"i" + std::to_string(q), 2});
  b.program.buffers.push_back({"in", DType::f64, false, 0, 1 << 20, 8});
  const auto access = [](std::size_t size, std::size_t along) {
    ir::Affine made;
    made.coefficient.resize(size);
    if (along < size) made.coefficient[along] = 3;
    return made;
  };
  const auto first = b.load(0, access(20, 20));
  CHECK(b.load(0, access(0, 0)) == first);
  CHECK(b.load(0, access(13, 13)) == first);
  for (const std::size_t along : {0U, 1U, 11U, 12U, 19U}) {
    INFO("along " << along);
    const auto other = b.load(0, access(20, along));
    CHECK(other != first);
    CHECK(b.load(0, access(along + 1, along)) == other);
  }
  CHECK(b.program.nodes.size() == 6);
}

}  // namespace ir_few_test
