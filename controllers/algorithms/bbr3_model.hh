// What BBR, version 3, knows of a path: draft-ietf-ccwg-bbr, section 5.5.
#pragma once

#include <algorithm>
#include <cmath>

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

  bool is_known() const { return least_s_ < infinity; }
  bool is_stale() const { return is_stale_; }
  double least_s() const { return least_s_; }

 private:
  double least_s_ = infinity;
  double found_s_ = 0;
  double probed_least_s_ = infinity;
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
  void lose(const DeliveryRate& delivery) {
    if (not is_lossy_) {
      round_.begin(delivery);
      lost_ = 0;
    }
    is_lossy_ = true;
    ++ranges_;
    lost_ += delivery.lost();
  }

  // Whether a round ends with it.
  bool learn(const RateSample& sample, const DeliveryRate& delivery) {
    latest_rate_ = std::max(latest_rate_, sample.packets_per_s);
    latest_flight_ = std::max(latest_flight_, delivery.delivered() - sample.delivered_before);
    return ends_round_ = round_.ends(sample, delivery);
  }
  void bound(double rate, double window, double beta) {
    if (not is_lossy_) return;
    rate_ = std::max(latest_rate_, beta * std::min(rate_, rate));
    flight_ = std::max(latest_flight_, beta * std::min(flight_, window));
  }
  void end_round() {
    is_lossy_ = false;
    ranges_ = 0;
    lost_ = 0;
  }
  void advance(const RateSample& sample, const DeliveryRate& delivery) {
    if (not ends_round_) return;
    latest_rate_ = sample.packets_per_s;
    latest_flight_ = delivery.delivered() - sample.delivered_before;
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
  void forget() { rate_ = flight_ = infinity; }

  double rate() const { return rate_; }
  double flight() const { return flight_; }
  double latest_flight() const { return latest_flight_; }
  double lost() const { return lost_; }  // in this round
  int ranges() const { return ranges_; }

 private:
  double rate_ = infinity;
  double flight_ = infinity;
  double latest_rate_ = 0;
  double latest_flight_ = 0;
  double lost_ = 0;
  DeliveryRounds round_{};
  int ranges_ = 0;
  bool is_lossy_ = false;
  bool ends_round_ = false;
};

// The flight that losses allow, and how a probe for more raises it: in each round by twice as much
// as in the one before.
class LongTerm {
 public:
  bool is_known() const { return flight_ < infinity; }
  double flight() const { return flight_; }
  // Less what is left to others.
  double with_headroom(double least) const {
    return is_known() ? std::max(flight_ - std::max(1.0, 0.15 * flight_), least) : infinity;
  }

  void bound(double packets) { flight_ = packets; }
  void reach(double packets) { flight_ = std::max(flight_, packets); }

  void begin_probe() { rounds_ = 0; }
  void steepen(double window) {
    packets_for_one_ = std::max(window / std::exp2(rounds_), 1.0);
    ++rounds_;
  }
  void raise(double acknowledged) { flight_ += acknowledged / packets_for_one_; }
  void end_probe() { packets_for_one_ = infinity; }

 private:
  double flight_ = infinity;
  double packets_for_one_ = infinity;
  double rounds_ = 0;
};

}  // namespace kneepoint
