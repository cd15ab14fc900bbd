// Joined indices on a CPU: runs of the fastest of them, and copies of tiles that end anywhere in one.
#include <algorithm>
#include <numeric>

#include "kernel/expand_cpu.hpp"

namespace ricci::kernel {

bool is_joined(const std::vector<Let>& quotients, Var digit) {
  return std::any_of(quotients.begin(), quotients.end(),
                     [&](const Let& let) { return let.of.coefficient(digit) != 0; });
}

Affine along_axes(Affine index, const std::vector<Let>& quotients) {
  for (const auto& fastest : quotients) {
    if (fastest.divisor != 1) continue;
    const auto step = index.coefficient(fastest.var);
    const bool even = step != 0 && std::all_of(quotients.begin(), quotients.end(), [&](const Let& let) {
                        return let.of != fastest.of || index.coefficient(let.var) == step * let.divisor;
                      });
    if (!even) continue;
    for (const auto& let : quotients) {
      if (let.of == fastest.of) index = index.with(let.var, Affine(0));
    }
    index = index + step * fastest.of;
  }
  return index;
}

JoinedRuns::JoinedRuns(const Kernel& kernel, Var digit, const std::vector<Let>& quotients,
                       const std::vector<Condition>& when)
    : digit_(digit) {
  for (const auto& let : quotients) {
    if (let.of.coefficient(digit) == 0) continue;
    if (let.divisor == 1) {
      fastest_ = let;
    } else {
      slower_.push_back(let);
    }
  }
  const auto end = std::find_if(when.begin(), when.end(),
                                [&](const Condition& condition) { return condition.value == fastest_.of; });
  if (end != when.end()) end_ = *end;
  for (auto& let : slower_) {
    if (let.modulus > 0) continue;
    // The slowest one, which is past its end where the axis is.
    slowest_ = let.var;
    runs_ = end_ ? end_->below / let.divisor : kernel.extent(let.var);
  }
}

Access JoinedRuns::Piece::of(Access access, int lanes, Var fastest) const {
  auto& index = access.index.front();
  for (const auto& [name, by] : names) index = index.with(name, Affine::of(by));
  if (access.index.front().coefficient(fastest) == 0) return access;
  index = index - Affine(before);
  access.lanes = lanes;
  access.since = since;
  access.until = until;
  return access;
}

Body JoinedRuns::pieces(Kernel& kernel, const Affine& first, int lanes,
                        const std::function<Body(const Piece&)>& make) const {
  const auto run = fastest_.modulus;
  const auto place = Affine::of(fastest_.var);
  // Where in a run they begin is a multiple of a number: the last of them lie within so many from its beginning on.
  const auto begin = fastest_.of.with(digit_, first);
  auto step = std::gcd(run, begin.constant);
  for (const auto& term : begin.terms) step = std::gcd(step, term.coefficient);
  const auto reach = run - step + lanes;
  Body apart = make({{}, 0, {}, Affine(run) - place});
  for (std::int64_t before = run; before < reach; before += run) {
    Piece piece;
    piece.before = before;
    piece.since = Affine(before) - place;
    if (before + run < reach) piece.until = Affine(before + run) - place;
    Body next;
    Condition exists;
    for (auto let : slower_) {
      const auto extent = let.modulus > 0 ? let.modulus : kernel.extent(let.var) + before / let.divisor + 1;
      const auto var = kernel.add_var(kernel.vars[static_cast<std::size_t>(let.var)].name + "_next", extent);
      piece.names.emplace_back(let.var, var);
      if (let.var == slowest_) exists = {Affine::of(var), runs_};
      let.var = var;
      let.of = let.of.with(digit_, first + Affine(before));
      next.push_back({std::move(let)});
    }
    next.push_back({If{{std::move(exists)}, make(piece), {}}});
    apart.push_back({Section{"", std::move(next)}});
  }
  Body body;
  for (auto let : slower_) {
    let.of = let.of.with(digit_, first);
    body.push_back({std::move(let)});
  }
  auto let = fastest_;
  let.of = begin;
  body.push_back({std::move(let)});
  if (run < lanes) {
    for (auto& statement : apart) body.push_back(std::move(statement));
  } else {
    body.push_back({If{{{place + Affine(lanes - 1), run}}, make({}), std::move(apart)}});
  }
  if (!end_) return body;
  return {{If{{{end_->value.with(digit_, first), end_->below}}, std::move(body), {}}}};
}

namespace {

class JoinedCopy {
 public:
  JoinedCopy(Kernel& kernel, const Copy& copy, int origin) : kernel_(kernel), copy_(copy), origin_(origin) {
    const auto step = [](const Access& access, const Digit& d) { return access.index.front().coefficient(d.var); };
    for (const auto& digit : copy.digits) {
      const bool joined = is_joined(copy.quotients, digit.var);
      if (joined && step(copy.to, digit) == 1) {
        side_ = digit;
      } else {
        (joined ? joined_ : others_).push_back(digit);
      }
      padded_ = padded_ || (joined && digit.padded);
    }
    std::stable_sort(others_.begin(), others_.end(),
                     [&](const Digit& x, const Digit& y) { return step(copy.from, x) > step(copy.from, y); });
    if (!others_.empty() && step(copy.from, others_.back()) == 1) along_ = others_.back();
    for (const auto& condition : copy.when) (of_joined(condition) ? ends_ : inside_).push_back(condition);
    const auto lanes = kernel.vector_bytes / size_of(type(copy.to));
    by_vectors_ = type(copy.from) == type(copy.to) && !copy.rounded && lanes > 1 && !is_complex(type(copy.to)) &&
                  !padded_ && side_;
    lanes_ = static_cast<int>(lanes);
  }

