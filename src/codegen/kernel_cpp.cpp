// An expanded kernel as C++ for Clang: one function over a range of tasks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "codegen/prelude.hpp"
#include "codegen/statement_printer.hpp"
#include "codegen/vector_functions.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using kernel::Bind;
using kernel::Body;
using kernel::Kernel;
using kernel::Space;

constexpr const char* kNontemporal =
    R"(// A nontemporal store where the address is a multiple of a vector. That is asked of numbers, of whose low bits Clang
// knows more than of a pointer's: it asks once for all stores of a tile.
template <class V, class T>
inline void store_nontemporal(T* to, i64 at, V value) {
  typedef V __attribute__((aligned(sizeof(T)), may_alias)) in_memory;
  if (((u64)to + (u64)at * sizeof(T)) % sizeof(V) == 0) {
    __builtin_nontemporal_store(value, (V*)(to + at));
  } else {
    *(in_memory*)(to + at) = value;
  }
}

)";

constexpr const char* kAligned = R"(// Elements up to the next multiple of a vector.
template <class V, class T>
inline i64 elements_before(const T* p) { return (-(u64)p & (sizeof(V) - 1)) / sizeof(T); }

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
      store_nontemporal<V>(to, i, value);
    } else {
      *(in_memory*)(to + i) = value;
    }
  }
}

)";

/// The type of a vector's lanes that hold an element's bits: of elements that C has no vectors of, unsigned integers.
const char* bits_type(DType type) {
  if (!is_complex(type) && !is_half(type)) return c_type(type);
  return size_of(type) == 2 ? "u16" : "u64";
}

/// The integer type of a table that holds these values.
const char* offset_type(const std::vector<std::int64_t>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least < INT32_MIN || *most > INT32_MAX ? "i64" : "i32";
}

class CppPrinter : StatementPrinter<CppPrinter> {
  friend StatementPrinter;

 public:
  explicit CppPrinter(const Kernel& kernel) : StatementPrinter(kernel, true) {}

