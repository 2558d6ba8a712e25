// Vegas: once in a round trip the window moves by a packet towards a queue of alpha to beta
// packets. Brakmo, Peterson: TCP Vegas, IEEE JSAC 13(8), 1995, sections 3.3 and 3.4; as in Linux
// (net/ipv4/tcp_vegas.c) unless a flag says otherwise.
#include <algorithm>
#include <cmath>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"
#include "algorithms/whole_window.hh"

namespace kneepoint {
namespace {

class Vegas final : public SlowStarting {
 public:
  explicit Vegas(Parameters& parameters)
      : SlowStarting(parameters),
        alpha_(parameters.real("alpha", 2, {.low = 0.5, .high = 20, .scale = Scale::log}, "packets",
                               "a shorter queue lets the window grow")),
        beta_(parameters.real("beta", 4, {.low = 1, .high = 40, .scale = Scale::log}, "packets",
                              "a longer queue lets the window shrink")),
        gamma_(parameters.real("gamma", 1, {.low = 0.5, .high = 20, .scale = Scale::log}, "packets",
                               "a longer queue ends slow start")),
        divides_by_rtt_(
            parameters.flag("divide_by_rtt",
                            "1: the queue is cwnd (RTT - min RTT)/RTT, as in the paper; "
                            "0: cwnd (RTT - min RTT)/(min RTT), as in Linux")),
        has_slow_slow_start_(parameters.flag("every_other_round",
                                             "1: slow start doubles in every other round trip, as "
                                             "in the paper; 0: in each, as in Linux")),
        has_whole_packets_(
            parameters.flag("whole_packets", "computes in whole packets, as Linux does")) {
    if (has_whole_packets_) cwnd_ = std::floor(cwnd_);
  }

  void on_ack(const Ack& ack) override {
    if (measures_rtt(ack)) {
      min_ms_ = std::min(min_ms_, rtt_ms(ack));
      round_min_ms_ = std::min(round_min_ms_, rtt_ms(ack));
      ++samples_;
    }
    // As in Linux, a new round begins when a recovery has ended.
    if (ack.is_recovering) return begin_round(ack);
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    if (not rounds_.advance(ack)) {
      if (cwnd_ < ssthresh_) slow_start(acknowledged);
      return;
    }
    if (samples_ > 2) {
      end_round(acknowledged);
    } else if (ack.is_cwnd_limited) {
      grow_as_reno(acknowledged);  // fewer samples may all be of delayed acknowledgments
    }
    begin_round(ack);
  }

 private:
  void reduce(const Loss& loss) override {
    ssthresh_ = std::max(has_whole_packets_ ? std::floor(cwnd_ / 2) : cwnd_ / 2, min_window_);
    cwnd_ = ssthresh_;
    if (loss.kind != Loss::Kind::timed_out) return;
    cwnd_ = 1;
    // No packet is in flight: as in Linux (tcp_vegas_cwnd_event), the minima begin anew.
    min_ms_ = round_min_ms_ = infinity;
    samples_ = 0;
  }

  void begin_round(const Ack& ack) {
    rounds_.begin(ack);
    round_min_ms_ = infinity;
    samples_ = 0;
    grows_now_ = not grows_now_;
  }

  void slow_start(double acknowledged) {
    if (has_slow_slow_start_ and not grows_now_) return;
    cwnd_ = std::min(cwnd_ + acknowledged, ssthresh_);
  }

  void grow_as_reno(double acknowledged) {
    if (cwnd_ < ssthresh_) return slow_start(acknowledged);
    cwnd_ = has_whole_packets_ ? whole_window_.grow(cwnd_, cwnd_, acknowledged)
                               : cwnd_ + acknowledged / cwnd_;
  }

  // Holds as the window shrinks further, too.
  void stay_out_of_slow_start() { ssthresh_ = std::min(ssthresh_, cwnd_ - 1); }

  void end_round(double acknowledged) {
    const double divisor_ms = divides_by_rtt_ ? round_min_ms_ : min_ms_;
    double queue = cwnd_ * (round_min_ms_ - min_ms_) / divisor_ms;
    double empty = cwnd_ * min_ms_ / round_min_ms_;  // the window that would leave no queue
    if (has_whole_packets_) {
      queue = std::floor(queue);
      empty = std::floor(empty);
    }
    if (cwnd_ < ssthresh_) {
      if (queue <= gamma_) return slow_start(acknowledged);
      cwnd_ = std::min(cwnd_, empty + 1);
      stay_out_of_slow_start();
    } else if (queue > beta_) {
      cwnd_ -= 1;
      stay_out_of_slow_start();
    } else if (queue < alpha_) {
      cwnd_ = std::min(cwnd_ + 1, widest_window);
    }
    cwnd_ = std::max(cwnd_, min_window_);
  }

  static constexpr double min_window_ = 2;

  double alpha_;
  double beta_;
  double gamma_;
  bool divides_by_rtt_;
  bool has_slow_slow_start_;
  bool has_whole_packets_;
  Rounds rounds_{};
  WholeWindow whole_window_{};
  double min_ms_ = infinity;
  double round_min_ms_ = infinity;
  int samples_ = 0;
  bool grows_now_ = true;
};

const Registration<Vegas> registration{"vegas", "keeps alpha to beta packets in the queue",
                                       "Brakmo & Peterson, JSAC 1995; Linux"};

}  // namespace
}  // namespace kneepoint
