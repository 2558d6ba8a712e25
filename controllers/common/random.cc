#include "common/random.hh"

#include <cmath>
#include <stdexcept>
#include <string>

namespace kneepoint {

double draw_normal(Random& random) {
  while (true) {
    const double x = 2 * random.uniform() - 1;
    const double y = 2 * random.uniform() - 1;
    const double square = x * x + y * y;
    if (square >= 1 or square == 0) continue;
    return x * std::sqrt(-2 * portable::log(square) / square);  // sqrt is exact by IEEE 754
  }
}

constexpr std::array<double, ExponentialTable::size_> ExponentialTable::of_mean_1_ = [] {
  std::array<double, size_> quantiles;
  for (size_t i = 0; i < size_; ++i) {
    quantiles[i] = -portable::log((static_cast<double>(i) + 0.5) / size_);
  }
  return quantiles;
}();

ExponentialTable::ExponentialTable(double mean_us, int64_t min_us) {
  for (size_t i = 0; i < size_; ++i) {
    const auto beyond_us = static_cast<int64_t>(mean_us * of_mean_1_[i] + 0.5);
    quantiles_[i] = static_cast<int32_t>(min_us + beyond_us);
  }
}

MeasuredTable::MeasuredTable(const std::vector<double>& times_us) {
  if (times_us.size() == 1 or times_us.size() > max) {
    throw std::invalid_argument("measured times must be none or 2 to " + std::to_string(max) +
                                ", not " + std::to_string(times_us.size()));
  }
  if (not std::ranges::is_sorted(times_us)) {
    throw std::invalid_argument("measured times must not descend");
  }
  for (const double time_us : times_us) times_us_.push_back(std::llround(time_us));
}

}  // namespace kneepoint
