// An expanded kernel as C++ for Clang: one function over a range of tasks.
#include <fmt/format.h>
#include <fmt/ranges.h>

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
    R"(// P vectors of T, of which R are used, transposed in log2 P rounds: pairs of vectors interleave pieces of 1, 2, 4, ...
// elements within 16 bytes, by one instruction each, and exchange larger ones.
template <int... I> struct lanes_of {};
template <class T, T... I> struct sequence { typedef lanes_of<I...> type; };
constexpr int place_of(int j, int n, int group, int span, int high) {
  return span < group ? j - j % group + j % group / span / 2 * span + j % span + j % group / span % 2 * n + high * group / 2
                      : (j & ~span) + ((j & span) != 0 ? n : 0) + high * span;
}
template <int N, int W, int Group, int Span, int High, class V, int... I>
static inline __attribute__((always_inline)) V shuffled(V a, V b, lanes_of<I...>) {
  return __builtin_shufflevector(a, b, (W * place_of(I / W, N, Group, Span, High) + I % W)...);
}
template <class T, int R, int Span = 1, class V, int P>
static inline __attribute__((always_inline)) void transpose(V (&rows)[P]) {
  constexpr int N = sizeof(V) / sizeof(T), L = sizeof(V) / sizeof(rows[0][0]), W = L / N;
  constexpr int Fits = sizeof(T) < 16 ? 16 / sizeof(T) : 1, Group = N < Fits ? N : Fits;
  if constexpr (Span < P) {
    typedef typename __make_integer_seq<sequence, int, L>::type all;
    #pragma unroll
    for (int i = 0; i < P; ++i) {
      if ((i & Span) != 0 || i / Span * Span >= R) continue;
      const bool alone = (i | Span) >= R;
      const V a = rows[i], b = alone ? a : rows[i | Span];
      if (Span < Group || !alone) rows[i] = shuffled<N, W, Group, Span, 0>(a, b, all());
      rows[i | Span] = shuffled<N, W, Group, Span, 1>(a, b, all());
    }
    transpose<T, R, 2 * Span>(rows);
  } else {
    // What is interleaved comes out by numbers whose bits are reversed.
    #pragma unroll
    for (int i = 0; i < P; ++i) {
      int from = i;
      for (int low = 1, high = (Group < P ? Group : P) / 2; low < high; low *= 2, high /= 2) {
        if (((i & low) != 0) != ((i & high) != 0)) from ^= low | high;
      }
      if (i >= from) continue;
      const V row = rows[i];
      rows[i] = rows[from];
      rows[from] = row;
    }
  }
}

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

constexpr const char* kAligned = R"(// Elements up to the next multiple of a vector.
template <class V, class T>
inline i64 elements_before(const T* p) { return (-(u64)p & (sizeof(V) - 1)) / sizeof(T); }

)";

constexpr const char* kRowsAhead = R"(// Rows of `Bytes` bytes that later tasks read, prefetched line by line.
template <const auto& Rows, int Bytes, class T>
struct RowsAhead {
  const T* from;
  u64 row = -1, at = 0, end = 0;
  RowsAhead(const T* from) : from(from) {}
  template <int Lines>
  inline __attribute__((always_inline)) void prefetch() {
    #pragma unroll
    for (int n = 0; n < Lines; ++n) {
      if (at >= end) {
        if (row == sizeof(Rows) / sizeof(Rows[0]) - 1) return;
        const u64 first = (u64)(from + Rows[++row]);
        at = first & -64, end = first + Bytes;
      }
      __builtin_prefetch((const void*)at, 0, 2);
      at += 64;
    }
  }
};

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

/// The type of a vector's lanes that hold an element's bits, and how many of them do: of elements that C has no vectors
/// of, unsigned integers.
const char* bits_type(DType type) {
  if (!is_complex(type) && !is_half(type)) return c_type(type);
  return size_of(type) == 2 ? "u16" : "u64";
}
std::int64_t words_of(DType type) { return std::max<std::int64_t>(size_of(type) / 8, 1); }

