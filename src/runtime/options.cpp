#include "runtime/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <span>
#include <utility>

#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::runtime {
namespace {

// Reads one real number and moves `text` behind it; false when there is none. A sign alone before an imaginary unit
// stands for one.
bool take_real(std::string_view& text, double& value) {
  std::string_view rest = text;
  const bool plus = !rest.empty() && rest.front() == '+';
  if (plus) rest.remove_prefix(1);
  if (plus && !rest.empty() && (rest.front() == '-' || rest.front() == '+')) return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{}) return false;
  text = rest.substr(static_cast<std::size_t>(end - rest.data()));
  return true;
}

bool is_unit(std::string_view text) { return text == "i" || text == "j"; }

constexpr std::pair<std::string_view, PlanMode> kModes[] = {
    {"estimate", PlanMode::estimate},
    {"measure", PlanMode::measure},
    {"remeasure", PlanMode::remeasure},
    {"untuned", PlanMode::model},
};

// One of a few words, each with what it stands for.
template <class Value, std::size_t N>
Value parse_word(const std::pair<std::string_view, Value> (&words)[N], std::string_view text, const char* what) {
  std::vector<std::string_view> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.push_back(word);
  }
  throw PlanError(fmt::format("no {} \"{}\"; there are {}", what, text, fmt::join(known, ", ")));
}

int parse_int(std::string_view text, std::string_view key) {
  const auto value = parse_integer(text, key);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    throw ShapeError(fmt::format("{}: '{}' does not fit in 32 bits", key, text));
  }
  return static_cast<int>(value);
}

bool parse_bool(std::string_view text, const char* key) {
  static constexpr std::pair<std::string_view, bool> kWords[] = {
      {"0", false}, {"1", true}, {"false", false}, {"true", true}};
  return parse_word(kWords, text, key);
}

Device parse_device(std::string_view text) {
  static constexpr std::pair<std::string_view, Device> kWords[] = {
      {"cpu", Device::cpu}, {"gpu", Device::gpu}, {"cuda", Device::gpu}};
  for (const auto& [word, device] : kWords) {
    if (word == text) return device;
  }
  throw DeviceError(fmt::format("no device \"{}\"; there are cpu, gpu", text));
}

/// A key, and what its value does.
template <class Owner>
struct Known {
  std::string_view key;
  void (*set)(Owner& options, std::string_view value);
};

using Text = std::string_view;

constexpr Known<PlanOptions> kPlan[] = {
    {"device", [](PlanOptions& to, Text value) { to.device = parse_device(value); }},
    {"gpu", [](PlanOptions& to, Text value) { to.gpu = parse_int(value, "gpu"); }},
    {"target", [](PlanOptions& to, Text value) { to.target_sm = parse_target(value, "target"); }},
    {"schedule", [](PlanOptions& to, Text value) { to.schedule = value; }},
    {"threads", [](PlanOptions& to, Text value) { to.threads = parse_int(value, "threads"); }},
    {"mode", [](PlanOptions& to, Text value) { to.mode = parse_word(kModes, value, "mode"); }},
    {"precision", [](PlanOptions& to, Text value) { to.precision = parse_precision(value); }},
    {"measured", [](PlanOptions& to, Text value) { to.measured = parse_int(value, "measured"); }},
    {"workspace-limit",
     [](PlanOptions& to, Text value) { to.workspace_limit = parse_integer(value, "workspace-limit"); }},
};

constexpr Known<UpdateOptions> kUpdate[] = {
    {"alpha", [](UpdateOptions& to, Text value) { to.alpha = parse_factor(value, "alpha"); }},
    {"beta", [](UpdateOptions& to, Text value) { to.beta = parse_factor(value, "beta"); }},
    {"conj-addend", [](UpdateOptions& to, Text value) { to.conjugate_addend = parse_bool(value, "conj-addend"); }},
};

constexpr Known<PermuteOptions> kPermute[] = {
    {"conj",
     [](PermuteOptions& to, Text value) {
       const auto conjugate = parse_operands(value, 1, "conj");
       to.conjugate = !conjugate.empty() && conjugate.front();
     }},
};

constexpr Known<EinsumTexts> kEinsum[] = {
    {"conj", [](EinsumTexts& to, Text value) { to.conjugated = value; }},
    {"constant", [](EinsumTexts& to, Text value) { to.constants = value; }},
    {"path", [](EinsumTexts& to, Text value) { to.path = parse_path(value); }},
};

constexpr Known<RuntimeOptions> kRuntime[] = {
    {"cache-dir", [](RuntimeOptions& to, Text value) { to.cache_dir = value; }},
    {"threads", [](RuntimeOptions& to, Text value) { to.threads = parse_int(value, "threads"); }},
    {"pin", [](RuntimeOptions& to, Text value) { to.pin_threads = parse_bool(value, "pin"); }},
    {"blas", [](RuntimeOptions& to, Text value) { to.blas = value; }},
    {"cublas", [](RuntimeOptions& to, Text value) { to.cublas = value; }},
    {"graph-kernels", [](RuntimeOptions& to, Text value) { to.graph_kernels = parse_int(value, "graph-kernels"); }},
};

/// Sets the option if it is one of these; else adds their keys.
template <class Owner>
bool set_one(std::span<const Known<Owner>> all, Owner& options, Text key, Text value, std::vector<Text>& keys) {
  for (const auto& known : all) {
    if (known.key == key) {
      known.set(options, value);
      return true;
    }
    keys.push_back(known.key);
  }
  return false;
}

