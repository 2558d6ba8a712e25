// LEDBAT: less-than-best-effort transport by a target for the queueing delay. RFC 6817, section
// 2.4. TCP's acknowledgments carry no time of the receiver: on TCP the RTT stands for the one-way
// delay.
#include <algorithm>
#include <cstdint>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Ledbat final : public TimingOut {
 public:
  explicit Ledbat(Parameters& parameters)
      : TimingOut(parameters, 2),
        target_ms_(
            parameters.real("target_ms", 100, {.low = 5, .high = 100, .min = 1}, "ms",
                            "queueing delay that it aims at; the RFC allows no more than 100")),
        gain_(parameters.real("gain", 1, {.low = 0.1, .high = 10, .scale = Scale::log},
                              "packets/RTT",
                              "increase without a queue; the RFC allows no more than 1")),
        filter_(parameters.integer("current_filter", 4, {.low = 1, .high = 16, .min = 1, .max = 64},
                                   "samples",
                                   "number of samples whose minimum is the present delay")),
        history_(parameters.integer("base_history_min", 10,
                                    {.low = 1, .high = 10, .min = 1, .max = 60}, "min",
                                    "time over which the base delay is the minimum")),
        allowed_increase_(
            parameters.real("allowed_increase", 1, {.low = 1, .high = 16}, "packets",
                            "maximum excess of the window over the packets in flight")) {}

  void on_ack(const Ack& ack) override {
    if (measures_rtt(ack)) add_delay(delay_ms(ack), ack.now_us);
    if (ack.is_recovering or present_ms_.is_empty()) return;
    const double queueing_ms = present_ms_.best() - base_ms_.best();
    const double off_target = (target_ms_ - queueing_ms) / target_ms_;
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    cwnd_ += gain_ * off_target * acknowledged / cwnd_;
    const double in_flight_before = static_cast<double>(ack.in_flight) + acknowledged;
    cwnd_ = std::max(std::min(cwnd_, in_flight_before + allowed_increase_), min_window_);
  }

  void on_loss(const Loss& loss) override {
    const double left = std::min(cwnd_, std::max(cwnd_ / 2, min_window_));
    cwnd_ = loss.kind == Loss::Kind::timed_out ? 1 : left;
  }

 private:
  // The offset between the two clocks cancels: the base delay contains it, too.
  static double delay_ms(const Ack& ack) {
    return has_receiver_clock(ack) ? static_cast<double>(ack.received_ms - ack.sent_ms)
                                   : static_cast<double>(ack.rtt_us) / 1e3;
  }

  void add_delay(double delay_ms, int64_t now_us) {
    const int64_t minute = now_us / 60'000'000;
    minutes_ += minute != last_minute_;
    last_minute_ = minute;
    base_ms_.add(delay_ms, minutes_, history_ - 1);
    present_ms_.add(delay_ms, samples_++, filter_ - 1);
  }

  static constexpr double min_window_ = 2;  // MIN_CWND

  double target_ms_;
  double gain_;
  double filter_;
  double history_;
  double allowed_increase_;
  WindowedMin base_ms_{};  // per minute; minutes without samples do not count (section 3.4.2)
  double minutes_ = 0;
  int64_t last_minute_ = 0;
  WindowedMin present_ms_{};  // windowed by samples
  double samples_ = 0;
};

const Registration<Ledbat> registration{
    "ledbat", "less than best effort, by a target of the queueing delay", "RFC 6817"};

}  // namespace
}  // namespace kneepoint
