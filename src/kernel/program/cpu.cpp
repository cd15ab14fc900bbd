// A program as a kernel for a CPU: loops over the points of a tile, whole register tiles first, then what is left.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ir/passes/canonical_nodes.hpp"
#include "kernel/arguments.hpp"
#include "kernel/program/point.hpp"
#include "kernel/program/rows.hpp"
#include "kernel/program/staged.hpp"
#include "kernel/program/strips.hpp"
#include "kernel/program/targets.hpp"
#include "kernel/program/tasks.hpp"

namespace ricci::kernel {
namespace {

class TileLoops {
 public:
  ///   rows  of which this is the program, where the loops go along rows
  TileLoops(const ir::Program& program, const ProgramLoops& loops, const RowProgram* rows = nullptr)
      : program_(program), loops_(loops), kernel_(kernel_of(program, Target::cpu)) {
    const auto count = program.indices.size();
    block_.register_tile = loops.register_tile;
    block_.apart.assign(count, 1);
    block_.ragged.assign(count, false);
    block_.lane = loops.lane;
    block_.lanes = loops.lanes;
    if (loops.lanes > 1) block_.apart[static_cast<std::size_t>(loops.lane)] = loops.lanes;
    block_.nontemporal = loops.nontemporal;
    if (loops.row >= 0) {
      block_.shared_row.push_back(loops.row);
      block_.row_results = loops.row_results;
      block_.next_row = !loops.inner.empty() ? loops.inner.front() : !loops.tasks.empty() ? loops.tasks.back() : -1;
      block_.row_lanes = loops.row_lanes;
      block_.rows = rows;
      row_vectors_ =
          row_rounds(program.indices[static_cast<std::size_t>(loops.row)].extent, loops.row_lanes).front().vectors;
    }
    for (const auto& node : program.nodes) sums_ = sums_ || !node.over.empty();
  }

  Kernel build() {
    add_indices();
    std::vector<Var> own;
    for (std::size_t q = 0; q < program_.indices.size(); ++q) own.push_back(looped(q) ? -1 : block_.vars[q].value);
    auto tasks = tasks_of(kernel_, program_, loops_, own);
    auto inside = body_.collect([&] {
      find_ends(tasks);
      stage_operands(tasks);
      add_loops(loops_.inner.size());
    });
    kernel_.body = within(tasks, std::move(inside));
    return std::move(kernel_);
  }

 private:
  bool looped(std::size_t q) const {
    return std::find(loops_.inner.begin(), loops_.inner.end(), static_cast<int>(q)) != loops_.inner.end();
  }

  void add_indices() {
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      const auto& index = program_.indices[q];
      IndexVars vars;
      vars.value = kernel_.add_var(index.name, std::max<std::int64_t>(index.extent, 1));
      const auto values = static_cast<int>(q) == loops_.row ? row_vectors_ : block_.register_tile[q];
      if (values > 1) vars.place = kernel_.add_var("u" + index.name, values);
      block_.vars.push_back(vars);
    }
    if (loops_.strip > 0) block_.point = kernel_.add_var("point", loops_.strip);
  }

  /// The first value of each index in a tile, and the end of its values.
  void find_ends(const Tasks& tasks) {
    const auto free = program_.free_indices();
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      const auto& index = program_.indices[q];
      const auto tile = loops_.tile[q];
      const auto first = tile * tasks.number[q];
      first_.push_back(first);
      end_.push_back(first + Affine(tile));
      const bool tiled = !tasks.number[q].is_constant();
      if (!looped(q)) {
        if (free[q] && !tiled && tile >= index.extent)
          body_.add(Let{block_.vars[q].value, Affine(0)});  // a free index of one value
        continue;
      }
      if (!tiled) {
        end_.back() = Affine(index.extent);
        continue;
      }
      const auto begin = kernel_.add_var(index.name + "0", index.extent);
      body_.add(Let{begin, first});
      first_.back() = Affine::of(begin);
      end_.back() = Affine::of(begin) + Affine(tile);
      if (index.extent % tile == 0) continue;
      const auto end = kernel_.add_var(index.name + "_end", index.extent + 1);
      body_.add(Let{.var = end, .of = end_.back(), .most = index.extent});
      end_.back() = Affine::of(end);
    }
  }

  void stage_operands(const Tasks& tasks) {
    for (const auto& staged : staged_loads(program_, loops_)) {
      const auto& node = program_.nodes[static_cast<std::size_t>(staged.load)];
      const auto name = kernel_.arrays[static_cast<std::size_t>(node.source)].name;
      const auto number = block_.staged.size();
      const auto array = kernel_.add_array({number == 0 ? name + "_tile" : fmt::format("{}_tile{}", name, number + 1),
                                            node.type,
                                            Space::scratch,
                                            {staged.elements}});
      Copy copy{{}, {array, {Affine(0)}}, {node.source, {Affine(node.offset.constant)}}, {}};
      auto& to = copy.to.index.front();
      auto& from = copy.from.index.front();
      Affine first;
      for (std::size_t q = 0; q < program_.indices.size(); ++q) {
        const auto begin = loops_.tile[q] * tasks.number[q];
        from = from + node.offset.coefficient[q] * begin;
        first = first + staged.place.coefficient[q] * first_[q];
      }
      for (const auto dim : staged.dims) {
        const auto q = static_cast<std::size_t>(dim);
        const Digit digit{kernel_.add_var(program_.indices[q].name, loops_.tile[q]), loops_.tile[q]};
        copy.digits.push_back(digit);
        to = to + Affine::of(digit.var, staged.place.coefficient[q]);
        from = from + Affine::of(digit.var, node.offset.coefficient[q]);
        if (program_.indices[q].extent % loops_.tile[q] != 0)
          copy.when.push_back({loops_.tile[q] * tasks.number[q] + Affine::of(digit.var), program_.indices[q].extent});
      }
      body_.add(std::move(copy));
      block_.staged.emplace(staged.load, PointBlock::Staged{array, staged.place, first});
    }
  }