  Body all() {
    if (by_vectors_) {
      while (lanes_ > side_->extent) lanes_ /= 2;
      const JoinedRuns runs(kernel_, side_->var, copy_.quotients, ends_);
      if (lanes_ > 1 && runs.are_neighbours(copy_.from.index.front())) return by_runs(runs);
      if (lanes_ > 1 && along_ && along_->extent > 1) return transposed();
    }
    return singly();
  }

 private:
  DType type(const Access& access) const { return kernel_.array(access.array).type; }
  const std::string& name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  bool of_joined(const Condition& condition) const {
    const auto moves = [&](const Digit& d) { return condition.value.coefficient(d.var) != 0; };
    return std::any_of(joined_.begin(), joined_.end(), moves) || (side_ && moves(*side_));
  }

  /// Loops over digits of joined axes but for the packed side, which end where the axis does; quotients that are known
  /// in them.
  Body around(Body inner) {
    auto digits = joined_;
    const auto coefficient = [&](const Digit& d) {
      std::int64_t by = 0;
      for (const auto& let : copy_.quotients) by = std::max(by, let.of.coefficient(d.var));
      return by;
    };
    std::stable_sort(digits.begin(), digits.end(),
                     [&](const Digit& x, const Digit& y) { return coefficient(x) > coefficient(y); });
    std::vector<Let> known;
    for (const auto& let : copy_.quotients) {
      if (!side_ || let.of.coefficient(side_->var) == 0) known.push_back(let);
    }
    for (auto k = digits.size(); k-- > 0;) {
      Body lets;
      std::erase_if(known, [&](const Let& let) {
        if (let.of.coefficient(digits[k].var) == 0) return false;
        lets.push_back({let});
        return true;
      });
      for (auto& statement : inner) lets.push_back(std::move(statement));
      std::vector<Condition> limits;
      for (const auto& condition : ends_) {
        if (digits[k].padded || condition.value.coefficient(digits[k].var) == 0) continue;
        auto first = condition.value;
        if (side_) first = first.with(side_->var, Affine(0));
        for (auto finer = k + 1; finer < digits.size(); ++finer) first = first.with(digits[finer].var, Affine(0));
        limits.push_back({std::move(first), condition.below});
      }
      inner = {loop_over(digits[k].var, Bind::serial, std::move(lets), std::move(limits))};
    }
    Body body(known.begin(), known.end());
    for (auto& statement : inner) body.push_back(std::move(statement));
    return {{Section{"", std::move(body)}}};
  }

  /// Whether 0 stands for what is past the end of another axis.
  bool zeros_are_read() const {
    return std::any_of(copy_.digits.begin(), copy_.digits.end(), [](const Digit& d) { return d.padded; });
  }

  /// Loops over all other digits around a store, of 0 past the end of their axes where that is read.
  Body over_others(const Store& store, Body body = {}) const {
    Body zeros;
    if (zeros_are_read()) zeros.push_back({Store{store.to, zero_of(type(store.to))}});
    for (auto& statement : where(inside_, {{store}}, std::move(zeros))) body.push_back(std::move(statement));
    return loops(others_, Bind::serial, std::move(body));
  }

