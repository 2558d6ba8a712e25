#include "measure/samples.hh"

#include <limits>

namespace kneepoint {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

double in_ms(uint64_t time_us) { return static_cast<double>(time_us) / 1000; }

}  // namespace

double Samples::quantile_ms(double q) const {
  if (size() == 0) return undefined;
  return in_ms(counts_.element(static_cast<uint64_t>(q * static_cast<double>(size()))));
}

double Samples::mean_ms() const {
  if (size() == 0) return undefined;
  return static_cast<double>(sum_us_) / static_cast<double>(size()) / 1000;
}

}  // namespace kneepoint
