// Any input, read as a trace or as a trace of delays, is valid or is refused with a message.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "links/delay_trace.hh"
#include "links/trace.hh"
#include "tests/fuzz/require.hh"

using namespace kneepoint;

namespace {

void read_delays(std::string_view text) {
  try {
    DelayTrace delays("t", text);
    for (const Microseconds time_us : {int64_t{0}, int64_t{1'000}, longest_run_ms * 1000}) {
      const Microseconds delay_us = delays.at(time_us);
      fuzz::require(delay_us >= 0 and delay_us <= 60'000'000);
    }
  } catch (const std::invalid_argument& error) {
    fuzz::require(std::string_view(error.what()).starts_with("delay trace t"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_delays({reinterpret_cast<const char*>(data), size});
  try {
    const Trace trace("t", std::string_view(reinterpret_cast<const char*>(data), size));
    std::string text;
    for (size_t i = 0; i < trace.size(); ++i) {
      fuzz::require(i == 0 or trace[i] >= trace[i - 1]);
      text += std::to_string(trace[i]) + "\n";
    }
    fuzz::require(trace[0] >= 0 and trace.last_ms() > 0 and trace.last_ms() <= longest_run_ms);
    fuzz::require(Trace("t", text).size() == trace.size());
  } catch (const std::invalid_argument& error) {
    fuzz::require(std::string_view(error.what()).starts_with("trace t"));
  }
  return 0;
}
