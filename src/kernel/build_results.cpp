// Results that take another way than from registers to where they belong: through shared memory, by atomic additions,
// or gathered in scratch memory, from which they leave as runs of neighbours.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "kernel/atom_types.hpp"
#include "kernel/builder.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using ir::NodeKind;

void Builder::store(const Directive& directive) {
  const bool shared = directive.space == "shared";
  if (directive.space == "scratch") return gather(directive);
  if (kernel_.target != Target::cuda)
    fail(shared ? "results leave through shared memory on a GPU alone" : "atomic additions are for a GPU");
  if (atoms_ < products_.size()) fail("it stands behind the atom");
  if (!shared) return add_atomically();
  if (!products_.front().mma.batch.empty()) fail("products stand side by side");
  const auto& statement = program_.statement();
  for (const auto& n : program_.nodes) {
    const bool factor = n.kind == NodeKind::load &&
                        (&n == &node(products_.front().of.first.load) || &n == &node(products_.front().of.second.load));
    if ((n.kind == NodeKind::load && !factor) || n.kind == NodeKind::index)
      fail(fmt::format("{} is made of more than the sum", kernel_.array(statement.buffer).name));
  }
  relaid_ = true;
}

void Builder::add_atomically() const {
  const auto& statement = program_.statement();
  const auto& result = kernel_.array(statement.buffer);
  if (!has_atomic_addition(result.type))
    fail(fmt::format("there is no atomic addition of {}", ricci::name(result.type)));
  const auto& top = node(statement.value);
  const auto is_old = [&](ir::NodeId id) {
    return node(id).kind == NodeKind::load && node(id).source == statement.buffer &&
           node(id).offset == statement.offset;
  };
  const bool adds =
      top.kind == NodeKind::op && top.op == ir::OpCode::add && (is_old(top.operand[0]) || is_old(top.operand[1]));
  if (!adds) fail(fmt::format("{} is set, and not added to", result.name));
}

void Builder::check_unread() const {
  for (const auto& n : program_.nodes) {
    if (n.kind == NodeKind::load && n.source == program_.statement().buffer) fail("the result is read too");
  }
}

std::vector<std::size_t> Builder::result_order() const {
  const auto& step = program_.statement().offset.coefficient;
  std::vector<std::size_t> order;
  for (std::size_t q = 0; q < step.size(); ++q) {
    if (step[q] != 0) order.push_back(q);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return std::abs(step[x]) < std::abs(step[y]); });
  return order;
}

std::int64_t Builder::block_extent(std::size_t q, std::size_t loops) const {
  std::int64_t extent = this->extent(static_cast<int>(q));
  for (const auto& level : axes_[q].levels) {
    if (const auto at = place(level.var); at && *at < loops) extent = std::min(extent, level.step);
  }
  return extent;
}

int Builder::add_block() {
  std::int64_t elements = 1;
  for (const auto q : result_order()) elements *= block_extent(q, tasks().size());
  return add_scratch("block", elements);
}

Affine Builder::in_block(std::size_t loops) const {
  Affine offset;
  std::int64_t stride = 1;
  for (const auto q : result_order()) {
    auto value = axes_[q].value;
    for (std::size_t k = 0; k < loops; ++k) value = value.with(order_[k].var, Affine(0));
    offset = offset + stride * value;
    stride *= block_extent(q, loops);
  }
  return offset;
}

Builder::BlockRuns Builder::runs_of_block(std::size_t loops) const {
  BlockRuns runs;
  bool goes_on = true;
  for (const auto q : result_order()) {
    const auto extent = block_extent(q, loops), whole = this->extent(static_cast<int>(q));
    if (goes_on && program_.statement().offset.coefficient[q] == runs.length && whole % extent == 0) {
      runs.length *= extent;
      goes_on = extent == whole;
    } else if (extent > 1) {
      runs.apart.push_back(q);
      goes_on = false;
    }
  }
  return runs;
}

void Builder::gather(const Directive& directive) {
  const auto& offset = program_.statement().offset;
  const auto& result = kernel_.array(program_.statement().buffer);
  if (kernel_.target != Target::cpu) fail("results leave through scratch memory on a CPU alone");
  if (atoms_ < products_.size()) fail("it stands behind the atom");
  if (nontemporal_ || prefetched_ || gathered_) fail("results leave by one way");
  if (is_complex(result.type) || size_of(result.type) < 4) fail("results are real numbers of four bytes and more");
  check_unread();
  const auto at = place(loop(directive.at));
  if (!at || order_[*at].sum) fail(fmt::format("{} is no loop around the sums of register tiles", directive.at));
  if (order_[*at].bind == Bind::task && *at + 1 != tasks().size())
    fail(fmt::format("tasks share nothing: {} is not the innermost of their loops", directive.at));
  for (std::size_t q = 0; q < axes_.size(); ++q) {
    if (is_joined(static_cast<int>(q)) && moves(static_cast<int>(q), offset))
      fail(fmt::format("{} is of joined indices, and neighbours among these are not known beforehand", axes_[q].name));
  }
  gathered_ = Gathered{.loops = *at + 1, .origin = origin()};
  // Whole lines are read of what is copied.
  gathered_->margin = kLineBytes / size_of(result.type);
  std::int64_t elements = 1;
  for (const auto q : result_order()) elements *= block_extent(q, gathered_->loops);
  gathered_->block = add_scratch("block", elements + 2 * gathered_->margin);
}

