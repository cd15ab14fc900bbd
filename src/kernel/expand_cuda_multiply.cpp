// Products of a block's tile: fragments out of shared memory, and the atom's instruction, or fused multiply-adds.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernel/depth_order.hpp"
#include "kernel/expand_cuda.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel::cuda {
namespace {

constexpr std::int64_t kMatrixRows = 8, kMatrixBytes = 16;  // bytes of a row

/// Registers of real numbers. Of tf32 in two parts each number is the sum of both.
struct Numbers {
  int registers = -1, rest = -1;
};

/// One operand: its side of the tile, where it lies, and the registers that it is read into.
struct Operand {
  bool first;
  Access base;               ///< of position 0
  std::int64_t along, deep;  ///< strides
  bool crossed = false;      ///< positions along the depth have no one stride
  Layout order;              ///< of the depth, where they do not
  Affine of_block;           ///< elements before a block of it that a loop counts
  const Side* side;
  const Fragment* fragment;
  Affine warp;
  Affine lane;         ///< the lane's positions along the side
  Affine deep_lane;    ///< elements before its positions along the depth
  DType type;          ///< of its elements in shared memory
  Numbers numbers;     ///< of complex factors the real parts
  Numbers imag;        ///< of complex factors
  Numbers minus;       ///< the imaginary part of a complex second factor, negated
  int sums = -1;       ///< of both parts of complex factors, where three real products are one of theirs
  int unrounded = -1;  ///< as they are read, a step before they are rounded
};

class Multiplier {
 public:
  Multiplier(Threads& threads, const Mma& mma, const WarpTile& tile)
      : threads_(threads),
        kernel_(threads.kernel),
        mma_(mma),
        tile_(tile),
        type_(kernel_.array(mma.accumulator).type),
        complex_(!tile.fma() && is_complex(kernel_.array(mma.a.array).type)) {}

  /// What a round does for the next one, whose first fragments it reads into registers of their own.
  struct Prefetch {
    const FragmentsAhead& registers;
    const Mma& next;
    Body fence, then;  ///< before those fragments, and behind them
  };

  /// Registers for the first fragments of a round, and what reads them.
  Body first_fragments(FragmentsAhead& registers) {
    if (const auto products = tile_.rows.atoms() * tile_.columns.atoms() * (mma_.products == 3 ? 3 : 1);
        !tile_.fma() && products < kLeastPrefetched)
      throw PlanError(
          fmt::format("schedule: a prefetch of fragments of {} products of a warp in a step, not {} or more", products,
                      kLeastPrefetched));
    Body all;
    for (const bool first : {true, false}) {
      auto x = operand(first);
      if (rounded(x) || mma_.parts > 1)
        throw PlanError(fmt::format("schedule: a prefetch of fragments of {}, which are no numbers as they are read",
                                    kernel_.array(mma_.accumulator).name));
      const std::string side = first ? "a" : "b";
      const auto declared = [&](const std::string& name) {
        const auto number = threads_.registers(side + name, tile_.fma() || complex_ ? type_ : x.type, fragment_shape(x),
                                               x.fragment->per_register());
        all.push_back({Declare{number}});
        return number;
      };
      auto& to = registers[first ? 0 : 1];
      to.numbers = declared("_next");
      if (complex_) to.imag = declared("_next_imag");
      append(all, with_depth(Affine(0), [&] { return loaded_to(x, to); }));
    }
    return all;
  }

