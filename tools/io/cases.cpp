#include "io/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

/// Fields of a line; one in double quotes may have commas.
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      parts.emplace_back();
    } else if (c != '\r') {
      parts.back() += c;
    }
  }
  return parts;
}

/// A CSV file, line by line, with its columns by name.
class Table {
 public:
  explicit Table(const std::string& file) : file_(file), stream_(file) {
    if (!stream_) throw IoError(fmt::format("cannot open {}", file));
    std::getline(stream_, first_);
    header_ = split(first_);
  }
  const std::vector<std::string>& header() const { return header_; }
  std::size_t column(const std::string& name) {
    const auto place = std::find(header_.begin(), header_.end(), name);
    if (place == header_.end())
      throw IoError(fmt::format("{} has no column \"{}\" (its first line is \"{}\")", file_, name, first_));
    const auto column = static_cast<std::size_t>(place - header_.begin());
    needed_ = std::max(needed_, column + 1);
    return column;
  }
  /// The next line that is not empty.
  std::optional<std::vector<std::string>> next() {
    for (std::string line; std::getline(stream_, line);) {
      ++number_;
      if (line.empty()) continue;
      auto row = split(line);
      if (row.size() < needed_) throw IoError(fmt::format("{}: too few columns", where()));
      return row;
    }
    return {};
  }
  std::string where() const { return fmt::format("{}:{}", file_, number_); }

 private:
  std::string file_, first_;
  std::ifstream stream_;
  std::vector<std::string> header_;
  std::size_t needed_ = 0;
  int number_ = 1;
};

std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> values;
  std::istringstream stream(text);
  for (std::int64_t value; stream >> value;) values.push_back(value);
  return values;
}

std::string axis(std::size_t k) { return fmt::format("i{}", k); }

}  // namespace

CaseKind kind_of_cases(const std::string& file) {
  const Table table(file);
  for (const auto& name : table.header()) {
    if (name == "perm") return CaseKind::permutations;
    if (name == "spec") return CaseKind::einsums;
  }
  throw IoError(fmt::format("{} has neither a column \"perm\" nor a column \"spec\" (its first line is \"{}\")", file,
                            fmt::join(table.header(), ",")));
}

std::vector<PermuteCase> read_permute_cases(const std::string& file) {
  Table table(file);
  const auto id = table.column("id"), dims = table.column("dims"), perm = table.column("perm");
  std::vector<PermuteCase> cases;
  while (const auto line = table.next()) {
    const auto& row = *line;
    auto extents = numbers(row[dims]);
    const auto order = numbers(row[perm]);
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      if (sorted.size() != extents.size() || sorted[k] != static_cast<std::int64_t>(k)) {
        throw IoError(fmt::format("{}: \"{}\" is no permutation of {} axes", table.where(), row[perm], extents.size()));
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

std::vector<EinsumCase> read_einsum_cases(const std::string& file) {
  Table table(file);
  const auto id = table.column("id"), spec = table.column("spec"), extents = table.column("extents");
  std::vector<EinsumCase> cases;
  while (const auto row = table.next()) {
    EinsumCase c{(*row)[id], (*row)[spec], {}};
    std::istringstream words((*row)[extents]);
    for (std::string word; words >> word;) {
      const auto equals = word.find('=');
      const auto number = equals == std::string::npos ? 0 : std::atoll(word.c_str() + equals + 1);
      if (number < 1) throw IoError(fmt::format("{}: \"{}\" is no extent; write a=24", table.where(), word));
      c.extents[word.substr(0, equals)] = number;
    }
    const auto parsed = Spec::parse(c.spec);
    for (const auto& term : parsed.operands) {
      for (const auto& axis : term) {
        if (!c.extents.contains(axis.name))
          throw IoError(fmt::format("{}: no extent for {}", table.where(), axis.name));
      }
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

Peers read_peers(const std::string& file) {
  Table table(file);
  const auto id = table.column("id");
  Peers peers;
  while (const auto row = table.next()) {
    for (std::size_t k = 0; k < std::min(row->size(), table.header().size()); ++k) {
      const auto& name = table.header()[k];
      if (!name.ends_with("_ms") || (*row)[k].empty()) continue;
      peers[(*row)[id]][name.substr(0, name.size() - 3)] = std::atof((*row)[k].c_str());
    }
  }
  return peers;
}

void shrink(EinsumCase& c, double most_flops) {
  double points = 1;
  for (const auto& [axis, extent] : c.extents) points *= static_cast<double>(extent);
  const double by = std::pow(most_flops / 2 / points, 1.0 / static_cast<double>(c.extents.size()));
  if (by >= 1) return;
  for (auto& [axis, extent] : c.extents)
    extent = std::max(std::int64_t{1}, static_cast<std::int64_t>(static_cast<double>(extent) * by));
}

namespace {

Layout layout_of(const EinsumCase& c, const Spec::Term& term, DType type) {
  std::vector<std::int64_t> extents;
  for (const auto& axis : term) extents.push_back(c.extents.at(axis.name));
  return Layout::row_major(type, std::move(extents));
}

}  // namespace

std::vector<Layout> operand_layouts(const EinsumCase& c, const Spec& spec, DType type) {
  std::vector<Layout> operands;
  for (const auto& term : spec.operands) operands.push_back(layout_of(c, term, type));
  return operands;
}

DType result_type(DType type) { return is_integer(type) && size_of(type) == 1 ? DType::i32 : type; }

Layout result_layout(const EinsumCase& c, const Spec& spec, DType type) {
  return layout_of(c, spec.output, result_type(type));
}

std::string set_name(const std::string& file) { return std::filesystem::path(file).stem().string(); }

}  // namespace ricci::tools
