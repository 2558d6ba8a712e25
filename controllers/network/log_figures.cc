#include "network/log_figures.hh"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "network/text.hh"

namespace kneepoint {

namespace {

constexpr std::string_view base_header = "# base timestamp: ";

struct Departure {
  Milliseconds arrival_ms;
  Milliseconds departure_ms;
  uint32_t bytes;
};

// A log as far as it has been read. Departures wait until the end of time is known.
struct Reader {
  LogFigures figures{};
  Meter meter{};
  std::vector<Milliseconds> event_ms{};
  std::vector<Milliseconds> arrival_ms{};
  std::vector<Departure> departures{};
  std::optional<uint64_t> packets_dropped{};  // as far as the log says so
  uint64_t opportunities = 0;
  Milliseconds base_ms = 0;

  void take_header(std::string_view line) {
    if (line.starts_with(base_header)) {
      base_ms = static_cast<Milliseconds>(to_whole(line.substr(base_header.size()), "timestamp"));
    }
  }

  void take_event(std::string_view line) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() < 3) throw std::invalid_argument("is no event");
    const auto time_ms = static_cast<Milliseconds>(to_whole(words[0], "time")) - base_ms;
    const uint64_t first = to_whole(words[2], "first number");
    const bool has_two = words.size() == 4;
    if (time_ms < 0) throw std::invalid_argument("is before the base timestamp");
    if (words[1] == "+" and not has_two) {
      arrival_ms.push_back(time_ms);
    } else if (words[1] == "#" and not has_two) {
      ++opportunities;
    } else if (words[1] == "-" and has_two) {
      const auto delay_ms = static_cast<Milliseconds>(to_whole(words[3], "delay"));
      if (delay_ms > time_ms) throw std::invalid_argument("has a packet that came before the log");
      departures.push_back({time_ms - delay_ms, time_ms, static_cast<uint32_t>(first)});
    } else if (words[1] == "d" and has_two) {
      packets_dropped = packets_dropped.value_or(0) + first;
    } else {
      throw std::invalid_argument("is no event");
    }
    event_ms.push_back(time_ms);
  }

  // mm-link 0.98 has no line for what a full queue drops. Queues keep the order of arrival, so what
  // came before the last packet that departed, and has not departed, never will.
  uint64_t packets_overtaken() const {
    Milliseconds last_ms = 0;
    for (const Departure& each : departures) last_ms = std::max(last_ms, each.arrival_ms);
    const auto came = std::ranges::count_if(arrival_ms, [&](auto ms) { return ms < last_ms; });
    const auto left = std::ranges::count_if(
        departures, [&](const Departure& each) { return each.arrival_ms < last_ms; });
    return static_cast<uint64_t>(std::max<std::ptrdiff_t>(came - left, 0));
  }

  LogFigures finish() {
    figures.end_ms = event_ms.back();
    meter.start(figures.end_ms);
    meter.event(event_ms.front());
    meter.event(figures.end_ms);
    meter.opportunities(opportunities);
    for (const Departure& each : departures) {
      meter.departure(each.arrival_ms, each.departure_ms, each.bytes);
    }
    figures.packets_sent = arrival_ms.size();
    figures.packets_delivered = departures.size();
    figures.packets_dropped = packets_dropped ? *packets_dropped : packets_overtaken();
    figures.metrics = meter.metrics();
    return figures;
  }
};

}  // namespace

LogFigures read_log_figures(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (not file) throw std::runtime_error(path.string() + ": cannot be read; check the path");
  Reader reader;
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // torn
    try {
      if (line.starts_with('#')) {
        reader.take_header(line);
      } else {
        reader.take_event(line);
      }
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(path.string() + ", line " + std::to_string(number) + ": " +
                               error.what() + "; is it a log of mm-link?");
    }
  }
  if (reader.event_ms.empty()) {
    throw std::runtime_error(path.string() + ": holds no event; did the link run?");
  }
  return reader.finish();
}

}  // namespace kneepoint
