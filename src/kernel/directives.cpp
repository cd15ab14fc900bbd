#include "kernel/directives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <ranges>
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

constexpr std::string_view kBindings[] = {"task", "cluster", "last", "serial", "thread", "sum"};
constexpr std::string_view kSides[] = {"rows", "columns", "depth", "batch", "warp"};
constexpr std::string_view kStaged[] = {"vector", "rows", "along", "across", "packing"};
constexpr std::string_view kWritten[] = {"vector", "workers"}, kLaid[] = {"elements", "swizzle"}, kJoined[] = {"table"};
constexpr int kMany = 1 << 20;

/// What may follow a word, in this order.
struct Word {
  std::string_view text;
  unsigned readers;
  const char* subject = nullptr;                ///< what it is, for people
  int least = 0, most = 0;                      ///< how many numbers
  std::string_view perhaps = {};                ///< a word, after which `items` has a number
  bool list = false;                            ///< names that have no key
  std::span<const std::string_view> keys = {};  ///< of names that end the line
  friend bool operator==(const Word& word, std::string_view text) { return word.text == text; }
};

/// By Kind.
constexpr Word kWords[] = {
    {"tile", kProducts | kPoints | kMoves},
    {.text = "order", .readers = kProducts | kPoints | kMoves, .keys = kBindings},
    {"stage", kProducts | kPoints | kMoves, "an operand"},
    {.text = "atom", .readers = kProducts, .subject = "an atom", .keys = kSides},
    {"pipeline", kProducts, "a loop", 1, 1, "prefetch"},
    {"products", kProducts, nullptr, 1, kMany},
    {"prefetch", kProducts | kMoves, nullptr, 0, 1},
    {"nontemporal", kProducts | kPoints | kMoves},
    {"lanes", kPoints, "an index", 1, 1},
    {"strip", kPoints, nullptr, 1, 1},
    {"part", kPoints, nullptr, 1, kMany},
    {"threads", kPoints | kMoves, nullptr, 1, 1},
    {"cooperative", kPoints, nullptr, 1, 1, "items"},
    {"row", kPoints, "an index", 1, 1},
    {.text = "write", .readers = kMoves, .list = true, .keys = kWritten},
    {.text = "layout", .readers = kMoves, .list = true, .keys = kLaid},
    {"carry", kProducts | kMoves, "an index"},
    {"skew", kMoves, "an index", 1, 1},
    {"origin", kMoves, "shuffle"},
    {"store", kProducts},
    {.text = "join", .readers = kProducts, .subject = "a name for what becomes one", .list = true, .keys = kJoined},
    {"exchange", kProducts},
    {.text = "copy", .readers = 0, .subject = "an operand, or the result", .list = true},
    {"library", 0, "gemm"},
};
static_assert(std::size(kWords) == static_cast<std::size_t>(Kind::added));

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(text, at)) parts.emplace_back(part.begin(), part.end());
  return parts;
}

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
  std::int64_t number(std::string_view word) const {
    const auto value = ir::read_number<std::int64_t>(word);
    if (!value || *value < 1) fail(word, "a positive number");
    return *value;
  }
  /// "2x4": as many numbers as there are places.
  void product(std::span<int> to) {
    constexpr const char* kWanted[] = {"a positive number", "rows x columns", "rows x columns x depth"};
    const auto whole = next();
    const auto parts = split(whole, 'x');
    if (parts.size() != to.size()) fail(whole, kWanted[to.size() - 1]);
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<int>(number(parts[k]));
  }

 private:
  std::string_view line_, rest_ = line_;
};

/// Numbers behind a word of their own, and whether they are said where nothing else is: others go without saying.
struct Numbers {
  std::string_view word;
  std::span<int> of;
  bool said = true;
};
std::vector<Numbers> numbers_of(Directive& d) {
  if (d.kind == Kind::stage && !d.at.empty()) return {{"pad", {&d.padding, 1}, d.padding > 0}};
  if (d.kind != Kind::atom) return {};
  const bool gpu = d.warps[0] > 0;
  return {{"lanes", {&d.lanes, 1}, !gpu},
          {"over", {&d.over, 1}, !gpu && d.over > 1},
          {"warps", d.warps, gpu},
          {"runs", d.runs, gpu},
          {"parts", {&d.parts, 1}, gpu && d.parts > 1},
          {"products", {&d.products, 1}, gpu && d.products != 4},
          {"blocks", {&d.blocks, 1}, gpu && d.blocks > 1}};
}

