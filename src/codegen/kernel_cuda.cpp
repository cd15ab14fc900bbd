// An expanded kernel as CUDA C++: one function, a task a block.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "codegen/prelude.hpp"
#include "codegen/statement_printer.hpp"
#include "kernel/atoms.hpp"
#include "kernel/warp_group.hpp"

namespace ricci::codegen {
namespace {

using kernel::Array;
using kernel::Bind;
using kernel::Body;
using kernel::Kernel;
using kernel::kSharedAlignment;
using kernel::kStaticSharedBytes;
using kernel::Space;

class CudaPrinter : StatementPrinter<CudaPrinter> {
  friend StatementPrinter;

 public:
  explicit CudaPrinter(const Kernel& kernel) : StatementPrinter(kernel, false) {}
  Source print(const std::string& name) {
    std::vector<std::string> arguments;
    for (const auto& array : kernel_.arrays) {
      if (array.space == Space::global)
        arguments.push_back(fmt::format("{}{}* {}{}", array.written ? "" : "const ", c_type(array.type),
                                        array.restricted ? "__restrict__ " : "", array.name));
    }
    for (const auto& param : kernel_.params) arguments.push_back(fmt::format("{} {}", c_type(param.type), param.name));
    for (const auto& map : kernel_.maps) arguments.push_back("const __grid_constant__ TensorMap " + map.name);
    parts_.tensor_map = !kernel_.maps.empty();
    parts_.cluster = kernel_.cluster() > 1;
    w_.line("extern \"C\" __global__ void {}__launch_bounds__({}{})",
            parts_.cluster ? fmt::format("__cluster_dims__({}, 1, 1) ", kernel_.cluster()) : "", kernel_.threads,
            kernel_.blocks > 0 ? fmt::format(", {}", kernel_.blocks) : "");
    w_.line("{}({})", name, fmt::join(arguments, ", "));
    w_.open("{{");
    for (const auto& array : kernel_.arrays) {  // both halves of a complex number are one store
      const auto size = size_of(array.type);
      if (array.space == Space::global && array.written && is_complex(array.type) && array.alignment >= size)
        w_.line("{0} = ({1}*)__builtin_assume_aligned({0}, {2});", array.name, c_type(array.type), size);
    }
    shared();
    print_function(kernel_.body);
    w_.close();
    return {name, text_.called_definitions(), device_prelude(parts_) + '\n', tables_.take() + w_.take()};
  }

 private:
  void shared() {
    std::vector<const Array*> all;
    auto widest = kSharedAlignment;
    for (const auto& array : kernel_.arrays) {
      if (array.space != Space::shared) continue;
      all.push_back(&array);
      widest = std::max(widest, shared_alignment(array));
    }
    // One behind the other each begins at a multiple of its alignment, as its size is one of it, too.
    std::ranges::stable_sort(all, std::greater{}, [](const Array* array) { return shared_alignment(*array); });
    const bool dynamic = shared_bytes(kernel_) > kStaticSharedBytes, several = all.size() > 1;
    if (dynamic && several) w_.line("extern __shared__ __align__({}) unsigned char shared[];", widest);
    std::int64_t at = 0;
    for (const auto* array : all) {
      const auto type = c_type(array->type);
      if (dynamic && several) {
        w_.line("{}* const {} = ({}*)(shared + {});", type, array->name, type, at);
      } else {
        w_.line("{}__shared__ __align__({}) {} {}[{}];", dynamic ? "extern " : "", shared_alignment(*array), type,
                array->name, dynamic ? "" : fmt::format("{}", array->elements()));
      }
      at += shared_bytes(*array);
    }
  }

