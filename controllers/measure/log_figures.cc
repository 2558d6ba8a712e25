#include "measure/log_figures.hh"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include "common/input_file.hh"
#include "common/text.hh"
#include "transport/packet.hh"

namespace kneepoint {

namespace {

constexpr std::string_view base_header = "# base timestamp: ";

// Some 30 million events, and the memory that they take: half an hour at 100 Mbit/s.
constexpr uintmax_t most_bytes = 500'000'000;

// As small as a day allows: a log may have many millions.
struct Departure {
  int32_t arrival_ms;
  int32_t departure_ms;
  uint16_t bytes;
};

// A partly read log. Departures wait until the end time is known.
class Reader {
 public:
  void take_header(std::string_view line) {
    if (line.starts_with(base_header)) {
      base_ms_ = to_whole(line.substr(base_header.size()), "timestamp");
    }
  }

  void take_event(std::string_view line) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() < 3) throw std::invalid_argument("is no event");
    const Milliseconds time_ms = take_time(to_whole(words[0], "time"), words[1] == "d");
    const bool has_two = words.size() == 4;
    if (words[1] == "+" and words.size() == 3) {
      to_bytes(words[2]);
      arrivals_ms_.push_back(stamp(time_ms));
    } else if (words[1] == "#" and words.size() == 3) {
      to_bytes(words[2]);
      ++opportunities_;
    } else if (words[1] == "-" and has_two) {
      take_departure(time_ms, to_bytes(words[2]), to_whole(words[3], "delay"));
    } else if (words[1] == "d" and has_two) {
      take_drop(to_whole(words[2], "packets"));
      to_whole(words[3], "bytes");
    } else {
      throw std::invalid_argument("is no event");
    }
  }

  bool has_event() const { return first_ms_ != never; }

  LogFigures finish() {
    Meter meter;
    meter.start();
    meter.event(first_ms_);
    meter.event(last_ms_);
    meter.opportunities(opportunities_);
    for (const Departure& each : departures_) {
      meter.departure(each.arrival_ms, each.departure_ms, each.bytes);
    }
    return {.metrics = meter.metrics(),
            .packets_sent = arrivals_ms_.size(),
            .packets_delivered = departures_.size(),
            .packets_dropped = packets_dropped_ ? *packets_dropped_ : packets_overtaken(),
            .end_ms = last_ms_};
  }

 private:
  // The time of an event since the base timestamp.
  Milliseconds take_time(uint64_t stamp_ms, bool is_drop) {
    if (stamp_ms < base_ms_) throw std::invalid_argument("is before the base timestamp");
    if (stamp_ms - base_ms_ > longest_run_ms) {
      throw std::invalid_argument("is more than a day after the base timestamp");
    }
    const auto time_ms = static_cast<Milliseconds>(stamp_ms - base_ms_);
    if (time_ms < latest_ms_) throw std::invalid_argument("is earlier than an event before it");
    // A link that wakes late drops what its queue held now, and then names the opportunity's time.
    if (not is_drop) latest_ms_ = time_ms;
    first_ms_ = std::min(first_ms_, time_ms);
    last_ms_ = std::max(last_ms_, time_ms);
    return time_ms;
  }

  static uint16_t to_bytes(const std::string& word) {
    return static_cast<uint16_t>(to_whole(word, "bytes", 0, datagram_bytes));
  }

  uint64_t packets_held() const {
    return arrivals_ms_.size() - departures_.size() - packets_dropped_.value_or(0);
  }

  void take_departure(Milliseconds time_ms, uint16_t bytes, uint64_t delay_ms) {
    if (delay_ms > static_cast<uint64_t>(time_ms)) {
      throw std::invalid_argument("has a packet that arrived before the log began");
    }
    const Milliseconds arrival_ms = time_ms - static_cast<Milliseconds>(delay_ms);
    if (packets_held() == 0 or not std::ranges::binary_search(arrivals_ms_, arrival_ms)) {
      throw std::invalid_argument("has a packet that never arrived");
    }
    departures_.push_back({stamp(arrival_ms), stamp(time_ms), bytes});
  }

  void take_drop(uint64_t packets) {
    if (packets > packets_held()) throw std::invalid_argument("has more packets than arrived");
    packets_dropped_ = packets_dropped_.value_or(0) + packets;
  }

  // Of the packets that departed.
  int32_t last_arrival_ms() const {
    int32_t last_ms = 0;
    for (const Departure& each : departures_) last_ms = std::max(last_ms, each.arrival_ms);
    return last_ms;
  }

  // mm-link 0.98 has no line for drops of a full queue. Queues keep the order of arrival, so a
  // packet that came before the last one to depart, and has not departed, never will.
  uint64_t packets_overtaken() const {
    const int32_t last_ms = last_arrival_ms();
    const auto came = std::ranges::count_if(arrivals_ms_, [&](auto ms) { return ms < last_ms; });
    const auto left = std::ranges::count_if(
        departures_, [&](const Departure& each) { return each.arrival_ms < last_ms; });
    const auto overtaken = static_cast<uint64_t>(std::max<std::ptrdiff_t>(came - left, 0));
    return std::min(overtaken, packets_held());
  }

  std::vector<int32_t> arrivals_ms_{};
  std::vector<Departure> departures_{};
  std::optional<uint64_t> packets_dropped_{};  // as far as the log says so
  uint64_t opportunities_ = 0;
  uint64_t base_ms_ = 0;
  Milliseconds first_ms_ = never;
  Milliseconds last_ms_ = 0;
  Milliseconds latest_ms_ = 0;  // of the events that come in the order of time
};

}  // namespace

LogFigures log_figures(const std::string& name, std::string_view text) {
  Reader reader;
  // What follows the last end of a line is torn.
  for (size_t number = 1, end; (end = text.find('\n')) != std::string_view::npos; ++number) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    try {
      if (line.starts_with('#')) {
        reader.take_header(line);
      } else {
        reader.take_event(line);
      }
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("log " + name + ", line " + std::to_string(number) + ": " +
                                  error.what() + "; is it a whole log of mm-link?");
    }
  }
  if (not reader.has_event()) {
    throw std::invalid_argument("log " + name + " holds no event; did the link run?");
  }
  return reader.finish();
}

LogFigures read_log_figures(const std::filesystem::path& path) {
  return log_figures(path.string(), read_file(path, "log", most_bytes));
}

}  // namespace kneepoint
