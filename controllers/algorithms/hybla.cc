// Hybla: a connection with a long RTT grows as a connection with an RTT of rtt0_ms would. Caini,
// Firrincieli: TCP Hybla, International Journal of Satellite Communications and Networking 22,
// 2004, section 4: rho = RTT/RTT0; an acknowledgment adds 2^rho - 1 in slow start, rho^2/cwnd after
// it. The window is at least rho packets as soon as an RTT is known.
#include <algorithm>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"
#include "common/portable_math.hh"

namespace kneepoint {
namespace {

class Hybla final : public SlowStarting {
 public:
  explicit Hybla(Parameters& parameters)
      : SlowStarting(parameters, 1),
        rtt0_ms_(parameters.real("rtt0_ms", 25,
                                 {.low = 5, .high = 200, .min = 1, .scale = Scale::log}, "ms",
                                 "RTT of the connection whose rate it matches")),
        beta_(parameters.real("beta", 0.5, {.low = 0.2, .high = 0.9, .max = 1}, "1",
                              "share of the window that a loss leaves")),
        follows_rtt_(parameters.flag("follow_rtt",
                                     "1: rho is of the smoothed RTT, as in the paper; 0: of the "
                                     "minimum smoothed RTT, as in Linux")) {}

  void on_ack(const Ack& ack) override {
    if (measures_rtt(ack)) measure(rtt_ms(ack));
    if (ack.is_recovering or not ack.is_cwnd_limited) return;
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    if (cwnd_ < ssthresh_) {
      cwnd_ = std::min(cwnd_ + acknowledged * slow_start_step_, ssthresh_);
    } else {
      cwnd_ += acknowledged * rho_ * rho_ / cwnd_;
    }
    cwnd_ = std::min(cwnd_, widest_window);
  }

 private:
  void reduce(const Loss& loss) override {
    ssthresh_ = std::max(beta_ * cwnd_, 2.0);
    cwnd_ = loss.kind == Loss::Kind::timed_out ? 1 : ssthresh_;
  }

  void measure(double rtt_ms) {
    smoothed_ms_.add(rtt_ms);
    if (not follows_rtt_ and smoothed_ms_.value() >= min_ms_) return;
    const bool is_first = min_ms_ == infinity;
    min_ms_ = smoothed_ms_.value();
    rho_ = std::max(min_ms_ / rtt0_ms_, 1.0);
    if (is_first) cwnd_ = std::max(cwnd_, rho_);
    slow_start_step_ = portable::exp2(std::min(rho_, greatest_exponent_)) - 1;
  }

  static constexpr double greatest_exponent_ = 16;  // as in Linux

  double rtt0_ms_;
  double beta_;
  bool follows_rtt_;
  SmoothedRtt smoothed_ms_{};
  double min_ms_ = infinity;
  double rho_ = 1;
  double slow_start_step_ = 1;
};

const Registration<Hybla> registration{"hybla", "grows like a connection with a short RTT",
                                       "Caini & Firrincieli, IJSCN 2004; Linux"};

}  // namespace
}  // namespace kneepoint
