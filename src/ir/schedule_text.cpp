// Schedules as text, both ways.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ir/read_number.hpp"
#include "ir/schedule.hpp"

namespace ricci::ir {
namespace {

constexpr std::array<std::string_view, 3> kPlaces = {"shared", "warp", "registers"};  // by Place

/// Messages about broken schedules print them, so an index that does not exist prints as "?".
std::string index_name(const Program& program, int q) {
  return q >= 0 && q < static_cast<int>(program.indices.size()) ? program.indices[static_cast<std::size_t>(q)].name
                                                                : "?";
}

std::string print(const Walk& walk, const Program& program) {
  std::vector<std::string> digits;
  for (const auto& digit : walk.digits) {
    digits.push_back(fmt::format("{}:{}{}", index_name(program, digit.index), digit.count,
                                 digit.step == 1 ? "" : fmt::format("/{}", digit.step)));
  }
  const auto rows = walk.rows == 1 ? std::string() : fmt::format(" rows {}", walk.rows);
  return fmt::format("{} vector {}{} workers {}", fmt::join(digits, " "), walk.vector, rows, walk.workers);
}

/// Reads what print wrote, line after line and word after word. What is not as expected ends it: nothing is read any
/// more, and good() is false.
class Reader {
 public:
  Reader(std::string_view text, const Program& program) : text_(text), program_(program) {}

  bool good() const { return good_; }
  bool at_end() const { return text_.empty(); }

  /// Whether the next line begins with this word, which is taken if so. Nothing is left of the line before.
  bool line(std::string_view word) {
    expect_end();
    if (!good_ || !text_.starts_with(word)) return false;
    const auto end = text_.find('\n');
    const auto whole = text_.substr(0, end);
    if (end == std::string_view::npos || (whole.size() > word.size() && whole[word.size()] != ' ')) return false;
    words_ = whole.substr(word.size());
    text_.remove_prefix(end + 1);
    return true;
  }
  void expect_line(std::string_view word) { good_ = line(word) && good_; }

  /// The line's next word; empty at its end.
  std::string_view peek() {
    while (words_.starts_with(' ')) words_.remove_prefix(1);
    return words_.substr(0, words_.find(' '));
  }
  std::string_view next() {
    const auto word = peek();
    words_.remove_prefix(word.size());
    return word;
  }
  bool accept(std::string_view word) {
    if (!good_ || peek() != word) return false;
    next();
    return true;
  }
  void expect(std::string_view word) { good_ = accept(word) && good_; }
  void expect_end() { good_ = good_ && peek().empty(); }

  template <class T>
  T number(std::string_view word) {
    const auto value = read_number<T>(word);
    good_ = good_ && value;
    return value.value_or(T{});
  }
  template <class T>
  T number() {
    return number<T>(next());
  }
  template <class T>
  T number_after(std::string_view word) {
    expect(word);
    return number<T>();
  }
  /// Numbers as long as there are any.
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> list;
    const auto numeric = [](std::string_view word) {
      return !word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'));
    };
    while (good_ && numeric(peek())) list.push_back(number<std::int64_t>());
    return list;
  }
  int index(std::string_view name) {
    const auto& all = program_.indices;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Index& index) { return index.name == name; });
    if (found == all.end()) good_ = false;
    return static_cast<int>(found - all.begin());
  }

  Walk walk() {
    Walk walk;
    for (auto colon = peek().find(':'); good_ && colon != std::string_view::npos; colon = peek().find(':')) {
      const auto word = next(), count = word.substr(colon + 1);
      const auto slash = count.find('/');
      walk.digits.push_back({index(word.substr(0, colon)), number<std::int64_t>(count.substr(0, slash)),
                             slash == std::string_view::npos ? 1 : number<std::int64_t>(count.substr(slash + 1))});
    }
    walk.vector = number_after<int>("vector");
    if (accept("rows")) walk.rows = number<int>();
    walk.workers = number_after<int>("workers");
    return walk;
  }

  Stage stage() {
    Stage stage;
    stage.load = number<NodeId>();
    const auto place = std::find(kPlaces.begin(), kPlaces.end(), next());
    if (place == kPlaces.end()) good_ = false;
    stage.place = static_cast<Place>(place - kPlaces.begin());
    expect("walk");
    stage.walk = walk();
    if (line("ahead")) stage.ahead = number<std::int64_t>();
    if (line("continued")) stage.continued = index(next());
    if (stage.place != Place::shared) return stage;
    expect_line("layout");
    stage.layout.stride = numbers();
    stage.layout.shift = number_after<int>("shift");
    stage.layout.mask = number_after<std::int64_t>("mask");
    stage.layout.unit = number_after<int>("unit");
    stage.layout.elements = number_after<std::int64_t>("elements");
    if (line("folded")) stage.folded = number<int>();
    if (line("blocks")) {
      stage.along = number<int>();
      stage.across = number_after<int>("x");
    }
    return stage;
  }

  /// What follows "each" in its line.
  void computing(Schedule& schedule) {
    schedule.each = numbers();
    schedule.team = number_after<int>("team");
    if (accept("items")) schedule.items = number<int>();
    if (accept("lanes")) {
      const auto word = next();
      const auto colon = std::min(word.find(':'), word.size() - 1);
      schedule.lane = index(word.substr(0, colon));
      schedule.lanes = number<int>(word.substr(colon + 1));
    }
    if (accept("strip")) schedule.strip = number<std::int64_t>();
    while (accept("part")) {
      auto& part = schedule.parts.emplace_back();
      for (auto word = next(); good_; word.remove_prefix(1)) {
        const auto comma = std::min(word.find(','), word.size());
        part.push_back(number<int>(word.substr(0, comma)));
        word.remove_prefix(comma);
        if (word.empty()) break;
      }
    }
    schedule.streaming = accept("streaming");
  }

 private:
  std::string_view text_, words_;
  const Program& program_;
  bool good_ = true;
};

}  // namespace

