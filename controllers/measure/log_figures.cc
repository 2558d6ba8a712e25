#include "measure/log_figures.hh"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "common/text.hh"
#include "transport/packet.hh"

namespace kneepoint {

namespace {

constexpr std::string_view base_header = "# base timestamp: ";
constexpr std::string_view delay_label = "delay:";  // of Octopus's fork
constexpr size_t longest_kind = 16;
constexpr size_t max_kinds = 16;

// A partly read log.
class Reader {
 public:
  explicit Reader(Dialect dialect) : dialect_(dialect) {}

  void take(std::string_view line) {
    if (not line.starts_with('#')) return take_event(EventWords(line));
    if (has_event()) throw std::invalid_argument("a second header: log one link to one file");
    take_header(line);
  }

  bool has_event() const { return first_ms_ != never; }

  LogFigures finish(bool is_torn) {
    meter_.event(first_ms_);
    meter_.event(last_ms_);
    return {.metrics = meter_.metrics(),
            .packets_sent = packets_arrived_,
            .packets_delivered = packets_departed_,
            .packets_dropped = packets_dropped_ ? *packets_dropped_ : packets_overtaken(),
            .logs_drops = packets_dropped_.has_value(),
            .begin_ms = first_ms_,
            .end_ms = last_ms_,
            .is_torn = is_torn,
            .over_time = std::move(over_time_),
            .other_events = std::move(other_events_),
            .longer_events = longer_events_};
  }

 private:
  void take_header(std::string_view line) {
    if (line.starts_with(base_header)) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      base_ms_ = to_whole(line.substr(base_header.size()), "timestamp");
    }
  }

  void take_event(const EventWords& words) {
    if (words.count < 3 or words[1].size() != 1) return leave_out(words);
    const char kind = words[1][0];
    const bool has_label = kind == '-' and words[3] == delay_label;
    const size_t needs = kind == '+' or kind == '#' ? 3 : kind == '-' or kind == 'd' ? 4 : 0;
    if (needs == 0) return leave_out(words);
    if (words.count < needs + has_label) throw std::invalid_argument("is no event");
    if (words.count > needs) {
      refuse_unless_fork();
      ++longer_events_;
    }
    size_t& usual = words_of_[static_cast<unsigned char>(kind) % words_of_.size()];
    if (usual != 0 and usual != words.count) throw std::invalid_argument("is no event");  // torn?
    usual = words.count;
    const Milliseconds time_ms = take_time(to_whole(words[0], "time"), kind == 'd');
    if (kind == '+') {
      take_arrival(time_ms, to_bytes(words[2]));
    } else if (kind == '#') {
      over_time_.at(time_ms).capacity_bytes += to_bytes(words[2]);
      meter_.opportunities(1);
    } else if (kind == '-') {
      take_departure(time_ms, to_bytes(words[2]), to_whole(words[3 + has_label], "delay"));
    } else {
      take_drop(time_ms, to_whole(words[2], "packets"));
      to_whole(words[3], "bytes");
    }
  }

  // An event of another kind: a time, and a word that is no number.
  void leave_out(const EventWords& words) {
    refuse_unless_fork();
    const std::string_view kind = words[1];
    const bool is_kind =
        not kind.empty() and kind.size() <= longest_kind and
        std::ranges::all_of(kind, [](char c) { return c > '9' ? c <= '~' : c > ' ' and c < '0'; });
    if (words.count < 2 or not is_kind) throw std::invalid_argument("is no event");
    to_whole(words[0], "time");
    ++other_events_[std::string(kind)];
    if (other_events_.size() > max_kinds) throw std::invalid_argument("is no event");
  }

  void refuse_unless_fork() const {
    if (dialect_ == Dialect::mahimahi) throw std::invalid_argument("is no event");
  }

  // The time of an event since the base timestamp.
  Milliseconds take_time(uint64_t stamp_ms, bool is_drop) {
    if (stamp_ms < base_ms_) throw std::invalid_argument("is before the base timestamp");
    if (stamp_ms - base_ms_ > longest_run_ms) {
      throw std::invalid_argument("is more than a day after the base timestamp");
    }
    const auto time_ms = static_cast<Milliseconds>(stamp_ms - base_ms_);
    if (time_ms < latest_ms_) throw std::invalid_argument("is earlier than an event before it");
    // A link that wakes late logs its queue's drops with the present time, and then events with the
    // opportunity's earlier time.
    if (not is_drop) latest_ms_ = time_ms;
    first_ms_ = std::min(first_ms_, time_ms);
    last_ms_ = std::max(last_ms_, time_ms);
    return time_ms;
  }

  static uint16_t to_bytes(std::string_view word) {
    return static_cast<uint16_t>(to_whole(word, "bytes", 0, datagram_bytes));
  }

  uint64_t packets_held() const {
    return packets_arrived_ - packets_departed_ - packets_dropped_.value_or(0);
  }

