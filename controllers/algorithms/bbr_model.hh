// What both versions of BBR have: draft-cardwell-iccrg-bbr-congestion-control-00, section 4, and
// draft-ietf-ccwg-bbr, section 5.
#pragma once

#include <optional>
#include <string>

#include "algorithms/constants.hh"
#include "algorithms/delivery_rate.hh"

namespace kneepoint {

inline double cwnd_gain(Constants& constants) {
  return constants.real("cwnd_gain", 2, {.low = 1, .high = 3, .least = 0.5}, "1",
                        "window, in bandwidth-delay products");
}

// Whether a pipe is full: after three rounds in which the rate has grown by less than a factor
// (sections 4.3.2.2 and 5.3.1.2).
class FullPipe {
 public:
  // At the end of a round whose rate is not limited by the sender.
  void look(double packets_per_s, double growth) {
    if (is_full_now) return;
    if (packets_per_s >= growth * rate_) {
      begin(packets_per_s);
    } else if (++rounds_ >= 3) {
      is_full_now = is_full = true;
    }
  }
  void begin(double packets_per_s = 0) {
    rate_ = packets_per_s;
    rounds_ = 0;
    is_full_now = false;
  }

  bool is_full = false;  // once
  bool is_full_now = false;

 private:
  double rate_ = 0;
  int rounds_ = 0;
};

// Few packets in flight, for a while and a round trip, so that the least RTT shows (sections 4.3.5
// and 5.3.4).
class ProbeRtt {
 public:
  ProbeRtt(Constants& constants, const std::string& meaning)
      : length_s_(constants.real("probe_rtt_ms", 200, {.low = 50, .high = 500, .least = 1}, "ms",
                                 meaning) /
                  1000) {}

  void begin() { ends_s_.reset(); }

  // Whether it is over, at an acknowledgment that may end a round.
  bool is_over(double now, double window, bool ends_round, DeliveryRate& delivery,
               DeliveryRounds& rounds) {
    delivery.limit();
    if (ends_s_) {
      has_passed_round_ = has_passed_round_ or ends_round;
      return has_passed_round_ and now > *ends_s_;
    }
    if (delivery.flight() > window) return false;
    ends_s_ = now + length_s_;
    has_passed_round_ = false;
    rounds.begin(delivery);
    return false;
  }

 private:
  double length_s_;
  std::optional<double> ends_s_{};
  bool has_passed_round_ = false;
};

}  // namespace kneepoint
