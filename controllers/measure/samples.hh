// Times in whole microseconds, for percentiles and the mean.
#pragma once

#include <cstdint>

#include "common/time.hh"
#include "measure/counts.hh"

namespace kneepoint {

// What is asked of none is NaN.
class Samples {
 public:
  // At least 0.
  void add(Microseconds time_us) {
    counts_.add(static_cast<uint64_t>(time_us));
    sum_us_ += static_cast<uint64_t>(time_us);
  }
  void clear() { *this = {}; }

  uint64_t size() const { return counts_.total(); }
  // Of the n sorted samples element floor(q n), as mm-throughput-graph.
  double quantile_ms(double q) const;
  double mean_ms() const;

 private:
  Counts counts_{};
  uint64_t sum_us_ = 0;
};

}  // namespace kneepoint
