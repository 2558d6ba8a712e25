// The path model of BBR, version 3: draft-ietf-ccwg-bbr, section 5.5, with the draft's names. Rates
// are in packets/s, volumes in packets, times in seconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/delivery_rate.hh"
#include "algorithms/measures.hh"

namespace kneepoint {

// The maximum delivery rate of the present and the previous cycle (sections 5.5.5 and 5.5.6).
class MaxBwFilter {
 public:
  void update_max_bw(const RateSample& rs) {
    if (rs.delivery_rate <= 0 or (rs.is_app_limited and rs.delivery_rate < max_bw_)) return;
    this_cycle_ = std::max(this_cycle_, rs.delivery_rate);
    max_bw_ = std::max(this_cycle_, previous_cycle_);
  }
  void advance_max_bw_filter() {
    previous_cycle_ = this_cycle_;
    this_cycle_ = 0;
  }

  double max_bw() const { return max_bw_; }

 private:
  double max_bw_ = 0;
  double this_cycle_ = 0;
  double previous_cycle_ = 0;
};

// The minimum RTT of the last 10 s, and whether ProbeRTT is due: after 5 s without a sample below
// its own minimum (section 5.3.4.3).
class MinRtt {
 public:
  // A negative RTT stands for no sample.
  void update_min_rtt(double rtt, double now) {
    probe_rtt_expired_ = now > probe_rtt_min_stamp_ + probe_rtt_interval_;
    if (rtt >= 0 and (rtt < probe_rtt_min_delay_ or probe_rtt_expired_)) {
      probe_rtt_min_delay_ = rtt;
      probe_rtt_min_stamp_ = now;
    }
    if (probe_rtt_min_delay_ < min_rtt_ or now > min_rtt_stamp_ + min_rtt_filter_len_) {
      min_rtt_ = probe_rtt_min_delay_;
      min_rtt_stamp_ = probe_rtt_min_stamp_;
    }
  }
  void schedule_probe_rtt(double now) { probe_rtt_min_stamp_ = now; }

  double min_rtt() const { return min_rtt_; }
  bool probe_rtt_expired() const { return probe_rtt_expired_; }

 private:
  static constexpr double probe_rtt_interval_ = 5;
  static constexpr double min_rtt_filter_len_ = 10;

  double min_rtt_ = infinity;
  double min_rtt_stamp_ = infinity;
  double probe_rtt_min_delay_ = infinity;
  double probe_rtt_min_stamp_ = infinity;
  bool probe_rtt_expired_ = false;
};

// The maximum number of packets delivered beyond bandwidth times time, counted since the delivery
// last fell below this product (section 5.5.9).
class ExtraAcked {
 public:
  void update_ack_aggregation(double newly_acked, double now, double bw, double cwnd,
                              double round_count, bool full_bw_reached) {
    double expected_delivered = bw * (now - interval_start_);
    if (delivered_ <= expected_delivered) {
      delivered_ = expected_delivered = 0;
      interval_start_ = now;
    }
    delivered_ += newly_acked;
    filter_.add(std::min(delivered_ - expected_delivered, cwnd), round_count,
                full_bw_reached ? filter_len_ : 1);
  }
  void restart(double now) { interval_start_ = now; }

  double extra_acked() const { return filter_.best(); }

