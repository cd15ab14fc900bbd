#include "codegen/thread_mapping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ricci::codegen {
namespace {

std::string times(std::int64_t factor, const std::string& text) {
  if (factor == 1 || text == "0") return text;
  const bool compound = text.find(' ') != std::string::npos;
  return compound ? fmt::format("{} * ({})", factor, text) : fmt::format("{} * {}", factor, text);
}

std::string quotient(const char* text, std::int64_t divisor) {
  return divisor == 1 ? text : fmt::format("{} / {}", text, divisor);
}

}  // namespace

std::string origin_name(const ir::Program& program, const ir::Schedule& schedule, int q) {
  const auto k = static_cast<std::size_t>(q);
  if (schedule.tile[k] == program.indices[k].extent) return {};
  return schedule.tile[k] == 1 ? program.indices[k].name : program.indices[k].name + "0";
}

ThreadCoordinates::ThreadCoordinates(const ir::Program& program, const ir::Schedule& schedule,
                                     const ir::ThreadMapping& mapping)
    : program_(program), schedule_(schedule), mapping_(mapping) {}

ThreadCoordinates::ThreadCoordinates(const ir::Program& program, const ir::Schedule& schedule,
                                     const ir::ThreadMapping& mapping, std::string phase,
                                     std::function<void(Writer&)> declare_phase)
    : program_(program),
      schedule_(schedule),
      mapping_(mapping),
      phase_(std::move(phase)),
      declare_phase_(std::move(declare_phase)) {}

ThreadCoordinates::Part ThreadCoordinates::digit_part(std::size_t k) const {
  const std::int64_t workers = mapping_.workers;
  std::int64_t below = 1;  // positions that share one value of this digit
  for (std::size_t j = 0; j < k; ++j) below *= mapping_.count(j);
  const auto count = mapping_.count(k);
  const auto step = mapping_.step(k);
  const bool last = k + 1 == mapping_.digits.size();
  const auto modulo = [&](const std::string& text, std::int64_t n, bool needed) {
    return needed ? fmt::format("{} % {}", text, n) : text;
  };
  if (mapping_.rounds() == 1 || (workers % (below * count) == 0)) {
    return {times(step, modulo(quotient("t", below), count, !last && below * count != workers)), false};
  }
  if (below % workers == 0) {
    return {times(step, modulo(quotient("u", below / workers), count, !last)), true};
  }
  if (workers % below == 0 && (last || count % (workers / below) == 0)) {
    const auto stride = workers / below;  // values of this digit in one round
    const auto round = modulo("u", last ? 0 : count / stride, !last);
    return {times(step, fmt::format("{} + {}", quotient("t", below), times(stride, round))), true};
  }
  return {times(step, modulo(fmt::format("(t + {} * u)", workers) + (below == 1 ? "" : fmt::format(" / {}", below)),
                             count, !last)),
          true};
}

std::string ThreadCoordinates::inner(int q) const {
  return schedule_.tile[static_cast<std::size_t>(q)] == 1 ? std::string()
                                                          : program_.indices[static_cast<std::size_t>(q)].name;
}

ThreadCoordinates::Declaration ThreadCoordinates::declaration(std::size_t q) const {
  std::vector<std::string> parts;
  bool per_round = false;
  for (std::size_t k = 0; k < mapping_.digits.size(); ++k) {
    if (mapping_.digits[k].index != static_cast<int>(q) || (k == 1 && mapping_.rows > 1)) continue;
    const auto part = digit_part(k);
    per_round = per_round || part.per_round;
    parts.push_back(part.text);
  }
  if (parts.empty()) parts.emplace_back("0");
  return {fmt::format("{}", fmt::join(parts, " + ")), per_round};
}

void ThreadCoordinates::declare_outer(Writer& writer) const {
  for (std::size_t q = 0; q < program_.indices.size(); ++q) {
    if (schedule_.tile[q] == 1 || skewed(q)) continue;
    const auto declared = declaration(q);
    if (!declared.per_round) writer.line("const int {} = {};", program_.indices[q].name, declared.text);
  }
}

void ThreadCoordinates::declare_inner(Writer& writer) const {
  for (std::size_t q = 0; q < program_.indices.size(); ++q) {
    if (schedule_.tile[q] == 1 || skewed(q)) continue;
    const auto declared = declaration(q);
    if (declared.per_round) writer.line("const int {} = {};", program_.indices[q].name, declared.text);
  }
  if (!schedule_.skew.on()) return;
  // Last, since where a row begins depends on the others.
  if (declare_phase_) declare_phase_(writer);
  const auto q = static_cast<std::size_t>(schedule_.skew.index);
  writer.line("const int {} = {} - {};", program_.indices[q].name, declaration(q).text, phase_);
}

std::string ThreadCoordinates::guard() const {
  std::vector<std::string> terms;
  const auto positions = mapping_.positions();
  if (positions % mapping_.workers != 0) {
    terms.push_back(mapping_.rounds() == 1 ? fmt::format("t < {}", positions)
                                           : fmt::format("t + {} * u < {}", mapping_.workers, positions));
  }
  for (std::size_t q = 0; q < program_.indices.size(); ++q) {
    const auto extent = program_.indices[q].extent;
    if (skewed(q)) {
      const auto value =
          fmt::format("{} + {}", origin_name(program_, schedule_, static_cast<int>(q)), program_.indices[q].name);
      const int last = mapping_.vector > 1 && mapping_.digits[0].index == static_cast<int>(q) ? mapping_.vector - 1 : 0;
      // The first and the last tile of a row are cut; a vector with any element inside counts.
      terms.push_back(last == 0 ? fmt::format("{} >= 0", value) : fmt::format("{} >= -{}", value, last));
      terms.push_back(fmt::format("{} < {}", value, extent));
      continue;
    }
    if (extent % schedule_.tile[q] != 0) {
      terms.push_back(fmt::format("{} + {} < {}", origin_name(program_, schedule_, static_cast<int>(q)),
                                  program_.indices[q].name, extent));
    }
  }
  return fmt::format("{}", fmt::join(terms, " && "));
}

}  // namespace ricci::codegen