  /// Names of where the neighbours lie that are read after the side's, from its value `first` on, and the line of
  /// these.
  std::pair<Body, Body> next_line(std::int64_t first) {
    Body names;
    auto from = with(copy_.from, side_->var, Affine(first));
    for (auto let : quotients_of_side()) {
      const auto extent = kernel_.extent(let.var) + side_->extent / let.divisor + 1;
      const auto var = kernel_.add_var(name(let.var) + "_ahead", extent);
      from = with(std::move(from), let.var, Affine::of(var));
      let.var = var;
      let.of = let.of.with(side_->var, Affine(first + side_->extent));
      names.push_back({std::move(let)});
    }
    Body line;
    line.push_back({Prefetch{std::move(from), {}, false}});
    return {std::move(names), std::move(line)};
  }

  /// The values of the packed side that vectors begin with: the last one ends with it.
  std::vector<std::int64_t> firsts() const {
    std::vector<std::int64_t> list;
    for (std::int64_t first = 0; first < side_->extent; first += lanes_)
      list.push_back(std::min(first, side_->extent - lanes_));
    return list;
  }

  /// Neighbours in what is read, as far as the fastest joined index goes. Lines that are read across, one here and one
  /// there, are asked for while those before them are read.
  Body by_runs(const JoinedRuns& runs) {
    Body body;
    for (const auto first : firsts()) {
      auto vectors = runs.pieces(kernel_, Affine(first), lanes_, [&](const JoinedRuns::Piece& piece) {
        Store store;
        store.to = with(copy_.to, side_->var, Affine(first));
        store.to.lanes = lanes_;
        store.to.since = piece.since;
        store.value = load_of(type(copy_.from), piece.of(copy_.from, lanes_, runs.fastest()));
        if (piece.before > 0) return over_others(store);
        auto [all, line] = next_line(first);
        for (auto& statement : over_others(store, std::move(line))) all.push_back(std::move(statement));
        return all;
      });
      body.push_back({Section{"", std::move(vectors)}});
    }
    return around(std::move(body));
  }

  /// Neighbours in what is read along another digit: blocks are transposed in registers, each of their rows somewhere.
  Body transposed() {
    // What lies farther apart in memory than neighbouring panels is read before the next of these.
    const auto step = [&](Var var) { return std::abs(copy_.from.index.front().coefficient(var)); };
    std::int64_t panel = 0;
    for (const auto& let : quotients_of_side()) panel = std::max(panel, let.divisor == 1 ? step(let.var) : 0);
    panel *= side_->extent;
    const auto whole = along_->extent / lanes_, rest = along_->extent % lanes_;
    std::vector<Digit> far, outer(others_.begin(), others_.end() - 1);
    for (; !outer.empty() && step(outer.front().var) > panel; outer.erase(outer.begin())) far.push_back(outer.front());
    Body body;
    for (const auto first : firsts()) {
      Body blocks;
      if (whole > 0) {
        const auto block = kernel_.add_var(name(along_->var) + "b", whole);
        blocks.push_back(loop_over(block, Bind::serial, block_of(first, Affine::of(block, lanes_), lanes_)));
      }
      if (rest > 0) {
        for (auto& statement : block_of(first, Affine(whole * lanes_), rest)) blocks.push_back(std::move(statement));
      }
      for (auto& statement : loops(outer, Bind::serial, std::move(blocks))) body.push_back(std::move(statement));
    }
    return loops(far, Bind::serial, around(std::move(body)));
  }
  /// `count` neighbours from `from` on of as many rows as there are lanes. Where all are inside no element is asked
  /// for.
  Body block_of(std::int64_t first, const Affine& from, std::int64_t count) {
    if (count == 1) return elements(first, from, count);
    auto inside = with(inside_, along_->var, from + Affine(count - 1));
    for (auto& condition : with(ends_, side_->var, Affine(first + lanes_ - 1))) inside.push_back(std::move(condition));
    return where(std::move(inside), turned(first, from, count), elements(first, from, count));
  }

