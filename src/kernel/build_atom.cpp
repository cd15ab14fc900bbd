// What the atom directive makes: products, their accumulator, and what is done with its sums.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "kernel/atom_types.hpp"
#include "kernel/builder.hpp"
#include "kernel/complex_pairs.hpp"
#include "kernel/warp_tile.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

void Builder::atom(const Directive& directive) {
  if (atoms_ == products_.size()) fail("there is an atom already");
  const auto& contraction = product().of;
  auto& mma = product().mma;
  mma.atom = directive.subject;
  mma.parts = directive.parts;
  mma.products = directive.products;
  const auto lanes = directive.lanes;
  mma.spread = {directive.warps[0], directive.warps[1], directive.runs[0], directive.runs[1], directive.runs[2]};
  if ((kernel_.target == Target::cuda) != (directive.warps[0] > 0))
    fail(kernel_.target == Target::cuda ? "warps are missing" : "warps on a CPU");
  for (const auto& [word, names] : directive.loops) {
    if (word == "warp") continue;
    for (const auto& name : names) {
      const auto var = loop(name);
      if (place(var)) fail(fmt::format("{} is a loop of the order", name));
      auto& digits = word == "rows"      ? mma.rows
                     : word == "columns" ? mma.columns
                     : word == "depth"   ? mma.depth
                                         : mma.batch;
      digits.push_back({var, kernel_.extent(var)});
    }
  }
  const bool fma =
      kernel_.target == Target::cpu ? dots_ || directive.subject == "fma" : find_fma(directive.subject) != nullptr;
  if (!fma && (kernel_.target == Target::cpu || instruction_ == nullptr))
    fail(fmt::format("there is no atom {}{}", directive.subject, kernel_.target == Target::cpu ? " on a CPU" : ""));
  for (const auto& [word, names] : directive.loops) {
    if (word == "warp") order_warps(mma.spread, names, mma);
  }
  if (kernel_.target == Target::cuda) {
    set_threads(mma);
    kernel_.blocks = directive.blocks;
  }
  std::int64_t deep = 1;
  for (const auto& digit : mma.depth) deep *= digit.extent;
  if (instruction_ != nullptr && deep % instruction_->k != 0)
    fail(fmt::format("a depth of {} in atoms of {}", deep, instruction_->k));
  if (instruction_ != nullptr) {
    if (std::string why; !computes(*instruction_, directive.parts, program_, contraction, &why)) fail(why);
    if (instruction_->warps > 1) check_group(mma);
  }
  if (mma.products != 4) {
    const bool in_parts =
        instruction_ != nullptr && instruction_->a.type == AtomType::f64 && is_complex(contraction.type);
    if (mma.products != 3 || !in_parts) fail("3 real products make one of c128 by an atom of f64, 4 any other");
  }
  for (std::size_t q = 0; q < axes_.size(); ++q) {
    for (const auto& level : axes_[q].levels) {
      if (place(level.var) || level.count == 1 || role(product(), static_cast<int>(q)) == Role::other) continue;
      const auto has = [&](const std::vector<Digit>& digits) {
        return std::any_of(digits.begin(), digits.end(), [&](const Digit& d) { return d.var == level.var; });
      };
      const auto& name = var_name(level.var);
      if (has(mma.batch)) {
        if (role(product(), static_cast<int>(q)) != Role::batch)
          fail(fmt::format("products side by side differ in {}, which is no index of both operands and the result",
                           name));
        continue;
      }
      if (!has(mma.rows) && !has(mma.columns) && !has(mma.depth))
        fail(fmt::format("{} is in no order and not in the atom", name));
      if (has(mma.depth) != is_summed(static_cast<int>(q)))
        fail(fmt::format("depth are summed indices, which {} is {}", name, has(mma.depth) ? "none of" : "one of"));
    }
  }
  for (const auto& digit : mma.depth) {
    // Both operands are 0 past the end of an index; an operand without it would add what it has.
    const auto q = index_of(digit.var);
    if (ends_inside(static_cast<std::size_t>(q)) && !contraction.keeps_zeros)
      fail(fmt::format("a tile of {} does not divide it, and what is past its end is 0, which terms here make more of",
                       axis(q).name));
    if (ends_inside(static_cast<std::size_t>(q)) && role(product(), q) != Role::depth)
      fail(fmt::format("a tile of {} does not divide it, and {} is no index of both operands", axis(q).name,
                       var_name(digit.var)));
  }
  for (const auto* digits : {&mma.rows, &mma.columns}) {
    for (const auto& digit : *digits) {
      const bool lanes_of_both = kernel_.target == Target::cpu && &digit == mma.last_columns();
      if (role(product(), index_of(digit.var)) == Role::batch && digit.extent > 1 && !lanes_of_both)
        fail(fmt::format("{} is an index of both operands: on a CPU it may be the last of the columns",
                         var_name(digit.var)));
    }
  }
  // The operand that the rows move is the atom's first one. An index of both is the lanes of both.
  const auto moved = [&](const std::vector<Digit>& digits, const Factor& factor) {
    return std::any_of(digits.begin(), digits.end(), [&](const Digit& d) {
      const auto q = index_of(d.var);
      return role(product(), q) != Role::batch && moves(q, node(factor.load).offset);
    });
  };
  const bool swapped = moved(mma.rows, contraction.second) || moved(mma.columns, contraction.first);
  const auto& a = swapped ? contraction.second : contraction.first;
  const auto& b = swapped ? contraction.first : contraction.second;
  if (moved(mma.rows, b) || moved(mma.columns, a)) fail("rows are indices of one operand, columns those of the other");
  mma.a = operand(a);
  mma.b = operand(b);
  if (dots_) check_dots(mma, a, b);
  columns_ = mma.columns;
  if (directive.over > 1) join_lanes(mma, directive.over);
  const bool lanes_of_both = !mma.columns.empty() && mma.a.index.front().coefficient(mma.columns.back().var) != 0;
  if (dots_ && (lanes == 1 || lanes_of_both || directive.over > 1))
    fail("dot products are by vectors along one of the columns, of one operand");
  if (lanes > 1) check_lanes(mma, mma.b, lanes);
  if (lanes > 1 && lanes_of_both) check_lanes(mma, mma.a, lanes);
  mma.conj_a = a.conj;
  mma.conj_b = b.conj;
  mma.negative = contraction.negative;
  mma.term = term(swapped);
  mma.combine = contraction.combine;
  mma.outer = contraction.indices(Role::depth).empty() && contraction.indices(Role::summed).empty();
  make_accumulator(mma, lanes);
  if (group_ != nullptr && is_complex(contraction.type) && (lanes > 1 || kernel_.target == Target::cuda))
    fail("no groups of complex products yet");
  if (lanes > 1 && is_complex(contraction.type)) {
    const auto& out = program_.statement();
    const auto written = result().value(out.value, mma.accumulator);
    const auto rule = unpaired(kernel_, result().element(), written, mma.accumulator, mma.columns.back().var);
    if (!rule.empty()) fail(rule);
  }
  ++atoms_;
}

