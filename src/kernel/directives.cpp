#include "kernel/directives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "ir/read_number.hpp"
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

using Keys = std::span<const std::string_view>;
constexpr std::string_view kBindings[] = {"task", "cluster", "serial", "thread", "sum"};
constexpr std::string_view kSides[] = {"rows", "columns", "depth", "batch"};
constexpr std::string_view kStaged[] = {"vector", "rows", "along", "across", "packing"};
constexpr std::string_view kWritten[] = {"vector", "workers"}, kLaid[] = {"elements", "swizzle"};

struct Word {
  std::string_view text;
  unsigned readers;
  const char* subject = nullptr;  ///< what follows first, for people
  bool number = false;            ///< whether a number is next
  bool list = false;              ///< whether names follow that have no key
  Keys keys = {};                 ///< of names that end the line
  friend bool operator==(const Word& word, std::string_view text) { return word.text == text; }
};

/// By Kind.
constexpr Word kWords[] = {
    {"tile", kProducts | kPoints | kMoves},
    {"order", kProducts | kPoints | kMoves, nullptr, false, false, kBindings},
    {"stage", kProducts | kMoves, "an operand"},
    {"atom", kProducts, "an atom", false, false, kSides},
    {"pipeline", kProducts, "a loop", true},
    {"products", kProducts, nullptr, true},
    {"prefetch", kProducts | kMoves},
    {"nontemporal", kProducts | kPoints | kMoves},
    {"lanes", kPoints, "an index", true},
    {"strip", kPoints, nullptr, true},
    {"part", kPoints, nullptr, true},
    {"threads", kPoints | kMoves, nullptr, true},
    {"cooperative", kPoints, nullptr, true},
    {"write", kMoves, nullptr, false, true, kWritten},
    {"layout", kMoves, nullptr, false, true, kLaid},
    {"carry", kMoves, "an index"},
    {"skew", kMoves, "an index", true},
    {"origin", kMoves, "shuffle"},
    {"store", kProducts},
    {"join", kProducts, "a name for what indices become", false, true},
    {"copy", 0, "an operand, or the result", false, true},
    {"library", 0, "gemm"},
};
static_assert(std::size(kWords) == static_cast<std::size_t>(Kind::added));

constexpr std::string_view word_of(Kind kind) { return kWords[static_cast<std::size_t>(kind)].text; }

