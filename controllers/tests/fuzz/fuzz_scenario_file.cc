// Any input, read as a scenario, is a run that ends, or is refused with a message.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "apps/runner.hh"
#include "emulation/scenario.hh"
#include "tests/fuzz/require.hh"
#include "tests/temporary_file.hh"

using namespace kneepoint;

namespace {

constexpr Milliseconds longest_ms = 300;
constexpr double fastest_mbps = 1000;
constexpr size_t max_flows = 20;

// A file of ours, which replaces the files that inputs name.
std::filesystem::path written(const test::TemporaryFile& file, const char* text) {
  if (not std::filesystem::exists(file.path())) std::ofstream(file.path()) << text;
  return file.path();
}

// No path of the input is opened.
void restrain(LinkSettings& link) {
  static const test::TemporaryFile trace, delays, backwards;
  if (not link.trace.empty()) link.trace = written(trace, "1\n1\n4\n9\n");
  link.trace_sha256.clear();
  if (link.delay_trace == "backwards") {
    link.delay_trace = written(backwards, "5 10\n0 10\n");
  } else if (not link.delay_trace.empty()) {
    link.delay_trace = written(delays, "0 1\n20 50\n100 0\n");
  }
  link.rate_mbps = std::min(link.rate_mbps, fastest_mbps);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    RunArguments arguments;
    arguments.measures_flows = true;
    Scenario& scenario = arguments.scenario;
    scenario = Scenario::parse("s", std::string_view(reinterpret_cast<const char*>(data), size));
    if (scenario.flows.size() > max_flows or scenario.probes.size() > max_flows) return 0;
    for (FlowSettings& flow : scenario.flows) {
      if (flow.controller.find_first_of("/.") != std::string::npos) return 0;
      flow.controller_sha256.clear();
      flow.start_s = std::min(flow.start_s, 0.2);
    }
    restrain(scenario.uplink);
    restrain(scenario.downlink);
    scenario.interval_s = 0.01;
    scenario.duration_ms = std::min(scenario.duration_ms.value_or(longest_ms), longest_ms);
    static Runner runner;
    const RunReport report = runner.run(arguments);
    fuzz::require(report.json.starts_with('{') and report.json.ends_with('}'));
  } catch (const std::invalid_argument& error) {
    fuzz::require(not std::string_view(error.what()).empty());
  }
  return 0;
}
