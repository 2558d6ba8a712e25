// AIMD whose congestion signal is a late acknowledgment. Report 000 section 2.
#include <algorithm>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class AimdRtt final : public Windowed {
 public:
  explicit AimdRtt(Parameters& parameters)
      : Windowed(parameters, 1000, 2),
        alpha_(parameters.real("alpha", 1, {.low = 0.1, .high = 16, .scale = Scale::log},
                               "packets/RTT", "additive increase: alpha/cwnd per acknowledgment")),
        decrease_factor_(parameters.real("decrease_factor", 0.5,
                                         {.low = 0.1, .high = 0.99, .max = 1}, "1",
                                         "multiplies the window at a late ACK")),
        rtt_limit_ms_(parameters.real("rtt_limit_ms", 200, {.low = 50, .high = 500}, "ms",
                                      "an acknowledgment above it is late")),
        once_per_rtt_(parameters.flag("once_per_rtt",
                                      "1: one decrease for a window of late ACKs; "
                                      "0: one for each")) {}

  void on_sent(uint64_t sequence_number, int64_t) override { next_to_send_ = sequence_number + 1; }

  void on_ack(const Ack& ack) override {
    if (static_cast<double>(ack.rtt_ms()) <= rtt_limit_ms_) {
      cwnd_ += alpha_ / cwnd_;
    } else if (not once_per_rtt_ or ack.sequence_number >= first_after_decrease_) {
      cwnd_ = std::max(1.0, cwnd_ * decrease_factor_);
      first_after_decrease_ = next_to_send_;
    }
  }

 private:
  double alpha_;
  double decrease_factor_;
  double rtt_limit_ms_;
  bool once_per_rtt_;
  uint64_t next_to_send_ = 0;
  uint64_t first_after_decrease_ = 0;
};

const Registration<AimdRtt> registration{
    "aimd_rtt", "AIMD that shrinks its window on every ACK above an RTT limit", "report 000 s2"};

}  // namespace
}  // namespace kneepoint