std::optional<Value> Builder::term(bool swapped) const {
  const auto& of = products_[atoms_].of;
  if (of.is_product()) return std::nullopt;
  const bool shared =
      std::any_of(order_.begin(), order_.end(), [](const Ordered& one) { return one.bind == Bind::cluster; });
  if (of.combine != ir::OpCode::add && (atomic_ || shared))
    fail("blocks share sums, and this combines by another operation");
  const auto factor = [&](int number) {
    Value value;
    value.kind = Value::Kind::factor;
    value.type = of.type;
    value.param = number;
    return value;
  };
  return result().value(of.term,
                        {{of.first.value, factor(swapped ? 1 : 0)}, {of.second.value, factor(swapped ? 0 : 1)}});
}

void Builder::order_warps(Spread& spread, const std::vector<std::string>& names, const Mma& mma) const {
  if (kernel_.target == Target::cpu) fail("there are no warps on a CPU");
  if (names.empty() || names.size() > spread.order.size())
    fail(fmt::format("a warp's number has 1 to {} digits", spread.order.size()));
  std::array<std::size_t, 2> next = {0, 0};  // digits of columns and of rows that are the warps'
  std::array<std::int64_t, 2> warps = {1, 1};
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto var = loop(names[k]);
    const auto is_next = [&](bool of_rows) {
      const auto& digits = of_rows ? mma.rows : mma.columns;
      return next[of_rows] < digits.size() && digits[next[of_rows]].var == var;
    };
    const bool of_rows = is_next(true);
    if (!of_rows && !is_next(false))
      fail(fmt::format("warps have the slowest digits of the rows and of the columns, which {} is none of", names[k]));
    const auto extent = kernel_.extent(var);
    if (extent < 2 || extent > kMostThreads / kWarp) fail(fmt::format("{} is no digit of a warp's number", names[k]));
    spread.order[k] = {static_cast<std::int8_t>(extent), of_rows};
    ++next[of_rows];
    warps[of_rows] *= extent;
  }
  if (warps[1] != spread.warp_rows || warps[0] != spread.warp_columns)
    fail(fmt::format("its digits make {}x{} warps", warps[1], warps[0]));
}