  void add_loops(std::size_t count) {
    if (count == 0) {
      PointBlock block = block_;
      block.point = -1;
      PointBuilder(kernel_, body_, program_, std::move(block)).build();
      return;
    }
    const auto q = static_cast<std::size_t>(loops_.inner[count - 1]);
    const bool on_lanes = static_cast<int>(q) == block_.lane;
    const auto step = block_.register_tile[q] * (on_lanes ? block_.lanes : 1);
    Sweep sweep{block_.vars[q].value, first_[q], end_[q], {}};
    if (on_lanes && loops_.strip > 0) {
      sweep.parts.push_back({loops_.strip, body_.collect([&] { loops_.parts.empty() ? add_strip() : add_parts(); })});
    }
    // Rounds without sums do not depend on each other.
    const bool vectors = count == 1 && !sums_ && block_.lanes == 1 && step == 1;
    sweep.parts.push_back({step, body_.collect([&] { add_loops(count - 1); }), vectors ? Bind::vector : Bind::any});
    if (program_.indices[q].extent % step != 0) {
      const auto whole = block_;
      block_.register_tile[q] = 1;
      if (on_lanes) {
        block_.lane = -1;
        block_.lanes = 1;
      }
      sweep.parts.push_back({1, body_.collect([&] { add_loops(count - 1); })});
      block_ = whole;
    }
    body_.add(std::move(sweep));
  }

  /// The offset of an access at the beginning of a strip.
  Affine start(const ir::Affine& affine) const {
    Affine sum(affine.constant);
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q)
      sum = sum + Affine::of(block_.vars[q].value, affine.coefficient[q]);
    return sum;
  }

  void open_points() {
    Loop points;
    points.var = block_.point;
    points.bind = Bind::any;
    points.step = block_.lanes;
    body_.open(std::move(points));
  }

  /// The parts of the statements one after the other, in place; what the next strip reads is prefetched meanwhile.
  void add_parts() {
    const auto lane = static_cast<std::size_t>(block_.lane);
    std::set<std::pair<int, decltype(ir::Affine::coefficient)>> prefetched;
    for (const auto& part : loops_.parts) {
      auto program = program_;
      program.statements.clear();
      for (const int k : part) program.statements.push_back(program_.statements[static_cast<std::size_t>(k)]);
      program = ir::drop_unused(std::move(program));
      open_points();
      for (const auto& node : program.nodes) {
        if (node.kind != ir::NodeKind::load || node.offset.coefficient[lane] != 1) continue;
        auto place = node.offset.coefficient;
        place.push_back(node.offset.constant);
        if (!prefetched.emplace(node.source, std::move(place)).second) continue;
        body_.add(
            Prefetch{{node.source, {start(node.offset) + Affine::of(block_.point) + Affine(loops_.strip)}}, {}, false});
      }
      PointBuilder(kernel_, body_, program, block_).build();
      body_.close();
    }
  }

  /// All loads into a buffer, the points, all results out of a buffer.
  void add_strip() {
    const auto strips = strips_of(program_, loops_);
    const auto type = program_.buffers.front().type;
    auto block = block_;
    block.row = strips.row;
    const auto row_copy = [&](Access to, Access from) {
      return CopyRow{std::move(to), std::move(from), loops_.strip, block_.lanes};
    };
    if (!strips.loads.empty()) {
      block.buffered_loads = strips.loads;
      block.in = kernel_.add_array({"in", type, Space::scratch, {strips.in_elements()}});
      std::vector<ir::NodeId> by_row(strips.loads.size());
      for (const auto& [id, row] : strips.loads) by_row[static_cast<std::size_t>(row)] = id;
      for (std::size_t row = 0; row < by_row.size(); ++row) {
        const auto& node = program_.nodes[static_cast<std::size_t>(by_row[row])];
        auto copy = row_copy({block.in, {Affine(static_cast<std::int64_t>(row) * strips.row)}},
                             {node.source, {start(node.offset)}});
        copy.prefetch = true;
        body_.add(std::move(copy));
      }
    }
    if (strips.stores > 0) block.out = kernel_.add_array({"out", type, Space::scratch, {strips.out_elements()}});
    open_points();
    PointBuilder(kernel_, body_, program_, block).build();
    body_.close();
    for (std::int64_t k = 0; k < strips.stores; ++k) {
      const auto& statement = program_.statements[static_cast<std::size_t>(k)];
      auto copy = row_copy({statement.buffer, {start(statement.offset)}}, {block.out, {Affine(k * strips.row)}});
      copy.nontemporal = loops_.nontemporal;
      body_.add(std::move(copy));
    }
  }

  const ir::Program& program_;
  const ProgramLoops& loops_;
  Kernel kernel_;
  BodyWriter body_;
  PointBlock block_;
  std::vector<Affine> first_, end_;  // per index, of a tile
  std::int64_t row_vectors_ = 1;     // of a round of a pass
  bool sums_ = false;
};

}  // namespace

Kernel build_cpu(const ir::Program& program, const ProgramLoops& loops) {
  if (loops.row < 0) return TileLoops(program, loops).build();
  const auto rows = cut_rows(program, loops.row);
  return TileLoops(rows->program, loops, &*rows).build();
}

}  // namespace ricci::kernel
