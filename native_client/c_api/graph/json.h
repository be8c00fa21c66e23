// Reading JSON (RFC 8259), in which exported graphs describe their networks and features.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace speech {

// A value. It has only what its kind has: the text of a number is null, and so on.
class Json {
 public:
  // The value of a text; nothing if it is not JSON, or is longer or deeper than that of any graph.
  static std::optional<Json> parse(std::string_view text);

  bool is_null() const { return kind_ == Kind::kNull; }
  const std::string* text() const { return kind_ == Kind::kText ? &text_ : nullptr; }
  const double* number() const { return kind_ == Kind::kNumber || kind_ == Kind::kInteger ? &number_ : nullptr; }
  bool is_integer() const { return kind_ == Kind::kInteger; }  // written without a fraction and an exponent
  const std::vector<Json>* array() const { return kind_ == Kind::kArray ? &values_ : nullptr; }

  // The names and the values of an object, in order. If several have the same name, only the last is found.
  bool is_object() const { return kind_ == Kind::kObject; }
  const std::vector<std::string>& names() const { return names_; }
  const Json* find(std::string_view name) const;

 private:
  friend class JsonReader;
  enum class Kind { kNull, kFalse, kTrue, kNumber, kInteger, kText, kArray, kObject };

  Kind kind_ = Kind::kNull;
  double number_ = 0;
  std::string text_;
  std::vector<std::string> names_;
  std::vector<Json> values_;
};

}  // namespace speech