void Builder::set_threads(Mma& mma) {
  const auto* atom = instruction_ != nullptr ? instruction_ : find_fma(mma.atom);
  const auto lanes = batch_lanes(*atom);
  if (lanes > 1 && (mma.batch.empty() || mma.batch.back().extent != lanes))
    fail(fmt::format("lanes of {} are {} products, the last digit of the batch", mma.atom, lanes));
  std::int64_t products = 1;
  for (const auto& digit : mma.batch) products *= digit.extent;
  const auto threads = std::int64_t{kWarp} * mma.spread.warps() * (products / lanes);
  if (threads > kMostThreads) fail(fmt::format("more than {} threads in a block", kMostThreads));
  if (exchanged_ && threads != kernel_.threads) fail("all sections of a group have the same number of threads");
  mma.spread.batches = static_cast<int>(products / lanes);
  kernel_.threads = static_cast<int>(threads);
}

void Builder::check_group(const Mma& mma) const {
  if (group_ != nullptr) fail("groups of warps multiply no groups of products yet");
  const auto count = [](const std::vector<Digit>& digits) {
    std::int64_t n = 1;
    for (const auto& digit : digits) n *= digit.extent;
    return n;
  };
  const auto& [warp_rows, warp_columns, run_rows, run_columns, run_depth, batches, order] = mma.spread;
  // Rows along the depth may be fewer: those of the last products are dropped.
  const auto whole = [](std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; };
  if (warp_columns != 1 || mma.spread.ordered() || warp_rows % instruction_->warps != 0 ||
      whole(count(mma.rows), std::int64_t{instruction_->m} * instruction_->warps) !=
          std::int64_t{instruction_->m} * warp_rows)
    fail(fmt::format("groups of {} warps take {} rows each, and all columns", instruction_->warps,
                     instruction_->warps * instruction_->m));
  if (const auto columns = whole(count(mma.columns), instruction_->n); columns > kMostGroupColumns)
    fail(fmt::format("{} columns are more than {}", count(mma.columns), kMostGroupColumns));
  else if (!has_instruction(*instruction_, columns))
    fail(fmt::format("{} has no instruction of {} columns", instruction_->name, columns));
  if (batches != 1) fail("groups of warps have one product");
  if (run_rows != 1 || run_columns != 1) fail("a lane of a warp group holds no runs along rows or columns");
}

Dot Builder::dot(const Contraction& of) const {
  const bool swapped = has_columns(node(of.first.load).offset);
  const auto dot = dot_of(program_, of, swapped ? of.second : of.first, swapped ? of.first : of.second);
  if (!dot) {
    const auto type = [&](const Factor& factor) { return name(factor.rounded.value_or(node(factor.load).type)); };
    fail(fmt::format("no dot products of {} and {} in {}", type(of.first), type(of.second), name(of.type)));
  }
  return *dot;
}

