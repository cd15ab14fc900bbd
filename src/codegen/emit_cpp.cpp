// C++ from a program and a schedule: one function over a range of tiles, for one thread.
//
// Arguments, the loop over tiles, and the body of a tile: copy_kernel.cpp for copies, compute.cpp for everything else.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/compute.hpp"
#include "codegen/copy_kernel.hpp"
#include "codegen/expression.hpp"
#include "codegen/point.hpp"
#include "codegen/source.hpp"
#include "codegen/writer.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using ir::Program;
using ir::Schedule;

/// Host versions of functions that CUDA's prelude defines in src/codegen/device/cuda.cuh.
std::string host_prelude(const Program& program) {
  const bool counts = std::any_of(program.nodes.begin(), program.nodes.end(), [](const ir::Node& node) {
    return node.kind == ir::NodeKind::op && node.op == ir::OpCode::popcount;
  });
  return counts ? "inline int popcount32(u32 x) { return __builtin_popcount(x); }\n"
                  "inline int popcount64(u64 x) { return __builtin_popcountll(x); }\n\n"
                : "";
}

class CppEmitter {
 public:
  CppEmitter(const Program& program, const Schedule& schedule) : program_(program), schedule_(schedule) {}

  std::string emit(const std::string& kernel) {
    if (!schedule_.computes()) emit_copy_helpers(w_, program_, schedule_);
    const char* suffix = schedule_.computes() ? "" : "_base";
    w_.line("extern \"C\" void {}(void* const* args, i64 first, i64 last{})", kernel,
            ir::stage_arrays(program_, schedule_).arrays > 0 ? ", char* scratch" : "");
    w_.open("{{");
    for (std::size_t k = 0; k < program_.buffers.size(); ++k) {
      const auto& buffer = program_.buffers[k];
      const auto type = fmt::format("{}{}*", buffer.written ? "" : "const ", c_type(buffer.type));
      w_.line("{} const {}{} = ({})args[{}];", type, buffer.name, suffix, type, k);
    }
    for (std::size_t k = 0; k < program_.params.size(); ++k) {
      const auto type = c_type(program_.params[k].type);
      w_.line("const {} {} = *(const {}*)args[{}];", type, program_.params[k].name, type, program_.buffers.size() + k);
    }
    if (schedule_.computes()) {
      w_.open("for (i64 tile = first; tile < last; ++tile) {{");
      emit_compute_cpp(w_, program_, schedule_);
      w_.close();
    } else {
      emit_copy(w_, program_, schedule_);
    }
    // Nontemporal stores are weakly ordered: make them visible before the function returns.
    if (schedule_.streaming) w_.line("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
    w_.close();
    return w_.take();
  }

 private:
  const Program& program_;
  const Schedule& schedule_;
  Writer w_;
};

}  // namespace

Source emit_cpp(const Program& program, const Schedule& schedule, const Notes& notes) {
  ir::verify(schedule, program);
  Source source;
  source.kernel = kernel_name(program);
  source.portable = portable_prelude(program) + host_prelude(program) + lane_types(program, schedule);
  if (schedule.computes()) source.portable += scan_functions(program);
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.reproduce, notes.plan) +
                CppEmitter(program, schedule).emit(source.kernel);
  return source;
}

}  // namespace ricci::codegen
