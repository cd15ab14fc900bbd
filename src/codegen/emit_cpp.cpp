// C++ from a program and a schedule: one function over a range of tiles, for one thread.
//
// Arguments of copies, whose loops are copy_kernel.cpp's; what computes is emit_kernel.cpp's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/copy_kernel.hpp"
#include "codegen/expression.hpp"
#include "codegen/source.hpp"
#include "codegen/writer.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using ir::Program;
using ir::Schedule;

class CppEmitter {
 public:
  CppEmitter(const Program& program, const Schedule& schedule) : program_(program), schedule_(schedule) {}

  std::string emit(const std::string& kernel) {
    emit_copy_helpers(w_, program_, schedule_);
    w_.line("extern \"C\" void {}(void* const* args, i64 first, i64 last{})", kernel,
            ir::stage_arrays(program_, schedule_).arrays > 0 ? ", char* scratch" : "");
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
    emit_copy(w_, program_, schedule_);
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
  source.portable = portable_prelude(program);
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.reproduce, notes.plan) +
                CppEmitter(program, schedule).emit(source.kernel);
  return source;
}

}  // namespace ricci::codegen
