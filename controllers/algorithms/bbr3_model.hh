// What BBR, version 3, knows of a path: draft-ietf-ccwg-bbr, section 5.5.
#pragma once

#include <algorithm>
#include <limits>

#include "algorithms/delivery_rate.hh"
#include "algorithms/measures.hh"

namespace kneepoint {

// The least RTT of ten seconds. It wants to be looked for when five have found none as short.
class LeastRtt {
 public:
  void add(double rtt, double now) {
    is_stale_ = is_known() and now > probed_s_ + 5;
    if (rtt < probed_least_s_ or is_stale_) {
      probed_least_s_ = rtt;
      probed_s_ = now;
    }
    if (probed_least_s_ < least_s_ or now > found_s_ + 10) {
      least_s_ = probed_least_s_;
      found_s_ = probed_s_;
    }
  }
  void probed(double now) { probed_s_ = now; }

  bool is_known() const { return least_s_ < never_; }
  bool is_stale() const { return is_stale_; }
  double least_s() const { return least_s_; }

 private:
  static constexpr double never_ = std::numeric_limits<double>::infinity();

  double least_s_ = never_;
  double found_s_ = 0;
  double probed_least_s_ = never_;
  double probed_s_ = 0;
  bool is_stale_ = false;
};

// The most packets that arrived beyond the rate, since when they last arrived below it.
class Aggregation {
 public:
  void add(double acknowledged, double now, double rate, double most, double round, double rounds) {
    double expected = rate * (now - began_s_);
    if (delivered_ <= expected) {
      delivered_ = expected = 0;
      began_s_ = now;
    }
    delivered_ += acknowledged;
    extra_.add(std::min(delivered_ - expected, most), round, rounds);
  }
  double most() const { return extra_.best(); }

 private:
  WindowedMost extra_{};
  double began_s_ = 0;
  double delivered_ = 0;
};

// Losses by rounds, and the bounds that they set until the next probe for more.
class ShortTerm {
 public:
  void lose(double packets, double delivered) {
    if (not is_lossy_) {
      next_round_ = delivered;
      lost_before_ = all_lost_;
    }
    is_lossy_ = true;
    ++ranges_;
    all_lost_ += packets;
  }

  // Whether a round ends with it.
  bool learn(const RateSample& sample, double delivered) {
    latest_rate_ = std::max(latest_rate_, sample.packets_per_s);
    latest_flight_ = std::max(latest_flight_, delivered - sample.delivered_before);
    ends_round_ = sample.delivered_before >= next_round_;
    if (ends_round_) next_round_ = delivered;
    return ends_round_;
  }
  void bound(double rate, double window, double beta) {
    if (not is_lossy_) return;
    rate_ = std::max(latest_rate_, beta * std::min(rate_, rate));
    flight_ = std::max(latest_flight_, beta * std::min(flight_, window));
  }
  void end_round() {
    is_lossy_ = false;
    ranges_ = 0;
    lost_before_ = all_lost_;
  }
  void advance(const RateSample& sample, double delivered) {
    if (not ends_round_) return;
    latest_rate_ = sample.packets_per_s;
    latest_flight_ = delivered - sample.delivered_before;
  }
  void begin() {
    is_lossy_ = false;
    latest_rate_ = latest_flight_ = 0;
  }
  void undo(double rate, double flight) {
    is_lossy_ = false;
    rate_ = std::max(rate_, rate);
    flight_ = std::max(flight_, flight);
  }
  void forget() { rate_ = flight_ = never_; }

  double rate() const { return rate_; }
  double flight() const { return flight_; }
  double latest_flight() const { return latest_flight_; }
  double all_lost() const { return all_lost_; }
  double lost() const { return all_lost_ - lost_before_; }  // in this round
  int ranges() const { return ranges_; }

 private:
  static constexpr double never_ = std::numeric_limits<double>::infinity();

  double rate_ = never_;
  double flight_ = never_;
  double latest_rate_ = 0;
  double latest_flight_ = 0;
  double all_lost_ = 0;
  double lost_before_ = 0;
  double next_round_ = 0;
  int ranges_ = 0;
  bool is_lossy_ = false;
  bool ends_round_ = false;
};

}  // namespace kneepoint
