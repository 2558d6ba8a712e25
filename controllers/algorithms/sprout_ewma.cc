// Sprout-EWMA: Sprout with a forecast of the packets that arrive within a horizon at the smoothed
// rate of arrivals. Winstein, Sivaraman, Balakrishnan, NSDI 2013, section 5.3. The sender computes
// the rate instead of the receiver, from the same arrivals, and later by the delay of the return
// path, as the receiver's forecasts would come.
#include <algorithm>

#include "algorithms/receiver_ticks.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class SproutEwma final : public Controller {
 public:
  explicit SproutEwma(Parameters& parameters)
      : Controller(parameters, 100),
        initial_window_(initial_window(parameters)),
        new_share_(parameters.real("new_share", 0.125,
                                   {.low = 0.01, .high = 1, .max = 1, .scale = Scale::log}, "1",
                                   "weight of a tick of 20 ms in the rate")),
        horizon_ticks_(parameters.real("horizon_ms", 100, {.low = 40, .high = 160, .min = 20}, "ms",
                                       "time in which the packets in flight arrive") /
                       ReceiverTicks::tick_ms),
        rate_(initial_window_ / horizon_ticks_) {
    allowance_.forecast(initial_window_);
  }

  double window() const override { return allowance_.packets(); }

  void on_ack(const Ack& ack) override {
    allowance_.hear(ack);
    bool has_news = false;
    ticks_.add(ack, [&](uint64_t packets, bool is_busy) {
      const auto arrived = static_cast<double>(packets);
      if (is_busy or arrived > rate_) rate_ += new_share_ * (arrived - rate_);
      has_news = true;
    });
    if (has_news) allowance_.forecast(std::min(rate_ * horizon_ticks_, widest_window));
  }

 private:
  double initial_window_;
  double new_share_;
  double horizon_ticks_;
  double rate_;  // packets in a tick
  ReceiverTicks ticks_{};
  Allowance allowance_{};
};

const Registration<SproutEwma> registration{
    "sprout_ewma", "the window that the smoothed rate of arrivals carries within a horizon",
    "Winstein, Sivaraman & Balakrishnan, NSDI 2013", needs::receiver_clock | needs::heartbeats};

}  // namespace
}  // namespace kneepoint