  std::vector<Let> quotients_of_side() const {
    std::vector<Let> list;
    std::copy_if(copy_.quotients.begin(), copy_.quotients.end(), std::back_inserter(list),
                 [&](const Let& let) { return side_ && let.of.coefficient(side_->var) != 0; });
    return list;
  }
  Body named(const Affine& value, Body body) const {
    Body all;
    for (const auto& let : with(quotients_of_side(), side_->var, value)) all.push_back({let});
    for (auto& statement : body) all.push_back(std::move(statement));
    return all;
  }

  Body turned(std::int64_t first, const Affine& from, std::int64_t count) {
    const auto rows =
        add_registers(kernel_, kernel_.array(copy_.to.array).name + "_rows", type(copy_.to), lanes_, lanes_, origin_);
    const auto u = kernel_.add_var("u", lanes_), w = kernel_.add_var("w", count);
    const auto vector = [&](Access access, const Affine& side, const Affine& along) {
      access = with(with(std::move(access), side_->var, side), along_->var, along);
      access.lanes = lanes_;
      return access;
    };
    const auto row = [&](Var index) { return Access{rows, {Affine::of(index)}, lanes_}; };
    const auto side = Affine::of(u) + Affine(first);
    auto neighbours = vector(copy_.from, side, from);
    neighbours.count = static_cast<int>(count % lanes_);
    Body read{{Store{row(u), load_of(type(copy_.from), std::move(neighbours))}}};
    Body body{{Declare{rows}}};
    body.push_back(loop_over(u, Bind::unroll, named(side, std::move(read))));
    body.push_back({Transpose{rows}});
    Store store{vector(copy_.to, Affine(first), from + Affine::of(w)), load_of(type(copy_.to), row(w))};
    body.push_back(loop_over(w, Bind::unroll, {{std::move(store)}}));
    return {{Section{"", std::move(body)}}};  // where nothing guards a block, others have rows of that name beside it
  }

  /// The same elements one by one, those that exist.
  Body elements(std::int64_t first, const Affine& from, std::int64_t count) {
    const auto u = kernel_.add_var(name(side_->var), lanes_), w = kernel_.add_var(name(along_->var), count);
    const auto side = Affine::of(u) + Affine(first), along = from + Affine::of(w);
    const auto at = [&](const Access& access) { return with(with(access, side_->var, side), along_->var, along); };
    Body zeros;
    if (zeros_are_read()) zeros.push_back({Store{at(copy_.to), zero_of(type(copy_.to))}});
    Body store{{Store{at(copy_.to), load_of(type(copy_.from), at(copy_.from))}}};
    store = where(with(inside_, along_->var, along), std::move(store), std::move(zeros));
    store = named(side, {loop_over(w, Bind::serial, std::move(store))});
    return {loop_over(u, Bind::serial, where(with(ends_, side_->var, side), std::move(store)))};
  }

  /// Element by element, each of the packed side in turn along all other digits.
  Body singly() {
    Store store{copy_.to, converted(kernel_, copy_.from, type(copy_.to), copy_.rounded)};
    if (padded_) {
      auto all = inside_;
      all.insert(all.end(), ends_.begin(), ends_.end());
      Body zeros{{Store{copy_.to, zero_of(type(copy_.to))}}};
      Body each = loops(others_, Bind::serial, where(std::move(all), {{store}}, std::move(zeros)));
      return around(side_ ? of_side(std::move(each)) : std::move(each));
    }
    return around(side_ ? of_side(where(ends_, over_others(store))) : where(ends_, over_others(store)));
  }
  Body of_side(Body each) const {
    return {loop_over(side_->var, Bind::serial, named(Affine::of(side_->var), std::move(each)))};
  }

  Kernel& kernel_;
  const Copy& copy_;
  int origin_;                   // of the copy
  std::optional<Digit> side_;    // joined, its neighbours are those of what is written
  std::vector<Digit> joined_;    // further ones of joined axes
  std::vector<Digit> others_;    // the nearest in what is read last
  std::optional<Digit> along_;   // of these, neighbours in what is read
  std::vector<Condition> ends_;  // of joined axes
  std::vector<Condition> inside_;
  bool padded_ = false;  // joined axes are read past their end
  bool by_vectors_ = false;
  int lanes_ = 1;
};

}  // namespace

Body expand_joined_copy_cpu(Kernel& kernel, const Copy& copy, int origin) {
  return JoinedCopy(kernel, copy, origin).all();
}

}  // namespace ricci::kernel
