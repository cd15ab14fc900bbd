// Random programs of statements, as text: read, printed, read back, lowered and interpreted, against the same program
// executed as it reads. RICCI_FUZZ_SEED=n RICCI_FUZZ_CASES=1 runs the n-th of each kind alone and prints it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "fuzz/seeds.hpp"
#include "program_compare.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace statements_test {

using namespace ricci;

namespace {

using Names = std::vector<std::string>;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t k = list.size(); k > 1; --k) {
      std::swap(list[k - 1], list[static_cast<std::size_t>(below(static_cast<int>(k)))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

struct Tensor {
  std::string name;
  std::vector<int> extents;
  std::vector<std::vector<int>> symmetries;  // slots
  std::vector<bool> antisymmetric;
  bool readable = false, writable = false, inout = false;
};

/// Words of an expression with two names exchanged.
std::string exchanged(const std::string& text, const std::string& p, const std::string& q) {
  std::string made, word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    made += word == p ? q : word == q ? p : word;
    word.clear();
    made += c;
  }
  made.pop_back();
  return made;
}

/// Statements of tensor algebra on a grid: ranks agree, symmetries hold.
class GridText {
 public:
  explicit GridText(std::uint64_t seed) : random_(seed) {}

  std::string make() {
    const int points = random_.of(std::vector<int>{1, 2, 5, 12});
    std::string text = random_.one_in(6) ? "exact\n" : "";
    text += "index " + fmt::format("{}", fmt::join(small_, " ")) + " = 3; index " +
            fmt::format("{}", fmt::join(large_, " ")) + " = 4\n";
    text += fmt::format("grid x = {}\nparam s : f64\n", points);
    for (int k = 0; k < 3; ++k) text += declare("input", points);
    for (const int extent : {3, 4}) {  // so that every index finds a tensor
      tensors_.push_back({fmt::format("V{}", extent), {extent}, {}, {}, true});
      text += fmt::format("input V{}({}) : f64 on x\n", extent, extent);
    }
    tensors_.push_back({"S", {}, {}, {}, true});
    text += "input S() : f64 on x; input c(4) : f64\n";
    for (const auto* role : {"output", "inout", "local", "temp", "output"}) text += declare(role, points);
    const int count = 2 + random_.below(6);
    for (int k = 0; k < count; ++k) text += statement();
    for (auto& tensor : tensors_) {  // every output is written
      if (tensor.writable && !tensor.readable && tensor.name[0] == 'o') text += fill(tensor);
    }
    return text;
  }

 private:
  std::string declare(const std::string& role, int points) {
    Tensor made;
    made.name = fmt::format("{}{}", role == "inout" ? "b" : role.substr(0, 1), tensors_.size());
    const int rank = random_.below(4);
    for (int k = 0; k < rank; ++k) made.extents.push_back(random_.one_in(3) ? 4 : 3);
    std::string words;
    for (int k = 0; k + 1 < rank && random_.below(3) > 0; ++k) {
      std::vector<int> slots{k};
      for (int m = k + 1; m < rank; ++m) {
        if (made.extents[static_cast<std::size_t>(m)] == made.extents[static_cast<std::size_t>(k)] &&
            (slots.size() == 1 || random_.one_in(2))) {
          slots.push_back(m);
        }
      }
      if (slots.size() < 2) continue;
      const bool anti = random_.one_in(3);
      words += fmt::format(" {}({})", anti ? "antisym" : "sym", fmt::join(slots, ","));
      made.symmetries.push_back(std::move(slots));
      made.antisymmetric.push_back(anti);
      break;
    }
    std::string layout;
    if (role != "local" && role != "temp") {
      Names layouts{"", "", " layout soa", " layout pointers", fmt::format(" layout soa({})", points + 3)};
      if (points == 12) layouts.insert(layouts.end(), {" layout blocked(4)", " layout blocked(12)"});
      layout = random_.of(layouts);
    }
    made.readable = role == "input" || role == "inout";
    made.inout = role == "inout";
    made.writable = role != "input";
    auto text =
        fmt::format("{} {}({}) : f64{} on x{}\n", role, made.name, fmt::join(made.extents, ", "), words, layout);
    tensors_.push_back(std::move(made));
    return text;
  }

  const Names& names(int extent) const { return extent == 3 ? small_ : large_; }
  int extent_of(const std::string& index) const {
    return std::find(small_.begin(), small_.end(), index) != small_.end() ? 3 : 4;
  }
  std::string unused(int extent, const Names& used) {
    Names left;
    for (const auto& name : names(extent)) {
      if (std::find(used.begin(), used.end(), name) == used.end()) left.push_back(name);
    }
    return left.empty() ? "" : random_.of(left);
  }

  /// A left side for the tensor: its text; `free` are its indices, `whole` tells whether it covers all components.
  std::string left(const Tensor& tensor, Names& free, Names& slots, bool& whole) {
    whole = true;
    for (const int extent : tensor.extents) {
      const int kind = random_.below(8);
      if (kind == 0) {
        slots.push_back(fmt::format("{}", random_.below(extent)));
        whole = false;
        continue;
      }
      const bool shifted = kind == 1 && extent == 4;
      const auto index = unused(shifted ? 3 : extent, free);
      free.push_back(index);
      slots.push_back(shifted ? fmt::format("{}+{}", index, random_.below(2)) : index);
      whole = whole && !shifted;
    }
    return fmt::format("{}({})", tensor.name, fmt::join(slots, ", "));
  }

  std::string statement() {
    std::vector<Tensor*> targets;
    for (auto& tensor : tensors_) {
      if (tensor.writable) targets.push_back(&tensor);
    }
    auto& target = *random_.of(targets);
    Names free, slots;
    bool whole = false;
    auto text = left(target, free, slots, whole);
    const bool compound = target.readable && random_.one_in(3);
    if (compound && random_.one_in(3)) {
      return fmt::format("{} {}= {}\n", text, random_.one_in(2) ? "*" : "/", positive());
    }
    auto value = expression(free, free, 3);
    for (std::size_t s = 0; s < target.symmetries.size(); ++s) value = symmetrised(target, s, slots, value);
    const auto* op = !compound || value == "0.0" ? "=" : random_.one_in(2) ? "+=" : "-=";
    if (free.empty() || !compound) {
      if (whole) target.readable = true;
    }
    return fmt::format("{} {} {}\n", text, op, value);
  }

  std::string fill(const Tensor& tensor) {
    Names free, slots;
    for (const int extent : tensor.extents) {
      free.push_back(unused(extent, free));
      slots.push_back(free.back());
    }
    auto value = expression(free, free, 2);
    for (std::size_t s = 0; s < tensor.symmetries.size(); ++s) value = symmetrised(tensor, s, slots, value);
    return fmt::format("{}({}) = {}\n", tensor.name, fmt::join(slots, ", "), value);
  }

  /// The value with the terms that its symmetry asks for. Where slots of one symmetry have different offsets there is
  /// no such sum: then the value is one that does not depend on them.
  std::string symmetrised(const Tensor& target, std::size_t which, const Names& slots, std::string value) {
    const auto& own = target.symmetries[which];
    Names inside;
    std::string offsets;
    bool alike = true;
    for (const int slot : own) {
      const auto& text = slots[static_cast<std::size_t>(slot)];
      if (std::isdigit(static_cast<unsigned char>(text[0])) != 0) continue;
      const auto plus = text.find('+');
      const auto offset = plus == std::string::npos ? "" : text.substr(plus);
      alike = alike && (inside.empty() || offset == offsets);
      offsets = offset;
      inside.push_back(text.substr(0, plus));
    }
    if (inside.size() < 2) return value;
    if (!alike) return "0.0";
    for (std::size_t k = 1; k < inside.size(); ++k) {
      auto sum = "(" + value + ")";
      for (std::size_t m = 0; m < k; ++m) {
        sum += fmt::format(" {} ({})", target.antisymmetric[which] ? "-" : "+", exchanged(value, inside[m], inside[k]));
      }
      value = sum;
    }
    return value;
  }

  std::string positive() { return random_.of(Names{"S()", "(1 + s)", "exp(-S())", "(S()*S() + 0.25)", "2.5"}); }

  /// An access with exactly these free indices, in any order.
  std::string access(Names free) {
    random_.shuffle(free);
    std::vector<const Tensor*> list;
    for (const auto& tensor : tensors_) {
      if (tensor.readable && tensor.extents.size() >= free.size()) list.push_back(&tensor);
    }
    random_.shuffle(list);
    for (const auto* tensor : list) {
      Names slots(tensor->extents.size());
      std::size_t placed = 0;
      std::vector<std::size_t> order(slots.size());
      for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
      random_.shuffle(order);
      for (const auto k : order) {
        const int extent = tensor->extents[k];
        if (placed < free.size() && extent_of(free[placed]) <= extent) {
          slots[k] = free[placed];
          if (extent_of(free[placed]) < extent) slots[k] += fmt::format("+{}", random_.below(2));
          ++placed;
        } else {
          slots[k] = fmt::format("{}", random_.below(extent));
        }
      }
      if (placed == free.size()) return fmt::format("{}({})", tensor->name, fmt::join(slots, ","));
    }
    return {};
  }

  std::string expression(const Names& free, const Names& used, int depth) {
    if (free.empty() && random_.one_in(3)) return scalar(depth);
    if (depth == 0 || random_.one_in(5)) {
      if (auto leaf = access(free); !leaf.empty()) return leaf;
    }
    switch (random_.below(7)) {
      case 0:
      case 1:
        if (depth > 0) {
          return fmt::format("({} {} {})", expression(free, used, depth - 1), random_.one_in(2) ? "+" : "-",
                             expression(free, used, depth - 1));
        }
        break;
      case 2:
        return fmt::format("{}*{}", random_.of(Names{"-2", "0.5", "s", "S()", "c(1)", "1"}),
                           expression(free, used, std::max(depth - 1, 0)));
      case 3:
        return fmt::format("(-{}/{})", expression(free, used, std::max(depth - 1, 0)), positive());
      case 4:
        if (depth > 0) {
          if (const auto over = unused(random_.one_in(2) ? 3 : 4, used); !over.empty())
            return contraction(free, used, over, depth);
        }
        break;
      default:
        break;
    }
    // A product that shares the indices out.
    if (free.size() < 2) {
      if (auto leaf = access(free); !leaf.empty()) return leaf;
    }
    Names first, second;
    for (const auto& index : free) (random_.one_in(2) ? first : second).push_back(index);
    if (first.size() == free.size() || second.size() == free.size()) {
      first = {free.begin(), free.begin() + 1};
      second = {free.begin() + 1, free.end()};
    }
    return expression(first, used, std::max(depth - 1, 0)) + "*" + expression(second, used, std::max(depth - 1, 0));
  }

  std::string contraction(const Names& free, Names used, const std::string& over, int depth) {
    used.push_back(over);
    Names first{over}, second{over};
    for (const auto& index : free) (random_.one_in(2) ? first : second).push_back(index);
    auto body = expression(first, used, depth - 1) + "*" + expression(second, used, depth - 1);
    if (random_.one_in(3)) {
      if (const auto again = unused(3, used); !again.empty()) {
        used.push_back(again);
        body += fmt::format("*{}*{}", expression({again}, used, 0), expression({again}, used, 0));
        return fmt::format("sum({} {}, {})", over, again, body);
      }
    }
    return fmt::format("sum({}, {})", over, body);
  }

  std::string scalar(int depth) {
    if (depth == 0) return "S()";
    const auto x = expression({}, {"i", "j", "k", "l", "a", "b", "c2", "d"}, depth - 1);
    switch (random_.below(6)) {
      case 0:
        return fmt::format("sqrt(1 + ({})*({}))", x, x);
      case 1:
        return fmt::format("select({} < S(), s, tanh({}))", x, x);
      case 2:
        return fmt::format("max({}, sin(S()))", x);
      case 3:
        return fmt::format("pow(S(), {})", random_.of(Names{"2", "0.5", "-1", "S()"}));
      case 4:
        return "det3(M(m,o))";
      default:
        return fmt::format("abs({})", x);
    }
  }

  Random random_;
  std::vector<Tensor> tensors_;
  Names small_{"i", "j", "k", "l", "p", "q", "r"}, large_{"a", "b", "d", "e", "f"};
};

/// Statements on loops: every operation point by point, integers, guards, aliases, temps.
class LoopText {
 public:
  explicit LoopText(std::uint64_t seed) : random_(seed) {}

  std::string make() {
    const int empty = random_.one_in(8) ? random_.below(4) : -1;
    std::string text = random_.one_in(4) ? "exact\n" : "";
    for (std::size_t k = 0; k < indices_.size(); ++k) {
      extents_.push_back(static_cast<int>(k) == empty ? 0 : 1 + random_.below(5));
      text += fmt::format("index {} = {}\n", indices_[k], extents_.back());
    }
    integers_ = random_.one_in(3);
    const char* type = integers_ ? "i64" : "f64";
    for (int t = 0; t < 7; ++t) {
      const char* colours[] = {"input", "input", "input", "inout", "inout", "output", "temp"};
      const int rank = t == 0 ? 1 : random_.below(4);
      Tensor made{fmt::format("T{}", t), {}, {}, {}, t < 5, t >= 3, t == 3 || t == 4};
      Names slots;
      for (int k = 0; k < rank; ++k) {
        made.extents.push_back(random_.below(static_cast<int>(indices_.size())));  // numbers of indices
        slots.push_back(indices_[static_cast<std::size_t>(made.extents.back())]);
      }
      text += fmt::format("{} {}({}) : {}\n", colours[t], made.name, fmt::join(slots, ", "), type);
      tensors_.push_back(std::move(made));
    }
    const int count = 2 + random_.below(6);
    for (int k = 0; k < count; ++k) text += statement(tensors_[static_cast<std::size_t>(3 + random_.below(4))]);
    if (!tensors_[5].readable) text += statement(tensors_[5]);
    return text;
  }

 private:
  std::string statement(Tensor& target) {
    Names free, slots;
    bool whole = true;
    for (const int extent : target.extents) {
      // The slot's index, or one as long.
      Names fitting;
      for (std::size_t k = 0; k < indices_.size(); ++k) {
        const bool used = std::find(free.begin(), free.end(), indices_[k]) != free.end();
        if (extents_[k] == extents_[static_cast<std::size_t>(extent)] && !used) fitting.push_back(indices_[k]);
      }
      if (fitting.empty()) {
        if (extents_[static_cast<std::size_t>(extent)] == 0) return "";
        slots.push_back(fmt::format("{}", random_.below(extents_[static_cast<std::size_t>(extent)])));
        whole = false;
        continue;
      }
      free.push_back(random_.of(fitting));
      slots.push_back(free.back());
    }
    const bool set = !target.readable || random_.one_in(2);
    auto value = expression(free, 3);
    if (random_.one_in(8) && target.readable)
      value = fmt::format("guard({} < {}, {})", expression(free, 1), expression(free, 1), value);
    const auto op = set ? "=" : random_.of(Names{"+=", "-=", integers_ ? "-=" : "*="});
    target.readable = target.readable || whole;
    return fmt::format("{}({}) {} {}\n", target.name, fmt::join(slots, ", "), op, value);
  }

  std::string expression(Names free, int depth) {
    if (depth == 0) return leaf(free);
    const auto x = [&] { return expression(free, depth - 1); };
    switch (random_.below(integers_ ? 11 : 9)) {
      case 0:
      case 1:
        return fmt::format("({} {} {})", x(), random_.one_in(2) ? "+" : "-", x());
      case 2:
      case 3:
        return fmt::format("{}*{}", x(), x());
      case 4:
      case 5: {
        Names left;
        for (const auto& index : indices_) {
          if (std::find(free.begin(), free.end(), index) == free.end()) left.push_back(index);
        }
        if (left.empty()) return leaf(free);
        const auto over = random_.of(left);
        free.push_back(over);
        const auto word = random_.of(Names{"sum", "sum", "sum", "maximum", "minimum"});
        auto body = fmt::format("{}*{}", with(free, over), expression(free, depth - 1));
        if (random_.one_in(3)) body = fmt::format("guard({} <= {}, {})", leaf(free), leaf(free), body);
        // The identities of minimum and maximum would meet arithmetic where there is nothing to combine.
        return word == "sum" || extent_of(over) > 0 ? bounded(word, over, body) : leaf(free_without(free, over));
      }
      case 6:
        return fmt::format("select({} < {}, {}, {})", x(), x(), x(), x());
      case 7:
        return fmt::format("min({}, {})", x(), x());
      case 8:
        return fmt::format("-{}", x());
      case 9:
        return fmt::format("mod({}, 7)", x());
      default:
        return fmt::format("xor({}, shl({}, 2))", x(), x());
    }
  }

  static std::string bounded(const std::string& word, const std::string& over, const std::string& body) {
    // A guard may leave nothing: then the identity is the type's largest, which arithmetic does not forgive.
    if (word == "sum" || body.find("guard") == std::string::npos) return fmt::format("{}({}, {})", word, over, body);
    return fmt::format("sum({}, {})", over, body);
  }

  int extent_of(const std::string& index) const {
    return extents_[static_cast<std::size_t>(std::find(indices_.begin(), indices_.end(), index) - indices_.begin())];
  }

  static Names free_without(Names free, const std::string& index) {
    free.erase(std::find(free.begin(), free.end(), index));
    return free;
  }

  /// A leaf that has the index.
  std::string with(const Names& free, const std::string& index) {
    for (int tries = 0; tries < 8; ++tries) {
      auto text = leaf(free);
      if (text.find("(" + index) != std::string::npos || text.find("," + index) != std::string::npos) return text;
    }
    return fmt::format("({} + {})", index, leaf(free));
  }

  std::string leaf(const Names& free) {
    if (random_.one_in(8)) return fmt::format("{}", 1 + random_.below(3));
    if (!free.empty() && random_.one_in(8)) return random_.of(free);
    std::vector<const Tensor*> list;
    for (const auto& tensor : tensors_) {
      if (tensor.readable) list.push_back(&tensor);
    }
    const auto& tensor = *random_.of(list);
    Names slots, used;
    for (const int extent : tensor.extents) {
      Names fitting;
      for (const auto& index : free) {
        if (extent_of(index) == extents_[static_cast<std::size_t>(extent)] &&
            std::find(used.begin(), used.end(), index) == used.end()) {
          fitting.push_back(index);
        }
      }
      const int values = extents_[static_cast<std::size_t>(extent)];
      if (fitting.empty() && values == 0) return "2";
      if (fitting.empty() || random_.one_in(6)) {
        if (values == 0) return "2";
        slots.push_back(fmt::format("{}", random_.below(values)));
        continue;
      }
      used.push_back(random_.of(fitting));
      slots.push_back(used.back());
    }
    return fmt::format("{}({})", tensor.name, fmt::join(slots, ","));
  }

  Random random_;
  Names indices_{"i", "j", "k", "l", "m", "n"};
  std::vector<int> extents_;
  std::vector<Tensor> tensors_;
  bool integers_ = false;
};

template <class Text>
void run(const char* kind, int count, bool symmetric) {
  set_log_sink([](LogTopic, std::string_view) {});
  const auto first = fuzz::first_seed(0);
  const auto last = first + static_cast<std::uint64_t>(fuzz::cases(count));
  std::uint64_t compared = 0;
  for (auto seed = first; seed < last; ++seed) {
    auto text = Text(seed).make();
    if (symmetric) text = "index m o = 3\n" + text.insert(text.find("param"), "input M(3, 3) : f64 on x\n");
    if (last == first + 1) std::printf("%s\n", text.c_str());
    INFO(kind << " program of seed " << seed << "\n" << text);
    try {
      const auto program = Program::parse(text);
      CHECK(Program::parse(program.print()).print() == program.print());
      test::Inputs inputs{.seed = seed + 1, .integers = 50, .params = {{"s", {0.75, 0}}}};
      test::compare(program, inputs);
      // And in kernels of a few operations each.
      inputs.longest_kernel = 2 + static_cast<std::int64_t>(seed % 12);
      test::compare(program, inputs);
      ++compared;
    } catch (const SpecError& error) {
      // What a program may not say is found by chance as well; nothing else is thrown.
      const std::string what = error.what();
      const bool known = what.starts_with("NotWritten") || what.starts_with("SumError") ||
                         what.starts_with("SymmetryUnproven") || what.starts_with("RepeatedIndex");
      INFO(what);
      CHECK(known);
    }
  }
  std::printf("%s: %llu of %llu programs compared\n", kind, static_cast<unsigned long long>(compared),
              static_cast<unsigned long long>(last - first));
  if (fuzz::enough(fuzz::cases(count))) CHECK(compared * 10 >= (last - first) * 8);
  set_log_sink({});
}

}  // namespace

TEST_CASE("random programs on a grid") { run<GridText>("grid", 150, true); }
TEST_CASE("random programs of loops") { run<LoopText>("loops", 150, false); }

}  // namespace statements_test
