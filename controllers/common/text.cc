#include "common/text.hh"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>

namespace kneepoint {

namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view wanted) {
  throw std::invalid_argument(std::string(what) + ": " + shown(text) + " is not " +
                              std::string(wanted));
}

[[noreturn]] void refuse_range(std::string_view what, std::string_view text, const std::string& min,
                               const std::string& max) {
  throw std::invalid_argument(std::string(what) + " " + std::string(text) + " is outside [" + min +
                              ", " + max + "]");
}

}  // namespace

std::string to_text(double value) {
  if (std::isnan(value)) return "nan";  // without its sign, which depends on the processor
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

std::string shown(std::string_view text) {
  static constexpr size_t longest = 40;
  static constexpr char hex_digits[] = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    if (c >= ' ' and c <= '~') {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result.append("\\x").append({hex_digits[byte >> 4], hex_digits[byte & 15]});
    }
  }
  return result + (text.size() > longest ? "..." : "") + "'";
}

namespace {

// The length of the UTF-8 character at the beginning of a text; 0: there is none.
size_t length_of_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length < 3) return length;
  // An overlong encoding, a surrogate, or beyond the last character.
  const bool is_wrong = (first == 0xe0 and byte(1) < 0xa0) or (first == 0xed and byte(1) > 0x9f) or
                        (first == 0xf0 and byte(1) < 0x90) or (first == 0xf4 and byte(1) > 0x8f);
  return is_wrong ? 0 : length;
}

}  // namespace

std::string one_line(const char* text) {
  static constexpr size_t longest = 500;
  std::string line;
  for (std::string_view rest = text == nullptr ? "" : text; not rest.empty();) {
    const size_t length = length_of_character(rest);
    if (line.size() + length > longest) break;
    const bool is_control = length == 1 and (rest[0] < ' ' or rest[0] == 0x7f);
    line += length == 0 or is_control ? std::string_view("?") : rest.substr(0, length);
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  return line;
}

double to_real(std::string_view text, std::string_view what, double min, double max) {
  double value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} or end != text.data() + text.size() or not std::isfinite(value)) {
    refuse(what, text, "a number");
  }
  if (value < min or value > max) refuse_range(what, text, to_text(min), to_text(max));
  return value;
}

uint64_t to_whole(std::string_view text, std::string_view what, uint64_t min, uint64_t max) {
  uint64_t value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} or end != text.data() + text.size()) {
    refuse(what, text, "a whole number of at least 0");
  }
  if (value < min or value > max) {
    refuse_range(what, text, std::to_string(min), std::to_string(max));
  }
  return value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  bool in_quotes = false;
  char last = ' ';
  for (const char c : line) {
    if (c == '"') {
      if (not in_word) words.emplace_back();
      if (in_word and not in_quotes and last == '"') words.back().push_back(c);  // it was doubled
      in_word = true;
      in_quotes = not in_quotes;
    } else if ((c == ' ' or c == '\t' or c == '\r') and not in_quotes) {
      in_word = false;
    } else {
      if (not in_word) words.emplace_back();
      in_word = true;
      words.back().push_back(c);
    }
    last = c;
  }
  if (in_quotes) throw std::invalid_argument("unterminated quote: " + std::string(line));
  return words;
}

}  // namespace kneepoint
