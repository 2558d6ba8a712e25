// The arguments of a run: options, the same on the shell and in a line of a batch, or JSON.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "emulation/scenario.hh"

namespace kneepoint {

struct RunArguments {
  Scenario scenario{};
  bool measures_flows = false;  // whether the answer has every flow's metrics
  std::optional<std::filesystem::path> uplink_log{};
  std::optional<std::filesystem::path> flow_log{};
  std::string request{};  // the arguments or the JSON of this run
};

extern const char* const run_usage;

// Throws std::invalid_argument for an unknown option, a missing or impossible value.
RunArguments parse_run_arguments(const std::vector<std::string>& words);

// A line of a batch: an object with the scenario and the requested output, or options.
// Throws std::invalid_argument as above.
RunArguments parse_batch_line(const std::string& line);

}  // namespace kneepoint
