// What `explain` says of the sequences that a GPU's plan was chosen from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/contraction.hpp"
#include "runtime/sequences.hpp"

namespace ricci::runtime {
namespace {

constexpr std::size_t kMostOthers = 4;  ///< that were not taken, beside what was lowered

/// One sequence with the candidate of each of its steps that has points.
struct Rival {
  const ir::Sequence* sequence;
  std::vector<std::pair<const ir::Step*, plan::Candidate>> steps = {};
  std::string programs = {};  ///< what tells it from others
  double us = 0;
  bool chosen = false, lowered = false;
};

class SequenceTable {
 public:
  explicit SequenceTable(const Plan::Impl& plan) : plan_(plan), predictions_(plan.gpu_model(), plan.precision) {}

  std::string text() {
    const auto& lowered = plan_.uncut ? *plan_.uncut : plan_.sequence;
    const auto multiplies = [&](const ir::Step& step) {
      if (!has_points(step.program)) return false;
      const auto& program = predictions_.canonical(step.program);
      return kernel::contraction_of(program) || kernel::group_of(program);
    };
    const auto any_multiplies = [&](const ir::Sequence& sequence) {
      return std::any_of(sequence.steps.begin(), sequence.steps.end(), multiplies);
    };
    if (!any_multiplies(lowered) && !any_multiplies(plan_.sequence)) return {};
    std::vector<ir::Sequence> considered;
    const auto instead = steps_instead(lowered, plan_, &predictions_, &considered);
    add(instead ? *instead : lowered, true);
    add(lowered, false);
    list_.back().lowered = true;
    for (const auto& sequence : considered) add(sequence, false);
    std::stable_sort(list_.begin(), list_.end(), [](const Rival& x, const Rival& y) { return x.us < y.us; });
    std::size_t others = 0;
    std::erase_if(list_, [&](const Rival& one) { return !one.chosen && !one.lowered && ++others > kMostOthers; });
    if (list_.size() == 1)
      return "no other steps: copies of tensors, or sums in parts, cannot save as much time as they take\n";
    std::string text =
        "sequences of steps, best prediction first; what bounds a step first, each part in us on its own\n";
    for (const auto& one : list_) text += row(one);
    if (!list_.front().chosen)
      text +=
          "\nwhat is predicted to take less than the chosen steps saves too little to be sure of, or was not asked "
          "for\n";
    return text;
  }

 private:
  /// The schedule that the plan has for a step, the best where it has none.
  plan::Candidate candidate(const ir::Program& program) {
    const auto& canonical = predictions_.canonical(program);
    const auto text = ir::print(canonical);
    for (const auto& one : plan_.steps) {
      const auto& step = one.planned();
      if (step.program_text != text) continue;
      const auto list = plan_.candidates(step, step.schedule.name);
      return plan::choose(list, step.schedule.name);
    }
    return predictions_.best(canonical);
  }

  void add(const ir::Sequence& sequence, bool chosen) {
    Rival one{&sequence};
    for (const auto& step : sequence.steps) {
      if (!has_points(step.program)) continue;
      one.programs += ir::print(predictions_.canonical(step.program));
    }
    const auto known =
        std::find_if(list_.begin(), list_.end(), [&](const Rival& other) { return other.programs == one.programs; });
    if (known != list_.end()) {
      std::rotate(known, known + 1, list_.end());  // the last one is what was asked for
      return;
    }
    for (const auto& step : sequence.steps) {
      if (!has_points(step.program)) continue;
      one.steps.emplace_back(&step, candidate(step.program));
      one.us += one.steps.back().second.predicted_us;
    }
    one.chosen = chosen;
    list_.push_back(std::move(one));
  }

  std::string row(const Rival& one) const {
    auto text = fmt::format("\n{}  {:>9.1f} us  {}{}\n", one.chosen ? "*" : " ", one.us, steps_text(one.steps.size()),
                            one.lowered ? ", as lowered" : "");
    for (const auto& [step, candidate] : one.steps)
      text += fmt::format("   {:>9.1f}     {}: {}: {}\n", candidate.predicted_us, tensors(*one.sequence, *step),
                          candidate.schedule.name, parts_of(candidate));
    return text;
  }

  static std::string steps_text(std::size_t count) { return fmt::format("{} step{}", count, count == 1 ? "" : "s"); }

  static std::string parts_of(const plan::Candidate& candidate) {
    auto parts = candidate.parts;
    if (parts.empty()) return plan::bounds(candidate);
    std::stable_sort(parts.begin(), parts.end(),
                     [](const plan::TimePart& x, const plan::TimePart& y) { return x.us > y.us; });
    std::vector<std::string> words;
    for (const auto& part : parts) words.push_back(fmt::format("{} {:.1f}", part.what, part.us));
    return fmt::format("{}", fmt::join(words, ", "));
  }

  static std::string tensors(const ir::Sequence& sequence, const ir::Step& step) {
    std::vector<std::string> reads, writes;
    for (std::size_t b = 0; b < step.storage.size(); ++b) {
      auto& side = step.program.buffers[b].written ? writes : reads;
      side.push_back(sequence.storages[static_cast<std::size_t>(step.storage[b])].name);
    }
    return fmt::format("{} -> {}", fmt::join(reads, ", "), fmt::join(writes, ", "));
  }

  const Plan::Impl& plan_;
  Predictions predictions_;
  std::vector<Rival> list_;
};

}  // namespace

std::string sequence_table(const Plan::Impl& plan) { return SequenceTable(plan).text(); }

}  // namespace ricci::runtime
