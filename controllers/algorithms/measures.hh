// Measurements that rules share: times of events, round trips, windowed extremes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/controller.hh"
#include "common/portable_math.hh"

namespace kneepoint {

inline double now_s(const auto& event) { return static_cast<double>(event.now_us) / 1e6; }

// Whether the acknowledgment has the receiver's time; the two clocks may differ by any constant.
inline bool has_receiver_clock(const Ack& ack) { return ack.received_ms >= 0; }

// Whether the acknowledgment has an RTT sample; rtt_s and rtt_ms require one.
inline bool measures_rtt(const Ack& ack) { return ack.rtt_us >= 0; }
inline double rtt_s(const Ack& ack) { return static_cast<double>(ack.rtt_us) / 1e6; }
// At least one tick of the transport's clock, so that ratios are finite: datagrams report whole
// milliseconds.
inline double rtt_ms(const Ack& ack) {
  const double tick_ms = has_receiver_clock(ack) ? 1 : 1e-3;
  return std::max(static_cast<double>(ack.rtt_us) / 1e3, tick_ms);
}

// The smoothed RTT of RFC 6298, in the unit of its samples; 0 before the first sample.
class SmoothedRtt {
 public:
  void add(double rtt) { value_ = is_known() ? 0.875 * value_ + 0.125 * rtt : rtt; }
  bool is_known() const { return value_ > 0; }
  double value() const { return value_; }

 private:
  double value_ = 0;
};

// Arrivals per ms, with weights that fall by a factor of e in a span. The time before the first
// arrival does not count as silence, and a reordered packet arrives without a silence before it.
class ArrivalRate {
 public:
  double add(double packets, double silence_ms, double span_ms) {
    const double kept = portable::exp(-std::max(silence_ms, 0.0) / span_ms);
    sum_ = sum_ * kept + packets / span_ms;
    weight_ = weight_ * kept + 1 - kept;
    return sum_ / std::max(weight_, 1 / span_ms);
  }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

// Counts round trips: a round ends with the acknowledgment of the first packet sent after it began.
class Rounds {
 public:
  // Returns whether the acknowledgment ends a round and begins the next.
  bool advance(const Ack& ack) {
    if (ack.sequence_number < next_round_) return false;
    begin(ack);
    return true;
  }
  void begin(const Ack& ack) { next_round_ = ack.sequence_number + 1 + ack.in_flight; }

 private:
  uint64_t next_round_ = 0;
};

// The best value of the last `span`, in constant time on average: a ring keeps candidates, each
// later and worse than its predecessor.
template <class IsNoWorse>
class WindowedBest {
 public:
  void add(double value, double now, double span) {
    // Of several values at the same time, only the best matters.
    if (latest_.found == now and is_no_worse_(latest_.value, value)) return;
    insert(value, now, now - span);
  }

  bool is_empty() const { return size_ == 0; }
  double best() const { return best_; }  // 0 if there is none

 private:
  struct Candidate {
    double found;
    double value;
  };

  // Also forgets the candidates found before `oldest`.
  [[gnu::noinline]] void insert(double value, double now, double oldest) {
    while (size_ > 0 and is_no_worse_(value, at(size_ - 1).value)) --size_;
    if (size_ == candidates_.size()) widen();
    latest_ = at(size_++) = {now, value};
    while (at(0).found < oldest) {
      first_ = (first_ + 1) & (candidates_.size() - 1);
      --size_;
    }
    best_ = at(0).value;
  }
  Candidate& at(size_t place) { return candidates_[(first_ + place) & (candidates_.size() - 1)]; }
  void widen() {
    std::rotate(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(first_),
                candidates_.end());
    first_ = 0;
    candidates_.resize(2 * candidates_.size());
  }

  static constexpr IsNoWorse is_no_worse_{};

  std::vector<Candidate> candidates_ = std::vector<Candidate>(16);  // size: a power of two
  size_t first_ = 0;
  size_t size_ = 0;
  Candidate latest_{-1, 0};  // the last candidate
  double best_ = 0;
};

using WindowedMin = WindowedBest<std::less_equal<>>;
using WindowedMax = WindowedBest<std::greater_equal<>>;

}  // namespace kneepoint
