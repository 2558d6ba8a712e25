// The common part of all rules of docs/how-to/evolve-a-rule.md: signals, outputs and parameters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "algorithms/controller.hh"
#include "algorithms/measures.hh"

namespace kneepoint {

// Defaults of a rule's parameters.
struct RuleDefaults {
  double widest_window = 600;
  double initial_window = 20;
  double keepalive_ms = 1000;
};

class RuleController : public Controller {
 public:
  double window() const override { return window_; }
  double keepalive_ms() const override { return keepalive_ms_; }
  double pacing_us() const override { return gap_us_; }

  void on_ack(const Ack& ack) override {
    hear(ack);
    perform();
  }

 protected:
  explicit RuleController(Parameters& parameters, const RuleDefaults& defaults = {})
      : Controller(parameters, defaults.keepalive_ms),
        widest_window_(parameters.real(
            "widest_window", defaults.widest_window,
            {.low = 100, .high = 10000, .min = 2, .max = widest_window, .scale = Scale::log},
            "packets", "upper bound of w; the lower bound is 2")),
        w_(parameters.real("initial_window", defaults.initial_window,
                           {.low = 1, .high = 100, .min = 1}, "packets",
                           "w before the first acknowledgment")) {}

  // Computes the window, and the rule's other outputs, from the signals.
  virtual void perform() = 0;

  void set_w(double packets) { w_ = std::min(std::max(packets, min_window), widest_window_); }
  // NaN stays NaN, and fails the run.
  void set_window(double packets) { window_ = packets < min_window ? min_window : packets; }
  void set_pace(double packets_per_ms) {
    gap_us_ = std::clamp(1000 / packets_per_ms, 0.0, longest_gap_us);
  }
  void set_keepalive(double ms) { keepalive_ms_ = std::max(1.0, ms); }

  // Functions with a memory.
  static double ewma(double& memory, double value, double share) {
    return memory += share * (value - memory);
  }
  static double change(double& memory, double value) {
    return value - std::exchange(memory, value);
  }
  double rate(ArrivalRate& memory, double span_s) const {
    return memory.add(1, silence_, 1000 * span_s);
  }

  static constexpr double min_window = 2;
  const double widest_window_;
  double owd_ = 0;
  double rtt_ = 0;
  double min_rtt_ = 0;
  double silence_ = 0;
  double flight_ = 0;
  double w_;

 private:
  void hear(const Ack& ack) {
    const auto owd_ms = static_cast<double>(ack.received_ms - ack.sent_ms);
    const double rtt_ms = kneepoint::rtt_ms(ack);
    min_owd_ms_ = std::min(min_owd_ms_, owd_ms);
    min_rtt_ = has_heard_ ? std::min(min_rtt_, rtt_ms) : rtt_ms;
    owd_ = owd_ms - min_owd_ms_;
    rtt_ = rtt_ms - min_rtt_;
    // A packet that was overtaken adds no silence.
    const int64_t before_ms = has_heard_ ? last_ms_ : ack.received_ms;
    last_ms_ = std::max(before_ms, ack.received_ms);
    silence_ = static_cast<double>(last_ms_ - before_ms);
    flight_ = static_cast<double>(ack.in_flight);
    has_heard_ = true;
  }

  static constexpr double longest_gap_us = 1e6;

  double window_ = w_;
  double keepalive_ms_ = Controller::keepalive_ms();
  double gap_us_ = 0;
  double min_owd_ms_ = infinity;
  bool has_heard_ = false;
  int64_t last_ms_ = 0;
};

}  // namespace kneepoint
