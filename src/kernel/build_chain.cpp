// A chain of two products as native statements: what all kernels of them have.
#include "kernel/build_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <utility>

#include "kernel/chain_builder.hpp"
#include "kernel/expand.hpp"
#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using ir::NodeId;
using ir::OpCode;

namespace {

constexpr int kMembers = 4;  // lanes that have a row of an accumulator

Value element(int array, std::vector<Affine> index, DType type = DType::f32) {
  return load_of(type, {array, std::move(index)});
}
/// Whether a condition fails for all columns behind one.
bool ends(const Chain& chain, const Condition& condition) { return condition.value.coefficient(chain.columns) > 0; }

}  // namespace

ChainBuilder::ChainBuilder(const ir::Program& program, const Chain& chain, const ChainTiles& tiles)
    : ChainValues(chain),
      program_(chain.program),
      tiles_(tiles),
      kernel_(kernel_of(program, Target::cuda)),
      row_tiles_(tiles.rows / tiles.warps / kM),
      score_tiles_(tiles.columns / kN),
      value_tiles_(extent(chain.values) / kN),
      rounds_((extent(chain.columns) + tiles.columns - 1) / tiles.columns),
      ragged_rows_(extent(chain.rows) % tiles.rows != 0),
      ragged_columns_(extent(chain.columns) % tiles.columns != 0),
      names_(program) {
  kernel_.threads = kWarp * tiles.warps;
  kernel_.blocks = tiles.blocks;
}

Kernel ChainBuilder::build() {
  int loops = 0;
  const auto task = [&](const std::string& name, std::int64_t count) {
    const auto var = kernel_.add_var(name, std::max<std::int64_t>(count, 1));
    body_.open(Loop{.var = var, .bind = Bind::task, .body = {}});
    ++loops;
    return Affine::of(var);
  };
  auto body = body_.collect([&] {
    for (const int q : chain_.batch) places_[nth(q)] = task(program_.indices[nth(q)].name, extent(q));
    const auto tiles = (extent(chain_.rows) + tiles_.rows - 1) / tiles_.rows;
    const auto tile = task(name(chain_.rows, "_tile"), tiles);
    // Blocks with most rounds begin first.
    row_tile_ = loop_ends() ? Affine(tiles - 1) - tile : tile;
    thread_ = kernel_.add_var("t", kernel_.threads);
    body_.open(Loop{.var = thread_, .bind = Bind::thread, .body = {}});
    ++loops;
    warp_ = digit("warp", kWarp, 0);
    group_ = digit("group", kMembers, kWarp / kMembers);
    member_ = digit("member", 1, kMembers);
    fragments();
    declare();
    rounds();
    results();
    body_.close(loops);
  });
  kernel_.body = std::move(body);
  return std::move(kernel_);
}

Affine ChainBuilder::digit(const char* what, std::int64_t divisor, std::int64_t modulus) {
  const auto var =
      kernel_.add_var(names_.fresh(what), modulus > 0 ? modulus : (kernel_.threads + divisor - 1) / divisor);
  body_.add(Let{var, Affine::of(thread_), divisor, modulus});
  return Affine::of(var);
}

int ChainBuilder::registers(const std::string& stem, DType type, std::vector<std::int64_t> shape, int lanes) {
  Array array;
  array.name = names_.fresh(stem);
  array.type = type;
  array.space = Space::registers;
  array.shape = std::move(shape);
  array.lanes = lanes;
  return kernel_.add_array(std::move(array));
}

const std::string& ChainBuilder::inner(const std::string& stem) {
  auto& name = inner_names_[stem];
  if (name.empty()) name = names_.fresh(stem);
  return name;
}

Affine ChainBuilder::row(const Affine& tile, const Affine& half) const {
  return tiles_.rows * row_tile_ + (tiles_.rows / tiles_.warps) * warp_ + kM * tile + kM / 2 * half + group_;
}

