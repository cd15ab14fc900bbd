#include "fuzz/random_contraction.hpp"

#include <algorithm>

#include "kernel/atom_types.hpp"
#include "kernel/directives.hpp"

namespace ricci::fuzz {
namespace {

using kernel::Directive;
using kernel::Role;

/// Directives in which every rule of build() holds.
class Maker {
 public:
  Maker(std::uint64_t seed, const ir::Program& program, const kernel::Contraction& contraction, int vector_bytes)
      : random_(seed * 2654435761u + 1), program_(program), contraction_(contraction), vector_bytes_(vector_bytes) {}

  kernel::Directives run() {
    for (std::size_t q = 0; q < program_.indices.size(); ++q)
      axes_.push_back({program_.indices[q].name, program_.indices[q].extent});
    ragged_.assign(axes_.size(), false);
    choose_group();
    for (const auto role : {Role::rows, Role::columns, Role::depth}) {
      if (grouped_ < 0) join(role);
    }
    for (std::size_t q = 0; q < axes_.size(); ++q) {
      if (!axes_[q].is_part) tile(q);
    }
    choose_atom();
    choose_order();
    stage_operands();
    if (chance(0.3)) prefetch({});
    if (!of_tasks_.empty() && chance(0.5)) prefetch(of_tasks_);
    directives_.push_back(atom_);
    return std::move(directives_);
  }

 private:
  struct Level {
    std::string name;
    std::size_t index = 0;
    std::int64_t extent = 1;
    bool in_atom = false;
  };

  /// An index, or several that are joined, of which the first one stands for all.
  struct Axis {
    std::string name;
    std::int64_t extent = 1;
    bool is_joined = false, is_part = false;  ///< of itself and others, of another one
  };

