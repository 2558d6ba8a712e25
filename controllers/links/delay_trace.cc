#include "links/delay_trace.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "common/input_file.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

constexpr uintmax_t max_bytes = 100'000'000;
constexpr double longest_delay_ms = 60'000;

}  // namespace

DelayTrace::DelayTrace(std::vector<Step> steps, Microseconds period_us)
    : steps_(std::move(steps)), period_us_(period_us), delay_us_(steps_.front().delay_us) {
  changes_us_ = steps_.front().time_us;
}

DelayTrace DelayTrace::square(Microseconds delay_us, Microseconds step_us, Microseconds period_us) {
  return {{{0, delay_us}, {period_us / 2, delay_us + step_us}}, period_us};
}

DelayTrace::DelayTrace(const std::string& name, std::string_view text)
    : DelayTrace(read(name, text), 0) {}

DelayTrace DelayTrace::load(const std::filesystem::path& path) {
  return DelayTrace(path.string(), read_file(path, "delay trace", max_bytes));
}

bool DelayTrace::has_whole_ms() const {
  return std::ranges::all_of(steps_, [](const Step& step) { return step.delay_us % 1000 == 0; });
}

void DelayTrace::take_step() {
  delay_us_ = steps_[steps_taken_++ % steps_.size()].delay_us;
  const uint64_t passes = steps_taken_ / steps_.size();
  changes_us_ = passes > 0 and period_us_ == 0 ? never
                                               : static_cast<Microseconds>(passes) * period_us_ +
                                                     steps_[steps_taken_ % steps_.size()].time_us;
}

std::vector<DelayTrace::Step> DelayTrace::read(const std::string& name, std::string_view text) {
  std::vector<Step> steps;
  size_t number = 0;
  while (not text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string where = "delay trace " + name + ", line " + std::to_string(number) + ": ";
    const std::vector<std::string> words = split(text.substr(0, end), ' ');
    if (words.size() != 2) throw std::invalid_argument(where + "is not TIME_MS DELAY_MS");
    const double time_ms = to_real(words[0], where + "time", 0, longest_run_ms);
    const double delay_ms = to_real(words[1], where + "delay", 0, longest_delay_ms);
    const Step step{std::llround(time_ms * 1000), std::llround(delay_ms * 1000)};
    if (not steps.empty() and step.time_us <= steps.back().time_us) {
      throw std::invalid_argument(where + words[0] + " ms does not follow the time before it; " +
                                  "times must ascend");
    }
    steps.push_back(step);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (steps.empty()) throw std::invalid_argument("delay trace " + name + " is empty");
  return steps;
}

}  // namespace kneepoint