Affine ChainBuilder::inside(Affine value, int q, bool ragged, int number) {
  if (!ragged) return value;
  const auto stem = program_.indices[nth(q)].name + (number > 0 ? "_beside" : "_inside");
  Let let{kernel_.add_var(inner(stem), extent(q)), std::move(value)};
  let.most = extent(q) - 1;
  body_.add(let);
  return Affine::of(let.var);
}

void ChainBuilder::declare() {
  const auto begin = [&](int array, std::optional<double> value) {
    body_.add(Declare{array, !value});
    if (!value) return;
    each_row([&](const Affine& i, const Affine& half) { body_.add(Store{{array, {i, half}}, number(*value)}); });
  };
  most_ = registers("most", DType::f32, {row_tiles_, 2});
  begin(most_, -std::numeric_limits<double>::infinity());
  shift_ = registers("shift", DType::f32, {row_tiles_, 2});
  begin(shift_, 0.0);
  for (std::size_t k = 0; k < chain_.sums.size(); ++k) {
    sums_.push_back(registers("sum", DType::f32, {row_tiles_, 2}));
    begin(sums_.back(), std::nullopt);
  }
  product_ = registers("product", DType::f32, {row_tiles_, value_tiles_, 4});
  body_.add(Declare{product_, true});
  y_ = {.load = chain_.y, .along_index = chain_.depth, .along = extent(chain_.depth)};
  v_ = {.load = chain_.v, .along_index = chain_.values, .along = extent(chain_.values)};
  for (auto* staged : {&y_, &v_}) stage(*staged);
  prepare();
}

Affine ChainBuilder::reached(const Condition& condition, const Affine& round, bool largest) const {
  Affine sum(condition.value.constant);
  for (const auto& [q, times] : condition.value.terms) {
    const bool end = (times > 0) == largest;
    if (q == chain_.rows) {
      sum = sum + times * (tiles_.rows * row_tile_ + Affine(end ? tiles_.rows - 1 : 0));
    } else if (q == chain_.columns) {
      sum = sum + times * (tiles_.columns * round + Affine(end ? tiles_.columns - 1 : 0));
    } else {
      sum = sum + times * places_[nth(q)];
    }
  }
  return sum;
}

bool ChainBuilder::loop_ends() const {
  return std::any_of(chain_.when.begin(), chain_.when.end(), [&](const auto& one) { return ends(chain_, one); });
}

std::vector<Condition> ChainBuilder::begun(const Affine& round) const {
  std::vector<Condition> when;
  for (const auto& condition : chain_.when) {
    if (ends(chain_, condition)) when.push_back({reached(condition, round, false), condition.below});
  }
  return when;
}

void ChainBuilder::copied_if(const Affine& round, const Affine& place, std::vector<Condition> when) {
  for (auto& condition : begun(round)) when.push_back(std::move(condition));
  copied(round, place, std::move(when));
}

void ChainBuilder::rounds() {
  const std::int64_t ahead = tiles_.stages - 1;
  for (std::int64_t k = 0; k < ahead; ++k) {
    if (k < rounds_) copied_if(Affine(k), Affine(k), {});
    committed();
  }
  const auto var = kernel_.add_var(name(chain_.columns, "0"), rounds_);
  const auto round = Affine::of(var);
  Loop loop{.var = var, .bind = Bind::serial, .body = {}};
  loop.when = begun(round);
  body_.open(std::move(loop));
  const auto turn = [&](const char* what, const Affine& of, int modulus) {
    const auto place = kernel_.add_var(names_.fresh(what), tiles_.stages);
    body_.add(Let{place, of, 1, modulus});
    return Affine::of(place);
  };
  const auto place = turn("place", round, tiles_.stages);
  // NVRTC 13.0 spells out all rounds where both of two places are remainders, against the pragma.
  const auto next = tiles_.stages == 2 ? turn("next_place", Affine(1) - place, 0)
                                       : turn("next_place", round + Affine(ahead), tiles_.stages);
  awaited(round, place, [&] {
    if (rounds_ > ahead) copied_if(round + Affine(ahead), next, {{round, rounds_ - ahead}});
  });
  scores(place);
  transformed(round);
  maxima();
  multiplied(round, place);
  body_.close();
}

