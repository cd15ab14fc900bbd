// The loop nest of a contraction or of a group of them, one directive after the other.
#include "kernel/build.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernel/arguments.hpp"
#include "kernel/atom_types.hpp"
#include "kernel/builder.hpp"
#include "kernel/extensions.hpp"
#include "kernel/verify.hpp"
#include "kernel/warp_group.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using ir::NodeKind;
using Kind = Directive::Kind;

constexpr std::int64_t kMostStages = 16;

void Builder::run(std::span<const Directive> directives, std::size_t count) {
  count = std::min(count, directives.size());
  // Tiles make the loops that all others name, and operands are staged as the atom reads them.
  for (const auto& directive : directives) {
    if (directive.kind == Kind::atom) {
      instruction_ = find_atom(directive.subject);
      dots_ = kernel_.target == Target::cpu && directive.subject == "dot";
      for (const auto& [word, names] : directive.loops) {
        if (word == "rows") rows_ = names;
        if (word == "columns") column_names_ = names;
      }
    }
    if (directive.kind == Kind::store) atomic_ = directive.space == "atomic";
    if (directive.kind == Kind::exchange) exchanged_ = true;
  }
  std::size_t next = 0;
  const auto makes_loops = [](const Directive& d) { return d.kind == Kind::tile || d.kind == Kind::join; };
  for (; next < count && makes_loops(directives[next]); ++next) apply(directives[next]);
  std::vector<bool> part(axes_.size());
  for (const auto& axis : axes_) {
    for (const auto q : axis.members) part[static_cast<std::size_t>(q)] = true;
  }
  for (std::size_t q = 0; q < axes_.size(); ++q) {
    const auto& axis = axes_[q];
    if (axis.levels.empty() && !part[q]) split(static_cast<int>(q), whole({axis.name, axis.extent}));
  }
  for (auto& axis : axes_) name_members(axis);
  for (; next < count; ++next) apply(directives[next]);
  if (count == directives.size() && !has_atoms()) throw PlanError("schedule: a contraction needs an atom");
  for (auto& one : order_) {
    for (auto& statement : one.first) pad(std::get<Copy>(statement.node));
  }
}

std::vector<Builder::Task> Builder::tasks() const {
  std::vector<Task> list;
  for (const auto& one : order_) {
    if (one.bind != Bind::task) continue;
    for (const auto& level : axes_[static_cast<std::size_t>(index_of(one.var))].levels) {
      if (level.var == one.var) list.push_back({one.var, level.step});
    }
  }
  return list;
}

Body Builder::of_task(const Passing& passing) {
  passing_ = passing;
  if (passing.from != nullptr) check_exchange(*passing.from);
  const auto count = tasks().size();
  Body body;
  if (count > 0) body = std::move(order_[count - 1].first);
  if (ahead_) body.insert(body.begin(), {*ahead_, ahead_origin_});
  for (auto& statement : assemble(count)) body.push_back(std::move(statement));
  return body;
}

void Builder::apply(const Directive& directive) {
  current_ = print(directive);
  kernel_.directives.push_back(current_);
  switch (directive.kind) {
    case Kind::tile:
      return tile(directive);
    case Kind::join:
      return join(directive);
    case Kind::order:
      return order(directive);
    case Kind::stage:
      return stage(directive);
    case Kind::atom:
      return atom(directive);
    case Kind::pipeline:
      return pipeline(directive);
    case Kind::prefetch:
      if (!directive.sizes.empty()) fail("a number of tiles is for what only moves elements");
      if (!directive.subject.empty()) return prefetch(directive.subject);
      if (gathered_) fail("results leave by one way");
      prefetched_ = true;
      return;
    case Kind::store:
      return store(directive);
    case Kind::nontemporal:
      if (gathered_) fail("results leave by one way");
      check_unread();
      nontemporal_ = true;
      return;
    case Kind::carry:
      return carry(directive);
    case Kind::exchange:
      if (group_ == nullptr) fail("sums pass between sections of a group");
      return;
    case Kind::products:
      fail("sections of products are for groups of them");
    default:
      refuse_misplaced(directive);
  }
}

