#include "kernel/permute/moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "ir/read_number.hpp"
#include "kernel/extensions.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

using Kind = Directive::Kind;
using Words = std::vector<std::string>;

constexpr std::int64_t kMost = 1 << 30;

class Writer {
 public:
  Writer(const Moves& moves, const ir::Program& program) : moves_(moves), program_(program) {}

  Directives all() {
    tiles();
    if (moves_.stage) stage();
    mapping(add(Kind::write), moves_.mapping);
    number("workers", moves_.mapping.workers, moves_.threads);
    if (moves_.streaming) add(Kind::nontemporal);
    if (moves_.skew.on()) add(Kind::skew, name(moves_.skew.index), {moves_.skew.elements});
    if (moves_.origin == Origin::shuffle) add(Kind::origin, "shuffle");
    if (moves_.threads > 1) add(Kind::threads, {}, {moves_.threads});
    return std::move(list_);
  }

 private:
  const std::string& name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }

  Directive& add(Kind kind, std::string subject = {}, std::vector<std::int64_t> sizes = {}) {
    return list_.emplace_back(Directive{.kind = kind, .subject = std::move(subject), .sizes = std::move(sizes)});
  }
  /// Of the last one, unless it is what goes without saying.
  void number(const char* word, std::int64_t value, std::int64_t otherwise = 1) {
    if (value != otherwise) list_.back().loops.push_back({word, {std::to_string(value)}});
  }

  void tiles() {
    Words tasks;
    for (auto k = moves_.order.size(); k-- > 0;) {
      const auto q = moves_.order[k];
      const auto tile = moves_.tile[static_cast<std::size_t>(q)];
      if (moves_.tiles_along(program_, q) == 1) continue;
      tasks.push_back(tile == 1 ? name(q) : name(q) + "0");
      if (tile > 1) add(Kind::tile, name(q), {tile});
    }
    auto& order = add(Kind::order);
    if (!tasks.empty()) order.loops.emplace_back("task", std::move(tasks));
  }

  void mapping(Directive& directive, const ThreadMapping& mapping) {
    auto& digits = directive.loops.emplace_back().second;
    for (const auto& [q, count, step] : mapping.digits)
      digits.push_back(fmt::format("{}:{}{}", name(q), count, step > 1 ? fmt::format("/{}", step) : ""));
    number("vector", mapping.vector);
    number("rows", mapping.rows);
  }

  void stage() {
    const auto& stage = *moves_.stage;
    const auto source = program_.nodes[static_cast<std::size_t>(stage.load)].source;
    auto& made = add(Kind::stage, program_.buffers[static_cast<std::size_t>(source)].name);
    made.space = stage.memory == StageMemory::shared ? "shared" : "registers";
    mapping(made, stage.mapping);
    number("along", stage.along);
    number("across", stage.across);
    number("packing", stage.row_packing);
    if (stage.memory == StageMemory::shared) layout(stage.layout);
    if (stage.prefetch_distance > 0) add(Kind::prefetch, {}, {stage.prefetch_distance});
    if (stage.line_carry >= 0) add(Kind::carry, name(stage.line_carry));
  }

  void layout(const SharedLayout& layout) {
    auto& made = add(Kind::layout);
    auto& strides = made.loops.emplace_back().second;
    for (std::size_t q = 0; q < layout.stride.size(); ++q) {
      if (layout.stride[q] != 0) strides.push_back(fmt::format("{}:{}", name(static_cast<int>(q)), layout.stride[q]));
    }
    number("elements", layout.elements, 0);
    if (layout.mask == 0) return;
    made.loops.push_back(
        {"swizzle", {std::to_string(layout.shift), std::to_string(layout.mask), std::to_string(layout.unit)}});
  }

  const Moves& moves_;
  const ir::Program& program_;
  Directives list_;
};

class Reader {
 public:
  explicit Reader(const ir::Program& program) : program_(program) {}

