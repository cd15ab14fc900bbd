#include "kernel/program/loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "ir/operation_types.hpp"
#include "kernel/extensions.hpp"
#include "kernel/program/rows.hpp"
#include "kernel/program/staged.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

using Kind = Directive::Kind;

constexpr std::int64_t kMostRegisters = 1024;  // values of a worker: what a compiler unrolls
constexpr std::int64_t kMostLanes = 64;        // bytes of the widest vectors

class LoopMaker {
 public:
  LoopMaker(const ir::Program& program, Target target)
      : program_(program), target_(target), free_(program.free_indices()), levels_(program.indices.size()) {
    made_.tile.assign(program.indices.size(), 1);
    made_.register_tile.assign(program.indices.size(), 1);
    made_.neighbours.assign(program.indices.size(), false);
  }

  ProgramLoops run(const Directives& directives, std::size_t count) {
    const bool all = count >= directives.size();
    count = std::min(count, directives.size());
    std::size_t next = 0;
    for (; next < count && directives[next].kind == Kind::tile; ++next) apply(directives[next]);
    for (std::size_t q = 0; q < levels_.size(); ++q) {
      if (levels_[q].empty()) split(q, whole(program_.indices[q]));
    }
    for (; next < count; ++next) apply(directives[next]);
    if (all && !ordered_) throw PlanError("schedule: an order is missing");
    if (all && !cpu() && !has_threads_) throw PlanError("schedule: the threads of a block are missing");
    if (made_.cooperative_threads == 1) {
      if (all && places() > 1) throw PlanError("schedule: no threads share the sum whose indices have tiles");
      made_.members.clear();
    }
    if (!ordered_) put_all();
    if (!cpu() && !has_threads_) threads(made_.positions());
    if (!all) put_rest();
    check_parts();
    return std::move(made_);
  }

 private:
  enum class Use : std::uint8_t { registers, task, inner };
  struct UsedLevel : Level {
    Use use = Use::registers;
  };

  [[noreturn]] void fail(const std::string& rule) const {
    throw PlanError(fmt::format("schedule: {}: {}", current_, rule));
  }
  std::int64_t extent(std::size_t q) const { return std::max<std::int64_t>(program_.indices[q].extent, 1); }
  const std::string& name(std::size_t q) const { return program_.indices[q].name; }
  bool cpu() const { return target_ == Target::cpu; }

  void apply(const Directive& directive) {
    current_ = print(directive);
    if (directive.kind != Kind::tile && directive.kind != Kind::order && !ordered_) fail("it comes after the order");
    switch (directive.kind) {
      case Kind::tile:
        return tile(directive);
      case Kind::order:
        return order(directive);
      case Kind::lanes:
        return lanes(directive);
      case Kind::strip:
        return strip(directive.sizes.front());
      case Kind::part:
        return part(directive.sizes);
      case Kind::stage:
        return stage(directive);
      case Kind::nontemporal:
        if (made_.lanes == 1 && made_.row_lanes == 1) fail("nontemporal stores are of vectors: there are no lanes");
        made_.nontemporal = true;
        return;
      case Kind::threads:
        return threads(directive.sizes.front());
      case Kind::cooperative:
        return cooperative(directive.sizes);
      case Kind::row:
        return row(directive);
      default:
        refuse_misplaced(directive);
    }
  }

  std::size_t index(const std::string& wanted) const {
    for (std::size_t q = 0; q < levels_.size(); ++q) {
      if (name(q) == wanted) return q;
    }
    fail("no index of this program has that name");
  }

  void tile(const Directive& directive) {
    const auto q = index(directive.subject);
    if (!levels_[q].empty()) fail("this index has levels already");
    if (directive.sizes.front() > extent(q)) fail(fmt::format("{} has {} values", name(q), extent(q)));
    if (!free_[q]) return share(q, directive.sizes);
    split(q, directive);
  }

