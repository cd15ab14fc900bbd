// Rules of what threads have in common: which of them pass a place, which have different values, what they exchange.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/print.hpp"
#include "kernel/verifier.hpp"

namespace ricci::kernel {

Varies Verifier::varies(const Value& value) const {
  if (value.kind == Value::Kind::ballot) return Varies::by_warp;
  if (value.kind == Value::Kind::shuffle) return std::max(Varies::by_warp, varies(value.affine));
  auto most = value.kind == Value::Kind::index ? varies(value.affine) : Varies::never;
  if (value.kind == Value::Kind::shuffle_up) most = Varies::by_lane;
  if (value.kind == Value::Kind::load) {
    for (const auto& index : value.access.index) most = std::max(most, varies(index));
    if (array_of(value.access).space == Space::registers)
      most = std::max(most, registers_[static_cast<std::size_t>(value.access.array)]);
  }
  for (const auto& operand : value.operands) most = std::max(most, varies(operand));
  return most;
}

void Verifier::holds(const Access& to, Varies value) {
  if (array_of(to).space != Space::registers) return;
  auto& now = registers_[static_cast<std::size_t>(to.array)];
  if (!parts_.empty()) stored_.emplace_back(to.array, now);
  now = value;
}

/// From here on only some threads pass, those that have the same value of something; until join().
void Verifier::part(Varies by) {
  if (by != Varies::never) ++divergent_blocks_;
  if (by >= Varies::by_warp) ++divergent_;
  if (by == Varies::by_lane) ++divergent_lanes_;
  parts_.push_back({by, stored_.size()});
}

/// The other way of a branch begins: what the first one stored may be there or not.
void Verifier::other_part() {
  for (auto k = parts_.back().stored; k < stored_.size(); ++k) {
    const auto& [array, before] = stored_[k];
    auto& now = registers_[static_cast<std::size_t>(array)];
    // Threads that do not pass keep what they had.
    now = std::max({now, before, parts_.back().by});
  }
}

/// All threads that passed before part() go on.
void Verifier::join() {
  other_part();
  const auto by = parts_.back().by;
  if (by != Varies::never) --divergent_blocks_;
  if (by >= Varies::by_warp) --divergent_;
  if (by == Varies::by_lane) --divergent_lanes_;
  parts_.pop_back();
  if (parts_.empty()) stored_.clear();
}

void Verifier::read_of_block(const Access& access) {
  const auto& array = array_of(access);
  const auto place = static_cast<std::size_t>(access.array);
  if (cluster_ < 0 || array.space != Space::shared)
    fail(fmt::format("{} is no shared memory of a cluster", print(kernel_, access)));
  known(*access.block);
  if (!ranges_.never_below(*access.block, 0) || !ranges_.never_above(*access.block, kernel_.extent(cluster_) - 1))
    fail(fmt::format("{} is read, of a cluster of {}", print(kernel_, access), kernel_.extent(cluster_)));
  if (!met_[place])
    fail(fmt::format("{} is read of another block with no barrier of the cluster after what is written to it",
                     array.name));
  read_by_others_[place] = true;
}

void Verifier::meet_blocks() {
  for (std::size_t k = 0; k < life_.size(); ++k) {
    met_[k] = life_[k] == Life::written || life_[k] == Life::ready;
    read_by_others_[k] = false;
  }
}

void Verifier::rounds(const std::function<void()>& round) {
  ++rounds_;
  for (bool more = true; more;) {
    const auto before = registers_;
    const auto under_way = groups_since_;
    round();
    more = groups_since_ != under_way;
    for (std::size_t k = 0; k < registers_.size(); ++k) {
      if (life_[k] == Life::undeclared) continue;
      more = more || registers_[k] > before[k];
      registers_[k] = std::max(registers_[k], before[k]);
    }
  }
  --rounds_;
}

std::vector<Var> Verifier::tasks_of(const Affine& affine) const {
  std::vector<Var> all;
  for (const auto& term : affine.terms) {
    const auto& tasks = tasks_of_[static_cast<std::size_t>(term.var)];
    all.insert(all.end(), tasks.begin(), tasks.end());
  }
  return all;
}

void Verifier::combine(const Access& registers, ir::OpCode op, Varies result) {
  all_lanes("a combination of lanes");
  const auto& array = array_of_checked(registers);
  if (array.space != Space::registers || array.lanes != 1)
    fail(fmt::format("{} is no register of a lane", print(kernel_, registers)));
  if (!ir::associates(op)) fail(fmt::format("lanes are combined by {}, which does not associate", ir::name_of(op)));
  access(registers);
  read_life(registers.array);
  holds(registers, result);
}

void Verifier::exchange(const Value& value) {
  all_lanes("an exchange between lanes");
  expect(value.operands.size() == 1 && value.operands.front().lanes() == 1, "an exchange of no single value");
  const bool votes = value.kind == Value::Kind::ballot;
  const auto type = value.operands.front().type;
  if (votes ? type != DType::u8 || value.type != DType::u32 : type != value.type)
    fail(fmt::format("{} has a value of type {}", print(kernel_, value), ricci::name(type)));
  if (!votes && (!value.affine.is_constant() || value.affine.constant < 0 || value.affine.constant >= kWarp))
    fail(fmt::format("{} names no lane of a warp", print(kernel_, value)));
}

}  // namespace ricci::kernel
