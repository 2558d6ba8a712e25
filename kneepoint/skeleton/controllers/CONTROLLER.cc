// A controller of this report's own: docs/how-to/add-a-controller.md.
#include <algorithm>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class OwnWindow final : public Controller {
 public:
  explicit OwnWindow(Parameters& parameters)
      : Controller(parameters, 1000),  // the default of keepalive_ms, which every controller has
        limit_ms_(parameters.real("limit_ms", 100, {.low = 50, .high = 300}, "ms",
                                 "an RTT above it halves the window")) {}

  double window() const override { return cwnd_; }

  void on_ack(const Ack& ack) override {
    const auto rtt_ms = static_cast<double>(ack.rtt_ms());
    cwnd_ = rtt_ms > limit_ms_ ? std::max(1.0, cwnd_ / 2) : cwnd_ + 1 / cwnd_;
  }

 private:
  double limit_ms_;
  double cwnd_ = 10;
};

const Registration<OwnWindow> registration{"{{ controller }}", "halves at a late ACK", "{{ name }}"};

}  // namespace
}  // namespace kneepoint
