// Rows on a CPU: passes over a row that stays in the first caches. Each computes all sums that the ones before it
// allow, by vectors along the row; the last one computes results. What a pass computes by functions and a later one
// reads again is kept beside the row.
#include <algorithm>
#include <set>
#include <utility>

#include "kernel/expand.hpp"
#include "kernel/program/point.hpp"
#include "kernel/program/rows.hpp"

namespace ricci::kernel {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

namespace {

/// Neighbours from lane `from` on of a vector in a register.
Value part_of(const Value& vector, int from, int lanes) {
  Value part;
  if (lanes == 1) {
    part = vector;
    part.access.lane = Affine(from);
    return part;
  }
  part.kind = Value::Kind::part;
  part.type = vector.type;
  part.affine = Affine(from);
  part.access.lanes = lanes;
  part.operands.push_back(vector);
  return part;
}

}  // namespace

void PointBuilder::build_row() {
  open_scope();
  const auto passes = row_passes(program_, block_.shared_row.front());
  // The next row is fetched by the pass behind the first one that takes longest, which waits for memory least.
  const auto functions = [&](const RowPass& pass) {
    return std::count_if(pass.computed.begin(), pass.computed.end(),
                         [&](NodeId id) { return node(id).kind == NodeKind::op && ir::is_function(node(id).op); });
  };
  auto fetching = passes.size() - 1;
  for (auto p = fetching; p-- > 1;) {
    if (functions(passes[p]) > functions(passes[fetching])) fetching = p;
  }
  for (std::size_t p = 0; p < passes.size(); ++p) add_pass(passes[p], p == fetching);
  const auto row = static_cast<std::size_t>(block_.shared_row.front());
  for (const auto& statement : program_.statements) {
    if (statement.offset.coefficient[row] == 0) add_store(statement);
  }
  close_scope();
}

/// An index that goes along the row alone.
Affine PointBuilder::place_in_row() {
  ir::Affine only;
  only.coefficient.assign(program_.indices.size(), 0);
  only.coefficient[static_cast<std::size_t>(block_.shared_row.front())] = 1;
  return offset(only);
}

void PointBuilder::add_pass(const RowPass& pass, bool fetches) {
  const int row = block_.shared_row.front();
  const auto q = static_cast<std::size_t>(row);
  for (const auto sum : pass.sums) hoist(node(sum).operand[0], row_);
  for (const int result : pass.results) hoist(program_.statements[static_cast<std::size_t>(result)].value, row_);
  std::vector<int> kept;
  for (const auto id : pass.kept)
    kept.push_back(kernel_.add_array({names_.fresh("kept"), node(id).type, Space::scratch, {extent(row)}}));
  std::vector<std::vector<RowSum>> sums(pass.sums.size());
  const auto all = row_rounds(extent(row), block_.row_lanes);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const auto& n = node(pass.sums[k]);
    for (const auto& [vectors, lanes, rounds] : all) {
      if (!sums[k].empty() && sums[k].back().lanes == lanes) continue;
      Array array{names_.fresh(stem_of(n)), n.type, Space::registers, {}};
      array.lanes = static_cast<int>(lanes);
      if (vectors > 1) array.shape = {vectors};
      sums[k].push_back({kernel_.add_array(std::move(array)), vectors, lanes});
      define_sum(sums[k].back(), identity_of(n.op, n.type));
    }
  }
  const auto outside = block_;
  auto& place = block_.vars[q].value;
  place = kernel_.add_var(names_.fresh(index_name(row)), extent(row));
  Sweep sweep{place, Affine(0), Affine(extent(row)), {}};
  for (const auto& [vectors, lanes, rounds] : all) {
    block_.register_tile[q] = vectors;
    block_.apart[q] = lanes;
    block_.lane = lanes > 1 ? row : -1;
    block_.lanes = static_cast<int>(lanes);
    block_.nontemporal = outside.nontemporal && lanes == outside.row_lanes;
    unrolled_[q] = vectors > 1;
    sweep.parts.push_back({vectors * lanes, body_.collect([&] {
                             if (fetches && lanes == outside.row_lanes) fetch_next(vectors, lanes);
                             open_scope();
                             for (std::size_t k = 0; k < kept.size(); ++k) keep(pass.kept[k], kept[k]);
                             for (std::size_t k = 0; k < sums.size(); ++k) {
                               const auto& n = node(pass.sums[k]);
                               const auto of = std::find_if(sums[k].begin(), sums[k].end(),
                                                            [&](const RowSum& sum) { return sum.lanes == lanes; });
                               Access target{of->array, {}, static_cast<int>(lanes)};
                               if (of->vectors > 1)
                                 target.index.push_back(vectors > 1 ? Affine::of(block_.vars[q].place) : Affine(0));
                               accumulate(n.operand[0], target, n.op, row_ & unrolled_);
                             }
                             for (const int result : pass.results)
                               add_store(program_.statements[static_cast<std::size_t>(result)]);
                             close_scope();
                           })});
  }
  block_ = outside;
  unrolled_[q] = false;
  body_.add(std::move(sweep));
  for (std::size_t k = 0; k < sums.size(); ++k) name(pass.sums[k], total(pass.sums[k], sums[k]));
  for (std::size_t k = 0; k < kept.size(); ++k) name(pass.kept[k], kept[k]);
}