  /// Of an index that is summed over: as many cooperative threads along it as its tile has values.
  void share(std::size_t q, const std::vector<std::int64_t>& sizes) {
    const auto sums = program_.outermost();
    const auto is_shared = [&](const ir::Node& sum) {
      return sum.kind == ir::NodeKind::reduce && std::find(sum.over.begin(), sum.over.end(), q) != sum.over.end();
    };
    if (cpu() || sums.size() != 1 || !is_shared(program_.nodes[static_cast<std::size_t>(sums.front())]))
      fail("this index is summed or scanned over by each worker alone");
    if (sizes.size() > 1) fail("threads that share a sum are one level of its index");
    if (sizes.front() > kMostThreads) fail(fmt::format("a block has at most {} threads", kMostThreads));
    made_.members.resize(program_.indices.size(), 1);
    made_.members[q] = static_cast<int>(sizes.front());
  }

  /// Threads that the tiles of a sum have places for.
  std::int64_t places() const {
    std::int64_t product = 1;
    for (const auto count : made_.members) product = std::min<std::int64_t>(product * count, kMostThreads + 1);
    return product;
  }

  void split(std::size_t q, const Directive& tile) {
    for (auto& level : levels_of(tile, extent(q))) {
      for (std::size_t p = 0; p < levels_.size(); ++p) {
        const bool taken = std::any_of(levels_[p].begin(), levels_[p].end(),
                                       [&](const Level& other) { return other.name == level.name; });
        if (taken || (p != q && name(p) == level.name)) fail(fmt::format("there is a loop {} already", level.name));
      }
      levels_[q].push_back({std::move(level)});
    }
  }

  void order(const Directive& directive) {
    if (ordered_) fail("there is an order already");
    ordered_ = true;
    for (const auto& [word, names] : directive.loops) {
      if (word == "sum") fail("sums are loops of each worker alone");
      if (word == "cluster" || word == "last") fail("the blocks of a cluster share the sums of an atom alone");
      if (word == "thread" && cpu()) fail("a CPU has no threads of a block: loops over a tile are serial");
      if (word == "serial" && !cpu()) fail("a tile of a GPU is spread over threads");
      if (word == "task" && !made_.inner.empty()) fail("tasks are the outermost loops");
      for (const auto& loop : names) put(loop, word == "task" ? Use::task : Use::inner);
    }
    std::reverse(made_.inner.begin(), made_.inner.end());
    std::int64_t registers = 1;
    for (std::size_t q = 0; q < levels_.size(); ++q) {
      if (!free_[q]) continue;
      measure(q);
      registers = std::min(registers * made_.register_tile[q], kMostRegisters + 1);
    }
    if (registers > kMostRegisters) fail(fmt::format("a worker has more than {} values in registers", kMostRegisters));
    if (registers > 1 && has(ir::NodeKind::compact)) fail("a worker compacts the values of one point at a time");
  }

  bool has(ir::NodeKind kind) const {
    return std::any_of(program_.nodes.begin(), program_.nodes.end(),
                       [&](const ir::Node& node) { return node.kind == kind; });
  }

  /// Loops without an order: over all values on a CPU, of as many as a block has threads for on a GPU.
  void put_all() {
    std::int64_t left = cpu() ? std::numeric_limits<std::int64_t>::max() : kMostThreads;
    for (auto q = free_.size(); q-- > 0;) {
      if (!free_[q]) continue;
      made_.tile[q] = std::min(extent(q), left);
      left /= made_.tile[q];
      if (made_.tile[q] > 1) made_.inner.push_back(static_cast<int>(q));
      if (made_.tile[q] < extent(q)) made_.tasks.insert(made_.tasks.begin(), static_cast<int>(q));
    }
  }

  void put(const std::string& loop, Use use) {
    for (std::size_t q = 0; q < levels_.size(); ++q) {
      const auto place =
          std::find_if(levels_[q].begin(), levels_[q].end(), [&](const Level& level) { return level.name == loop; });
      if (place == levels_[q].end()) continue;
      if (!free_[q]) fail(fmt::format("{} is summed or scanned over by each worker alone", name(q)));
      if (place->use != Use::registers) fail(fmt::format("{} is named twice", loop));
      for (const auto& level : levels_[q]) {
        if (level.use == use) fail(fmt::format("{} and {} are loops of one kind: let them be one", level.name, loop));
      }
      place->use = use;
      if (use == Use::inner) {
        made_.inner.push_back(static_cast<int>(q));
      } else if (place->count > 1) {
        made_.tasks.push_back(static_cast<int>(q));
      }
      return;
    }
    fail(fmt::format("there is no loop {}", loop));
  }