/// The words of one line.
class Words {
 public:
  Words(std::string_view line) : line_(line) {}  // NOLINT(google-explicit-constructor)
  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const auto word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    return word;
  }
  [[noreturn]] void fail(std::string_view word, std::string_view wanted) const {
    throw PlanError(fmt::format("schedule: \"{}\" in \"{}\": {} is expected there", word, line_, wanted));
  }
  std::string_view name(const char* wanted) {
    const auto word = next();
    if (word.empty()) fail(word, wanted);
    return word;
  }
  std::int64_t number() { return number(next()); }
  std::int64_t number(std::string_view word) const {
    const auto value = ir::read_number<std::int64_t>(word);
    if (!value || *value < 1) fail(word, "a positive number");
    return *value;
  }
  /// "2x4": as many numbers as there are places.
  void product(std::span<int> to) {
    constexpr const char* kWanted[] = {"a positive number", "rows x columns", "rows x columns x depth"};
    const auto whole = next();
    auto rest = whole;
    for (auto& value : to) {
      const auto end = std::min(rest.find('x'), rest.size());
      if ((&value == &to.back()) != (end == rest.size())) fail(whole, kWanted[to.size() - 1]);
      value = static_cast<int>(number(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  /// Whether the line goes on, with this word.
  bool perhaps(std::string_view wanted) {
    const auto word = next();
    if (!word.empty() && word != wanted) fail(word, fmt::format("\"{}\"", wanted));
    return !word.empty();
  }

 private:
  std::string_view line_, rest_ = line_;
};

/// Where the numbers go that stand behind a word among names.
std::span<int> numbers_of(Directive& d, std::string_view word) {
  const bool is_atom = d.kind == Kind::atom, is_copy = d.kind == Kind::stage && !d.at.empty();
  if (is_copy && word == "pad") return {&d.padding, 1};
  if (is_atom && word == "warps") return d.warps;
  if (is_atom && word == "runs") return d.runs;
  if (is_atom && word == "parts") return {&d.parts, 1};
  if (is_atom && word == "blocks") return {&d.blocks, 1};
  if (is_atom && word == "lanes") return {&d.lanes, 1};
  return {};
}

Directive parse_line(std::string_view line) {
  Words words(line);
  Directive d;
  const auto what = words.next();
  // Names behind the keys, and numbers behind words of their own.
  const auto groups = [&](Keys keys) {
    for (auto word = words.next(); !word.empty(); word = words.next()) {
      if (const auto numbers = numbers_of(d, word); !numbers.empty()) {
        words.product(numbers);
      } else if (std::find(keys.begin(), keys.end(), word) != keys.end()) {
        d.loops.push_back({std::string(word), {}});
      } else if (d.loops.empty()) {
        words.fail(word, fmt::format("one of the words {}", fmt::join(keys, ", ")));
      } else {
        d.loops.back().second.emplace_back(word);
      }
    }
  };
  // The same where the first names have none.
  const auto list = [&](Keys keys) {
    d.loops.push_back({"", {}});
    groups(keys);
  };
  const auto* const known = std::find(std::begin(kWords), std::end(kWords), what);
  if (known == std::end(kWords) && find_directive(what) == nullptr) {
    std::vector<std::string_view> all;
    for (const auto& word : kWords) all.push_back(word.text);
    words.fail(what, fmt::format("one of {}", fmt::join(all, ", ")));
  }
  d.kind = static_cast<Kind>(known - std::begin(kWords));
  if (d.kind == Kind::added) {
    d.subject = what;
    list({});
  } else {
    if (known->subject != nullptr) d.subject = words.name(known->subject);
    if (known->number) d.sizes.push_back(words.number());
    if (known->list) d.loops.push_back({"", {}});
    if (known->list || !known->keys.empty()) groups(known->keys);
  }
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
    case Kind::stage:
      d.space = words.name("\"at\" and a loop, shared, warp or registers");
      if (d.space != "at") {
        list(kStaged);
        break;
      }
      d.at = words.name("a loop");
      d.space = words.name("scratch, shared, async or maps");
      list({});
      break;
    case Kind::pipeline:
      if (words.perhaps("prefetch")) d.loops.push_back({"prefetch", {}});
      break;
    case Kind::products:
    case Kind::part:
      for (auto word = words.next(); !word.empty(); word = words.next()) d.sizes.push_back(words.number(word));
      break;
    case Kind::cooperative:
      if (words.perhaps("items")) d.sizes.push_back(words.number());
      break;
    case Kind::prefetch:
      if (const auto word = words.next(); !word.empty()) d.sizes.push_back(words.number(word));
      break;
    case Kind::store:
      d.space = words.name("shared or atomic");
      if (d.space != "shared" && d.space != "atomic") words.fail(d.space, "shared or atomic");
      break;
    default:
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

bool has_maps(const Directives& directives) noexcept {
  return std::any_of(directives.begin(), directives.end(),
                     [](const Directive& d) { return d.kind == Directive::Kind::stage && d.space == "maps"; });
}

std::string print(const Directive& d) {
  auto text = d.kind == Kind::added ? d.subject : std::string(word_of(d.kind));
  const auto say = [&](std::string_view word, auto what) { text += fmt::format(" {}{}", word, std::move(what)); };
  if (d.kind == Kind::tile) {
    say(d.subject + ":", fmt::join(d.sizes, ":"));
  } else {
    if (d.kind != Kind::added && !d.subject.empty()) say("", d.subject);
    if (!d.at.empty()) say("at ", d.at);
    if (!d.space.empty()) say("", d.space);
    if (!d.sizes.empty()) say("", fmt::join(d.sizes, d.kind == Kind::cooperative ? " items " : " "));
  }
  if (d.padding > 0) say("pad ", d.padding);
  for (const auto& [word, names] : d.loops) {
    if (!word.empty()) say("", word);
    if (!names.empty()) say("", fmt::join(names, " "));
  }
  if (d.kind != Kind::atom) return text;
  if (d.warps[0] == 0) {
    say("lanes ", d.lanes);
    return text;
  }
  say("warps ", fmt::join(d.warps, "x"));
  say("runs ", fmt::join(d.runs, "x"));
  if (d.parts > 1) say("parts ", d.parts);
  if (d.blocks > 1) say("blocks ", d.blocks);
  return text;
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
