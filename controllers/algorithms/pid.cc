// The window is the output of a PID controller whose error is the distance of the RTT to a target.
// Contest reports.
#include <algorithm>
#include <optional>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Pid final : public Windowed {
 public:
  explicit Pid(Parameters& parameters)
      : Windowed(parameters, 50),
        target_ms_(parameters.real("target_ms", 80, {.low = 45, .high = 200, .min = 1}, "ms",
                                   "RTT that the window aims at")),
        kp_(parameters.real("kp", 5, {.low = 0, .high = 50}, "packets",
                            "gain of the error, which is relative to the target")),
        ki_(parameters.real("ki", 20, {.low = 0.1, .high = 200, .scale = Scale::log}, "packets/s",
                            "gain of its integral")),
        kd_(parameters.real("kd", 0, {.low = 0, .high = 2}, "packets s", "gain of its derivative")),
        gain_(parameters.real("gain", 0.5, {.low = 0, .high = 0.99, .max = 1}, "1",
                              "weight of the old value in the smoothed RTT; 0: raw")),
        integral_(cwnd_) {}

  void on_ack(const Ack& ack) override {
    if (not measures_rtt(ack)) return;
    const bool is_first = not last_s_;
    const double elapsed_s = now_s(ack) - last_s_.value_or(now_s(ack));
    last_s_ = now_s(ack);
    smoothed_ms_ = is_first ? rtt_ms(ack) : gain_ * smoothed_ms_ + (1 - gain_) * rtt_ms(ack);
    const double error = (target_ms_ - smoothed_ms_) / target_ms_;
    const double slope = elapsed_s > 0 ? (error - error_) / elapsed_s : 0;
    error_ = error;
    // The integral stays within the window's range, so that it does not wind up.
    integral_ = std::clamp(integral_ + ki_ * error * elapsed_s, 1.0, widest_);
    cwnd_ = std::clamp(integral_ + kp_ * error + kd_ * slope, 1.0, widest_);
  }

 private:
  static constexpr double widest_ = 1000;

  double target_ms_;
  double kp_;
  double ki_;
  double kd_;
  double gain_;
  double integral_;
  double smoothed_ms_ = 0;
  double error_ = 0;
  std::optional<double> last_s_{};
};

const Registration<Pid> registration{"pid", "a PID controller from the RTT to the window",
                                     "contest reports"};

}  // namespace
}  // namespace kneepoint