Affine ChainBuilder::column(const Affine& round, const Affine& j, const Affine& e) const {
  return tiles_.columns * round + kN * j + 2 * member_ + e;
}

void ChainBuilder::transformed(const Affine& round) {
  const auto each = [&](const auto& write) {
    each_row([&](const Affine& i, const Affine& half) {
      unrolled(std::array{std::pair{"j", score_tiles_}, std::pair{"e", std::int64_t{2}}},
               [&](const Affine& j, const Affine& e) { write(i, half, j, e); });
    });
  };
  if (chain_.least != chain_.scores && !chain_.factor) {
    each([&](const Affine& i, const Affine& half, const Affine& j, const Affine& e) {
      const Access score{scores_, {i, j, 2 * half + e}};
      known_ = {{chain_.scores, load_of(DType::f32, score)}};
      places_[nth(chain_.rows)] = uses(chain_.least, chain_.rows) ? row_inside(i, half) : Affine(0);
      places_[nth(chain_.columns)] =
          uses(chain_.least, chain_.columns) ? inside(column(round, j, e), chain_.columns, ragged_columns_) : Affine(0);
      body_.add(Store{score, value(chain_.least)});
    });
  }
  auto conditions = chain_.when;
  if (ragged_columns_) conditions.push_back({Affine::of(chain_.columns), extent(chain_.columns)});
  for (const auto& condition : conditions) {
    body_.open(If{{{-1 * reached(condition, round, true), 1 - condition.below}}, {}, {}});
    each([&](const Affine& i, const Affine& half, const Affine& j, const Affine& e) {
      Affine sum(condition.value.constant);
      for (const auto& [q, times] : condition.value.terms) {
        sum = sum + times * (q == chain_.rows      ? row(i, half)
                             : q == chain_.columns ? column(round, j, e)
                                                   : places_[nth(q)]);
      }
      body_.open(If{{{-1 * sum, 1 - condition.below}}, {}, {}});
      body_.add(Store{{scores_, {i, j, 2 * half + e}}, number(-std::numeric_limits<double>::infinity())});
      body_.close();
    });
    body_.close();
  }
}

Value ChainBuilder::subtracted(const Value& maximum) {
  known_ = {{chain_.maximum, maximum}};
  auto rounded = value(chain_.node(chain_.node(chain_.exponential).operand[0]).operand[1]);
  return unless_none(maximum, number(0), std::move(rounded));
}

double ChainBuilder::exponent_factor() const { return std::numbers::log2e * chain_.factor.value_or(1); }

Value ChainBuilder::maximum_of(Value scores) const {
  return chain_.factor ? binary(OpCode::mul, number(*chain_.factor), std::move(scores)) : scores;
}

void ChainBuilder::maxima() {
  const auto top = registers("top", DType::f32, {}), factor = registers("factor", DType::f32, {});
  const auto shift = registers("shifted", DType::f32, {});
  each_row([&](const Affine& i, const Affine& half) {
    const Access now{top, {}}, most{most_, {i, half}}, shifts{shift_, {i, half}};
    body_.add(Define{top, load_of(DType::f32, most)});
    unrolled(std::array{std::pair{"j", score_tiles_}, std::pair{"e", std::int64_t{2}}},
             [&](const Affine& j, const Affine& e) {
               body_.add(Store{now, greatest(load_of(DType::f32, now), element(scores_, {i, j, 2 * half + e}))});
             });
    body_.add(LaneReduce{now, OpCode::maximum, kMembers});
    auto exponent = binary(OpCode::mul, subtracted(load_of(DType::f32, now)), number(-exponent_factor()));
    body_.add(Define{shift, std::move(exponent)});
    // Before the first round there is nothing that is multiplied.
    auto grown = power_of_two(binary(OpCode::sub, element(shift, {}), load_of(DType::f32, shifts)));
    body_.add(Define{factor, unless_none(load_of(DType::f32, most), number(0), std::move(grown))});
    body_.add(Store{shifts, element(shift, {})});
    body_.add(Store{most, load_of(DType::f32, now)});
    for (const int sum : sums_) {
      const Access to{sum, {i, half}};
      body_.add(Store{to, binary(OpCode::mul, load_of(DType::f32, to), element(factor, {}))});
    }
    unrolled(std::array{std::pair{"j", value_tiles_}, std::pair{"e", std::int64_t{2}}},
             [&](const Affine& j, const Affine& e) {
               const Access to{product_, {i, j, 2 * half + e}};
               body_.add(Store{to, binary(OpCode::mul, load_of(DType::f32, to), element(factor, {}))});
             });
  });
}