/// Lines of the next row, while this one is in the caches.
void PointBuilder::fetch_next(std::int64_t vectors, std::int64_t lanes) {
  if (block_.next_row < 0) return;
  std::set<std::pair<int, decltype(ir::Affine::coefficient)>> fetched;
  for (const auto& n : program_.nodes) {
    if (n.kind != NodeKind::load || n.offset.coefficient[static_cast<std::size_t>(block_.shared_row.front())] != 1)
      continue;
    const auto apart = n.offset.coefficient[static_cast<std::size_t>(block_.next_row)];
    if (apart == 0 || !fetched.emplace(n.source, n.offset.coefficient).second) continue;
    Affine first(n.offset.constant + apart);
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      if (n.offset.coefficient[q] != 0) first = first + Affine::of(block_.vars[q].value, n.offset.coefficient[q]);
    }
    const auto line = kLineBytes / size_of(n.type);
    for (std::int64_t k = 0; k < vectors * lanes; k += line)
      body_.add(Prefetch{{n.source, {first + Affine(k)}}, {}, false});
  }
}

void PointBuilder::define_sum(const RowSum& sum, Value value) {
  if (sum.vectors == 1) {
    body_.add(Define{sum.array, std::move(value)});
    return;
  }
  body_.add(Declare{sum.array});
  const auto& vars = block_.vars[static_cast<std::size_t>(block_.shared_row.front())];
  body_.open(Loop{.var = vars.place, .bind = Bind::unroll, .body = {}});
  body_.add(Store{{sum.array, {Affine::of(vars.place)}, static_cast<int>(sum.lanes)}, std::move(value)});
  body_.close();
}

void PointBuilder::keep(NodeId id, int array) {
  if (!arrays_.contains(id)) declare(id);
  const auto set = row_ & unrolled_;
  auto value = value_of(arrays_.at(id), set);
  const auto lanes = block_.lanes;
  auto place = place_in_row();
  const int loops = open_unrolled(set);
  body_.add(Store{{array, {std::move(place)}, lanes}, std::move(value)});
  body_.close(loops);
}

/// A register of what all places of a row add up to, half by half, in one order.
int PointBuilder::total(NodeId id, const std::vector<RowSum>& sums) {
  const auto& n = node(id);
  const auto combined = [&](Value x, Value y) { return apply(n.op, n.type, {std::move(x), std::move(y)}); };
  const auto defined = [&](Value value, int lanes) {
    const auto array = add_registers(stem_of(n), n.type, {}, lanes);
    body_.add(Define{array, std::move(value)});
    return value_of(array, {});
  };
  const auto& widest = sums.front();
  std::vector<Value> values;
  for (std::int64_t k = 0; k < widest.vectors; ++k) {
    Access access{widest.array, {}, static_cast<int>(widest.lanes)};
    if (widest.vectors > 1) access.index.push_back(Affine(k));
    values.push_back(load_of(n.type, access));
  }
  for (; values.size() > 1; values.resize((values.size() + 1) / 2)) {
    for (std::size_t k = 0; 2 * k < values.size(); ++k)
      values[k] = 2 * k + 1 < values.size() ? combined(values[2 * k], values[2 * k + 1]) : values[2 * k];
  }
  auto sum = defined(std::move(values.front()), static_cast<int>(widest.lanes));
  auto narrower = sums.begin() + 1;
  for (auto lanes = static_cast<int>(widest.lanes); lanes > 1;) {
    lanes /= 2;
    auto halves = combined(part_of(sum, 0, lanes), part_of(sum, lanes, lanes));
    if (narrower != sums.end() && narrower->lanes == lanes)
      halves = combined(std::move(halves), load_of(n.type, {narrower++->array, {}, lanes}));
    sum = defined(std::move(halves), lanes);
  }
  return sum.access.array;
}

}  // namespace ricci::kernel
