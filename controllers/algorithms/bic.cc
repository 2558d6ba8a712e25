// BIC: a binary search between the windows after and before the last loss, then growth beyond them.
// Xu, Harfoush, Rhee: Binary increase congestion control, INFOCOM 2004, section III. By default as
// in Linux (net/ipv4/tcp_bic.c), whose steps are a quarter of the distance and which covers the
// last packets to the maximum in smooth_part rounds; with `halves`, steps are half of the distance,
// as in the paper.
#include <algorithm>
#include <cmath>

#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"

namespace kneepoint {
namespace {

class Bic final : public SlowStarting {
 public:
  explicit Bic(Parameters& parameters)
      : SlowStarting(parameters),
        max_increase_(parameters.real("max_increment", 16,
                                      {.low = 1, .high = 64, .min = 0.01, .scale = Scale::log},
                                      "packets/RTT", "maximum increase (Smax: 32 in the paper)")),
        min_increase_(parameters.real(
            "min_increment", 0.01, {.low = 0.001, .high = 1, .min = 1e-6, .scale = Scale::log},
            "packets/RTT", "minimum increase of the paper's search (Smin)")),
        beta_(parameters.real("beta", 819.0 / 1024,
                              {.low = 0.3, .high = 0.95, .min = 0.01, .max = 0.99}, "1",
                              "share of the window that a loss leaves (0.875 in the paper)")),
        low_window_(parameters.real("low_window", 14, {.low = 2, .high = 100, .min = 1}, "packets",
                                    "up to this window it is Reno")),
        smooth_part_(parameters.real(
            "smooth_part", 20, {.low = 4, .high = 100, .min = 1}, "RTT",
            "round trips for the last four packets below the window of the last loss, in Linux")),
        fast_convergence_(parameters.flag(
            "fast_convergence", "gives way further when losses come earlier than before", true)),
        has_halves_(parameters.flag("halves",
                                    "1: steps go half of the way and double beyond it, as in the "
                                    "paper; 0: a quarter, and a third more, as in Linux")) {}

  void on_ack(const Ack& ack) override {
    if (ack.is_recovering or not ack.is_cwnd_limited) return;
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    if (cwnd_ < ssthresh_) {
      cwnd_ = std::min(cwnd_ + acknowledged, ssthresh_);
    } else {
      cwnd_ = std::min(cwnd_ + acknowledged * increase() / cwnd_, widest_window);
    }
  }

 private:
  void reduce(const Loss& loss) override {
    const bool gives_way = fast_convergence_ and cwnd_ < last_max_;
    last_max_ = gives_way ? cwnd_ * (1 + beta_) / 2 : cwnd_;
    ssthresh_ = std::max(cwnd_ * (cwnd_ <= low_window_ ? 0.5 : beta_), 2.0);
    cwnd_ = ssthresh_;
    if (loss.kind == Loss::Kind::timed_out) {
      cwnd_ = 1;
      last_max_ = 0;  // as in Linux, which forgets it
    }
  }

  // Packets per round trip.
  double increase() const {
    if (cwnd_ <= low_window_) return 1;
    if (has_halves_) return search_by_halves();
    return last_max_ == 0 ? std::max(search(), cwnd_ / longest_before_loss_) : search();
  }

  double search() const {
    const double slowest = parts_ / smooth_part_;
    if (cwnd_ < last_max_) {
      const double distance = (last_max_ - cwnd_) / parts_;
      return distance <= 1 ? slowest : std::min(distance, max_increase_);
    }
    const double beyond = cwnd_ - last_max_;
    if (beyond < parts_) return slowest;
    if (beyond >= max_increase_ * (parts_ - 1)) return max_increase_;
    return beyond / (parts_ - 1);
  }

  // Beyond the maximum, successive rounds add 1, 2, 4 packets and so on.
  double search_by_halves() const {
    const double wanted = cwnd_ < last_max_ ? (last_max_ - cwnd_) / 2
                                            : std::scalbn(1.0, std::ilogb(cwnd_ - last_max_ + 1));
    return std::max(std::min(wanted, max_increase_), min_increase_);
  }

  static constexpr double parts_ = 4;
  static constexpr double longest_before_loss_ = 20;  // ACKs per packet of growth, at most

  double max_increase_;
  double min_increase_;
  double beta_;
  double low_window_;
  double smooth_part_;
  bool fast_convergence_;
  bool has_halves_;
  double last_max_ = 0;
};

const Registration<Bic> registration{"bic", "binary search of the window of the last loss",
                                     "Xu, Harfoush & Rhee, INFOCOM 2004; Linux"};

}  // namespace
}  // namespace kneepoint
