#include "measure/tunnel_figures.hh"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/text.hh"

namespace kneepoint {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t max_bytes = 1'000'000'000;  // of one event
// Wall-clock times, too.
constexpr uint64_t longest_ms = 1'000'000'000'000'000;
constexpr size_t max_entered = 65'536;  // that are remembered

Microseconds to_microseconds(std::string_view text, const char* what) {
  const size_t point = text.find('.');
  Microseconds time_us =
      static_cast<Microseconds>(to_whole(text.substr(0, point), what, 0, longest_ms)) * 1000;
  if (point == std::string_view::npos) return time_us;
  std::string_view decimals = text.substr(point + 1);
  if (decimals.size() > 9) throw std::invalid_argument("is no event");
  uint64_t value = to_whole(decimals, what);
  for (size_t digits = decimals.size(); digits < 9; ++digits) value *= 10;
  return time_us + static_cast<Microseconds>((value + 500'000) / 1'000'000);
}

// What the last digit of a time in ms stands for, at least 1.
Microseconds unit_us(std::string_view text) {
  const size_t point = text.find('.');
  const size_t decimals = point == std::string_view::npos ? 0 : text.size() - point - 1;
  return std::array{1000, 100, 10, 1}[std::min<size_t>(decimals, 3)];
}

double mbps(uint64_t bytes, Microseconds span_us) {
  return span_us > 0 ? static_cast<double>(bytes) * 8 / static_cast<double>(span_us) : 0;
}

class Reader {
 public:
  void take(std::string_view line) {
    if (line.starts_with('#') and not has_event()) return;
    const EventWords words(line);
    if (words.count < 3 or words[1].size() != 1) throw std::invalid_argument("is no event");
    const Microseconds time_us = take_time(to_microseconds(words[0], "time"));
    const uint64_t bytes = to_whole(words[2], "bytes", 0, max_bytes);
    const char kind = words[1][0];
    const size_t least = kind == '-' ? 4 : 3;
    const bool has_flow = kind != '#' and words.count == least + 1;
    if (words.count != least + has_flow) throw std::invalid_argument("is no event");
    if (kind == '#') return take_opportunity(time_us, bytes);
    TunnelFlow& flow = found_.flows[has_flow ? to_whole(words[least], "flow") : 0];
    if (kind == '+') {
      remember_entry(time_us);
      flow.sent_bytes += bytes;
      found_.all.sent_bytes += bytes;
      ++found_.packets_sent;
      found_.over_time.at(whole_ms(time_us)).ingress_bytes += bytes;
    } else if (kind == '-') {
      const Microseconds delay_us = to_microseconds(words[3], "delay");
      confirm_entry(time_us - delay_us, unit_us(words[0]) + unit_us(words[3]));
      take_departure(time_us, bytes, delay_us, flow);
    } else {
      throw std::invalid_argument("is no event");
    }
  }

  bool has_event() const { return first_us_ != never; }

  TunnelFigures finish(bool is_torn) {
    if (found_.all.sent_bytes > 0 and found_.all.departed_bytes / 2 > found_.all.sent_bytes) {
      throw std::invalid_argument("the log has " + std::to_string(found_.all.departed_bytes) +
                                  " bytes that left the tunnel, but " +
                                  std::to_string(found_.all.sent_bytes) +
                                  " that entered it; write all sizes in bytes");
    }
    if (not entered_us_.empty() and 2 * confirmed_ < found_.packets_delivered - forgotten_) {
      throw std::invalid_argument(
          "of " + std::to_string(found_.packets_delivered) +
          " packets that left the tunnel, only " + std::to_string(confirmed_) +
          " entered it when their delays say; write all times and delays in ms");
    }
    const bool has_link = last_opportunity_us_ > first_opportunity_us_;
    found_.capacity_mbps =
        has_link ? mbps(capacity_bytes_, last_opportunity_us_ - first_opportunity_us_) : undefined;
    found_.signal_delay_p95_ms = meter_.metrics().signal_delay_p95_ms;
    found_.duration_s = static_cast<double>(last_us_) / 1e6;
    found_.is_torn = is_torn;
    return std::move(found_);
  }

 private:
  // Since the first event.
  Microseconds take_time(Microseconds stamp_us) {
    if (not has_event()) first_us_ = stamp_us;
    const Microseconds time_us = stamp_us - first_us_;
    if (time_us < last_us_) throw std::invalid_argument("is earlier than an event before it");
    if (whole_ms(time_us) > longest_run_ms) {
      throw std::invalid_argument("is more than a day after the first event");
    }
    return last_us_ = time_us;
  }

  void remember_entry(Microseconds time_us) {
    entered_us_.push_back(time_us);
    if (entered_us_.size() <= max_entered) return;
    entered_us_.pop_front();
    forgets_ = true;
  }

  // Whether a packet entered then; the log may have begun later, and digits are rounded.
  void confirm_entry(Microseconds time_us, Microseconds slack_us) {
    if (forgets_ and time_us < entered_us_.front()) {
      ++forgotten_;
      return;
    }
    const auto entry = std::ranges::lower_bound(entered_us_, time_us - slack_us);
    confirmed_ += entry != entered_us_.end() and *entry <= time_us + slack_us;
  }

  void take_opportunity(Microseconds time_us, uint64_t bytes) {
    if (first_opportunity_us_ == never) first_opportunity_us_ = time_us;
    last_opportunity_us_ = time_us;
    capacity_bytes_ += bytes;
    found_.over_time.at(whole_ms(time_us)).capacity_bytes += bytes;
  }

  void take_departure(Microseconds time_us, uint64_t bytes, Microseconds delay_us,
                      TunnelFlow& flow) {
    const Milliseconds time_ms = whole_ms(time_us);
    const Milliseconds delay_ms = (delay_us + 500) / 1000;
    if (delay_ms > longest_run_ms) throw std::invalid_argument("has a delay of more than a day");
    for (TunnelFlow* const each : {&flow, &found_.all}) {
      if (each->departed_bytes == 0) each->first_departure_us = time_us;
      each->last_departure_us = time_us;
      each->departed_bytes += bytes;
      each->delays.add(delay_us);
    }
    ++found_.packets_delivered;
    found_.over_time.departure(time_ms - delay_ms, time_ms, bytes,
                               static_cast<double>(delay_us) / 1000);
    // The log may begin after the packet did.
    const Milliseconds arrival_ms = time_ms - delay_ms + longest_run_ms;
    if (arrival_ms < meter_.settled_ms()) {
      throw std::invalid_argument("has a packet that a hundred thousand later ones overtook");
    }
    meter_.departure(arrival_ms, time_ms + longest_run_ms, 0);
  }

  TunnelFigures found_{};
  Meter meter_{};
  std::deque<Microseconds> entered_us_{};  // lately
  bool forgets_ = false;
  uint64_t confirmed_ = 0;  // packets that left after the delay since one entered
  uint64_t forgotten_ = 0;  // that left after all remembered ones
  uint64_t capacity_bytes_ = 0;
  Microseconds first_opportunity_us_ = never;
  Microseconds last_opportunity_us_ = 0;
  Microseconds first_us_ = never;  // the first event's stamp
  Microseconds last_us_ = 0;       // the last event, since the first
};

}  // namespace

double TunnelFlow::throughput_mbps() const {
  return mbps(departed_bytes, last_departure_us - first_departure_us);
}

double TunnelFlow::loss() const {
  if (sent_bytes == 0) return undefined;
  return 1 - static_cast<double>(departed_bytes) / static_cast<double>(sent_bytes);
}

TunnelFigures tunnel_figures(const std::string& name, const ReadBytes& log) {
  Reader reader;
  const bool is_torn =
      read_lines(name, log, "Pantheon's tunnel", [&](std::string_view line) { reader.take(line); });
  if (not reader.has_event()) {
    throw std::invalid_argument("log " + name + " holds no event; did the tunnel run?");
  }
  return reader.finish(is_torn);
}

}  // namespace kneepoint
