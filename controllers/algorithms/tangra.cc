// TANGRA: a target RTT relative to the min RTT, and a correction proportional to the distance
// from the target. Report 002 part D3. The step sizes are not in the report; they are parameters to
// be fitted.
#include <algorithm>

#include "algorithms/registry.hh"
#include "algorithms/rtt_estimate.hh"

namespace kneepoint {
namespace {

class Tangra final : public Windowed {
 public:
  explicit Tangra(Parameters& parameters)
      : Windowed(parameters, 1000),
        t_(parameters.real("t", 1.4, {.low = 1.05, .high = 2.5, .min = 1}, "1",
                           "target RTT, as a multiple of the min RTT")),
        t_bound_(parameters.real("t_bound", 1.6, {.low = 1.1, .high = 3, .min = 1}, "1",
                                 "the small decrease begins above this multiple")),
        t_high_(parameters.real("t_high", 1.8, {.low = 1.2, .high = 4, .min = 1}, "1",
                                "the large decrease begins above this multiple")),
        increase_(parameters.real("increase", 5, {.low = 0.1, .high = 100, .scale = Scale::log},
                                  "packets/RTT", "increase at one min RTT below the target")),
        small_decrease_(parameters.real("small_decrease", 5,
                                        {.low = 0.1, .high = 100, .scale = Scale::log},
                                        "packets/RTT", "small decrease at one min RTT above")),
        large_decrease_(parameters.real("large_decrease", 20,
                                        {.low = 0.1, .high = 100, .scale = Scale::log},
                                        "packets/RTT", "large decrease at one min RTT above")),
        rtt_(parameters, 0.7) {}

  void on_ack(const Ack& ack) override {
    rtt_.add(ack);
    const double ratio = rtt_.smoothed_ms() / rtt_.min_ms();
    cwnd_ = std::max(1.0, cwnd_ + step(ratio) * (t_ - ratio) / cwnd_);
  }

 private:
  double step(double ratio) const {
    if (ratio > t_high_) return large_decrease_;
    if (ratio > t_bound_) return small_decrease_;
    if (ratio >= t_) return 0;
    return increase_;
  }

  double t_;
  double t_bound_;
  double t_high_;
  double increase_;
  double small_decrease_;
  double large_decrease_;
  RttEstimate rtt_;
};

const Registration<Tangra> registration{
    "tangra", "corrects its window in proportion to the distance from a target RTT",
    "report 002 D3"};

}  // namespace
}  // namespace kneepoint
