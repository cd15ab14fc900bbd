// The fingerprint of the generator: what its sources say to a compiler, whatever their comments, layout and paths.
// Cached kernels and measured tunings carry it in their keys.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::codegen {

/// The tokens of C++ text, each ended by a line feed. Comments, white space between tokens and #include lines are left
/// out: none of them changes what the other tokens mean, and #include lines change when files move.
std::string tokens(std::string_view source);

/// 16 hexadecimal digits, a hash of the tokens of all `files`. Neither the order nor the paths of the files count.
/// Throws std::runtime_error where a file cannot be read.
std::string fingerprint(const std::vector<std::filesystem::path>& files);

/// The bytes of a file. Throws std::runtime_error where it cannot be read.
std::string read_text(const std::filesystem::path& file);

}  // namespace ricci::codegen
