#include "links/delay_trace.hh"

#include <cmath>
#include <stdexcept>

#include "common/input_file.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

constexpr uintmax_t most_bytes = 100'000'000;
constexpr double longest_delay_ms = 60'000;

}  // namespace

DelayTrace::DelayTrace(const std::string& name, std::string_view text) {
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
    if (not steps_.empty() and step.time_us <= steps_.back().time_us) {
      throw std::invalid_argument(where + words[0] + " ms does not follow the time before it; " +
                                  "times must ascend");
    }
    steps_.push_back(step);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (steps_.empty()) throw std::invalid_argument("delay trace " + name + " is empty");
}

DelayTrace DelayTrace::load(const std::filesystem::path& path) {
  return DelayTrace(path.string(), read_file(path, "delay trace", most_bytes));
}

}  // namespace kneepoint
