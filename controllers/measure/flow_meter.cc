#include "measure/flow_meter.hh"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kneepoint {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

FlowMeter::FlowMeter(Microseconds start_us, Microseconds end_us, Microseconds interval_us,
                     Microseconds run_us)
    : start_us_(start_us), end_us_(end_us), interval_us_(interval_us) {
  if (interval_us == 0) return;
  const auto intervals = static_cast<size_t>((run_us + interval_us - 1) / interval_us);
  bytes_by_interval_.resize(intervals);
  window_by_interval_.resize(intervals);
  rtt_by_interval_ms_.resize(intervals, undefined);
}

void FlowMeter::begin(Microseconds now_us) {
  begin_us_ = std::max(start_us_, now_us);
  packets_sent_ = retransmissions_ = packets_received_ = packets_marked_ = bytes_received_ = 0;
  answers_s_.clear();
  loss_events_s_.clear();
  bytes_before_ = bytes_in_order_;
  delays_.clear();
  rtts_.clear();
  window_us_ = 0;
  if (window_since_us_ != never) window_start_us_ = window_since_us_ = now_us;
}

void FlowMeter::measured(Microseconds rtt_us, Microseconds now_us) {
  rtts_.add(rtt_us);
  if (double* const rtt_ms = at(rtt_by_interval_ms_, now_us)) {
    *rtt_ms = static_cast<double>(rtt_us) / 1000;
  }
}

void FlowMeter::received(Microseconds sent_us, Microseconds now_us, uint64_t payload_bytes,
                         uint64_t in_order) {
  ++packets_received_;
  bytes_received_ += payload_bytes;
  bytes_in_order_ = in_order * payload_bytes;
  delays_.add(now_us - sent_us);
  if (uint64_t* const bytes = at(bytes_by_interval_, now_us)) *bytes += payload_bytes;
}

void FlowMeter::saw_window(double packets, Microseconds now_us) {
  if (window_since_us_ == never) {
    window_start_us_ = now_us;
  } else {
    window_us_ += window_ * static_cast<double>(now_us - window_since_us_);
  }
  window_ = packets;
  window_since_us_ = now_us;
  if (double* const window = at(window_by_interval_, now_us)) *window = packets;
}

double FlowMeter::mean_window_packets() const {
  if (window_since_us_ == never or window_since_us_ == window_start_us_) return undefined;
  return window_us_ / static_cast<double>(window_since_us_ - window_start_us_);
}

double FlowMeter::seconds() const {
  return static_cast<double>(std::min(end_us_, completed_us_) - begin_us_) / 1e6;
}

double FlowMeter::goodput_mbps() const {
  return static_cast<double>(bytes_in_order_ - bytes_before_) * 8 / 1e6 / seconds();
}

void FlowMeter::write(JsonWriter& json) {
  json.field("throughput_mbps", static_cast<double>(bytes_received_) * 8 / 1e6 / seconds())
      .field("goodput_mbps", goodput_mbps())
      .field("packets_sent", packets_sent_)
      .field("packets_received", packets_received_)
      .field("packets_marked", packets_marked_)
      .field("retransmissions", retransmissions_)
      .field("loss", packets_sent_ == 0 ? undefined
                                        : 1 - static_cast<double>(packets_received_) /
                                                  static_cast<double>(packets_sent_))
      .field("delay_p50_ms", delays_.quantile_ms(0.5))
      .field("delay_p95_ms", delays_.quantile_ms(0.95))
      .field("rtt_mean_ms", rtts_.mean_ms())
      .field("rtt_p50_ms", rtts_.quantile_ms(0.5))
      .field("rtt_p95_ms", rtts_.quantile_ms(0.95))
      .field("mean_window_packets", mean_window_packets())
      .field("completion_s", completed_us_ == never
                                 ? undefined
                                 : static_cast<double>(completed_us_ - start_us_) / 1e6)
      .field("loss_events_s", loss_events_s_);
  if (not answers_s_.empty()) json.field("answers_s", answers_s_);
  if (interval_us_ == 0) return;
  const double interval_s = static_cast<double>(interval_us_) / 1e6;
  json.key("throughput_by_interval_mbps").begin_array();
  for (const uint64_t bytes : bytes_by_interval_) {
    json.value(static_cast<double>(bytes) * 8 / 1e6 / interval_s);
  }
  json.end_array()
      .field("window_by_interval_packets", window_by_interval_)
      .field("rtt_by_interval_ms", rtt_by_interval_ms_);
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
