// Text to programs. Expressions go through the same checked constructors as those of C++.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "frontend/formula.hpp"
#include "frontend/formula_tokens.hpp"
#include "ir/read_number.hpp"

namespace ricci::formula {
namespace {

/// Integer constants are exact in kernels up to here.
constexpr std::uint64_t kLargestInteger = std::uint64_t{1} << 53;
constexpr int kMaxNesting = 200;

class Parser {
 public:
  Parser(ProgramGraph& program, std::string_view text) : program_(program), text_(text), tokens_(tokens_of(text)) {}

  void run() {
    bool first = true;
    while (peek().kind != Token::Kind::end) {
      if (peek().kind == Token::Kind::line_end) {
        ++at_;
        continue;
      }
      line(first);
      first = false;
      if (peek().kind != Token::Kind::line_end) error(peek(), fmt::format("'{}' is not expected here", peek().text));
    }
  }

 private:
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool is(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).text == text &&
           (peek(ahead).kind == Token::Kind::symbol || peek(ahead).kind == Token::Kind::word);
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  SourcePosition place(const Token& token) const { return {text_, token.offset, nullptr, token.line}; }
  [[noreturn]] void error(const Token& token, const std::string& what) const { fail(place(token), what); }

  void expect(std::string_view symbol, const char* after) {
    if (accept(symbol)) return;
    const auto& found = peek();
    const bool over = found.kind == Token::Kind::line_end || found.kind == Token::Kind::end;
    error(found, fmt::format("expected '{}' after {}, found {}", symbol, after,
                             over ? "the end of the line" : fmt::format("'{}'", found.text)));
  }

  std::string name(const char* what) {
    const auto token = next();
    if (token.kind != Token::Kind::word) error(token, fmt::format("expected the name of {}", what));
    return std::string(token.text);
  }

  std::int64_t integer(const char* what) {
    const bool negative = accept("-");
    const auto token = next();
    const auto value = ir::read_number<std::int64_t>(token.text);
    if (token.kind != Token::Kind::number || !value) error(token, fmt::format("expected an integer: {}", what));
    return negative ? -*value : *value;
  }

  void line(bool first) {
    const auto token = peek();
    if (token.kind != Token::Kind::word) {
      error(token, fmt::format("a line begins with a word or with a tensor, not with '{}'", token.text));
    }
    if (is("(", 1)) return statement();
    if (accept("program")) {
      if (!first) error(token, "'program' stands on the first line");
      program_.name = name("the program");
      return;
    }
    if (accept("index")) return declare_indices();
    if (accept("grid")) {
      const auto at = peek();
      const auto wanted = name("the grid");
      program_.declare_grid(wanted, accept("=") ? integer("the number of points") : kOpenExtent, place(at));
      return;
    }
    if (accept("param")) {
      const auto at = peek();
      const auto wanted = name("a parameter");
      program_.declare_param(wanted, type(), place(at));
      return;
    }
    if (accept("einstein")) {
      program_.einstein = true;
      return;
    }
    if (accept("exact")) {
      program_.exact = true;
      return;
    }
    static constexpr std::pair<std::string_view, TensorRole> kRoles[] = {{"input", TensorRole::input},
                                                                         {"output", TensorRole::output},
                                                                         {"inout", TensorRole::inout},
                                                                         {"local", TensorRole::local},
                                                                         {"temp", TensorRole::temp}};
    for (const auto& [word, role] : kRoles) {
      if (accept(word)) return declare_tensor(role);
    }
    error(token, fmt::format("'{}' begins neither a declaration nor a statement; a statement begins with a tensor and "
                             "its slots, as in {}(i) = ...",
                             token.text, token.text));
  }

  void declare_indices() {
    std::vector<Token> names;
    while (peek().kind == Token::Kind::word) names.push_back(next());
    if (names.empty()) error(peek(), "expected the name of an index");
    const auto extent = accept("=") ? integer("the extent of an index") : kOpenExtent;
    for (const auto& token : names) {
      if (program_.find_index(token.text) >= 0) {
        error(token, fmt::format("NameError: '{}' is an index already", token.text));
      }
      program_.declare_index(std::string(token.text), extent, place(token));
    }
  }

