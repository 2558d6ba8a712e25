// Sprout: a probability distribution of the link's rate, updated with each tick's arrivals, and a
// window that arrives within a horizon with a chosen confidence. Winstein, Sivaraman, Balakrishnan,
// NSDI 2013.
//
// The receiver's part runs at the sender, on the receiver's times in acknowledgments: its
// observations come later by the delay of the return path, as the receiver's forecasts would. A
// forecast limits the packets sent until the next forecast, a tick later. If no packet waited at
// the end of a tick, the paper makes no observation; here the observation is that the link could
// deliver at least as many packets as it did.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "algorithms/receiver_ticks.hh"
#include "algorithms/registry.hh"
#include "common/portable_math.hh"

namespace kneepoint {
namespace {

constexpr double tick_s = ReceiverTicks::tick_ms / 1e3;
constexpr size_t bins = 256;
constexpr size_t lanes = 4;  // elements that compilers process together
static_assert(bins % lanes == 0);
constexpr double max_in_tick = 1000 * tick_s;  // packets, at the rate of the last bin
using Bins = std::array<float, bins>;

double mean_of(size_t bin) { return max_in_tick * static_cast<double>(bin) / (bins - 1); }

// For each rate of the link, the Poisson probability of a number of arrivals in a tick, or of at
// least this number; computed when first needed.
class Likelihood {
 public:
  const Bins& exactly(size_t arrivals) {
    while (exactly_.size() <= arrivals) add();
    return exactly_[arrivals];
  }
  const Bins& at_least(size_t arrivals) {
    while (at_least_.size() <= arrivals) add();
    return at_least_[arrivals];
  }

 private:
  void add() {
    const auto arrivals = static_cast<double>(exactly_.size());
    Bins exactly{};
    for (size_t bin = 0; bin < bins; ++bin) {
      const double mean = mean_of(bin);
      const double log_likelihood =
          arrivals * portable::log(mean) - mean - portable::log_factorial(arrivals);
      exactly[bin] = static_cast<float>(mean > 0 ? portable::exp(log_likelihood) : arrivals == 0);
    }
    Bins more{};
    if (exactly_.empty()) more.fill(1);
    for (size_t bin = 0; not exactly_.empty() and bin < bins; ++bin) {
      more[bin] = std::max(at_least_.back()[bin] - exactly_.back()[bin], 0.0F);
    }
    exactly_.push_back(exactly);
    at_least_.push_back(more);
  }

  std::vector<Bins> exactly_{};
  std::vector<Bins> at_least_{};
};

// How the rate moves in a tick: by Brownian motion between the first bin and the last. The first
// bin is an outage, which ends at a rate of its own.
class Motion {
 public:
  Motion(double escape, double sigma)
      : stays_(static_cast<float>(portable::exp(-escape * tick_s))) {
    const double deviation = sigma * std::sqrt(tick_s) * (bins - 1) / 1000;  // bins
    const auto beyond = [&](double distance) {
      return 0.5 * portable::erfc(distance / deviation / std::sqrt(2.0));
    };
    // Whole lanes: see weigh().
    reach_ = std::min(lanes * static_cast<size_t>(std::ceil(3 * deviation / lanes)), bins - lanes);
    for (size_t i = 0; i <= reach_; ++i) {
      const auto distance = static_cast<double>(i);
      weights_.push_back(static_cast<float>(beyond(distance - 0.5) - beyond(distance + 0.5)));
      tails_.push_back(static_cast<float>(beyond(distance + 0.5)));
    }
    wide_.resize(bins + 2 * reach_);
  }

  // Moves the probabilities of the bins.
  void spread(Bins& belief) {
    const float stuck = stays_ * belief[0];
    belief[0] -= stuck;
    float below = 0;
    float above = 0;
    for (size_t i = 0; i < tails_.size(); ++i) {
      below += tails_[i] * belief[i];
      above += tails_[i] * belief[bins - 1 - i];
    }
    weigh(belief, 0, 0);
    belief[0] += stuck + below;
    belief[bins - 1] += above;
  }

  // Replaces each bin's value by the value expected after the motion from this bin.
  void expect(Bins& values) {
    const float first = values[0];
    weigh(values, values.front(), values.back());
    values[0] = stays_ * first + (1 - stays_) * values[0];
  }

 private:
  void weigh(Bins& values, float before, float after) {
    float* const centre = wide_.data() + reach_;
    std::fill_n(wide_.data(), reach_, before);
    std::copy_n(values.data(), bins, centre);
    std::fill_n(centre + bins, reach_, after);
    for (size_t i = 0; i < bins; ++i) values[i] = weights_[0] * centre[i];
    // Four distances together: loading and storing the sums would take most of the time.
    for (size_t d = 1; d <= reach_; d += lanes) {
      const std::array<float, lanes> w{weights_[d], weights_[d + 1], weights_[d + 2],
                                       weights_[d + 3]};
      const float* const left = centre - d;
      const float* const right = centre + d;
      for (size_t i = 0; i < bins; ++i) {
        const float near = w[0] * (left[i] + right[i]) + w[1] * (left[i - 1] + right[i + 1]);
        const float far = w[2] * (left[i - 2] + right[i + 2]) + w[3] * (left[i - 3] + right[i + 3]);
        values[i] += near + far;
      }
    }
  }

