#include "kernel/directives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "kernel/extensions.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

using Kind = Directive::Kind;

/// Whom directives are for; 0: for what makes several steps.
constexpr unsigned kProducts = 1, kPoints = 2, kMoves = 4;
constexpr std::pair<unsigned, std::string_view> kReaders[] = {{kProducts, "the products of an atom"},
                                                              {kPoints, "what is computed point by point"},
                                                              {kMoves, "what only moves elements"}};

struct Word {
  std::string_view text;
  unsigned readers;
  friend bool operator==(const Word& word, std::string_view text) { return word.text == text; }
};

/// By Kind.
constexpr Word kWords[] = {
    {"tile", kProducts | kPoints | kMoves},
    {"order", kProducts | kPoints | kMoves},
    {"stage", kProducts | kMoves},
    {"atom", kProducts},
    {"pipeline", kProducts},
    {"products", kProducts},
    {"prefetch", kProducts | kMoves},
    {"nontemporal", kProducts | kPoints | kMoves},
    {"lanes", kPoints},
    {"strip", kPoints},
    {"part", kPoints},
    {"threads", kPoints | kMoves},
    {"cooperative", kPoints},
    {"write", kMoves},
    {"layout", kMoves},
    {"carry", kMoves},
    {"skew", kMoves},
    {"origin", kMoves},
    {"store", kProducts},
    {"copy", 0},
    {"library", 0},
};
static_assert(std::size(kWords) == static_cast<std::size_t>(Kind::added));

constexpr std::string_view word_of(Kind kind) { return kWords[static_cast<std::size_t>(kind)].text; }

/// The words of one line.
class Words {
 public:
  Words(std::string_view line) : line_(line) {}  // NOLINT(google-explicit-constructor)
  std::string_view next() {
    const auto begin = rest_().find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    at_ += begin;
    const auto length = std::min(rest_().find(' '), rest_().size());
    const auto word = rest_().substr(0, length);
    at_ += length;
    return word;
  }
  [[noreturn]] void fail(std::string_view word, const char* wanted) const {
    throw PlanError(fmt::format("schedule: \"{}\" in \"{}\": {} is expected there", word, line_, wanted));
  }
  std::string_view name(const char* wanted) {
    const auto word = next();
    if (word.empty()) fail(word, wanted);
    return word;
  }
  std::int64_t number(std::string_view word) const {
    std::int64_t value = 0;
    const char* const begin = word.empty() ? "" : &word.front();
    const char* const end = begin + word.size();
    if (std::from_chars(begin, end, value).ptr != end || word.empty() || value < 1) fail(word, "a positive number");
    return value;
  }
  /// "2x4": as many numbers as there are places.
  void product(std::string_view word, int* to, std::size_t places) const {
    const auto whole = word;
    for (std::size_t k = 0; k < places; ++k) {
      const auto end = std::min(word.find('x'), word.size());
      if ((k + 1 == places) != (end == word.size()))
        fail(whole, places == 2 ? "rows x columns" : "rows x columns x depth");
      to[k] = static_cast<int>(number(word.substr(0, end)));
      word.remove_prefix(std::min(end + 1, word.size()));
    }
  }

 private:
  std::string_view rest_() const { return line_.substr(at_); }
  std::string_view line_;
  std::size_t at_ = 0;
};

