// A step function of time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

// The value of a step function at the end of each interval of a run.
class StepSeries {
 public:
  StepSeries(Microseconds interval_us, Microseconds run_us)
      : interval_us_(interval_us),
        values_(static_cast<size_t>((run_us + interval_us - 1) / interval_us)) {}

  // Changes come in the order of time.
  void change(double value, Microseconds now_us) {
    fill_until(static_cast<size_t>(now_us / interval_us_));
    value_ = value;
  }

  // Called after the last change.
  const std::vector<double>& values() {
    fill_until(values_.size());
    return values_;
  }

 private:
  void fill_until(size_t interval) {
    for (; filled_ < std::min(interval, values_.size()); ++filled_) values_[filled_] = value_;
  }

  Microseconds interval_us_;
  std::vector<double> values_;
  size_t filled_ = 0;
  double value_ = 0;
};

}  // namespace kneepoint