  /// Where a condition is around the rest of the function, others return.
  void print_function(const Body& body) {
    for (const auto& statement : body) {
      const auto* loop = std::get_if<kernel::Loop>(&statement.node);
      const auto* branch = std::get_if<kernel::If>(&statement.node);
      if (loop != nullptr && (kernel::numbers_blocks(loop->bind) || loop->bind == Bind::thread)) {
        bound(*loop);
        print_function(loop->body);
      } else if (branch != nullptr && &statement == &body.back() && branch->otherwise.empty() &&
                 branch->values.empty()) {
        for (const auto& condition : branch->when) leave_unless(condition);
        print_function(branch->then);
      } else {
        print(statement);
      }
    }
  }

  using StatementPrinter::one, StatementPrinter::print;
  void one(const kernel::Loop& loop) {
    const auto& name = text_.name(loop.var);
    const auto limit = loop.when.empty() ? std::string() : " && " + text_.condition(loop.when);
    if (loop.bind != Bind::any) {
      w_.line("#pragma unroll{}", loop.bind != Bind::unroll ? " 1"
                                  : loop.times > 0          ? fmt::format(" {}", loop.times)
                                                            : "");
    }
    w_.open("for ({} {} = {}; {} < {}{}; {}) {{", text_.type(loop.var), name, text_.affine(loop.first), name,
            kernel_.extent(loop.var), limit, next(name, loop.step));
    if (loop.bind != Bind::unroll) text_.count_rounds(loop.var);
    print(loop.body);
    w_.close();
  }
  void leave_unless(const kernel::Condition& condition) {
    w_.line("if ({}) return;", text_.condition({{-1 * condition.value, 1 - condition.below}}));
  }
  /// A thread's number, or a digit of its block's.
  void bound(const kernel::Loop& loop) {
    const auto extent = kernel_.extent(loop.var);
    if (loop.bind == Bind::thread) {
      w_.line("const int {} = {};", text_.name(loop.var), digit("threadIdx.x", kernel_.threads, threads_, extent));
      threads_ /= extent;
      return;
    }
    const auto all = kernel_.tasks();
    const char* block = extent == all ? "blockIdx.x" : "(int)blockIdx.x";
    w_.line("const int {} = {};", text_.name(loop.var), extent == 1 ? "0" : digit(block, all, blocks_, extent));
    blocks_ /= extent;
    for (const auto& condition : loop.when) leave_unless(condition);
  }
  void one(const kernel::Let& let) {
    if (text_.counts_rounds(let.of)) text_.count_rounds(let.var);
    StatementPrinter::one(let);
  }
  void one(const kernel::If& branch) {
    // A branch around one copy is its own predicate.
    if (branch.then.size() == 1 && branch.otherwise.empty() && branch.values.empty()) {
      if (const auto* copy = std::get_if<kernel::AsyncCopy>(&branch.then.front().node))
        return copied(*copy, text_.condition(branch.when));
    }
    StatementPrinter::one(branch);
  }
  void one(const kernel::Section& section) {
    if (!section.title.empty()) w_.blank();
    StatementPrinter::one(section);
  }
  void one(const kernel::Advance& advance) {
    if (advance.by == kernel::Affine()) return;
    w_.line("{} += {};", kernel_.array(advance.array).name, text_.affine(advance.by, text_.is_wide(advance.by)));
  }
  void one(const kernel::AdvanceByLanes& advance);
  void one(const kernel::Store& store) {
    parts_.reduce = parts_.reduce || store.atomic;
    StatementPrinter::one(store);
  }
  void one(const kernel::LaneReduce& reduce) {
    const auto own = text_.load(reduce.registers);
    w_.line("#pragma unroll");
    w_.line("for (int mask = {}; mask > 0; mask /= 2) {} = {};", reduce.lanes / 2, own,
            text_.combined(reduce.op, kernel_.array(reduce.registers.array).type, own,
                           fmt::format("shuffle_xor({}, mask)", own)));
  }
  void one(const kernel::LaneScan& scan) {
    const auto own = text_.load(scan.registers);
    const auto type = kernel_.array(scan.registers.array).type;
    w_.line("#pragma unroll");
    w_.open("for (int span = 1; span < 32; span *= 2) {{");
    w_.line("const {} below = shuffle_up({}, span);", c_type(type), own);
    w_.line("if ((int)(threadIdx.x % 32) >= span) {} = {};", own, text_.combined(scan.op, type, "below", own));
    w_.close();
  }
  void one(const kernel::AsyncCopy& copy) { copied(copy, {}); }
  void one(const kernel::Prefetch& prefetch) {
    parts_.async = true;
    w_.line("prefetch_run<{}>({});", prefetch.count * size_of(kernel_.array(prefetch.from.array).type),
            text_.pointer(prefetch.from));
  }
  /// wanted: where anything is copied at all; empty: everywhere.
  void copied(const kernel::AsyncCopy& copy, const std::string& wanted) {
    parts_.async = true;
    w_.line("copy_async{}{}<{}>({}, {}{}{});", copy.when.empty() ? "" : "_or_zero", wanted.empty() ? "" : "_if",
            copy.bytes, text_.pointer(copy.to), text_.pointer(copy.from),
            copy.when.empty() ? std::string() : ", " + text_.condition(copy.when),
            wanted.empty() ? std::string() : ", " + wanted);
  }
  void one(const kernel::Counters& counters) {
    const auto& array = kernel_.array(counters.array);
    w_.line("begin_counters({}, {});", array.name, array.elements());
    for (const auto& map : kernel_.maps) w_.line("fetch_map(&{});", map.name);
  }
  void one(const kernel::Expect& expect) {
    w_.line("expect_bytes({}, {});", text_.pointer(expect.counter), expect.bytes);
  }
  void one(const kernel::BoxCopy& copy) {
    std::vector<std::string> at;
    for (const auto& coordinate : copy.at) at.push_back(text_.affine(coordinate, false));
    w_.line("copy_box({}, &{}, {}, {});", text_.unswizzled(copy.to),
            kernel_.maps[static_cast<std::size_t>(copy.map)].name, text_.pointer(copy.counter), fmt::join(at, ", "));
  }
  void one(const kernel::Await& await) {
    w_.line("await_bytes({}, {});", text_.pointer(await.counter), text_.affine(await.parity));
  }
  void one(const kernel::Commit& commit) {
    (commit.products ? parts_.warp_group : parts_.async) = true;
    w_.line("commit_{}();", commit.products ? "products" : "async");
  }
  void one(const kernel::Wait& wait) {
    if (wait.sums >= 0) {
      parts_.warp_group = true;
      return w_.line("wait_products<{}>({});", wait.groups, kernel_.array(wait.sums).name);
    }
    parts_.async = true;
    w_.line("wait_async<{}>();", wait.groups);
  }
  void one(const kernel::Fence& fence) {
    parts_.warp_group = true;
    w_.line("fence_{}({});", fence.registers >= 0 ? "registers" : "shared",
            fence.registers >= 0 ? kernel_.array(fence.registers).name : "");
  }
  void one(const kernel::Barrier& barrier) {
    constexpr const char* kNames[] = {"__syncwarp", "__syncthreads", "barrier_of_cluster"};  // of Barrier::Of
    w_.line("{}();", kNames[static_cast<int>(barrier.of)]);
  }
  void one(const kernel::MatrixLoad& load) {
    parts_.tensor_core = true;
    const auto count = load.fragments * kernel_.array(load.to.array).shape.back();
    const auto to = text_.load(load.to);
    w_.line("load_matrix_x{}{}({}, {});", count, load.transposed ? "_transposed" : "",
            load.fragments > 1 ? fmt::format("*(u32 (*)[{}])&{}", count, to) : to, text_.pointer(load.from));
  }
  void one(const kernel::MmaCall& call) {
    parts_.tensor_core = true;
    parts_.products.insert(call.atom);
    w_.line("mma_{}({}, {}, {});", call.atom, text_.load(call.d), text_.load(call.a), text_.load(call.b));
  }
  void one(const kernel::GroupMma& product) {
    parts_.warp_group = true;
    const auto& sum = kernel_.array(product.d.array);
    parts_.group_products.insert({product.atom, static_cast<int>(sum.shape[1])});
    const auto* a = std::get_if<kernel::SharedMatrix>(&product.a);
    const bool either_way = kernel::lies_either_way(kernel::find_atom(product.atom)->a.type);
    parts_.tensor_core = parts_.tensor_core || (a == nullptr && either_way);
    const auto ways = !either_way    ? std::string()
                      : a != nullptr ? fmt::format("<{:d}, {:d}>", !a->along_depth, !product.b.along_depth)
                                     : fmt::format("<{:d}>", !product.b.along_depth);
    w_.line("{}{}({}, {}, {});", product.atom, ways, text_.load(product.d),
            a != nullptr ? matrix(*a) : text_.load(std::get<kernel::Access>(product.a)), matrix(product.b));
  }
  std::string matrix(const kernel::SharedMatrix& matrix) {
    const auto& array = kernel_.array(matrix.start.array);
    const auto size = size_of(array.type);
    return fmt::format("shared_matrix<{}>({}, {}, {})", kernel::row_of(array) * size, text_.unswizzled(matrix.start),
                       matrix.leading * size, matrix.stride * size);
  }

