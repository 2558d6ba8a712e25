#include "network/text.hh"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>

namespace kneepoint {

namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view wanted) {
  throw std::invalid_argument(std::string(what) + ": '" + std::string(text) + "' is not " +
                              std::string(wanted));
}

}  // namespace

std::string to_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

double to_real(std::string_view text, std::string_view what) {
  double value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} or end != text.data() + text.size() or not std::isfinite(value)) {
    refuse(what, text, "a number");
  }
  return value;
}

uint64_t to_whole(std::string_view text, std::string_view what) {
  uint64_t value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} or end != text.data() + text.size()) {
    refuse(what, text, "a whole number of at least 0");
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

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  bool in_quotes = false;
  for (const char c : line) {
    if (c == '"') {
      if (not in_word) words.emplace_back();
      in_word = true;
      in_quotes = not in_quotes;
    } else if ((c == ' ' or c == '\t' or c == '\r') and not in_quotes) {
      in_word = false;
    } else {
      if (not in_word) words.emplace_back();
      in_word = true;
      words.back().push_back(c);
    }
  }
  if (in_quotes) throw std::invalid_argument("a quote is not closed: " + std::string(line));
  return words;
}

}  // namespace kneepoint
