// Makes a run by its arguments, and returns its result as JSON.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "apps/arguments.hh"
#include "common/input_file.hh"
#include "links/trace.hh"
#include "loader/controllers.hh"
#include "measure/metrics.hh"

namespace kneepoint {

enum class RunStatus {
  ok,
  failed,  // the controller misbehaved: a result, not an error
};

struct RunReport {
  RunStatus status;
  std::string json;
};

// The answer of a run without a result.
std::string describe_failure(std::string_view status, std::string_view reason);

// Executes runs one after the other. Caches every trace, until its file changes, and every
// controller.
class Runner {
 public:
  // Throws std::invalid_argument for bad arguments, controllers or traces, std::runtime_error for
  // logs that cannot be written.
  RunReport run(const RunArguments& arguments);

  // Returns the answer to a line of a batch, also if the line is wrong.
  std::string answer(const std::string& line);

 private:
  struct KnownTrace {
    std::shared_ptr<const Trace> trace{};
    std::string sha256{};  // empty: not computed yet
    FileState file{};
  };

  std::shared_ptr<const Trace> trace_of(const LinkSettings& link);

  Controllers controllers_{};
  std::map<std::filesystem::path, KnownTrace> traces_{};
  Meter meter_{};
};

}  // namespace kneepoint