  void table(const std::string& name, const std::vector<std::int64_t>& values, const char* type = "int") {
    tables_.line("static __device__ const {} {}[{}] = {{{}}};", type, name, values.size(), fmt::join(values, ", "));
  }

  Writer tables_;
  DeviceParts parts_;
  std::int64_t blocks_ = kernel_.tasks(), threads_ = kernel_.threads;  // below the loops so far
};

void CudaPrinter::one(const kernel::AdvanceByLanes& advance) {
  const auto type_of = [&](const kernel::Affine& by) { return text_.is_wide(by) ? "i64" : "int"; };
  const auto each = [&](const auto& say) {
    for (const auto& [array, by] : advance.moves) say(kernel_.array(array).name, by);
  };
  std::vector<std::int64_t> divisors, extents;
  for (const auto var : advance.digits) {
    const auto& digit = text_.said_in_place(var);
    divisors.push_back(digit.divisor);
    // The last digit needs no remainder; with its number of values the tables hold one all the same.
    extents.push_back(digit.modulus > 0 ? digit.modulus : kernel_.extent(digit.var));
  }
  tables_.line("// per digit of the block's number: its divisor, its number of values, what it moves each array by");
  table("kDivisor", divisors);
  table("kExtent", extents);
  each([&](const auto& array, const auto& by) {
    std::vector<std::int64_t> steps;
    for (const auto var : advance.digits) steps.push_back(by.coefficient(var));
    table("kStep" + array, steps, type_of(by));
  });
  tables_.blank();
  w_.blank();
  w_.line("// origin: lane k holds digit k, a butterfly adds them up");
  w_.line("const int lane = threadIdx.x % 32;");
  each([&](const auto& array, const auto& by) { w_.line("{} step{} = 0;", type_of(by), array); });
  w_.open("if (lane < {}) {{", advance.digits.size());
  w_.line("const int digit = {} / kDivisor[lane] % kExtent[lane];",
          text_.affine(text_.said_in_place(advance.digits.front()).of));
  each([&](const auto& array, const auto&) { w_.line("step{0} = digit * kStep{0}[lane];", array); });
  w_.close();
  w_.line("#pragma unroll");
  w_.open("for (int mask = 16; mask > 0; mask /= 2) {{");
  each([&](const auto& array, const auto&) { w_.line("step{0} += shuffle_xor(step{0}, mask);", array); });
  w_.close();
  each([&](const auto& array, const auto& by) {
    w_.line("{0} += step{0}{1};", array, by.constant == 0 ? "" : fmt::format(" {:+}", by.constant).insert(2, " "));
  });
}

}  // namespace

Source print_cuda(const Kernel& kernel, const std::string& name) { return CudaPrinter(kernel).print(name); }

}  // namespace ricci::codegen