  Source print(const std::string& name) {
    const bool works = std::any_of(kernel_.arrays.begin(), kernel_.arrays.end(),
                                   [](const kernel::Array& array) { return array.space == Space::scratch; });
    w_.line("extern \"C\" void {}(void* const* args, i64 first, i64 last{})", name,
            works ? ", char* __restrict__ scratch" : "");
    w_.open("{{");
    std::size_t argument = 0;
    std::int64_t at = 0;
    for (const auto& array : kernel_.arrays) {
      const auto type =
          std::string(array.space == Space::global && !array.written ? "const " : "") + c_type(array.type);
      if (array.space == Space::global)
        w_.line("{}* __restrict__ const {} = ({}*)args[{}];", type, array.name, type, argument++);
      if (array.space == Space::scratch) {
        const bool ahead = ahead_ != nullptr && &array == &kernel_.array(ahead_->fills);
        w_.line("{}* __restrict__ const {}{} = ({}*)(scratch + {});", type, array.name, ahead ? "_places" : "", type,
                at);
        at += (array.elements() * size_of(array.type) + 63) / 64 * 64;
      }
    }
    for (const auto& param : kernel_.params) {
      const auto type = c_type(param.type);
      w_.line("const {} {} = *(const {}*)args[{}];", type, param.name, type, argument++);
    }
    const auto* rows = in_body<kernel::FetchRows>(task_body());
    if (ahead_ != nullptr) w_.line("if (first >= last) return;");
    if (rows != nullptr) begin(*rows);
    if (ahead_ != nullptr) {
      tasks_ahead(*rows);
    } else {
      w_.open("for (i64 task = first; task < last; ++task) {{");
      if (rows != nullptr) next_rows(*rows, "task");
      print(tasks());
    }
    w_.close();
    // Nontemporal stores are not ordered: they are complete for whoever sees that this function has returned.
    if (nontemporal_ || fences_) w_.line("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
    w_.close();
    return {name, prelude(), {}, tables_ + (tables_.empty() ? "" : "\n") + w_.take()};
  }

 private:
  std::string prelude() const {
    std::string types;
    for (const auto& [type, lanes] : text_.vector_types())
      types += fmt::format(
          "typedef {0} {1} __attribute__((ext_vector_type({2})));\n"
          "typedef {1} {1}_in_memory __attribute__((aligned({3}), may_alias));\n\n",
          bits_type(type), vector_name(type, lanes), lanes * words_of(type), size_of(type));
    for (const auto& [name, of] : text_.lane_functions()) {
      for (const auto& [type, lanes] : of) types += lane_function(name, type, lanes);
    }
    if (text_.uses_some_lanes()) types += prelude::kSomeLanes + std::string("\n");
    if (text_.uses_lane_functions()) types += prelude::kLaneFunctions + std::string("\n");
    if (text_.uses_pieces()) types += prelude::kPieces + std::string("\n");
    if (!transposes_.empty()) types += "template <class T, int Used, class V, int N>\nvoid transpose(V (&rows)[N]);\n";
    for (const auto& function : transposes_) types += function;
    return types + (nontemporal_ || rows_ ? kNontemporal : "") + (rows_ ? kRows : "") + (aligns_ ? kAligned : "") +
           (runs_ ? prelude::kRuns + std::string("\n") : "");
  }
  /// Names the digits of the task's number, which task loops are; the body of the last one. What is no task is skipped.
  const Body& tasks(bool skips = true) {
    const auto* body = &kernel_.body;
    auto count = kernel_.tasks();
    for (const auto all = count; const auto* loop = task_loop(*body); body = &loop->body) {
      const auto extent = kernel_.extent(loop->var);
      w_.line("const i64 {} = {};", text_.name(loop->var), digit("task", all, count, extent));
      for (const auto& condition : loop->when) {
        if (skips) w_.line("if (!({})) continue;", text_.condition({condition}));
      }
      count /= extent;
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

  // ---- what is for later tasks

  /// What a task does.
  const Body& task_body() const {
    const auto* body = &kernel_.body;
    while (const auto* loop = task_loop(*body)) body = &loop->body;
    return *body;
  }

  void table(const std::string& name, const std::vector<std::int64_t>& values) {
    tables_ += fmt::format("static const {} {}[] = {{{}}};\n", offset_type(values), name, fmt::join(values, ", "));
  }
  /// A function of where a task begins in an array.
  void begin(int array, const std::string& pointer) {
    const auto& name = kernel_.array(array).name;
    w_.line("// Where a task begins in {}.", name);
    w_.open("const auto begin_{} = [&](i64 task) {{", name);
    for (const auto& statement : tasks(false)) {
      if (std::holds_alternative<kernel::FetchRows>(statement.node)) break;
      if (const auto* let = std::get_if<kernel::Let>(&statement.node)) one(*let);
    }
    w_.line("return {};", pointer);
    w_.close("};");
  }
  void begin(const kernel::FetchRows& fetch) {
    runs_ = true;
    table("rows_ahead", fetch.rows);
    if (fetch.rounds.size() > 1) table("rounds_ahead", fetch.rounds);
    begin(fetch.from.array, text_.pointer(fetch.from));
    if (fetch.tasks > 1) rows_ahead(fetch, "first");
  }
  void rows_ahead(const kernel::FetchRows& fetch, const std::string& task) {
    const auto& array = kernel_.array(fetch.from.array);
    const auto bytes = fetch.length * size_of(array.type);
    const auto begins = fmt::format("begin_{}({})", array.name, task);
    if (fetch.rounds.size() == 1)
      return w_.line("RowsAhead<rows_ahead, {}, {}> ahead({});", bytes, c_type(array.type), begins);
    w_.line("RowsAhead<rows_ahead, {}, {}, rounds_ahead> ahead(begin_{}(task), {});", bytes, c_type(array.type),
            array.name, begins);
  }
  void next_rows(const kernel::FetchRows& fetch, const char* task) {
    if (fetch.tasks == 1)
      return rows_ahead(fetch, fmt::format("{0} + {1} < last ? {0} + {1} : last - 1", task, fetch.early + 1));
    const bool whole = fetch.in_row % fetch.tasks == 0;
    const auto turn = fetch.early == 0 ? std::string(task) : fmt::format("({} + {})", task, fetch.early);
    w_.open("if (const i64 at = {}{}; at % {} == 0) {{", turn, whole ? "" : fmt::format(" % {}", fetch.in_row),
            fetch.tasks);
    w_.line("const i64 next = {} + {};", turn,
            whole ? fmt::format("{}", fetch.tasks)
                  : fmt::format("(at + {0} < {1} ? {0} : {1} - at)", fetch.tasks, fetch.in_row));
    w_.line("ahead = begin_{}(next < last ? next : last - 1);", kernel_.array(fetch.from.array).name);
    w_.close();
  }

  /// The section that is executed ahead as a type whose objects execute it piece by piece.
  void reader(const kernel::FetchRows& rows, const kernel::Array& kept) {
    Writer outside;
    std::swap(w_, outside);
    const auto& from = kernel_.array(rows.from.array);
    std::vector<const kernel::Loop*> loops;
    const auto* body = &ahead_->body;
    std::int64_t pieces = 1;
    for (; body->size() == 1; body = &loops.back()->body) {
      const auto* loop = std::get_if<kernel::Loop>(&body->front().node);
      if (loop == nullptr || loop->bind != Bind::rolled) break;
      if (pieces * rounds_of(*loop) * kernel::kLeastPiece > ahead_->ahead) break;
      loops.push_back(loop);
      pieces *= rounds_of(*loop);
    }
    w_.line("// Of the next task: {}, piece by piece, while this one stores.", ahead_->title);
    w_.open("struct ReadAhead {{");
    w_.line("const {}* {};", c_type(from.type), from.name);
    w_.line("{}* {};", c_type(kept.type), kept.name);
    w_.line("bool more;  // whether there is a next task");
    const bool counts = in_body<kernel::Beside>(last_section().body) != nullptr;
    w_.line("i64 piece = 0{}{};", pieces > 1 ? ", beat = 0" : "", counts ? ", stored = 0" : "");
    const bool halves = pieces > 2 && is_spelt_out(*body);
    const auto half = (pieces + 1) / 2;
    // Where all steps are whole, pointers move from piece to piece.
    const bool moves = halves && loops.size() == 1 && in_body<kernel::Let>(*body) == nullptr &&
                       kernel_.extent(loops[0]->var) % loops[0]->step == 0;
    kernel::Access in = rows.from, out{ahead_->fills, {kernel::Affine()}};
    if (moves) {
      for (auto* side : {&in, &out}) {
        auto& index = side->index.front();
        index = index + coefficient(*body, side->array, loops[0]->var) * kernel::Affine::of(loops[0]->var);
      }
    }
    text_.count_from({in, out});
    w_.open("inline __attribute__((always_inline)) void one() {{");
    const char* number = halves ? "turn" : "piece";
    if (halves && !moves) w_.line("const i64 turn = piece % 2 * {} + piece / 2;", half);
    auto count = pieces;
    for (const auto* loop : loops) {
      if (moves) break;
      const auto round = digit(number, pieces, count, rounds_of(*loop));
      w_.line("const i64 {} = {};", text_.name(loop->var),
              loop->step == 1   ? round
              : round == number ? fmt::format("{} * {}", loop->step, number)
                                : fmt::format("{} * ({})", loop->step, round));
      count /= rounds_of(*loop);
    }
    print(*body);
    if (moves) {
      const auto step = [&](const kernel::Access& side) {
        const auto by = side.index.front().coefficient(loops[0]->var) * loops[0]->step;
        return fmt::format("piece % 2 == 0 ? {} : {}", by * half, by * (1 - half));
      };
      w_.line("{} += {}, {} += {};", from.name, step(in), kept.name, step(out));
    }
    w_.line("++piece;");
    w_.close();
    text_.count_from({});
    constexpr std::int64_t two_lines = 2 * kernel::kLineBytes;
    w_.open("inline __attribute__((always_inline)) void two_lines() {{");
    if (pieces > 1)
      w_.line("if (more && ++beat % {} == 0) one();", (ahead_->ahead + two_lines * pieces - 1) / (two_lines * pieces));
    w_.close();
    if (counts) {
      w_.open("inline __attribute__((always_inline)) void stores(i64 bytes) {{");
      w_.line("if ((stored += bytes) % {} == 0) two_lines();", two_lines);
      w_.close();
    }
    w_.open("inline __attribute__((always_inline)) void finish() {{");
    w_.line("while (more && piece < {}) one();", pieces);
    w_.close();
    w_.close("};");
    std::swap(w_, outside);
    tables_ += '\n' + outside.take();
  }
  /// Whether a body is a loop that is spelt out.
  static bool is_spelt_out(const Body& body) {
    const auto* loop = body.size() == 1 ? std::get_if<kernel::Loop>(&body.front().node) : nullptr;
    return loop != nullptr && loop->bind == Bind::unroll;
  }
  /// By how much a variable moves what is loaded from an array, or stored to it.
  static std::int64_t coefficient(const Body& body, int array, kernel::Var var) {
    std::int64_t by = 0;
    const auto look = [&](const kernel::Access& access) {
      if (access.array == array) by = access.index.front().coefficient(var);
    };
    for (const auto& statement : body) {
      if (const auto* store = std::get_if<kernel::Store>(&statement.node)) {
        look(store->to);
        kernel::for_each_value(store->value, [&](const kernel::Value& value) { look(value.access); });
      }
      kernel::for_each_body(statement, [&](const Body& inner) { by = by != 0 ? by : coefficient(inner, array, var); });
    }
    return by;
  }
  std::int64_t rounds_of(const kernel::Loop& loop) const {
    return (kernel_.extent(loop.var) + loop.step - 1) / loop.step;
  }

  /// The loop over tasks where one is written, the next one is read and rows of the one after that are prefetched.
  void tasks_ahead(const kernel::FetchRows& rows) {
    const auto& kept = kernel_.array(ahead_->fills);
    const auto& from = kernel_.array(rows.from.array).name;
    const auto place = [&](const char* task) {
      return fmt::format("{}_places + ({} & 1) * {}", kept.name, task, kept.shape.front() / 2);
    };
    reader(rows, kept);
    const auto* ends = in_body<kernel::CopyRun>(last_section().body);
    if (ends != nullptr && !ends->origin) ends = nullptr;
    if (ends != nullptr) {
      const kernel::Access origin{ends->to.array, {*ends->origin}};
      begin(ends->to.array, text_.pointer(origin));
    }
    w_.open("for (i64 task = first - 1; task < last; ++task) {{");
    w_.line("const i64 after = task + 1 < last ? task + 1 : last - 1;");
    w_.line("ReadAhead reader = {{begin_{}(after), {}, task + 1 < last}};", from, place("(task + 1)"));
    w_.open("if (task >= first) {{");
    next_rows(rows, "after");
    if (ends != nullptr) {
      const auto& to = kernel_.array(ends->to.array).name;
      w_.line("const i64 next = begin_{}(after) - begin_{}(task);", to, to);
    }
    const auto& body = tasks();
    w_.line("{}* __restrict__ const {} = {};", c_type(kept.type), kept.name, place("task"));
    print(body);
    w_.close();
    w_.line("reader.finish();");
  }
  const kernel::Section& last_section() const { return std::get<kernel::Section>(task_body().back().node); }
  /// The first such statement in a body or further inside.
  template <class Node>
  static const Node* in_body(const Body& body) {
    const Node* found = nullptr;
    for (const auto& statement : body) {
      if (found == nullptr) found = std::get_if<Node>(&statement.node);
      kernel::for_each_body(statement, [&](const Body& inner) {
        if (found == nullptr) found = in_body<Node>(inner);
      });
    }
    return found;
  }

  using StatementPrinter::one, StatementPrinter::print;
  void one(const kernel::FetchRows&) {}
  void one(const kernel::FetchLines& fetch) { w_.line("ahead.prefetch<{}>();", fetch.lines); }
  void one(const kernel::Beside& beside) {
    w_.line("ahead.prefetch<{}>();", std::max<std::int64_t>(beside.bytes / kernel::kLineBytes, 1));
    w_.line("reader.stores({});", beside.bytes);
  }
  void one(const kernel::CopyRun& run) {
    runs_ = true;
    const auto to = text_.pointer(run.to), from = text_.pointer(run.from);
    if (run.how != kernel::CopyRun::How::nontemporal) {
      const char* function = run.how == kernel::CopyRun::How::straight ? "copy_run" : "write_lines";
      return w_.line("{}<{}>({}, {});", function, run.count, to, from);
    }
    fences_ = true;
    if (run.origin) w_.line("prefetch_ends({} + next, {});", to, run.count);
    std::string carry;
    if (run.carry) {
      const auto& along = text_.name(run.carry->along);
      carry = fmt::format(", {0}, {1} > 0 && {1} < {2} && task - {3} >= first, {1} + 1 < {2} && task + {3} < last",
                          text_.pointer(run.carry->line), along, run.carry->tiles, run.carry->apart);
    }
    w_.line("write_run<{}, {}>({}, {}, {}, {}{});", text_.vector_type(kernel_.array(run.to.array).type, run.lanes),
            run.fetched, to, from, run.count, ahead_ != nullptr ? "ahead, reader" : "NoneAhead(), NoneBeside()", carry);
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
  void one(const kernel::Section& section) {
    if (section.ahead == 0) StatementPrinter::one(section);
  }
  void one(const kernel::Store& store) {
    nontemporal_ = nontemporal_ || (store.nontemporal && store.to.lanes > 1);
    StatementPrinter::one(store);
  }
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
    const auto& array = kernel_.array(transpose.array);
    const auto vectors = static_cast<int>(array.shape.front());
    const auto used = transpose.used > 0 ? transpose.used : vectors;
    transposes_.insert(transpose_function(array.type, array.lanes, vectors, used, transpose.group));
    w_.line("transpose<{}, {}>({});", moved_type(array.type, transpose.group), used, array.name);
  }

  bool nontemporal_ = false, rows_ = false, aligns_ = false, runs_ = false, fences_ = false;
  std::string tables_;  // and types, before the function
  std::set<std::string> transposes_;
  const kernel::Section* first_section_ = in_body<kernel::Section>(task_body());
  const kernel::Section* ahead_ = first_section_ != nullptr && first_section_->ahead > 0 ? first_section_ : nullptr;
};

}  // namespace

Source print_cpp(const Kernel& kernel, const std::string& name) { return CppPrinter(kernel).print(name); }

}  // namespace ricci::codegen