/// The integer type of a table that holds these values.
const char* offset_type(const std::vector<std::int64_t>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least < INT32_MIN || *most > INT32_MAX ? "i64" : "i32";
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
    const auto* ahead = fetched();
    if (ahead != nullptr) begin(*ahead);
    w_.open("for (i64 task = first; task < last; ++task) {{");
    if (ahead != nullptr) next_rows(*ahead);
    print(tasks());
    w_.close();
    // Nontemporal stores are not ordered: they are complete for whoever sees that this function has returned.
    if (nontemporal_) w_.line("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
    w_.close();
    return tables_ + w_.take();
  }

  std::string prelude() const {
    std::string types;
    for (const auto& [type, lanes] : text_.vector_types()) {
      const auto vector = fmt::format("{}x{}", ricci::name(type), lanes);
      types += fmt::format(
          "typedef {} {} __attribute__((ext_vector_type({})));\n"
          "typedef {} {}_in_memory __attribute__((aligned({}), may_alias));\n\n",
          bits_type(type), vector, lanes * words_of(type), vector, vector, size_of(type));
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
           (text_.uses_parts() ? kParts : "") + (transposes_ ? kTranspose : "") + (aligns_ ? kAligned : "") +
           (tables_.empty() ? "" : kRowsAhead);
  }

 private:
  /// Names the digits of the task's number, which task loops are; the body of the last one.
  const Body& tasks() {
    const auto* body = &kernel_.body;
    auto count = kernel_.tasks();
    for (const auto all = count; const auto* loop = task_loop(*body); body = &loop->body) {
      const auto extent = kernel_.extent(loop->var), below = count / extent;
      const auto quotient = below == 1 ? std::string("task") : fmt::format("task / {}", below);
      w_.line("const i64 {} = {};", text_.name(loop->var),
              count == all ? quotient : fmt::format("{} % {}", quotient, extent));
      for (const auto& condition : loop->when) w_.line("if (!({})) continue;", text_.condition({condition}));
      count = below;
    }
    return *body;
  }
  static const kernel::Loop* task_loop(const Body& body) {
    for (const auto& statement : body) {
      const auto* loop = std::get_if<kernel::Loop>(&statement.node);
      if (loop == nullptr || loop->bind != Bind::task) continue;
      // Copies before the last task loop's body stand with it.
      if (body.size() > 1) throw InternalError("a statement beside a task loop");
      return loop;
    }
    return nullptr;
  }

  // ---- rows that later tasks read

  /// Those of a task's body.
  const kernel::FetchRows* fetched() const {
    const auto* body = &kernel_.body;
    while (const auto* loop = task_loop(*body)) body = &loop->body;
    for (const auto& statement : *body) {
      if (const auto* fetch = std::get_if<kernel::FetchRows>(&statement.node)) return fetch;
    }
    return nullptr;
  }
  /// Where they begin for any task, and the table of where each row does.
  void begin(const kernel::FetchRows& fetch) {
    const auto& array = kernel_.array(fetch.from.array);
    tables_ =
        fmt::format("static const {} rows_ahead[] = {{{}}};\n\n", offset_type(fetch.rows), fmt::join(fetch.rows, ", "));
    w_.line("// Where a task begins in {}.", array.name);
    w_.open("const auto begin = [&](i64 task) {{");
    for (const auto& statement : tasks()) {
      if (std::holds_alternative<kernel::FetchRows>(statement.node)) break;
      if (const auto* let = std::get_if<kernel::Let>(&statement.node)) one(*let);
    }
    w_.line("return {};", text_.pointer(fetch.from));
    w_.close("};");
    if (fetch.tasks > 1) rows_ahead(fetch, "first");
  }
  void rows_ahead(const kernel::FetchRows& fetch, const std::string& task) {
    const auto& array = kernel_.array(fetch.from.array);
    const auto type =
        fmt::format("RowsAhead<rows_ahead, {}, {}>", fetch.length * size_of(array.type), c_type(array.type));
    w_.line("{} ahead(begin({}));", type, task);
  }
  void next_rows(const kernel::FetchRows& fetch) {
    if (fetch.tasks == 1) return rows_ahead(fetch, "task + 1 < last ? task + 1 : last - 1");
    const bool whole = fetch.in_row % fetch.tasks == 0;
    w_.open("if (const i64 at = task{}; at % {} == 0) {{", whole ? "" : fmt::format(" % {}", fetch.in_row),
            fetch.tasks);
    w_.line("const i64 next = task + {};",
            whole ? fmt::format("{}", fetch.tasks)
                  : fmt::format("(at + {0} < {1} ? {0} : {1} - at)", fetch.tasks, fetch.in_row));
    w_.line("ahead = begin(next < last ? next : last - 1);");
    w_.close();
  }
  void one(const kernel::FetchRows&) {}
  void one(const kernel::FetchLines& fetch) { w_.line("ahead.prefetch<{}>();", fetch.lines); }

  void print(const Body& body) {
    for (const auto& statement : body) std::visit([&](const auto& node) { one(node); }, statement.node);
  }

  void one(const kernel::Loop& loop) {
    const auto& name = text_.name(loop.var);
    pragma(loop.bind, 0);
    auto limit = fmt::format("{} < {}", name, kernel_.extent(loop.var));
    if (!loop.when.empty()) limit = (is_limit(loop) ? "" : limit + " && ") + text_.condition(loop.when);
    w_.open("for ({} {} = {}; {}; {}) {{", loop.bind == Bind::unroll ? "int" : "i64", name, text_.affine(loop.first),
            limit, next(name, loop.step));
    print(loop.body);
    w_.close();
  }
  /// Whether a condition keeps the variable below its extent.
  bool is_limit(const kernel::Loop& loop) const {
    return std::any_of(loop.when.begin(), loop.when.end(), [&](const kernel::Condition& condition) {
      const auto others = condition.value - kernel::Affine::of(loop.var);
      return condition.value.coefficient(loop.var) == 1 &&
             condition.below - kernel::bounds(others, [&](kernel::Var var) { return kernel_.extent(var); }).first <=
                 kernel_.extent(loop.var);
    });
  }
  void pragma(Bind bind, int times) {
    if (bind == Bind::unroll && times > 0) {
      w_.line("#pragma clang loop unroll_count({}) vectorize(disable)", times);
    } else if (bind == Bind::unroll) {
      w_.line("#pragma unroll");
    }
    if (bind == Bind::rolled) w_.line("#pragma clang loop unroll(disable) vectorize(disable)");
    if (bind == Bind::vector) w_.line("#pragma clang loop vectorize(assume_safety)");
  }
  static std::string next(const std::string& name, std::int64_t step) {
    return step == 1 ? "++" + name : fmt::format("{} += {}", name, step);
  }
  void one(const kernel::Sweep& sweep) {
    const auto& name = text_.name(sweep.var);
    const auto begin = fmt::format("i64 {} = {}", name, text_.affine(sweep.first)), end = text_.affine(sweep.end);
    const bool whole = sweep.parts.size() == 1 && !sweep.aligned;
    if (!whole) w_.line("{};", begin);
    const auto rounds = [&](const kernel::Sweep::Part& part, const std::string& before, const std::string& inside) {
      pragma(part.bind, part.times);
      w_.open("for ({}; {}; {}) {{", before, inside, next(name, part.step));
      print(part.body);
      w_.close();
    };
    if (sweep.aligned) {
      aligns_ = true;
      const auto& to = *sweep.aligned;
      rounds(sweep.parts.back(),
             fmt::format("i64 aligned = {} + elements_before<{}>({})", name,
                         text_.vector_type(kernel_.array(to.array).type, to.lanes), text_.pointer(to)),
             fmt::format("{} < aligned && {} < {}", name, name, end));
    }
    for (const auto& one : sweep.parts) {
      const bool past = one.step == 1 || (sweep.past_end && &one == &sweep.parts.back());
      rounds(one, whole ? begin : "",
             past ? fmt::format("{} < {}", name, end) : fmt::format("{} + {} <= {}", name, one.step, end));
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
    const auto& array = kernel_.array(transpose.array);
    w_.line("transpose<{}, {}>({});", c_type(array.type), array.shape.front(), array.name);
  }
  template <class Other>
  void one(const Other&) {
    throw InternalError("a statement that no C++ text has");
  }
  void one(const kernel::Declare& declaration) { w_.line("{};", text_.declaration(declaration.array)); }

  const Kernel& kernel_;
  KernelText text_;
  Writer w_;
  bool transposes_ = false, nontemporal_ = false, rows_ = false, aligns_ = false;
  std::string tables_;
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
