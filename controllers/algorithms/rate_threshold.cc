// A threshold on the queueing delay that follows the rate of arrivals: below it the window grows by
// a constant a round trip, above it it shrinks by a constant an acknowledgment, and what is in
// flight leans towards it. Found by search/rules, and simplified; docs/field.md says how.
#include <algorithm>
#include <limits>
#include <optional>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class RateThreshold final : public Controller {
 public:
  explicit RateThreshold(Constants& constants)
      : Controller(constants, 130),
        cwnd_(constants.real({.name = "initial_window",
                              .fallback = 20,
                              .low = 1,
                              .high = 100,
                              .least = 1,
                              .unit = "packets",
                              .meaning = "window before the first acknowledgment"})),
        window_(cwnd_),
        threshold_ms_(constants.real({.name = "threshold_ms",
                                      .fallback = 40,
                                      .low = 5,
                                      .high = 80,
                                      .least = 0.1,
                                      .scale = Scale::log,
                                      .unit = "ms",
                                      .meaning = "queueing delay to bear at the usual rate"})),
        span_s_(constants.real({.name = "span_s",
                                .fallback = 0.055,
                                .low = 0.02,
                                .high = 2,
                                .least = 0.01,
                                .scale = Scale::log,
                                .unit = "s",
                                .meaning = "memory of the rate"})),
        usual_span_s_(constants.real({.name = "usual_span_s",
                                      .fallback = 20,
                                      .low = 5,
                                      .high = 200,
                                      .least = 0.01,
                                      .scale = Scale::log,
                                      .unit = "s",
                                      .meaning = "memory of the usual rate"})),
        new_share_(constants.real({.name = "new_share",
                                   .fallback = 0.58,
                                   .low = 0.05,
                                   .high = 1,
                                   .most = 1,
                                   .unit = "1",
                                   .meaning = "weight of a new delay in the average"})),
        increase_(constants.real({.name = "increase",
                                  .fallback = 2.9,
                                  .low = 0.3,
                                  .high = 20,
                                  .scale = Scale::log,
                                  .unit = "packets",
                                  .meaning = "growth with a window of acknowledgments"})),
        decrease_(constants.real({.name = "decrease",
                                  .fallback = 0.24,
                                  .low = 0.05,
                                  .high = 0.6,
                                  .scale = Scale::log,
                                  .unit = "packets",
                                  .meaning = "shrinkage with an acknowledgment"})),
        lean_(constants.real({.name = "lean",
                              .fallback = 0.003,
                              .low = 0,
                              .high = 0.3,
                              .unit = "packets/ms",
                              .meaning = "further packets in flight, for each ms below"})),
        silence_factor_(constants.real({.name = "silence_factor",
                                        .fallback = 0.9,
                                        .low = 0.5,
                                        .high = 1,
                                        .most = 1,
                                        .unit = "1",
                                        .meaning = "part of the window that a silence leaves"})),
        loss_factor_(constants.real({.name = "loss_factor",
                                     .fallback = 0.5,
                                     .low = 0.3,
                                     .high = 1,
                                     .most = 1,
                                     .unit = "1",
                                     .meaning = "part that the losses of a round trip leave"})) {}

  double window() const override { return window_; }

  void on_ack(const Ack& ack) override {
    if (not measures_rtt(ack)) return;
    // Without a clock of the receiver, on TCP, the sender's stands for it.
    const bool is_tcp = ack.rtt_us >= 0;
    const double arrived_ms =
        is_tcp ? static_cast<double>(ack.now_us) / 1e3 : static_cast<double>(ack.received_ms);
    const double delay_ms = is_tcp ? rtt_ms(ack) : arrived_ms - static_cast<double>(ack.sent_ms);
    const double silence_ms = arrived_ms - last_ms_.value_or(arrived_ms);
    last_ms_ = arrived_ms;
    least_ms_ = std::min(least_ms_, delay_ms);
    const double queueing_ms = delay_ms - least_ms_;
    average_ms_ += new_share_ * (queueing_ms - average_ms_);
    const auto packets = static_cast<double>(ack.acknowledged);
    const double ratio = rate_.add(packets, silence_ms, 1000 * span_s_) /
                         usual_rate_.add(packets, silence_ms, 1000 * usual_span_s_);
    const double room_ms = threshold_ms_ * ratio - std::max(queueing_ms, average_ms_);
    cwnd_ += room_ms > 0 ? increase_ / cwnd_ : -decrease_;
    cwnd_ = std::clamp(cwnd_, 2.0, 600.0);
    window_ = std::max(2.0, cwnd_ + lean_ * room_ms);
  }

  void on_keepalive(int64_t /* now_ms */) override { keep(silence_factor_); }

  void on_loss(const Loss& /* loss */) override { keep(loss_factor_); }

 private:
  void keep(double part) {
    cwnd_ = std::max(2.0, part * cwnd_);
    window_ = std::max(2.0, part * window_);
  }

  double cwnd_;
  double window_;
  double threshold_ms_;
  double span_s_;
  double usual_span_s_;
  double new_share_;
  double increase_;
  double decrease_;
  double lean_;
  double silence_factor_;
  double loss_factor_;
  double least_ms_ = std::numeric_limits<double>::infinity();
  double average_ms_ = 0;
  ArrivalRate rate_{};
  ArrivalRate usual_rate_{};
  std::optional<double> last_ms_{};
};

const Registration<RateThreshold> registration{
    "rate_threshold", "a delay threshold that follows the rate of arrivals", "search/rules"};

}  // namespace
}  // namespace kneepoint
