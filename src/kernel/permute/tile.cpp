#include "kernel/permute/tile.hpp"

#include <algorithm>

namespace ricci::kernel {
namespace {

/// The largest value of an expression by the extents of its variables.
std::int64_t last(const Kernel& kernel, const Affine& values) {
  return bounds(values, [&](Var var) { return kernel.extent(var); }).last;
}

}  // namespace

std::string Tile::fresh(std::string name) const {
  const auto taken = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
  };
  while (taken(program.indices) || taken(program.buffers) || taken(program.params)) name += '_';
  return name;
}

Affine quotient(Kernel& kernel, Body& names, const std::string& name, const Affine& of, std::int64_t divisor,
                std::int64_t modulus) {
  if (of.is_constant()) return modulus > 0 ? of.constant / divisor % modulus : of.constant / divisor;
  const auto values = last(kernel, of) / divisor + 1;
  if (values == 1 || modulus == 1) return 0;
  if (divisor == 1 && modulus == 0) return of;
  const auto var = kernel.add_var(name, modulus > 0 ? std::min(modulus, values) : values);
  names.push_back({Let{var, of, divisor, modulus, true}});
  return Affine::of(var);
}

Affine named(Kernel& kernel, Body& names, Var var, const Affine& value, bool keep) {
  auto& extent = kernel.vars[static_cast<std::size_t>(var)].extent;
  extent = std::max(extent, last(kernel, value) + 1);
  for (auto& statement : names) {
    auto* quotient = std::get_if<Let>(&statement.node);
    if (keep || quotient == nullptr || !quotient->in_place || value != Affine::of(quotient->var)) continue;
    quotient->var = var;
    quotient->in_place = false;
    return Affine::of(var);
  }
  names.push_back({Let{var, value}});
  return Affine::of(var);
}

MappedTile::MappedTile(const Tile& tile, const ThreadMapping& mapping, const ir::Affine* output)
    : tile_(tile), mapping_(mapping), output_(output), inner_(static_cast<std::size_t>(tile.indices())) {
  for (int q = 0; q < tile.indices(); ++q)
    var_.push_back(tile.extent(q) == 1 ? -1 : tile.kernel.add_var(tile.index(q).name, 1));
  for (std::size_t k = 0; k < mapping.digits.size(); ++k) {
    const bool row = k == 1 && mapping.rows > 1;
    const int q = mapping.digits[k].index;
    if (!row && tile.extent(q) > 1) parts_.emplace_back(q, part(k));
  }
  round_ = tile.kernel.add_var(tile.fresh("u"), std::max<std::int64_t>(rounds(), 1));
  if (output != nullptr && tile.moves.skew.on()) phase_ = tile.kernel.add_var(tile.fresh("phase"), 1);
  u_ = Affine::of(round_);
  for (int q = 0; q < tile.indices(); ++q) {
    if (tile.extent(q) == 1 || is_skewed(q)) continue;
    if (by_round(q)) {
      // The values of all rounds, wherever one of them alone is named.
      Body unused;
      tile.kernel.vars[static_cast<std::size_t>(var_[static_cast<std::size_t>(q)])].extent =
          last(tile.kernel, sum(unused, q)) + 1;
      continue;
    }
    inner_[static_cast<std::size_t>(q)] = named(tile.kernel, outer_, var_[static_cast<std::size_t>(q)], sum(outer_, q));
  }
}

MappedTile::Part MappedTile::part(std::size_t k) {
  const std::int64_t workers = mapping_.workers;
  std::int64_t below = 1;  // positions that share one value of this digit
  for (std::size_t j = 0; j < k; ++j) below *= mapping_.count(j);
  const auto count = mapping_.count(k);
  const auto step = mapping_.step(k);
  const bool is_last = k + 1 == mapping_.digits.size();
  const auto modulus = is_last ? 0 : count;
  const auto of_thread = [&](std::int64_t n) {
    return step * quotient(tile_.kernel, outer_, digit_name(mapping_.digits[k]), Affine::of(tile_.thread), below, n);
  };
  if (rounds() == 1 || workers % (below * count) == 0) return {of_thread(below * count == workers ? 0 : modulus)};
  if (below % workers == 0) return {{}, true, false, below / workers, modulus, step};
  if (workers % below == 0 && (is_last || count % (workers / below) == 0)) {
    const auto stride = workers / below;  // values of this digit in one round
    return {of_thread(0), true, false, 1, is_last ? 0 : count / stride, step * stride};
  }
  return {{}, true, true, below, modulus, step};
}