Directive parse_line(std::string_view line) {
  Words words(line);
  Directive d;
  const auto what = words.next();
  const auto groups = [&](std::initializer_list<std::string_view> keys) {
    for (auto word = words.next(); !word.empty(); word = words.next()) {
      if (word == "lanes") {
        d.lanes = static_cast<int>(words.number(words.next()));
        continue;
      }
      if (word == "parts") {
        d.parts = static_cast<int>(words.number(words.next()));
        continue;
      }
      if (word == "blocks") {
        d.blocks = static_cast<int>(words.number(words.next()));
        continue;
      }
      if (word == "warps" || word == "runs") {
        auto* const to = word == "warps" ? d.warps.data() : d.runs.data();
        words.product(words.next(), to, word == "warps" ? d.warps.size() : d.runs.size());
        continue;
      }
      if (std::find(keys.begin(), keys.end(), word) != keys.end()) {
        d.loops.push_back({std::string(word), {}});
        continue;
      }
      if (d.loops.empty())
        words.fail(word, "one of the words rows, columns, depth, batch, task, cluster, serial, thread, sum");
      d.loops.back().second.emplace_back(word);
    }
  };
  // Digits, and what is said of them.
  const auto digits = [&](std::initializer_list<std::string_view> keys) {
    d.loops.push_back({"", {}});
    for (auto word = words.next(); !word.empty(); word = words.next()) {
      if (std::find(keys.begin(), keys.end(), word) != keys.end()) {
        d.loops.push_back({std::string(word), {}});
      } else {
        d.loops.back().second.emplace_back(word);
      }
    }
  };
  const auto* const known = std::find(std::begin(kWords), std::end(kWords), what);
  if (known == std::end(kWords) && find_directive(what) == nullptr) {
    std::vector<std::string_view> all;
    for (const auto& word : kWords) all.push_back(word.text);
    words.fail(what, fmt::format("one of {}", fmt::join(all, ", ")).c_str());
  }
  d.kind = static_cast<Kind>(known - std::begin(kWords));
  switch (d.kind) {
    case Kind::tile: {
      auto word = words.name("index:size");
      auto colon = word.find(':');
      if (colon == std::string_view::npos) words.fail(word, "index:size");
      d.subject = word.substr(0, colon);
      while (colon != std::string_view::npos) {
        word = word.substr(colon + 1);
        colon = word.find(':');
        d.sizes.push_back(words.number(word.substr(0, colon)));
      }
      break;
    }
    case Kind::order:
      groups({"task", "cluster", "serial", "thread", "sum"});
      break;
    case Kind::stage:
      d.subject = words.name("an operand");
      d.space = words.name("\"at\" and a loop, shared, warp or registers");
      if (d.space != "at") {
        digits({"vector", "rows", "along", "across", "packing"});
        break;
      }
      d.at = words.name("a loop");
      d.space = words.name("scratch, shared or async");
      d.loops.push_back({"", {}});
      for (auto word = words.next(); !word.empty(); word = words.next()) {
        if (word == "pad") {
          d.padding = static_cast<int>(words.number(words.next()));
        } else {
          d.loops.back().second.emplace_back(word);
        }
      }
      break;
    case Kind::atom:
      d.subject = words.name("an atom");
      groups({"rows", "columns", "depth", "batch"});
      break;
    case Kind::pipeline:
      d.subject = words.name("a loop");
      d.sizes.push_back(words.number(words.next()));
      if (const auto word = words.next(); word == "prefetch") {
        d.loops.push_back({"prefetch", {}});
      } else if (!word.empty()) {
        words.fail(word, "\"prefetch\"");
      }
      break;
    case Kind::lanes:
    case Kind::skew:
      d.subject = words.name("an index");
      d.sizes.push_back(words.number(words.next()));
      break;
    case Kind::products:
    case Kind::part:
      d.sizes.push_back(words.number(words.next()));
      for (auto word = words.next(); !word.empty(); word = words.next()) d.sizes.push_back(words.number(word));
      break;
    case Kind::strip:
    case Kind::threads:
      d.sizes.push_back(words.number(words.next()));
      break;
    case Kind::cooperative:
      d.sizes.push_back(words.number(words.next()));
      if (const auto word = words.next(); word == "items") {
        d.sizes.push_back(words.number(words.next()));
      } else if (!word.empty()) {
        words.fail(word, "\"items\"");
      }
      break;
    case Kind::prefetch:
      if (const auto word = words.next(); !word.empty()) d.sizes.push_back(words.number(word));
      break;
    case Kind::nontemporal:
      break;
    case Kind::write:
      digits({"vector", "workers"});
      break;
    case Kind::layout:
      digits({"elements", "swizzle"});
      break;
    case Kind::carry:
      d.subject = words.name("an index");
      break;
    case Kind::origin:
      d.subject = words.name("shuffle");
      break;
    case Kind::store:
      d.space = words.name("shared or atomic");
      if (d.space != "shared" && d.space != "atomic") words.fail(d.space, "shared or atomic");
      break;
    case Kind::copy:
      d.subject = words.name("an operand, or the result");
      digits({});
      break;
    case Kind::library:
      d.subject = words.name("gemm");
      break;
    case Kind::added:
      d.subject = what;
      d.loops.push_back({"", {}});
      for (auto word = words.next(); !word.empty(); word = words.next()) d.loops.back().second.emplace_back(word);
      break;
  }
  if (const auto word = words.next(); !word.empty()) words.fail(word, "the end of the line");
  return d;
}

}  // namespace

