#include "runtime/repeated_steps.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/passes/step_piece.hpp"

namespace ricci::runtime {
namespace {

using ir::at;

std::vector<int> written_by(const ir::Step& step) {
  std::vector<int> written;
  for (std::size_t b = 0; b < step.storage.size(); ++b) {
    if (step.program.buffers[b].written) written.push_back(step.storage[b]);
  }
  return written;
}

/// What a step computes, of which tensors and parameters.
struct Made {
  Form form;
  std::vector<int> storage, param;  ///< of its canonical program; -1 stands for what it writes
  int written = -1;
};

}  // namespace

ir::Sequence without_repeats(ir::Sequence sequence, Predictions& predictions, std::int64_t limit) {
  std::vector<int> writers(sequence.storages.size()), instead(sequence.storages.size());
  std::iota(instead.begin(), instead.end(), 0);
  for (const auto& step : sequence.steps) {
    for (const int storage : written_by(step)) ++writers[at(storage)];
  }
  std::vector<Made> known;
  auto shared = sequence;
  shared.steps.clear();
  for (auto step : sequence.steps) {
    for (auto& storage : step.storage) storage = instead[at(storage)];
    const auto written = written_by(step);
    const auto reads_written = [&](const Made& made) {
      return std::any_of(written.begin(), written.end(), [&](int storage) {
        return std::find(made.storage.begin(), made.storage.end(), storage) != made.storage.end();
      });
    };
    std::erase_if(known, reads_written);
    if (written.size() == 1 && writers[at(written[0])] == 1 &&
        sequence.storages[at(written[0])].role == ir::Role::workspace && has_points(step.program)) {
      const auto canonical = predictions.canonical_step(step);
      Made made{{}, canonical.storage, canonical.param, written[0]};
      add_form(made.form, canonical.program);
      std::replace(made.storage.begin(), made.storage.end(), written[0], -1);
      const auto same = std::find_if(known.begin(), known.end(), [&](const Made& other) {
        return other.form == made.form && other.storage == made.storage && other.param == made.param;
      });
      if (same != known.end()) {
        instead[at(written[0])] = same->written;
        continue;
      }
      known.push_back(std::move(made));
    }
    shared.steps.push_back(std::move(step));
  }
  if (shared.steps.size() == sequence.steps.size()) return sequence;
  ir::drop_unused_storages(shared);
  if (!shared.fits(limit)) return sequence;
  ir::verify(shared);
  return shared;
}

}  // namespace ricci::runtime
