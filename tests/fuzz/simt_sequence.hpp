// Steps of a sequence as CUDA text on the simulator, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/source.hpp"
#include "fuzz/area.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/sequence.hpp"
#include "plan/plan.hpp"
#include "ricci/error.hpp"
#include "runtime/plan_impl.hpp"
#include "runtime/predictions.hpp"
#include "simt/emitted.hpp"

namespace ricci::fuzz {

/// The report of a run that was not clean, with the kernel.
///   block  of the step's slice, where it is in one
inline std::string run_schedule(const ir::Step& step, const ir::Canonical& program, const kernel::Schedule& schedule,
                                const std::vector<Area>& areas, const std::vector<Scalar>& params, std::uint64_t seed,
                                const ir::BlockValues& block = {}) {
  const auto source = codegen::emit(program, schedule, kernel::Target::cuda, {"sm_90", "", ""});

  std::vector<void*> pointers, args;
  std::vector<simt::Buffer> buffers;
  for (std::size_t b = 0; b < program.buffer.size(); ++b) {
    const auto& area = areas[static_cast<std::size_t>(step.storage[static_cast<std::size_t>(program.buffer[b])])];
    const auto shift = ir::shift_of(step.advance, block, static_cast<std::size_t>(program.buffer[b]));
    pointers.push_back(static_cast<unsigned char*>(area.element_0) + shift * size_of(program.buffers[b].type));
    buffers.push_back({area.begin, area.bytes, program.buffers[b].written});
  }
  struct alignas(16) Value {
    unsigned char at[16] = {};
  };
  std::vector<Value> values(program.params.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto param = static_cast<std::size_t>(step.param[static_cast<std::size_t>(program.param[k])]);
    runtime::encode_factor(params[param], program.params[k].type, values[k].at);
  }
  for (auto& pointer : pointers) args.push_back(&pointer);
  for (auto& value : values) args.push_back(value.at);
  simt::Options options;
  options.order = static_cast<simt::Order>(seed % 3);
  options.one_buffer_per_access = false;  // of two loads that a selection chooses between, compilers make one
  const auto told = [&](const std::string& what) {
    return ir::print(program) + kernel::print(schedule) + source.text + what;
  };
  try {
    const auto report = simt::run(simt::launch_of(source, program, schedule), args.data(), buffers, options);
    return report.clean() ? std::string() : told(report.text());
  } catch (const CompileError& error) {
    return told(error.what() + error.log());
  }
}

/// The same by one of the schedules that the step has.
inline std::string run_step(const ir::Step& step, const std::vector<Area>& areas, const std::vector<Scalar>& params,
                            std::uint64_t seed, const ir::BlockValues& block = {}) {
  if (!runtime::has_points(step.program)) return {};
  const auto program = ir::canonicalise(step.program);
  const auto list = plan::candidates(program, plan::GpuModel::of_capability(90));
  const auto& schedule = list[seed % 3 == 0 ? 0 : static_cast<std::size_t>(seed / 3) % list.size()].schedule;
  return run_schedule(step, program, schedule, areas, params, seed, block);
}

/// Areas for the workspace of a sequence, behind those of its tensors. They are there as long as what is returned.
inline std::vector<std::unique_ptr<Line[]>> add_workspace(const ir::Sequence& sequence, std::vector<Area>& areas) {
  std::vector<std::unique_ptr<Line[]>> workspace;
  for (std::size_t k = areas.size(); k < sequence.storages.size(); ++k) {
    const auto& storage = sequence.storages[k];
    const auto lines = static_cast<std::size_t>((storage.last + 1) * size_of(storage.type)) / sizeof(Line) + 1;
    workspace.push_back(std::make_unique<Line[]>(lines));
    auto* const begin = workspace.back()[0].at;
    areas.push_back({begin, lines * sizeof(Line), begin});
  }
  return workspace;
}

}  // namespace ricci::fuzz
