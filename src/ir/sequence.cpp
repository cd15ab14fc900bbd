#include "ir/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/launches.hpp"
#include "ir/types.hpp"
#include "ir/workspace.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

[[noreturn]] void broken(std::size_t step, const Step& which, const std::string& rule) {
  throw InternalError(fmt::format("step {} of a sequence breaks the rule \"{}\"; please report this program:\n{}", step,
                                  rule, print(which.program)));
}

/// Bounds of an element of a buffer over all blocks.
struct Reach {
  std::int64_t first, last;
};

Reach reach_of(const Step& step, const Slice* slice, std::size_t buffer) {
  Reach reach{step.program.buffers[buffer].first, step.program.buffers[buffer].last};
  for (std::size_t l = 0; l < step.advance.size(); ++l) {
    const auto most = step.advance[l][buffer] * slice->loops[l].first(slice->loops[l].blocks() - 1);
    (most < 0 ? reach.first : reach.last) += most;
  }
  return reach;
}

void verify_slices(const Sequence& sequence) {
  std::size_t behind = 0;
  for (const auto& slice : sequence.slices) {
    const auto require = [&](bool holds, const char* rule) {
      if (!holds) broken(std::min(slice.first, sequence.steps.size() - 1), sequence.steps.front(), rule);
    };
    if (sequence.steps.empty()) throw InternalError("a sequence without steps has slices");
    require(slice.first >= behind && slice.first < slice.last && slice.last <= sequence.steps.size(),
            "slices are runs of steps, one behind the other");
    require(!slice.loops.empty(), "a slice runs over an index");
    for (const auto& loop : slice.loops)
      require(loop.block >= 1 && loop.block <= loop.extent, "a block is a part of its index");
    behind = slice.last;
  }
}

}  // namespace

std::int64_t Slice::blocks() const noexcept {
  std::int64_t count = 1;
  for (const auto& loop : loops) count *= loop.blocks();
  return count;
}

BlockValues Slice::values(std::int64_t block) const {
  BlockValues values(loops.size());
  for (auto l = loops.size(); l-- > 0;) {
    values[l] = loops[l].first(block % loops[l].blocks());
    block /= loops[l].blocks();
  }
  return values;
}

const Slice* Sequence::slice_of(std::size_t step) const noexcept {
  for (const auto& slice : slices) {
    if (slice.first <= step && step < slice.last) return &slice;
  }
  return nullptr;
}

std::int64_t Sequence::workspace_bytes() const { return workspace_layout(*this).bytes; }

Sequence sequence_of(Program program) {
  Sequence sequence;
  Step step;
  for (std::size_t k = 0; k < program.buffers.size(); ++k) {
    const auto& buffer = program.buffers[k];
    sequence.storages.push_back({buffer.name, buffer.written ? Role::output : Role::input, buffer.type, buffer.first,
                                 buffer.last, buffer.alignment, buffer.tf32});
    step.storage.push_back(static_cast<int>(k));
  }
  sequence.params = program.params;
  for (std::size_t k = 0; k < program.params.size(); ++k) step.param.push_back(static_cast<int>(k));
  step.program = std::move(program);
  sequence.steps.push_back(std::move(step));
  return sequence;
}

void verify(const Sequence& sequence) {
  for (const auto& step : sequence.steps) verify(step.program);
  verify_storages(sequence);
}