void Builder::carry(const Directive& directive) {
  if (!gathered_)
    fail("lines are carried of results that leave through scratch memory: it stands behind `store scratch`");
  const auto q = find(directive.subject);
  if (q < 0) fail("no index of this program has that name");
  const auto& level = axis(q).levels.front();
  const auto at = place(level.var);
  if (!at || order_[*at].bind != Bind::task || level.count == 1) fail("no loop over tasks is of that index");
  const auto step = program_.statement().offset.coefficient[static_cast<std::size_t>(q)] * level.step;
  const auto length = runs_of_block(gathered_->loops).length;
  if (length < gathered_->margin) fail("runs of which lines wait are no shorter than a line");
  if (step != length || block_extent(static_cast<std::size_t>(q), gathered_->loops) != level.step ||
      extent(q) % level.step != 0)
    fail("the next task along it does not go on where runs of the result end");
  gathered_->carried = q;
}

Body Builder::gathered_runs() {
  const auto& statement = program_.statement();
  const auto loops = gathered_->loops;
  const auto runs = runs_of_block(loops);
  const auto lanes = kernel_.array(products_.front().mma.accumulator).lanes;
  const auto at_begin = [&](Affine value) {
    for (const auto& axis : axes_) {
      for (const auto& level : axis.levels) {
        const auto at = place(level.var);
        if (!at || *at >= loops) value = value.with(level.var, Affine(0));
      }
    }
    return value;
  };
  auto to = at_begin(offset(statement.offset));
  Affine from(gathered_->margin), number;
  std::int64_t stride = 1, lines = 1;
  std::vector<Digit> rows;
  std::vector<Condition> when;
  for (const auto q : result_order()) {
    const auto extent = block_extent(q, loops);
    if (std::find(runs.apart.begin(), runs.apart.end(), q) != runs.apart.end()) {
      const auto row = new_var(axes_[q].name + "_run", extent);
      rows.push_back({row, extent});
      to = to + Affine::of(row, statement.offset.coefficient[q]);
      from = from + Affine::of(row, stride);
      number = number + Affine::of(row, lines);
      lines *= extent;
      if (axes_[q].extent % extent != 0) when.push_back({at_begin(axes_[q].value) + Affine::of(row), axes_[q].extent});
    }
    stride *= extent;
  }
  CopyRun run{{statement.buffer, {to}}, {gathered_->block, {from}}, runs.length, CopyRun::How::nontemporal, lanes};
  if (gathered_->carried >= 0) {
    const auto along = axis(gathered_->carried).levels.front().var;
    const auto carried = *place(along);
    std::int64_t apart = 1;
    for (std::size_t k = carried + 1; k < loops; ++k) {
      const auto& one = order_[k];
      if (kernel_.extent(one.var) == 1) continue;
      number = number + Affine::of(one.var, lines);
      lines *= kernel_.extent(one.var);
      if (one.bind == Bind::task) apart *= kernel_.extent(one.var);
    }
    const auto waiting = add_scratch("waiting", lines * gathered_->margin);
    run.carry = CopyRun::Carry{{waiting, {gathered_->margin * number}}, along, kernel_.extent(along), apart};
  }
  Body body{{std::move(run), gathered_->origin}};
  if (!when.empty()) body = {{If{std::move(when), std::move(body), {}}, gathered_->origin}};
  for (const auto& row : rows) {
    Loop loop;
    loop.var = row.var;
    loop.bind = Bind::rolled;
    loop.body = std::move(body);
    body = {{std::move(loop), gathered_->origin}};
  }
  return body;
}

int Builder::add_scratch(const std::string& name, std::int64_t elements) {
  const auto& result = kernel_.array(program_.statement().buffer);
  Array array;
  array.name = fmt::format("{}_{}", result.name, name);
  array.type = result.type;
  array.space = Space::scratch;
  array.alignment = kLineBytes;
  array.origin = origin();
  array.shape = {elements};
  return kernel_.add_array(std::move(array));
}

}  // namespace ricci::kernel
