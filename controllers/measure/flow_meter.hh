// The metrics of one flow, gathered at both ends.
#pragma once

#include <cstdint>
#include <vector>

#include "common/json.hh"
#include "common/time.hh"
#include "measure/samples.hh"

namespace kneepoint {

class FlowMeter {
 public:
  // Args:
  //   end_us: of the flow, or of the run.
  //   interval_us: of the series over time; 0: none.
  // run_us: the length of the series.
  FlowMeter(Microseconds start_us, Microseconds end_us, Microseconds interval_us,
            Microseconds run_us);

  // Earlier events no longer count, except in the series over time.
  void begin(Microseconds now_us);

  void sent(bool is_retransmission) {
    ++packets_sent_;
    retransmissions_ += is_retransmission;
  }
  // A data packet arrives at the receiver, which then has `in_order` packets in order.
  void received(Microseconds sent_us, Microseconds now_us, uint64_t payload_bytes,
                uint64_t in_order);
  void measured(Microseconds rtt_us, Microseconds now_us);
  void marked() { ++packets_marked_; }
  void saw_window(double packets, Microseconds now_us);
  // `count`: all loss events so far, at most one more than at the last call.
  void saw_loss_events(uint64_t count, Microseconds now_us) {
    if (count == loss_events_) return;
    loss_events_ = count;
    loss_events_s_.push_back(static_cast<double>(now_us) / 1e6);
  }
  void completed(Microseconds now_us) { completed_us_ = now_us; }
  // A whole answer has arrived; its request was made, or the connection for it opened, at
  // `from_us`.
  void answered(Microseconds from_us, Microseconds now_us) {
    answers_s_.push_back(static_cast<double>(now_us - from_us) / 1e6);
  }

  double goodput_mbps() const;
  uint64_t packets_received() const { return packets_received_; }
  uint64_t packets_sent() const { return packets_sent_; }

  const std::vector<uint64_t>& bytes_by_interval() const { return bytes_by_interval_; }
  double mean_window_packets() const;

  void write(JsonWriter& json);

 private:
  double seconds() const;
  // The element of a series over time for a time; null if there is none.
  template <class Value>
  Value* at(std::vector<Value>& series, Microseconds now_us) const {
    if (interval_us_ == 0) return nullptr;
    const auto interval = static_cast<size_t>(now_us / interval_us_);
    return interval < series.size() ? &series[interval] : nullptr;
  }

  Microseconds start_us_;
  Microseconds begin_us_ = start_us_;  // when counting began
  Microseconds end_us_;
  Microseconds interval_us_;
  uint64_t packets_sent_ = 0;
  uint64_t retransmissions_ = 0;
  uint64_t packets_received_ = 0;
  uint64_t packets_marked_ = 0;
  uint64_t bytes_received_ = 0;
  uint64_t bytes_in_order_ = 0;
  uint64_t bytes_before_ = 0;  // in order, when counting began
  Microseconds completed_us_ = never;
  std::vector<double> answers_s_{};
  uint64_t loss_events_ = 0;
  std::vector<double> loss_events_s_{};  // their times
  Samples delays_{};
  Samples rtts_{};
  std::vector<uint64_t> bytes_by_interval_{};
  std::vector<double> window_by_interval_{};
  std::vector<double> rtt_by_interval_ms_{};
  // The integral of the window over time.
  double window_us_ = 0;
  double window_ = 0;
  Microseconds window_since_us_ = never;
  Microseconds window_start_us_ = 0;
};

// Jain, Chiu, Hawe: a quantitative measure of fairness, DEC-TR-301, 1984. 1 for equal shares, 1/n
// if one of n has all; NaN if all are zero.
double jains_index(const std::vector<double>& shares);

}  // namespace kneepoint
