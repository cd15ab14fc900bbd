// An expanded kernel as C++ for Clang: one function over a range of tasks.
#include <fmt/format.h>

#include <algorithm>

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

constexpr const char* kRows = R"(// Neighbours by vectors, while those that follow are prefetched.
template <class V, bool Prefetch, bool Nontemporal, class T>
static __attribute__((noinline)) void copy_row(T* __restrict__ to, const T* __restrict__ from, int count) {
  typedef V __attribute__((aligned(sizeof(T)), may_alias)) in_memory;
  #pragma clang loop unroll_count(4)
  for (int i = 0; i < count; i += sizeof(V) / sizeof(T)) {
    if constexpr (Prefetch) __builtin_prefetch(from + count + i, 0, 2);
    const V value = *(const in_memory*)(from + i);
    if constexpr (Nontemporal) {
      store_nontemporal<V>(to + i, value);
    } else {
      *(in_memory*)(to + i) = value;
    }
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
  std::string swapped, conjugated, first, second;
  for (int k = 0; k < lanes; k += 2) {
    swapped += fmt::format(", {}, {}", k + 1, lanes + k);
    conjugated += fmt::format(", {}, {}", k, lanes + k + 1);
    first += fmt::format(", {}, {}", k, k);
    second += fmt::format(", {}, {}", k + 1, k + 1);
  }
  return fmt::format(
      "inline {0} times_i({0} z) {{ return __builtin_shufflevector(-z, z{1}); }}\n"
      "inline {0} conj_pairs({0} z) {{ return __builtin_shufflevector(z, -z{2}); }}\n"
      "inline {0} real_pairs({0} z) {{ return __builtin_shufflevector(z, z{3}); }}\n"
      "inline {0} imag_pairs({0} z) {{ return __builtin_shufflevector(z, z{4}); }}\n\n",
      vector, swapped, conjugated, first, second);
}

std::string prefixes(const std::string& vector, int lanes) {
  auto text = fmt::format("// Sums of the lanes up to each.\ninline {} prefixes({} x) {{\n  const {} zero = 0;\n",
                          vector, vector, vector);
  for (int span = 1; span < lanes; span *= 2) {
    std::string order;
    for (int v = 0; v < lanes; ++v) order += fmt::format(", {}", v < span ? v : lanes + v - span);
    text += fmt::format("  x += __builtin_shufflevector(zero, x{});\n", order);
  }
  return text + "  return x;\n}\n\n";
}

std::string shifted(const std::string& vector, const char* element, int lanes) {
  std::string order = fmt::format(", {}", lanes);
  for (int v = 0; v + 1 < lanes; ++v) order += fmt::format(", {}", v);
  return fmt::format(
      "// The lanes after one that comes before them.\n"
      "inline {0} shifted({0} x, {1} before) {{ return __builtin_shufflevector(x, ({0})before{2}); }}\n\n",
      vector, element, order);
}

class CppPrinter {
 public:
  explicit CppPrinter(const Kernel& kernel) : kernel_(kernel), text_(kernel, true, true) {}

  std::string print(const std::string& name) {
    const bool works = std::any_of(kernel_.arrays.begin(), kernel_.arrays.end(),
                                   [](const kernel::Array& array) { return array.space == Space::scratch; });
    w_.line("extern \"C\" void {}(void* const* args, i64 first, i64 last{})", name, works ? ", char* scratch" : "");
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
      types += "// Vectors of complex numbers: pairs (x, y) as (-y, x), (x, -y), (x, x) and (y, y).\n";
    for (const auto& [type, lanes] : text_.pair_types())
      types += pairs(fmt::format("{}x{}", ricci::name(type), lanes), lanes);
    for (const auto& [type, lanes] : text_.scanned_types())
      types += prefixes(fmt::format("{}x{}", ricci::name(type), lanes), lanes);
    for (const auto& [type, lanes] : text_.shifted_types())
      types += shifted(fmt::format("{}x{}", ricci::name(type), lanes), c_type(type), lanes);
    return types + (nontemporal_ || rows_ ? kNontemporal : "") + (rows_ ? kRows : "") +
           (text_.uses_parts() ? kParts : "") + (transposes_ ? kTranspose : "");
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
    pragma(loop.bind);
    const auto limit = loop.when.empty() ? std::string() : " && " + text_.condition(loop.when);
    w_.open("for ({} {} = {}; {} < {}{}; {}) {{", loop.bind == Bind::unroll ? "int" : "i64", name,
            text_.affine(loop.first), name, kernel_.extent(loop.var), limit, next(name, loop.step));
    print(loop.body);
    w_.close();
  }
  void pragma(Bind bind) {
    if (bind == Bind::unroll) w_.line("#pragma unroll");
    if (bind == Bind::vector) w_.line("#pragma clang loop vectorize(assume_safety)");
  }
  static std::string next(const std::string& name, std::int64_t step) {
    return step == 1 ? "++" + name : fmt::format("{} += {}", name, step);
  }
  void one(const kernel::Sweep& sweep) {
    const auto& name = text_.name(sweep.var);
    const auto begin = fmt::format("i64 {} = {}", name, text_.affine(sweep.first));
    const bool whole = sweep.parts.size() == 1;
    if (!whole) w_.line("{};", begin);
    for (const auto& part : sweep.parts) {
      pragma(part.bind);
      const auto inside = part.step == 1 ? fmt::format("{} < {}", name, text_.affine(sweep.end))
                                         : fmt::format("{} + {} <= {}", name, part.step, text_.affine(sweep.end));
      w_.open("for ({}; {}; {}) {{", whole ? begin : "", inside, next(name, part.step));
      print(part.body);
      w_.close();
    }
  }
  void one(const kernel::Let& let) { w_.line("const i64 {} = {};", text_.name(let.var), text_.let(let)); }
  void one(const kernel::If& branch) {
    w_.open("if ({}) {{", text_.condition(branch));
    print(branch.then);
    if (!branch.otherwise.empty()) {
      w_.otherwise();
      print(branch.otherwise);
    }
    w_.close();
  }
  void one(const kernel::Comment& comment) { w_.line("// {}", comment.text); }
  void one(const kernel::Section& section) {
    w_.line("// {}", section.title);
    w_.open("{{");
    print(section.body);
    w_.close();
  }
  void one(const kernel::Store& store) {
    if (!store.nontemporal) {
      w_.line("{}", text_.store(store));
      return;
    }
    nontemporal_ = true;
    w_.line("store_nontemporal<{}>({}, {});", text_.vector_type(kernel_.array(store.to.array).type, store.to.lanes),
            text_.pointer(store.to), text_.value(store.value));
  }
  void one(const kernel::Define& define) {
    w_.line("{} = {};", text_.declaration(define.array), text_.value(define.value));
  }
  void one(const kernel::Scatter& scatter) { w_.line("{}", text_.scatter(scatter)); }
  void one(const kernel::Prefetch& prefetch) {
    w_.line("__builtin_prefetch({}, {});", text_.pointer(prefetch.from), prefetch.written ? "1, 3" : "0, 2");
  }
  void one(const kernel::CopyRow& copy) {
    rows_ = true;
    nontemporal_ = nontemporal_ || copy.nontemporal;
    w_.line("copy_row<{}, {}, {}>({}, {}, {});", text_.vector_type(kernel_.array(copy.to.array).type, copy.lanes),
            copy.prefetch, copy.nontemporal, text_.pointer(copy.to), text_.pointer(copy.from), copy.count);
  }
  void one(const kernel::Transpose& transpose) {
    transposes_ = true;
    w_.line("transpose({});", kernel_.array(transpose.array).name);
  }
  template <class Other>
  void one(const Other&) {
    throw InternalError("a statement that no C++ text has");
  }
  void one(const kernel::Declare& declaration) { w_.line("{};", text_.declaration(declaration.array)); }

  const Kernel& kernel_;
  KernelText text_;
  Writer w_;
  bool transposes_ = false, nontemporal_ = false, rows_ = false;
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
