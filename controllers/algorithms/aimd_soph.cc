// AIMDSoph: AIMD whose timeout and speed follow the minimum RTT. Report 002 part D1 calls its
// decrease both "1.5" and "multiply by 0.75"; the factor is a parameter.
#include <algorithm>

#include "algorithms/registry.hh"
#include "algorithms/rtt_estimate.hh"

namespace kneepoint {
namespace {

class AimdSoph final : public Windowed {
 public:
  explicit AimdSoph(Parameters& parameters)
      : Windowed(parameters, 200),
        alpha_(parameters.real("alpha", 2, {.low = 0.05, .high = 10, .scale = Scale::log},
                               "packets/RTT", "additive increase: alpha/cwnd per acknowledgment")),
        decrease_factor_(parameters.real("decrease_factor", 0.75,
                                         {.low = 0.1, .high = 0.99, .max = 1}, "1",
                                         "multiplies the window after a silence")),
        timeout_factor_(parameters.real("timeout_factor", 2, {.low = 1, .high = 5, .min = 0.1}, "1",
                                        "the silence, as a multiple of the min RTT")),
        boost_below_(parameters.real(
            "boost_below", 1.5, {.low = 1, .high = 3}, "1",
            "a smoothed RTT below this multiple of the min RTT doubles the increase")),
        rtt_(parameters, 0.9) {}

  // The parameter keepalive_ms applies until the first RTT sample.
  double keepalive_ms() const override {
    if (not rtt_.has_sample()) return Controller::keepalive_ms();
    return std::max(1.0, timeout_factor_ * rtt_.min_ms());
  }

  void on_ack(const Ack& ack) override {
    rtt_.add(ack);
    cwnd_ += alpha_ / cwnd_;
    if (rtt_.smoothed_ms() < boost_below_ * rtt_.min_ms()) cwnd_ += alpha_ / cwnd_;
  }

  void on_keepalive(const Keepalive&) override { cwnd_ = std::max(1.0, cwnd_ * decrease_factor_); }

 private:
  double alpha_;
  double decrease_factor_;
  double timeout_factor_;
  double boost_below_;
  RttEstimate rtt_;
};

const Registration<AimdSoph> registration{
    "aimd_soph", "AIMD whose silence and speed follow the min RTT", "report 002 D1"};

}  // namespace
}  // namespace kneepoint
