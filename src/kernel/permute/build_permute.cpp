#include "kernel/permute/build_permute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "kernel/arguments.hpp"
#include "kernel/expand.hpp"
#include "kernel/extensions.hpp"
#include "kernel/permute/makers.hpp"
#include "kernel/permute/register_stage.hpp"
#include "kernel/permute/statement.hpp"
#include "kernel/permute/tile.hpp"
#include "kernel/permute/warp_exchange.hpp"
#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

using ir::NodeId;

constexpr std::int64_t kWidest = 16;  // bytes of one access

void append(Body& body, Body more) {
  for (auto& statement : more) body.push_back(std::move(statement));
}

class Builder {
 public:
  /// Of moves whose directives are those of `said`.
  Builder(const ir::Program& program, const Moves& moves, const Moves& said)
      : program_(program), moves_(moves), tile_{program, moves, kernel_, -1, {}} {
    kernel_ = kernel_of(program, Target::cuda);
    say_directives(kernel_, said, program);
    kernel_.threads = moves.threads;
    const auto& statement = program.statement();
    kernel_.arrays[static_cast<std::size_t>(statement.buffer)].results = ir::reached(statement.offset, program.indices);
    if (moves.stage && moves.stage->memory == StageMemory::shared) add_shared();
  }

  Kernel run() {
    Body names, block;
    const auto number = tile_number(names);
    origins(block, number);
    made_by(block, line_of(kernel_, {"origin", "order", "write"}));
    if (!moves_.stage) {
      write(block);
    } else if (moves_.stage->memory == StageMemory::registers) {
      exchange(block);
    } else {
      read(block);
      block.push_back({Barrier{}, line_of(kernel_, {"stage"})});
      write(block);
    }
    kernel_.body = around(std::move(names), std::move(block), number);
    made_by(kernel_.body, line_of(kernel_, {"order", "write"}));
    return std::move(kernel_);
  }

