// From a run's arguments to its result as JSON.
#pragma once

#include <map>
#include <string>

#include "apps/arguments.hh"
#include "network/metrics.hh"
#include "network/trace.hh"

namespace kneepoint {

enum class RunStatus {
  ok,
  failed,  // the controller misbehaved: a result, not an error
};

struct RunReport {
  RunStatus status;
  std::string json;
};

// Runs one after the other. Keeps every trace that it has read.
class Runner {
 public:
  // Throws std::invalid_argument for bad arguments or traces, std::runtime_error for logs that
  // cannot be written.
  RunReport run(const RunArguments& arguments);

 private:
  const Trace& trace(const std::filesystem::path& path);

  std::map<std::filesystem::path, Trace> traces_{};
  Meter meter_{};
};

}  // namespace kneepoint