void Builder::tile(const Directive& directive) {
  const auto q = find(directive.subject);
  if (q < 0) fail("no index of this program has that name");
  if (!axis(q).levels.empty()) fail("this index has levels already");
  for (const auto& other : axes_) {
    if (std::find(other.members.begin(), other.members.end(), q) != other.members.end())
      fail(fmt::format("it is a part of {}", other.name));
  }
  split(q, directive);
}

int Builder::find(const std::string& name) const {
  const auto at = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.name == name; });
  return at == axes_.end() ? -1 : static_cast<int>(at - axes_.begin());
}

void Builder::join(const Directive& directive) {
  if (group_ != nullptr) fail("indices of groups of products are not joined yet");
  if (find(directive.subject) >= 0) fail("an index has that name");
  Axis joined;
  joined.name = directive.subject;
  for (const auto& name : directive.loops.front().second) {
    const auto q = find(name);
    if (q < 0) fail(fmt::format("no index of this program is {}", name));
    const auto taken = [&](const Axis& axis) {
      return std::find(axis.members.begin(), axis.members.end(), q) != axis.members.end();
    };
    if (is_joined(q) || taken(joined) || std::any_of(axes_.begin(), axes_.end(), taken))
      fail(fmt::format("{} is a part of what is joined already", name));
    if (!axis(q).levels.empty()) fail(fmt::format("{} is tiled on its own", name));
    for (const auto& product : products_) {
      const auto its = role(product, q);
      if (its != Role::rows && its != Role::columns && its != Role::depth)
        fail(fmt::format("{} is no row, column or depth of the product", name));
      if (!joined.members.empty() && role(product, q) != role(product, joined.members.front()))
        fail(fmt::format("{} and {} are not of the same tensors", name, axis(joined.members.front()).name));
    }
    joined.members.push_back(q);
    joined.extent *= extent(q);
  }
  if (joined.members.size() < 2) fail("there is nothing to join");
  joined.tabled = directive.loops.size() > 1;
  const bool summed = role(products_.front(), joined.members.front()) == Role::depth;
  if (joined.tabled && (kernel_.target != Target::cuda || !summed))
    fail("a table is for what a GPU copies of a sum's indices");
  axes_.push_back(std::move(joined));
}

void Builder::name_members(const Axis& joined) {
  std::int64_t below = 1;
  for (auto k = joined.members.size(); k-- > 0;) {
    auto& member = axis(joined.members[k]);
    if (member.extent == 1) continue;  // its value is 0
    const auto last = bounds(joined.value, [&](Var v) { return kernel_.extent(v); }).last;
    // The slowest one is past its end where the axis is.
    const auto modulus = k > 0 ? member.extent : 0;
    const auto var = var_of(member.name, k > 0 ? member.extent : last / below + 1);
    quotients_.push_back(
        {.var = var, .of = joined.value, .divisor = below, .modulus = modulus, .tabled = joined.tabled});
    member.value = Affine::of(var);
    below *= member.extent;
  }
}

std::vector<Let> Builder::quotients(const ir::Affine& affine) const {
  std::vector<Let> list;
  const auto offset = this->offset(affine);
  std::copy_if(quotients_.begin(), quotients_.end(), std::back_inserter(list),
               [&](const Let& let) { return offset.coefficient(let.var) != 0; });
  return list;
}

void Builder::split(int q, const Directive& tile) {
  auto& axis = this->axis(q);
  axis.ragged = extent(q) % tile.sizes.front() != 0;
  for (const auto& [name, count, step] : levels_of(tile, extent(q))) {
    const auto var = var_of(name, count);
    axis.levels.push_back({var, count, step});
    if (count > 1) axis.value = axis.value + Affine::of(var, step);  // else it is 0
  }
}

Var Builder::loop(const std::string& name) const {
  for (const auto& axis : axes_) {
    for (const auto& level : axis.levels) {
      if (var_name(level.var) == name) return level.var;
    }
  }
  fail(fmt::format("there is no loop {}", name));
}

int Builder::index_of(Var var) const {
  for (std::size_t q = 0; q < axes_.size(); ++q) {
    for (const auto& level : axes_[q].levels) {
      if (level.var == var) return static_cast<int>(q);
    }
  }
  return -1;
}

