#include "links/trace.hh"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/input_file.hh"
#include "common/sha256.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

constexpr Milliseconds latest_time_ms =
    1'000'000'000'000'000'000;  // a time stamp in microseconds is smaller, too

[[noreturn]] void refuse(const std::string& name, size_t line, const std::string& reason) {
  throw std::invalid_argument("trace " + name + ", line " + std::to_string(line) + ": " + reason);
}

// The number on a line of up to eight digits and nothing else, and how many digits it has; 0 digits
// for any other line, which parse_line() reads.
struct ShortLine {
  Milliseconds time_ms;
  size_t digits;
};

ShortLine read_short_line(std::string_view text) {
  constexpr size_t max_digits = 8;
  Milliseconds time_ms = 0;
  const size_t end = std::min(text.size(), max_digits + 1);
  for (size_t i = 0; i < end; ++i) {
    const auto digit = static_cast<unsigned>(text[i] - '0');
    if (digit > 9) return {time_ms, text[i] == '\n' ? i : 0};
    time_ms = time_ms * 10 + digit;
  }
  return {0, 0};
}

Milliseconds parse_line(const std::string& name, size_t line, std::string_view text,
                        Milliseconds max_ms) {
  if (text.empty()) refuse(name, line, "is empty; remove it");
  uint64_t time_ms{};  // unsigned: a minus is no digit
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time_ms);
  if (error == std::errc::invalid_argument or end != text.data() + text.size()) {
    refuse(name, line,
           shown(text) + " is not a whole number of milliseconds; write one number per line");
  }
  if (error != std::errc{} or time_ms > static_cast<uint64_t>(max_ms)) {
    refuse(name, line, shown(text) + " ms is more than a day; cut the trace, or write times in ms");
  }
  return static_cast<Milliseconds>(time_ms);
}

void require_order(const std::string& name, size_t line, Milliseconds time_ms,
                   Milliseconds latest_ms) {
  if (time_ms >= latest_ms) return;
  refuse(name, line,
         std::to_string(time_ms) + " ms follows " + std::to_string(latest_ms) +
             " ms; times must not decrease");
}

std::string seconds(Milliseconds time_ms) {
  return to_text(static_cast<double>(time_ms) / 1000) + " s";
}

void require_length(const std::string& name, size_t lines, Milliseconds last_ms) {
  if (lines == 0) {
    throw std::invalid_argument("trace " + name + " is empty; it needs at least one line");
  }
  if (last_ms == 0) refuse(name, lines, "the last time is 0 ms; a trace must take some time");
}

[[noreturn]] void refuse_long(const std::string& name, size_t line) {
  refuse(name, line,
         "a trace has at most " + std::to_string(Trace::max_opportunities) + " lines; cut it");
}

}  // namespace

std::vector<Milliseconds> trace_part(const std::string& name, std::istream& text,
                                     Milliseconds from_ms, Milliseconds to_ms) {
  std::vector<Milliseconds> part;
  Milliseconds latest_ms = 0;
  std::string words;
  size_t line = 0;
  while (latest_ms <= to_ms and std::getline(text, words)) {
    const Milliseconds time_ms = parse_line(name, ++line, words, latest_time_ms);
    require_order(name, line, time_ms, latest_ms);
    latest_ms = time_ms;
    if (time_ms <= from_ms or time_ms > to_ms) continue;
    if (part.size() == Trace::max_opportunities) refuse_long(name, line);
    part.push_back(time_ms - from_ms);
  }
  require_length(name, line, latest_ms);
  if (latest_ms < to_ms) {
    throw std::invalid_argument("the part's end, " + seconds(to_ms) +
                                ", is beyond the end of trace " + name + "; give at most " +
                                seconds(latest_ms));
  }
  if (part.empty()) {
    throw std::invalid_argument("trace " + name + " has no opportunity from " + seconds(from_ms) +
                                " to " + seconds(to_ms) + "; choose another part");
  }
  if (part.back() > longest_run_ms) {
    throw std::invalid_argument("the part of trace " + name + " is longer than a day; cut less");
  }
  return part;
}

Trace::Trace(std::string name, std::string_view text) : name_(std::move(name)) {
  size_t line = 0;
  while (not text.empty()) {
    ++line;
    auto [time_ms, end] = read_short_line(text);
    if (end == 0 or time_ms > longest_run_ms) {
      end = std::min(text.find('\n'), text.size());
      time_ms = parse_line(name_, line, text.substr(0, end), longest_run_ms);
    }
    if (not opportunities_ms_.empty()) require_order(name_, line, time_ms, last_ms());
    if (opportunities_ms_.size() == max_opportunities) refuse_long(name_, line);
    opportunities_ms_.push_back(static_cast<int32_t>(time_ms));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  require_length(name_, line, line == 0 ? 0 : last_ms());
}

Trace Trace::load(const std::filesystem::path& path, const std::string& sha256) {
  const std::string text = read_file(path, "trace", max_bytes);
  if (not sha256.empty()) {
    const std::string digest = kneepoint::sha256(text);
    if (digest != sha256) {
      throw std::invalid_argument("trace " + path.string() + " has SHA-256 " + digest + ", not " +
                                  sha256 + "; remove it and run the workflow again: snakemake " +
                                  "makes it anew");
    }
  }
  return Trace(path.string(), text);
}

}  // namespace kneepoint
