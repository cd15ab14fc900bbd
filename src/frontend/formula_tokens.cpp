#include "frontend/formula_tokens.hpp"

#include <fmt/format.h>

#include <cctype>

#include "frontend/excerpt.hpp"
#include "frontend/formula.hpp"

namespace ricci::formula {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word_part(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  int open = 0;
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // a byte-order mark says nothing in UTF-8
  const std::size_t first = text.starts_with(kMark) ? kMark.size() : 0;
  unsigned line = 1;
  const auto continues = [&](std::string_view symbol) {
    return symbol != ")" && symbol != "]" && symbol != "(" && symbol != "[";
  };
  // Words between operands: a line with one at its end goes on, and so does one before a line that begins with one.
  const auto joins = [](std::string_view word) { return word == "and" || word == "or" || word == "xor"; };
  const auto drop_line_end = [&] {
    if (!tokens.empty() && tokens.back().kind == Token::Kind::line_end && tokens.back().text != ";") tokens.pop_back();
  };
  for (std::size_t i = first; i < text.size();) {
    const char c = text[i];
    if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
      continue;
    }
    if (c == '\n' || c == ';') {
      const bool begins = tokens.empty() || tokens.back().kind == Token::Kind::line_end;
      const bool open_end = !begins && (tokens.back().kind == Token::Kind::symbol
                                            ? continues(tokens.back().text)
                                            : tokens.back().kind == Token::Kind::word &&
                                                  (joins(tokens.back().text) || tokens.back().text == "not"));
      const bool goes_on = c == '\n' && open_end;
      if (open == 0 && !begins && !goes_on) tokens.push_back({Token::Kind::line_end, text.substr(i, 1), i, line});
      if (c == '\n') ++line;
      ++i;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
      continue;
    }
    std::size_t stop = i + 1;
    if (is_letter(c)) {
      while (stop < text.size() && is_word_part(text[stop])) ++stop;
      if (joins(text.substr(i, stop - i))) drop_line_end();
      tokens.push_back({Token::Kind::word, text.substr(i, stop - i), i, line});
    } else if (is_digit(c) || (c == '.' && stop < text.size() && is_digit(text[stop]))) {
      while (stop < text.size() &&
             (is_word_part(text[stop]) || text[stop] == '.' ||
              ((text[stop] == '+' || text[stop] == '-') && (text[stop - 1] == 'e' || text[stop - 1] == 'E')))) {
        ++stop;
      }
      tokens.push_back({Token::Kind::number, text.substr(i, stop - i), i, line});
    } else {
      static constexpr std::string_view kLong[] = {"<=", ">=", "==", "!=", "+=", "-=", "*=", "/="};
      static constexpr std::string_view kShort = "+-*/()[],:=<>";
      for (const auto symbol : kLong) {
        if (text.substr(i, 2) == symbol) stop = i + 2;
      }
      if (stop == i + 1 && kShort.find(c) == std::string_view::npos) {
        const bool plain = c > ' ' && c < 127;
        fail({text, i}, fmt::format("{} is not part of the language",
                                    plain || character_bytes(text, i) > 1
                                        ? fmt::format("'{}'", text.substr(i, character_bytes(text, i)))
                                        : fmt::format("the byte {}", static_cast<int>(static_cast<unsigned char>(c)))));
      }
      const auto symbol = text.substr(i, stop - i);
      if (continues(symbol)) drop_line_end();
      if (symbol == "(" || symbol == "[") ++open;
      if ((symbol == ")" || symbol == "]") && open > 0) --open;
      tokens.push_back({Token::Kind::symbol, symbol, i, line});
    }
    i = stop;
  }
  tokens.push_back({Token::Kind::line_end, {}, text.size(), line});
  tokens.push_back({Token::Kind::end, {}, text.size(), line});
  return tokens;
}

std::optional<OpCode> function_of(std::string_view word) {
  static constexpr OpCode kFunctions[] = {OpCode::sqrt, OpCode::cbrt,     OpCode::rsqrt,     OpCode::exp,
                                          OpCode::log,  OpCode::sin,      OpCode::cos,       OpCode::tan,
                                          OpCode::asin, OpCode::acos,     OpCode::atan,      OpCode::sinh,
                                          OpCode::cosh, OpCode::tanh,     OpCode::absolute,  OpCode::sign,
                                          OpCode::conj, OpCode::popcount, OpCode::real_part, OpCode::imag_part};
  for (const auto op : kFunctions) {
    if (word == symbol(op)) return op;
  }
  return {};
}

std::optional<OpCode> function_of_two(std::string_view word) {
  static constexpr OpCode kFunctions[] = {OpCode::pow,     OpCode::atan2,      OpCode::hypot,      OpCode::minimum,
                                          OpCode::maximum, OpCode::remainder,  OpCode::bit_and,    OpCode::bit_or,
                                          OpCode::bit_xor, OpCode::shift_left, OpCode::shift_right};
  for (const auto op : kFunctions) {
    if (word == symbol(op)) return op;
  }
  return {};
}

std::optional<OpCode> combiner_of(std::string_view word) {
  static constexpr OpCode kOps[] = {OpCode::add,     OpCode::mul,    OpCode::minimum, OpCode::maximum,
                                    OpCode::bit_and, OpCode::bit_or, OpCode::bit_xor};
  for (const auto op : kOps) {
    const std::string_view own = reduction_word(op);
    if (word == own || word == symbol(op)) return op;
  }
  return {};
}

}  // namespace ricci::formula
