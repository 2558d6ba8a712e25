// Times in whole microseconds, for percentiles and the mean.
#pragma once

#include <cstdint>

#include "common/time.hh"
#include "measure/counts.hh"

namespace kneepoint {

// All statistics of no samples are NaN.
class Samples {
 public:
  // A time must be at least 0.
  void add(Microseconds time_us) {
    counts_.add(static_cast<uint64_t>(time_us));
    sum_us_ += static_cast<uint64_t>(time_us);
  }
  void clear() { *this = {}; }

  uint64_t size() const { return counts_.total(); }
  // Element floor(q n) of the n sorted samples, as in mm-throughput-graph.
  double quantile_ms(double q) const;
  double mean_ms() const;

 private:
  Counts counts_{};
  uint64_t sum_us_ = 0;
};

}  // namespace kneepoint