  Body run(std::vector<Body> between, Prefetch* prefetch = nullptr, int texts = 1) {
    auto a = operand(true), b = operand(false);
    const auto steps = tile_.depth.block() / tile_.depth.per_atom;
    const auto blocks = tile_.depth.blocks();
    const auto outer = threads_.loop_var("k", blocks);
    depth_ = blocks > 1 ? Affine::of(outer) : Affine(0);
    Body all, body;
    for (auto* x : {&a, &b}) {
      if (x->crossed && blocks > 1) {
        x->of_block = block_place(x->order, tile_.depth, [&](std::int64_t divisor, std::int64_t modulus) {
          return threads_.let(body, x->first ? "k_of_a" : "k_of_b", depth_, divisor, modulus);
        });
      }
      const auto shape = fragment_shape(*x);
      const auto declared = [&](const std::string& name, const std::string& rest) {
        Numbers numbers;
        const auto of = tile_.fma() || complex_ ? type_ : x->type;
        numbers.registers = threads_.registers(name, of, shape, x->fragment->per_register());
        body.push_back({Declare{numbers.registers}});
        if (mma_.parts == 1) return numbers;
        numbers.rest = threads_.registers(rest, of, shape);
        body.push_back({Declare{numbers.rest}});
        return numbers;
      };
      const std::string side = x->first ? "a" : "b";
      x->numbers = declared(side + "_part", side + "_rest");
      if (complex_) x->imag = declared(side + "_imag", side + "_imag_rest");
      if (complex_ && mma_.products == 4 && !x->first) x->minus = declared("b_minus_imag", "b_minus_imag_rest");
      if (complex_ && mma_.products == 3) {
        x->sums = threads_.registers(side + "_sum", type_, shape);
        body.push_back({Declare{x->sums}});
      }
      if (prefetch != nullptr) {
        const auto& ahead = prefetch->registers[x->first ? 0 : 1];
        if (complex_) {
          append(body, copied(*x, ahead));
          if (blocks > 1)
            body.push_back(
                {If{{{depth_, blocks - 1}}, with_depth(depth_ + Affine(1), [&] { return loaded_to(*x, ahead); }), {}}});
          continue;
        }
        Body other = loaded(*x), first = copied(*x, ahead);
        if (blocks == 1) {
          append(body, std::move(first));
        } else {
          body.push_back({If{{{depth_, 1}}, std::move(first), std::move(other)}});
        }
        continue;
      }
      if (!rounded(*x)) {
        append(body, loaded(*x));
        continue;
      }
      // What is rounded was read a step before, while products ran.
      const auto reads = reads_of(tile_, x->first, x->along, x->deep, x->type);
      x->unrounded = threads_.registers(x->first ? "a_ahead" : "b_ahead", x->type,
                                        {x->side->blocks(), x->side->block() * tile_.depth.block() / reads.width()},
                                        reads.width());
      all.push_back({Declare{x->unrounded}});
      append(all, with_depth(Affine(0), [&] { return fetched(*x); }));
      append(body, converted(*x));
    }
    if (blocks > 1 && rounded(a)) {
      Body next;
      for (const auto* x : {&a, &b}) append(next, with_depth(depth_ + Affine(1), [&] { return fetched(*x); }));
      body.push_back({If{{{depth_, blocks - 1}}, std::move(next), {}}});
    }
    if (prefetch != nullptr) append(body, where(only(depth_, blocks - 1, blocks), next_fragments(*prefetch)));
    for (std::size_t k = 0; k < between.size(); ++k) {
      const auto step = std::min(static_cast<std::int64_t>(k), static_cast<std::int64_t>(blocks - 1));
      append(body, where(only(depth_, step, blocks), std::move(between[k])));
    }
    const auto i = threads_.loop_var("i", a.side->atoms()), j = threads_.loop_var("j", b.side->atoms());
    Body products;
    for (int step = 0; step < steps; ++step) {
      const std::vector<Affine> row = {Affine(step), Affine::of(i)}, column = {Affine(step), Affine::of(j)};
      const auto product = [&](const Access& sum, const Numbers& of_a, const Numbers& of_b, Body& to) {
        // The smallest products first.
        if (mma_.parts > 1) {
          to.push_back({MmaCall{mma_.atom, sum, {of_a.rest, row}, {of_b.registers, column}}});
          to.push_back({MmaCall{mma_.atom, sum, {of_a.registers, row}, {of_b.rest, column}}});
        }
        to.push_back({MmaCall{mma_.atom, sum, {of_a.registers, row}, {of_b.registers, column}}});
      };
      const Access sum{mma_.accumulator, {Affine::of(i), Affine::of(j)}};
      if (complex_) {
        const auto part = [&](int number) {
          return Access{mma_.accumulator, {Affine(number), Affine::of(i), Affine::of(j)}};
        };
        if (mma_.products == 3) {
          product(part(0), a.numbers, b.numbers, products);
          product(part(1), a.imag, b.imag, products);
          product(part(2), {a.sums}, {b.sums}, products);
          continue;
        }
        // Instructions negate no operand, so that the minus is in a copy of one.
        product(part(0), a.numbers, b.numbers, products);
        product(part(1), a.numbers, b.imag, products);
        product(part(0), a.imag, b.minus, products);
        product(part(1), a.imag, b.numbers, products);
        continue;
      }
      if (!tile_.fma()) {
        product(sum, a.numbers, b.numbers, products);
        continue;
      }
      const auto value = [&](const Access& access, bool conj) {
        auto v = load_of(type_, access);
        return conj ? apply(ir::OpCode::conj, type_, {std::move(v)}) : v;
      };
      auto multiplied = term_of(mma_, type_, value({a.numbers.registers, row}, mma_.conj_a),
                                value({b.numbers.registers, column}, mma_.conj_b));
      if (!mma_.outer) multiplied = apply(mma_.combine, type_, {load_of(type_, sum), std::move(multiplied)});
      // An extremum begins with an infinity, and what is no number leaves it.
      multiplied.never_nan = true;
      products.push_back({Store{sum, std::move(multiplied)}});
    }
    if (a.sums >= 0) {
      // Additions between products, as both take turns at one pipe: a column's before its products.
      append(body, threads_.unrolled(i, parts_added(a, Affine::of(i))));
      auto column = parts_added(b, Affine::of(j));
      append(column, threads_.unrolled(i, std::move(products)));
      append(body, threads_.unrolled(j, std::move(column)));
    } else {
      append(body, threads_.unrolled(i, threads_.unrolled(j, std::move(products))));
    }
    if (blocks == 1) {
      append(all, std::move(body));
      return all;
    }
    Loop loop{outer, Bind::unroll, {}, std::move(body)};
    const auto times = steps_together(kernel_, mma_, tile_, prefetch != nullptr, texts);
    if (times < blocks) loop.times = static_cast<int>(times);
    all.push_back({std::move(loop)});
    return all;
  }