  void take_arrival(Milliseconds time_ms, uint16_t bytes) {
    const auto place = static_cast<size_t>(time_ms);
    if (place >= arrived_.size()) arrived_.resize(place + 1);
    arrived_[place] = true;
    ++packets_arrived_;
    if (not lately_.empty() and lately_.back().arrival_ms == time_ms) {
      ++lately_.back().packets;
    } else {
      lately_.push_back({time_ms, 1});
    }
    OverTime::Interval& now = over_time_.at(time_ms);
    now.ingress_bytes += bytes;
    ++now.more_packets;
  }

  void take_departure(Milliseconds time_ms, uint16_t bytes, uint64_t delay_ms) {
    if (delay_ms > static_cast<uint64_t>(time_ms)) {
      throw std::invalid_argument("has a packet that arrived before the log began");
    }
    const Milliseconds arrival_ms = time_ms - static_cast<Milliseconds>(delay_ms);
    if (packets_held() == 0 or static_cast<size_t>(arrival_ms) >= arrived_.size() or
        not arrived_[static_cast<size_t>(arrival_ms)]) {
      throw std::invalid_argument("has a packet that never arrived");
    }
    if (arrival_ms < meter_.settled_ms()) {
      throw std::invalid_argument("has a packet that a hundred thousand later packets overtook");
    }
    ++packets_departed_;
    meter_.departure(arrival_ms, time_ms, bytes);
    over_time_.departure(arrival_ms, time_ms, bytes, static_cast<double>(delay_ms));
    if (arrival_ms > newest_ms_) {
      newest_ms_ = arrival_ms;
      of_newest_ = 0;
      while (lately_.front().arrival_ms < newest_ms_) {
        came_before_ += lately_.front().packets;
        lately_.pop_front();
      }
    }
    of_newest_ += arrival_ms == newest_ms_;
  }

  void take_drop(Milliseconds time_ms, uint64_t packets) {
    if (packets > packets_held()) throw std::invalid_argument("has more packets than arrived");
    packets_dropped_ = packets_dropped_.value_or(0) + packets;
    over_time_.at(time_ms).more_packets -= static_cast<int64_t>(packets);
  }

  // mm-link 0.98 has no line for drops of a full queue. Queues keep the order of arrival, so that a
  // packet that arrived before a departed packet, and has not departed itself, never will.
  uint64_t packets_overtaken() const {
    const uint64_t left_before = packets_departed_ - of_newest_;
    return std::min(came_before_ - std::min(came_before_, left_before), packets_held());
  }

  struct Arrivals {
    Milliseconds arrival_ms;
    uint64_t packets;
  };

  Dialect dialect_;
  Meter meter_{};
  OverTime over_time_{};
  std::vector<bool> arrived_{};    // by millisecond
  std::deque<Arrivals> lately_{};  // arrivals from newest_ms_ on
  Milliseconds newest_ms_ = -1;    // the latest arrival of a departed packet
  uint64_t came_before_ = 0;       // packets that arrived before newest_ms_
  uint64_t of_newest_ = 0;         // departed packets that arrived at newest_ms_
  uint64_t packets_arrived_ = 0;
  uint64_t packets_departed_ = 0;
  std::optional<uint64_t> packets_dropped_{};  // as far as the log reports drops
  uint64_t base_ms_ = 0;
  Milliseconds first_ms_ = never;
  Milliseconds last_ms_ = 0;
  Milliseconds latest_ms_ = 0;  // of the events that come in the order of time
  std::map<std::string, uint64_t> other_events_{};
  uint64_t longer_events_ = 0;
  std::array<size_t, 128> words_of_{};  // of an event of each kind
};

}  // namespace

LogFigures log_figures(const std::string& name, const ReadBytes& log, Dialect dialect) {
  Reader reader(dialect);
  const bool is_torn = read_lines(name, log, [&](std::string_view line) { reader.take(line); });
  if (not reader.has_event()) {
    throw std::invalid_argument("log " + name + " holds no event; did the link run?");
  }
  return reader.finish(is_torn);
}

JsonWriter& write_figures(JsonWriter& json, const LogFigures& figures) {
  return write_metrics(json, figures.metrics)
      .field("packets_sent", figures.packets_sent)
      .field("packets_delivered", figures.packets_delivered)
      .field("packets_dropped", figures.packets_dropped)
      .field("end_ms", static_cast<uint64_t>(figures.end_ms));
}

void write_over_time(JsonWriter& json, const LogFigures& figures) {
  write_figures(json.begin_object(), figures)
      .field("duration_s", static_cast<double>(figures.end_ms - figures.begin_ms) / 1000)
      .field("logs_drops", uint64_t{figures.logs_drops})
      .field("is_torn", uint64_t{figures.is_torn})
      .field("longer_events", figures.longer_events);
  json.key("other_events").begin_object();
  for (const auto& [kind, count] : figures.other_events) json.field(kind, count);
  json.end_object();
  figures.over_time.write(json, figures.logs_drops);
  json.end_object();
}

}  // namespace kneepoint
