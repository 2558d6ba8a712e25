// Jitter, by netem's parameters: a mean delay, a deviation from it, a distribution, a correlation.
#include <algorithm>
#include <cmath>

#include "links/impairment.hh"

namespace kneepoint {
namespace {

// Draws of mean 0: within 1 of it, or of deviation 1.
using Draw = double (*)(Random& random);

double draw_uniform(Random& random) { return 2 * random.uniform() - 1; }

// Of shape 3, as netem's: its mean is 3/2, its variance 3/4.
double draw_pareto(Random& random) {
  return (exact_exp(exact_log(random.uniform()) / -3) - 1.5) / std::sqrt(0.75);
}

struct JitterSettings {
  double mean_us;
  double deviation_us;
  double correlation;
  bool keeps_order;
};

// Consecutive draws are mixed so that mean, deviation and correlation are those stated.
class Jitter final : public Impairment {
 public:
  Jitter(const JitterSettings& settings, Draw draw, Random random)
      : settings_(settings), draw_(draw), random_(random), last_(draw(random_)) {}

  Microseconds passes_us(Microseconds now_us) override {
    const double rho = settings_.correlation;
    last_ = rho * last_ + std::sqrt(1 - rho * rho) * draw_(random_);
    const double delay_us = settings_.mean_us + settings_.deviation_us * last_;
    const Microseconds passes_us = now_us + std::llround(std::max(delay_us, 0.0));
    last_us_ = settings_.keeps_order ? std::max(passes_us, last_us_) : passes_us;
    return last_us_;
  }

 private:
  JitterSettings settings_;
  Draw draw_;
  Random random_;
  double last_;
  Microseconds last_us_ = 0;
};

template <Draw draw>
ImpairmentRegistration distribution(const char* name, const char* meaning, const char* deviation) {
  return {name,
          {meaning,
           {time_ms("mean", 0, "added to each packet's delay"),
            {"deviation", ParameterType::positive, 0, 60'000, std::nullopt, "ms", deviation, true},
            correlation,
            flag("ordered", false, "no packet overtakes another")}},
          [](const Notation& given, Random random) -> std::unique_ptr<Impairment> {
            const JitterSettings settings{.mean_us = given["mean"] * 1000,
                                          .deviation_us = given["deviation"] * 1000,
                                          .correlation = given["correlation"],
                                          .keeps_order = given["ordered"] != 0};
            return std::make_unique<Jitter>(settings, draw, random);
          }};
}

const ImpairmentRegistration registrations[]{
    distribution<draw_uniform>("jitter-uniform", "a delay around its mean, uniform",
                               "from the mean at most"),
    distribution<draw_normal>("jitter-normal", "a delay around its mean, normal", "standard"),
    distribution<draw_pareto>("jitter-pareto", "a delay around its mean, Pareto", "standard")};

}  // namespace
}  // namespace kneepoint
