#include "network/trace.hh"

#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace kneepoint {

namespace {

// Later times would overflow microseconds; no trace comes near (it is 2900 centuries).
constexpr Milliseconds latest_ms = never / 1000 - 1;

[[noreturn]] void refuse(const std::string& name, size_t line, const std::string& reason) {
  throw std::invalid_argument("trace " + name + ", line " + std::to_string(line) + ": " + reason);
}

Milliseconds parse_line(const std::string& name, size_t line, std::string_view text) {
  if (text.empty()) refuse(name, line, "is empty; remove it");
  Milliseconds time_ms{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time_ms);
  if (error != std::errc{} or end != text.data() + text.size() or time_ms < 0 or
      time_ms > latest_ms) {
    refuse(name, line, std::string("'").append(text) + "' is not a whole number of milliseconds");
  }
  return time_ms;
}

}  // namespace

Trace::Trace(std::string name, std::string_view text) : name_(std::move(name)) {
  size_t line = 0;
  while (not text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Milliseconds time_ms = parse_line(name_, ++line, text.substr(0, end));
    if (not opportunities_ms_.empty() and time_ms < opportunities_ms_.back()) {
      refuse(name_, line,
             std::to_string(time_ms) + " ms follows " + std::to_string(opportunities_ms_.back()) +
                 " ms; times must not decrease");
    }
    opportunities_ms_.push_back(time_ms);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (opportunities_ms_.empty()) {
    throw std::invalid_argument("trace " + name_ + " is empty; it needs at least one line");
  }
  if (last_ms() == 0) refuse(name_, line, "the last time is 0 ms; a trace must take some time");
}

Trace Trace::load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (not file or not std::filesystem::is_regular_file(path)) {
    throw std::invalid_argument("trace " + path.string() + " cannot be read; check the path");
  }
  return Trace(path.string(), text.view());
}

}  // namespace kneepoint
