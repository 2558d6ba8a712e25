// Accel-brake control (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan: ABC, HotNets 2017 and
// NSDI 2020). An upper reference: its router, the queue abc, gives the sender information that no
// sender can measure.
#include <algorithm>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Abc final : public Windowed {
 public:
  explicit Abc(Parameters& parameters)
      : Windowed(parameters, 1000),
        increase_(parameters.real("increase", 1, {.low = 0, .high = 4}, "packets/RTT",
                                  "so that flows become fair (NSDI 2020); 0: HotNets")),
        beta_(parameters.real("beta", 0.5, {.low = 0.2, .high = 0.9, .max = 1}, "1",
                              "share of the window that a loss leaves")) {}

  // An accelerate lets two packets leave, a brake none.
  void on_ack(const Ack& ack) override {
    if (ack.is_recovering) return;
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    const auto brakes = static_cast<double>(ack.marked);
    cwnd_ = std::clamp(cwnd_ + acknowledged - 2 * brakes + increase_ * acknowledged / cwnd_, 1.0,
                       widest_window);
  }

  void on_loss(const Loss& loss) override {
    cwnd_ = loss.kind == Loss::Kind::timed_out ? 1 : std::max(beta_ * cwnd_, 1.0);
  }

 private:
  double increase_;
  double beta_;
};

const Registration<Abc> registration{"abc", "two packets for an accelerate, none for a brake",
                                     "Goyal et al., HotNets 2017, NSDI 2020", needs::counted_marks};

}  // namespace
}  // namespace kneepoint
