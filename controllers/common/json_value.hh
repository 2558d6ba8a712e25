// A reader of JSON (RFC 8259).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kneepoint {

class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;

  // Throws std::invalid_argument, naming `name` and the line, for a text that is not JSON, that
  // repeats a key, or that nests deeper than 32.
  static JsonValue parse(const std::string& name, std::string_view text);

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(content_); }
  const bool* boolean() const { return std::get_if<bool>(&content_); }
  // A number's text: the caller knows whether it must be whole.
  const std::string* number() const {
    const auto* number = std::get_if<Number>(&content_);
    return number == nullptr ? nullptr : &number->text;
  }
  const std::string* text() const { return std::get_if<std::string>(&content_); }
  const Array* array() const { return std::get_if<Array>(&content_); }
  const Object* object() const { return std::get_if<Object>(&content_); }

 private:
  struct Number {
    std::string text;
  };
  friend class JsonParser;

  std::variant<std::nullptr_t, bool, Number, std::string, Array, Object> content_{nullptr};
};

}  // namespace kneepoint