  /// What the order makes of the levels of an index: tasks outside, and of a GPU threads, of a CPU registers innermost.
  void measure(std::size_t q) {
    const auto& levels = levels_[q];
    auto& registers = made_.register_tile[q];
    made_.tile[q] = extent(q);
    bool has_inner = false, has_registers = false;
    for (const auto& level : levels) {
      switch (level.use) {
        case Use::task:
          if (has_inner || registers > 1) fail(fmt::format("{} is no outermost loop of {}", level.name, name(q)));
          made_.tile[q] = level.step;
          break;
        case Use::inner:
          if (!cpu() && level.step > 1 && registers > 1)
            fail(fmt::format("a thread has values on either side of {}", level.name));
          made_.neighbours[q] = !cpu() && level.step > 1;
          if (cpu() && registers > 1) fail(fmt::format("{} is a loop inside of what is in registers", level.name));
          has_inner = true;
          break;
        case Use::registers:
          has_registers = has_registers || level.count > 1;
          registers *= level.count;
          break;
      }
      if (registers > kMostRegisters) fail(fmt::format("{} is in no loop", level.name));
    }
    // What is left of an index by whole register tiles is computed by its loop.
    if (cpu() && has_registers && !has_inner) fail(fmt::format("{} is in no serial loop", name(q)));
  }

  void lanes(const Directive& directive) {
    if (!cpu()) fail("lanes are of the vectors of a CPU");
    if (made_.lanes > 1) fail("there are lanes already");
    const auto q = index(directive.subject);
    const auto count = directive.sizes.front();
    if (!lane_type(program_)) fail("lanes hold real numbers or integers, of operations that vectors have");
    if (!free_[q]) fail("lanes run along no sum or scan");
    if (count < 2 || count > kMostLanes || (count & (count - 1)) != 0) fail("vectors have a power of two of lanes");
    if (made_.register_tile[q] % count != 0)
      fail(fmt::format("the order leaves {} values of {}", made_.register_tile[q], name(q)));
    made_.lane = static_cast<int>(q);
    made_.lanes = static_cast<int>(count);
    made_.register_tile[q] /= count;
  }

  bool has_registers() const {
    return std::any_of(made_.register_tile.begin(), made_.register_tile.end(),
                       [](std::int64_t values) { return values != 1; });
  }

  void strip(std::int64_t points) {
    if (made_.lanes == 1) fail("strips are made of lanes, of which there are none");
    const bool sums = std::any_of(program_.nodes.begin(), program_.nodes.end(),
                                  [](const ir::Node& node) { return !node.over.empty(); });
    if (sums) fail("strips are of programs without sums and scans");
    if (!has_strips(program_)) fail("strips are of tensors of one type");
    if (has_registers()) fail("a point of a strip is one vector");
    if (points % made_.lanes != 0) fail(fmt::format("a strip is whole vectors of {}", made_.lanes));
    if (made_.inner.front() != made_.lane) fail("strips run along the innermost loop");
    made_.strip = points;
  }

  void part(const std::vector<std::int64_t>& numbers) {
    if (made_.strip == 0) fail("parts are computed strip by strip, and there is no strip");
    auto& part = made_.parts.emplace_back();
    for (const auto number : numbers) {
      if (number > static_cast<std::int64_t>(program_.statements.size()))
        fail(fmt::format("there is no statement {}", number));
      part.push_back(static_cast<int>(number - 1));
    }
  }