  DType type() {
    expect(":", "a name, before its type");
    return type_word();
  }

  DType type_word() {
    const auto token = next();
    for (int k = 0; k < kDTypeCount; ++k) {
      const auto found = static_cast<DType>(k);
      if (token.kind == Token::Kind::word && token.text == ricci::name(found)) return found;
    }
    error(token,
          fmt::format("'{}' is no element type: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128", token.text));
  }

  void declare_tensor(TensorRole role) {
    TensorDecl made;
    const auto at = peek();
    made.role = role;
    made.name = name("a tensor");
    expect("(", "the name of a tensor");
    while (!accept(")")) {
      if (!made.slots.empty()) expect(",", "a slot");
      made.slots.push_back({affine("the extent of a slot", "; declare it first")});
    }
    made.type = type();
    while (peek().kind == Token::Kind::word) attribute(made);
    program_.declare_tensor(std::move(made), place(at));
  }

  std::vector<std::int64_t> integers(const char* what) {
    std::vector<std::int64_t> list;
    expect("(", what);
    while (!accept(")")) {
      if (!list.empty()) expect(",", "a number");
      list.push_back(integer(what));
    }
    return list;
  }

  void attribute(TensorDecl& made) {
    const auto token = next();
    const auto word = token.text;
    if (word == "sym" || word == "antisym") {
      made.form.symmetry.list.push_back(symmetry(word));
    } else if (word == "on") {
      const auto grid = next();
      if (program_.grid < 0 || program_.find_index(grid.text) != program_.grid) {
        error(grid, fmt::format("NameError: '{}' is not the grid", grid.text));
      }
      made.form.on_grid = true;
    } else if (word == "layout") {
      layout(made);
    } else if (word == "strides") {
      made.form.strides = integers("strides");
    } else if (word == "align") {
      const auto list = integers("align");
      if (list.size() != 1) error(token, "align takes one number of bytes");
      made.form.alignment = list.front();
    } else if (word == "outside") {
      made.form.outside = outside();
    } else {
      error(token,
            fmt::format("'{}' is no attribute of a tensor: sym, antisym, on, layout, strides, align, outside", word));
    }
  }

  /// (number), (inf) or (-inf)
  double outside() {
    expect("(", "outside");
    const bool negative = accept("-");
    const auto token = next();
    auto value = ir::read_number<double>(token.text);
    if (token.text == "inf") value = std::numeric_limits<double>::infinity();
    if (!value || (token.kind != Token::Kind::number && token.text != "inf")) {
      error(token, "outside takes a real number, inf or -inf");
    }
    expect(")", "the value outside of a tensor");
    return negative ? -*value : *value;
  }

  void layout(TensorDecl& made) {
    const auto token = next();
    static constexpr std::pair<std::string_view, Storage> kLayouts[] = {
        {"soa", Storage::soa}, {"pointers", Storage::pointers}, {"blocked", Storage::blocked}};
    for (const auto& [word, storage] : kLayouts) {
      if (token.text != word) continue;
      made.form.storage = storage;
      if (storage == Storage::pointers || !is("(")) return;
      const auto list = integers("layout");
      if (list.size() != 1 || list.front() < 1) error(token, fmt::format("{} takes one number of points", word));
      made.form.parameter = list.front();
      return;
    }
    error(token, fmt::format("'{}' is no layout: soa, soa(points), pointers, blocked(points)", token.text));
  }

  Symmetry symmetry(std::string_view word) {
    Symmetry made;
    made.antisymmetric = word == "antisym";
    for (const auto slot : integers("sym")) made.slots.push_back(static_cast<int>(slot));
    return made;
  }

  struct Left {
    int tensor = -1;
    std::vector<SlotValue> slots;
    std::vector<Symmetry> stated;
  };