 private:
  static constexpr double filter_len_ = 10;  // round trips
  WindowedMax filter_{};
  double interval_start_ = 0;
  double delivered_ = 0;
};

// The losses of a round trip, and the bounds that losses set until the next probe for bandwidth
// (section 5.5.10.3).
class ShortTermModel {
 public:
  // NoteLoss without saving the state. Returns whether this is the first loss of a round trip.
  bool note_loss(const DeliveryRate& delivery) {
    if (is_loss_in_round_) return false;
    round_.start_round(delivery);
    return is_loss_in_round_ = true;
  }
  void update_latest_delivery_signals(const RateSample& rs, const DeliveryRate& delivery) {
    bw_latest_ = std::max(bw_latest_, rs.delivery_rate);
    inflight_latest_ = std::max(inflight_latest_, rs.delivered);
    loss_round_start_ = round_.update_round(rs, delivery);
  }
  void advance_latest_delivery_signals(const RateSample& rs) {
    if (not loss_round_start_) return;
    bw_latest_ = rs.delivery_rate;
    inflight_latest_ = rs.delivered;
  }
  void reset_congestion_signals() {
    is_loss_in_round_ = false;
    bw_latest_ = inflight_latest_ = 0;
  }
  // At the end of a round trip: losses lower the bounds, except during a probe for bandwidth.
  void adapt_lower_bounds_from_congestion(double max_bw, double cwnd, double beta,
                                          bool is_probing_bw) {
    if (is_loss_in_round_ and not is_probing_bw) {
      if (bw_shortterm_ == infinity) bw_shortterm_ = max_bw;
      if (inflight_shortterm_ == infinity) inflight_shortterm_ = cwnd;
      bw_shortterm_ = std::max(bw_latest_, beta * bw_shortterm_);
      inflight_shortterm_ = std::max(inflight_latest_, beta * inflight_shortterm_);
    }
    is_loss_in_round_ = false;
  }
  void reset_short_term_model() { bw_shortterm_ = inflight_shortterm_ = infinity; }
  // After spurious losses.
  void undo(double bw_shortterm, double inflight_shortterm) {
    is_loss_in_round_ = false;
    bw_shortterm_ = std::max(bw_shortterm_, bw_shortterm);
    inflight_shortterm_ = std::max(inflight_shortterm_, inflight_shortterm);
  }

  double bw_shortterm() const { return bw_shortterm_; }
  double inflight_shortterm() const { return inflight_shortterm_; }
  double inflight_latest() const { return inflight_latest_; }
  bool loss_round_start() const { return loss_round_start_; }

 private:
  double bw_shortterm_ = infinity;
  double inflight_shortterm_ = infinity;
  double bw_latest_ = 0;
  double inflight_latest_ = 0;
  DeliveryRounds round_{};
  bool loss_round_start_ = false;
  bool is_loss_in_round_ = false;
};

// The bound on packets in flight that losses set, and how a probe for bandwidth raises this bound:
// in each round trip by twice as much as in the previous round trip (section 5.3.3.6).
class LongTermModel {
 public:
  bool is_set() const { return inflight_longterm_ < infinity; }
  double inflight_longterm() const { return inflight_longterm_; }
  double inflight_with_headroom(double min) const {
    if (not is_set()) return infinity;
    const double headroom = std::max(1.0, headroom_ * inflight_longterm_);
    return std::max(inflight_longterm_ - headroom, min);
  }

  void bound(double inflight) { inflight_longterm_ = inflight; }
  void raise_to(double inflight) { inflight_longterm_ = std::max(inflight_longterm_, inflight); }

  void start_refill() {
    growth_this_round_ = 1;
    bw_probe_up_acked_ = 0;
  }
  void raise_inflight_longterm_slope(double cwnd) {
    probe_up_acked_per_inc_ = std::max(cwnd / growth_this_round_, 1.0);
    growth_this_round_ *= 2;
  }
  void probe_inflight_longterm_upward(double newly_acked, double cwnd, bool round_start) {
    bw_probe_up_acked_ += newly_acked;
    if (bw_probe_up_acked_ >= probe_up_acked_per_inc_) {
      const auto delta =
          static_cast<double>(static_cast<int64_t>(bw_probe_up_acked_ / probe_up_acked_per_inc_));
      bw_probe_up_acked_ -= delta * probe_up_acked_per_inc_;
      inflight_longterm_ += delta;
    }
    if (round_start) raise_inflight_longterm_slope(cwnd);
  }
  void start_down() { probe_up_acked_per_inc_ = infinity; }

 private:
  static constexpr double headroom_ = 0.15;

  double inflight_longterm_ = infinity;
  double growth_this_round_ = 1;
  double bw_probe_up_acked_ = 0;
  double probe_up_acked_per_inc_ = infinity;
};

}  // namespace kneepoint