void Builder::order(const Directive& directive) {
  if (!order_.empty()) fail("there is an order already");
  for (const auto& [word, names] : directive.loops) {
    if (word == "thread") fail("threads are lanes of an atom's warps");
    if (word == "last") {
      last(names);
      continue;
    }
    for (const auto& name : names) {
      Ordered one;
      one.var = loop(name);
      one.bind = word == "task" ? Bind::task : word == "cluster" ? Bind::cluster : Bind::serial;
      one.sum = word == "sum";
      one.origin = origin();
      if (place(one.var)) fail(fmt::format("{} is named twice", name));
      const bool summed = is_summed(index_of(one.var));
      if (one.bind == Bind::task && summed && !atomic_)
        fail(fmt::format("{} is summed over: its order is fixed", name));
      if (one.bind == Bind::task && !order_.empty() && order_.back().bind != Bind::task) {
        fail("tasks are the outermost loops");
      }
      if (one.bind == Bind::cluster) cluster(one.var, summed);
      if (one.sum && !summed) fail(fmt::format("{} is not summed over", name));
      if (!order_.empty() && order_.back().sum && !one.sum) fail("loops of a sum are the innermost ones");
      for (const auto& level : axes_[static_cast<std::size_t>(index_of(one.var))].levels) {
        if (level.var == one.var) break;
        if (!place(level.var)) fail(fmt::format("{} comes before {}", var_name(level.var), name));
      }
      const bool before = last_ && one.var != last_->rounds && !place(last_->rounds);
      if (before && kernel_.extent(one.var) > 1)
        fail(fmt::format("the outermost loop of the sum is {}, which has its parts", var_name(last_->rounds)));
      order_.push_back(std::move(one));
    }
  }
  if (last_ && !place(last_->rounds)) fail("parts of sums have a loop over their rounds");
}

void Builder::cluster(Var var, bool summed) const {
  if (kernel_.target != Target::cuda) fail("blocks work together on a GPU alone");
  if (!summed) fail(fmt::format("{} is not summed over: blocks of a cluster have a part of a sum each", var_name(var)));
  if (auto rule = broken_by_cluster(kernel_.extent(var)); !rule.empty()) fail(rule);
  if (!order_.empty() && order_.back().bind != Bind::task)
    fail("the blocks of a cluster are one loop, inside of all tasks");
}

Affine Builder::offset(const ir::Affine& affine) const {
  Affine sum(affine.constant);
  for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
    if (affine.coefficient[q] != 0) sum = sum + affine.coefficient[q] * axes_[q].value;
  }
  return sum;
}

std::vector<Condition> Builder::inside(const ir::Affine& affine, bool tile) const {
  std::vector<Condition> conditions;
  for (std::size_t q = 0; q < axes_.size(); ++q) {
    // On a CPU parts of vectors ask where a joined axis ends.
    const bool in_parts = kernel_.target == Target::cpu && is_joined(static_cast<int>(q));
    const bool ragged = tile && !in_parts ? ends_inside(q) : axes_[q].ragged;
    if (ragged && moves(static_cast<int>(q), affine)) conditions.push_back({axes_[q].value, axes_[q].extent});
  }
  return conditions;
}

bool Builder::ends_inside(std::size_t q) const {
  std::int64_t block = 0;
  for (const auto& level : axes_[q].levels) {
    if (place(level.var)) block = level.step;
  }
  return block == 0 ? axes_[q].ragged : extent(static_cast<int>(q)) % block != 0;
}