  /// T(slots)[slots], from its name on. `left`: a slot may be an expression.
  Left slots_of(const Token& token, bool left) {
    Left made;
    made.tensor = program_.find_tensor(token.text);
    if (made.tensor < 0) {
      const bool other = program_.find_index(token.text) >= 0 || program_.find_param(token.text) >= 0;
      error(token,
            fmt::format("NameError: '{}' is {}", token.text, other ? "no tensor and has no slots" : "not declared"));
    }
    expect("(", "the name of a tensor");
    slots_until(")", left, made);
    while (accept("[")) slots_until("]", left, made);
    return made;
  }

  void slots_until(std::string_view close, bool left, Left& made) {
    bool first = true;
    while (!accept(close)) {
      if (!first) expect(",", "a slot");
      first = false;
      if ((is("sym") || is("antisym")) && close == ")") {
        made.stated.push_back(symmetry(next().text));
        continue;
      }
      made.slots.push_back(slot(left));
    }
  }

  SlotValue slot(bool left) {
    const auto token = peek();
    SlotValue made;
    if (left && token.kind == Token::Kind::word && program_.find_index(token.text) < 0 &&
        program_.find_tensor(token.text) >= 0) {
      made.position = expression();
      return made;
    }
    const auto begin = at_;
    static_cast<SlotSum&>(made) = affine("a slot holds numbers and indices, added up, as in 2*i+r-1");
    made.shifted = !made.fixed() && at_ - begin > 1;
    return made;
  }

  /// A sum of indices, each with a whole factor or none, and of whole numbers.
  SlotSum affine(const char* what, const char* unknown = "") {
    SlotSum made;
    for (bool first = true; first || is("+") || is("-"); first = false) {
      bool minus = accept("-");
      if (!minus && !first) ++at_;  // a plus
      if (accept("-")) minus = !minus;
      const auto token = peek();
      std::int64_t factor = 1;
      int index = -1;
      if (token.kind == Token::Kind::number) {
        factor = integer(what);
        if (accept("*")) index = this->index();
      } else {
        index = slot_index(what, unknown);
        if (accept("*")) factor = integer(what);
      }
      if (minus) factor = -factor;
      const bool fits =
          index >= 0 ? made.add(index, factor) : !__builtin_add_overflow(made.offset, factor, &made.offset);
      if (!fits) error(token, "RangeError: a slot's numbers have 64 bits, of this one the sum is beyond them");
    }
    return made;
  }

  int slot_index(const char* what, const char* unknown) {
    const auto token = peek();
    if (token.kind != Token::Kind::word) error(token, fmt::format("expected an integer: {}", what));
    if (program_.find_index(token.text) < 0) {
      error(token, fmt::format("NameError: '{}' is no index{}", token.text, unknown));
    }
    return index();
  }

  void statement() {
    const auto token = next();
    auto left = slots_of(token, true);
    static constexpr std::pair<std::string_view, Assign> kAssigns[] = {{"=", Assign::set},
                                                                       {"+=", Assign::add},
                                                                       {"-=", Assign::subtract},
                                                                       {"*=", Assign::multiply},
                                                                       {"/=", Assign::divide}};
    for (const auto& [word, op] : kAssigns) {
      if (!accept(word)) continue;
      if (!left.stated.empty()) program_.check_symmetry_words(left.tensor, left.slots, left.stated, place(token));
      const auto value = expression();
      program_.record(left.tensor, std::move(left.slots), op, value, !left.stated.empty(), place(token));
      return;
    }
    error(peek(), "expected '=', '+=', '-=', '*=' or '/=' after the left side");
  }

  ExprId expression() {
    if (++nesting_ > kMaxNesting) error(peek(), fmt::format("more than {} parentheses inside each other", kMaxNesting));
    const auto made = joined(0);
    --nesting_;
    return made;
  }

  /// `or`, `xor` and `and`, the loosest first, as in Python: each below comparisons.
  ExprId joined(std::size_t level) {
    static constexpr std::pair<std::string_view, OpCode> kJoins[] = {
        {"or", OpCode::bit_or}, {"xor", OpCode::bit_xor}, {"and", OpCode::bit_and}};
    if (level == std::size(kJoins)) return negation();
    auto left = joined(level + 1);
    while (is(kJoins[level].first)) {
      const auto token = next();
      const auto right = joined(level + 1);
      left = program_.binary(kJoins[level].second, left, right, place(token));
    }
    return left;
  }

