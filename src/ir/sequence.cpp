#include "ir/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/types.hpp"
#include "ir/workspace.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

[[noreturn]] void broken(std::size_t step, const Step& which, const std::string& rule) {
  throw InternalError(fmt::format("step {} of a sequence breaks the rule \"{}\"; please report this program:\n{}", step,
                                  rule, print(which.program)));
}

}  // namespace

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
  std::vector<bool> made(sequence.storages.size());  // workspace that a step has written
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    const auto& step = sequence.steps[k];
    const auto require = [&](bool holds, const char* rule) {
      if (!holds) broken(k, step, rule);
    };
    const auto& program = step.program;
    require(step.storage.size() == program.buffers.size(), "every buffer of a step is a storage");
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
      require(program.points() == 0 ||
                  (buffer.first >= elements * storage.first && buffer.last < elements * (storage.last + 1)),
              "a buffer stays inside its storage");
      require(buffer.alignment <= std::max(storage.alignment, size_of(storage.type)),
              "a buffer promises what its storage does");
      require(!buffer.written || storage.role != Role::input, "no step writes an input");
      for (std::size_t other = 0; other < b; ++other) {
        const auto& that = program.buffers[other];
        require(step.storage[other] != step.storage[b] || (!buffer.written && !that.written) ||
                    that.last < buffer.first || buffer.last < that.first,
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
  for (const auto& step : sequence.steps) {
    std::vector<void*> buffers;
    for (const int storage : step.storage) buffers.push_back(storages[static_cast<std::size_t>(storage)]);
    std::vector<Scalar> values;
    for (const int param : step.param) values.push_back(params[static_cast<std::size_t>(param)]);
    interpret(step.program, buffers, values);
  }
}

}  // namespace ricci::ir
