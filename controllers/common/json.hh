// A writer of JSON, enough for one-line results.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kneepoint {

// Writes one JSON text front to back: keys and values in the order of the calls, and the commas
// between them. A number that JSON cannot hold (NaN, infinity) becomes null.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(double number);
  JsonWriter& value(uint64_t number);
  JsonWriter& value(const std::vector<double>& numbers);
  JsonWriter& json(std::string_view text);  // a value that is JSON already

  template <class Value>
  JsonWriter& field(std::string_view name, const Value& content) {
    return key(name).value(content);
  }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void quote(std::string_view text);

  std::string text_{};
  bool needs_comma_ = false;
};

}  // namespace kneepoint
