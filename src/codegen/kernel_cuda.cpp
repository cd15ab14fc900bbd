// An expanded kernel as CUDA C++: one function, a task a block.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "codegen/kernel_text.hpp"
#include "codegen/prelude.hpp"
#include "codegen/writer.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using kernel::Array;
using kernel::Bind;
using kernel::Body;
using kernel::Kernel;
using kernel::Space;

constexpr std::int64_t kSharedAlignment = 128;
constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;

std::int64_t bytes_of(const Array& array) {
  return (array.elements() * size_of(array.type) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

class CudaPrinter {
 public:
  explicit CudaPrinter(const Kernel& kernel) : kernel_(kernel), text_(kernel, false, false) {}

  std::string print(const std::string& name) {
    std::string arguments;
    const auto argument = [&](const std::string& text) { arguments += (arguments.empty() ? "" : ", ") + text; };
    for (const auto& array : kernel_.arrays) {
      if (array.space != Space::global) continue;
      argument(fmt::format("{}{}* {}{}", array.written ? "" : "const ", c_type(array.type),
                           array.written ? "" : "__restrict__ ", array.name));
    }
    for (const auto& param : kernel_.params) argument(fmt::format("{} {}", c_type(param.type), param.name));
    w_.line("extern \"C\" __global__ void __launch_bounds__({}, {}) {}({})", kernel_.threads, kernel_.blocks, name,
            arguments);
    w_.open("{{");
    shared();
    print(kernel_.body);
    w_.close();
    return w_.take();
  }

  const DeviceParts& parts() const { return parts_; }

 private:
  void shared() {
    const bool dynamic = shared_bytes(kernel_) > kStaticSharedBytes;
    std::int64_t at = 0;
    if (dynamic) w_.line("extern __shared__ __align__({}) unsigned char shared[];", kSharedAlignment);
    for (const auto& array : kernel_.arrays) {
      if (array.space != Space::shared) continue;
      const auto type = c_type(array.type);
      if (dynamic) {
        w_.line("{}* const {} = ({}*)(shared + {});", type, array.name, type, at);
      } else {
        w_.line("__shared__ __align__({}) {} {}[{}];", kSharedAlignment, type, array.name, array.elements());
      }
      at += bytes_of(array);
    }
  }

  void print(const Body& body) {
    for (const auto& statement : body) std::visit([&](const auto& node) { one(node); }, statement.node);
  }

  void one(const kernel::Loop& loop) {
    const auto& name = text_.name(loop.var);
    const auto extent = kernel_.extent(loop.var);
    if (loop.bind == Bind::task) return task(loop);
    if (loop.bind == Bind::thread) {
      w_.line("const int {} = (int)threadIdx.x;", name);
      return print(loop.body);
    }
    const auto limit = loop.when.empty() ? std::string() : " && " + text_.condition(loop.when);
    w_.line("#pragma unroll{}", loop.bind != Bind::unroll ? " 1"
                                : loop.times > 0          ? fmt::format(" {}", loop.times)
                                                          : "");
    w_.open("for (int {} = 0; {} < {}{}; ++{}) {{", name, name, extent, limit, name);
    print(loop.body);
    w_.close();
  }
  /// A digit of the block's number.
  void task(const kernel::Loop& loop) {
    if (below_ == 0) below_ = kernel_.tasks();
    const auto extent = kernel_.extent(loop.var);
    const bool first = below_ == kernel_.tasks();
    below_ /= extent;
    auto number = below_ == 1 ? std::string("(int)blockIdx.x") : fmt::format("(int)blockIdx.x / {}", below_);
    if (!first) number += fmt::format(" % {}", extent);
    w_.line("const int {} = {};", text_.name(loop.var), extent == 1 ? "0" : number);
    for (const auto& condition : loop.when) w_.line("if (!({})) return;", text_.condition({condition}));
    print(loop.body);
  }
  void one(const kernel::Let& let) {
    auto text = text_.affine(let.of);
    if (let.of.terms.size() + (let.of.constant != 0 ? 1 : 0) > 1) text = "(" + text + ")";
    if (let.divisor > 1) text = fmt::format("{} / {}", text, let.divisor);
    if (let.modulus > 0) text = fmt::format("{} % {}", text, let.modulus);
    w_.line("const int {} = {};", text_.name(let.var), text);
  }
  void one(const kernel::If& branch) {
    // A branch around one copy is its own predicate.
    if (branch.then.size() == 1 && branch.otherwise.empty()) {
      if (const auto* copy = std::get_if<kernel::AsyncCopy>(&branch.then.front().node))
        return copied(*copy, text_.condition(branch.when));
    }
    w_.open("if ({}) {{", text_.condition(branch.when));
    print(branch.then);
    if (!branch.otherwise.empty()) {
      w_.otherwise();
      print(branch.otherwise);
    }
    w_.close();
  }
  void one(const kernel::Comment& comment) { w_.line("// {}", comment.text); }
  void one(const kernel::Store& store) {
    const bool word = text_.are_words(kernel_.array(store.to.array));
    w_.line("{}", text_.store(store.to, word ? text_.word(store.value) : text_.value(store.value)));
  }
  void one(const kernel::AsyncCopy& copy) { copied(copy, {}); }
  /// wanted: where anything is copied at all; empty: everywhere.
  void copied(const kernel::AsyncCopy& copy, const std::string& wanted) {
    parts_.async = true;
    w_.line("copy_async{}{}<{}>({}, {}{}{});", copy.when.empty() ? "" : "_or_zero", wanted.empty() ? "" : "_if",
            copy.bytes, text_.pointer(copy.to), text_.pointer(copy.from),
            copy.when.empty() ? std::string() : ", " + text_.condition(copy.when),
            wanted.empty() ? std::string() : ", " + wanted);
  }
  void one(const kernel::Commit&) {
    parts_.async = true;
    w_.line("commit_async();");
  }
  void one(const kernel::Wait& wait) {
    parts_.async = true;
    w_.line("wait_async<{}>();", wait.groups);
  }
  void one(const kernel::Barrier&) { w_.line("__syncthreads();"); }
  void one(const kernel::MatrixLoad& load) {
    parts_.tensor_core = true;
    w_.line("load_matrix_x{}{}({}, {});", kernel_.array(load.to.array).shape.back(),
            load.transposed ? "_transposed" : "", text_.load(load.to), text_.pointer(load.from));
  }
  void one(const kernel::MmaCall& call) {
    parts_.tensor_core = true;
    w_.line("mma_{}({}, {}, {});", call.atom, text_.load(call.d), text_.load(call.a), text_.load(call.b));
  }
  void one(const kernel::Declare& declaration) {
    const auto& array = kernel_.array(declaration.array);
    std::string shape;
    for (const auto extent : array.shape) shape += fmt::format("[{}]", extent);
    w_.line("{} {}{};",
            text_.are_words(array) ? std::string("u32")
            : array.lanes > 1      ? text_.vector_type(array.type, array.lanes)
                                   : std::string(c_type(array.type)),
            array.name, shape);
  }
  template <class Other>
  void one(const Other&) {
    throw InternalError("a statement that no CUDA text has");
  }

  const Kernel& kernel_;
  KernelText text_;
  Writer w_;
  DeviceParts parts_;
  std::int64_t below_ = 0;
};

}  // namespace

std::int64_t shared_bytes(const Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const auto& array : kernel.arrays) {
    if (array.space == Space::shared) bytes += bytes_of(array);
  }
  return bytes;
}

KernelSource print_cuda(const Kernel& kernel, const std::string& name) {
  CudaPrinter printer(kernel);
  KernelSource source;
  source.text = printer.print(name);
  source.prelude = device_prelude(printer.parts());
  return source;
}

CudaLaunch launch_of(const Kernel& kernel) {
  CudaLaunch launch;
  launch.blocks = kernel.tasks();
  if (launch.blocks > kMostBlocks)
    throw PlanError(fmt::format("{} blocks are more than a launch takes (2^31 - 1)", launch.blocks));
  launch.threads = kernel.threads;
  const auto bytes = shared_bytes(kernel);
  launch.dynamic_shared_bytes = bytes > kStaticSharedBytes ? bytes : 0;
  for (const auto& array : kernel.arrays) {
    if (array.space == Space::global)
      launch.parameter_types.push_back(fmt::format("{}{}*", array.written ? "" : "const ", c_type(array.type)));
  }
  for (const auto& param : kernel.params) launch.parameter_types.emplace_back(c_type(param.type));
  return launch;
}

}  // namespace ricci::codegen
