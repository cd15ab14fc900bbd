// JSON values: what --json prints, what results are kept as, and the metadata of kernels. The library that reads and
// writes their text is behind json.cpp: its header alone takes longer to compile than most files here.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ricci {

/// A JSON value; objects keep the order in which their members were added. Reading a value as what it is not throws
/// InternalError.
class Json {
 public:
  Json() = default;  ///< null
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  template <std::signed_integral T>
  Json(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
  Json(T value) : value_(static_cast<std::uint64_t>(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  template <class T>
  Json(const std::vector<T>& values) : value_(std::vector<Json>(values.begin(), values.end())) {}
  /// An object where all are pairs {name, value}, else an array.
  Json(std::initializer_list<Json> values);

  static Json array();
  static Json object();

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_number() const;
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<std::vector<Json>>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  bool contains(std::string_view name) const;
  /// A member; the first adds it, and makes an object of null. The second gives null where there is none.
  Json& operator[](std::string_view name);
  const Json& operator[](std::string_view name) const;
  std::vector<std::pair<std::string, Json>> items() const;

  /// Makes an array of null.
  void push_back(Json value);
  const std::vector<Json>& elements() const;
  std::size_t size() const { return elements().size(); }
  /// The last element. Throws InternalError where there is none.
  Json& back();

  const std::string& text() const;
  double number() const;
  /// A number's whole part; `otherwise` where this is not a number that fits.
  std::int64_t integer_or(std::int64_t otherwise) const;
  std::string text_or(const std::string& otherwise) const;

  /// Numbers are equal when they count the same.
  friend bool operator==(const Json& a, const Json& b);

  /// On one line, or with each level indented by `indent` blanks. Bytes that are not UTF-8 become U+FFFD.
  std::string dump(int indent = -1) const;
  /// Nothing where the text is not JSON, or nested more than 64 deep.
  static std::optional<Json> parse(std::string_view text);

 private:
  struct Object {
    std::vector<std::string> names;
    std::vector<Json> values;
  };
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<Json>, Object>
      value_;

  friend struct JsonText;
};

}  // namespace ricci
