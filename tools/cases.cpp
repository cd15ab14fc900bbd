#include "cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> values;
  std::istringstream stream(text);
  for (std::int64_t value; stream >> value;) values.push_back(value);
  return values;
}

std::string axis(std::size_t k) { return fmt::format("i{}", k); }

}  // namespace

std::vector<PermuteCase> read_permute_cases(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw IoError(fmt::format("cannot open {}", file));
  std::string line;
  std::getline(stream, line);
  const auto header = split(line, ',');
  const auto column = [&](const char* name) {
    const auto place = std::find(header.begin(), header.end(), name);
    if (place == header.end())
      throw IoError(fmt::format("{} has no column \"{}\" (its first line is \"{}\")", file, name, line));
    return static_cast<std::size_t>(place - header.begin());
  };
  const auto id = column("id"), dims = column("dims"), perm = column("perm");
  std::vector<PermuteCase> cases;
  for (int number = 2; std::getline(stream, line); ++number) {
    if (line.empty()) continue;
    const auto row = split(line, ',');
    if (row.size() <= std::max({id, dims, perm})) throw IoError(fmt::format("{}:{}: too few columns", file, number));
    auto extents = numbers(row[dims]);
    const auto order = numbers(row[perm]);
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      if (sorted.size() != extents.size() || sorted[k] != static_cast<std::int64_t>(k)) {
        throw IoError(
            fmt::format("{}:{}: \"{}\" is no permutation of {} axes", file, number, row[perm], extents.size()));
      }
    }
    PermuteCase c;
    c.id = row[id];
    for (std::size_t k = extents.size(); k-- > 0;) c.spec += axis(k) + " ";
    c.spec += "->";
    for (std::size_t k = order.size(); k-- > 0;) c.spec += " " + axis(static_cast<std::size_t>(order[k]));
    std::reverse(extents.begin(), extents.end());
    c.extents = std::move(extents);
    cases.push_back(std::move(c));
  }
  return cases;
}

std::string set_name(const std::string& file) { return std::filesystem::path(file).stem().string(); }

}  // namespace ricci::tools
