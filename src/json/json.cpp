#include "json/json.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "ricci/error.hpp"

namespace ricci {
namespace {

using Library = nlohmann::ordered_json;

constexpr int kMaxDepth = 64;

template <class T>
const T& as(const auto& value, const char* what) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  throw InternalError(std::string("a JSON value is no ") + what);
}

}  // namespace

/// To and from the library's values.
struct JsonText {
  static Library library(const Json& json) {
    return std::visit(
        [](const auto& value) -> Library {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            return nullptr;
          } else if constexpr (std::is_same_v<T, std::vector<Json>>) {
            Library array = Library::array();
            for (const auto& element : value) array.push_back(library(element));
            return array;
          } else if constexpr (std::is_same_v<T, Json::Object>) {
            Library object = Library::object();
            for (std::size_t k = 0; k < value.names.size(); ++k) object[value.names[k]] = library(value.values[k]);
            return object;
          } else {
            return value;
          }
        },
        json.value_);
  }

  static std::optional<Json> json(const Library& from, int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    switch (from.type()) {
      case Library::value_t::boolean:
        return Json(from.get<bool>());
      case Library::value_t::number_integer:
        return Json(from.get<std::int64_t>());
      case Library::value_t::number_unsigned:
        return Json(from.get<std::uint64_t>());
      case Library::value_t::number_float:
        return Json(from.get<double>());
      case Library::value_t::string:
        return Json(from.get<std::string>());
      case Library::value_t::array: {
        Json array = Json::array();
        for (const auto& element : from) {
          auto read = json(element, depth + 1);
          if (!read) return std::nullopt;
          array.push_back(std::move(*read));
        }
        return array;
      }
      case Library::value_t::object: {
        Json object = Json::object();
        for (const auto& [name, member] : from.items()) {
          auto read = json(member, depth + 1);
          if (!read) return std::nullopt;
          object[name] = std::move(*read);
        }
        return object;
      }
      default:
        return Json();
    }
  }
};

Json::Json(std::initializer_list<Json> values) {
  const bool pairs = std::all_of(values.begin(), values.end(), [](const Json& value) {
    const auto* pair = std::get_if<std::vector<Json>>(&value.value_);
    return pair != nullptr && pair->size() == 2 && pair->front().is_string();
  });
  if (!pairs) {
    value_ = std::vector<Json>(values);
    return;
  }
  value_ = Object();
  for (const Json& value : values) {
    const auto& pair = std::get<std::vector<Json>>(value.value_);
    (*this)[pair[0].text()] = pair[1];
  }
}

Json Json::array() {
  Json json;
  json.value_ = std::vector<Json>();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

bool Json::is_number() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_) ||
         std::holds_alternative<double>(value_);
}

bool Json::contains(std::string_view name) const {
  const auto* object = std::get_if<Object>(&value_);
  return object != nullptr && std::find(object->names.begin(), object->names.end(), name) != object->names.end();
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  as<Object>(value_, "object");
  auto& [names, values] = std::get<Object>(value_);
  const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (place == names.size()) {
    names.emplace_back(name);
    values.emplace_back();
  }
  return values[place];
}

const Json& Json::operator[](std::string_view name) const {
  static const Json null;
  const auto& [names, values] = as<Object>(value_, "object");
  const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  return place == names.size() ? null : values[place];
}

std::vector<std::pair<std::string, Json>> Json::items() const {
  const auto& [names, values] = as<Object>(value_, "object");
  std::vector<std::pair<std::string, Json>> members;
  for (std::size_t k = 0; k < names.size(); ++k) members.emplace_back(names[k], values[k]);
  return members;
}

void Json::push_back(Json value) {
  if (is_null()) value_ = std::vector<Json>();
  as<std::vector<Json>>(value_, "array");
  std::get<std::vector<Json>>(value_).push_back(std::move(value));
}

const std::vector<Json>& Json::elements() const { return as<std::vector<Json>>(value_, "array"); }

Json& Json::back() {
  if (elements().empty()) throw InternalError("a JSON array has no last element");
  return std::get<std::vector<Json>>(value_).back();
}

const std::string& Json::text() const { return as<std::string>(value_, "text"); }

double Json::number() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  return as<double>(value_, "number");
}

std::int64_t Json::integer_or(std::int64_t otherwise) const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) {
    return std::in_range<std::int64_t>(*value) ? static_cast<std::int64_t>(*value) : otherwise;
  }
  const auto* value = std::get_if<double>(&value_);
  return value != nullptr && *value >= -0x1p63 && *value < 0x1p63 ? static_cast<std::int64_t>(*value) : otherwise;
}

std::string Json::text_or(const std::string& otherwise) const { return is_string() ? text() : otherwise; }

bool operator==(const Json& a, const Json& b) { return JsonText::library(a) == JsonText::library(b); }

std::string Json::dump(int indent) const {
  return JsonText::library(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}

std::optional<Json> Json::parse(std::string_view text) {
  const Library read = Library::parse(text, nullptr, false);
  return read.is_discarded() ? std::nullopt : JsonText::json(read, 0);
}

}  // namespace ricci