  /// Of an operand that is read across. The array has a dimension for each loop over the tile that moves what is read.
  void stage(const Directive& directive) {
    using ir::NodeKind;
    if (!cpu() || directive.space != "scratch") fail("what is computed point by point is staged on a CPU, in scratch");
    if (made_.strip > 0) fail("strips have buffers of their own");
    if (!reads_at_every_point(program_)) fail("programs with sums, scans or guards do not read at every point");
    const auto is_named = [&](const ir::Buffer& buffer) { return buffer.name == directive.subject; };
    const auto place = std::find_if(program_.buffers.begin(), program_.buffers.end(), is_named);
    if (place == program_.buffers.end() || place->written) fail("it is no operand");
    if (made_.tasks.empty() || made_.inner.empty()) fail("there are no tiles");
    const auto& around = levels_[static_cast<std::size_t>(made_.tasks.back())];
    if (directive.at != around.front().name) fail(fmt::format("{} is the loop around a tile", around.front().name));
    ProgramLoops::Staged staged{static_cast<int>(place - program_.buffers.begin()), {}};
    for (const auto& [key, names] : directive.loops) {
      for (const auto& name : names) staged.dims.push_back(static_cast<int>(index(name)));
    }
    const auto in = [](const std::vector<int>& list, int q) {
      return std::find(list.begin(), list.end(), q) != list.end();
    };
    const bool by_lanes = made_.lanes == 1 || (!staged.dims.empty() && staged.dims.back() == made_.lane);
    if (staged.dims.size() < 2 || !by_lanes) fail("lanes are of the last one of two dimensions or more");
    bool across = false;
    for (const auto& node : program_.nodes) {
      if (node.kind != NodeKind::load || node.source != staged.buffer || !reads_across(node.offset, staged.dims))
        continue;
      across = true;
      for (int q = 0; q < static_cast<int>(levels_.size()); ++q) {
        const bool moves = in(made_.inner, q) && node.offset.coefficient[static_cast<std::size_t>(q)] != 0;
        if (moves != in(staged.dims, q)) fail(fmt::format("{} is a dimension, or it is none", name(q)));
      }
    }
    if (!across) fail("all of it is read along the last dimension");
    made_.staged.push_back(std::move(staged));
  }

  void threads(std::int64_t count) {
    if (cpu()) fail("a CPU has no threads of a block");
    if (has_threads_) fail("the threads of a block are known already");
    if (count > kMostThreads) fail(fmt::format("a block has at most {} threads", kMostThreads));
    if (made_.positions() > count) fail(fmt::format("a tile has places for {} threads", made_.positions()));
    has_threads_ = true;
    made_.threads = static_cast<int>(count);
  }

  void cooperative(const std::vector<std::int64_t>& sizes) {
    constexpr int kMostItems = 64;
    if (!has_threads_) fail("it comes after the threads of a block");
    const auto count = sizes.front();
    const bool part = count > 1 && count < kWarp && kWarp % count == 0;
    if (count != kWarp && count != made_.threads && !part)
      fail("threads that cooperate are a warp, the block, or a half, a fourth ... of a warp");
    if (part) check_parts_of_warps(count);
    if (made_.threads % count != 0) fail(fmt::format("{} threads are no whole groups of {}", made_.threads, count));
    if (made_.positions() > made_.threads / count)
      fail(fmt::format("a tile has places for {} groups of threads", made_.positions()));
    if (!made_.members.empty() && places() != count)
      fail(fmt::format("the tiles of the sum have places for {} threads", places()));
    if (count > 1 && has_registers() && has(ir::NodeKind::scan)) fail("threads share the scan of one point at a time");
    made_.cooperative_threads = static_cast<int>(count);
    if (sizes.size() == 1) return;
    if (sizes[1] > kMostItems) fail(fmt::format("a thread takes at most {} items", kMostItems));
    made_.items_per_thread = static_cast<int>(sizes[1]);
  }

  /// Where groups are parts of a warp, all of them take part in its shuffles: every one has a point, and no guard.
  void check_parts_of_warps(std::int64_t count) const {
    using ir::NodeKind;
    const bool others = std::any_of(program_.nodes.begin(), program_.nodes.end(), [](const ir::Node& node) {
      return node.kind == NodeKind::scan || node.kind == NodeKind::compact || node.kind == NodeKind::guard;
    });
    if (others) fail("parts of a warp share sums without guards alone");
    bool whole = made_.threads % kWarp == 0 && made_.positions() * count == made_.threads;
    for (std::size_t q = 0; q < free_.size(); ++q) whole = whole && (!free_[q] || extent(q) % made_.tile[q] == 0);
    if (!whole) fail("parts of a warp have a point each: tiles divide their indices");
  }