std::string print(const Schedule& schedule, const Program& program) {
  std::vector<std::string> order;
  for (const auto q : schedule.order) order.push_back(index_name(program, q));
  std::string text = fmt::format("tile {}\norder {}\nwalk {}\n", fmt::join(schedule.tile, " "), fmt::join(order, " "),
                                 print(schedule.walk, program));
  if (schedule.stage) {
    const auto& stage = *schedule.stage;
    text += fmt::format("stage {} {} walk {}\n", stage.load, kPlaces[static_cast<std::size_t>(stage.place)],
                        print(stage.walk, program));
    if (stage.ahead > 0) text += fmt::format("ahead {}\n", stage.ahead);
    if (stage.continued >= 0) text += fmt::format("continued {}\n", index_name(program, stage.continued));
    if (stage.place == Place::shared) {
      text += fmt::format("layout {} shift {} mask {} unit {} elements {}\n", fmt::join(stage.layout.stride, " "),
                          stage.layout.shift, stage.layout.mask, stage.layout.unit, stage.layout.elements);
      if (stage.folded > 1) text += fmt::format("folded {}\n", stage.folded);
      if (stage.along > 1 || stage.across > 1) text += fmt::format("blocks {} x {}\n", stage.along, stage.across);
    }
  }
  if (schedule.skew.on()) {
    text += fmt::format("skew {} elements {}\n", index_name(program, schedule.skew.index), schedule.skew.elements);
  }
  if (schedule.computes()) {
    text += fmt::format("each {} team {}", fmt::join(schedule.each, " "), schedule.team);
    if (schedule.items > 1) text += fmt::format(" items {}", schedule.items);
    if (schedule.lanes > 1) text += fmt::format(" lanes {}:{}", index_name(program, schedule.lane), schedule.lanes);
    if (schedule.strip > 0) text += fmt::format(" strip {}", schedule.strip);
    for (const auto& part : schedule.parts) text += fmt::format(" part {}", fmt::join(part, ","));
    if (schedule.streaming) text += " streaming";
    text += '\n';
  } else if (schedule.streaming) {
    text += "streaming\n";
  }
  return text + fmt::format("threads {} per_multiprocessor {} origin {}\n", schedule.threads,
                            schedule.blocks_per_multiprocessor,
                            schedule.origin == Origin::literals ? "literals" : "shuffle");
}

std::optional<Schedule> parse_schedule(std::string_view text, const Program& program) {
  Reader reader(text, program);
  Schedule schedule;
  reader.expect_line("tile");
  schedule.tile = reader.numbers();
  reader.expect_line("order");
  while (reader.good() && !reader.peek().empty()) schedule.order.push_back(reader.index(reader.next()));
  reader.expect_line("walk");
  schedule.walk = reader.walk();
  if (reader.line("stage")) schedule.stage = reader.stage();
  if (reader.line("skew")) {
    schedule.skew.index = reader.index(reader.next());
    schedule.skew.elements = reader.number_after<int>("elements");
  }
  if (reader.line("each")) {
    reader.computing(schedule);
  } else {
    schedule.streaming = reader.line("streaming");
  }
  reader.expect_line("threads");
  schedule.threads = reader.number<int>();
  schedule.blocks_per_multiprocessor = reader.number_after<int>("per_multiprocessor");
  reader.expect("origin");
  schedule.origin = reader.accept("shuffle") ? Origin::shuffle : Origin::literals;
  if (schedule.origin == Origin::literals) reader.expect("literals");
  reader.expect_end();
  if (!reader.good() || !reader.at_end()) return std::nullopt;
  return schedule;
}

}  // namespace ricci::ir