  /// Registers for fragments of the first operand, of single steps of the depth.
  std::vector<int> registers_of_steps(int count) {
    const auto x = operand(true);
    std::vector<int> all;
    for (int k = 0; k < count; ++k) {
      const auto number =
          threads_.registers(fmt::format("a_step{}", k), x.type, fragment_shape(x), x.fragment->per_register());
      kernel_.arrays[static_cast<std::size_t>(number)].tf32 = rounded(x);
      all.push_back(number);
    }
    return all;
  }
  /// Fills them.
  Body step(int number, int registers) {
    auto x = operand(true);
    x.numbers.registers = registers;
    return with_depth(Affine(number), [&] { return loaded(x); });
  }

  Operand operand(bool first) const {
    Operand x;
    x.first = first;
    x.base = first ? mma_.a : mma_.b;
    const auto& digits = first ? mma_.rows : mma_.columns;
    x.along = stride_of(kernel_, x.base, digits);
    const auto order = depth_order(kernel_, x.base, mma_.depth);
    x.crossed = order.count > 1;
    x.deep = x.crossed ? 0 : order.modes.front().step;
    for (const auto* list : {&digits, &mma_.depth}) {
      for (const auto& digit : *list) x.base = with(x.base, digit.var, 0);
    }
    x.type = kernel_.array(x.base.array).type;
    x.side = first ? &tile_.rows : &tile_.columns;
    x.fragment = first ? &tile_.atom->a : &tile_.atom->b;
    x.warp = first ? threads_.warp_row : threads_.warp_column;
    const auto held = first ? tile_.a() : tile_.b();
    x.lane = first ? threads_.lane_position(held, 0, "row") : threads_.lane_position(held, 1);
    const int deep = first ? 1 : 0;
    if (!x.crossed) {
      x.deep_lane = x.deep * threads_.lane_position(held, deep);
      return x;
    }
    if (x.fragment->per_register() > 1 || rounded(x) || complex_ || !ends_with_lanes(order, tile_.depth))
      throw PlanError(fmt::format("schedule: the depth of {} in an order of its own, which no lane's elements follow",
                                  kernel_.array(x.base.array).name));
    x.order = order;
    x.deep_lane = threads_.lane_position(composed(held, deep, order), deep, "member");
    return x;
  }