  void row(const Directive& directive) {
    const auto q = index(directive.subject);
    const auto lanes = directive.sizes.front();
    if (made_.row >= 0) fail("there is a row already");
    if (cpu()) return row_of_passes(q, lanes);
    if (made_.cooperative_threads == 1) fail("rows are of threads that cooperate");
    if (const auto rule = row_fault(program_, static_cast<int>(q), lanes); !rule.empty()) fail(rule);
    if (extent(q) < lanes * made_.cooperative_threads) fail("there are threads without a part of the row");
    if (free_[q] && made_.tile[q] > 1) fail("each point of the row is a task before");
    if (!made_.members.empty() || made_.items_per_thread > 1) fail("threads share rows as they lie in memory");
    const auto vectors = extent(q) / lanes;
    const auto rounds = (vectors + made_.cooperative_threads - 1) / made_.cooperative_threads;
    if (rounds * lanes > kMostRegisters)
      fail(fmt::format("a worker has more than {} values in registers", kMostRegisters));
    made_.row = static_cast<int>(q);
    made_.row_lanes = lanes;
    made_.row_results = free_[q];
    made_.tile[q] = made_.register_tile[q] = rounds;
    std::erase(made_.tasks, made_.row);
  }

  /// Of a CPU: rows of one point each.
  void row_of_passes(std::size_t q, std::int64_t lanes) {
    if (const auto rule = row_fault(program_, static_cast<int>(q)); !rule.empty()) fail(rule);
    if (made_.lanes > 1) fail("vectors lie along the row, which has lanes of its own");
    if (has_registers()) fail("rows are computed one by one");
    if (lanes > kMostLanes || (lanes & (lanes - 1)) != 0) fail("vectors have a power of two of lanes");
    const auto rows = cut_rows(program_, static_cast<int>(q));
    if (!rows) fail("comparisons of indices cut a row in two parts at most");
    if (lanes > 1 && !lane_type(rows->program))
      fail("lanes hold real numbers or integers, of operations that vectors have");
    if (lanes > extent(q)) fail(fmt::format("{} has {} values", name(q), extent(q)));
    if (free_[q] && made_.tile[q] > 1) fail("each point of the row is a task before");
    if (!rows_are_read_first(program_, static_cast<int>(q)))
      fail("what is written is read before, or at the same place");
    made_.row = static_cast<int>(q);
    made_.row_lanes = lanes;
    made_.row_results = free_[q];
    std::erase(made_.tasks, made_.row);
  }

  /// Statements of no part yet.
  void put_rest() {
    if (made_.parts.empty()) return;
    std::vector<int> rest;
    for (int k = 0; k < static_cast<int>(program_.statements.size()); ++k) {
      const auto has = [&](const std::vector<int>& part) {
        return std::find(part.begin(), part.end(), k) != part.end();
      };
      if (std::none_of(made_.parts.begin(), made_.parts.end(), has)) rest.push_back(k);
    }
    if (!rest.empty()) made_.parts.push_back(std::move(rest));
  }

  /// Every statement is in one part, and none in an earlier one than what it reads before it is written.
  void check_parts() {
    if (made_.parts.empty()) return;
    const auto count = program_.statements.size();
    std::vector<int> part_of(count, -1);
    std::size_t stated = 0;
    for (std::size_t p = 0; p < made_.parts.size(); ++p) {
      for (const int k : made_.parts[p]) part_of[static_cast<std::size_t>(k)] = static_cast<int>(p);
      stated += made_.parts[p].size();
    }
    current_ = "part";
    if (stated != count || std::find(part_of.begin(), part_of.end(), -1) != part_of.end())
      fail("the parts of a strip hold every statement once");
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<bool> needed(program_.nodes.size());
      needed[static_cast<std::size_t>(program_.statements[k].value)] = true;
      for (std::size_t id = needed.size(); id-- > 0;) {
        if (!needed[id]) continue;
        const auto& node = program_.nodes[id];
        for (int n = 0; n < operand_count(node); ++n) needed[static_cast<std::size_t>(node.operand[n])] = true;
        if (node.kind != ir::NodeKind::load) continue;
        for (std::size_t other = 0; other < count; ++other) {
          const auto& statement = program_.statements[other];
          if (statement.buffer == node.source && statement.offset == node.offset && part_of[other] < part_of[k])
            fail("no part reads what an earlier one writes");
        }
      }
    }
  }

  const ir::Program& program_;
  Target target_;
  std::vector<bool> free_;                      // per index
  std::vector<std::vector<UsedLevel>> levels_;  // per index, from outside in
  ProgramLoops made_;
  bool ordered_ = false, has_threads_ = false;
  std::string current_ = "the program";
};

}  // namespace