void Builder::stage(const Directive& directive) {
  if (atoms_ == products_.size()) fail("operands are staged before the atom that reads them");
  auto& product = this->product();
  const auto& contraction = product.of;
  // Where both factors are of one buffer, the first directive is for the first one.
  const auto is_named = [&](const Factor& factor) {
    return kernel_.array(node(factor.load).source).name == directive.subject;
  };
  const bool is_first = is_named(contraction.first) && (product.first.array < 0 || !is_named(contraction.second));
  if (!is_first && !is_named(contraction.second)) fail("no operand of the product has that name");
  auto& staged = is_first ? product.first : product.second;
  if (staged.array >= 0) fail("this operand is staged already");
  const auto& load = node((is_first ? contraction.first : contraction.second).load);
  if (directive.at.empty()) fail("the loop is missing that it is staged at");
  const auto at = place(loop(directive.at));
  if (!at) fail(fmt::format("{} is no loop of the order", directive.at));
  if (order_[*at].bind == Bind::task && *at + 1 < order_.size() && numbers_blocks(order_[*at + 1].bind))
    fail(fmt::format("tasks share nothing: {} is not the innermost of their loops", directive.at));

  Array array;
  array.name = fmt::format("{}_{}", directive.subject, directive.space == "scratch" ? "packed" : "tile");
  array.type = operand_type(instruction_, contraction);
  bool flipped = false;
  if (dots_) {
    const auto dot = this->dot(contraction);
    const bool rows = !has_columns(load.offset);
    array.type = rows ? dot.types->a : dot.types->b;
    flipped = rows && dot.flipped;
  }
  array.space = directive.space == "scratch" ? Space::scratch : Space::shared;
  array.alignment = 64;
  Copy copy;
  std::int64_t stride = 1;
  bool padded = false;
  const auto& dimensions = directive.loops.front().second;
  Affine to;
  for (std::size_t k = dimensions.size(); k-- > 0;) {
    const auto var = loop(dimensions[k]);
    const auto q = index_of(var);
    if (!moves(q, load.offset)) fail(fmt::format("{} does not move this operand", dimensions[k]));
    if (const auto p = place(var); p && *p <= *at)
      fail(fmt::format("{} is no loop inside of {}", dimensions[k], directive.at));
    copy.digits.insert(copy.digits.begin(), {var, kernel_.extent(var)});
    if (kernel_.extent(var) > 1) to = to + Affine::of(var, stride);
    stride *= kernel_.extent(var);
    const auto around = k > 0 ? index_of(loop(dimensions[k - 1])) : q;
    if (is_summed(q) != is_summed(around) && role(product, around) != Role::batch && !padded) {
      stride += directive.padding;
      padded = true;
    }
  }
  for (std::size_t q = 0; q < axes_.size(); ++q) {
    if (!moves(static_cast<int>(q), load.offset)) continue;
    for (const auto& level : axes_[q].levels) {
      const auto p = place(level.var);
      const bool in = !p || *p > *at;
      const bool named =
          std::any_of(copy.digits.begin(), copy.digits.end(), [&](const Digit& d) { return d.var == level.var; });
      if (in && !named && level.count > 1)
        fail(fmt::format("{} is inside of {} and not among the dimensions",
                         kernel_.vars[static_cast<std::size_t>(level.var)].name, directive.at));
    }
  }
  const bool of_group =
      instruction_ != nullptr && instruction_->warps > 1 && !(instruction_->holds_a && has_rows(load.offset));
  if (of_group) spread_rows(array, copy, directive.padding);
  // Warp groups cut off what tf32 leaves out: their operands are rounded before.
  array.tf32 = of_group && instruction_->a.type == AtomType::tf32;
  array.shape = {stride};
  array.origin = origin();
  if (group_ != nullptr && kernel_.target == Target::cuda) {
    to = to + Affine(add_to_round(std::move(array)));
    staged.array = *round_array_;
  } else {
    staged.array = array_of(std::move(array));
  }
  staged.access = {staged.array, {to}};
  copy.to = staged.access;
  copy.from = global((is_first ? contraction.first : contraction.second).load);
  copy.quotients = quotients(load.offset);
  copy.when = inside(load.offset, false);
  copy.async = directive.space == "async";
  const auto& rounded = (is_first ? contraction.first : contraction.second).rounded;
  if (rounded && *rounded != kernel_.array(staged.array).type) copy.rounded = rounded;
  copy.flipped = flipped;
  if (dots_ && !copy.quotients.empty()) fail("operands of dot products have no joined indices");
  copy.tf32 = kernel_.array(staged.array).tf32 && !kernel_.array(load.source).tf32;
  if (directive.space == "maps") by_map(copy, load.offset);
  order_[*at].first.push_back({std::move(copy), origin()});
}

