// The function around a copy: one over a range of tiles, for one thread. Its loops are copy_kernel.cpp's.
#include "codegen/cpu_copy/emit_copy.hpp"

#include <fmt/format.h>

#include "codegen/cpu_copy/copy_kernel.hpp"
#include "codegen/expression.hpp"
#include "codegen/writer.hpp"
#include "kernel/permute/cpu_stage.hpp"

namespace ricci::codegen {
namespace {

using ir::Program;
using kernel::Moves;

class FunctionEmitter {
 public:
  FunctionEmitter(const Program& program, const Moves& moves) : program_(program), moves_(moves) {}

  std::string emit(const std::string& kernel) {
    emit_copy_helpers(w_, program_, moves_);
    w_.line("extern \"C\" void {}(void* const* args, i64 first, i64 last{})", kernel,
            kernel::stage_arrays(program_, moves_).arrays > 0 ? ", char* __restrict__ scratch" : "");
    w_.open("{{");
    for (std::size_t k = 0; k < program_.buffers.size(); ++k) {
      const auto& buffer = program_.buffers[k];
      const auto type = fmt::format("{}{}*", buffer.written ? "" : "const ", c_type(buffer.type));
      w_.line("{} const {}_base = ({})args[{}];", type, buffer.name, type, k);
    }
    for (std::size_t k = 0; k < program_.params.size(); ++k) {
      const auto type = c_type(program_.params[k].type);
      w_.line("const {} {} = *(const {}*)args[{}];", type, program_.params[k].name, type, program_.buffers.size() + k);
    }
    emit_copy(w_, program_, moves_);
    // Nontemporal stores are weakly ordered: make them visible before the function returns.
    if (moves_.streaming) w_.line("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
    w_.close();
    return w_.take();
  }

 private:
  const Program& program_;
  const Moves& moves_;
  Writer w_;
};

}  // namespace

Source emit_copy(const Program& program, const kernel::Schedule& schedule, const Notes& notes) {
  const auto moves = kernel::moves_of(program, schedule.directives);
  kernel::verify(moves, program);
  Source source;
  source.kernel = kernel_name(program);
  source.portable = portable_prelude(program);
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.reproduce, notes.plan) +
                FunctionEmitter(program, moves).emit(source.kernel);
  return source;
}

}  // namespace ricci::codegen
