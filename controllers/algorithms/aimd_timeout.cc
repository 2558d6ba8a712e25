// AIMD whose congestion signal is silence: the window is divided when the keepalive fires.
// Report 001 exercise B (keepalive 80 ms); report 002 part B (200 ms).
#include <algorithm>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class AimdTimeout final : public Windowed {
 public:
  explicit AimdTimeout(Parameters& parameters)
      : Windowed(parameters, 80),
        alpha_(parameters.real("alpha", 1, {.low = 0.01, .high = 10, .scale = Scale::log},
                               "packets/RTT", "additive increase: alpha/cwnd per acknowledgment")),
        beta_(parameters.real("beta", 2, {.low = 1.05, .high = 20, .min = 1, .scale = Scale::log},
                              "1", "divisor of the window when the keepalive fires")) {}

  void on_ack(const Ack&) override { cwnd_ += alpha_ / cwnd_; }
  void on_keepalive(const Keepalive&) override { cwnd_ = std::max(1.0, cwnd_ / beta_); }

 private:
  double alpha_;
  double beta_;
};

const Registration<AimdTimeout> registration{
    "aimd_timeout", "AIMD that divides its window after a silence", "reports 001 B, 002 B"};

}  // namespace
}  // namespace kneepoint
