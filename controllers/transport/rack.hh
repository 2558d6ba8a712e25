// RACK-TLP, RFC 8985: loss detection by the times at which segments were sent, and by probes of the
// tail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "common/time.hh"
#include "transport/loss_detection.hh"
#include "transport/retransmission_timer.hh"

namespace kneepoint {

// The window for reordering does not adapt: no receiver here reports duplicates (D-SACK).
class RackDetection final : public LossDetection {
 public:
  RackDetection(Scoreboard& board, const Recovery& recovery, const RetransmissionTimer& timer)
      : LossDetection(board, recovery), timer_(timer) {}

  Findings acknowledged(const TcpAcknowledgment& ack,
                        const std::vector<Scoreboard::Delivery>& deliveries, bool is_progress,
                        Microseconds now_us) override {
    for (const Scoreboard::Delivery& delivery : deliveries) {
      if (not answers_original(ack, delivery)) learn(delivery, now_us);
    }
    fack_ = board_.highest_sacked();
    const bool was_repaired = hears_of_repair(ack, is_progress);
    return {.calls_for_recovery = calls_for_recovery(now_us), .was_repaired = was_repaired};
  }

  void sent(uint64_t number, Microseconds now_us) override { sent_.push_back({now_us, number}); }
  void recovery_began() override { forget_probe(); }
  void timed_out() override {
    reordering_us_ = never;
    forget_probe();
  }
  // Rebuilds the list, which lacks the segments that were marked lost.
  void undone() override {
    sent_.clear();
    for (uint64_t number = board_.una(); number < board_.next(); ++number) {
      if (not board_.segment(number).is_sacked) {
        sent_.push_back({board_.segment(number).sent_us, number});
      }
    }
    std::ranges::sort(sent_);
  }
  bool may_arrive(Microseconds sent_us, Microseconds now_us) const override {
    return sent_us + rtt_us_ > now_us;
  }

  Microseconds timer_us() const override { return std::min(reordering_us_, probe_us_); }
  Findings timer(Microseconds now_us) override {
    if (reordering_us_ <= now_us) return {.calls_for_recovery = calls_for_recovery(now_us)};
    probe_us_ = never;
    return {.must_probe = true};
  }

  // Section 7.2: probes a tail without known losses, with one probe at a time.
  void plan_probe(Microseconds now_us) override {
    probe_us_ = never;
    const bool is_in_order = board_.highest_sacked() <= board_.una() and not is_repairing();
    if (board_.outstanding() == 0 or not is_in_order or probe_end_ != none_) return;
    const Microseconds smoothed_us = timer_.smoothed_us();
    Microseconds wait_us = smoothed_us < 0 ? 1'000'000 : 2 * smoothed_us;
    if (board_.outstanding() == 1) wait_us += longest_delayed_ack_us_;
    probe_us_ = std::min(now_us + wait_us, timer_.expires_us());
  }
  void probed(bool is_new) override {
    is_probe_new_ = is_new;
    probe_end_ = board_.next() + is_new;
    probe_us_ = never;
  }

 private:
  struct Transmission {
    Microseconds sent_us;
    uint64_t number;
    auto operator<=>(const Transmission&) const = default;
  };

  bool is_repairing() const { return recovery_.is_repairing(board_.una()); }

  // Whether the acknowledgment answers the original of a retransmitted segment, whose sent_us is
  // the time of its last copy.
  static bool answers_original(const TcpAcknowledgment& ack, const Scoreboard::Delivery& delivery) {
    const auto& [number, segment] = delivery;
    return segment.is_retransmitted and number < ack.next_expected and
           ack.echo_us < segment.sent_us;
  }