  std::int64_t pick(std::int64_t low, std::int64_t high) { return fuzz::pick(random_, low, high); }
  bool chance(double probability) { return fuzz::chance(random_, probability); }
  std::int64_t coefficient(const kernel::Factor& factor, std::size_t q) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)].offset.coefficient[q];
  }
  bool is_summed(std::size_t q) const {
    return contraction_.role[q] == Role::depth || contraction_.role[q] == Role::summed;
  }

  /// An index of the depth whose terms dot products sum together, where there are such for the types.
  void choose_group() {
    const auto depth = contraction_.indices(Role::depth);
    const auto dot = kernel::dot_of(program_, contraction_, contraction_.first, contraction_.second);
    const auto back = kernel::dot_of(program_, contraction_, contraction_.second, contraction_.first);
    if ((!dot && !back) || depth.empty() || !chance(0.8)) return;
    grouped_ = depth[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(depth.size()) - 1))];
    group_ = (dot ? dot : back)->types->group;
  }
  bool is_grouped(std::size_t q) const { return static_cast<int>(q) == grouped_; }
  /// Whether it is a group of such terms.
  bool is_group(const Level& level) const {
    return is_grouped(level.index) && level.name == program_.indices[level.index].name;
  }

  /// Some of the indices of a role, as one.
  void join(Role role) {
    std::vector<std::size_t> members;
    for (std::size_t q = 0; q < axes_.size(); ++q) {
      if (contraction_.role[q] == role) members.push_back(q);
    }
    if (members.size() < 2 || !chance(0.5)) return;
    std::shuffle(members.begin(), members.end(), random_);
    members.resize(static_cast<std::size_t>(pick(2, static_cast<std::int64_t>(members.size()))));
    Directive directive;
    directive.kind = Directive::Kind::join;
    std::vector<std::string> names;
    auto& joined = axes_[members.front()];
    joined.is_joined = true;
    joined.name.clear();
    joined.extent = 1;
    for (const auto q : members) {
      names.push_back(program_.indices[q].name);
      joined.name += names.back();
      joined.extent *= program_.indices[q].extent;
      axes_[q].is_part = q != members.front();
    }
    directive.subject = joined.name;
    directive.loops.push_back({"", std::move(names)});
    directives_.push_back(std::move(directive));
  }

  /// Levels as build() names them; sizes that do not divide the extent make the index ragged.
  void tile(std::size_t q) {
    const auto& index = axes_[q];
    const auto parts = pick(0, 2);
    std::vector<std::int64_t> sizes;
    std::int64_t size = 1;
    if (is_grouped(q)) sizes = {size = group_};
    for (std::int64_t k = 0; k < parts; ++k) {
      size *= pick(1, std::max<std::int64_t>(index.extent / size, 1) + (chance(0.2) ? 2 : 0));
      sizes.insert(sizes.begin(), size);
    }
    const bool whole = sizes.empty() || (sizes.size() == 1 && sizes.front() == index.extent);
    if (!sizes.empty()) {
      Directive directive;
      directive.kind = Directive::Kind::tile;
      directive.subject = index.name;
      directive.sizes = sizes;
      directives_.push_back(std::move(directive));
    } else {
      sizes = {index.extent};
    }
    const auto count = (index.extent + sizes.front() - 1) / sizes.front();
    ragged_[q] = count * sizes.front() != index.extent;
    if (!whole) levels_.push_back({index.name + "0", q, count});
    for (std::size_t k = 0; k + 1 < sizes.size(); ++k)
      levels_.push_back({index.name + std::to_string(k + 1), q, sizes[k] / sizes[k + 1]});
    levels_.push_back({index.name, q, sizes.back()});
  }

  /// The inner levels of some indices: of rows and columns those of two different operands, of which the last column
  /// may be one of both, of depth summed ones.
  void choose_atom() {
    atom_.kind = Directive::Kind::atom;
    atom_.subject = "fma";
    std::vector<std::string> rows, columns, depth;
    std::string of_both;
    const bool swapped = chance(0.4);
    std::int64_t tile = 1;
    for (std::size_t k = levels_.size(); k-- > 0;) {
      auto& level = levels_[k];
      const bool inner = k + 1 == levels_.size() || levels_[k + 1].index != level.index || levels_[k + 1].in_atom;
      const bool summed = is_summed(level.index);
      if (!inner || (!is_group(level) && !chance(0.7)) || (!summed && tile * level.extent > 96)) continue;
      auto role = contraction_.role[level.index];
      if (role == Role::broadcast || role == Role::other) role = chance(0.5) ? Role::rows : Role::columns;
      if (role == Role::summed && ragged_[level.index]) continue;
      if (role == Role::batch) {
        if (!of_both.empty()) continue;
        tile *= level.extent;
        level.in_atom = true;
        of_both = level.name;
        continue;
      }
      if (!summed) tile *= level.extent;
      level.in_atom = true;
      (summed ? depth : (role == Role::rows) != swapped ? rows : columns).push_back(level.name);
    }
    std::shuffle(rows.begin(), rows.end(), random_);
    std::shuffle(columns.begin(), columns.end(), random_);
    std::shuffle(depth.begin(), depth.end(), random_);
    std::stable_partition(depth.begin(), depth.end(),
                          [&](const std::string& name) { return !is_group(*level_of(name)); });
    if (is_complex(contraction_.type)) {
      std::stable_partition(columns.begin(), columns.end(), [&](const std::string& name) { return !has_pairs(name); });
    }
    if (!of_both.empty()) columns.push_back(of_both);
    if (!columns.empty()) lane_ = columns.back();
    const auto before_lane = columns.size() > 1 ? columns.end()[-2] : std::string();
    b_is_first_ = swapped;
    const auto add = [&](const char* word, std::vector<std::string>& names) {
      if (!names.empty()) atom_.loops.emplace_back(word, std::move(names));
    };
    add("rows", rows);
    add("columns", columns);
    add("depth", depth);
    const auto type = contraction_.type;
    if (lane_.empty()) return;
    if (is_complex(type) && !has_pairs(lane_)) return;
    const auto lane = level_of(lane_);
    if (coefficient(b_is_first_ ? contraction_.first : contraction_.second, lane->index) == 0) return;
    while (atom_.lanes * size_of(type) < vector_bytes_ && chance(0.8)) atom_.lanes *= 2;
    const auto& rows_of = swapped ? contraction_.second : contraction_.first;
    const auto& columns_of = swapped ? contraction_.first : contraction_.second;
    dots_ = grouped_ >= 0 && of_both.empty() && atom_.lanes > 1 &&
            kernel::dot_of(program_, contraction_, rows_of, columns_of).has_value();
    if (dots_) {
      atom_.subject = "dot";
      return;
    }
    if (atom_.lanes == 1 || is_complex(type) || before_lane.empty() || !runs_over(before_lane) || !chance(0.7)) return;
    atom_.over = 2;
    over_ = before_lane;
  }

  /// Whether lanes may run on from the last column into this one: both are of the second operand alone, packed one
  /// behind the other.
  bool runs_over(const std::string& name) const {
    const auto moves = [&](const std::string& column, bool first) {
      return coefficient(first ? contraction_.first : contraction_.second, level_of(column)->index) != 0;
    };
    const auto may = [&](const std::string& column) {
      return level_of(column)->extent > 1 && moves(column, b_is_first_) && !moves(column, !b_is_first_);
    };
    return may(lane_) && may(name) && !ragged_[level_of(lane_)->index];
  }

  std::vector<Level>::const_iterator level_of(const std::string& name) const {
    return std::find_if(levels_.begin(), levels_.end(), [&](const Level& level) { return level.name == name; });
  }
  /// Whether the complex numbers of the result, and of what is added to it, lie side by side along a level, and no more
  /// than complex factors is converted.
  bool has_pairs(const std::string& name) const {
    const auto& lane = *level_of(name);
    const auto& index = program_.indices[lane.index];
    for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
      const auto id = static_cast<ir::NodeId>(n);
      const auto& node = program_.nodes[n];
      if (node.kind != ir::NodeKind::load || id == contraction_.first.load || id == contraction_.second.load) continue;
      if (node.offset.coefficient[lane.index] != 1) return false;
    }
    return lane.extent > 1 && lane.name == index.name && program_.statement().offset.coefficient[lane.index] == 1 &&
           program_.buffers[static_cast<std::size_t>(program_.statement().buffer)].type == contraction_.type &&
           std::all_of(program_.buffers.begin(), program_.buffers.end(),
                       [](const ir::Buffer& buffer) { return is_complex(buffer.type); }) &&
           std::all_of(program_.nodes.begin(), program_.nodes.end(), [&](const ir::Node& node) {
             const auto id = static_cast<ir::NodeId>(&node - program_.nodes.data());
             return node.type == contraction_.type || id == contraction_.first.load || id == contraction_.second.load;
           });
  }

  /// Tasks, loops and loops of the sum; levels of one index from outside in.
  void choose_order() {
    std::vector<const Level*> left;
    for (const auto& level : levels_) {
      if (!level.in_atom) left.push_back(&level);
    }
    std::vector<const Level*> order;
    while (!left.empty()) {
      const auto k = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(left.size()) - 1));
      const auto first =
          std::find_if(left.begin(), left.end(), [&](const Level* level) { return level->index == left[k]->index; });
      order.push_back(*first);
      left.erase(first);
    }
    // Tasks are outermost and free, a sum's loops innermost and summed.
    std::size_t tasks = 0, sums = order.size();
    while (tasks < order.size() && !is_summed(order[tasks]->index) && chance(0.7)) ++tasks;
    while (sums > tasks && is_summed(order[sums - 1]->index) && chance(0.8)) --sums;
    if (!linear()) {
      // A sum whose result is not a linear function of it comes in one part.
      std::stable_partition(order.begin(), order.end(), [&](const Level* level) { return !is_summed(level->index); });
      sums = static_cast<std::size_t>(
          std::find_if(order.begin(), order.end(), [&](const Level* level) { return is_summed(level->index); }) -
          order.begin());
      tasks = std::min(tasks, sums);
    }
    Directive directive;
    directive.kind = Directive::Kind::order;
    const auto add = [&](const char* word, std::size_t from, std::size_t to) {
      if (from == to) return;
      directive.loops.push_back({word, {}});
      for (; from < to; ++from) directive.loops.back().second.push_back(order[from]->name);
    };
    add("task", 0, tasks);
    add("serial", tasks, sums);
    add("sum", sums, order.size());
    tasks_ = tasks;
    for (const auto* level : order) order_.push_back(level->name);
    if (!order_.empty()) directives_.push_back(std::move(directive));
  }

  /// Whether a sum may come in parts: the output has its type.
  bool linear() const {
    return program_.buffers[static_cast<std::size_t>(program_.statement().buffer)].type == contraction_.type;
  }

  void stage_operands() {
    for (const bool first : {true, false}) {
      const auto& factor = first ? contraction_.first : contraction_.second;
      const auto& load = program_.nodes[static_cast<std::size_t>(factor.load)];
      bool needed = dots_;
      for (const auto& level : levels_) {
        if (coefficient(factor, level.index) == 0) continue;
        needed = needed || axes_[level.index].is_joined;
        if (!level.in_atom) continue;
        needed = needed || ragged_[level.index] || level.name == over_;
        if (level.name == lane_ && atom_.lanes > 1 && level.extent > 1)
          needed = needed || coefficient(factor, level.index) != 1 || level.name != program_.indices[level.index].name;
      }
      if ((first == b_is_first_ || has_lane(factor)) && atom_.lanes > 1) needed = needed || is_half(load.type);
      if (order_.empty()) {
        if (needed) give_up();
        continue;
      }
      if (!needed && chance(0.4)) continue;
      stage(factor, load.source);
    }
  }

  /// The lines of results, or of an operand that the next task copies.
  void prefetch(const std::string& operand) {
    Directive directive;
    directive.kind = Directive::Kind::prefetch;
    directive.subject = operand;
    directives_.push_back(std::move(directive));
  }

  /// Whether the last column moves an operand.
  bool has_lane(const kernel::Factor& factor) const {
    return !lane_.empty() && coefficient(factor, level_of(lane_)->index) != 0;
  }

  void stage(const kernel::Factor& factor, int source) {
    // Inside of the last task loop or of any other one.
    const auto from = static_cast<std::int64_t>(tasks_ == 0 ? 0 : tasks_ - 1);
    const auto at = static_cast<std::size_t>(pick(from, static_cast<std::int64_t>(order_.size()) - 1));
    Directive directive;
    directive.kind = Directive::Kind::stage;
    directive.subject = program_.buffers[static_cast<std::size_t>(source)].name;
    directive.at = order_[at];
    directive.space = "scratch";
    const bool joined = std::any_of(levels_.begin(), levels_.end(), [&](const Level& level) {
      return coefficient(factor, level.index) != 0 && axes_[level.index].is_joined;
    });
    if (tasks_ > 0 && at + 1 == tasks_ && !joined) of_tasks_ = directive.subject;
    std::vector<std::string> dimensions;
    for (const auto& level : levels_) {
      if (coefficient(factor, level.index) == 0) continue;
      const auto place = std::find(order_.begin(), order_.end(), level.name) - order_.begin();
      if (!level.in_atom && place <= static_cast<std::ptrdiff_t>(at)) continue;
      const bool last = dots_ && is_group(level);
      if (level.name != lane_ && level.name != over_ && !last) dimensions.push_back(level.name);
    }
    std::shuffle(dimensions.begin(), dimensions.end(), random_);
    if (!over_.empty() && has_lane(factor)) dimensions.push_back(over_);
    if (has_lane(factor)) dimensions.push_back(lane_);
    if (dots_) dimensions.push_back(program_.indices[static_cast<std::size_t>(grouped_)].name);
    if (!dots_ && chance(0.3)) directive.padding = static_cast<int>(pick(1, 9));
    directive.loops.push_back({"", std::move(dimensions)});
    directives_.push_back(std::move(directive));
  }

  /// A tile that nothing could be staged for: one loop an index instead.
  void give_up() { atom_.lanes = 0; }

  Generator random_;
  const ir::Program& program_;
  const kernel::Contraction& contraction_;
  int vector_bytes_;
  kernel::Directives directives_;
  std::vector<Axis> axes_;     // per index
  std::vector<Level> levels_;  // of all indices, from outside in
  std::vector<bool> ragged_;   // per index
  Directive atom_;
  std::string lane_;        // the last column
  std::string over_;        // the one before it, where lanes run on into that
  int grouped_ = -1;        // index whose terms dot products sum, if any,
  std::int64_t group_ = 1;  // and how many
  bool dots_ = false;
  bool b_is_first_ = false;
  std::vector<std::string> order_;
  std::size_t tasks_ = 0;
  std::string of_tasks_;  // an operand that each task copies once
};

}  // namespace

