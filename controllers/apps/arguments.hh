// The command line of a run, the same on the shell and in a line of a batch.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/constants.hh"
#include "emulation/event_loop.hh"

namespace kneepoint {

struct RunArguments {
  std::string controller{};         // a name or a path
  std::string controller_sha256{};  // empty: not checked
  Constants::Values constants{};
  std::filesystem::path uplink{};
  std::filesystem::path downlink{};
  std::string uplink_sha256{};  // as above
  std::string downlink_sha256{};
  NetworkSettings network{};
  std::optional<std::filesystem::path> uplink_log{};
  std::optional<std::filesystem::path> flow_log{};
  std::string command_line{};
};

extern const char* const run_usage;

// Throws std::invalid_argument for an unknown option, a missing or impossible value.
RunArguments parse_run_arguments(const std::vector<std::string>& words);

}  // namespace kneepoint
