// A threshold on the queueing delay that follows the rate of arrivals: below the threshold the
// window grows by a constant in each round trip, above it the window shrinks in proportion to the
// delay, and every ms of delay lets fewer packets in flight. Found by search/rules and simplified,
// as described in docs/field.md.
#include <algorithm>
#include <optional>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "common/portable_math.hh"

namespace kneepoint {
namespace {

class RateThreshold final : public Windowed {
 public:
  explicit RateThreshold(Parameters& parameters)
      : Windowed(parameters, 132, 20, {.low = 1, .high = 100, .min = 1}),
        window_(cwnd_),
        threshold_ms_(parameters.real("threshold_ms", 20,
                                      {.low = 3, .high = 80, .min = 0.1, .scale = Scale::log}, "ms",
                                      "queueing delay that is tolerated at the usual rate")),
        span_s_(parameters.real("span_s", 0.007,
                                {.low = 0.002, .high = 4, .min = 0.001, .scale = Scale::log}, "s",
                                "memory of the rate")),
        usual_span_s_(parameters.real("usual_span_s", 40,
                                      {.low = 2, .high = 200, .min = 0.01, .scale = Scale::log},
                                      "s", "memory of the usual rate")),
        rate_power_(parameters.real("rate_power", 0.97, {.low = 0, .high = 1.5}, "1",
                                    "power of the rate that the threshold follows")),
        fall_share_(parameters.real("fall_share", 0.47, {.low = 0.02, .high = 1, .max = 1}, "1",
                                    "weight of a new delay that is below the previous delays")),
        increase_(parameters.real("increase", 4.3, {.low = 0.3, .high = 20, .scale = Scale::log},
                                  "packets", "growth with a window of acknowledgments")),
        decrease_(parameters.real("decrease", 0.003,
                                  {.low = 0.0005, .high = 0.1, .scale = Scale::log}, "packets/ms",
                                  "shrinkage with an acknowledgment, for each ms")),
        lean_(parameters.real("lean", 0.997, {.low = 0.95, .high = 1, .max = 1}, "1",
                              "part of the window in flight, for each ms")),
        silence_factor_(parameters.real("silence_factor", 0.86, {.low = 0.5, .high = 1, .max = 1},
                                        "1", "part of the window that a silence leaves")),
        loss_factor_(parameters.real("loss_factor", 0.6, {.low = 0.3, .high = 1, .max = 1}, "1",
                                     "part that the losses of a round trip leave")) {}

  double window() const override { return window_; }

  void on_ack(const Ack& ack) override {
    if (not measures_rtt(ack)) return;
    // On TCP, without a clock of the receiver, the sender's clock stands for it.
    const bool is_one_way = has_receiver_clock(ack);
    const double arrived_ms =
        is_one_way ? static_cast<double>(ack.received_ms) : static_cast<double>(ack.now_us) / 1e3;
    const double delay_ms =
        is_one_way ? arrived_ms - static_cast<double>(ack.sent_ms) : rtt_ms(ack);
    const double silence_ms = arrived_ms - last_ms_.value_or(arrived_ms);
    last_ms_ = std::max(last_ms_.value_or(arrived_ms), arrived_ms);
    min_ms_ = std::min(min_ms_, delay_ms);
    const double queueing_ms = delay_ms - min_ms_;
    envelope_ms_ += (queueing_ms > envelope_ms_ ? 1 : fall_share_) * (queueing_ms - envelope_ms_);
    const auto packets = static_cast<double>(ack.acknowledged);
    const double rate = rate_.add(packets, silence_ms, 1000 * span_s_);
    const double usual = usual_rate_.add(packets, silence_ms, 1000 * usual_span_s_);
    // The delay, converted to the usual rate.
    const double usual_ms = envelope_ms_ * portable::pow(usual / rate, rate_power_);
    cwnd_ += usual_ms < threshold_ms_ ? increase_ / cwnd_ : -decrease_ * usual_ms;
    cwnd_ = std::clamp(cwnd_, 2.0, 600.0);
    window_ = std::max(2.0, cwnd_ * portable::pow(lean_, usual_ms));
  }

  void on_keepalive(const Keepalive&) override { keep(silence_factor_); }

  void on_loss(const Loss& /* loss */) override { keep(loss_factor_); }

 private:
  void keep(double part) {
    cwnd_ = std::max(2.0, part * cwnd_);
    window_ = std::max(2.0, part * window_);
  }

  double window_;
  double threshold_ms_;
  double span_s_;
  double usual_span_s_;
  double rate_power_;
  double fall_share_;
  double increase_;
  double decrease_;
  double lean_;
  double silence_factor_;
  double loss_factor_;
  double min_ms_ = infinity;
  double envelope_ms_ = 0;
  ArrivalRate rate_{};
  ArrivalRate usual_rate_{};
  std::optional<double> last_ms_{};
};

const Registration<RateThreshold> registration{
    "rate_threshold", "a delay threshold that follows the rate of arrivals", "search/rules"};

}  // namespace
}  // namespace kneepoint
