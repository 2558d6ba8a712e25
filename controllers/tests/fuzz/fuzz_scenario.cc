// Any line of a batch is a run that ends, or is refused with a message.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "apps/arguments.hh"
#include "apps/runner.hh"
#include "common/text.hh"
#include "tests/fuzz/require.hh"
#include "tests/temporary_file.hh"

using namespace kneepoint;

namespace {

// No path of the input is opened; the run uses this trace, for a short time.
const std::filesystem::path& trace() {
  static const test::TemporaryFile file;
  if (not std::filesystem::exists(file.path())) std::ofstream(file.path()) << "1\n1\n4\n9\n";
  return file.path();
}

constexpr Milliseconds longest_ms = 300;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto words = split_words(std::string_view(reinterpret_cast<const char*>(data), size));
    if (std::ranges::find(words, "--scenario") != words.end())
      return 0;  // its file would be opened
    RunArguments arguments = parse_run_arguments(words);
    Scenario& scenario = arguments.scenario;
    FlowSettings& flow = scenario.flows.front();
    if (flow.controller.find_first_of("/.") != std::string::npos) return 0;
    scenario.uplink.trace = scenario.downlink.trace = trace();
    flow.controller_sha256.clear();
    scenario.uplink.trace_sha256.clear();
    scenario.downlink.trace_sha256.clear();
    arguments.uplink_log.reset();
    arguments.flow_log.reset();
    scenario.duration_ms = std::min(scenario.duration_ms.value_or(longest_ms), longest_ms);
    static Runner runner;
    const RunReport report = runner.run(arguments);
    fuzz::require(report.json.starts_with('{') and report.json.ends_with('}'));
  } catch (const std::invalid_argument& error) {
    fuzz::require(not std::string_view(error.what()).empty());
  }
  return 0;
}
