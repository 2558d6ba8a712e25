// The command line of a run, the same on the shell and in a line of a batch.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "emulation/scenario.hh"

namespace kneepoint {

struct RunArguments {
  Scenario scenario{};
  bool has_scenario_file = false;  // answered in full
  std::optional<std::filesystem::path> uplink_log{};
  std::optional<std::filesystem::path> flow_log{};
  std::string command_line{};
};

extern const char* const run_usage;

// Throws std::invalid_argument for an unknown option, a missing or impossible value.
RunArguments parse_run_arguments(const std::vector<std::string>& words);

}  // namespace kneepoint