void ChainBuilder::weigh(const Affine& round, const Affine& i, const Affine& half, const Affine& step,
                         const Affine& right) {
  const auto type = chain_.node(chain_.v).type;
  const auto tile = 2 * step + right;
  std::array<std::map<NodeId, Value>, 2> of;
  std::vector<Value> weights;
  known_ = {{chain_.exponential, Value()}};  // for what terms read beside it
  places_[nth(chain_.rows)] = terms_use(chain_.rows) ? row_inside(i, half) : Affine(0);
  const bool of_columns = terms_use(chain_.columns);
  std::array<Affine, 2> columns;
  for (const int e : {0, 1}) {
    if (of_columns) columns[nth(e)] = inside(column(round, tile, Affine(e)), chain_.columns, ragged_columns_, e);
    places_[nth(chain_.columns)] = columns[nth(e)];
    known_.clear();
    auto exponent = binary(OpCode::mul, element(scores_, {i, tile, 2 * half + Affine(e)}), number(exponent_factor()));
    const auto power = registers("power", DType::f32, {});
    body_.add(Define{power, power_of_two(binary(OpCode::add, std::move(exponent), element(shift_, {i, half})))});
    known_[chain_.exponential] = element(power, {});
    if (chain_.parts > 1 && !known_.contains(chain_.weights)) {
      const auto weight = registers("whole", DType::f32, {});
      body_.add(Define{weight, value(chain_.weights)});
      known_[chain_.weights] = element(weight, {});
    }
    weights.push_back(value(chain_.weights));
    of[nth(e)] = known_;
  }
  const Access to{weights_, {i, half + 2 * right}, 2};
  const auto lane = [&](int e) {
    auto weight = load_of(type, to);
    weight.access.lane = Affine(e);
    return weight;
  };
  if (chain_.parts > 1) {
    body_.add(Store{to, pair_of(type, cast(weights[0], type), cast(weights[1], type))});
    const auto left = [&](int e) {
      return cast(binary(OpCode::sub, weights[nth(e)], cast(lane(e), DType::f32)), type);
    };
    body_.add(Store{{rests_, to.index, 2}, pair_of(type, left(0), left(1))});
  } else {
    body_.add(Store{to, pair_of(type, std::move(weights[0]), std::move(weights[1]))});
  }
  for (const int e : {0, 1}) {
    known_ = of[nth(e)];
    places_[nth(chain_.columns)] = columns[nth(e)];
    if (chain_.parts == 1) known_[chain_.weights] = lane(e);
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const Access sum{sums_[k], {i, half}};
      body_.add(Store{sum, binary(OpCode::add, load_of(DType::f32, sum), value(chain_.term(chain_.sums[k])))});
    }
  }
}

void ChainBuilder::weigh(const Affine& round, const Affine& step, int weights, int rests) {
  weights_ = weights;
  rests_ = rests;
  body_.add(Declare{weights_});
  if (chain_.parts > 1) body_.add(Declare{rests_});
  each_row([&](const Affine& i, const Affine& half) {
    unrolled(std::array{std::pair{"right", std::int64_t{2}}},
             [&](const Affine& right) { weigh(round, i, half, step, right); });
  });
}

bool ChainBuilder::terms_use(int index) const {
  if (uses(chain_.weights, index)) return true;
  return std::any_of(chain_.sums.begin(), chain_.sums.end(), [&](NodeId sum) { return uses(chain_.term(sum), index); });
}

