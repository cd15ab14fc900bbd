// The words of a program's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/program.hpp"

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

/// The function of one operand, or of two, that a word names.
std::optional<ir::OpCode> function_of(std::string_view word);
std::optional<ir::OpCode> function_of_two(std::string_view word);
/// What a reduction or a scan combines by: its own word ("sum", "andall"), or inside of reduce and scan also the
/// operation's ("and", "min").
std::optional<ir::OpCode> combiner_of(std::string_view word);

}  // namespace ricci::formula
