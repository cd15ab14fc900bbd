// A kernel of src/codegen on the simulator. In a header of its own: the simulator takes any CUDA text.
#pragma once

#include "codegen/source.hpp"
#include "simt/simulator.hpp"

namespace ricci::simt {

/// How emit_cuda's source of a program and a schedule is launched. Link ricci_codegen.
inline Launch launch_of(const codegen::Source& source, const ir::Program& program, const kernel::Schedule& schedule) {
  Launch launch;
  launch.source = source.portable + source.text;
  launch.kernel = source.kernel;
  launch.parameter_types = source.parameter_types;
  const auto shape = kernel::launch_of(program, schedule, kernel::Target::cuda);
  launch.grid_x = static_cast<unsigned>(shape.tasks);
  launch.block = static_cast<unsigned>(shape.threads);
  launch.dynamic_shared = static_cast<std::size_t>(shape.dynamic_shared_bytes);
  launch.maps = shape.maps;
  return launch;
}

}  // namespace ricci::simt