bool Builder::has_rows(const ir::Affine& offset) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const std::string& name) {
    const auto q = index_of(loop(name));
    return role(products_[atoms_], q) != Role::batch && moves(q, offset);
  });
}

void Builder::spread_rows(Array& array, const Copy& copy, int padding) const {
  std::int64_t row = size_of(array.type);
  for (std::size_t k = copy.digits.size(); k-- > 0;) {
    if (is_summed(index_of(copy.digits[k].var)) != is_summed(index_of(copy.digits.back().var))) break;
    row *= copy.digits[k].extent;
  }
  array.swizzle = swizzle_of_rows(row, array.type);
  array.alignment = kMatrixBlock;
  if (!copy.digits.empty() && !lies_either_way(instruction_->a.type) && !is_summed(index_of(copy.digits.back().var)))
    fail(fmt::format("a warp group reads rows of {} along the depth alone", ricci::name(array.type)));
  if (array.swizzle.mask == 0 || padding != 0)
    fail(fmt::format("a warp group reads rows of 32, 64 or 128 bytes with nothing between them, and these have {}",
                     row));
}

std::int64_t Builder::add_to_round(Array array) {
  constexpr std::int64_t kLine = 128;
  const auto line = kLine / size_of(array.type), elements = (array.shape.front() + line - 1) / line * line;
  const auto at = round_elements_;
  round_elements_ += elements;
  array.name = "tiles";
  array.shape = {round_elements_};
  array.alignment = kLine;
  if (!round_array_) {
    round_array_ = array_of(std::move(array));
  } else {
    auto& shape = kernel_.arrays[static_cast<std::size_t>(*round_array_)].shape;
    shape.front() = std::max(shape.front(), round_elements_);
  }
  return at;
}

int Builder::array_of(Array array) {
  const auto stem = array.name;
  for (int suffix = 2;; ++suffix) {
    const auto place = std::find_if(kernel_.arrays.begin(), kernel_.arrays.end(),
                                    [&](const Array& other) { return other.name == array.name; });
    if (place == kernel_.arrays.end()) return kernel_.add_array(std::move(array));
    const auto number = static_cast<std::size_t>(place - kernel_.arrays.begin());
    if (number < earlier_arrays_ && place->space == array.space && place->type == array.type &&
        std::find(reused_.begin(), reused_.end(), number) == reused_.end()) {
      reused_.push_back(number);
      place->shape.front() = std::max(place->shape.front(), array.shape.front());
      return static_cast<int>(number);
    }
    array.name = fmt::format("{}{}", stem, suffix);
  }
}

void Builder::pipeline(const Directive& directive) {
  if (kernel_.target != Target::cuda) fail("no pipeline on this target yet");
  const auto at = place(loop(directive.subject));
  if (!at || numbers_blocks(order_[*at].bind)) fail(fmt::format("{} is no loop that runs in order", directive.subject));
  auto& ordered = order_[*at];
  if (ordered.first.empty()) fail(fmt::format("no operand is staged at {}", directive.subject));
  if (directive.sizes.front() > kMostStages) fail(fmt::format("more than {} stages", kMostStages));
  ordered.stages = static_cast<int>(directive.sizes.front());
  ordered.prefetch = !directive.loops.empty();
  if (ordered.prefetch && ordered.stages < 2) fail("fragments are read ahead of a pipeline of two stages at least");
}

namespace {

/// A kernel with the program's arguments.
Kernel with_arguments(const ir::Program& program, Target target, int vector_bytes) {
  auto kernel = kernel_of(program, target);
  kernel.vector_bytes = vector_bytes;
  for (auto& array : kernel.arrays) array.restricted = array.restricted && !array.written;
  const auto& statement = program.statement();
  kernel.arrays[static_cast<std::size_t>(statement.buffer)].results = ir::reached(statement.offset, program.indices);
  return kernel;
}

}  // namespace

Kernel build(const ir::Program& program, const Contraction& contraction, Directives directives, Target target,
             int vector_bytes, std::size_t count) {
  const auto added = take_added(directives, count);
  auto kernel = with_arguments(program, target, vector_bytes);
  Builder builder(kernel, program, {{contraction}}, nullptr);
  builder.run(directives, count);
  kernel.body = builder.around(builder.of_task());
  return rewritten(std::move(kernel), added);
}