void Builder::check_dots(Mma& mma, const Factor& rows, const Factor& columns) {
  const auto dot = this->dot(product().of);
  if (group_ != nullptr) fail("no groups of dot products");
  for (const auto* factor : {&rows, &columns}) {
    const auto& staged = factor == &product().of.first ? product().first : product().second;
    if (staged.array < 0)
      fail(fmt::format("groups of neighbours along the depth are made as operands are copied: {} must be staged",
                       kernel_.array(node(factor->load).source).name));
  }
  const auto group = dot.types->group;
  if (mma.depth.empty() || mma.depth.back().extent != group)
    fail(fmt::format("the last of the depth are {} terms, which an instruction sums", group));
  mma.flipped = dot.flipped;
  for (const auto* operand : {&mma.a, &mma.b}) {
    if (operand->index.front().coefficient(mma.depth.back().var) != 1)
      fail(fmt::format("{} has to be the last dimension of {}", var_name(mma.depth.back().var),
                       kernel_.array(operand->array).name));
  }
}

void Builder::check_lanes(const Mma& mma, const Access& operand, int lanes) {
  if ((lanes & (lanes - 1)) != 0 || lanes > 64) fail("lanes are a power of two, 64 at most");
  const auto type = product().of.type;
  if (is_half(type)) fail(fmt::format("vectors hold no {}", name(type)));
  if (mma.columns.empty()) fail("lanes are neighbours along the last of the columns, and there are none");
  const auto& last = mma.columns.back();
  auto& array = kernel_.arrays[static_cast<std::size_t>(operand.array)];
  const auto group = mma.group();
  if (is_half(array.type) && !dots_)
    fail(fmt::format("vectors of {} are not converted: {} must be staged", name(array.type), array.name));
  if (last.extent > 1 && operand.index.front().coefficient(last.var) != group) {
    fail(fmt::format("lanes are neighbours along {}, and those of {} are apart: it must be staged", var_name(last.var),
                     array.name));
  }
  if (array.space != Space::global && last.extent % lanes != 0)
    array.shape.front() += (lanes - last.extent % lanes) * group;
}

void Builder::join_lanes(Mma& mma, int columns) {
  if (group_ != nullptr || is_complex(product().of.type))
    fail("lanes run along one column of groups of products, and of complex numbers");
  if (static_cast<std::size_t>(columns) > mma.columns.size()) fail("lanes run over more columns than there are");
  const auto first = mma.columns.end() - columns;
  auto& index = mma.b.index.front();
  std::string name;
  for (auto digit = first; digit != mma.columns.end(); ++digit) {
    if (digit != first && ends_inside(static_cast<std::size_t>(index_of(digit->var))))
      fail(fmt::format("lanes run over {}, of which a tile has some that do not exist", var_name(digit->var)));
    name += var_name(digit->var);
  }
  Digit joined{-1, 1};
  for (auto digit = mma.columns.end(); digit-- != first;) {
    if (digit->extent == 1 || mma.a.index.front().coefficient(digit->var) != 0 ||
        index.coefficient(digit->var) != joined.extent)
      fail(
          fmt::format("lanes run over {}, which does not go on where the columns behind it end", var_name(digit->var)));
    lanes_.push_back({.var = digit->var, .divisor = joined.extent, .modulus = digit == first ? 0 : digit->extent});
    index = index.with(digit->var, Affine(0));
    joined.extent *= digit->extent;
  }
  joined.var = new_var(std::move(name), joined.extent);
  for (auto& let : lanes_) let.of = Affine::of(joined.var);
  index = index + Affine::of(joined.var);
  mma.columns.erase(first, mma.columns.end());
  mma.columns.push_back(joined);
}

Access Builder::operand(const Factor& factor) const {
  const auto& product = products_[atoms_];
  const auto& load = node(factor.load);
  const auto& staged = &factor == &product.of.first ? product.first : product.second;
  if (staged.array >= 0) return staged.access;
  if (!quotients(load.offset).empty())
    fail(fmt::format("indices of {} are joined, so it must be staged", kernel_.array(load.source).name));
  if (factor.rounded)
    fail(fmt::format("factors of {} are rounded to {}: it must be staged", kernel_.array(load.source).name,
                     name(*factor.rounded)));
  for (const auto& condition : inside(load.offset, true)) {
    for (const auto& term : condition.value.terms) {
      if (!place(term.var)) {
        fail(fmt::format("{} is read past its end: a tile of {} does not divide it, so it must be staged",
                         kernel_.array(load.source).name, axis(index_of(term.var)).name));
      }
    }
  }
  return global(factor.load);
}

