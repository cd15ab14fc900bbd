#include "codegen/fingerprint/fingerprint.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ricci::codegen {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c < 0; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// Operators of several characters, longer ones first.
constexpr std::array<std::string_view, 27> kOperators = {"<=>", "<<=", ">>=", "->*", "...", "::", "->", "++", "--",
                                                         "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=",
                                                         "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "##", ".*"};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) step();
    end_line();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  void step() {
    if (starts("\\\n")) {  // a spliced line goes on in the next one
      at_ += 2;
    } else if (starts("\\\r\n")) {
      at_ += 3;
    } else if (peek() == '\n') {
      ++at_;
      end_line();
    } else if (is_space(peek())) {
      ++at_;
    } else if (starts("//")) {
      skip_line();
    } else if (starts("/*")) {
      const auto end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (peek() == '#' && line_tokens_ == 0) {
      directive();
    } else {
      token();
    }
  }

  /// To the end of the line, spliced lines included; the line feed stays.
  void skip_line() {
    while (at_ < text_.size() && peek() != '\n') at_ += starts("\\\n") ? 2 : starts("\\\r\n") ? 3 : 1;
  }

  /// The end of a directive is a token; that of any other line is layout.
  void end_line() {
    if (directive_) out_ += "<end>\n";
    directive_ = false;
    line_tokens_ = 0;
  }

  void directive() {
    ++at_;
    while (is_space(peek())) ++at_;
    std::size_t length = 0;
    while (is_name(peek(length))) ++length;
    const auto name = text_.substr(at_, length);
    if (name == "include") {
      skip_line();
      return;
    }
    at_ += length;
    directive_ = true;
    emit("#" + std::string(name));
    if (name == "define") {  // #define f(x) has a parameter, #define f (x) has none
      while (is_space(peek())) ++at_;
      token();
      if (peek() == '(') emit("<parameters>");
    }
  }

  void token() {
    const auto begin = at_;
    if (is_name(peek()) && !is_digit(peek())) {
      while (is_name(peek())) ++at_;
      const auto name = text_.substr(begin, at_ - begin);
      const bool raw = name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
      if (raw && peek() == '"') raw_string();
    } else if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) {
      number();
    } else if (peek() == '"' || peek() == '\'') {
      quoted(peek());
    } else {
      const auto* found = std::find_if(kOperators.begin(), kOperators.end(), [&](auto op) { return starts(op); });
      at_ += found == kOperators.end() ? 1 : found->size();
    }
    emit(std::string(text_.substr(begin, at_ - begin)));
  }

  void number() {
    for (; at_ < text_.size(); ++at_) {
      const char c = peek();
      const bool sign = (c == 'e' || c == 'E' || c == 'p' || c == 'P') && (peek(1) == '+' || peek(1) == '-');
      const bool separator = c == '\'' && is_name(peek(1));
      if (sign || separator) {
        ++at_;
      } else if (!is_name(c) && c != '.') {
        break;
      }
    }
  }

  /// A string or character literal; one that is not closed ends with its line, as in the text of an #error.
  void quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    at_ = std::min(at_ + (peek() == quote ? 1 : 0), text_.size());
  }

  void raw_string() {
    const auto open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      quoted('"');
      return;
    }
    const auto close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const auto end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
  }

  void emit(const std::string& token) {
    out_ += token;
    out_ += '\n';
    ++line_tokens_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_tokens_ = 0;  ///< tokens of this line so far: a directive begins with the first one
  bool directive_ = false;
  std::string out_;
};

}  // namespace

std::string tokens(std::string_view source) { return Scanner(source).run(); }

std::string fingerprint(const std::vector<std::filesystem::path>& files) {
  std::vector<std::uint64_t> hashes;
  for (const auto& file : files) {
    const auto text = tokens(read_text(file));
    hashes.push_back(XXH3_64bits(text.data(), text.size()));
  }
  std::sort(hashes.begin(), hashes.end());
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(hashes.data(), hashes.size() * sizeof hashes[0])));
  return digits;
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace ricci::codegen