void check_directives(const ir::Program& program, const Contraction& contraction, Directives directives, Target target,
                      std::size_t count) {
  (void)take_added(directives, count);
  auto kernel = with_arguments(program, target, kLineBytes);
  Builder(kernel, program, {{contraction}}, nullptr).run(directives, count);
}

Kernel build(const ir::Program& program, const Group& group, Directives directives, Target target, int vector_bytes,
             std::size_t count) {
  const auto added = take_added(directives, count);
  const auto stop = directives.begin() + static_cast<std::ptrdiff_t>(std::min(count, directives.size()));
  auto kernel = with_arguments(program, target, vector_bytes);
  const auto is_head = [](const Directive& d) { return d.kind == Kind::products; };
  const auto heads = std::count_if(directives.begin(), directives.end(), is_head);
  std::vector<Builder> sections;
  std::vector<bool> computed(group.products.size());
  const auto exchanges = [&](auto head) {
    const auto end = std::find_if(head + 1, directives.end(), is_head);
    return std::any_of(head, end, [](const Directive& d) { return d.kind == Kind::exchange; });
  };
  const auto is_computed = [&](auto head) {
    const auto end = head < stop ? std::min(std::find_if(head + 1, directives.end(), is_head), stop) : head;
    const auto atoms = std::count_if(head, end, [](const Directive& d) { return d.kind == Kind::atom; });
    return head < stop && static_cast<std::size_t>(atoms) >= head->sizes.size();
  };
  Body body;
  Body* scope = &body;  // what is in registers of the section before is in it
  int block = -1;
  for (auto from = directives.begin(); from < stop;) {
    if (!is_head(*from)) refuse(*from, "sections of a group begin with their products");
    std::vector<Product> products;
    for (const auto number : from->sizes) {
      const auto k = static_cast<std::size_t>(number - 1);
      if (k >= group.products.size() || computed[k])
        refuse(*from, fmt::format("the group has no product {}, or has it already", number));
      computed[k] = true;
      products.push_back({group.products[k]});
    }
    if (target == Target::cuda && products.size() > 1)
      refuse(*from, "on a GPU each section has one product, whose sums go on to the next");
    const auto end = std::find_if(from + 1, directives.end(), is_head);
    auto& section = sections.emplace_back(kernel, program, std::move(products), &group);
    section.run({from + 1, end}, static_cast<std::size_t>(stop - from) - 1);
    if (section.has_order() && section.tasks() != sections.front().tasks())
      refuse(*std::find_if(from, end, [](const Directive& d) { return d.kind == Kind::order; }),
             "all sections of a group have the same tasks");
    const bool received = exchanges(from);
    if (target == Target::cuda && received != (sections.size() > 1))
      refuse(*from, sections.size() > 1 ? "on a GPU sums stay in registers, and `exchange` is missing"
                                        : "there is no section before the first, whose sums it takes");
    if (received && sections.size() == 1) throw PlanError("schedule: exchange: there is no section before the first");
    Builder::Passing passing;
    passing.is_last = static_cast<std::ptrdiff_t>(sections.size()) == heads;
    passing.on = !passing.is_last && (target == Target::cuda || (exchanges(end) && is_computed(end)));
    passing.from = received && section.has_atoms() ? &sections[sections.size() - 2] : nullptr;
    passing.adds = passing.from != nullptr ? passing.from->adds() : block >= 0;
    if (!passing.is_last && !passing.on && block < 0) block = section.add_block();
    passing.block = block;
    scope->push_back({Section{fmt::format("products {}", fmt::join(from->sizes, " ")), section.of_task(passing)}});
    scope = passing.on ? &std::get<Section>(scope->back().node).body : &body;
    from = end;
  }
  if (stop == directives.end() && std::find(computed.begin(), computed.end(), false) != computed.end())
    throw PlanError("schedule: a product of the group is missing");
  kernel.body = sections.front().around(std::move(body));
  return rewritten(std::move(kernel), added);
}

}  // namespace ricci::kernel
