// An expanded kernel as C++ for Clang: one function over a range of tasks.
#include <fmt/format.h>

#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "codegen/kernel_text.hpp"
#include "codegen/writer.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using kernel::Bind;
using kernel::Body;
using kernel::Kernel;
using kernel::Space;

constexpr const char* kTranspose =
    R"(// N vectors of N lanes, transposed: log2 N rounds that exchange blocks of half the size of those before.
template <int... I> struct lanes_of {};
template <class T, T... I> struct sequence { typedef lanes_of<I...> type; };
template <int D, int N, class V, int... I>
inline V low_half(V a, V b, lanes_of<I...>) { return __builtin_shufflevector(a, b, ((I & D) != 0 ? N + I - D : I)...); }
template <int D, int N, class V, int... I>
inline V high_half(V a, V b, lanes_of<I...>) { return __builtin_shufflevector(a, b, ((I & D) != 0 ? N + I : I + D)...); }
template <int D, int N, class V>
inline void exchange(V (&rows)[N]) {
  typedef typename __make_integer_seq<sequence, int, N>::type all;
  #pragma unroll
  for (int i = 0; i < N; ++i) {
    if ((i & D) != 0) continue;
    const V a = rows[i], b = rows[i + D];
    rows[i] = low_half<D, N>(a, b, all());
    rows[i + D] = high_half<D, N>(a, b, all());
  }
  if constexpr (D > 1) exchange<D / 2, N>(rows);
}
template <int N, class V>
inline void transpose(V (&rows)[N]) { exchange<N / 2, N>(rows); }

)";

constexpr const char* kNontemporal = R"(// A nontemporal store where the address is a multiple of a vector.
template <class V, class T>
inline void store_nontemporal(T* to, V value) {
  typedef V __attribute__((aligned(sizeof(T)), may_alias)) in_memory;
  if (((u64)to & (sizeof(V) - 1)) == 0) {
    __builtin_nontemporal_store(value, (V*)to);
  } else {
    *(in_memory*)to = value;
  }
}

)";

constexpr const char* kParts = R"(// The first C lanes of a vector; what is not read is 0.
template <class V, int C, class T>
inline V load_part(const T* from) {
  V value = {};
  __builtin_memcpy(&value, from, C * sizeof(T));
  return value;
}
template <int C, class T, class V>
inline void store_part(T* to, V value) { __builtin_memcpy(to, &value, C * sizeof(T)); }

)";

std::string pairs(const std::string& vector, int lanes) {
  std::string turned, conjugated;
  for (int k = 0; k < lanes; k += 2) {
    turned += fmt::format(", {}, {}", k + 1, lanes + k);
    conjugated += fmt::format(", {}, {}", k, lanes + k + 1);
  }
  return fmt::format(
      "inline {0} times_i({0} z) {{ return __builtin_shufflevector(-z, z{1}); }}\n"
      "inline {0} conj_pairs({0} z) {{ return __builtin_shufflevector(z, -z{2}); }}\n\n",
      vector, turned, conjugated);
}

class CppPrinter {
 public:
  explicit CppPrinter(const Kernel& kernel) : kernel_(kernel), text_(kernel, true, true) {}

