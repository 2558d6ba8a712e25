#include "apps/synthetic_trace.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "apps/options.hh"
#include "common/random.hh"
#include "links/trace.hh"
#include "transport/packet.hh"

namespace kneepoint {

namespace {

constexpr double packets_per_mbit = 1e6 / (datagram_bytes * 8);

// A Poisson process may exceed its mean, but never by enough to overflow a trace.
constexpr double max_on_average = 0.9 * Trace::max_opportunities;

// The delivery rate in packets/s of each tick.
class Rate {
 public:
  Rate(const SyntheticTrace& model, Random random)
      : model_(model), random_(random), rate_(model.start_rate_mbps * packets_per_mbit) {}

  double next(double tick_s) {
    if (outage_left_s_ > 0) {
      outage_left_s_ -= tick_s;
      return 0;
    }
    rate_ += model_.sigma_packets_per_s * std::sqrt(tick_s) * draw_normal(random_);
    rate_ = std::min(rate_, model_.max_rate_mbps * packets_per_mbit);
    if (rate_ <= 0) {
      rate_ = 0;
      outage_left_s_ = draw_exponential(random_, 1 / model_.outage_escape_per_s);
    }
    return rate_;
  }

 private:
  const SyntheticTrace& model_;
  Random random_;
  double rate_;
  double outage_left_s_ = 0;
};

}  // namespace

SyntheticTrace parse_synthetic_trace(const Words& words) {
  SyntheticTrace model;
  const auto taken =
      take_options(words, 0,
                   {{"--seed", whole_at(model.seed)},
                    {"--duration-s", duration_at(model.duration_ms)},
                    {"--start-rate-mbps", real_at(model.start_rate_mbps, 1e-6, 1e6)},
                    {"--max-rate-mbps", real_at(model.max_rate_mbps, 1e-6, 1e6)},
                    {"--sigma-packets-per-s", real_at(model.sigma_packets_per_s, 0, 1e9)},
                    {"--outage-escape-per-s", real_at(model.outage_escape_per_s, 1e-6, 1e6)}},
                   "synthesize");
  for (const std::string needed :
       {"--duration-s", "--max-rate-mbps", "--seed", "--start-rate-mbps"}) {
    if (std::ranges::count(taken, needed) == 0) throw std::invalid_argument(needed + " is missing");
  }
  if (model.max_rate_mbps < model.start_rate_mbps) {
    throw std::invalid_argument("--max-rate-mbps is below --start-rate-mbps");
  }
  const double max_packets_per_s = model.max_rate_mbps * packets_per_mbit;
  if (max_packets_per_s * static_cast<double>(model.duration_ms) / 1000 > max_on_average) {
    throw std::invalid_argument("--max-rate-mbps " + to_text(model.max_rate_mbps) +
                                " is too much for so long: shorten --duration-s to " +
                                to_text(max_on_average / max_packets_per_s));
  }
  return model;
}

void write_trace(const SyntheticTrace& model, const std::function<void(Milliseconds)>& write) {
  constexpr int64_t tick_ms = 20;
  Rate rate(model, Random(model.seed, 0));
  Random deliveries(model.seed, 1);
  // A Poisson process of unit rate in the accumulated rate's own time.
  double accumulated = 0;
  double next_delivery = draw_exponential(deliveries, 1);
  double packets_per_ms = 0;
  for (int64_t t = 1; t < model.duration_ms; ++t) {
    if (t % tick_ms == 1) packets_per_ms = rate.next(tick_ms / 1000.0) / 1000;
    accumulated += packets_per_ms;
    for (; next_delivery <= accumulated; next_delivery += draw_exponential(deliveries, 1)) {
      write(t);
    }
  }
  write(model.duration_ms);  // closes the trace, so that it repeats after exactly its duration
}

}  // namespace kneepoint
