// A TCP sender's recovery from losses, and how much it may send meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kneepoint {

// Fast recovery (RFC 5681), in which SACK (RFC 6675) or NewReno (RFC 6582) selects the segments to
// send; or slow start after a timeout. Both last until all segments are acknowledged that were
// outstanding when they began.
class Recovery {
 public:
  explicit Recovery(bool in_proportion) : in_proportion_(in_proportion) {}

  bool is_fast() const { return is_fast_; }
  bool is_repairing(uint64_t una) const { return una < end_; }
  bool has_window() const { return is_fast_ and in_proportion_; }

  void begin(uint64_t next, uint64_t window_packets) {
    *this = Recovery(in_proportion_);
    is_fast_ = true;
    end_ = next;
    flight_ = window_packets;
  }
  void timed_out(uint64_t next) {
    is_fast_ = false;
    end_ = next;
  }
  void undone() {
    is_fast_ = false;
    end_ = 0;
  }
  void acknowledged(uint64_t una) { is_fast_ = is_fast_ and is_repairing(una); }

  void sent() { ++out_; }

  // Whether it has sent the last segment again (RFC 6675, NextSeg, rule 4).
  bool has_rescued() const { return has_rescued_; }
  void rescued() { has_rescued_ = true; }

  // Proportional rate reduction, RFC 6937, section 3.1, with the slow start reduction bound of
  // Linux: one packet more only for an acknowledgment that moves the left edge and reveals no loss.
  void delivered(uint64_t count, bool is_clean, uint64_t in_flight, uint64_t ssthresh) {
    if (count == 0) return;
    delivered_ += count;
    uint64_t may_send = 0;
    if (in_flight > ssthresh) {
      const uint64_t due = (delivered_ * ssthresh + flight_ - 1) / flight_;
      may_send = due - std::min(due, out_);
    } else {
      const uint64_t owed = delivered_ - std::min(delivered_, out_);
      may_send = std::min(ssthresh - in_flight, std::max(owed, count) + is_clean);
    }
    if (out_ == 0) may_send = std::max<uint64_t>(may_send, 1);  // the fast retransmission
    window_ = in_flight + may_send;
  }
  uint64_t window_packets() const { return window_; }

 private:
  bool in_proportion_;
  bool is_fast_ = false;
  bool has_rescued_ = false;
  uint64_t end_ = 0;
  // RFC 6937's RecoverFS, prr_delivered and prr_out, in packets; and the window that follows.
  uint64_t flight_ = 1;
  uint64_t delivered_ = 0;
  uint64_t out_ = 0;
  uint64_t window_ = 0;
};

}  // namespace kneepoint
