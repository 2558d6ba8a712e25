// CUBIC, RFC 9438.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "algorithms/cubic_linux.hh"
#include "algorithms/cubic_rfc9438.hh"
#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"

namespace kneepoint {
namespace {

class Cubic final : public SlowStarting {
 public:
  explicit Cubic(Parameters& parameters)
      : SlowStarting(parameters),
        c_(parameters.real("c", 0.4, {.low = 0.05, .high = 4, .min = 1e-6, .scale = Scale::log},
                           "packets/s³",
                           "how steeply the window returns to its value before the loss")),
        beta_(parameters.real("beta", 0.7, {.low = 0.3, .high = 0.9, .min = 0.01, .max = 0.99}, "1",
                              "share of the window that a loss leaves")),
        fast_convergence_(parameters.flag(
            "fast_convergence", "gives way further when losses come earlier than before", true)),
        has_hystart_(parameters.flag("hystart", "leaves slow start when the RTT grows")),
        has_whole_packets_(
            parameters.flag("whole_packets", "computes in whole packets, as Linux does")),
        rfc9438_(c_, beta_),
        linux_(c_, beta_) {
    if (has_whole_packets_) cwnd_ = std::floor(cwnd_);
  }

  void on_ack(const Ack& ack) override {
    if (ack.is_recovering) return;
    if (measures_rtt(ack)) {
      min_rtt_us_ = std::min(min_rtt_us_, ack.rtt_us);
      rtt_s_ = rtt_s(ack);
    }
    // As in Linux, the acknowledgment that ends slow start already counts for congestion avoidance.
    if (has_hystart_ and cwnd_ < ssthresh_ and hystart_.sees_the_end(ack, cwnd_)) ssthresh_ = cwnd_;
    if (not ack.is_cwnd_limited) return;
    if (cwnd_ < ssthresh_) {
      cwnd_ = std::min(cwnd_ + static_cast<double>(ack.acknowledged), ssthresh_);
    } else if (has_whole_packets_) {
      cwnd_ = linux_.grow(cwnd_, w_max_, ack.now_us, min_rtt_us_, ack.acknowledged);
    } else {
      cwnd_ = rfc9438_.grow(cwnd_, w_max_, ack.now_us, rtt_s_, ack.acknowledged);
    }
  }

 private:
  void reduce(const Loss& loss) override {
    // Section 4.7: a flow that lost packets at a smaller window than before leaves room for others.
    w_max_ = fast_convergence_ and cwnd_ < w_max_ ? cwnd_ * (1 + beta_) / 2 : cwnd_;
    ssthresh_ = std::max(cwnd_ * beta_, 2.0);
    if (has_whole_packets_) {
      w_max_ = std::floor(w_max_);
      ssthresh_ = std::floor(ssthresh_);
    }
    linux_.begin_anew();
    rfc9438_.begin_anew(cwnd_);
    if (loss.kind == Loss::Kind::timed_out) {
      w_max_ = 0;  // section 4.8: the next epoch begins with K = 0 at its first window
      cwnd_ = 1;
    } else {
      cwnd_ = ssthresh_;
    }
  }

  double c_;
  double beta_;
  bool fast_convergence_;
  bool has_hystart_;
  HyStart hystart_{};
  bool has_whole_packets_;
  Rfc9438Cubic rfc9438_;
  LinuxCubic linux_;
  int64_t min_rtt_us_ = std::numeric_limits<int64_t>::max();
  double rtt_s_ = 0;
  double w_max_ = 0;
};

const Registration<Cubic> registration{
    "cubic", "CUBIC: returns to the window of the last loss, and beyond", "RFC 9438"};

}  // namespace
}  // namespace kneepoint