void verify_storages(const Sequence& sequence) {
  verify_slices(sequence);
  std::vector<bool> made(sequence.storages.size());  // workspace that a step has written
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    const auto& step = sequence.steps[k];
    const auto require = [&](bool holds, const char* rule) {
      if (!holds) broken(k, step, rule);
    };
    const auto& program = step.program;
    const auto* const slice = sequence.slice_of(k);
    require(step.storage.size() == program.buffers.size(), "every buffer of a step is a storage");
    require(!step.advances() || (slice != nullptr && step.advance.size() == slice->loops.size()),
            "a step advances along the loops of its slice");
    for (const auto& advance : step.advance)
      require(advance.size() == step.storage.size(), "a step advances each of its buffers");
    require(step.param.size() == program.params.size(), "every parameter of a step is one of the sequence's");
    for (std::size_t b = 0; b < step.storage.size(); ++b) {
      const auto& buffer = program.buffers[b];
      require(step.storage[b] >= 0 && step.storage[b] < static_cast<int>(sequence.storages.size()),
              "every buffer of a step is a storage");
      const auto& storage = sequence.storages[static_cast<std::size_t>(step.storage[b])];
      const bool parts = is_complex(storage.type) && buffer.type == part_type(storage.type);
      require((storage.type == buffer.type || parts) && storage.tf32 == buffer.tf32,
              "a buffer has its storage's type, or that of its parts");
      const auto elements = size_of(storage.type) / size_of(buffer.type);
      const auto reach = reach_of(step, slice, b);
      require(program.points() == 0 ||
                  (reach.first >= elements * storage.first && reach.last < elements * (storage.last + 1)),
              "a buffer stays inside its storage");
      require(buffer.alignment <= std::max(storage.alignment, size_of(storage.type)),
              "a buffer promises what its storage does");
      for (std::size_t l = 0; l < step.advance.size(); ++l) {
        const auto& loop = slice->loops[l];
        const auto keeps = [&](std::int64_t value) {
          return step.advance[l][b] * value * size_of(buffer.type) % std::max<std::int64_t>(buffer.alignment, 1) == 0;
        };
        require(loop.blocks() == 1 || (keeps(loop.block) && keeps(loop.extent - loop.block)),
                "blocks begin where a buffer promises to");
      }
      require(!buffer.written || storage.role != Role::input, "no step writes an input");
      for (std::size_t other = 0; other < b; ++other) {
        const auto& that = program.buffers[other];
        const auto near = reach_of(step, slice, other);
        require(step.storage[other] != step.storage[b] || (!buffer.written && !that.written) ||
                    near.last < reach.first || reach.last < near.first,
                "what a step writes it knows by one buffer");
      }
    }
    for (std::size_t p = 0; p < step.param.size(); ++p) {
      require(step.param[p] >= 0 && step.param[p] < static_cast<int>(sequence.params.size()) &&
                  sequence.params[static_cast<std::size_t>(step.param[p])].type == program.params[p].type,
              "every parameter of a step is one of the sequence's");
    }
    for (const auto& node : program.nodes) {
      if (node.kind != NodeKind::load) continue;
      const auto storage = static_cast<std::size_t>(step.storage[static_cast<std::size_t>(node.source)]);
      require(sequence.storages[storage].role != Role::workspace || made[storage],
              "workspace is read after it is written");
    }
    for (const auto& statement : program.statements) {
      made[static_cast<std::size_t>(step.storage[static_cast<std::size_t>(statement.buffer)])] = true;
    }
  }
}

void interpret(const Sequence& sequence, const std::vector<void*>& storages, const std::vector<Scalar>& params) {
  if (storages.size() != sequence.storages.size() || params.size() != sequence.params.size()) {
    throw InternalError("interpret() takes one pointer per storage and one value per parameter");
  }
  const auto run = [&](const Step& step, const BlockValues& block) {
    std::vector<void*> buffers;
    for (std::size_t b = 0; b < step.storage.size(); ++b) {
      auto* const base = static_cast<char*>(storages[static_cast<std::size_t>(step.storage[b])]);
      buffers.push_back(base + shift_of(step.advance, block, b) * size_of(step.program.buffers[b].type));
    }
    std::vector<Scalar> values;
    for (const int param : step.param) values.push_back(params[static_cast<std::size_t>(param)]);
    interpret(step.program, buffers, values);
  };
  for_each_launch(sequence.steps.size(), sequence.slices, [&](std::size_t step, const BlockValues& block) {
    run(sequence.steps[step], block);
    return true;
  });
}

}  // namespace ricci::ir
