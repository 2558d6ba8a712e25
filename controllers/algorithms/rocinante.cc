// Rocinante: a delay threshold that follows the moving average of the RTT. Report 001 D and E.
#include <algorithm>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Rocinante final : public Windowed {
 public:
  explicit Rocinante(Parameters& parameters)
      : Windowed(parameters, 25),
        alpha_(parameters.real("alpha", 2, {.low = 0.1, .high = 10, .scale = Scale::log},
                               "packets/RTT", "increase: alpha/cwnd per ACK that is not late")),
        beta_(parameters.real("beta", 5, {.low = 0.1, .high = 50, .scale = Scale::log},
                              "packets/RTT", "decrease: beta/cwnd per late ACK")),
        rtt_allowance_(parameters.real("rtt_allowance", 1.4, {.low = 1, .high = 3}, "1",
                                       "an RTT above this times the average is late")),
        ewma_weight_(parameters.real("ewma_weight", 0.01,
                                     {.low = 0.001, .high = 0.5, .max = 1, .scale = Scale::log},
                                     "1", "weight of a new RTT in the average")) {}

  void on_ack(const Ack& ack) override {
    const auto rtt_ms = static_cast<double>(ack.rtt_ms());
    recent_rtt_ms_.add(rtt_ms, samples_++, span_ - 1);
    average_ms_ = ewma_weight_ * rtt_ms + (1 - ewma_weight_) * average_ms_;
    if (rtt_ms > rtt_allowance_ * average_ms_) {
      cwnd_ = std::max(1.0, cwnd_ - beta_ / cwnd_);
      average_ms_ = recent_rtt_ms_.best();
    } else {
      cwnd_ += alpha_ / cwnd_;
    }
  }

 private:
  static constexpr double span_ = 2000;

  double alpha_;
  double beta_;
  double rtt_allowance_;
  double ewma_weight_;
  double average_ms_ = 50;
  double samples_ = 0;
  WindowedMin recent_rtt_ms_{};  // by samples
};

const Registration<Rocinante> registration{
    "rocinante", "a delay threshold relative to the moving average of the RTT", "report 001 D, E"};

}  // namespace
}  // namespace kneepoint
