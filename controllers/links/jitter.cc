// Jitter, by netem's parameters: a mean delay, a deviation from it, a distribution, a correlation.
#include <algorithm>
#include <cmath>

#include "common/portable_math.hh"
#include "links/impairment.hh"

namespace kneepoint {
namespace {

// Draws of mean 0, which either lie within 1 of it or have the standard deviation 1.
using Draw = double (*)(Random& random);

double draw_uniform(Random& random) { return 2 * random.uniform() - 1; }

// The shape is 3, as in netem: the mean is 3/2, the variance 3/4.
double draw_pareto(Random& random) {
  return (portable::exp(portable::log(random.uniform()) / -3) - 1.5) / std::sqrt(0.75);
}

// Consecutive draws are mixed so that they have the stated mean, deviation and correlation.
template <Draw draw>
class Jitter final : public Impairment {
 public:
  Jitter(const Notation& given, Random random)
      : mean_us_(given["mean"] * 1000),
        deviation_us_(given["deviation"] * 1000),
        correlation_(given["correlation"]),
        keeps_order_(given["ordered"] != 0),
        random_(random),
        last_(draw(random_)) {}

  Microseconds passes_us(Microseconds now_us) override {
    last_ = correlation_ * last_ + std::sqrt(1 - correlation_ * correlation_) * draw(random_);
    const double delay_us = mean_us_ + deviation_us_ * last_;
    const Microseconds passes_us = now_us + std::llround(std::max(delay_us, 0.0));
    last_us_ = keeps_order_ ? std::max(passes_us, last_us_) : passes_us;
    return last_us_;
  }

 private:
  double mean_us_;
  double deviation_us_;
  double correlation_;
  bool keeps_order_;
  Random random_;
  double last_;
  Microseconds last_us_ = 0;
};

Kind around_mean(const char* meaning, const char* deviation) {
  return {meaning,
          {time_ms("mean", 0, "mean delay added to each packet"),
           {"deviation", NotationType::positive, 0, 60'000, std::nullopt, "ms", deviation, true},
           correlation,
           flag("ordered", false, "no packet overtakes another")}};
}

const Impairments::Registration<Jitter<draw_uniform>> of_uniform{
    "jitter-uniform",
    around_mean("a delay around its mean, uniform", "maximum deviation from the mean")};
const Impairments::Registration<Jitter<draw_normal>> of_normal{
    "jitter-normal", around_mean("a delay around its mean, normal", "standard deviation")};
const Impairments::Registration<Jitter<draw_pareto>> of_pareto{
    "jitter-pareto", around_mean("a delay around its mean, Pareto", "standard deviation")};

}  // namespace
}  // namespace kneepoint