  std::string print(const std::string& name) {
    w_.line("extern \"C\" void {}(void* const* args, i64 first, i64 last, char* scratch)", name);
    w_.open("{{");
    std::size_t argument = 0;
    std::int64_t at = 0;
    for (const auto& array : kernel_.arrays) {
      const auto type =
          std::string(array.space == Space::global && !array.written ? "const " : "") + c_type(array.type);
      if (array.space == Space::global)
        w_.line("{}* __restrict__ const {} = ({}*)args[{}];", type, array.name, type, argument++);
      if (array.space == Space::scratch) {
        w_.line("{}* __restrict__ const {} = ({}*)(scratch + {});", type, array.name, type, at);
        at += (array.elements() * size_of(array.type) + 63) / 64 * 64;
      }
    }
    for (const auto& param : kernel_.params) {
      const auto type = c_type(param.type);
      w_.line("const {} {} = *(const {}*)args[{}];", type, param.name, type, argument++);
    }
    w_.open("for (i64 task = first; task < last; ++task) {{");
    tasks(kernel_.body, kernel_.tasks());
    w_.close();
    // Nontemporal stores are not ordered: they are complete for whoever sees that this function has returned.
    if (nontemporal_) w_.line("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
    w_.close();
    return w_.take();
  }

  std::string prelude() const {
    std::string types;
    for (const auto& [type, lanes] : text_.vector_types()) {
      const auto vector = fmt::format("{}x{}", ricci::name(type), lanes);
      types += fmt::format(
          "typedef {} {} __attribute__((ext_vector_type({})));\n"
          "typedef {} {}_in_memory __attribute__((aligned({}), may_alias));\n\n",
          c_type(type), vector, lanes, vector, vector, size_of(type));
    }
    if (!text_.pair_types().empty())
      types += "// Vectors of complex numbers: pairs (x, y) as (-y, x), and as (x, -y).\n";
    for (const auto& [type, lanes] : text_.pair_types())
      types += pairs(fmt::format("{}x{}", ricci::name(type), lanes), lanes);
    return types + (nontemporal_ ? kNontemporal : "") + (text_.uses_parts() ? kParts : "") +
           (transposes_ ? kTranspose : "");
  }

 private:
  /// Task loops are digits of the task's number.
  void tasks(const Body& body, std::int64_t count) {
    if (body.size() == 1) {
      if (const auto* loop = std::get_if<kernel::Loop>(&body.front().node);
          loop != nullptr && loop->bind == Bind::task) {
        const auto extent = kernel_.extent(loop->var), below = count / extent;
        const auto quotient = below == 1 ? std::string("task") : fmt::format("task / {}", below);
        w_.line("const i64 {} = {};", text_.name(loop->var),
                below * extent == kernel_.tasks() ? quotient : fmt::format("{} % {}", quotient, extent));
        for (const auto& condition : loop->when) w_.line("if (!({})) continue;", text_.condition({condition}));
        return tasks(loop->body, below);
      }
    }
    // Copies before the last task loop's body stand with it.
    for (const auto& statement : body) {
      if (const auto* loop = std::get_if<kernel::Loop>(&statement.node); loop != nullptr && loop->bind == Bind::task) {
        throw InternalError("a statement beside a task loop");
      }
    }
    print(body);
  }

  void print(const Body& body) {
    for (const auto& statement : body) std::visit([&](const auto& node) { one(node); }, statement.node);
  }

  void one(const kernel::Loop& loop) {
    const auto& name = text_.name(loop.var);
    if (loop.bind == Bind::unroll) w_.line("#pragma unroll");
    const auto limit = loop.when.empty() ? std::string() : " && " + text_.condition(loop.when);
    w_.open("for ({} {} = 0; {} < {}{}; ++{}) {{", loop.bind == Bind::unroll ? "int" : "i64", name, name,
            kernel_.extent(loop.var), limit, name);
    print(loop.body);
    w_.close();
  }
  void one(const kernel::Let& let) {
    auto text = text_.affine(let.of);
    if (let.divisor > 1) text = fmt::format("({}) / {}", text, let.divisor);
    if (let.modulus > 0) text = fmt::format("({}) % {}", text, let.modulus);
    w_.line("const i64 {} = {};", text_.name(let.var), text);
  }
  void one(const kernel::If& branch) {
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
    const auto value = text_.value(store.value);
    if (!store.nontemporal) {
      w_.line("{}", text_.store(store.to, value));
      return;
    }
    nontemporal_ = true;
    w_.line("store_nontemporal<{}>({}, {});", text_.vector_type(kernel_.array(store.to.array).type, store.to.lanes),
            text_.pointer(store.to), value);
  }
  void one(const kernel::Transpose& transpose) {
    transposes_ = true;
    w_.line("transpose({});", kernel_.array(transpose.array).name);
  }
  template <class Other>
  void one(const Other&) {
    throw InternalError("a statement that no C++ text has");
  }
  void one(const kernel::Declare& declaration) {
    const auto& array = kernel_.array(declaration.array);
    std::string shape;
    for (const auto extent : array.shape) shape += fmt::format("[{}]", extent);
    w_.line("{} {}{};", array.lanes > 1 ? text_.vector_type(array.type, array.lanes) : std::string(c_type(array.type)),
            array.name, shape);
  }

  const Kernel& kernel_;
  KernelText text_;
  Writer w_;
  bool transposes_ = false, nontemporal_ = false;
};

}  // namespace

KernelSource print_cpp(const Kernel& kernel, const std::string& name) {
  CppPrinter printer(kernel);
  KernelSource source;
  source.text = printer.print(name);
  source.prelude = printer.prelude();
  return source;
}

}  // namespace ricci::codegen
