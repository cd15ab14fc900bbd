#include "golden/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "ir/passes/canonical.hpp"
#include "lower/einsum.hpp"
#include "lower/lower_program.hpp"
#include "ricci/program.hpp"

namespace ricci::golden {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> list;
  for (const auto& part : split(text, ',')) list.push_back(std::stoll(part));
  return list;
}

class Parser {
 public:
  Parser(std::string name, const std::string& text) : name_(std::move(name)) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end < text.size()) text_ = text.substr(end + 1);
    std::istringstream stream(text.substr(0, end));
    std::string emitter, types;
    stream >> emitter >> spec_;
    if (emitter != "cuda" && emitter != "cpp") fail(emitter);
    cuda_ = emitter == "cuda";
    for (std::string word; stream >> word;) {
      const auto equals = word.find('=');
      if (word == "conj") {
        conjugate_ = true;
      } else if (word == "streaming") {
        streaming_ = true;
      } else if (equals == std::string::npos) {
        types = word;
      } else {
        options_[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
    if (spec_ == "directives") {
      std::string rest;
      for (const auto& line : split(text_, '\n')) {
        (kernel::is_directive(line.substr(0, line.find(' '))) ? directives_ : rest) += line + "\n";
      }
      text_ = rest;
    }
    if (spec_ == "directives") return;
    const auto arrow = types.find("->");
    input_type_ = parse_dtype(types.substr(0, arrow));
    output_type_ = arrow == std::string::npos ? input_type_ : parse_dtype(types.substr(arrow + 2));
  }

  Case parse() {
    Case result;
    result.name = name_;
    result.cuda = cuda_;
    program_ = ir::canonicalise(program());
    result.program = program_;
    if (spec_ == "directives") {
      result.schedule.name = name_;
      result.schedule.directives = kernel::parse_directives(directives_);
    } else {
      result.schedule = schedule();
    }
    for (const auto& [key, value] : options_) {
      if (used_.count(key) == 0) fail(key + "=" + value);
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& word) const {
    throw std::runtime_error(fmt::format("{}.case: cannot make sense of '{}'", name_, word));
  }

  std::string option(const std::string& key, const std::string& otherwise = {}) {
    used_.insert(key);
    const auto place = options_.find(key);
    return place == options_.end() ? otherwise : place->second;
  }

  ir::Factor factor(const std::string& key, ir::Factor otherwise) {
    const auto text = option(key);
    if (text.empty()) return otherwise;
    return text == "any" ? ir::Factor::any : text == "1" ? ir::Factor::one : ir::Factor::zero;
  }

  Layout layout(const Spec::Term& term, DType type, const std::string& strides) {
    std::vector<std::int64_t> extents;
    for (const auto& axis : term) extents.push_back(std::stoll(option(axis.name, "1")));
    return strides.empty() ? Layout::row_major(type, extents) : Layout::strided(type, extents, numbers(strides));
  }

  ir::Program program() {
    if (spec_ == "directives") return ir::lower(ricci::Program::parse(text_)).steps.at(0).program;
    const auto spec = Spec::parse(spec_);
    return ir::lower({spec,
                      {layout(spec.operands[0], input_type_, option("strides_in"))},
                      layout(spec.output, output_type_, option("strides_out")),
                      factor("alpha", ir::Factor::one),
                      factor("beta", ir::Factor::zero),
                      {conjugate_}});
  }

  int index(const std::string& name) const {
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      if (program_.indices[q].name == name) return static_cast<int>(q);
    }
    fail(name);
  }

  std::vector<ir::MixedRadixDigit> digits(const std::string& text) const {
    std::vector<ir::MixedRadixDigit> list;
    for (const auto& part : split(text, ',')) {
      const auto colon = part.find(':'), slash = part.find('/');
      if (colon == std::string::npos) fail(part);
      list.push_back({index(part.substr(0, colon)), std::stoll(part.substr(colon + 1)),
                      slash == std::string::npos ? 1 : std::stoll(part.substr(slash + 1))});
    }
    return list;
  }

  ir::Schedule schedule() {
    ir::Schedule schedule;
    schedule.name = name_;
    schedule.tile.assign(program_.indices.size(), 1);
    for (const auto& part : digits(option("tile"))) schedule.tile[static_cast<std::size_t>(part.index)] = part.count;
    if (const auto order = option("order"); !order.empty()) {
      for (const auto& name : split(order, ',')) schedule.order.push_back(index(name));
    }
    for (auto q = static_cast<int>(program_.indices.size()); q-- > 0;) {
      if (std::find(schedule.order.begin(), schedule.order.end(), q) == schedule.order.end())
        schedule.order.push_back(q);
    }
    schedule.threads = std::stoi(option("threads", cuda_ ? "256" : "1"));
    const int workers = std::stoi(option("workers", std::to_string(schedule.threads)));
    schedule.mapping = {digits(option("write")), std::stoi(option("vector", "1")), workers};
    schedule.streaming = streaming_;
    if (option("origin") == "shuffle") schedule.origin = ir::Origin::shuffle;
    if (const auto skew = option("skew"); !skew.empty()) {
      const auto part = digits(skew).front();
      schedule.skew = {part.index, static_cast<int>(part.count)};
    }
    const auto read = option("read");
    if (read.empty()) return schedule;

    ir::Stage stage;
    stage.load = program_.find_load(0);
    stage.mapping = {digits(read), std::stoi(option("read_vector", "1")), workers, std::stoi(option("read_rows", "1"))};
    stage.prefetch_distance = std::stoi(option("prefetch_distance", "0"));
    if (const auto name = option("line_carry"); !name.empty()) stage.line_carry = index(name);
    stage.row_packing = std::stoi(option("row_packing", "1"));
    stage.along = std::stoi(option("along", "1"));
    stage.across = std::stoi(option("across", "1"));
    const auto memory = option("memory", "shared");
    stage.memory = memory == "warp"        ? ir::StageMemory::warp
                   : memory == "registers" ? ir::StageMemory::registers
                                           : ir::StageMemory::shared;
    if (const auto text = option("layout"); !text.empty()) {
      const auto slash = text.find('/');
      stage.layout.stride.assign(program_.indices.size(), 0);
      for (const auto& part : digits(text.substr(0, slash))) {
        stage.layout.stride[static_cast<std::size_t>(part.index)] = part.count;
      }
      stage.layout.elements = std::stoll(text.substr(slash + 1));
    }
    if (const auto text = option("swizzle"); !text.empty()) {
      const auto parts = split(text, ':');
      stage.layout.shift = std::stoi(parts.at(0));
      stage.layout.mask = std::stoll(parts.at(1));
      stage.layout.unit = std::stoi(parts.at(2));
    }
    schedule.stage = std::move(stage);
    return schedule;
  }

  std::string name_, spec_, text_, directives_;
  bool cuda_ = true, conjugate_ = false, streaming_ = false;
  DType input_type_ = DType::f64, output_type_ = DType::f64;
  std::map<std::string, std::string> options_;
  std::set<std::string> used_;
  ir::Program program_;
};

}  // namespace

Case parse_case(const std::string& name, const std::string& text) { return Parser(name, text).parse(); }

}  // namespace ricci::golden
