// Whatever line a batch is given, it is a run that comes to an end, or is refused in words.
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

// No path of an input is opened; the run goes over this one, and not for long.
const std::filesystem::path& trace() {
  static const test::TemporaryFile file;
  if (not std::filesystem::exists(file.path())) std::ofstream(file.path()) << "1\n1\n4\n9\n";
  return file.path();
}

constexpr Milliseconds longest_ms = 300;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    RunArguments arguments = parse_run_arguments(
        split_words(std::string_view(reinterpret_cast<const char*>(data), size)));
    if (arguments.controller.find_first_of("/.") != std::string::npos) return 0;
    arguments.uplink = arguments.downlink = trace();
    arguments.controller_sha256.clear();
    arguments.uplink_sha256.clear();
    arguments.downlink_sha256.clear();
    arguments.uplink_log.reset();
    arguments.flow_log.reset();
    arguments.network.duration_ms =
        std::min(arguments.network.duration_ms.value_or(longest_ms), longest_ms);
    static Runner runner;
    const RunReport report = runner.run(arguments);
    fuzz::require(report.json.starts_with('{') and report.json.ends_with('}'));
  } catch (const std::invalid_argument& error) {
    fuzz::require(not std::string_view(error.what()).empty());
  }
  return 0;
}
