#include "common/json_value.hh"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "common/text.hh"

namespace kneepoint {

class JsonParser {
 public:
  JsonParser(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  JsonValue parse() {
    JsonValue value = parse_value(0);
    skip_blanks();
    if (position_ != text_.size()) refuse("more than one value");
    return value;
  }

 private:
  static constexpr int deepest_ = 32;

  [[noreturn]] void refuse(const std::string& reason) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<int64_t>(position_), '\n');
    throw std::invalid_argument(name_ + ", line " + std::to_string(line) + ": " + reason);
  }

  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_blanks() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
  }

  void expect(char c) {
    if (peek() != c) refuse(std::string("expected '") + c + "' before " + rest());
    ++position_;
  }

  std::string rest() const {
    return position_ == text_.size() ? "the end" : shown(text_.substr(position_));
  }

  bool take(std::string_view word) {
    if (not text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }

  JsonValue parse_value(int depth) {
    if (depth > deepest_) refuse("nested too deeply");
    skip_blanks();
    JsonValue value;
    const char c = peek();
    if (c == '{') {
      value.content_ = parse_object(depth);
    } else if (c == '[') {
      value.content_ = parse_array(depth);
    } else if (c == '"') {
      value.content_ = parse_text();
    } else if (take("true")) {
      value.content_ = true;
    } else if (take("false")) {
      value.content_ = false;
    } else if (not take("null")) {
      value.content_ = JsonValue::Number{parse_number()};
    }
    return value;
  }

  JsonValue::Object parse_object(int depth) {
    JsonValue::Object members;
    expect('{');
    skip_blanks();
    while (peek() != '}') {
      if (not members.empty()) {
        expect(',');
        skip_blanks();
      }
      std::string key = parse_text();
      if (std::ranges::any_of(members, [&](const auto& each) { return each.first == key; })) {
        refuse("duplicate key " + shown(key));
      }
      skip_blanks();
      expect(':');
      members.emplace_back(std::move(key), parse_value(depth + 1));
      skip_blanks();
    }
    expect('}');
    return members;
  }

  JsonValue::Array parse_array(int depth) {
    JsonValue::Array items;
    expect('[');
    skip_blanks();
    while (peek() != ']') {
      if (not items.empty()) expect(',');
      items.push_back(parse_value(depth + 1));
      skip_blanks();
    }
    expect(']');
    return items;
  }

  std::string parse_text() {
    std::string text;
    expect('"');
    while (peek() != '"') {
      if (position_ == text_.size()) refuse("unterminated string");
      const char c = text_[position_++];
      if (static_cast<unsigned char>(c) < 0x20) refuse("a control character in a string");
      text += c == '\\' ? parse_escape() : std::string(1, c);
    }
    expect('"');
    return text;
  }

  std::string parse_escape() {
    static constexpr std::string_view letters = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const size_t letter = position_ < text_.size() ? letters.find(text_[position_]) : letters.npos;
    if (letter == letters.npos) refuse("unknown escape: write the character itself");
    ++position_;
    return std::string(1, meanings[letter]);
  }

  std::string parse_number() {
    const size_t end =
        std::min(text_.find_first_not_of("+-.0123456789eE", position_), text_.size());
    const std::string number(text_.substr(position_, end - position_));
    if (number.empty()) refuse("expected a value before " + rest());
    try {
      to_real(number, "number");
    } catch (const std::invalid_argument& error) {
      refuse(error.what());
    }
    position_ = end;
    return number;
  }

  const std::string& name_;
  std::string_view text_;
  size_t position_ = 0;
};

JsonValue JsonValue::parse(const std::string& name, std::string_view text) {
  return JsonParser(name, text).parse();
}

}  // namespace kneepoint