void Builder::make_accumulator(Mma& mma, int lanes) {
  if (atoms_ > 0) {
    const auto& before = products_.front().mma;
    const auto same = [](const std::vector<Digit>& x, const std::vector<Digit>& y) {
      return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                        [](const Digit& s, const Digit& t) { return s.var == t.var; });
    };
    const bool fits = same(mma.rows, before.rows) && same(mma.columns, before.columns) &&
                      lanes == kernel_.array(before.accumulator).lanes && mma.atom == before.atom;
    if (!fits) fail("products that add to one accumulator have the same rows, columns and lanes");
    mma.accumulator = before.accumulator;
    return;
  }
  Array sum;
  sum.name = "sum";
  const auto taken = [&](const Array& array) { return array.name == sum.name; };
  for (int n = 2; exchanged_ && std::any_of(kernel_.arrays.begin(), kernel_.arrays.end(), taken); ++n)
    sum.name = fmt::format("sum_{}", n);  // what is exchanged lives in one scope
  sum.type = product().of.type;
  sum.space = Space::registers;
  sum.lanes = lanes;
  sum.origin = atom_number_ = origin();
  std::int64_t rows = 1, columns = 1;
  for (const auto& digit : mma.rows) rows *= digit.extent;
  for (std::size_t k = 0; k < mma.columns.size(); ++k) {
    const bool last = k + 1 == mma.columns.size();
    columns *= last ? (mma.columns[k].extent + lanes - 1) / lanes : mma.columns[k].extent;
  }
  sum.shape = {rows, columns};
  if (const auto rule = broken_by_stack(stack_bytes(sum)); kernel_.target == Target::cpu && !rule.empty())
    fail(fmt::format("sums of {} x {} registers {}", rows, columns, rule));
  mma.accumulator = kernel_.add_array(std::move(sum));
}

void Builder::pad(Copy& copy) const {
  for (auto& digit : copy.digits) {
    const bool summed = std::any_of(products_.begin(), products_.end(), [&](const Product& product) {
      const auto& depth = product.mma.depth;
      return std::any_of(depth.begin(), depth.end(), [&](const Digit& d) { return d.var == digit.var; });
    });
    digit.padded = summed && ends_inside(static_cast<std::size_t>(index_of(digit.var)));
  }
}

Body Builder::assemble(std::size_t k) {
  auto body = tiles(k);
  if (gathered_ && gathered_->loops == k) {
    for (auto& statement : gathered_runs()) body.push_back(std::move(statement));
  }
  return body;
}

Body Builder::tiles(std::size_t k) {
  if (!has_atoms()) return k < order_.size() ? loop_of(k, assemble(k + 1)) : Body{};
  if (k < order_.size() && !order_[k].sum) return loop_of(k, assemble(k + 1));
  Body body;
  if (prefetched_) body.push_back({kernel_.target == Target::cuda ? runs_before() : lines_of_result(), atom_number_});
  const auto tile = [](const Mma& mma) { return TileExchange::Tile{mma.accumulator, mma.rows, mma.columns}; };
  const auto& mma = products_.front().mma;
  if (passing_.from != nullptr) {
    body.push_back({TileExchange{tile(mma), tile(passing_.from->products_.front().mma)}, atom_number_});
  } else {
    body.push_back({Clear{mma.accumulator, mma.combine}, atom_number_});
  }
  if (ahead_) body.push_back(lines_ahead());
  if (rows_ahead_) body.push_back(*rows_ahead_);
  for (auto& statement : sums(k)) body.push_back(std::move(statement));
  if (passing_.on) return body;
  for (auto& statement : flush()) body.push_back(std::move(statement));
  return body;
}

Prefetch Builder::lines_of_result() const {
  auto digits = products_.front().mma.rows;
  digits.insert(digits.end(), columns_.begin(), columns_.end());
  return {result().element(), std::move(digits), true, quotients(program_.statement().offset)};
}

