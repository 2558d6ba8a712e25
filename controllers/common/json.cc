#include "common/json.hh"

#include <cmath>

#include "common/text.hh"

namespace kneepoint {

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  separate();
  text_ += std::isfinite(number) ? to_text(number) : "null";
  return *this;
}

JsonWriter& JsonWriter::value(uint64_t number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::value(const std::vector<double>& numbers) {
  begin_array();
  for (const double number : numbers) value(number);
  return end_array();
}

JsonWriter& JsonWriter::json(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::quote(std::string_view text) {
  static constexpr char hex_digits[] = "0123456789abcdef";
  text_ += '"';
  for (const char c : text) {
    if (c == '"' or c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += "\\u00";
      text_ += hex_digits[c >> 4];
      text_ += hex_digits[c & 15];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace kneepoint
