// From a run's arguments to its result as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
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

// Runs one after the other. Keeps every trace that it has read, until its file changes.
class Runner {
 public:
  // Throws std::invalid_argument for bad arguments or traces, std::runtime_error for logs that
  // cannot be written.
  RunReport run(const RunArguments& arguments);

 private:
  // What tells that a file was replaced or written to.
  struct FileState {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t bytes = 0;
    int64_t changed_s = 0;
    int64_t changed_ns = 0;
    bool operator==(const FileState&) const = default;
  };
  struct KnownTrace {
    std::shared_ptr<const Trace> trace{};
    std::string sha256{};  // empty: never asked for
    FileState file{};
  };

  static FileState state_of(const std::filesystem::path& path);
  std::shared_ptr<const Trace> trace(const std::filesystem::path& path, const std::string& sha256);

  std::map<std::filesystem::path, KnownTrace> traces_{};
  Meter meter_{};
};

}  // namespace kneepoint
