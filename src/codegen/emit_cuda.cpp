// CUDA C++ of a schedule with a register tile: the signature around what compute.cpp writes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "codegen/called_functions.hpp"
#include "codegen/compute.hpp"
#include "codegen/expression.hpp"
#include "codegen/prelude.hpp"
#include "codegen/source.hpp"
#include "codegen/writer.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using ir::Program;

constexpr std::int64_t kNarrow = std::int64_t{1} << 31;

std::vector<std::string> parameter_types(const Program& program) {
  std::vector<std::string> types;
  for (const auto& buffer : program.buffers)
    types.push_back(fmt::format("{}{}*", buffer.written ? "" : "const ", c_type(buffer.type)));
  for (const auto& param : program.params) types.emplace_back(c_type(param.type));
  return types;
}

std::string parameters(const Program& program) {
  std::vector<std::string> parameters;
  const auto types = parameter_types(program);
  const auto chosen = chosen_beside_written(program);
  const auto n = program.buffers.size();
  for (std::size_t k = 0; k < types.size(); ++k) {
    parameters.push_back(
        k < n ? fmt::format("{}{} {}", types[k], chosen[k] ? "" : " __restrict__", program.buffers[k].name)
              : fmt::format("{} {}", types[k], program.params[k - n].name));
  }
  return fmt::format("{}", fmt::join(parameters, ", "));
}

}  // namespace

Source emit_cuda(const Program& program, const ir::Schedule& schedule, const Notes& notes) {
  ir::verify(schedule, program);
  if (schedule.tiles(program) >= kNarrow) {
    throw PlanError(fmt::format("{} tiles are more than a launch takes (2^31 - 1)", schedule.tiles(program)));
  }
  const bool wide = std::any_of(program.buffers.begin(), program.buffers.end(), [](const ir::Buffer& buffer) {
    return buffer.last >= kNarrow || -buffer.first >= kNarrow;
  });
  Source source;
  source.kernel = kernel_name(program);
  source.parameter_types = parameter_types(program);
  source.portable = portable_prelude(program) + called_definitions(program);
  source.device = device_prelude({}) + '\n';
  Writer w;
  w.line("extern \"C\" __global__ void __launch_bounds__({})", schedule.threads);
  w.line("{}({})", source.kernel, parameters(program));
  w.open("{{");
  emit_compute_cuda(w, program, schedule, wide);
  w.close();
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.reproduce, notes.plan) + w.take();
  return source;
}

}  // namespace ricci::codegen
