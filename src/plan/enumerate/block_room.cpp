#include "plan/enumerate/block_room.hpp"

#include <map>
#include <tuple>

#include "ir/few.hpp"
#include "plan/models/short_lists.hpp"

namespace ricci::plan {
namespace {

/// Values of a pure function that each thread keeps: a plan's predictions ask for the same ones, which take the banks
/// of all lanes to work out.
template <class Key>
class Kept {
 public:
  template <class Make>
  std::int64_t of(Key key, Make make) {
    constexpr std::size_t kMost = 4096;
    if (values_.size() == kMost) values_.clear();
    const auto [place, fresh] = values_.try_emplace(std::move(key), 0);
    if (fresh) place->second = make();
    return place->second;
  }

 private:
  std::map<Key, std::int64_t> values_;
};

}  // namespace

int BlockRoom::padding(const Cut& cut, bool of_rows) const {
  const auto& c = contraction_;
  if (c.read_by_groups(of_rows)) return 0;
  const bool deep = c.deep(of_rows);
  const auto row = deep ? cut.depth->size : (of_rows ? cut.rows : cut.columns)->size;
  const auto run = of_rows ? cut.spread.run_rows : cut.spread.run_columns;
  // Of a crossed chunk digits lie in an order of their own.
  const auto& order = cut.depth->order;
  const auto last = [&](std::size_t k) { return cut.depth->crossed ? cut.depth->sizes[order.end()[-k]] : 0; };
  thread_local Kept<std::tuple<const kernel::Atom*, DType, DType, std::int64_t, std::int64_t, int, int, bool, bool,
                               std::int64_t, std::int64_t>>
      kept;
  return static_cast<int>(kept.of({&c.atom_of(*cut.depth), c.type, c.operand_type, c.by_lanes() ? c.products : 1, row,
                                   run, cut.spread.run_depth, deep, of_rows, last(1), last(2)},
                                  [&] { return c.padding(cut, of_rows); }));
}

std::int64_t BlockRoom::result_bytes(const Cut& cut, std::int64_t rows, std::int64_t columns) const {
  const auto& c = contraction_;
  if (!cut.relaid && cut.share.blocks == 1) return c.result_bytes(cut, 0);
  auto digits = c.result_digits(*cut.rows, *cut.columns);
  const auto type = cut.share.blocks > 1 ? c.type : c.result_type;  // of sums, or of results
  // Of strides their order tells, and whether elements are neighbours.
  sort_few(digits, [](const kernel::ResultDigit& x, const kernel::ResultDigit& y) { return x.stride < y.stride; });
  ir::Few<std::int64_t> numbers = {rows, columns, cut.spread.run_rows, cut.spread.run_columns,
                                   !digits.empty() && digits.front().stride == 1};
  for (const auto& digit : digits) {
    for (const auto number : {std::int64_t{digit.of_rows}, digit.extent, digit.step}) numbers.push_back(number);
  }
  thread_local Kept<std::tuple<const kernel::Atom*, DType, DType, ir::Few<std::int64_t>>> kept;
  return c.result_bytes(
      cut, kept.of({&c.atom(), c.type, type, std::move(numbers)}, [&] { return c.relaid_elements(cut, digits); }));
}

std::int64_t BlockRoom::stage_bytes(const Cut& cut, bool of_rows) const {
  return contraction_.stage_bytes(cut, of_rows, padding(cut, of_rows));
}

std::int64_t BlockRoom::resident(std::int64_t shared_bytes, int warps, int registers) const {
  if (shared_bytes > device_.shared_bytes_per_block) return 0;
  return std::min(device_.shared_bytes_per_multiprocessor / (shared_bytes + kReservedBytes),
                  of_warps(warps, registers));
}

}  // namespace ricci::plan
