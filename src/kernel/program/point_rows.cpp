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
  const auto passes = row_passes(*block_.rows, block_.shared_row.front());
  // The next row is fetched by the pass behind the first one that takes longest, which waits for memory least.
  const auto functions = [&](const RowPass& pass) {
    return std::count_if(pass.computed.begin(), pass.computed.end(),
                         [&](NodeId id) { return node(id).kind == NodeKind::op && ir::is_function(node(id).op); });
  };
  auto fetching = passes.size() - 1;
  for (auto p = fetching; p-- > 1;) {
    if (functions(passes[p]) > functions(passes[fetching])) fetching = p;
  }
  Var cut = -1;
  if (const auto& begins = block_.rows->cut) {
    const auto n = extent(block_.shared_row.front());
    cut = kernel_.add_var(names_.fresh("cut"), n + 1);
    body_.add(Let{.var = cut, .of = offset(*begins), .most = n});
  }
  for (std::size_t p = 0; p < passes.size(); ++p) add_pass(passes[p], p == fetching, cut);
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

bool PointBuilder::has_part(const RowPass& pass, int part) const {
  const auto has = [&](const auto& one) { return one.value[static_cast<std::size_t>(part)] >= 0; };
  return std::any_of(pass.sums.begin(), pass.sums.end(), has) ||
         std::any_of(pass.results.begin(), pass.results.end(), has);
}

void PointBuilder::add_pass(const RowPass& pass, bool fetches, Var cut) {
  const int row = block_.shared_row.front();
  const auto q = static_cast<std::size_t>(row);
  const auto hoist_values = [&](const auto& list) {
    for (const auto& one : list) {
      for (const auto value : one.value) {
        if (value >= 0) hoist(value, row_);
      }
    }
  };
  hoist_values(pass.sums);
  hoist_values(pass.results);
  std::vector<int> kept;
  for (const auto& one : pass.kept)
    kept.push_back(kernel_.add_array({names_.fresh("kept"), node(one.value).type, Space::scratch, {extent(row)}}));
  std::vector<std::vector<RowSum>> sums(pass.sums.size());
  const auto all = row_rounds(extent(row), block_.row_lanes, cut >= 0);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const auto& n = node(pass.sums[k].reduction);
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
  const Affine ends[] = {Affine(0), cut >= 0 ? Affine::of(cut) : Affine(extent(row)), Affine(extent(row))};
  for (const std::size_t part : {0, 1}) {
    if ((part > 0 && cut < 0) || !has_part(pass, static_cast<int>(part))) continue;
    auto& place = block_.vars[q].value;
    place = kernel_.add_var(names_.fresh(index_name(row)), extent(row));
    Sweep sweep{place, ends[part], ends[part + 1], {}};
    for (const auto& [vectors, lanes, rounds] : all) {
      block_.register_tile[q] = vectors;
      block_.apart[q] = lanes;
      block_.lane = lanes > 1 ? row : -1;
      block_.lanes = static_cast<int>(lanes);
      block_.nontemporal = outside.nontemporal && lanes == outside.row_lanes;
      unrolled_[q] = vectors > 1;
      sweep.parts.push_back({vectors * lanes, body_.collect([&] {
                               if (fetches && lanes == outside.row_lanes) fetch_next(vectors, lanes);
                               add_round(pass, part, kept, sums);
                             })});
    }
    unrolled_[q] = false;
    // Behind a cut stores are aligned first.
    if (part > 0 && outside.nontemporal && pass.results.size() == 1) {
      const auto& statement = program_.statements[static_cast<std::size_t>(pass.results.front().statement)];
      block_.lane = -1;
      sweep.aligned = Access{statement.buffer, {offset(statement.offset)}, static_cast<int>(outside.row_lanes)};
    }
    block_ = outside;
    body_.add(std::move(sweep));
  }
  for (std::size_t k = 0; k < sums.size(); ++k) name(pass.sums[k].reduction, total(pass.sums[k].reduction, sums[k]));
  for (std::size_t k = 0; k < kept.size(); ++k) name(pass.kept[k].value, kept[k]);
}

/// What a round computes of one part of the row.
void PointBuilder::add_round(const RowPass& pass, std::size_t part, const std::vector<int>& kept,
                             const std::vector<std::vector<RowSum>>& sums) {
  const auto& vars = block_.vars[static_cast<std::size_t>(block_.shared_row.front())];
  const bool unrolled = (row_ & unrolled_).any();
  open_scope();
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (pass.kept[k].in[part]) keep(pass.kept[k].value, kept[k]);
  }
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const auto& [reduction, value] = pass.sums[k];
    if (value[part] < 0) continue;
    const auto of =
        std::find_if(sums[k].begin(), sums[k].end(), [&](const RowSum& sum) { return sum.lanes == block_.lanes; });
    Access target{of->array, {}, block_.lanes};
    if (of->vectors > 1) target.index.push_back(unrolled ? Affine::of(vars.place) : Affine(0));
    accumulate(value[part], target, node(reduction).op, row_ & unrolled_);
  }
  for (const auto& [number, value] : pass.results) {
    if (value[part] < 0) continue;
    auto statement = program_.statements[static_cast<std::size_t>(number)];
    statement.value = value[part];
    add_store(statement);
  }
  close_scope();
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
    if (widest.vectors > 1) access.index.emplace_back(k);
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
