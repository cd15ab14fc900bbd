// A kernel of src/codegen on the simulator. In a header of its own: the simulator takes any CUDA text.
#pragma once

#include "codegen/expression.hpp"
#include "codegen/source.hpp"
#include "simt/simulator.hpp"

namespace ricci::simt {

/// Their C++ types, in order.
inline std::vector<std::string> types_of(const std::vector<kernel::Argument>& arguments) {
  using Kind = kernel::Argument::Kind;
  std::vector<std::string> types;
  for (const auto& argument : arguments) {
    const std::string type = codegen::c_type(argument.type);
    const bool reads = argument.kind == Kind::buffer && !argument.written;
    types.push_back(argument.kind == Kind::map     ? "TensorMap"
                    : argument.kind == Kind::param ? type
                                                   : (reads ? "const " : "") + type + "*");
  }
  return types;
}

/// How emit()'s source of a program and a schedule is launched. Link ricci_codegen.
inline Launch launch_of(const codegen::Source& source, const ir::Program& program, const kernel::Schedule& schedule) {
  Launch launch;
  launch.source = source.portable + source.text;
  launch.kernel = source.kernel;
  const auto shape = kernel::launch_of(program, schedule, kernel::Target::cuda);
  launch.parameter_types = types_of(shape.arguments);
  launch.grid_x = static_cast<unsigned>(shape.tasks);
  launch.block = static_cast<unsigned>(shape.threads);
  launch.dynamic_shared = static_cast<std::size_t>(shape.dynamic_shared_bytes);
  launch.maps = shape.maps;
  return launch;
}

}  // namespace ricci::simt
