// What rules measure: the times of an event, round trips, extremes over the last while.
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

// The clocks of both ends may differ by any constant.
inline bool has_receiver_clock(const Ack& ack) { return ack.received_ms >= 0; }

// Of an acknowledgment that measures one.
inline bool measures_rtt(const Ack& ack) { return ack.rtt_us >= 0; }
inline double rtt_s(const Ack& ack) { return static_cast<double>(ack.rtt_us) / 1e6; }
// At least a tick of the transport's clock, so that ratios exist: datagrams tell whole
// milliseconds.
inline double rtt_ms(const Ack& ack) {
  const double tick_ms = has_receiver_clock(ack) ? 1 : 1e-3;
  return std::max(static_cast<double>(ack.rtt_us) / 1e3, tick_ms);
}

// RFC 6298's, in the unit of its samples; 0 before the first.
class SmoothedRtt {
 public:
  void add(double rtt) { value_ = is_known() ? 0.875 * value_ + 0.125 * rtt : rtt; }
  bool is_known() const { return value_ > 0; }
  double value() const { return value_; }

 private:
  double value_ = 0;
};

// Arrivals per ms, with weights that fall by e in a span. What has no history yet does not count as
// silence, and what was overtaken came after none.
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

// Counts round trips: one ends with the acknowledgment of the first packet that left after it
// began.
class Rounds {
 public:
  // Whether a round ends, and the next begins, with it.
  bool advance(const Ack& ack) {
    if (ack.sequence_number < next_round_) return false;
    begin(ack);
    return true;
  }
  void begin(const Ack& ack) { next_round_ = ack.sequence_number + 1 + ack.in_flight; }

 private:
  uint64_t next_round_ = 0;
};

// The best value of the last `span`, in constant time on average: candidates are kept in a ring,
// each later and worse than the one before it.
template <class IsNoWorse>
class WindowedBest {
 public:
  void add(double value, double now, double span) {
    // Of the same time, none but the best will ever matter.
    if (latest_.found == now and is_no_worse_(latest_.value, value)) return;
    insert(value, now, now - span);
  }

  bool is_empty() const { return size_ == 0; }
  double best() const { return best_; }  // 0 of none

 private:
  struct Candidate {
    double found;
    double value;
  };

  // Also forgets those found before a time.
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

  std::vector<Candidate> candidates_ = std::vector<Candidate>(16);  // a power of two of them
  size_t first_ = 0;
  size_t size_ = 0;
  Candidate latest_{-1, 0};  // the last of them
  double best_ = 0;
};

using WindowedMin = WindowedBest<std::less_equal<>>;
using WindowedMax = WindowedBest<std::greater_equal<>>;

}  // namespace kneepoint