std::int64_t ProgramLoops::positions() const noexcept {
  std::int64_t product = 1;
  for (std::size_t q = 0; q < tile.size(); ++q) product *= positions(q);
  return product;
}

std::int64_t ProgramLoops::tiles(const ir::Program& program) const noexcept {
  std::int64_t product = 1;
  for (const auto task : tasks) {
    const auto q = static_cast<std::size_t>(task);
    product *= (program.indices[q].extent + tile[q] - 1) / tile[q];
  }
  return product;
}

ProgramLoops loops_of(const ir::Program& program, Directives directives, Target target, std::size_t count) {
  take_added(directives);
  return LoopMaker(program, target).run(directives, count);
}

bool is_vector_access(const ir::Program& program, int buffer, const ir::Affine& offset, int index,
                      std::int64_t values) {
  const auto size = size_of(program.buffers[static_cast<std::size_t>(buffer)].type);
  return values > 1 && (values & (values - 1)) == 0 && values * size <= kWidestAccessBytes &&
         ir::vector_access(program, buffer, offset, index, static_cast<int>(values));
}

std::optional<DType> lane_type(const ir::Program& program) {
  if (program.buffers.empty()) return std::nullopt;
  auto type = program.buffers.front().type;
  for (const auto& node : program.nodes) type = size_of(node.type) > size_of(type) ? node.type : type;
  const auto is_extreme = [](ir::OpCode op) { return op == ir::OpCode::minimum || op == ir::OpCode::maximum; };
  // Vectors of integers wrap around as single ones do; processors have no quotients of them.
  const auto is_of_integers = [&](const ir::Node& node) {
    const bool is_signed = node.type >= DType::i8 && node.type <= DType::i64;
    return (is_arithmetic(node.op) && node.op != ir::OpCode::div) || is_extreme(node.op) ||
           (node.op >= ir::OpCode::bit_and && node.op <= ir::OpCode::bit_xor) ||
           (node.op == ir::OpCode::absolute && is_signed);
  };
  const auto has_lanes = [&](const ir::Node& node) {
    if (node.kind == ir::NodeKind::load) return !is_complex(node.type);
    if (node.kind == ir::NodeKind::op && node.op == ir::OpCode::cast)
      return ir::converts_vectors(program.nodes[static_cast<std::size_t>(node.operand[0])].type, node.type);
    if (!is_real(node.type) && !is_integer(node.type)) return false;
    switch (node.kind) {
      case ir::NodeKind::param:
      case ir::NodeKind::constant:
        return true;
      case ir::NodeKind::reduce:
      case ir::NodeKind::scan:
        return node.op == ir::OpCode::add || node.op == ir::OpCode::mul || is_extreme(node.op);
      case ir::NodeKind::op:
        if (is_integer(node.type)) return is_of_integers(node);
        return is_arithmetic(node.op) || is_extreme(node.op) || node.op == ir::OpCode::sqrt ||
               node.op == ir::OpCode::rsqrt || node.op == ir::OpCode::absolute ||
               (!program.exact && is_function_of_vectors(node.op));
      default:
        return false;
    }
  };
  const bool all =
      (is_real(type) || is_integer(type)) && std::all_of(program.nodes.begin(), program.nodes.end(), has_lanes);
  return all ? std::optional(type) : std::nullopt;
}

bool has_strips(const ir::Program& program) {
  return std::all_of(program.buffers.begin(), program.buffers.end(),
                     [&](const ir::Buffer& buffer) { return buffer.type == program.buffers.front().type; });
}

}  // namespace ricci::kernel
