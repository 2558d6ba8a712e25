// The smoothed delay at each window, and a curve through these delays. Zaki et al., SIGCOMM 2015,
// section 4.2; the curve's knots are as far apart as in the authors' verus_server.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

namespace kneepoint {

// Windows in packets, delays in ms.
class DelayProfile {
 public:
  void add(double window, double delay_ms, double old_share) {
    const auto [known, is_new] = delays_ms_.try_emplace(std::floor(window), delay_ms);
    if (not is_new) known->second = old_share * known->second + (1 - old_share) * delay_ms;
  }
  void forget_from(double window) {
    delays_ms_.erase(delays_ms_.lower_bound(window), delays_ms_.end());
  }

  // Each knot is the mean over 15 windows, or over fewer windows if there would be fewer than five
  // knots. The curve never falls: neighbouring knots that would make it fall are merged into their
  // mean.
  void fit() {
    curve_.clear();
    const double last = delays_ms_.empty() ? 0 : delays_ms_.rbegin()->first;
    const double width = std::min(15.0, std::floor(last / 5));
    if (width < 1) return;
    const auto knot_of = [&](double window) { return std::floor((last - window) / width); };
    for (auto each = delays_ms_.begin(); each != delays_ms_.end();) {
      Knot knot{};
      const double number = knot_of(each->first);
      for (; each != delays_ms_.end() and knot_of(each->first) == number; ++each) {
        knot.add({each->first, each->second, 1});
      }
      for (; not curve_.empty() and curve_.back().delay_ms >= knot.delay_ms; curve_.pop_back()) {
        knot.add(curve_.back());
      }
      curve_.push_back(knot);
    }
  }

  // Whether the curve has a window for a delay; beyond its last knot the curve continues straight,
  // up to twice the last window.
  bool maps(double delay_ms) const {
    return curve_.size() >= 2 and window_of(delay_ms) <= 2 * curve_.back().window;
  }
  double window_of(double delay_ms) const {
    const auto above =
        std::lower_bound(curve_.begin() + 1, curve_.end() - 1, delay_ms,
                         [](const Knot& knot, double delay) { return knot.delay_ms < delay; });
    const Knot& low = *std::prev(above);
    return low.window + (delay_ms - low.delay_ms) * (above->window - low.window) /
                            (above->delay_ms - low.delay_ms);
  }
  // The delay at a window, constant beyond the ends of the curve; `otherwise` if there is no curve.
  double delay_ms_of(double window, double otherwise) const {
    if (curve_.empty()) return otherwise;
    const auto above =
        std::lower_bound(curve_.begin(), curve_.end(), window,
                         [](const Knot& knot, double each) { return knot.window < each; });
    if (above == curve_.begin()) return above->delay_ms;
    const Knot& low = *std::prev(above);
    if (above == curve_.end()) return low.delay_ms;
    return low.delay_ms +
           (window - low.window) * (above->delay_ms - low.delay_ms) / (above->window - low.window);
  }

 private:
  // Means over a number of windows.
  struct Knot {
    double window = 0;
    double delay_ms = 0;
    double windows = 0;

    void add(const Knot& other) {
      const double both = windows + other.windows;
      window = (window * windows + other.window * other.windows) / both;
      delay_ms = (delay_ms * windows + other.delay_ms * other.windows) / both;
      windows = both;
    }
  };

  std::map<double, double> delays_ms_{};  // by window, in whole packets
  std::vector<Knot> curve_{};
};

}  // namespace kneepoint