 private:
  /// Elements before position `q` of the lanes' first ones, in block number `depth_`.
  Affine deep_place(const Operand& x, int q) const {
    const auto position = tile_.depth.position(Affine(0), depth_, q);
    if (!x.crossed) return x.deep * position;
    return Affine(x.order.at({.memory = position.constant})[0]) + (position.terms.empty() ? Affine(0) : x.of_block);
  }

  std::vector<std::int64_t> fragment_shape(const Operand& x) const {
    std::vector<std::int64_t> shape = {tile_.depth.block() / tile_.depth.per_atom, x.side->atoms()};
    if (!tile_.fma()) shape.push_back(x.fragment->registers());
    return shape;
  }

  /// An operand's fragments into registers that are read from later.
  Body loaded_to(Operand x, const FragmentAhead& registers) {
    x.numbers.registers = registers.numbers;
    x.imag.registers = registers.imag;
    x.minus = {};
    return loaded(x);
  }
  /// An operand's fragments out of registers that hold the same ones.
  Body copied(const Operand& x, const FragmentAhead& registers) {
    return each_register(x, [&](Body& body, const std::vector<Affine>& index) {
      const auto copy = [&](int to, int from, bool negated = false) {
        Access element{from, index, x.fragment->per_register()};
        auto value = load_of(kernel_.array(from).type, element);
        if (negated) value = apply(ir::OpCode::neg, type_, {std::move(value)});
        element.array = to;
        body.push_back({Store{std::move(element), std::move(value)}});
      };
      copy(x.numbers.registers, registers.numbers);
      if (complex_) copy(x.imag.registers, registers.imag);
      if (x.minus.registers >= 0) copy(x.minus.registers, registers.imag, true);
    });
  }
  /// The sums of both parts of a complex operand's numbers, of one atom along its side.
  Body parts_added(const Operand& x, const Affine& atom) {
    const auto shape = fragment_shape(x);
    const auto step = threads_.loop_var("step", shape.front()), e = threads_.loop_var("e", shape.back());
    const std::vector<Affine> index = {shape.front() > 1 ? Affine::of(step) : Affine(0), atom,
                                       shape.back() > 1 ? Affine::of(e) : Affine(0)};
    const auto part = [&](const Numbers& of) { return load_of(type_, {of.registers, index}); };
    Store add{{x.sums, index}, apply(ir::OpCode::add, type_, {part(x.numbers), part(x.imag)})};
    return threads_.unrolled(step, threads_.unrolled(e, {{std::move(add)}}));
  }
  /// What `store` makes of each of an operand's registers.
  template <class Make>
  Body each_register(const Operand& x, const Make& store) {
    std::vector<Affine> index;
    std::vector<Var> vars;
    static constexpr const char* kNames[] = {"part", "i", "e"};
    const auto shape = fragment_shape(x);
    for (std::size_t k = 0; k < shape.size(); ++k) {
      vars.push_back(threads_.loop_var(kNames[k], shape[k]));
      index.push_back(shape[k] > 1 ? Affine::of(vars.back()) : Affine(0));
    }
    Body body;
    store(body, index);
    for (std::size_t k = vars.size(); k-- > 0;) {
      if (shape[k] > 1) body = threads_.unrolled(vars[k], std::move(body));
    }
    return body;
  }

  /// The first fragments of the next round, behind the last ones of this round.
  Body next_fragments(Prefetch& prefetch) {
    Body body = std::move(prefetch.fence);
    Multiplier next(threads_, prefetch.next, tile_);
    for (const bool first : {true, false}) {
      const auto& to = prefetch.registers[first ? 0 : 1];
      append(body, next.with_depth(Affine(0), [&] { return next.loaded_to(next.operand(first), to); }));
    }
    append(body, std::move(prefetch.then));
    return body;
  }