  // Section 6.2, steps 1 to 3.
  void learn(const Scoreboard::Delivery& delivery, Microseconds now_us) {
    const auto& [number, segment] = delivery;
    const Microseconds rtt_us = now_us - segment.sent_us;
    if (not segment.is_retransmitted) {
      min_rtt_us_ = std::min(min_rtt_us_, rtt_us);
      has_reordering_ = has_reordering_ or number < fack_;
    } else if (rtt_us < min_rtt_us_) {
      return;  // the original was delivered
    }
    rtt_us_ = rtt_us;
    latest_ = std::max(latest_, Transmission{segment.sent_us, number});
  }

  // Step 4: the reordering window, by which a segment may arrive later than a segment sent after
  // it. It is 0 if no packet has been reordered yet and losses are certain: in recovery, and after
  // three duplicates.
  Microseconds window_us() const {
    const bool is_certain = is_repairing() or board_.sacked() >= duplicate_threshold_;
    if (is_certain and not has_reordering_) return 0;
    return std::min(min_rtt_us_ / 4, timer_.smoothed_us());
  }

  // Step 5: late segments are lost, retransmissions too. The list has the order of sending, so that
  // the search ends at the first segment that no delivered segment has overtaken.
  bool find_losses(Microseconds now_us) {
    const Microseconds late_us = rtt_us_ + window_us();
    const uint64_t losses = board_.losses();
    reordering_us_ = never;
    if (board_.highest_sacked() > board_.una())
      probe_us_ = never;  // time detects the losses below it
    for (size_t place = 0; place < sent_.size() and sent_[place].sent_us <= latest_.sent_us;) {
      const Transmission each = sent_[place];
      if (is_out(each) and each < latest_) {
        const Microseconds due_us = each.sent_us + late_us;
        if (due_us > now_us) {
          reordering_us_ = due_us;  // the time of the last such segment remains
        } else {
          board_.mark_lost(each.number);
        }
      }
      if (place == 0 and not is_out(each)) {
        sent_.pop_front();
      } else {
        ++place;
      }
    }
    return board_.losses() > losses;
  }

  // Losses that outlive a recovery concern segments sent during it: as in Linux, they begin another
  // recovery.
  bool calls_for_recovery(Microseconds now_us) {
    return find_losses(now_us) or board_.unrepaired() > 0;
  }

  // Whether this transmission is neither acknowledged, nor lost, nor followed by a retransmission.
  bool is_out(const Transmission& transmission) const {
    if (transmission.number < board_.una()) return false;
    const Scoreboard::Segment& segment = board_.segment(transmission.number);
    return segment.sent_us == transmission.sent_us and not segment.is_sacked and
           not segment.is_lost;
  }

  // Section 7.4: if the probe itself repaired a loss, nothing else reports this loss.
  bool hears_of_repair(const TcpAcknowledgment& ack, bool is_progress) {
    if (ack.next_expected < probe_end_) return false;
    const bool has_repaired = not is_probe_new_ and ack.next_expected > probe_end_;
    const bool came_twice = not is_progress and ack.block_count == 0;
    if (is_probe_new_ or has_repaired or came_twice) probe_end_ = none_;
    return has_repaired;
  }

  void forget_probe() {
    probe_us_ = never;
    probe_end_ = none_;
  }

  static constexpr Microseconds longest_delayed_ack_us_ = 200'000;  // section 7.2
  static constexpr uint64_t none_ = std::numeric_limits<uint64_t>::max();

  const RetransmissionTimer& timer_;
  std::deque<Transmission> sent_{};  // in the order of sending; some are no longer outstanding
  Transmission latest_{-1, 0};       // the delivered transmission that was sent last
  Microseconds rtt_us_ = 0;          // the last
  Microseconds min_rtt_us_ = never;
  bool has_reordering_ = false;
  uint64_t fack_ = 0;                   // highest_sacked() before the last acknowledgment
  Microseconds reordering_us_ = never;  // when late segments count as lost
  Microseconds probe_us_ = never;       // when a probe of the tail is due
  uint64_t probe_end_ = none_;  // the sender's next number when the outstanding probe was sent
  bool is_probe_new_ = false;   // whether it carries new data
};

}  // namespace kneepoint