Directive parse_line(std::string_view line) {
  Words words(line);
  Directive d;
  const auto what = words.next();
  // Names behind the keys, where `list` the first ones without, and numbers behind words of their own.
  const auto names = [&](bool list, std::span<const std::string_view> keys) {
    if (list) d.loops.push_back({"", {}});
    if (d.loops.empty() && keys.empty()) return;
    for (auto word = words.next(); !word.empty(); word = words.next()) {
      const auto all = numbers_of(d);
      const auto numbers = std::find_if(all.begin(), all.end(), [&](const Numbers& one) { return one.word == word; });
      if (numbers != all.end()) {
        words.product(numbers->of);
      } else if (std::find(keys.begin(), keys.end(), word) != keys.end()) {
        d.loops.push_back({std::string(word), {}});
      } else if (d.loops.empty()) {
        words.fail(word, fmt::format("one of the words {}", fmt::join(keys, ", ")));
      } else {
        d.loops.back().second.emplace_back(word);
      }
    }
  };
  const auto* const known = std::find(std::begin(kWords), std::end(kWords), what);
  d.kind = static_cast<Kind>(known - std::begin(kWords));
  if (d.kind == Kind::added) {
    std::vector<std::string_view> all;
    for (const auto& word : kWords) all.push_back(word.text);
    if (find_directive(what) == nullptr) words.fail(what, fmt::format("one of {}", fmt::join(all, ", ")));
    d.subject = what;
    names(true, {});
    return d;
  }
  if (known->subject != nullptr) d.subject = words.name(known->subject);
  if (d.kind == Kind::tile) {
    const auto levels = split(words.name("index:size"), ':');
    if (levels.size() < 2) words.fail(levels.front(), "index:size");
    d.subject = levels.front();
    for (const auto size : std::span(levels).subspan(1)) d.sizes.push_back(words.number(size));
  } else if (d.kind == Kind::stage) {
    d.space = words.name("\"at\" and a loop, shared or registers");
    const bool copied = d.space == "at";
    if (copied) d.at = words.name("a loop"), d.space = words.name("scratch, shared, async or maps");
    names(true, copied ? std::span<const std::string_view>() : kStaged);
  } else if (d.kind == Kind::store) {
    d.space = words.name("shared, scratch or atomic");
    if (d.space != "shared" && d.space != "scratch" && d.space != "atomic")
      words.fail(d.space, "shared, scratch or atomic");
    if (d.space == "scratch") d.at = words.name("a loop");
  }
  for (int k = 0; k < known->most; ++k) {
    const auto word = words.next();
    if (word.empty() && k >= known->least) break;
    const bool is_name = d.kind == Kind::prefetch && word.front() > '9';  // of an operand
    if (is_name) d.subject = word;
    if (!is_name) d.sizes.push_back(words.number(word));
  }
  if (!known->perhaps.empty()) {
    const auto word = words.next();
    if (!word.empty() && word != known->perhaps) words.fail(word, fmt::format("\"{}\"", known->perhaps));
    if (word == "prefetch") d.loops.push_back({"prefetch", {}});
    if (word == "items") d.sizes.push_back(words.number(words.next()));
  }
  names(known->list, known->keys);
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

bool has(const Directives& directives, Kind kind, std::string_view space) noexcept {
  return std::any_of(directives.begin(), directives.end(), [&](const Directive& directive) {
    return directive.kind == kind && (space.empty() || directive.space == space);
  });
}

std::string print(const Directive& directive) {
  auto d = directive;
  auto text = d.kind == Kind::added ? d.subject : std::string(kWords[static_cast<std::size_t>(d.kind)].text);
  const auto say = [&](std::string_view word, auto what) { text += fmt::format(" {}{}", word, std::move(what)); };
  const auto say_numbers = [&] {
    for (const auto& [word, numbers, said] : numbers_of(d)) {
      if (said) say(word, fmt::format(" {}", fmt::join(numbers, "x")));
    }
  };
  const bool tile = d.kind == Kind::tile;
  if (d.kind != Kind::added && !d.subject.empty()) say("", d.subject);
  const bool result = d.kind == Kind::store;
  if (!result && !d.at.empty()) say("at ", d.at);
  if (!d.space.empty()) say("", d.space);
  if (result && !d.at.empty()) say("", d.at);
  if (!d.sizes.empty())
    text += (tile ? ":" : " ") + fmt::format("{}", fmt::join(d.sizes, tile                          ? ":"
                                                                      : d.kind == Kind::cooperative ? " items "
                                                                                                    : " "));
  if (d.kind == Kind::stage) say_numbers();
  for (const auto& [word, names] : d.loops) {
    if (!word.empty()) say("", word);
    if (!names.empty()) say("", fmt::join(names, " "));
  }
  if (d.kind == Kind::atom) say_numbers();
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
