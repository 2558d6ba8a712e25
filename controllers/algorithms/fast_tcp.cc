// FAST TCP: the window that keeps alpha packets in the queue. Wei, Jin, Low, Hegde: FAST TCP,
// IEEE/ACM Transactions on Networking 14(6), 2006, equation (1); report 002 part D2, where a window
// may more than double. The paper updates the window periodically, and its program twice in the
// min RTT; here every ACK updates it.
#include <algorithm>

#include "algorithms/registry.hh"
#include "algorithms/rtt_estimate.hh"

namespace kneepoint {
namespace {

class FastTcp final : public Windowed {
 public:
  explicit FastTcp(Parameters& parameters)
      : Windowed(parameters, 1000),
        gamma_(parameters.real("gamma", 0.5,
                               {.low = 0.01, .high = 1, .max = 1, .scale = Scale::log}, "1",
                               "share of the new window in each update")),
        alpha_(parameters.real("alpha", 5, {.low = 0.5, .high = 50, .scale = Scale::log}, "packets",
                               "packets kept in the queue")),
        rtt_(parameters, 0.9) {}

  void on_ack(const Ack& ack) override {
    rtt_.add(ack);
    const double target = cwnd_ * rtt_.min_ms() / rtt_.smoothed_ms() + alpha_;
    cwnd_ = std::max(1.0, (1 - gamma_) * cwnd_ + gamma_ * target);
  }

 private:
  double gamma_;
  double alpha_;
  RttEstimate rtt_;
};

const Registration<FastTcp> registration{"fast_tcp",
                                         "the window that keeps alpha packets in the queue",
                                         "report 002 D2; FAST TCP, ToN 2006"};

}  // namespace
}  // namespace kneepoint
