// Whatever is read as a trace is one, or is refused in words.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "links/trace.hh"
#include "tests/fuzz/require.hh"

using namespace kneepoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
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