  static void append(Body& to, Body more) {
    for (auto& statement : more) to.push_back(std::move(statement));
  }
  /// That a loop's variable has one value of `count`.
  static std::vector<Condition> only(const Affine& var, std::int64_t value, std::int64_t count) {
    std::vector<Condition> when;
    if (value > 0) when.push_back({-1 * var, 1 - value});
    if (value + 1 < count) when.push_back({var, value + 1});
    return when;
  }
  /// What `statements` makes at another step of the depth.
  template <class Statements>
  Body with_depth(const Affine& depth, const Statements& statements) {
    const auto kept = std::exchange(depth_, depth);
    auto body = statements();
    depth_ = kept;
    return body;
  }
  static bool rounded(const Operand& x) { return x.fragment->type == AtomType::tf32; }

  /// Calls `piece(number, p, q, reads)` for what is read at once of a block along the side.
  template <class Piece>
  Body in_pieces(const Operand& x, const Piece& piece) {
    const auto& side = *x.side;
    const auto reads = reads_of(tile_, x.first, x.along, x.deep, x.type);
    const auto outer = threads_.loop_var(x.first ? "i" : "j", side.blocks());
    const auto o = side.blocks() > 1 ? Affine::of(outer) : Affine(0);
    Body body;
    int number = 0;
    for (int p = 0; p < side.block(); p += reads.along) {
      for (int q = 0; q < tile_.depth.block(); q += reads.deep) piece(body, o, number++, p, q, reads);
    }
    return side.blocks() > 1 ? threads_.unrolled(outer, std::move(body)) : body;
  }
  Body fetched(const Operand& x) {
    return in_pieces(x, [&](Body& body, const Affine& o, int number, int p, int q, const Reads& reads) {
      auto from = element(x, o, p, q);
      from.lanes = reads.width();
      body.push_back({Store{{x.unrounded, {o, Affine(number)}, from.lanes}, load_of(x.type, from)}});
    });
  }
  Body converted(const Operand& x) {
    return in_pieces(x, [&](Body& body, const Affine& o, int number, int p, int q, const Reads& reads) {
      const Access run{x.unrounded, {o, Affine(number)}, reads.width()};
      for (int l = 0; l < reads.width(); ++l)
        put(body, x, place(x, o, reads.along > 1 ? p + l : p, reads.along > 1 ? q : q + l), lane_of(x.type, run, l));
    });
  }
  static Value lane_of(DType type, Access run, int lane) {
    if (run.lanes > 1) run.lane = Affine(lane);
    return load_of(type, std::move(run));
  }

  Body loaded(const Operand& x) {
    const auto& side = *x.side;
    const auto reads = x.crossed ? Reads{} : reads_of(tile_, x.first, x.along, x.deep, x.type);
    if (reads.by != ReadBy::lane) return matrices(x, reads.by == ReadBy::transposed_matrix);
    if (x.fragment->per_register() > 1) return words(x, reads);
    const auto [along, deep] = std::pair(reads.along, reads.deep);
    const int width = reads.width();
    const auto outer = threads_.loop_var(x.first ? "i" : "j", side.blocks());
    const auto o = side.blocks() > 1 ? Affine::of(outer) : Affine(0);
    const int pieces = side.block() * tile_.depth.block() / width;
    int held = -1, piece = 0;
    Body body;
    if (width > 1 || complex_) {
      held = threads_.registers(x.first ? "a_run" : "b_run", x.type, {pieces}, width);
      body.push_back({Declare{held}});
    }
    for (int p = 0; p < side.block(); p += along) {
      for (int q = 0; q < tile_.depth.block(); q += deep, ++piece) {
        auto from = element(x, o, p, q);
        from.lanes = width;
        if (held < 0) {
          put(body, x, place(x, o, p, q), load_of(x.type, from));
          continue;
        }
        const Access run{held, {Affine(piece)}, width};
        body.push_back({Store{run, load_of(x.type, from)}});
        for (int l = 0; l < width; ++l)
          put(body, x, place(x, o, along > 1 ? p + l : p, along > 1 ? q : q + l), lane_of(x.type, run, l));
      }
    }
    return side.blocks() > 1 ? threads_.unrolled(outer, std::move(body)) : body;
  }

