// Parts of a user's text in messages: never more than a screen of it, never a part of a character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ricci {

/// Bytes from `at` that make one character of UTF-8; one where they make none.
std::size_t character_bytes(std::string_view text, std::size_t at) noexcept;

/// A text of at most `most` bytes as it is; of a longer one its beginning and its end, and how many bytes are left out.
std::string shortened(std::string_view text, std::size_t most);

/// A line, indented by two, with carets under the bytes at `columns` in the next one. Of a long line what is near the
/// first of them, with "..." for the rest. Tabs become spaces, bytes that are not UTF-8 question marks.
std::string underlined(std::string_view line, std::vector<std::size_t> columns);

}  // namespace ricci
