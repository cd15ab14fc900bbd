// The loop nest of a contraction, one directive after the other.
#include "kernel/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernel/atom_types.hpp"
#include "kernel/complex_pairs.hpp"
#include "kernel/expand.hpp"
#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

using ir::NodeKind;
using Kind = Directive::Kind;

constexpr std::int64_t kMostStages = 16;
constexpr int kThreadsOfWarp = 32, kMostThreads = 1024;

/// One loop of an index: `count` values, `step` elements of the index apart.
struct Level {
  Var var = 0;
  std::int64_t count = 1, step = 1;
};

struct Axis {
  std::vector<Level> levels;  ///< from outside in
  Affine value;               ///< of the index
  bool ragged = false;        ///< some values of the levels are past the index's extent
};

struct Ordered {
  Var var = 0;
  Bind bind = Bind::serial;
  bool sum = false;  ///< inside of the accumulator's life
  int stages = 1;    ///< places of the copies in its body
  Body first;        ///< statements before the loops inside: copies
  int origin = -1;   ///< number of the directive
};

class Builder {
 public:
  Builder(const ir::Program& program, const Contraction& contraction, Target target, int vector_bytes)
      : program_(program), contraction_(contraction) {
    kernel_.target = target;
    kernel_.vector_bytes = vector_bytes;
    for (const auto& buffer : program.buffers) {
      Array array;
      array.name = buffer.name;
      array.type = buffer.type;
      array.shape = {buffer.last + 1};
      array.alignment = buffer.alignment;
      array.written = buffer.written;
      array.restricted = !buffer.written;
      array.first = buffer.first;
      kernel_.add_array(std::move(array));
    }
    const auto& statement = program.statement();
    kernel_.arrays[static_cast<std::size_t>(statement.buffer)].results = ir::reached(statement.offset, program.indices);
    kernel_.params = program.params;
    axes_.resize(program.indices.size());
  }

  Kernel run(const Directives& directives) {
    // Each directive stands on those before it; tiles make the loops that all others name, and operands are staged as
    // the atom reads them.
    for (const auto& directive : directives) {
      if (directive.kind == Kind::atom) instruction_ = find_atom(directive.subject);
    }
    std::size_t next = 0;
    for (; next < directives.size() && directives[next].kind == Kind::tile; ++next) apply(directives[next]);
    for (std::size_t q = 0; q < axes_.size(); ++q) {
      if (axes_[q].levels.empty()) split(static_cast<int>(q), {program_.indices[q].extent});
    }
    for (; next < directives.size(); ++next) apply(directives[next]);
    if (atom_ == nullptr) throw PlanError("schedule: a contraction needs an atom");
    for (auto& one : order_) {
      for (auto& statement : one.first) pad(std::get<Copy>(statement.node));
    }
    kernel_.body = assemble(0);
    return std::move(kernel_);
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw PlanError(fmt::format("schedule: {}: {}", current_, rule));
  }
  const ir::Node& node(ir::NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  Axis& axis(int q) { return axes_[static_cast<std::size_t>(q)]; }
  const std::string& var_name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  /// Number of the directive that is being applied.
  int origin() const { return static_cast<int>(kernel_.directives.size()) - 1; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }

  void apply(const Directive& directive) {
    current_ = print(Directives{directive});
    current_.pop_back();  // the line's end
    kernel_.directives.push_back(current_);
    switch (directive.kind) {
      case Kind::tile:
        return tile(directive);
      case Kind::order:
        return order(directive);
      case Kind::stage:
        return stage(directive);
      case Kind::atom:
        return atom(directive);
      case Kind::pipeline:
        return pipeline(directive);
      case Kind::nontemporal:
        nontemporal_ = true;
        for (const auto& n : program_.nodes) {
          if (n.kind == NodeKind::load && n.source == program_.statement().buffer) fail("the result is read too");
        }
        return;
    }
  }

  void tile(const Directive& directive) {
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      if (program_.indices[q].name != directive.subject) continue;
      if (!axes_[q].levels.empty()) fail("this index has levels already");
      split(static_cast<int>(q), directive.sizes);
      return;
    }
    fail("no index of this program has that name");
  }

