// A delay that changes over time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

class DelayTrace {
 public:
  explicit DelayTrace(Microseconds constant_us) : steps_{{0, constant_us}} {}

  // Of a text whose lines are `TIME_MS DELAY_MS`, times ascending: from that time on, that delay.
  // Before the first line its delay holds. Throws std::invalid_argument, naming `name` and the
  // line, for times that run backwards, for a delay of more than a minute, and for no line at all.
  DelayTrace(const std::string& name, std::string_view text);

  static DelayTrace load(const std::filesystem::path& path);

  // Times must not decrease from call to call.
  Microseconds at(Microseconds time_us) {
    while (next_ < steps_.size() and steps_[next_].time_us <= time_us) ++next_;
    return steps_[next_ > 0 ? next_ - 1 : 0].delay_us;
  }

 private:
  struct Step {
    Microseconds time_us;
    Microseconds delay_us;
  };

  std::vector<Step> steps_{};
  size_t next_ = 0;
};

}  // namespace kneepoint