Prefetch Builder::runs_before() const {
  const auto refuse = [](const char* rule) { throw PlanError(fmt::format("schedule: prefetch: on a GPU {}", rule)); };
  const auto& statement = program_.statement();
  const auto is_before = [&](const ir::Node& node) {
    return node.kind == ir::NodeKind::load && node.source == statement.buffer;
  };
  if (group_ != nullptr) refuse("results of a group are not prefetched");
  if (std::none_of(program_.nodes.begin(), program_.nodes.end(), is_before)) refuse("nothing is added to the result");
  const auto shared = [](const Ordered& one) { return one.bind == Bind::cluster; };
  if (atomic_ || last_ || std::any_of(order_.begin(), order_.end(), shared)) refuse("a task's results are its own");
  if (!quotients(statement.offset).empty()) refuse("neighbours of joined indices are not known beforehand");
  const auto& mma = products_.front().mma;
  Prefetch runs{result().element(), mma.rows};
  for (const auto* side : {&mma.columns, &mma.batch}) runs.digits.insert(runs.digits.end(), side->begin(), side->end());
  runs.when = inside(statement.offset, true);
  return runs;
}

void Builder::check_exchange(const Builder& before) const {
  const auto refuse = [](const char* rule) { throw PlanError(fmt::format("schedule: exchange: {}", rule)); };
  for (const auto* section : {&before, this}) {
    for (const auto& one : section->order_) {
      if (one.bind != Bind::task && !one.sum && kernel_.extent(one.var) > 1)
        refuse("a task has one register tile of either section");
    }
  }
  const auto& to = products_.front().mma;
  const auto& from = before.products_.front().mma;
  const auto digits = [](const Mma& mma) {
    std::vector<Var> all;
    for (const auto* side : {&mma.rows, &mma.columns}) {
      for (const auto& digit : *side) {
        if (digit.extent > 1) all.push_back(digit.var);
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto &a = kernel_.array(to.accumulator), &b = kernel_.array(from.accumulator);
  if (digits(to) != digits(from)) refuse("both sections have the same levels of indices in registers");
  if (a.type != b.type || a.lanes != b.lanes) refuse("registers of both sections are alike");
  if (a.lanes > 1 && (to.columns.back().extent == 1 || from.columns.back().extent == 1))
    refuse("lanes are of an index of several values");
  if (kernel_.target == Target::cuda) {
    // Lanes and warps are, and a digit is theirs as a whole, or a part of it that is.
    for (const auto* side : {&to.rows, &to.columns}) {
      for (const auto& digit : *side) {
        if (!std::has_single_bit(static_cast<std::uint64_t>(digit.extent)))
          refuse("on a GPU levels of indices in registers have 1, 2, 4, ... values");
      }
    }
    return;
  }
  if (const auto rule = broken_by_stack(stack_bytes(a) + stack_bytes(b)); !rule.empty())
    refuse(("registers of both sections " + rule).c_str());
}

Body Builder::sums(std::size_t k) {
  if (k < order_.size()) return loop_of(k, sums(k + 1));
  Body body;
  for (const auto& product : products_) body.push_back({product.mma, atom_number_});
  return body;
}

Body Builder::loop_of(std::size_t k, Body inner) {
  Loop loop;
  loop.var = order_[k].var;
  loop.bind = order_[k].bind;
  loop.stages = order_[k].stages;
  loop.prefetch = order_[k].prefetch;
  const auto q = index_of(loop.var);
  const auto& axis = axes_[static_cast<std::size_t>(q)];
  if (last_ && loop.var == last_->rounds) {
    loop.when = rounds_of_block(axis.levels.front().var);
  } else if (axis.ragged && axis.levels.front().var != loop.var) {
    Affine base;
    for (const auto& level : axis.levels) {
      if (level.count > 1) base = base + Affine::of(level.var, level.step);
      if (level.var == loop.var) break;
    }
    const auto last = bounds(base, [&](Var v) { return kernel_.extent(v); }).last;
    if (last >= extent(q)) loop.when.push_back({base, extent(q)});
  }
  loop.body = std::move(order_[k].first);
  for (auto& statement : inner) loop.body.push_back(std::move(statement));
  const bool named = last_ && loop.bind == Bind::cluster;   // by the block's place
  const bool piped = group_ != nullptr && loop.stages > 1;  // with the rounds of other sections
  if ((kernel_.extent(loop.var) == 1 && !piped) || named) return std::move(loop.body);
  return {{std::move(loop), order_[k].origin}};
}

Body Builder::flush() {
  const auto& mma = products_.front().mma;
  const auto& statement = program_.statement();
  const auto result = this->result();
  Flush whole;
  whole.rows = mma.rows;
  whole.columns = mma.columns;
  whole.batch = mma.batch;
  whole.accumulator = mma.accumulator;
  whole.atom = mma.atom;
  whole.spread = mma.spread;
  whole.to = result.element();
  if (gathered_) whole.to = {gathered_->block, {in_block(gathered_->loops) + Affine(gathered_->margin)}};
  whole.when = inside(statement.offset, true);
  whole.quotients = quotients(statement.offset);
  whole.quotients.insert(whole.quotients.end(), lanes_.begin(), lanes_.end());
  whole.nontemporal = nontemporal_;
  whole.relaid = relaid_;
  whole.atomic = atomic_;
  std::vector<Condition> first;
  std::vector<Var> apart;  // loops over parts of the sum
  for (const auto& one : order_) {
    const auto q = index_of(one.var);
    if (kernel_.extent(one.var) == 1) continue;
    if (one.bind == Bind::cluster) {
      if (!mma.batch.empty()) throw PlanError("schedule: products side by side have no parts in a cluster");
      whole.parts = last_ ? last_->rank : one.var;
    } else if (!one.sum && is_summed(q) && !atomic_) {
      first.push_back({Affine::of(one.var), 1});
      apart.push_back(one.var);
    }
  }
  Flush more = whole;
  std::optional<Flush> last;
  if ((relaid_ || whole.parts >= 0) && !first.empty())
    throw PlanError(fmt::format("schedule: {}: the sum comes in several parts, of which each adds to the result",
                                relaid_ ? "store shared" : "cluster " + var_name(whole.parts)));
  if ((nontemporal_ || gathered_) && (!first.empty() || group_ != nullptr))
    throw PlanError(fmt::format("schedule: {}: the sum comes in several parts, which are read again",
                                gathered_ ? "store scratch" : "nontemporal"));
  if (products_.size() > 1 && !first.empty())
    throw PlanError("schedule: products that add to one accumulator are summed in one part each");
  if (group_ != nullptr) {
    const auto sum = result.load({mma.accumulator, {}});
    const Access block{passing_.block, {in_block(tasks().size())}};
    whole.to = more.to = passing_.is_last ? result.element() : block;
    more.value = result.plus(more.to, sum);
    whole.value = passing_.adds ? result.plus(block, sum) : sum;
    if (passing_.is_last) whole.value = result.finished(*group_, std::move(whole.value));
  } else {
    whole.value =
        atomic_ ? result.addition(statement.value, mma.accumulator) : result.value(statement.value, mma.accumulator);
    if (!first.empty()) {
      auto parts = result.parts(statement.value, mma.accumulator);
      whole.value = std::move(parts.first);
      more.value = std::move(parts.further);
      if (parts.last) (last = more)->value = std::move(*parts.last);
    }
  }
  if (last_) {
    more = whole;
    whole.parts = -1;
    first.push_back({Affine::of(last_->in_parts), 1});
  }
  if (first.empty()) return {{std::move(whole), atom_number_}};
  Body further{{std::move(more), atom_number_}};
  if (last)
    further = {{If{no_parts_left(apart), {{std::move(*last), atom_number_}}, std::move(further)}, atom_number_}};
  return {{If{std::move(first), {{std::move(whole), atom_number_}}, std::move(further)}, atom_number_}};
}

std::vector<Condition> Builder::no_parts_left(const std::vector<Var>& loops) const {
  std::vector<Condition> when;
  for (const auto& axis : axes_) {
    Affine left(axis.extent);
    std::int64_t step = 0;
    for (const auto& level : axis.levels) {
      if (std::find(loops.begin(), loops.end(), level.var) == loops.end()) continue;
      left = left - Affine::of(level.var, level.step);
      step = level.step;  // of the innermost one
    }
    if (step > 0) when.push_back({left - Affine(step), 1});
  }
  return when;
}

}  // namespace ricci::kernel
