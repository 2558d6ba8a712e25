// A delay that changes over time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

class DelayTrace {
  struct Step {
    Microseconds time_us;
    Microseconds delay_us;
  };

 public:
  explicit DelayTrace(Microseconds constant_us) : DelayTrace({{0, constant_us}}, 0) {}

  // Begins with a delay, and adds a step to it in the second half of each period.
  static DelayTrace square(Microseconds delay_us, Microseconds step_us, Microseconds period_us);

  // Reads a text with lines `TIME_MS DELAY_MS` in ascending order of time: each delay holds from
  // its time on, the first delay also before it. Throws std::invalid_argument, naming `name` and
  // the line, if times do not ascend, if a delay is longer than a minute, or if there is no line.
  DelayTrace(const std::string& name, std::string_view text);

  static DelayTrace load(const std::filesystem::path& path);

  // Times must not decrease from call to call.
  Microseconds at(Microseconds time_us) {
    while (changes_us() <= time_us) take_step();
    return delay_us_;
  }

  // When the delay that at() returned last ends.
  Microseconds changes_us() const { return changes_us_; }

  // Whether all delays are whole milliseconds, the unit of mahimahi's clock.
  bool has_whole_ms() const;

 private:
  DelayTrace(std::vector<Step> steps, Microseconds period_us);
  static std::vector<Step> read(const std::string& name, std::string_view text);
  void take_step();

  std::vector<Step> steps_{};
  Microseconds period_us_ = 0;  // after which the steps repeat; 0: they do not
  uint64_t steps_taken_ = 0;
  Microseconds delay_us_ = 0;
  Microseconds changes_us_ = 0;
};

}  // namespace kneepoint