bool set_one(PermuteOptions& options, Text key, Text value, std::vector<Text>& keys) {
  return set_one<UpdateOptions>(kUpdate, options, key, value, keys) ||
         set_one<PermuteOptions>(kPermute, options, key, value, keys) ||
         set_one<PlanOptions>(kPlan, options, key, value, keys);
}
bool set_one(EinsumTexts& options, Text key, Text value, std::vector<Text>& keys) {
  return set_one<UpdateOptions>(kUpdate, options, key, value, keys) ||
         set_one<EinsumTexts>(kEinsum, options, key, value, keys) ||
         set_one<PlanOptions>(kPlan, options, key, value, keys);
}
bool set_one(PlanOptions& options, Text key, Text value, std::vector<Text>& keys) {
  return set_one<PlanOptions>(kPlan, options, key, value, keys);
}
bool set_one(RuntimeOptions& options, Text key, Text value, std::vector<Text>& keys) {
  return set_one<RuntimeOptions>(kRuntime, options, key, value, keys);
}

}  // namespace

Scalar parse_scalar(std::string_view text, std::string_view option) {
  std::string_view rest = text;
  double first = 0, second = 0;
  if (take_real(rest, first)) {
    if (rest.empty()) return {first, 0};
    if (is_unit(rest)) return {0, first};
    if ((rest.front() == '+' || rest.front() == '-') && take_real(rest, second) && is_unit(rest))
      return {first, second};
  }
  throw ShapeError(fmt::format("{}: '{}' is no number; write 2, -0.5, 1e-3, 2i or 1-0.5i", option, text));
}

Scalar parse_factor(std::string_view text, std::string_view option) {
  if (text == "any") return 2;  // neither 0 nor 1: a factor given at run time
  return parse_scalar(text, option);
}

std::int64_t parse_integer(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    throw ShapeError(fmt::format("{}: '{}' does not fit in 64 bits", what, text));
  }
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw ShapeError(fmt::format("{}: '{}' is no whole number", what, text));
  }
  return value;
}

int number_from_environment(const char* variable, int least, int most, int otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  const std::string_view word = text;
  int asked = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), asked);
  const bool whole = end == word.data() + word.size() && !word.starts_with('-');
  if (whole && error == std::errc() && asked >= least && asked <= most) return asked;
  if (whole && (error == std::errc::result_out_of_range || asked > most)) {
    log_line(LogTopic::warning, fmt::format("{}={} is more than {}; these are taken", variable, word, most));
    return most;
  }
  log_line(LogTopic::warning, fmt::format("{}={} is not a number from {} to {}; ignored", variable, word, least, most));
  return otherwise;
}

std::optional<PlanMode> find_mode(std::string_view word) noexcept {
  for (const auto& [known, mode] : kModes) {
    if (word == known) return mode;
  }
  return std::nullopt;
}

std::vector<bool> parse_operands(std::string_view text, std::size_t operands, std::string_view option) {
  if (text.empty()) return {};
  std::vector<bool> named(operands, text == "all");
  if (text == "all") return named;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = parse_integer(text.substr(begin, end - begin), option);
    if (number < 1 || number > static_cast<std::int64_t>(operands)) {
      throw ShapeError(fmt::format("{}: there is no operand {}; they count from 1 to {}", option, number, operands));
    }
    named[static_cast<std::size_t>(number - 1)] = true;
    begin = end + 1;
  }
  return named;
}

int parse_target(std::string_view text, std::string_view option) {
  const auto digits = text.starts_with("sm_") ? text.substr(3) : text;
  const bool good =
      !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string_view::npos;
  const int sm = good ? std::stoi(std::string(digits)) : 0;
  if (sm < 50) throw DeviceError(fmt::format("{}: '{}' is no compute capability from 5.0; write sm_90", option, text));
  return sm;
}

EinsumOptions::Path parse_path(std::string_view text) {
  static constexpr std::pair<std::string_view, EinsumOptions::Path> kWords[] = {
      {"time", EinsumOptions::Path::time},
      {"flops", EinsumOptions::Path::flops},
      {"memory", EinsumOptions::Path::memory}};
  return parse_word(kWords, text, "path");
}

EinsumOptions EinsumTexts::of(std::size_t operands) const {
  EinsumOptions options = *this;
  options.conjugate = parse_operands(conjugated, operands, "conj");
  options.constant = parse_operands(constants, operands, "constant");
  return options;
}

void set_option(Options& options, std::string_view key, std::string_view value) {
  std::visit(
      [&](auto& given) {
        std::vector<std::string_view> keys;
        if (set_one(given, key, value, keys)) return;
        throw PlanError(fmt::format("no option \"{}\" here; there are {}", key, fmt::join(keys, ", ")));
      },
      options);
}

void set_option(Options& options, std::string_view key, const Layout& value) {
  std::visit(
      [&](auto& given) {
        if constexpr (std::is_base_of_v<UpdateOptions, std::remove_reference_t<decltype(given)>>) {
          if (key != "addend") throw PlanError(fmt::format("no layout \"{}\" here; there is addend", key));
          given.addend = value;
        } else {
          throw PlanError(fmt::format("no layout \"{}\" here; options of permutations and einsums have addend", key));
        }
      },
      options);
}

}  // namespace ricci::runtime