  void split(int q, const std::vector<std::int64_t>& sizes) {
    auto& axis = this->axis(q);
    const auto& name = program_.indices[static_cast<std::size_t>(q)].name;
    const bool whole = sizes.size() == 1 && sizes.front() == extent(q);
    auto count = (extent(q) + sizes.front() - 1) / sizes.front();
    axis.ragged = count * sizes.front() != extent(q);
    const auto add = [&](std::size_t number, std::int64_t n, std::int64_t step) {
      const bool last = number == sizes.size();
      const auto var = kernel_.add_var(last ? name : fmt::format("{}{}", name, number), n);
      axis.levels.push_back({var, n, step});
      if (n > 1) axis.value = axis.value + Affine::of(var, step);  // else it is 0
    };
    if (!whole) add(0, count, sizes.front());
    for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
      if (sizes[k] % sizes[k + 1] != 0) fail(fmt::format("{} is no multiple of {}", sizes[k], sizes[k + 1]));
      add(k + 1, sizes[k] / sizes[k + 1], sizes[k + 1]);
    }
    add(sizes.size(), sizes.back(), 1);
  }

  Var loop(const std::string& name) const {
    for (std::size_t v = 0; v < kernel_.vars.size(); ++v) {
      if (kernel_.vars[v].name == name) return static_cast<Var>(v);
    }
    fail(fmt::format("there is no loop {}", name));
  }
  /// The index that a loop is of.
  int index_of(Var var) const {
    for (std::size_t q = 0; q < axes_.size(); ++q) {
      for (const auto& level : axes_[q].levels) {
        if (level.var == var) return static_cast<int>(q);
      }
    }
    return -1;
  }
  Role role(int q) const { return contraction_.role[static_cast<std::size_t>(q)]; }

  void order(const Directive& directive) {
    if (!order_.empty()) fail("there is an order already");
    for (const auto& [word, names] : directive.loops) {
      for (const auto& name : names) {
        Ordered one;
        one.var = loop(name);
        one.bind = word == "task" ? Bind::task : Bind::serial;
        one.sum = word == "sum";
        one.origin = origin();
        if (place(one.var)) fail(fmt::format("{} is named twice", name));
        const bool summed = is_summed(index_of(one.var));
        if (one.bind == Bind::task && summed) fail(fmt::format("{} is summed over: its order is fixed", name));
        if (one.bind == Bind::task && !order_.empty() && order_.back().bind != Bind::task) {
          fail("tasks are the outermost loops");
        }
        if (one.sum && !summed) fail(fmt::format("{} is not summed over", name));
        if (!order_.empty() && order_.back().sum && !one.sum) fail("loops of a sum are the innermost ones");
        for (const auto& level : axes_[static_cast<std::size_t>(index_of(one.var))].levels) {
          if (level.var == one.var) break;
          if (!place(level.var)) fail(fmt::format("{} comes before {}", var_name(level.var), name));
        }
        order_.push_back(std::move(one));
      }
    }
  }
  bool is_summed(int q) const { return role(q) == Role::depth || role(q) == Role::summed; }
  std::optional<std::size_t> place(Var var) const {
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (order_[k].var == var) return k;
    }
    return std::nullopt;
  }

  /// An operand's offset in its own buffer, over all loops.
  Affine offset(const ir::Affine& affine) const {
    Affine sum(affine.constant);
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
      if (affine.coefficient[q] != 0) sum = sum + affine.coefficient[q] * axes_[q].value;
    }
    return sum;
  }
  Access global(ir::NodeId load) const { return {node(load).source, {offset(node(load).offset)}}; }

  /// What holds for the elements of a tensor among the values of all levels; `tile`: of levels whose loops end where
  /// the index does.
  std::vector<Condition> inside(const ir::Affine& affine, bool tile) const {
    std::vector<Condition> conditions;
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
      const bool ragged = tile ? ends_inside(q) : axes_[q].ragged;
      if (affine.coefficient[q] != 0 && ragged) {
        conditions.push_back({axes_[q].value, extent(static_cast<int>(q))});
      }
    }
    return conditions;
  }

  /// Whether an index ends inside of what the loops of the order leave to the atom: they end with whole blocks.
  bool ends_inside(std::size_t q) const {
    std::int64_t block = 0;
    for (const auto& level : axes_[q].levels) {
      if (place(level.var)) block = level.step;
    }
    return block == 0 ? axes_[q].ragged : extent(static_cast<int>(q)) % block != 0;
  }

  void stage(const Directive& directive) {
    if (atom_ != nullptr) fail("operands are staged before the atom that reads them");
    // Where both factors are of one buffer, the first directive is for the first one.
    const auto is_named = [&](const Factor& factor) {
      return kernel_.array(node(factor.load).source).name == directive.subject;
    };
    const bool is_first = is_named(contraction_.first) && (staged_[0].array < 0 || !is_named(contraction_.second));
    if (!is_first && !is_named(contraction_.second)) fail("no operand of the product has that name");
    auto& staged = staged_[is_first ? 0 : 1];
    if (staged.array >= 0) fail("this operand is staged already");
    const auto& load = node((is_first ? contraction_.first : contraction_.second).load);
    const auto at = place(loop(directive.at));
    if (!at) fail(fmt::format("{} is no loop of the order", directive.at));
    if (order_[*at].bind == Bind::task && *at + 1 < order_.size() && order_[*at + 1].bind == Bind::task)
      fail(fmt::format("tasks share nothing: {} is not the innermost of their loops", directive.at));

    Array array;
    array.name = fmt::format("{}_{}", directive.subject, directive.space == "scratch" ? "packed" : "tile");
    if (!is_first && staged_[0].array >= 0 && kernel_.array(staged_[0].array).name == array.name) array.name += "2";
    array.type = operand_type(instruction_, contraction_);
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
      if (load.offset.coefficient[static_cast<std::size_t>(q)] == 0)
        fail(fmt::format("{} does not move this operand", dimensions[k]));
      if (const auto p = place(var); p && *p <= *at)
        fail(fmt::format("{} is no loop inside of {}", dimensions[k], directive.at));
      copy.digits.insert(copy.digits.begin(), {var, kernel_.extent(var)});
      if (kernel_.extent(var) > 1) to = to + Affine::of(var, stride);
      stride *= kernel_.extent(var);
      if (k > 0 && is_summed(q) != is_summed(index_of(loop(dimensions[k - 1]))) && !padded) {
        stride += directive.padding;
        padded = true;
      }
    }
    for (std::size_t q = 0; q < axes_.size(); ++q) {
      if (load.offset.coefficient[q] == 0) continue;
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
    array.shape = {stride};
    array.origin = origin();
    staged.array = kernel_.add_array(std::move(array));
    staged.access = {staged.array, {to}};
    copy.to = staged.access;
    copy.from = global((is_first ? contraction_.first : contraction_.second).load);
    copy.when = inside(load.offset, false);
    copy.async = directive.space == "async";
    order_[*at].first.push_back({std::move(copy), origin()});
  }

  void atom(const Directive& directive) {
    if (atom_ != nullptr) fail("there is an atom already");
    mma_.atom = directive.subject;
    mma_.parts = directive.parts;
    lanes_ = directive.lanes;
    mma_.spread = {directive.warps[0], directive.warps[1], directive.runs[0], directive.runs[1], directive.runs[2]};
    if ((kernel_.target == Target::cuda) != (directive.warps[0] > 0))
      fail(kernel_.target == Target::cuda ? "warps are missing" : "warps on a CPU");
    if (kernel_.target == Target::cuda) {
      kernel_.threads = kThreadsOfWarp * mma_.spread.warps();
      kernel_.blocks = directive.blocks;
      if (kernel_.threads > kMostThreads) fail(fmt::format("more than {} threads in a block", kMostThreads));
    }
    for (const auto& [word, names] : directive.loops) {
      for (const auto& name : names) {
        const auto var = loop(name);
        if (place(var)) fail(fmt::format("{} is a loop of the order", name));
        (word == "rows"      ? mma_.rows
         : word == "columns" ? mma_.columns
                             : mma_.depth)
            .push_back({var, kernel_.extent(var)});
      }
    }
    if (directive.subject != "fma" && (kernel_.target == Target::cpu || instruction_ == nullptr))
      fail(fmt::format("there is no atom {}{}", directive.subject, kernel_.target == Target::cpu ? " on a CPU" : ""));
    std::int64_t deep = 1;
    for (const auto& digit : mma_.depth) deep *= digit.extent;
    if (instruction_ != nullptr && deep % instruction_->k != 0)
      fail(fmt::format("a depth of {} in atoms of {}", deep, instruction_->k));
    if (instruction_ != nullptr) {
      if (const auto rule = mismatch(*instruction_, directive.parts, program_, contraction_); !rule.empty()) fail(rule);
    }
    for (std::size_t q = 0; q < axes_.size(); ++q) {
      for (const auto& level : axes_[q].levels) {
        if (place(level.var) || level.count == 1) continue;
        const auto has = [&](const std::vector<Digit>& digits) {
          return std::any_of(digits.begin(), digits.end(), [&](const Digit& d) { return d.var == level.var; });
        };
        const auto& name = var_name(level.var);
        if (!has(mma_.rows) && !has(mma_.columns) && !has(mma_.depth))
          fail(fmt::format("{} is in no order and not in the atom", name));
        if (has(mma_.depth) != is_summed(static_cast<int>(q)))
          fail(fmt::format("depth are summed indices, which {} is {}", name, has(mma_.depth) ? "none of" : "one of"));
      }
    }
    for (const auto& digit : mma_.depth) {
      // Both operands are 0 past the end of an index; an operand without it would add what it has.
      const auto q = index_of(digit.var);
      if (ends_inside(static_cast<std::size_t>(q)) && role(q) != Role::depth)
        fail(fmt::format("a tile of {} does not divide it, and {} is no index of both operands",
                         program_.indices[static_cast<std::size_t>(q)].name, var_name(digit.var)));
    }
    // The operand that the rows move is the atom's first one.
    const auto moved = [&](const std::vector<Digit>& digits, const Factor& factor) {
      return std::any_of(digits.begin(), digits.end(), [&](const Digit& d) {
        return node(factor.load).offset.coefficient[static_cast<std::size_t>(index_of(d.var))] != 0;
      });
    };
    const bool swapped = moved(mma_.rows, contraction_.second) || moved(mma_.columns, contraction_.first);
    const auto& a = swapped ? contraction_.second : contraction_.first;
    const auto& b = swapped ? contraction_.first : contraction_.second;
    if (moved(mma_.rows, b) || moved(mma_.columns, a))
      fail("rows are indices of one operand, columns those of the other");
    mma_.a = operand(a);
    mma_.b = operand(b);
    if (lanes_ > 1) check_lanes(b);
    mma_.conj_a = a.conj;
    mma_.conj_b = b.conj;
    make_accumulator();
    if (lanes_ > 1 && is_complex(contraction_.type)) {
      const auto& out = program_.statement();
      const Access to{out.buffer, {offset(out.offset)}};
      const auto rule = unpaired(kernel_, to, value(out.value), mma_.accumulator, mma_.columns.back().var);
      if (!rule.empty()) fail(rule);
    }
    atom_ = &directive;
  }

  /// Whether vectors of columns can be read, and room for the last one where columns end inside of it.
  void check_lanes(const Factor& b) {
    if ((lanes_ & (lanes_ - 1)) != 0 || lanes_ > 64) fail("lanes are a power of two, 64 at most");
    const auto type = contraction_.type;
    if (is_half(type)) fail(fmt::format("vectors hold no {}", name(type)));
    if (mma_.columns.empty()) fail("lanes are neighbours along the last of the columns, and there are none");
    const auto& last = mma_.columns.back();
    auto& array = kernel_.arrays[static_cast<std::size_t>(mma_.b.array)];
    if (is_half(array.type))
      fail(fmt::format("vectors of {} are not converted: {} must be staged", name(array.type), array.name));
    if (last.extent > 1 && mma_.b.index.front().coefficient(last.var) != 1) {
      fail(fmt::format("lanes are neighbours along {}, and those of {} are apart: it must be staged",
                       var_name(last.var), kernel_.array(node(b.load).source).name));
    }
    if (array.space != Space::global && last.extent % lanes_ != 0) array.shape.front() += lanes_ - last.extent % lanes_;
  }

  Access operand(const Factor& factor) const {
    const auto& load = node(factor.load);
    const auto& staged = staged_[&factor == &contraction_.first ? 0 : 1];
    if (staged.array >= 0) return staged.access;
    for (const auto& condition : inside(load.offset, true)) {
      for (const auto& term : condition.value.terms) {
        if (!place(term.var)) {
          fail(fmt::format("{} is read past its end: a tile of {} does not divide it, so it must be staged",
                           kernel_.array(load.source).name,
                           program_.indices[static_cast<std::size_t>(index_of(term.var))].name));
        }
      }
    }
    return global(factor.load);
  }

  void make_accumulator() {
    Array sum;
    sum.name = "sum";
    sum.type = contraction_.type;
    sum.space = Space::registers;
    sum.lanes = lanes_;
    sum.origin = atom_number_ = origin();
    std::int64_t rows = 1, columns = 1;
    for (const auto& digit : mma_.rows) rows *= digit.extent;
    for (std::size_t k = 0; k < mma_.columns.size(); ++k) {
      const bool last = k + 1 == mma_.columns.size();
      columns *= last ? (mma_.columns[k].extent + lanes_ - 1) / lanes_ : mma_.columns[k].extent;
    }
    sum.shape = {rows, columns};
    mma_.accumulator = kernel_.add_array(std::move(sum));
  }

  /// Sums run over whole tiles, so what is past the end of a summed index is read; a result past the end of its own
  /// index is dropped, whatever it was made of.
  void pad(Copy& copy) const {
    for (auto& digit : copy.digits) {
      const bool summed =
          std::any_of(mma_.depth.begin(), mma_.depth.end(), [&](const Digit& d) { return d.var == digit.var; });
      digit.padded = summed && ends_inside(static_cast<std::size_t>(index_of(digit.var)));
    }
  }

  void pipeline(const Directive& directive) {
    if (kernel_.target != Target::cuda) fail("no pipeline on this target yet");
    const auto at = place(loop(directive.subject));
    if (!at || order_[*at].bind == Bind::task) fail(fmt::format("{} is no loop that runs in order", directive.subject));
    auto& ordered = order_[*at];
    if (ordered.first.empty()) fail(fmt::format("no operand is staged at {}", directive.subject));
    if (directive.sizes.front() > kMostStages) fail(fmt::format("more than {} stages", kMostStages));
    ordered.stages = static_cast<int>(directive.sizes.front());
  }

  // ---- the tree

  Body assemble(std::size_t k) {
    if (k < order_.size() && !order_[k].sum) return loop_of(k, assemble(k + 1));
    Body body;
    body.push_back({Clear{mma_.accumulator}, atom_number_});
    for (auto& statement : sums(k)) body.push_back(std::move(statement));
    for (auto& statement : flush()) body.push_back(std::move(statement));
    return body;
  }
  Body sums(std::size_t k) {
    if (k < order_.size()) return loop_of(k, sums(k + 1));
    return {{mma_, atom_number_}};
  }
  Body loop_of(std::size_t k, Body inner) {
    Loop loop;
    loop.var = order_[k].var;
    loop.bind = order_[k].bind;
    loop.stages = order_[k].stages;
    const auto q = index_of(loop.var);
    const auto& axis = axes_[static_cast<std::size_t>(q)];
    if (axis.ragged && axis.levels.front().var != loop.var) {
      Affine base;
      for (const auto& level : axis.levels) {
        if (level.count > 1) base = base + Affine::of(level.var, level.step);
        if (level.var == loop.var) break;
      }
      loop.when.push_back({base, extent(q)});
    }
    loop.body = std::move(order_[k].first);
    for (auto& statement : inner) loop.body.push_back(std::move(statement));
    if (kernel_.extent(loop.var) == 1) return std::move(loop.body);
    return {{std::move(loop), order_[k].origin}};
  }

  /// What is done with the finished sum; where it comes in several parts, the first one sets and the others add.
  Body flush() {
    const auto& statement = program_.statement();
    Flush whole;
    whole.rows = mma_.rows;
    whole.columns = mma_.columns;
    whole.accumulator = mma_.accumulator;
    whole.atom = mma_.atom;
    whole.spread = mma_.spread;
    whole.to = {statement.buffer, {offset(statement.offset)}};
    whole.when = inside(statement.offset, true);
    whole.value = value(statement.value);
    std::vector<Condition> first;
    for (const auto& one : order_) {
      const auto q = index_of(one.var);
      if (!one.sum && is_summed(q) && kernel_.extent(one.var) > 1) first.push_back({Affine::of(one.var), 1});
    }
    if (nontemporal_ && !first.empty())
      throw PlanError("schedule: nontemporal: the sum comes in several parts, which are read again");
    whole.nontemporal = nontemporal_;
    if (first.empty()) return {{std::move(whole), atom_number_}};
    Flush more = whole;
    more.value = added(whole.to, statement.value);
    return {
        {If{std::move(first), {{std::move(whole), atom_number_}}, {{std::move(more), atom_number_}}}, atom_number_}};
  }

  Value element(Access access) const {
    const auto type = kernel_.array(access.array).type;
    return load_of(type, std::move(access));
  }

  Value value(ir::NodeId id) const {
    if (id == contraction_.reduce) return element({mma_.accumulator, {}});
    const auto& n = node(id);
    Value value;
    value.type = n.type;
    value.op = n.op;
    switch (n.kind) {
      case NodeKind::load:
        return element(global(id));
      case NodeKind::param:
        value.kind = Value::Kind::param;
        value.param = n.source;
        return value;
      case NodeKind::constant:
        value.kind = Value::Kind::constant;
        value.number = n.value;
        value.bits = n.integer;
        return value;
      case NodeKind::index:
        value.kind = Value::Kind::index;
        value.affine = axes_[static_cast<std::size_t>(n.source)].value;
        return value;
      case NodeKind::op:
        value.kind = Value::Kind::op;
        for (int k = 0; k < ir::operand_count(n); ++k) value.operands.push_back(this->value(n.operand[k]));
        return value;
      default:
        fail("the value around the sum is not elementwise");
    }
  }

  /// What a further part of the sum adds: it goes through the factor that the whole sum goes through.
  Value added(const Access& to, ir::NodeId id) const {
    const auto type = kernel_.array(to.array).type;
    if (type != contraction_.type) fail("a sum in parts needs an output of the sum's own type");
    const auto part = [&](ir::NodeId node_id) -> std::optional<Value> {
      const auto& n = node(node_id);
      if (node_id == contraction_.reduce) return value(node_id);
      const bool factor = n.kind == NodeKind::op && (n.op == ir::OpCode::scale || n.op == ir::OpCode::mul);
      if (factor && n.operand[1] == contraction_.reduce && node(n.operand[0]).kind != NodeKind::load)
        return value(node_id);
      return std::nullopt;
    };
    auto more = part(id);
    const auto& top = node(id);
    if (!more && top.kind == NodeKind::op && top.op == ir::OpCode::add) {
      more = part(top.operand[0]);
      if (!more) more = part(top.operand[1]);
    }
    if (!more) fail("a sum in parts needs a result that is linear in it");
    return kernel::apply(ir::OpCode::add, type, {element(to), std::move(*more)});
  }

  struct Staged {
    int array = -1;
    Access access;
  };

  const ir::Program& program_;
  const Contraction& contraction_;
  Kernel kernel_;
  std::vector<Axis> axes_;  // per index of the program
  std::vector<Ordered> order_;
  Staged staged_[2];  // first and second factor
  Mma mma_;
  int lanes_ = 1;
  bool nontemporal_ = false;
  const Directive* atom_ = nullptr;
  const Atom* instruction_ = nullptr;  // of a tensor core; null for fused multiply-adds
  int atom_number_ = -1;
  std::string current_ = "the program";
};

}  // namespace

Kernel build(const ir::Program& program, const Contraction& contraction, const Directives& directives, Target target,
             int vector_bytes) {
  auto kernel = Builder(program, contraction, target, vector_bytes).run(directives);
  verify(kernel);
  return kernel;
}

}  // namespace ricci::kernel