/// For people: texts say digits in place.
std::string MappedTile::digit_name(const MixedRadixDigit& digit) const {
  return tile_.index(digit.index).name + "_digit" + (digit.step == 1 ? "" : std::to_string(digit.step));
}

bool MappedTile::by_round(int q) const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const auto& part) { return part.first == q && part.second.by_round; });
}

Affine MappedTile::sum(Body& names, int q) {
  Affine sum;
  for (const auto& [index, part] : parts_) {
    if (index != q) continue;
    sum = sum + part.fixed;
    if (!part.by_round) continue;
    const auto of = part.mixed ? Affine::of(tile_.thread) + mapping_.workers * u_ : u_;
    sum = sum +
          part.scale * quotient(tile_.kernel, names, tile_.index(q).name + "_round", of, part.divisor, part.modulus);
  }
  return sum;
}

Body MappedTile::names(const Affine& u) {
  u_ = u;
  Body names;
  for (int q = 0; q < tile_.indices(); ++q) {
    if (tile_.extent(q) == 1 || is_skewed(q) || !by_round(q)) continue;
    inner_[static_cast<std::size_t>(q)] = named(tile_.kernel, names, var_[static_cast<std::size_t>(q)], sum(names, q));
  }
  const auto& skew = tile_.moves.skew;
  if (!skew.on()) return names;
  // Last, since where a row begins depends on the others.
  const auto q = static_cast<std::size_t>(skew.index);
  inner_[q] = {};
  Affine before;
  if (output_ != nullptr) {
    // The row's first offset by the skew's sectors: coefficients reduced, negative ones too.
    auto reduced = output_->coefficient;
    for (auto& coefficient : reduced) coefficient &= skew.elements - 1;
    reduced[q] = 0;
    auto first = offset(reduced) + (output_->constant & (skew.elements - 1));
    for (int p = 0; p < tile_.indices(); ++p) first = first + reduced[static_cast<std::size_t>(p)] * tile_.origin_of(p);
    const auto phase = quotient(tile_.kernel, names, "row_phase", first, 1, skew.elements);
    before = Affine(tile_.lead(skew.index)) - named(tile_.kernel, names, phase_, phase);
  }
  inner_[q] = named(tile_.kernel, names, var_[q], sum(names, skew.index) + before);
  return names;
}

std::string MappedTile::first_name() const {
  return mapping_.digits.empty() ? std::string() : tile_.index(mapping_.digits.front().index).name;
}

Affine MappedTile::offset(std::span<const std::int64_t> coefficient) const {
  Affine sum;
  for (std::size_t q = 0; q < coefficient.size(); ++q) sum = sum + coefficient[q] * inner_[q];
  return sum;
}

std::vector<Condition> MappedTile::guard() const {
  std::vector<Condition> terms;
  const auto positions = mapping_.positions();
  if (positions % mapping_.workers != 0) terms.push_back({Affine::of(tile_.thread) + mapping_.workers * u_, positions});
  for (int q = 0; q < tile_.indices(); ++q) {
    const auto extent = tile_.index(q).extent;
    const auto value = tile_.origin_of(q) + inner(q);
    if (is_skewed(q)) {
      const bool along = mapping_.vector > 1 && mapping_.digits.front().index == q;
      const auto first = tile_.lead(q) - (along ? mapping_.vector - 1 : 0);
      if (first > 0) terms.push_back({-1 * value, 1 - first});
      terms.push_back({value, extent + tile_.lead(q)});
    } else if (extent % tile_.extent(q) != 0) {
      terms.push_back({value, extent});
    }
  }
  return terms;
}

}  // namespace ricci::kernel
