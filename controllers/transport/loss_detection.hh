// Loss detection of a TCP sender: by duplicate acknowledgments, or by time (rack.hh).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/time.hh"
#include "transport/recovery.hh"
#include "transport/scoreboard.hh"

namespace kneepoint {

// It marks lost segments in its sender's scoreboard; the sender reports events to it.
class LossDetection {
 public:
  struct Findings {
    bool calls_for_recovery = false;  // unless a recovery is under way
    bool was_repaired = false;        // a probe has repaired a loss that nothing else reveals
    bool must_probe = false;          // a probe of the tail is due
  };

  // The scoreboard and the recovery must outlive the detection.
  LossDetection(Scoreboard& board, const Recovery& recovery) : board_(board), recovery_(recovery) {}
  LossDetection(const LossDetection&) = delete;
  LossDetection& operator=(const LossDetection&) = delete;
  virtual ~LossDetection() = default;

  // The scoreboard has taken an acknowledgment, which newly reports `deliveries`.
  virtual Findings acknowledged(const TcpAcknowledgment& ack,
                                const std::vector<Scoreboard::Delivery>& deliveries,
                                bool is_progress, Microseconds now_us) = 0;

  virtual void sent(uint64_t /* number */, Microseconds /* now_us */) {}
  virtual void recovery_began() {}
  virtual void timed_out() {}
  virtual void undone() {}
  // Whether a segment sent at `sent_us` may still arrive although the retransmission timer has
  // expired.
  virtual bool may_arrive(Microseconds /* sent_us */, Microseconds /* now_us */) const {
    return false;
  }

  // The detection's own timer.
  virtual Microseconds timer_us() const { return never; }
  virtual Findings timer(Microseconds /* now_us */) { return {}; }

  // Plans a probe, no later than the retransmission timer. Then probed(): a probe leaves, with new
  // data or the last segment again.
  virtual void plan_probe(Microseconds /* now_us */) {}
  virtual void probed(bool /* is_new */) {}

 protected:
  static constexpr uint64_t duplicate_threshold_ = 3;

  Scoreboard& board_;
  const Recovery& recovery_;
};

// RFC 6675: a segment is lost if three segments above it are sacked. RFC 6582: if three duplicate
// acknowledgments have arrived.
class DuplicateDetection final : public LossDetection {
 public:
  using LossDetection::LossDetection;

  Findings acknowledged(const TcpAcknowledgment&, const std::vector<Scoreboard::Delivery>&,
                        bool is_progress, Microseconds) override {
    examined_ = std::max(examined_, board_.una());
    uint64_t above = 0;
    uint64_t number = board_.highest_sacked();
    while (number > examined_ and above < duplicate_threshold_) {
      above += board_.segment(--number).is_sacked;
    }
    if (above == duplicate_threshold_) {
      for (; examined_ < number; ++examined_) board_.mark_original_lost(examined_);
    }
    if (is_progress and not recovery_.is_fast()) board_.forget_duplicates();
    const uint64_t first = board_.una();
    if (board_.duplicates() == duplicate_threshold_ and not recovery_.is_repairing(first)) {
      board_.mark_original_lost(first);
    }
    return {.calls_for_recovery = board_.outstanding() > 0 and board_.segment(first).is_lost};
  }

 private:
  uint64_t examined_ = 0;  // below it, losses are marked
};

}  // namespace kneepoint
