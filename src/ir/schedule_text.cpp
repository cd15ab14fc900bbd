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

constexpr std::array<std::string_view, 3> kStageMemories = {"shared", "warp", "registers"};  // by Place

/// Messages about broken schedules print them, so an index that does not exist prints as "?".
std::string index_name(const Program& program, int q) {
  return q >= 0 && q < static_cast<int>(program.indices.size()) ? program.indices[static_cast<std::size_t>(q)].name
                                                                : "?";
}

std::string print(const ThreadMapping& mapping, const Program& program) {
  std::vector<std::string> digits;
  for (const auto& digit : mapping.digits) {
    digits.push_back(fmt::format("{}:{}{}", index_name(program, digit.index), digit.count,
                                 digit.step == 1 ? "" : fmt::format("/{}", digit.step)));
  }
  const auto rows = mapping.rows == 1 ? std::string() : fmt::format(" rows {}", mapping.rows);
  return fmt::format("{} vector {}{} workers {}", fmt::join(digits, " "), mapping.vector, rows, mapping.workers);
}

/// Parser of what print() wrote. After the first mismatch good() is false and nothing more is read.
class Reader {
 public:
  Reader(std::string_view text, const Program& program) : text_(text), program_(program) {}

  bool good() const { return good_; }
  bool at_end() const { return text_.empty(); }

  /// Takes the next line if it begins with this word. The line before must be read to its end.
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
  /// Reads numbers until a word is none.
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
    const auto found = std::find_if(all.begin(), all.end(), [&](const LoopIndex& index) { return index.name == name; });
    if (found == all.end()) good_ = false;
    return static_cast<int>(found - all.begin());
  }

  ThreadMapping mapping() {
    ThreadMapping mapping;
    for (auto colon = peek().find(':'); good_ && colon != std::string_view::npos; colon = peek().find(':')) {
      const auto word = next(), count = word.substr(colon + 1);
      const auto slash = count.find('/');
      mapping.digits.push_back({index(word.substr(0, colon)), number<std::int64_t>(count.substr(0, slash)),
                                slash == std::string_view::npos ? 1 : number<std::int64_t>(count.substr(slash + 1))});
    }
    mapping.vector = number_after<int>("vector");
    if (accept("rows")) mapping.rows = number<int>();
    mapping.workers = number_after<int>("workers");
    return mapping;
  }

  Stage stage() {
    Stage stage;
    stage.load = number<NodeId>();
    const auto place = std::find(kStageMemories.begin(), kStageMemories.end(), next());
    if (place == kStageMemories.end()) good_ = false;
    stage.memory = static_cast<StageMemory>(place - kStageMemories.begin());
    expect("mapping");
    stage.mapping = mapping();
    if (line("prefetch_distance")) stage.prefetch_distance = number<std::int64_t>();
    if (line("line_carry")) stage.line_carry = index(next());
    if (stage.memory != StageMemory::shared) return stage;
    expect_line("layout");
    stage.layout.stride = numbers();
    stage.layout.shift = number_after<int>("shift");
    stage.layout.mask = number_after<std::int64_t>("mask");
    stage.layout.unit = number_after<int>("unit");
    stage.layout.elements = number_after<std::int64_t>("elements");
    if (line("row_packing")) stage.row_packing = number<int>();
    if (line("blocks")) {
      stage.along = number<int>();
      stage.across = number_after<int>("x");
    }
    return stage;
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
  std::string text = fmt::format("tile {}\norder {}\nmapping {}\n", fmt::join(schedule.tile, " "),
                                 fmt::join(order, " "), print(schedule.mapping, program));
  if (schedule.stage) {
    const auto& stage = *schedule.stage;
    text += fmt::format("stage {} {} mapping {}\n", stage.load, kStageMemories[static_cast<std::size_t>(stage.memory)],
                        print(stage.mapping, program));
    if (stage.prefetch_distance > 0) text += fmt::format("prefetch_distance {}\n", stage.prefetch_distance);
    if (stage.line_carry >= 0) text += fmt::format("line_carry {}\n", index_name(program, stage.line_carry));
    if (stage.memory == StageMemory::shared) {
      text += fmt::format("layout {} shift {} mask {} unit {} elements {}\n", fmt::join(stage.layout.stride, " "),
                          stage.layout.shift, stage.layout.mask, stage.layout.unit, stage.layout.elements);
      if (stage.row_packing > 1) text += fmt::format("row_packing {}\n", stage.row_packing);
      if (stage.along > 1 || stage.across > 1) text += fmt::format("blocks {} x {}\n", stage.along, stage.across);
    }
  }
  if (schedule.skew.on()) {
    text += fmt::format("skew {} elements {}\n", index_name(program, schedule.skew.index), schedule.skew.elements);
  }
  if (schedule.streaming) text += "streaming\n";
  return text + fmt::format("threads {} origin {}\n", schedule.threads,
                            schedule.origin == Origin::literals ? "literals" : "shuffle");
}

std::optional<Schedule> parse_schedule(std::string_view text, const Program& program) {
  Reader reader(text, program);
  Schedule schedule;
  reader.expect_line("tile");
  schedule.tile = reader.numbers();
  reader.expect_line("order");
  while (reader.good() && !reader.peek().empty()) schedule.order.push_back(reader.index(reader.next()));
  reader.expect_line("mapping");
  schedule.mapping = reader.mapping();
  if (reader.line("stage")) schedule.stage = reader.stage();
  if (reader.line("skew")) {
    schedule.skew.index = reader.index(reader.next());
    schedule.skew.elements = reader.number_after<int>("elements");
  }
  schedule.streaming = reader.line("streaming");
  reader.expect_line("threads");
  schedule.threads = reader.number<int>();
  reader.expect("origin");
  schedule.origin = reader.accept("shuffle") ? Origin::shuffle : Origin::literals;
  if (schedule.origin == Origin::literals) reader.expect("literals");
  reader.expect_end();
  if (!reader.good() || !reader.at_end()) return std::nullopt;
  return schedule;
}

}  // namespace ricci::ir
