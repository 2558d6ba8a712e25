#include "measure/flow_meter.hh"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kneepoint {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double Samples::quantile_ms(double q) {
  if (times_us_.empty()) return undefined;
  const auto rank = static_cast<std::ptrdiff_t>(q * static_cast<double>(times_us_.size()));
  const auto nth = times_us_.begin() + rank;
  std::nth_element(times_us_.begin(), nth, times_us_.end());
  return static_cast<double>(*nth) / 1000;
}

FlowMeter::FlowMeter(Microseconds start_us, Microseconds end_us, Microseconds interval_us,
                     Microseconds run_us)
    : start_us_(start_us), end_us_(end_us), interval_us_(interval_us) {
  if (interval_us == 0) return;
  const auto intervals = static_cast<size_t>((run_us + interval_us - 1) / interval_us);
  bytes_by_interval_.resize(intervals);
  window_by_interval_.resize(intervals);
}

void FlowMeter::received(Microseconds sent_us, Microseconds now_us, uint64_t payload_bytes,
                         uint64_t in_order) {
  ++packets_received_;
  bytes_received_ += payload_bytes;
  bytes_in_order_ = in_order * payload_bytes;
  delays_.add(now_us - sent_us);
  if (interval_us_ == 0) return;
  const auto interval = static_cast<size_t>(now_us / interval_us_);
  if (interval < bytes_by_interval_.size()) bytes_by_interval_[interval] += payload_bytes;
}

void FlowMeter::saw_window(double packets, Microseconds now_us) {
  if (window_since_us_ == never) {
    window_start_us_ = now_us;
  } else {
    window_us_ += window_ * static_cast<double>(now_us - window_since_us_);
  }
  window_ = packets;
  window_since_us_ = now_us;
  if (interval_us_ == 0) return;
  const auto interval = static_cast<size_t>(now_us / interval_us_);
  if (interval < window_by_interval_.size()) window_by_interval_[interval] = packets;
}

double FlowMeter::mean_window_packets() const {
  if (window_since_us_ == never or window_since_us_ == window_start_us_) return undefined;
  return window_us_ / static_cast<double>(window_since_us_ - window_start_us_);
}

double FlowMeter::seconds() const {
  return static_cast<double>(std::min(end_us_, completed_us_) - start_us_) / 1e6;
}

double FlowMeter::goodput_mbps() const {
  return static_cast<double>(bytes_in_order_) * 8 / 1e6 / seconds();
}

void FlowMeter::write(JsonWriter& json) {
  json.field("throughput_mbps", static_cast<double>(bytes_received_) * 8 / 1e6 / seconds())
      .field("goodput_mbps", goodput_mbps())
      .field("packets_sent", packets_sent_)
      .field("packets_received", packets_received_)
      .field("retransmissions", retransmissions_)
      .field("loss", packets_sent_ == 0 ? undefined
                                        : 1 - static_cast<double>(packets_received_) /
                                                  static_cast<double>(packets_sent_))
      .field("delay_p50_ms", delays_.quantile_ms(0.5))
      .field("delay_p95_ms", delays_.quantile_ms(0.95))
      .field("rtt_p50_ms", rtts_.quantile_ms(0.5))
      .field("rtt_p95_ms", rtts_.quantile_ms(0.95))
      .field("mean_window_packets", mean_window_packets())
      .field("completion_s", completed_us_ == never
                                 ? undefined
                                 : static_cast<double>(completed_us_ - start_us_) / 1e6);
  if (interval_us_ == 0) return;
  const double interval_s = static_cast<double>(interval_us_) / 1e6;
  json.key("throughput_by_interval_mbps").begin_array();
  for (const uint64_t bytes : bytes_by_interval_) {
    json.value(static_cast<double>(bytes) * 8 / 1e6 / interval_s);
  }
  json.end_array().field("window_by_interval_packets", window_by_interval_);
}

double jains_index(const std::vector<double>& shares) {
  double sum = 0;
  double squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace kneepoint