std::string RandomContraction::text() const {
  return einsum.text() + "\n" + ir::print(program) + kernel::print(directives);
}

std::vector<void*> RandomContraction::pointers() {
  const auto all = einsum.pointers();
  std::vector<void*> own;
  for (const int buffer : program.buffer) own.push_back(all[static_cast<std::size_t>(buffer)]);
  return own;
}

std::vector<Scalar> RandomContraction::params() const {
  const auto lowered = ir::lower(einsum.problem);
  const auto all = einsum.params(lowered.params);
  std::vector<Scalar> own;
  for (const int param : program.param) own.push_back(all[static_cast<std::size_t>(param)]);
  return own;
}

std::optional<RandomContraction> random_contraction(std::uint64_t seed, int vector_bytes, std::int64_t max_points) {
  EinsumLimits limits;
  limits.max_points = max_points;
  limits.max_operands = 2;
  auto einsum = random_einsum(seed, limits);
  auto program = ir::canonicalise(ir::lower(einsum.problem));
  if (program.points() == 0) return std::nullopt;
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return std::nullopt;
  auto directives = Maker(seed, program, *contraction, vector_bytes).run();
  if (directives.back().lanes == 0) return std::nullopt;
  return RandomContraction{std::move(einsum), std::move(program), *contraction, std::move(directives)};
}

}  // namespace ricci::fuzz