  /// `not x`, of a whole comparison; `not(x)` is a call.
  ExprId negation() {
    const auto token = peek();
    if (!is("not")) return comparison();
    if (is("(", 1)) {
      const auto made = factor();
      static constexpr std::string_view kTighter[] = {"<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/"};
      for (const auto symbol : kTighter) {
        if (!is(symbol)) continue;
        error(token, fmt::format("'not(x) {} y' may be read in two ways; write not(x {} y) or (not(x)) {} y", symbol,
                                 symbol, symbol));
      }
      return made;
    }
    ++at_;
    if (++nesting_ > kMaxNesting) error(token, fmt::format("more than {} words 'not' before each other", kMaxNesting));
    const auto made = program_.logical_not(negation(), place(token));
    --nesting_;
    return made;
  }

  ExprId comparison() {
    auto left = sum();
    const auto token = peek();
    static constexpr std::string_view kComparisons[] = {"<", "<=", ">", ">=", "==", "!="};
    for (const auto word : kComparisons) {
      if (token.kind != Token::Kind::symbol || token.text != word) continue;
      ++at_;
      const auto right = sum();
      const bool turned = word == ">" || word == ">=";
      const auto op = word == "=="                 ? OpCode::equal
                      : word == "!="               ? OpCode::not_equal
                      : word == "<" || word == ">" ? OpCode::less
                                                   : OpCode::less_equal;
      left = program_.binary(op, turned ? right : left, turned ? left : right, place(token));
      break;
    }
    return left;
  }

  ExprId sum() {
    auto left = term();
    while (is("+") || is("-")) {
      const auto token = next();
      const auto right = term();
      left = program_.binary(token.text == "+" ? OpCode::add : OpCode::sub, left, right, place(token));
    }
    return left;
  }

  ExprId term() {
    auto left = factor();
    while (is("*") || is("/")) {
      const auto token = next();
      const auto right = factor();
      left = program_.binary(token.text == "*" ? OpCode::mul : OpCode::div, left, right, place(token));
    }
    return left;
  }

  ExprId factor() {
    const auto token = peek();
    if (accept("-")) {
      if (++nesting_ > kMaxNesting) error(token, fmt::format("more than {} signs before each other", kMaxNesting));
      const auto made = program_.negate(factor(), place(token));
      --nesting_;
      return made;
    }
    if (accept("+")) return factor();
    if (accept("(")) {
      const auto made = expression();
      expect(")", "an expression in parentheses");
      return made;
    }
    if (token.kind == Token::Kind::number) return number();
    if (token.kind != Token::Kind::word) {
      const bool over = token.kind == Token::Kind::line_end || token.kind == Token::Kind::end;
      error(token, over ? "expected an expression, found the end of the line"
                        : fmt::format("expected an expression, found '{}'", token.text));
    }
    ++at_;
    if (token.text == "not" && !is("(")) {
      error(token, "'not' binds less tightly than arithmetic and comparisons; put it and its operand in parentheses");
    }
    if (is("(") && is_word(token.text)) return call(token);
    if (is("(")) {
      auto made = slots_of(token, false);
      if (!made.stated.empty()) program_.check_symmetry_words(made.tensor, made.slots, made.stated, place(token));
      return program_.access(made.tensor, std::move(made.slots), place(token));
    }
    if (const int index = program_.find_index(token.text); index >= 0) return program_.index(index, place(token));
    if (const int param = program_.find_param(token.text); param >= 0) return program_.param(param);
    const bool tensor = program_.find_tensor(token.text) >= 0;
    error(token, tensor ? fmt::format("'{}' is a tensor: give its slots, {}()", token.text, token.text)
                        : fmt::format("NameError: '{}' is not declared", token.text));
  }

