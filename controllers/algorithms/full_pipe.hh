// Whether a pipe is full, as both versions of BBR find out: draft-cardwell-iccrg-bbr-congestion-
// control-00, section 4.3.2.2, and draft-ietf-ccwg-bbr, section 5.3.1.2.
#pragma once

namespace kneepoint {

// After three rounds in which the rate has grown by less than a factor.
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

}  // namespace kneepoint