bool is_directive(std::string_view word) noexcept {
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

void refuse(const Directive& directive, std::string_view rule) {
  throw PlanError(fmt::format("schedule: {}: {}", print(directive), rule));
}

void refuse_misplaced(const Directive& directive) {
  if (directive.kind == Kind::added)
    refuse(directive, "it rewrites the tree, which is made by all directives of other words in front of it");
  const auto readers = kWords[static_cast<std::size_t>(directive.kind)].readers;
  if (readers == 0) refuse(directive, "it stands before all that is for a kernel");
  std::vector<std::string_view> names;
  for (const auto& [reader, name] : kReaders) {
    if ((readers & reader) != 0) names.push_back(name);
  }
  refuse(directive, fmt::format("it is for {}", fmt::join(names, " and ")));
}

std::vector<Level> levels_of(const Directive& tile, std::int64_t extent) {
  const auto& sizes = tile.sizes;
  std::vector<Level> levels;
  const auto add = [&](std::size_t number, std::int64_t count, std::int64_t step) {
    levels.push_back({number == sizes.size() ? tile.subject : fmt::format("{}{}", tile.subject, number), count, step});
  };
  const bool whole = sizes.size() == 1 && sizes.front() == extent;
  if (!whole) add(0, (extent + sizes.front() - 1) / sizes.front(), sizes.front());
  for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
    if (sizes[k] % sizes[k + 1] != 0) refuse(tile, fmt::format("{} is no multiple of {}", sizes[k], sizes[k + 1]));
    add(k + 1, sizes[k] / sizes[k + 1], sizes[k + 1]);
  }
  add(sizes.size(), sizes.back(), 1);
  return levels;
}

Directive whole(const ir::LoopIndex& index) {
  Directive tile;
  tile.subject = index.name;
  tile.sizes = {std::max<std::int64_t>(index.extent, 1)};
  return tile;
}

bool has_atom(const Directives& directives) noexcept {
  return std::any_of(directives.begin(), directives.end(), [](const Directive& d) { return d.kind == Kind::atom; });
}

bool has_write(const Directives& directives) noexcept {
  return std::any_of(directives.begin(), directives.end(), [](const Directive& d) { return d.kind == Kind::write; });
}

std::string print(const Directive& d) {
  const auto groups = [&] {
    std::string text;
    for (const auto& [word, names] : d.loops) {
      if (!word.empty()) text += " " + word;
      if (!names.empty()) text += fmt::format(" {}", fmt::join(names, " "));
    }
    return text;
  };
  switch (d.kind) {
    case Kind::tile:
      return fmt::format("tile {}:{}", d.subject, fmt::join(d.sizes, ":"));
    case Kind::order:
      return "order" + groups();
    case Kind::stage:
      return fmt::format("stage {}{} {}{}{}", d.subject, d.at.empty() ? "" : " at " + d.at, d.space,
                         d.padding > 0 ? fmt::format(" pad {}", d.padding) : "", groups());
    case Kind::atom:
      if (d.warps[0] > 0)
        return fmt::format("atom {}{} warps {} runs {}{}{}", d.subject, groups(), fmt::join(d.warps, "x"),
                           fmt::join(d.runs, "x"), d.parts > 1 ? fmt::format(" parts {}", d.parts) : "",
                           d.blocks > 1 ? fmt::format(" blocks {}", d.blocks) : "");
      return fmt::format("atom {}{} lanes {}", d.subject, groups(), d.lanes);
    case Kind::pipeline:
      return fmt::format("pipeline {} {}{}", d.subject, d.sizes.front(), groups());
    case Kind::lanes:
    case Kind::skew:
      return fmt::format("{} {} {}", word_of(d.kind), d.subject, d.sizes.front());
    case Kind::carry:
    case Kind::origin:
    case Kind::library:
      return fmt::format("{} {}", word_of(d.kind), d.subject);
    case Kind::store:
      return "store " + d.space;
    case Kind::write:
    case Kind::layout:
      return std::string(word_of(d.kind)) + groups();
    case Kind::products:
    case Kind::strip:
    case Kind::part:
    case Kind::threads:
      return fmt::format("{} {}", word_of(d.kind), fmt::join(d.sizes, " "));
    case Kind::cooperative:
      return fmt::format("cooperative {}", fmt::join(d.sizes, " items "));
    case Kind::prefetch:
    case Kind::nontemporal:
      return fmt::format("{}{}{}", word_of(d.kind), d.sizes.empty() ? "" : " ", fmt::join(d.sizes, " "));
    case Kind::copy:
      return fmt::format("copy {}{}", d.subject, groups());
    case Kind::added:
      return d.subject + groups();
  }
  return {};
}

std::string print(const Directives& directives) {
  std::string text;
  for (const auto& directive : directives) text += print(directive) + "\n";
  return text;
}

Directives parse_directives(std::string_view text) {
  Directives directives;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(";\n"), text.size());
    const auto line = text.substr(0, end);
    if (line.find_first_not_of(' ') != std::string_view::npos) directives.push_back(parse_line(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return directives;
}

}  // namespace ricci::kernel