  ExprId number() {
    const auto token = next();
    auto text = token.text;
    const bool imaginary = text.back() == 'i';
    if (imaginary) text.remove_suffix(1);
    const auto value = ir::read_number<double>(text);
    if (!value || !std::isfinite(*value)) error(token, fmt::format("'{}' is no number", token.text));
    if (imaginary) return program_.number({0, *value}, false);
    const bool integral = text.find_first_of(".eE") == std::string_view::npos;
    if (integral && ir::read_number<std::uint64_t>(text).value_or(kLargestInteger + 1) > kLargestInteger) {
      error(token, "integers up to 2^53 are exact; this one is larger");
    }
    return program_.number(*value, integral);
  }

  std::vector<int> indices() {
    std::vector<int> list;
    while (peek().kind == Token::Kind::word) {
      const auto token = next();
      const int index = program_.find_index(token.text);
      if (index < 0) error(token, fmt::format("NameError: '{}' is no index", token.text));
      list.push_back(index);
    }
    if (list.empty()) error(peek(), "expected indices, separated by blanks, before the first comma");
    expect(",", "indices");
    return list;
  }

  OpCode combiner() {
    const auto token = next();
    const auto op = combiner_of(token.text);
    if (!op) {
      error(token,
            fmt::format("'{}' is no operation to combine by: sum product minimum maximum and or xor", token.text));
    }
    expect(",", "an operation");
    return *op;
  }

  ExprId call(const Token& token) {
    const auto word = token.text;
    expect("(", "a function");
    const auto made = call_body(token, word);
    expect(")", "the operands of a function");
    return made;
  }

  ExprId call_body(const Token& token, std::string_view word) {
    const auto at = place(token);
    const auto comma = [&] { expect(",", "an operand"); };
    if (const auto op = function_of(word)) return program_.unary(*op, expression(), at);
    if (const auto op = function_of_two(word)) {
      const auto x = expression();
      comma();
      return program_.binary(*op, x, expression(), at);
    }
    if (word == "not") return program_.logical_not(expression(), at);
    if (word == "cast") {
      const auto to = type_word();
      comma();
      return program_.cast(to, expression(), at);
    }
    if (word == "select" || word == "guard") {
      const auto condition = expression();
      comma();
      const auto x = expression();
      if (word == "guard") return program_.guard(condition, x, at);
      comma();
      return program_.select(condition, x, expression(), at);
    }
    if (word == "det3") return program_.determinant(expression(), at);
    if (word == "inv3") return program_.inverse(expression(), at);
    if (word == "delta") {
      const int i = index();
      comma();
      return program_.delta(i, index(), at);
    }
    if (word == "diag") {
      const auto inner = peek();
      if (inner.kind == Token::Kind::word && program_.find_tensor(inner.text) >= 0) {
        // An access alone may repeat an index; a product that begins with one is an expression.
        const auto before = at_;
        ++at_;
        auto made = slots_of(inner, false);
        if (is(")")) return program_.diagonal_access(made.tensor, std::move(made.slots), at);
        at_ = before;
      }
      return program_.diagonal(expression(), at);
    }
    if (word == "scan" || word == "exclusive_scan") {
      const auto op = combiner();
      const int over = index();
      comma();
      return program_.scan(op, over, expression(), word == "exclusive_scan", at);
    }
    if (word == "compact") {
      const int over = index();
      comma();
      const auto predicate = expression();
      comma();
      return program_.compact(over, predicate, expression(), at);
    }
    std::optional<OpCode> op;
    if (word == "reduce") {
      op = combiner();
    } else if (word != "and" && word != "or" && word != "xor" && word != "min" && word != "max") {
      op = combiner_of(word);
    }
    if (!op) error(token, fmt::format("'{}' is no function", word));
    auto over = indices();
    return program_.reduce(*op, std::move(over), expression(), at);
  }

  int index() {
    const auto token = next();
    const int found = token.kind == Token::Kind::word ? program_.find_index(token.text) : -1;
    if (found < 0) error(token, fmt::format("NameError: '{}' is no index", token.text));
    return found;
  }

  ProgramGraph& program_;
  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

void parse(ProgramGraph& program, std::string_view text) { Parser(program, text).run(); }

}  // namespace ricci::formula