  /// An element into its registers: a complex one by its parts, the imaginary one with the sign of the conjugate where
  /// that is multiplied.
  void put(Body& body, const Operand& x, const Access& to, Value value) const {
    if (!complex_) return put_number(body, x, x.numbers, to.index, std::move(value));
    put_number(body, x, x.numbers, to.index, apply(ir::OpCode::real_part, type_, {value}));
    const auto imag = apply(ir::OpCode::imag_part, type_, {std::move(value)});
    const auto minus = apply(ir::OpCode::neg, type_, {imag});
    const bool conj = x.first ? mma_.conj_a : mma_.conj_b;
    put_number(body, x, x.imag, to.index, conj ? minus : imag);
    if (x.minus.registers >= 0) put_number(body, x, x.minus, to.index, conj ? imag : minus);
  }

  /// A number into its register; of tf32 rounded, what the rounding leaves as a second part.
  static void put_number(Body& body, const Operand& x, const Numbers& to, const std::vector<Affine>& index,
                         Value value) {
    if (!rounded(x)) {
      body.push_back({Store{{to.registers, index}, std::move(value)}});
      return;
    }
    const auto rounding = [](Value of) { return apply(ir::OpCode::tf32, DType::f32, {std::move(of)}); };
    body.push_back({Store{{to.registers, index}, rounding(value)}});
    if (to.rest < 0) return;
    auto rest = apply(ir::OpCode::sub, DType::f32, {std::move(value), load_of(DType::f32, {to.registers, index})});
    body.push_back({Store{{to.rest, index}, rounding(std::move(rest))}});
  }

  /// Registers that several elements share: read as they lie, or put together of single elements.
  Body words(const Operand& x, const Reads& reads) {
    const auto& side = *x.side;
    const auto outer = threads_.loop_var(x.first ? "i" : "j", side.blocks());
    const auto o = side.blocks() > 1 ? Affine::of(outer) : Affine(0);
    const int shared = x.fragment->per_register();
    Body body;
    for (int p = 0; p < side.block(); ++p) {
      for (int q = 0; q < tile_.depth.block(); q += shared) {
        Value word;
        word.kind = Value::Kind::pack;
        word.type = x.type;
        for (int e = 0; e < shared; ++e) word.operands.push_back(load_of(x.type, element(x, o, p, q + e)));
        if (reads.deep == shared) {
          word = load_of(x.type, element(x, o, p, q));
          word.access.lanes = shared;
        }
        auto to = place(x, o, p, q);
        to.lanes = shared;
        body.push_back({Store{std::move(to), std::move(word)}});
      }
    }
    return side.blocks() > 1 ? threads_.unrolled(outer, std::move(body)) : body;
  }

  /// Whole fragments by matrix loads: each lane points to a row of 16 bytes.
  Body matrices(const Operand& x, bool transposed) {
    const auto& side = *x.side;
    const auto outer = threads_.loop_var(x.first ? "i" : "j", side.blocks());
    const auto o = side.blocks() > 1 ? Affine::of(outer) : Affine(0);
    const auto row = threads_.digit("matrix_row", 1, kMatrixRows);
    const auto& fragment = *x.fragment;
    const int per_depth = tile_.depth.per_atom, shared = fragment.per_register();
    Body body;
    for (int atom = 0; atom < side.block() / side.per_atom; ++atom) {
      for (int step = 0; step < tile_.depth.block() / per_depth; ++step) {
        // The position that lane 0 points to, and how far each bit of a matrix's number moves it.
        const auto position = [&](int p, int q) {
          return x.along * side.position(x.warp, o, p) + x.deep * tile_.depth.position(Affine(0), depth_, q) +
                 (transposed ? x.deep : x.along * side.run) * row;
        };
        const auto first = [&](int number) {
          for (int p = 0; p < side.per_atom; ++p) {
            for (int q = 0; q < per_depth; ++q) {
              if (register_of(x, p, q) == number * shared)
                return position(atom * side.per_atom + p, step * per_depth + q);
            }
          }
          throw InternalError("a register of a fragment that holds no element");
        };
        const auto start = first(0);
        auto index = x.base.index.front() + start;
        for (int bit = 1; bit < fragment.registers(); bit *= 2) {
          const auto moved = (first(bit) - start).constant;
          index = index + moved * threads_.digit(fmt::format("matrix_bit{}", bit), kMatrixRows * bit, 2);
        }
        MatrixLoad load{
            {x.numbers.registers, {Affine(step), (side.block() / side.per_atom) * o + Affine(atom)}, shared},
            {x.base.array, {std::move(index)}, static_cast<int>(kMatrixBytes / size_of(x.type))},
            transposed};
        body.push_back({std::move(load)});
      }
    }
    return side.blocks() > 1 ? threads_.unrolled(outer, std::move(body)) : body;
  }