  Moves read(const Directives& directives, std::size_t count) {
    made_.threads = 1;
    for (const auto& index : program_.indices) made_.tile.push_back(std::max<std::int64_t>(index.extent, 1));
    tiled_.assign(program_.indices.size(), false);
    for (std::size_t k = 0; k < directives.size(); ++k) {
      if (k < count || is_foreseen(directives[k].kind)) apply(directives[k]);
    }
    const bool plain = count < directives.size() && made_.mapping.digits.empty();
    if (!ordered_ && !plain) throw PlanError("schedule: an order is missing");
    // Indices of one tile.
    for (auto q = static_cast<int>(tiled_.size()); q-- > 0;) {
      if (std::find(made_.order.begin(), made_.order.end(), q) == made_.order.end()) made_.order.push_back(q);
      if (plain) made_.mapping.digits.push_back({q, made_.tile[static_cast<std::size_t>(q)], 1});
    }
    // What is staged later is read where it is needed.
    if (!made_.stage && has(directives, Kind::stage))
      made_.mapping.vector = 1, made_.streaming = false, made_.skew = {};
    made_.mapping.workers = workers_ > 0 ? workers_ : made_.threads;
    if (made_.stage) made_.stage->mapping.workers = made_.mapping.workers;
    return std::move(made_);
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const { refuse(*current_, rule); }

  /// Of a directive that is not applied: from the first `stage` or `write` on it is known who writes what, and where.
  bool is_foreseen(Kind kind) const {
    if (kind == Kind::layout) return made_.stage.has_value();
    return (made_.stage || !made_.mapping.digits.empty()) && kind != Kind::stage && kind != Kind::prefetch &&
           kind != Kind::carry && kind != Kind::origin;
  }

  void apply(const Directive& directive) {
    current_ = &directive;
    switch (directive.kind) {
      case Kind::tile: {
        const auto q = static_cast<std::size_t>(index(directive.subject));
        if (ordered_) fail("it comes before the order");
        if (tiled_[q] || directive.sizes.size() > 1) fail("a tile that is moved has one size along an index");
        tiled_[q] = true;
        made_.tile[q] = directive.sizes.front();
        return;
      }
      case Kind::order:
        return order(directive);
      case Kind::stage:
        return stage(directive);
      case Kind::layout:
        return layout(directive);
      case Kind::write:
        if (!made_.mapping.digits.empty()) fail("elements are written once");
        made_.mapping = mapping(directive);
        workers_ = number(directive, "workers", 0);
        return;
      case Kind::prefetch:
        if (directive.sizes.empty()) fail("how many tiles are fetched?");
        staged().prefetch_distance = directive.sizes.front();
        return;
      case Kind::carry:
        staged().line_carry = index(directive.subject);
        return;
      case Kind::skew:
        made_.skew = {index(directive.subject), static_cast<int>(directive.sizes.front())};
        return;
      case Kind::origin:
        if (directive.subject != "shuffle") fail("an origin is found by divisions, or by a shuffle");
        made_.origin = Origin::shuffle;
        return;
      case Kind::nontemporal:
        made_.streaming = true;
        return;
      case Kind::threads:
        made_.threads = static_cast<int>(std::min(directive.sizes.front(), kMost));
        return;
      default:
        refuse_misplaced(directive);
    }
  }

  int index(std::string_view wanted) const {
    const auto& all = program_.indices;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ir::LoopIndex& one) { return one.name == wanted; });
    if (found == all.end()) fail(fmt::format("no index of this program has the name {}", wanted));
    return static_cast<int>(found - all.begin());
  }

  static const Words& words(const Directive& directive, std::string_view word) {
    static const Words none;
    const auto found = std::find_if(directive.loops.begin(), directive.loops.end(),
                                    [&](const auto& group) { return group.first == word; });
    return found == directive.loops.end() ? none : found->second;
  }
  std::int64_t value(std::string_view word) const {
    const auto read = ir::read_number<std::int64_t>(word);
    if (!read || *read < 0) fail(fmt::format("{} is no number of elements", word));
    return *read;
  }
  int number(const Directive& directive, std::string_view word, int otherwise = 1) const {
    const auto& list = words(directive, word);
    if (list.empty()) return otherwise;
    const auto read = list.size() == 1 ? value(list.front()) : 0;
    if (read < 1 || read > kMost) fail(fmt::format("a number from 1 to {} follows {}", kMost, word));
    return static_cast<int>(read);
  }

  /// "a:32", "a:4/8".
  std::vector<MixedRadixDigit> digits(const Words& list) const {
    std::vector<MixedRadixDigit> all;
    for (const std::string_view word : list) {
      const auto colon = word.find(':');
      if (colon == std::string_view::npos) fail(fmt::format("{} is no index:count", word));
      const auto count = word.substr(colon + 1);
      const auto slash = count.find('/');
      const auto& digit = all.emplace_back(index(word.substr(0, colon)), value(count.substr(0, slash)),
                                           slash == std::string_view::npos ? 1 : value(count.substr(slash + 1)));
      if (std::min(digit.count, digit.step) < 1 || std::max(digit.count, digit.step) > kMost)
        fail(fmt::format("{} is out of range", word));
    }
    return all;
  }

  ThreadMapping mapping(const Directive& directive) const {
    return {.digits = digits(words(directive, "")),
            .vector = number(directive, "vector"),
            .rows = number(directive, "rows")};
  }

  void order(const Directive& directive) {
    if (ordered_) fail("there is an order already");
    ordered_ = true;
    for (const auto& [word, names] : directive.loops) {
      if (word != "task") fail("loops are tasks; what is inside of a tile is in the order of writing");
      for (const auto& loop : names) {
        int found = -1;
        for (std::size_t q = 0; q < tiled_.size(); ++q) {
          if (loop == program_.indices[q].name + (tiled_[q] ? "0" : "")) found = static_cast<int>(q);
        }
        if (found < 0) fail(fmt::format("there is no loop {}", loop));
        if (!tiled_[static_cast<std::size_t>(found)]) made_.tile[static_cast<std::size_t>(found)] = 1;
        made_.order.insert(made_.order.begin(), found);
      }
    }
  }

  void stage(const Directive& directive) {
    if (made_.stage) fail("one operand is staged");
    auto& stage = made_.stage.emplace();
    for (std::size_t id = 0; id < program_.nodes.size() && stage.load < 0; ++id) {
      const auto& node = program_.nodes[id];
      if (node.kind == ir::NodeKind::load &&
          program_.buffers[static_cast<std::size_t>(node.source)].name == directive.subject)
        stage.load = static_cast<ir::NodeId>(id);
    }
    if (stage.load < 0) fail("no operand has that name");
    const bool shared = directive.space == "shared";
    if (!shared && directive.space != "registers") fail("it is kept in shared memory or in registers");
    stage.memory = shared ? StageMemory::shared : StageMemory::registers;
    stage.mapping = mapping(directive);
    stage.along = number(directive, "along");
    stage.across = number(directive, "across");
    stage.row_packing = number(directive, "packing");
  }

  Stage& staged() {
    if (!made_.stage) fail("no operand is staged");
    return *made_.stage;
  }

  void layout(const Directive& directive) {
    auto& layout = staged().layout;
    layout.stride.assign(program_.indices.size(), 0);
    for (const auto& digit : digits(words(directive, "")))
      layout.stride[static_cast<std::size_t>(digit.index)] = digit.count;
    layout.elements = number(directive, "elements", 0);
    const auto& swizzle = words(directive, "swizzle");
    if (swizzle.empty()) return;
    if (swizzle.size() != 3) fail("a swizzle is a shift, a mask and a unit");
    const auto small = [&](const std::string& word) {
      return static_cast<int>(std::clamp<std::int64_t>(value(word), 0, 30));
    };
    layout.shift = small(swizzle[0]);
    layout.mask = value(swizzle[1]);
    layout.unit = small(swizzle[2]);
  }

  const ir::Program& program_;
  Moves made_;
  std::vector<bool> tiled_;  // per index
  bool ordered_ = false;
  int workers_ = 0;
  const Directive* current_ = nullptr;
};

}  // namespace

Directives directives_of(const Moves& moves, const ir::Program& program) { return Writer(moves, program).all(); }

Moves moves_of(const ir::Program& program, Directives directives, std::size_t count) {
  take_added(directives);
  return Reader(program).read(directives, count);
}

}  // namespace ricci::kernel