  float stays_;
  size_t reach_ = 0;              // bins
  std::vector<float> weights_{};  // by distance, in bins
  std::vector<float> tails_{};    // beyond that distance
  std::vector<float> wide_{};
};

class Sprout final : public Controller {
 public:
  explicit Sprout(Parameters& parameters)
      : Controller(parameters, 100),
        // Braces evaluate the parameters, and so declare them, in this order.
        motion_{
            parameters.real("outage_escape", 1, {.low = 0.1, .high = 10, .scale = Scale::log},
                            "1/s", "rate at which outages end"),
            parameters.real("sigma", 200,
                            {.low = 50, .high = 500, .min = 20, .max = 1000, .scale = Scale::log},
                            "packets/s/sqrt(s)", "how fast the link's rate moves")},
        risk_(static_cast<float>(
                  parameters.real("percentile", 5, {.low = 1, .high = 75, .max = 99}, "%",
                                  "probability that fewer packets arrive than forecast")) /
              100),
        horizon_ticks_(static_cast<size_t>(
            parameters.integer("horizon_ticks", 5, {.low = 2, .high = 8, .min = 1, .max = 8},
                               "20 ms", "time in which the packets in flight arrive"))) {
    belief_.fill(1.0F / bins);
    ones_.fill(1);
    make_forecasts();
    forecast();
  }

  double window() const override { return allowance_.packets(); }

  void on_ack(const Ack& ack) override {
    allowance_.hear(ack);
    bool has_news = false;
    ticks_.add(ack, [&](uint64_t packets, bool is_busy) {
      motion_.spread(belief_);
      const auto arrivals = std::min<size_t>(packets, bins);
      observe(is_busy ? likelihood_.exactly(arrivals) : likelihood_.at_least(arrivals));
      has_news = true;
    });
    if (has_news) forecast();
  }

 private:
  void observe(const Bins& likelihood) {
    for (size_t bin = 0; bin < bins; ++bin) belief_[bin] *= likelihood[bin];
    float sum = product(belief_, ones_);
    // More arrivals than even the greatest rate explains: take the greatest rate.
    if (not(sum > 1e-30F)) sum = belief_.back() = 1;
    const float scale = 1 / sum;
    // No rate is ever impossible.
    for (float& each : belief_) each = each * scale + 1e-20F;
  }

  static float product(const Bins& one, const Bins& other) {
    std::array<float, lanes> sums{};
    for (size_t bin = 0; bin < bins; bin += lanes) {
      for (size_t i = 0; i < lanes; ++i) sums[i] += one[bin + i] * other[bin + i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  // Computes, for each present rate, the probability that at most a number of packets arrive within
  // the horizon.
  void make_forecasts() {
    const size_t max = horizon_ticks_ * static_cast<size_t>(max_in_tick) + 1;
    std::vector<Bins> exactly(max);
    exactly[0].fill(1);
    for (size_t tick = 0; tick < horizon_ticks_; ++tick) {
      std::vector<Bins> later(max);
      for (size_t total = 0; total < max; ++total) {
        for (size_t now = 0; now <= std::min(total, max_now_); ++now) {
          const Bins& likelihood = likelihood_.exactly(now);
          const Bins& rest = exactly[total - now];
          for (size_t bin = 0; bin < bins; ++bin) later[total][bin] += likelihood[bin] * rest[bin];
        }
        motion_.expect(later[total]);
      }
      exactly.swap(later);
    }
    for (size_t total = 1; total < max; ++total) {
      for (size_t bin = 0; bin < bins; ++bin) exactly[total][bin] += exactly[total - 1][bin];
    }
    at_most_ = std::move(exactly);
  }

  // The search starts at the last window, since the window changes little.
  void forecast() {
    while (window_ + 1 < at_most_.size() and product(belief_, at_most_[window_]) <= risk_)
      ++window_;
    while (window_ > 0 and product(belief_, at_most_[window_ - 1]) > risk_) --window_;
    allowance_.forecast(static_cast<double>(window_));
  }

  static constexpr size_t max_now_ = 45;  // arrivals in a tick, whose mean is at most 20

  Motion motion_;
  float risk_;
  size_t horizon_ticks_;
  Likelihood likelihood_{};
  ReceiverTicks ticks_{};
  Bins belief_{};
  Bins ones_{};
  std::vector<Bins> at_most_{};
  size_t window_ = 0;  // packets
  Allowance allowance_{};
};

const Registration<Sprout> registration{
    "sprout", "the window that arrives in time with a chosen confidence, at an inferred rate",
    "Winstein, Sivaraman & Balakrishnan, NSDI 2013", needs::receiver_clock | needs::heartbeats};

}  // namespace
}  // namespace kneepoint
