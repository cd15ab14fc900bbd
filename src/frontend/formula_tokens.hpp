// The words of a program's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ricci::formula {

struct Token {
  enum class Kind : std::uint8_t { word, number, symbol, line_end, end };
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t offset = 0;
  unsigned line = 1;  ///< of the text
};

/// Words, numbers, symbols and ends of lines; comments and blanks are left out. A line goes on where a parenthesis is
/// open, after an operator or a comma, and where the next line begins with an operator.
/// Throws SpecError at what is not part of the language.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace ricci::formula
