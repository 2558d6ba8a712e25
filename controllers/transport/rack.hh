// RACK, RFC 8985: loss detection by the times at which segments were sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/time.hh"

namespace kneepoint {

// What it knows of deliveries. The window for reordering does not adapt: no receiver here reports
// duplicates (D-SACK).
class Rack {
 public:
  // A segment is newly acknowledged, cumulatively or by SACK. `fack` is the first number above all
  // that were delivered by earlier acknowledgments (section 6.2, steps 1 to 3).
  void delivered(uint64_t number, Microseconds sent_us, bool is_retransmitted, uint64_t fack,
                 Microseconds now_us) {
    const Microseconds rtt_us = now_us - sent_us;
    if (is_retransmitted and rtt_us < least_rtt_us_) return;  // the original was delivered
    if (not is_retransmitted) {
      least_rtt_us_ = std::min(least_rtt_us_, rtt_us);
      has_reordering_ = has_reordering_ or number < fack;
    }
    rtt_us_ = rtt_us;
    if (is_after(sent_us, number, sent_us_, number_)) {
      sent_us_ = sent_us;
      number_ = number;
    }
  }

  // Step 4: how much later than another a segment may arrive that was sent before it. None, if
  // nothing has been reordered yet and losses are certain: in recovery, and after three duplicates.
  Microseconds window_us(bool is_loss_certain, Microseconds smoothed_rtt_us) const {
    if (is_loss_certain and not has_reordering_) return 0;
    return std::min(least_rtt_us_ / 4, smoothed_rtt_us);
  }

  // Step 5: whether all that was delivered had been sent before; whether something sent later has
  // been delivered; and when a segment is late.
  bool was_sent_before(Microseconds sent_us) const { return sent_us_ < sent_us; }
  bool was_overtaken(uint64_t number, Microseconds sent_us) const {
    return is_after(sent_us_, number_, sent_us, number);
  }
  Microseconds due_us(Microseconds sent_us, Microseconds window_us) const {
    return sent_us + rtt_us_ + window_us;
  }

 private:
  static bool is_after(Microseconds first_us, uint64_t first, Microseconds second_us,
                       uint64_t second) {
    return first_us > second_us or (first_us == second_us and first > second);
  }

  // Of the segment sent last, of all that were delivered; and the last RTT.
  Microseconds sent_us_ = -1;
  uint64_t number_ = 0;
  Microseconds rtt_us_ = 0;

  Microseconds least_rtt_us_ = std::numeric_limits<Microseconds>::max();
  bool has_reordering_ = false;
};

}  // namespace kneepoint