 private:
  const ir::Node& node(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  const std::string& name_of(int buffer) const { return kernel_.array(buffer).name; }
  const ir::Statement& statement() const { return program_.statement(); }

  // ---- arrays

  void add_shared() {
    const auto& layout = moves_.stage->layout;
    Array array;
    array.name = tile_.fresh("tile");
    array.type = node(moves_.stage->load).type;
    array.space = Space::shared;
    array.shape = {layout.elements};
    array.alignment = kWidest;
    array.swizzle = {layout.shift, layout.mask, layout.unit};
    array.origin = line_of(kernel_, {"layout", "stage"});
    shared_ = kernel_.add_array(std::move(array));
  }

  /// Registers of single elements or vectors, in as many dimensions as are given.
  int add_registers(const std::string& name, DType type, int lanes, std::vector<std::int64_t> shape = {}) {
    Array array;
    array.name = tile_.fresh(name);
    array.type = type;
    array.space = Space::registers;
    array.lanes = lanes;
    array.shape = std::move(shape);
    return kernel_.add_array(std::move(array));
  }

  Access access(int array, Affine offset, int lanes) const {
    Access access{array, {std::move(offset)}, lanes};
    access.whole = lanes == 1 && size_of(kernel_.array(array).type) == kWidest;
    return access;
  }
  Access registers(int array, std::vector<Affine> index, std::optional<Affine> lane = {}) const {
    Access access{array, std::move(index), kernel_.array(array).lanes};
    access.lane = std::move(lane);
    return access;
  }
  Value load(Access access) const {
    const auto type = kernel_.array(access.array).type;
    return load_of(type, std::move(access));
  }

  // ---- the block

  /// The number of the tile: of the block, or of a part of its threads.
  Affine tile_number(Body& names) {
    const auto blocks = moves_.blocks(program_);
    if (blocks > kMostBlocks)
      throw PlanError(
          fmt::format("schedule: order: {} tiles are more than a launch takes (2^31 - 1)", moves_.tiles(program_)));
    const int each = moves_.tiles_per_block(), workers = moves_.mapping.workers;
    block_ = kernel_.add_var(tile_.fresh(each == 1 ? "block" : "group"), blocks);
    if (each > 1) part_ = kernel_.add_var(tile_.fresh(workers == kWarp ? "warp" : "part"), each);
    tile_.thread = kernel_.add_var(tile_.fresh("t"), workers);
    const auto block = blocks == 1 ? Affine() : Affine::of(block_);
    if (each == 1) return block;
    const auto number = kernel_.add_var(tile_.fresh("block"), 1);
    return named(kernel_, names, number, each * block + Affine::of(part_));
  }

  /// Loops over blocks and threads around all; where the last block has more threads than tiles, they do nothing.
  Body around(Body names, Body inside, const Affine& number) {
    const auto tiles = moves_.tiles(program_);
    if (tiles % moves_.tiles_per_block() != 0) inside = {{If{{{number, tiles}}, std::move(inside), {}}}};
    append(names, std::move(inside));
    Body body{loop_over(tile_.thread, Bind::thread, std::move(names))};
    if (part_ >= 0) body = {loop_over(part_, Bind::thread, std::move(body))};
    if (moves_.blocks(program_) > 1) body = {loop_over(block_, Bind::task, std::move(body))};
    return body;
  }

  /// The origin of the tile, and arrays advanced to it.
  void origins(Body& body, const Affine& number) {
    tile_.origin.resize(program_.indices.size());
    std::vector<Var> names(program_.indices.size());
    for (int q = 0; q < tile_.indices(); ++q) {
      const bool one = tile_.extent(q) == 1;
      if (moves_.tiles_along(program_, q) > 1)
        names[static_cast<std::size_t>(q)] = kernel_.add_var(tile_.index(q).name + (one ? "" : "0"), 1);
    }
    // Where lanes of a warp find the origin, a digit is named only if guards and phases ask for it too.
    const bool by_lanes = moves_.origin == Origin::shuffle && moves_.tiles(program_) > 1;
    AdvanceByLanes by_digits;
    auto origin = tile_.origin;
    std::int64_t below = 1;
    for (const auto q : moves_.order) {
      const auto k = static_cast<std::size_t>(q);
      const auto count = moves_.tiles_along(program_, q);
      if (count == 1) continue;
      // The last block may have more threads than tiles, but those do nothing.
      const bool last = below * count == moves_.tiles(program_);
      const auto digit = kernel_.add_var(tile_.index(q).name + "_tile", count);
      body.push_back({Let{digit, number, below, last ? 0 : count, true}});
      by_digits.digits.push_back(digit);
      origin[k] = tile_.extent(q) * Affine::of(digit);
      const bool asked = tile_.index(q).extent % tile_.extent(q) != 0 || moves_.skew.on();
      if (!by_lanes || asked) tile_.origin[k] = named(kernel_, body, names[k], origin[k], by_lanes);
      below *= count;
    }
    by_digits.moves = advances(by_lanes ? origin : tile_.origin);
    if (by_lanes) {
      body.push_back({std::move(by_digits)});
    } else {
      for (auto& move : by_digits.moves) body.push_back({std::move(move)});
    }
  }

  /// How far the tile's origin lies into each array that is accessed; those that are read come first.
  std::vector<Advance> advances(const std::vector<Affine>& origin) const {
    std::vector<Advance> moves;
    const auto add = [&](int buffer, const ir::Affine& affine) {
      if (std::any_of(moves.begin(), moves.end(), [&](const Advance& move) { return move.array == buffer; })) return;
      Affine by = affine.constant;
      for (int q = 0; q < tile_.indices(); ++q) {
        const auto coefficient = affine.coefficient[static_cast<std::size_t>(q)];
        by = by + coefficient * (origin[static_cast<std::size_t>(q)] - tile_.lead(q));
      }
      moves.push_back({buffer, by});
    };
    for (const auto id : loads_) {
      if (node(id).source != statement().buffer) add(node(id).source, node(id).offset);
    }
    add(statement().buffer, statement().offset);
    return moves;
  }

  // ---- rounds

  /// body(u) for every round of a mapped tile, with its names, under its guard: in a loop that is spelt out, or once.
  template <class F>
  void each_round(Body& to, MappedTile& mapped, F&& body) {
    const bool loops = mapped.rounds() > 1;
    const Affine u = loops ? Affine::of(mapped.round()) : Affine();
    Body round = mapped.names(u);
    append(round, where(mapped.guard(), body(u)));
    if (loops) {
      to.push_back(loop_over(mapped.round(), Bind::unroll, std::move(round)));
    } else {
      append(to, std::move(round));
    }
  }

  /// One element per value of `v`, a new variable.
  template <class F>
  Statement each_element(const char* name, int count, F&& body) {
    const auto v = kernel_.add_var(tile_.fresh(name), count);
    return loop_over(v, Bind::unroll, body(Affine::of(v)));
  }

  std::vector<Affine> slot(const MappedTile& mapped, const Affine& u) const {
    return mapped.rounds() > 1 ? std::vector{u} : std::vector<Affine>{};
  }

  Affine shared_offset(const MappedTile& mapped) const { return mapped.offset(moves_.stage->layout.stride); }
  std::int64_t shared_step(const ThreadMapping& mapping) const {
    return moves_.stage->layout.stride[static_cast<std::size_t>(mapping.digits.front().index)];
  }
  std::int64_t coefficient(const ir::Affine& affine, const MixedRadixDigit& digit) const {
    return affine.coefficient[static_cast<std::size_t>(digit.index)];
  }

  // ---- reading a tile into shared memory

  void read(Body& body) {
    const auto& stage = *moves_.stage;
    MappedTile mapped(tile_, stage.mapping, nullptr);
    Section section{fmt::format("read {} along {}", name_of(node(stage.load).source), mapped.first_name()),
                    mapped.outer_names()};
    const bool whole = stage.mapping.rows == 1 && keeps_vectors(moves_, stage.mapping);
    if (mapped.rounds() == 1 && whole) {
      each_round(section.body, mapped, [&](const Affine&) {
        return Body{{Store{access(shared_, shared_offset(mapped), stage.mapping.vector), from(stage.load, mapped)}}};
      });
    } else {
      read_in_rounds(section.body, mapped, whole);
    }
    body.push_back({std::move(section), line_of(kernel_, {"stage"})});
  }

  /// All elements of a thread are loaded before any of them is stored.
  void read_in_rounds(Body& body, MappedTile& mapped, bool whole) {
    const auto& mapping = mapped.mapping();
    const auto kept = keep(body, moves_.stage->load, mapped);
    each_round(body, mapped, [&](const Affine& u) -> Body {
      if (mapping.rows > 1) return {columns(kept, mapped, u)};
      if (whole) {
        const auto to = access(shared_, shared_offset(mapped), mapping.vector);
        return {{Store{to, load(registers(kept, slot(mapped, u)))}}};
      }
      return {each_element("v", mapping.vector, [&](const Affine& v) -> Body {
        const auto to = access(shared_, shared_offset(mapped) + shared_step(mapping) * v, 1);
        return {{Store{to, load(registers(kept, slot(mapped, u), v))}}};
      })};
    });
  }

  /// The load's elements of this thread, in registers that are declared here.
  int keep(Body& body, NodeId id, MappedTile& mapped, bool zeros = false) {
    const auto& mapping = mapped.mapping();
    std::vector<std::int64_t> shape;
    if (mapped.rounds() > 1) shape.push_back(mapped.rounds());
    if (mapping.rows > 1) shape.push_back(mapping.rows);
    const auto kept = add_registers("kept", node(id).type, mapping.vector, std::move(shape));
    body.push_back({Declare{kept, zeros}});
    append(body, kept_loads(kept, id, mapped));
    return kept;
  }

  Body kept_loads(int kept, NodeId id, MappedTile& mapped) {
    const auto& mapping = mapped.mapping();
    Body body;
    each_round(body, mapped, [&](const Affine& u) -> Body {
      if (mapping.rows == 1) return {{Store{registers(kept, slot(mapped, u)), from(id, mapped)}}};
      const auto step = coefficient(node(id).offset, mapping.digits[1]);
      return {each_element("r", mapping.rows, [&](const Affine& r) -> Body {
        auto row = slot(mapped, u);
        row.push_back(r);
        return {{Store{registers(kept, std::move(row)), from(id, mapped, step * r)}}};
      })};
    });
    return body;
  }

  /// The columns of a rectangle in registers, each stored in one access.
  Statement columns(int kept, const MappedTile& mapped, const Affine& u) {
    const auto& mapping = mapped.mapping();
    return each_element("v", mapping.vector, [&](const Affine& v) -> Body {
      const auto column = add_registers("column", kernel_.array(kept).type, mapping.rows);
      const auto gather = each_element("r", mapping.rows, [&](const Affine& r) -> Body {
        auto row = slot(mapped, u);
        row.push_back(r);
        return {{Store{registers(column, {}, r), load(registers(kept, std::move(row), v))}}};
      });
      const auto to = access(shared_, shared_offset(mapped) + shared_step(mapping) * v, mapping.rows);
      return {{Declare{column}}, gather, {Store{to, load(registers(column, {}))}}};
    });
  }

  /// What a load reads at the position that a mapped tile is at, a vector where its accesses are: `more` elements
  /// further on.
  Value from(NodeId id, const MappedTile& mapped, const Affine& more = {}) const {
    return load(access(node(id).source, mapped.offset(node(id).offset.coefficient) + more, mapped.mapping().vector));
  }

  // ---- the statement

  /// What a load of the statement stands for at one position: whole, as a vector, and element by element.
  struct Operand {
    std::optional<Value> whole;              // where one access has it
    std::function<Value(const Affine&)> at;  // element v
    int part = 1;                            // neighbours that one access has, where none has the whole
  };

  void write(Body& body) {
    const auto& mapping = moves_.mapping;
    MappedTile mapped(tile_, mapping, moves_.skew.on() ? &statement().offset : nullptr);
    const auto& to = name_of(statement().buffer);
    const auto first = mapped.first_name();
    Section section{first.empty() ? "write " + to : fmt::format("write {} along {}", to, first), mapped.outer_names()};
    // Without a stage the main load goes to registers first, so that all loads are in flight before the first store.
    int kept = -1;
    if (!moves_.stage && !loads_.empty() && mapped.rounds() > 1 && is_vector(loads_.front(), mapping))
      kept = keep(section.body, loads_.front(), mapped);
    each_round(section.body, mapped, [&](const Affine& u) {
      Operands operands;
      for (const auto id : loads_) {
        if (kept >= 0 && id == loads_.front()) {
          operands[id] = in_registers(kept, slot(mapped, u));
        } else {
          operands[id] = is_staged(id) ? in_shared(mapped) : in_memory(id, mapped);
        }
      }
      return stored(mapped, operands);
    });
    body.push_back({std::move(section), line_of(kernel_, {"write"})});
  }

  using Operands = std::map<NodeId, Operand>;

  bool is_staged(NodeId id) const { return moves_.stage && moves_.stage->load == id; }
  bool is_vector(NodeId id, const ThreadMapping& mapping) const {
    return mapping.vector == 1 ||
           ir::vector_access(program_, node(id).source, node(id).offset, mapping.digits[0].index, mapping.vector);
  }

  Operand in_registers(int array, const std::vector<Affine>& index) const {
    return {load(registers(array, index)),
            [this, array, index](const Affine& v) { return load(registers(array, index, v)); }};
  }
  Operand in_shared(const MappedTile& mapped) const {
    const auto& mapping = mapped.mapping();
    const auto offset = shared_offset(mapped);
    const auto step = mapping.vector > 1 ? shared_step(mapping) : 0;
    Operand operand{{}, [this, offset, step](const Affine& v) { return load(access(shared_, offset + step * v, 1)); }};
    if (!keeps_vectors(moves_, mapping)) return operand;
    operand.part =
        static_cast<int>(std::min<std::int64_t>(mapping.vector, kWidest / size_of(kernel_.array(shared_).type)));
    if (operand.part == mapping.vector) operand.whole = load(access(shared_, offset, mapping.vector));
    return operand;
  }
  Operand in_memory(NodeId id, const MappedTile& mapped) const {
    const auto& mapping = mapped.mapping();
    const auto offset = mapped.offset(node(id).offset.coefficient);
    const auto step = mapping.vector > 1 ? coefficient(node(id).offset, mapping.digits.front()) : 0;
    const auto array = node(id).source;
    Operand operand{{},
                    [this, array, offset, step](const Affine& v) { return load(access(array, offset + step * v, 1)); }};
    if (is_vector(id, mapping)) operand.whole = load(access(array, offset, mapping.vector));
    return operand;
  }

  /// The statement at one position, of operands that are there.
  Body stored(const MappedTile& mapped, Operands& operands) {
    const auto& mapping = mapped.mapping();
    const auto type = kernel_.array(statement().buffer).type;
    const auto offset = mapped.offset(statement().offset.coefficient);
    const auto target = access(statement().buffer, offset, mapping.vector);
    if (mapping.vector == 1)
      return {{Store{target, value(statement().value, [&](NodeId id) { return *operands[id].whole; }),
                     nontemporal(target)}}};
    const auto& top = node(statement().value);
    const bool copies = top.kind == ir::NodeKind::load && top.type == type;
    if (copies && operands[statement().value].whole && !moves_.skew.on())
      return {{Store{target, *operands[statement().value].whole, nontemporal(target)}}};
    Body body;
    for (const auto id : loads_) hold(body, id, mapped, operands);
    int out = -1;
    if (copies) {
      out = operands[statement().value].whole->access.array;
    } else {
      out = add_registers("out", type, mapping.vector);
      body.push_back({Declare{out}});
      body.push_back(each_element("v", mapping.vector, [&](const Affine& v) -> Body {
        return {
            {Store{registers(out, {}, v), value(statement().value, [&](NodeId id) { return operands[id].at(v); })}}};
      }));
    }
    append(body, store_vector(mapped, out, target));
    return body;
  }

  /// Reads an operand into a register of its own, where one access has it or its elements make one vector.
  void hold(Body& body, NodeId id, const MappedTile& mapped, Operands& operands) {
    auto& operand = operands[id];
    const auto lanes = mapped.mapping().vector;
    const bool held = operand.whole && kernel_.array(operand.whole->access.array).space == Space::registers;
    const bool scattered = !operand.whole && operand.part == 1;
    if (held || (scattered && lanes * size_of(node(id).type) > kWidest)) return;
    const auto array = add_registers("in_" + name_of(node(id).source), node(id).type, lanes);
    if (operand.whole) {
      body.push_back({Define{array, *operand.whole}});
    } else if (!scattered) {
      body.push_back({Declare{array}});
      body.push_back(each_part(array, operand));
    } else {
      body.push_back({Declare{array}});
      body.push_back(each_element(
          "v", lanes, [&](const Affine& v) -> Body { return {{Store{registers(array, {}, v), operand.at(v)}}}; }));
    }
    operand = in_registers(array, {});
  }

  /// Elements that are wider than one access, as where they are converted to narrower ones: a vector for each part.
  Statement each_part(int array, const Operand& operand) {
    const int lanes = operand.part;
    return each_element("p", kernel_.array(array).lanes / lanes, [&](const Affine& p) -> Body {
      auto neighbours = operand.at(lanes * p);
      neighbours.access.lanes = lanes;
      const auto part = add_registers("part", kernel_.array(array).type, lanes);
      return {{Define{part, neighbours}}, each_element("v", lanes, [&](const Affine& v) -> Body {
                return {{Store{registers(array, {}, lanes * p + v), load(registers(part, {}, v))}}};
              })};
    });
  }

  /// Whether results leave by nontemporal stores.
  bool nontemporal(const Access& to) const {
    return moves_.streaming && leaves_at_once(kernel_.array(to.array), to.lanes);
  }

  /// Stores a vector; at the cut ends of a skewed tile, the elements inside the row.
  Body store_vector(const MappedTile& mapped, int vector, const Access& to) {
    const Statement whole{Store{to, load(registers(vector, {})), nontemporal(to)}};
    if (!moves_.skew.on()) return {whole};
    const int q = moves_.skew.index, lanes = mapped.mapping().vector;
    const auto place = tile_.origin_of(q) + mapped.inner(q);
    const auto lead = tile_.lead(q), end = tile_.index(q).extent + lead;
    const auto ends = each_element("v", lanes, [&](const Affine& v) {
      auto element = access(to.array, to.index.front() + v, 1);
      return where({{-1 * (place + v), 1 - lead}, {place + v, end}},
                   {{Store{element, load(registers(vector, {}, v))}}});
    });
    return where({{-1 * place, 1 - lead}, {place, end - lanes + 1}}, {whole}, {ends});
  }

  template <class Leaf>
  Value value(NodeId id, Leaf leaf) const {
    return value_of(program_, id, leaf);
  }

  // ---- the exchange within each warp

  void exchange(Body& body) {
    const auto& stage = *moves_.stage;
    MappedTile reads(tile_, stage.mapping, nullptr);
    Section reading{fmt::format("read {} along {}", name_of(node(stage.load).source), reads.first_name()),
                    reads.outer_names()};
    std::vector<std::int64_t> shape;
    if (reads.rounds() > 1) shape.push_back(reads.rounds());
    const auto kept = add_registers("kept", node(stage.load).type, stage.mapping.vector, std::move(shape));
    auto loads = kept_loads(kept, stage.load, reads);
    append(reading.body, std::move(loads));
    // All lanes take part in the exchange, also with what they have not read.
    body.push_back({Declare{kept, !reads.guard().empty()}, line_of(kernel_, {"stage"})});
    body.push_back({std::move(reading), line_of(kernel_, {"stage"})});

    MappedTile writes(tile_, moves_.mapping, nullptr);
    WarpExchange exchange(tile_, kept);
    Section writing{fmt::format("{}write {} along {}", exchange.shuffles() ? "exchange within the warp, " : "",
                                name_of(statement().buffer), writes.first_name()),
                    writes.outer_names()};
    const bool loops = writes.rounds() > 1;
    const auto u = loops ? Affine::of(writes.round()) : Affine();
    const auto lanes = moves_.mapping.vector;
    const auto v = lanes > 1 ? Affine::of(kernel_.add_var(tile_.fresh("v"), lanes)) : Affine();
    if (const auto sources = exchange.regular(u, v); !sources.empty()) {
      // Every round has the same shuffles, or a register that its number says.
      auto round = exchanged(writes, u, [&](int in) -> Body {
        auto element = exchange.exchanged(writes, v, sources, lane(in, v));
        if (lanes > 1) return {loop_over(v.terms.front().var, Bind::unroll, std::move(element))};
        return in_section(std::move(element));
      });
      if (loops) round = {loop_over(writes.round(), Bind::unroll, std::move(round))};
      append(writing.body, std::move(round));
    } else {
      for (std::int64_t k = 0; k < writes.rounds(); ++k) {
        auto round = exchanged(writes, k, [&](int in) {
          Body elements;
          for (int e = 0; e < lanes; ++e)
            append(elements, in_section(exchange.exchanged(writes, e, exchange.sources(k, e), lane(in, e))));
          return elements;
        });
        writing.body.push_back({Section{"", std::move(round)}});
      }
    }
    body.push_back({std::move(writing), line_of(kernel_, {"write"})});
  }

  /// One round of the exchange, and what it writes. elements(in): what gives `in`, registers, its elements.
  template <class F>
  Body exchanged(MappedTile& writes, const Affine& u, F&& elements) {
    Body round = writes.names(u);
    const auto in = add_registers("in", node(moves_.stage->load).type, moves_.mapping.vector);
    round.push_back({Declare{in}});
    append(round, elements(in));
    Operands operands;
    for (const auto id : loads_) operands[id] = is_staged(id) ? in_registers(in, {}) : in_memory(id, writes);
    append(round, where(writes.guard(), stored(writes, operands)));
    return round;
  }
  /// A section where there may be names.
  static Body in_section(Body body) {
    if (body.size() == 1) return body;
    return {{Section{"", std::move(body)}}};
  }
  Access lane(int array, const Affine& v) const {
    return registers(array, {}, kernel_.array(array).lanes > 1 ? std::optional(v) : std::nullopt);
  }

  const ir::Program& program_;
  const Moves& moves_;
  Kernel kernel_;
  Tile tile_;
  Var block_ = -1, part_ = -1;
  int shared_ = -1;
  std::vector<NodeId> loads_ = loads_of(program_);
};

/// With a stage in registers whose elements pass between warps as one in shared memory.
Moves through_memory(Moves moves) {
  if (!moves.stage || moves.stage->memory != StageMemory::registers) return moves;
  if (moves.mapping.workers == 1) throw PlanError("schedule: write: on a GPU registers belong to whole warps");
  auto between = layout_between_warps(moves);
  if (!between) return moves;
  moves.stage->memory = StageMemory::shared;
  moves.stage->layout = std::move(*between);
  return moves;
}

}  // namespace

Kernel build_permute(const ir::Program& program, const Moves& moves) {
  verify(moves, program);
  auto kernel = Builder(program, through_memory(moves), moves).run();
  verify(kernel);
  return kernel;
}

Kernel build_moves(const ir::Program& program, Directives directives, Target target, std::size_t count) {
  const auto added = take_added(directives, count);
  const auto moves = moves_of(program, std::move(directives), count);
  const bool waits = moves.stage && moves.stage->memory == StageMemory::shared;
  auto kernel = target == Target::cuda ? build_permute(program, moves)
                : waits                ? build_permute_staged(program, moves)
                                       : build_permute_cpu(program, moves);
  return added.empty() ? kernel : rewritten(std::move(kernel), added);
}

}  // namespace ricci::kernel
