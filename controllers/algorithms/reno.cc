// TCP's standard congestion control, RFC 5681: slow start and congestion avoidance. The transport
// detects and retransmits losses.
#include <algorithm>
#include <cmath>

#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"
#include "algorithms/whole_window.hh"

namespace kneepoint {
namespace {

class Reno final : public SlowStarting {
 public:
  explicit Reno(Parameters& parameters)
      : SlowStarting(parameters),
        alpha_(parameters.real("alpha", 1, {.low = 0.1, .high = 4, .scale = Scale::log},
                               "packets/RTT", "additive increase in congestion avoidance")),
        beta_(parameters.real("beta", 0.5, {.low = 0.2, .high = 0.9, .max = 1}, "1",
                              "share of the packets in flight that a loss leaves")),
        has_whole_packets_(
            parameters.flag("whole_packets", "computes in whole packets, as Linux does")) {
    if (has_whole_packets_) cwnd_ = std::floor(cwnd_);
  }

  void on_ack(const Ack& ack) override {
    if (ack.is_recovering or not ack.is_cwnd_limited) return;
    auto acknowledged = static_cast<double>(ack.acknowledged);
    if (cwnd_ < ssthresh_) {
      const double room = ssthresh_ - cwnd_;
      cwnd_ += std::min(acknowledged, room);
      acknowledged -= std::min(acknowledged, room);
    }
    const double grown =
        has_whole_packets_ ? whole_window_.grow(cwnd_, std::max(cwnd_ / alpha_, 1.0), acknowledged)
                           : cwnd_ + alpha_ * acknowledged / cwnd_;
    cwnd_ = std::min(grown, widest_window);
  }

 private:
  void reduce(const Loss& loss) override {
    const auto in_flight = static_cast<double>(loss.in_flight);
    // Linux uses the window, whether or not it is full.
    const double left =
        has_whole_packets_ ? std::floor(beta_ * cwnd_) : beta_ * std::min(in_flight, cwnd_);
    ssthresh_ = std::max(left, 2.0);
    whole_window_.begin_anew();
    cwnd_ = loss.kind == Loss::Kind::timed_out ? 1 : ssthresh_;
  }

  double alpha_;
  double beta_;
  bool has_whole_packets_;
  WholeWindow whole_window_{};
};

const Registration<Reno> registration{"reno", "TCP Reno: AIMD with slow start", "RFC 5681"};

}  // namespace
}  // namespace kneepoint
