// The state of all segments that a TCP sender has sent: the scoreboard of RFC 6675.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "common/time.hh"
#include "transport/tcp.hh"

namespace kneepoint {

class Scoreboard {
 public:
  // A segment that is not acknowledged cumulatively.
  struct Segment {
    Microseconds sent_us;  // for the last time
    bool is_sacked = false;
    bool is_lost = false;  // and was not sent again since
    bool is_retransmitted = false;
    bool was_lost = false;
    uint32_t run = 0;  // if sacked: the number of segments from it on known to be sacked
  };
  // A segment whose delivery an acknowledgment newly reports, cumulatively or by SACK.
  struct Delivery {
    uint64_t number;
    Segment segment;
  };

  explicit Scoreboard(bool has_sack) : has_sack_(has_sack) {}

  uint64_t una() const { return una_; }    // the first number not acknowledged
  uint64_t next() const { return next_; }  // the next number to be sent for the first time
  uint64_t outstanding() const { return next_ - una_; }
  uint64_t in_flight() const { return in_flight_; }            // pipe: neither delivered nor lost
  uint64_t sacked() const { return sacked_; }                  // segments above una
  uint64_t highest_sacked() const { return highest_sacked_; }  // one beyond it, at least una
  uint64_t losses() const { return losses_; }                  // marked so far
  uint64_t unrepaired() const { return unrepaired_; }          // of these, not yet delivered
  uint64_t duplicates() const { return duplicates_; }
  // All delivered segments; without SACK each duplicate stands for one segment.
  uint64_t delivered() const { return una_ + (has_sack_ ? sacked_ : duplicates_); }
  const Segment& segment(uint64_t number) const { return segments_[number - una_]; }

  // Whether new data fits the window. RFC 6582, without SACK, inflates the window by every
  // duplicate: each duplicate means that a segment has left the network.
  bool has_room(uint64_t window_packets) const {
    return has_sack_ ? in_flight_ < window_packets : outstanding() < window_packets + duplicates_;
  }

  // Sends the next segment; returns its number.
  uint64_t send(Microseconds now_us) {
    segments_.push_back({.sent_us = now_us});
    ++in_flight_;
    return next_++;
  }

  // Retransmits a segment, which then counts once, as this copy.
  void send_again(uint64_t number, Microseconds now_us) {
    in_flight_ += at(number).is_lost;
    at(number) = {
        .sent_us = now_us, .is_retransmitted = true, .was_lost = segment(number).was_lost};
  }

  // Takes an acknowledgment; returns the newly delivered segments, valid until the next call.
  const std::vector<Delivery>& take(const TcpAcknowledgment& ack) {
    deliveries_.clear();
    const bool is_duplicate = ack.next_expected == una_ and next_ > una_;
    take_cumulative(ack.next_expected);
    if (has_sack_) {
      take_blocks(ack);
    } else if (is_duplicate) {
      ++duplicates_;
    } else if (not deliveries_.empty()) {
      // Duplicates take the place of SACK: each has reported a segment before. The window deflates
      // by their number.
      const uint64_t known = std::min<uint64_t>(duplicates_, deliveries_.size() - 1);
      deliveries_.resize(deliveries_.size() - known);
      duplicates_ -= known;
    }
    return deliveries_;
  }

  void forget_duplicates() { duplicates_ = 0; }

  void mark_lost(uint64_t number) {
    unrepaired_ += not at(number).was_lost;
    at(number).is_lost = at(number).was_lost = true;
    --in_flight_;
    ++losses_;
    lost_.push(number);
  }

  // No segment is lost any more: all are in flight.
  void unmark() {
    for (Segment& segment : segments_) {
      in_flight_ += segment.is_lost;
      segment.is_lost = segment.was_lost = false;
    }
    unrepaired_ = 0;
  }

  // Marks a segment lost unless it is sacked, lost or retransmitted: only RACK detects lost
  // retransmissions.
  void mark_original_lost(uint64_t number) {
    const Segment& each = segment(number);
    if (not each.is_sacked and not each.is_lost and not each.is_retransmitted) mark_lost(number);
  }

  // NextSeg, rules 1, 3 and 4: the first lost segment; the first segment below the highest sacked
  // segment that was sent once; and the last segment that is not sacked.
  std::optional<uint64_t> first_lost() {
    while (not lost_.empty() and (lost_.top() < una_ or not at(lost_.top()).is_lost)) lost_.pop();
    return lost_.empty() ? std::nullopt : std::optional{lost_.top()};
  }
  std::optional<uint64_t> first_doubtful() {
    uint64_t& number = undoubted_ = std::max(undoubted_, una_);
    while (number < highest_sacked_ and (at(number).is_sacked or at(number).is_retransmitted)) {
      ++number;
    }
    return number < highest_sacked_ ? std::optional{number} : std::nullopt;
  }
  uint64_t last_unsacked() const {
    uint64_t number = next_ - 1;
    while (segment(number).is_sacked) --number;
    return number;
  }

 private:
  Segment& at(uint64_t number) { return segments_[number - una_]; }

  void take_cumulative(uint64_t next_expected) {
    for (; una_ < next_expected; ++una_) {
      if (segments_.front().is_sacked) {
        --sacked_;
      } else {
        deliver(una_, segments_.front());
      }
      segments_.pop_front();
    }
    highest_sacked_ = std::max(highest_sacked_, una_);
  }

  void take_blocks(const TcpAcknowledgment& ack) {
    for (size_t i = 0; i < ack.block_count; ++i) {
      sack(std::max(ack.blocks[i].begin, una_), std::min(ack.blocks[i].end, next_));
    }
  }

  // Blocks grow, and are reported again and again: the known part of a block is skipped.
  void sack(uint64_t begin, uint64_t end) {
    for (uint64_t number = begin; number < end;) {
      Segment& segment = at(number);
      if (segment.is_sacked) {
        number += segment.run;
        continue;
      }
      segment.is_sacked = true;
      segment.run = 1;
      ++sacked_;
      deliver(number++, segment);
      segment.is_lost = false;
    }
    if (begin >= end) return;
    at(begin).run = std::max(at(begin).run, static_cast<uint32_t>(end - begin));
    highest_sacked_ = std::max(highest_sacked_, end);
  }

  void deliver(uint64_t number, const Segment& segment) {
    in_flight_ -= not segment.is_lost;
    unrepaired_ -= segment.was_lost;
    deliveries_.push_back({number, segment});
  }

  bool has_sack_;
  std::deque<Segment> segments_{};  // from una to next
  uint64_t una_ = 0;
  uint64_t next_ = 0;
  uint64_t in_flight_ = 0;
  uint64_t sacked_ = 0;
  uint64_t highest_sacked_ = 0;
  uint64_t losses_ = 0;
  uint64_t unrepaired_ = 0;
  uint64_t duplicates_ = 0;  // without SACK: duplicates that no acknowledgment covers yet
  std::vector<Delivery> deliveries_{};
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>>
      lost_{};              // some were delivered or retransmitted
  uint64_t undoubted_ = 0;  // below it, all are sacked or retransmitted
};

}  // namespace kneepoint
