// Any input, read as a link's log, gives possible figures or is refused with a message.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "measure/log_figures.hh"
#include "tests/fuzz/require.hh"

using namespace kneepoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string_view log(reinterpret_cast<const char*>(data), size);
    const LogFigures figures = log_figures("l", bytes_of(log), Dialect::any_fork);
    fuzz::require(figures.packets_delivered <= figures.packets_sent);
    fuzz::require(figures.packets_dropped <= figures.packets_sent - figures.packets_delivered);
    fuzz::require(figures.end_ms >= 0 and figures.end_ms <= longest_run_ms);
    // Neither is below 0, but either may be NaN.
    fuzz::require(not(figures.metrics.throughput_mbps < 0));
    fuzz::require(not(figures.metrics.signal_delay_p95_ms < 0));
  } catch (const std::invalid_argument& error) {
    fuzz::require(std::string_view(error.what()).starts_with("log l"));
  }
  return 0;
}
