#include "golden/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "ir/passes/canonical.hpp"
#include "ir/passes/precision.hpp"
#include "kernel/chain.hpp"
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
    for (const auto& line : split(text.substr(std::min(end + 1, text.size())), '\n'))
      (kernel::is_directive(line.substr(0, line.find(' '))) ? directives_ : text_) += line + "\n";
    std::istringstream stream(text.substr(0, end));
    std::string emitter, types;
    stream >> emitter >> spec_;
    if (emitter != "cuda" && emitter != "cpp") fail(emitter);
    cuda_ = emitter == "cuda";
    for (std::string word; stream >> word;) {
      const auto equals = word.find('=');
      if (word == "conj") {
        conjugate_ = true;
      } else if (equals == std::string::npos) {
        types = word;
      } else {
        options_[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
    if (spec_ == "program") return;
    const auto arrow = types.find("->");
    input_type_ = parse_dtype(types.substr(0, arrow));
    output_type_ = arrow == std::string::npos ? input_type_ : parse_dtype(types.substr(arrow + 2));
  }

  Case parse() {
    Case result;
    result.name = name_;
    result.cuda = cuda_;
    const auto precision = parse_precision(option("precision", "operands"));
    program_ = ir::canonicalise(ir::in_precision(ir::sequence_of(program()), precision).steps.front().program);
    if (precision == Precision::tf32 || precision == Precision::tf32x3) program_.precision = precision;
    const auto rounded = option("tf32", "");
    for (auto& buffer : program_.buffers) buffer.tf32 = rounded.find(buffer.name) != std::string::npos;
    result.program = program_;
    result.schedule.directives = kernel::parse_directives(directives_);
    result.schedule.name = name_;
    kernel::verify(result.schedule, program_, cuda_ ? kernel::Target::cuda : kernel::Target::cpu);
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
    if (spec_ == "program") {
      const auto lowered = ir::lower(ricci::Program::parse(text_));
      const auto chain = kernel::chained(lowered, lowered.steps.size() - 1);
      return (chain ? *chain : lowered).steps.at(0).program;
    }
    const auto spec = Spec::parse(spec_);
    return ir::lower({spec,
                      {layout(spec.operands[0], input_type_, option("strides_in"))},
                      layout(spec.output, output_type_, option("strides_out")),
                      factor("alpha", ir::Factor::one),
                      factor("beta", ir::Factor::zero),
                      {conjugate_}});
  }

  std::string name_, spec_, text_, directives_;
  bool cuda_ = true, conjugate_ = false;
  DType input_type_ = DType::f64, output_type_ = DType::f64;
  std::map<std::string, std::string> options_;
  std::set<std::string> used_;
  ir::Program program_;
};

}  // namespace

Case parse_case(const std::string& name, const std::string& text) { return Parser(name, text).parse(); }

}  // namespace ricci::golden