void ChainBuilder::results() {
  const auto& statement = program_.statement();
  const auto type = program_.buffers[nth(statement.buffer)].type;
  each_row([&](const Affine& i, const Affine& half) {
    for (const int sum : sums_) body_.add(LaneReduce{{sum, {i, half}}, OpCode::add, kMembers});
  });
  const bool pairs = statement.offset.coefficient[nth(chain_.values)] == 1 && is_vector();
  each_row([&](const Affine& i, const Affine& half) {
    const auto place = row(i, half);
    if (ragged_rows_) body_.open(If{{{place, extent(chain_.rows)}}, {}, {}});
    places_[nth(chain_.rows)] = place;
    unrolled(std::array{std::pair{"j", value_tiles_}}, [&](const Affine& j) {
      std::vector<Value> made;
      std::vector<Affine> to;
      for (const int e : {0, 1}) {
        known_ = {{chain_.product, element(product_, {i, j, 2 * half + Affine(e)})},
                  {chain_.maximum, maximum_of(element(most_, {i, half}))}};
        for (std::size_t k = 0; k < sums_.size(); ++k) known_[chain_.sums[k]] = element(sums_[k], {i, half});
        places_[nth(chain_.values)] = kN * j + 2 * member_ + Affine(e);
        to.push_back(offset(statement.offset));
        made.push_back(value(statement.value));
      }
      if (pairs) {
        Value pair;
        pair.kind = Value::Kind::pack;
        pair.type = type;
        pair.operands = std::move(made);
        body_.add(Store{{statement.buffer, {to.front()}, 2}, std::move(pair)});
      } else {
        for (const int e : {0, 1}) body_.add(Store{{statement.buffer, {to[nth(e)]}}, std::move(made[nth(e)])});
      }
    });
    if (ragged_rows_) body_.close();
  });
}

bool ChainBuilder::is_vector() const {
  const auto& statement = program_.statement();
  const auto& buffer = program_.buffers[nth(statement.buffer)];
  const auto& offset = statement.offset;
  bool even = buffer.alignment % (2 * size_of(buffer.type)) == 0 && offset.constant % 2 == 0;
  for (std::size_t q = 0; q < offset.coefficient.size(); ++q)
    even = even && (static_cast<int>(q) == chain_.values || offset.coefficient[q] % 2 == 0);
  return even;
}

Kernel build_chain(const ir::Program& program, const Chain& chain, const Directives& directives, Target target,
                   std::size_t count) {
  if (target != Target::cuda) throw PlanError("schedule: chains of two products are kernels for a GPU");
  const auto tiles = chain_tiles(chain, directives);
  if (const auto rule = chain_layout_fault(chain); !rule.empty()) throw PlanError("schedule: " + rule);
  if (const auto rule = tiles.groups ? chain_group_fault(chain, tiles) : ""; !rule.empty())
    refuse(directives.back(), rule);
  const auto stated = chain_directives(chain, tiles);
  for (std::size_t k = 0; k < directives.size(); ++k) {
    if (k >= stated.size() || directives[k] != stated[k])
      refuse(directives[k], k < stated.size() ? fmt::format("a chain has \"{}\" there", print(stated[k]))
                                              : "nothing stands behind the atoms");
  }
  if (tiles.rows % (kChainRows * tiles.warps) != 0)
    refuse(directives.front(), "rows of a warp are those of whole atoms");
  auto kernel = count < directives.size() ? kernel_of(program, target)
                                          : (tiles.groups ? group_chain : warp_chain)(program, chain, tiles)->build();
  for (std::size_t k = 0; k < std::min(count, directives.size()); ++k)
    kernel.directives.push_back(print(directives[k]));
  verify(kernel);
  if (kernel.tasks() > kMostBlocks) throw PlanError("schedule: more blocks than a launch takes (2^31 - 1)");
  return kernel;
}

}  // namespace ricci::kernel
