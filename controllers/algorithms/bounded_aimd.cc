// AIMD below a boundary: the window climbs to it and is divided there. Report 004 exercise B.
//
// The report leaves details open, which are parameters here so that they can be recovered from its
// table: whether alpha is added per ACK or per RTT, the minimum window, an RTT limit; whether the
// last step may lead beyond the boundary (overshoot), and whether a fraction of a packet in the
// window admits one more packet (round_up). The author's published code does both
// (github.com/ngpjunior/tp2).
#include <algorithm>
#include <cmath>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class BoundedAimd final : public Windowed {
 public:
  explicit BoundedAimd(Parameters& parameters)
      : Windowed(parameters, 80, 1, {.low = 1, .high = 20, .min = 1}),
        alpha_(parameters.real("alpha", 0.1, {.low = 0.01, .high = 2, .scale = Scale::log},
                               "packets", "additive increase, per ACK or per RTT (per_rtt)")),
        beta_(parameters.real("beta", 2, {.low = 1, .high = 20, .min = 1, .scale = Scale::log}, "1",
                              "divisor of the window; 1 holds it at the boundary")),
        boundary_window_(parameters.real("boundary_window", 12, {.low = 5, .high = 50, .min = 1},
                                         "packets", "the window never exceeds it")),
        min_window_(parameters.real("min_window", 1, {.low = 1, .high = 5, .min = 1}, "packets",
                                    "the window never falls below it")),
        rtt_limit_ms_(parameters.real("rtt_limit_ms", 10000,
                                      {.low = 60, .high = 1000, .scale = Scale::log}, "ms",
                                      "an RTT above it divides the window, too")),
        per_rtt_(parameters.flag("per_rtt", "1: an ACK adds alpha/cwnd; 0: alpha")),
        overshoot_(parameters.flag("overshoot",
                                   "1: the ACK after the one that reaches the "
                                   "boundary, or exceeds it, divides; 0: that one")),
        round_up_(parameters.flag("round_up",
                                  "1: a fraction of a packet in the window counts as a "
                                  "packet; 0: as none")) {}

  double window() const override { return round_up_ ? std::ceil(cwnd_) : cwnd_; }

  void on_ack(const Ack& ack) override {
    if (static_cast<double>(ack.rtt_ms()) > rtt_limit_ms_) {
      divide();
      return;
    }
    const bool was_at_boundary = cwnd_ >= boundary_window_;
    if (not was_at_boundary) cwnd_ += per_rtt_ ? alpha_ / cwnd_ : alpha_;
    if (not overshoot_) cwnd_ = std::min(cwnd_, boundary_window_);
    if (overshoot_ ? was_at_boundary : cwnd_ >= boundary_window_) divide();
  }

  void on_keepalive(const Keepalive&) override { divide(); }

 private:
  void divide() { cwnd_ = std::max(min_window_, cwnd_ / beta_); }

  double alpha_;
  double beta_;
  double boundary_window_;
  double min_window_;
  double rtt_limit_ms_;
  bool per_rtt_;
  bool overshoot_;
  bool round_up_;
};

const Registration<BoundedAimd> registration{
    "bounded_aimd", "AIMD that divides its window at a boundary and after a silence",
    "report 004 s2"};

}  // namespace
}  // namespace kneepoint
