// DALIDA: additive steps scaled by the ratio of the average RTT to a target; the window shrinks if
// the average plus several deviations exceeds the target. Deitch, Schaub: an entry of a contest,
// Stanford CS 244, 2016.
#include <algorithm>
#include <cmath>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Dalida final : public Windowed {
 public:
  explicit Dalida(Parameters& parameters)
      : Windowed(parameters, 50, 60, {.low = 1, .high = 100, .min = 1}),
        new_share_(parameters.real("new_share", 0.8, {.low = 0.05, .high = 1, .max = 1}, "1",
                                   "weight of a new RTT in the average")),
        deviation_share_(parameters.real("deviation_share", 0.6, {.low = 0.05, .high = 1, .max = 1},
                                         "1", "weight of a new deviation in its average")),
        target_(parameters.real("target", 1.5, {.low = 1.05, .high = 3, .min = 1}, "1",
                                "target of the RTT, as a multiple of the min RTT")),
        deviations_(parameters.real("deviations", 2, {.low = 0, .high = 4}, "1",
                                    "deviations that must fit below the target")),
        increase_(parameters.real("increase", 1.5, {.low = 0.1, .high = 10, .scale = Scale::log},
                                  "packets/RTT", "increase at the target")),
        decrease_(parameters.real("decrease", 3, {.low = 0.1, .high = 20, .scale = Scale::log},
                                  "packets/RTT", "decrease at the target")),
        silence_factor_(parameters.real("silence_factor", 0.9, {.low = 0.5, .high = 1, .max = 1},
                                        "1", "multiplies the window after a silence")) {}

  double keepalive_ms() const override {
    if (not has_sample_) return Controller::keepalive_ms();
    return std::max(Controller::keepalive_ms(), std::floor(min_ms_));
  }

  void on_ack(const Ack& ack) override {
    if (not measures_rtt(ack)) return;
    const double rtt = rtt_ms(ack);
    min_ms_ = std::min(min_ms_, rtt);
    average_ms_ = has_sample_ ? (1 - new_share_) * average_ms_ + new_share_ * rtt : rtt;
    has_sample_ = true;
    deviation_ms_ =
        (1 - deviation_share_) * deviation_ms_ + deviation_share_ * std::abs(rtt - average_ms_);
    const double target_ms = target_ * min_ms_;
    const double late = average_ms_ / target_ms;
    const bool is_late = average_ms_ + deviations_ * deviation_ms_ > target_ms;
    cwnd_ += (is_late ? -decrease_ * late : increase_ / late) / std::floor(cwnd_);
    cwnd_ = std::clamp(cwnd_, 2.0, widest_window);
  }

  void on_keepalive(const Keepalive&) override { cwnd_ = std::max(2.0, cwnd_ * silence_factor_); }

 private:
  double new_share_;
  double deviation_share_;
  double target_;
  double deviations_;
  double increase_;
  double decrease_;
  double silence_factor_;
  bool has_sample_ = false;
  double min_ms_ = infinity;
  double average_ms_ = 0;
  double deviation_ms_ = 0;
};

const Registration<Dalida> registration{
    "dalida", "scales additive steps by the distance of the average RTT to its target",
    "contest report DALIDA"};

}  // namespace
}  // namespace kneepoint
