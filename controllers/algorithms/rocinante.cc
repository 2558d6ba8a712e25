// Rocinante: a delay threshold that follows the moving average of the RTT. Report 001 D and E.
#include <algorithm>
#include <array>
#include <cstddef>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

// The minimum of the last `Span` samples: a queue of candidates of ascending value, each
// younger than the one before it, so that a sample costs constant time on average.
template <size_t Span>
class SlidingMinimum {
 public:
  void add(int64_t sample) {
    if (size_ > 0 and count_ - candidates_[first_].number >= Span) drop_front();
    while (size_ > 0 and candidates_[index(size_ - 1)].value >= sample) --size_;
    candidates_[index(size_++)] = {sample, count_++};
  }
  int64_t least() const { return candidates_[first_].value; }

 private:
  struct Candidate {
    int64_t value;
    uint64_t number;
  };
  size_t index(size_t offset) const { return (first_ + offset) % Span; }
  void drop_front() {
    first_ = index(1);
    --size_;
  }

  std::array<Candidate, Span> candidates_{};
  size_t first_ = 0;
  size_t size_ = 0;
  uint64_t count_ = 0;
};

class Rocinante final : public Controller {
 public:
  explicit Rocinante(Constants& constants)
      : Controller(constants, 25),
        cwnd_(constants.real({.name = "initial_window",
                              .fallback = 10,
                              .low = 1,
                              .high = 50,
                              .least = 1,
                              .unit = "packets",
                              .meaning = "window before the first acknowledgment"})),
        alpha_(constants.real({.name = "alpha",
                               .fallback = 2,
                               .low = 0.1,
                               .high = 10,
                               .scale = Scale::log,
                               .unit = "packets/RTT",
                               .meaning = "increase: alpha/cwnd an ACK that is not late"})),
        beta_(constants.real({.name = "beta",
                              .fallback = 5,
                              .low = 0.1,
                              .high = 50,
                              .scale = Scale::log,
                              .unit = "packets/RTT",
                              .meaning = "decrease: beta/cwnd a late ACK"})),
        rtt_allowance_(constants.real({.name = "rtt_allowance",
                                       .fallback = 1.4,
                                       .low = 1,
                                       .high = 3,
                                       .unit = "1",
                                       .meaning = "an RTT above this times the average is late"})),
        ewma_weight_(constants.real({.name = "ewma_weight",
                                     .fallback = 0.01,
                                     .low = 0.001,
                                     .high = 0.5,
                                     .most = 1,
                                     .scale = Scale::log,
                                     .unit = "1",
                                     .meaning = "weight of a new RTT in the average"})) {}

  double window() const override { return cwnd_; }

  void on_ack(const Ack& ack) override {
    const auto rtt_ms = static_cast<double>(ack.rtt_ms());
    recent_rtt_ms_.add(ack.rtt_ms());
    average_ms_ = ewma_weight_ * rtt_ms + (1 - ewma_weight_) * average_ms_;
    if (rtt_ms > rtt_allowance_ * average_ms_) {
      cwnd_ = std::max(1.0, cwnd_ - beta_ / cwnd_);
      average_ms_ = static_cast<double>(recent_rtt_ms_.least());
    } else {
      cwnd_ += alpha_ / cwnd_;
    }
  }

 private:
  double cwnd_;
  double alpha_;
  double beta_;
  double rtt_allowance_;
  double ewma_weight_;
  double average_ms_ = 50;
  SlidingMinimum<2000> recent_rtt_ms_{};
};

const Registration<Rocinante> registration{
    "rocinante", "a delay threshold relative to the moving average of the RTT", "report 001 D, E"};

}  // namespace
}  // namespace kneepoint