  /// Element `p` of block `outer` along the side, `q` along the depth, in shared memory.
  Access element(const Operand& x, const Affine& outer, int p, int q) const {
    Access from = x.base;
    from.index.front() =
        from.index.front() + x.along * (x.side->position(x.warp, outer, p) + x.lane) + deep_place(x, q) + x.deep_lane;
    return from;
  }

  static int register_of(const Operand& x, int along, int deep) {
    return x.first ? WarpTile::register_of(*x.fragment, along, deep) : WarpTile::register_of(*x.fragment, deep, along);
  }

  /// The register of element `p` of block `outer` along the side, `q` along the depth.
  Access place(const Operand& x, const Affine& outer, int p, int q) const {
    const auto& side = *x.side;
    const auto atom = (side.block() / side.per_atom) * outer + Affine(p / side.per_atom);
    Access access{x.numbers.registers, {Affine(q / tile_.depth.per_atom), atom}};
    const int s = p % side.per_atom, k = q % tile_.depth.per_atom;
    if (!tile_.fma()) access.index.emplace_back(register_of(x, s, k) / x.fragment->per_register());
    return access;
  }

  Threads& threads_;
  Kernel& kernel_;
  const Mma& mma_;
  const WarpTile& tile_;
  DType type_;    ///< of registers: the sum's, of complex sums that of their parts
  bool complex_;  ///< factors in real and imaginary parts, each product in four or in three
  Affine depth_;
};

}  // namespace

Body multiplied(Threads& threads, const Mma& mma, const WarpTile& tile, std::vector<Body> between, int texts) {
  return Multiplier(threads, mma, tile).run(std::move(between), nullptr, texts);
}

PrefetchedProducts::PrefetchedProducts(Threads& threads, const Mma& mma, const WarpTile& tile)
    : threads_(threads), mma_(mma), tile_(tile) {}

Body PrefetchedProducts::first() { return Multiplier(threads_, mma_, tile_).first_fragments(registers_); }

Body PrefetchedProducts::round(const Mma& mma, const Mma& next, std::vector<Body> between, Body fence, Body then) {
  Multiplier::Prefetch prefetch{registers_, next, std::move(fence), std::move(then)};
  return Multiplier(threads_, mma, tile_).run(std::move(between), &prefetch);
}

std::vector<int> fragment_registers(Threads& threads, const Mma& mma, const WarpTile& tile, int count) {
  return Multiplier(threads, mma, tile).registers_of_steps(count);
}

Body first_fragment(Threads& threads, const Mma& mma, const WarpTile& tile, int step, int registers) {
  return Multiplier(threads, mma, tile).step(step, registers);
}

std::int64_t reached(Threads& threads, const Mma& mma, const WarpTile& tile, bool first) {
  const auto x = Multiplier(threads, mma, tile).operand(first);
  auto reach = (x.side->padded - 1) * x.along + 1 + (x.crossed ? 0 : (tile.depth.padded - 1) * x.deep);
  for (const auto& mode : x.order.all()) reach += std::int64_t{mode.extent - 1} * mode.step;
  for (const auto& digit : mma.batch) reach += (digit.extent - 1) * x.base.index.front().coefficient(digit.var);
  return reach;
}

}  // namespace ricci::kernel::cuda
